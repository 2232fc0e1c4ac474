//! [`lower_nearest`]: what is said of the nearest candidate, after some were taken out.

use super::feature::{BEST_COSINE, BEST_TEXT_COSINE, COSINE_RISE, Feature, TEXT_COSINE_RISE};
use crate::retrieve::{Candidate, Signals};

/// Lowers what the signals say of the nearest candidate to the nearest of those that are left. A
/// skill that was taken out would else lend the others its confidence.
pub(crate) fn lower_nearest(candidates: &mut [Candidate]) {
    // What a translation found was measured beside others.
    for is_translated in [false, true] {
        let mut of_query: Vec<&mut Signals> = candidates
            .iter_mut()
            .map(|candidate| &mut candidate.signals)
            .filter(|signals| signals.translation.is_some() == is_translated)
            .collect();
        let highest = |cosine: fn(&Signals) -> Option<f32>| {
            of_query.iter().filter_map(|signals| cosine(signals)).fold(0.0, f32::max)
        };
        let (cosine, text_cosine) = (highest(mean_cosine), highest(text_cosine));
        for signals in &mut of_query {
            lower(signals, [BEST_COSINE, COSINE_RISE], cosine);
            lower(signals, [BEST_TEXT_COSINE, TEXT_COSINE_RISE], text_cosine);
        }
    }
}

fn mean_cosine(signals: &Signals) -> Option<f32> {
    let cosine = |feature: Feature| signals.get(feature.as_str());
    Some(cosine(Feature::DenseDescription)?.midpoint(cosine(Feature::DenseBody)?))
}

fn text_cosine(signals: &Signals) -> Option<f32> {
    signals.get(Feature::Transformer.as_str())
}

/// Lowers the highest cosine, and how far it is above the mean.
fn lower(signals: &mut Signals, [best, rise]: [&str; 2], highest: f32) {
    let Some((was, risen)) = signals.get(best).zip(signals.get(rise)) else { return };
    if highest < was {
        signals.set(best, highest);
        signals.set(rise, f32::max(risen - (was - highest), 0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::SkillId;

    #[test]
    fn a_candidate_that_is_gone_lends_nothing() {
        let names: &'static [&'static str] = &[
            "dense.description",
            "dense.body",
            "transformer",
            BEST_COSINE,
            COSINE_RISE,
            BEST_TEXT_COSINE,
            TEXT_COSINE_RISE,
        ];
        let found = |cosine: f32, text: f32| {
            let signals = Signals::new(names, vec![cosine, cosine, text, 0.75, 0.5, 0.9, 0.0625]);
            Candidate { signals, ..Candidate::new(SkillId::new("a"), 0.0) }
        };
        let mut candidates = vec![found(0.5, 0.875), found(0.25, 0.125)];
        let unmeasured = Candidate::new(SkillId::new("b"), 0.0);
        candidates.push(unmeasured.clone());
        lower_nearest(&mut candidates);
        for candidate in &candidates[..2] {
            let values = &candidate.signals.values()[3..];
            assert_eq!(values[..2], [0.5, 0.25]);
            assert!((values[2] - 0.875).abs() < 1e-6 && (values[3] - 0.0375).abs() < 1e-6);
        }
        assert_eq!(candidates[2], unmeasured);
        let whole = candidates.clone();
        lower_nearest(&mut candidates);
        assert_eq!(candidates, whole);
    }
}
