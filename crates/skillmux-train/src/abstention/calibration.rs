//! [`fit_calibration`]: logistic regression.

use std::collections::{BTreeMap, BTreeSet};

use skillmux::{
    compose::{Calibration, Evidence, Features},
    retrieve::RankingIdentity,
};

use crate::optimizer::{Labelled, logistic};

/// Share of the answerable queries that the threshold of a fit lets through.
pub const COVERAGE: f64 = 0.9;

/// What is added to the log-odds where a verifier was asked: with as many answerable requests as
/// others, and half of the others near ones, it refuses too many. Set by hand to ln 3, with a look
/// at the tables of `docs/abstention.md`.
const ANSWERABLE_LOG_ODDS: f32 = 1.098_612_3;

/// Bias and weights.
const N: usize = Features::N + 1;

/// The features that are fitted by themselves.
const ALONE: [&str; 3] = ["subjects_lacked", "serves", "verified"];

/// L2 penalty on the weights of standardised features, as a share of the number of examples: keeps
/// the weights of features that say the same from growing apart.
const PENALTY: f64 = 1e-3;

/// What a calibration is fitted to: the evidence of a task, and whether a skill of the library
/// helps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationExample {
    /// What speaks for and against loading.
    pub evidence: Evidence,
    /// Whether a skill of the library helps.
    pub is_answerable: bool,
    /// Whether it asks for work near the skills of the library, which none of them does.
    pub is_near: bool,
    /// How much it counts beside the others with the same answer, above 0.
    pub importance: f64,
    /// How much its library counts beside the others, above 0.
    pub library_weight: f64,
}

/// Fits a calibration to what one ranking found.
///
/// Examples are weighted: every library, told by its size, has its weight; within it, so much count
/// the two answers among the tasks in Chinese, kana or Hangul and among those in other writing. A
/// feature that measures a match gets no weight below zero ([`Features::IS_MATCH`]). The threshold
/// lets through [`COVERAGE`] of the answerable examples, by weight. Tasks that name a skill count
/// for the threshold only.
///
/// [`Features::subjects_lacked`] is fitted by itself, to answerable and near requests alone, beside
/// the log-odds of the other features. Tasks that need no skill name few subjects, so that a fit to
/// all would make of it how much a task is work.
///
/// At last, what the verifier says is weighed in the same way; `verifier` is the one that was asked.
///
/// Without an example of each answer there is nothing to fit: the weights are all zero then.
pub fn fit_calibration(
    ranking: RankingIdentity,
    verifier: Option<String>,
    examples: &[CalibrationExample],
) -> Calibration {
    let rows = weighted_rows(examples);
    let (bias, weights) = fit_monotone(&rows);
    let mut calibration = Calibration {
        ranking,
        bias,
        weights,
        verifier: None,
        threshold: 0.0,
        large_threshold: None,
    };
    fit_lacked(&mut calibration, &rows);
    weigh_verifier(&mut calibration, verifier, &rows);
    calibration.threshold = threshold(&calibration, examples);
    calibration
}

/// Fits how much a calibration weighs what the verifier says, and leaves its other weights and its
/// threshold as they are.
///
/// The examples are those that a verifier was asked about. Answerable ones have half of the weight,
/// near ones a quarter, the others a quarter: the verifier is for near ones, of which there are few.
#[must_use]
pub(super) fn fit_verifier(
    calibration: &Calibration,
    verifier: Option<String>,
    examples: &[CalibrationExample],
) -> Calibration {
    let mut calibration = calibration.clone();
    weigh_verifier(&mut calibration, verifier, &weighted_rows(examples));
    calibration
}

/// One example.
struct Row {
    features: Features,
    answer: bool,
    is_near: bool,
    weight: f64,
}

impl Row {
    /// Returns a feature, by its place in [`Features::to_array`].
    fn value(&self, at: usize) -> f64 {
        f64::from(self.features.to_array()[at])
    }
}

/// The examples whose classes are balanced against each other.
fn group_of(evidence: &Evidence) -> (u32, bool) {
    let Features { library_size, character_share, .. } = evidence.features;
    (library_size.to_bits(), character_share > 0.5)
}

/// Returns a weight for each example; they add up to the number of libraries.
fn balance(examples: &[CalibrationExample]) -> Vec<f64> {
    let mut of_library: BTreeMap<u32, f64> = BTreeMap::new();
    let mut of_group: BTreeMap<(u32, bool), f64> = BTreeMap::new();
    let mut of_class: BTreeMap<((u32, bool), bool), f64> = BTreeMap::new();
    for CalibrationExample { evidence, is_answerable, importance, .. } in examples {
        let group = group_of(evidence);
        *of_library.entry(group.0).or_default() += importance;
        *of_group.entry(group).or_default() += importance;
        *of_class.entry((group, *is_answerable)).or_default() += importance;
    }
    let weight = |example: &CalibrationExample| {
        let CalibrationExample { evidence, is_answerable, importance, library_weight, .. } =
            example;
        let group = group_of(evidence);
        let share_of_group = library_weight * of_group[&group] / of_library[&group.0];
        share_of_group * importance / (2.0 * of_class[&(group, *is_answerable)])
    };
    examples.iter().map(weight).collect()
}

fn weighted_rows(examples: &[CalibrationExample]) -> Vec<Row> {
    let weighed: Vec<CalibrationExample> =
        examples.iter().filter(|example| !example.evidence.is_named).copied().collect();
    let row = |(example, weight): (&CalibrationExample, f64)| Row {
        features: example.evidence.features,
        answer: example.is_answerable,
        is_near: example.is_near,
        weight,
    };
    weighed.iter().zip(balance(&weighed)).map(row).collect()
}

/// Fits, and leaves out features that measure a match but got a weight below zero, until none does.
fn fit_monotone(rows: &[Row]) -> (f32, Features) {
    let mut is_used = Features::NAMES.map(|name| !ALONE.contains(&name));
    let has_both = [false, true].iter().all(|answer| rows.iter().any(|row| row.answer == *answer));
    if !has_both {
        return (0.0, Features::default());
    }
    loop {
        let (bias, weights) = fit(rows, is_used);
        let worst = (0..Features::N)
            .filter(|at| Features::IS_MATCH[*at] && weights[*at] < 0.0)
            .min_by(|a, b| weights[*a].total_cmp(&weights[*b]));
        match worst {
            Some(at) => is_used[at] = false,
            None => return (rounded(bias), Features::from_array(weights.map(rounded))),
        }
    }
}

/// Fits the weight of what a skill lacks beside all other features; none above zero.
fn fit_lacked(calibration: &mut Calibration, rows: &[Row]) {
    let library = |row: &Row| row.features.library_size.to_bits();
    let libraries: BTreeSet<u32> = rows.iter().filter(|row| row.is_near).map(library).collect();
    let is_like = |row: &&Row| row.is_near || row.answer && libraries.contains(&library(row));
    let rows: Vec<&Row> = rows.iter().filter(is_like).collect();
    let of_answer = |answer: bool| rows.iter().filter(move |row| row.answer == answer);
    let [near, answerable] =
        [false, true].map(|answer| of_answer(answer).map(|row| row.weight).sum::<f64>());
    if near <= 0.0 || answerable <= 0.0 {
        return;
    }
    let weighed = rows.iter().map(|row| {
        let class = if row.answer { answerable } else { near };
        (*row, row.weight / class)
    });
    if let Some([_, of_lacked]) = fit_beside(calibration, weighed, |it| it.subjects_lacked)
        && of_lacked < 0.0
    {
        calibration.weights.subjects_lacked = rounded(of_lacked);
    }
}

/// Fits the weight of what the verifier says, and from what it counts, beside all other features;
/// none below zero. A verifier that tells nothing is not asked.
fn weigh_verifier(calibration: &mut Calibration, verifier: Option<String>, rows: &[Row]) {
    (calibration.weights.serves, calibration.weights.verified) = (0.0, 0.0);
    calibration.verifier = None;
    let rows: Vec<&Row> = rows.iter().filter(|row| row.features.verified > 0.0).collect();
    let class = |row: &Row| (row.answer, row.is_near && !row.answer);
    let weight_of = |of: (bool, bool)| {
        rows.iter().filter(|row| class(row) == of).map(|row| row.weight).sum::<f64>()
    };
    let [answerable, near, others] = [(true, false), (false, true), (false, false)].map(weight_of);
    if answerable <= 0.0 || near + others <= 0.0 {
        return;
    }
    let share = if near > 0.0 && others > 0.0 { 0.5 } else { 1.0 };
    let weighed = rows.iter().map(|row| {
        let weight = match class(row) {
            (true, _) => row.weight / answerable,
            (false, true) => share * row.weight / near,
            (false, false) => share * row.weight / others,
        };
        (*row, weight)
    });
    if let Some([bias, of_serves]) = fit_beside(calibration, weighed, |it| it.serves)
        && of_serves > 0.0
    {
        calibration.weights.serves = rounded(of_serves);
        calibration.weights.verified = rounded(bias) + ANSWERABLE_LOG_ODDS;
        calibration.verifier = verifier;
    }
}

/// Fits a bias and the weight of one feature to weighted rows, beside the log-odds of a calibration,
/// which keep their scale; `None` if these log-odds do not speak for an answer.
fn fit_beside<'r>(
    calibration: &Calibration,
    rows: impl Iterator<Item = (&'r Row, f64)>,
    feature: impl Fn(&Features) -> f32,
) -> Option<[f64; 2]> {
    let labelled = |(row, weight): (&'r Row, f64)| -> Labelled<3> {
        let log_odds = f64::from(calibration.log_odds(&row.features));
        let input = [1.0, log_odds, f64::from(feature(&row.features))];
        Labelled { input, answer: row.answer, weight }
    };
    let labelled: Vec<Labelled<3>> = rows.map(labelled).collect();
    let [bias, of_log_odds, of_feature] = logistic(&labelled, PENALTY);
    (of_log_odds > 0.0).then(|| [bias / of_log_odds, of_feature / of_log_odds])
}

#[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
fn rounded(weight: f64) -> f32 {
    weight as f32
}

/// Fits bias and weights; features that are not used get the weight 0.
fn fit(rows: &[Row], is_used: [bool; Features::N]) -> (f64, [f64; Features::N]) {
    let total: f64 = rows.iter().map(|row| row.weight).sum();
    let mean_of = |value: &dyn Fn(&Row) -> f64| {
        rows.iter().map(|row| row.weight * value(row)).sum::<f64>() / total
    };
    let means: [f64; Features::N] = std::array::from_fn(|at| mean_of(&|row| row.value(at)));
    let deviations: [f64; Features::N] =
        std::array::from_fn(|at| mean_of(&|row| (row.value(at) - means[at]).powi(2)).sqrt());
    let standardised = |row: &Row| -> Labelled<N> {
        let input = std::array::from_fn(|at| match at.checked_sub(1) {
            None => 1.0,
            Some(at) if is_used[at] && deviations[at] > 1e-9 => {
                (row.value(at) - means[at]) / deviations[at]
            }
            Some(_) => 0.0,
        });
        Labelled { input, answer: row.answer, weight: row.weight }
    };
    let examples: Vec<Labelled<N>> = rows.iter().map(standardised).collect();
    let solution = logistic(&examples, PENALTY);
    let weights: [f64; Features::N] = std::array::from_fn(|at| {
        if deviations[at] > 1e-9 { solution[at + 1] / deviations[at] } else { 0.0 }
    });
    let shift: f64 = weights.iter().zip(means).map(|(weight, mean)| weight * mean).sum();
    (solution[0] - shift, weights)
}

/// Returns the highest threshold that lets through [`COVERAGE`] of the answerable examples.
fn threshold(calibration: &Calibration, examples: &[CalibrationExample]) -> f32 {
    let mut confidences: Vec<(f32, f64)> = examples
        .iter()
        .zip(balance(examples))
        .filter(|(example, _)| example.is_answerable)
        .map(|(example, weight)| (calibration.confidence(&example.evidence), weight))
        .collect();
    confidences.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = confidences.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    for (confidence, weight) in confidences {
        below += weight;
        if below > (1.0 - COVERAGE) * total {
            return confidence;
        }
    }
    0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const BIAS: f32 = -1.0;
    const WEIGHTS: [f32; Features::N] = {
        let mut weights = [0.0; Features::N];
        [weights[0], weights[2], weights[3], weights[8]] = [2.0, 1.0, 0.5, 1.0];
        weights
    };

    fn ranking() -> RankingIdentity {
        RankingIdentity::new("test")
    }

    fn fit(examples: &[CalibrationExample]) -> Calibration {
        fit_calibration(ranking(), None, examples)
    }

    /// Draws examples of a library of one size whose answers follow the known weights.
    fn examples(n: usize, seed: u64) -> Vec<CalibrationExample> {
        let mut random = Random::new(seed);
        let weights = Features::from_array(WEIGHTS);
        let truth = Calibration {
            ranking: ranking(),
            bias: BIAS,
            weights,
            verifier: None,
            threshold: 0.5,
            large_threshold: None,
        };
        let mut draw = || {
            let mut features =
                Features::from_array(std::array::from_fn(|_| 4.0 * random.share() - 2.0));
            features.library_size = 4.0;
            features.character_share = 0.0;
            (features.serves, features.verified) = (0.0, 0.0);
            let evidence = Evidence { features, ..Evidence::default() };
            let is_answerable = random.share() < truth.confidence(&evidence);
            CalibrationExample {
                evidence,
                is_answerable,
                is_near: false,
                importance: 1.0,
                library_weight: 1.0,
            }
        };
        (0..n).map(|_| draw()).collect()
    }

    #[test]
    fn known_weights_are_recovered() {
        let fitted = fit(&examples(40_000, 1)).weights.to_array();
        for (weight, known) in fitted.iter().zip(WEIGHTS) {
            assert!((weight - known).abs() < 0.1, "{weight} is not {known}");
        }
    }

    #[test]
    fn only_what_the_verifier_says_is_weighed_anew() {
        let mut random = Random::new(3);
        let mut drawn = examples(4_000, 1);
        let known = fit(&drawn);
        for example in &mut drawn {
            // Half of what it says is chance.
            let says = if example.is_answerable { 1.0 } else { -1.0 };
            let said = if random.share() < 0.5 { says } else { 4.0 * random.share() - 2.0 };
            let features = &mut example.evidence.features;
            (features.serves, features.verified) = (said, 1.0);
        }
        let fitted = fit_verifier(&known, Some("a".to_owned()), &drawn);
        assert_eq!(fitted.verifier.as_deref(), Some("a"));
        assert!(fitted.weights.serves > 0.5, "{}", fitted.weights.serves);
        assert!(fitted.weights.verified > 0.5, "{}", fitted.weights.verified);
        let weights = Features { serves: 0.0, verified: 0.0, ..fitted.weights };
        assert_eq!(Calibration { weights, verifier: None, ..fitted }, known);
        // A verifier that says the opposite of the truth is not believed.
        for example in &mut drawn {
            example.evidence.features.serves *= -1.0;
        }
        assert_eq!(fit_verifier(&known, Some("a".to_owned()), &drawn), known);
    }

    #[test]
    fn confidence_is_calibrated_on_held_out_examples() {
        let fitted = fit(&examples(20_000, 1));
        let held_out = examples(20_000, 2);
        let weights = balance(&held_out);
        for bin in 0..10 {
            let (low, high) = (bin as f32 / 10.0, (bin + 1) as f32 / 10.0);
            let (mut total, mut expected, mut actual) = (0.0, 0.0, 0.0);
            for (example, weight) in held_out.iter().zip(&weights) {
                let confidence = fitted.confidence(&example.evidence);
                if (low..high).contains(&confidence) {
                    total += weight;
                    expected += weight * f64::from(confidence);
                    actual += weight * f64::from(u8::from(example.is_answerable));
                }
            }
            assert!((expected - actual).abs() < 0.05 * total, "{bin}: {expected} {actual} {total}");
        }
    }

    #[test]
    fn the_threshold_lets_through_nine_tenths_of_the_answerable() {
        let examples = examples(5000, 3);
        let fitted = fit(&examples);
        let answerable: Vec<_> = examples.iter().filter(|example| example.is_answerable).collect();
        let n = answerable
            .iter()
            .filter(|example| fitted.confidence(&example.evidence) >= fitted.threshold)
            .count();
        assert!((n as f64 / answerable.len() as f64 - COVERAGE).abs() < 0.002);
    }

    #[test]
    fn a_match_never_counts_against_a_skill() {
        let mut reversed = examples(5000, 4);
        for example in &mut reversed {
            example.is_answerable = !example.is_answerable;
        }
        let weights = fit(&reversed).weights;
        assert!(weights.score_mass.abs() < f32::EPSILON);
        assert!(weights.matched_words.abs() < f32::EPSILON);
        // Says nothing of a match, and may count either way.
        assert!(weights.term_density < -0.4);
    }

    #[test]
    fn the_rarer_answer_counts_as_much() {
        let mut examples = examples(20_000, 5);
        let mut n_seen = 0;
        examples.retain(|example| {
            n_seen += usize::from(!example.is_answerable);
            example.is_answerable || n_seen.is_multiple_of(10)
        });
        let fitted = fit(&examples);
        assert!((fitted.weights.score_mass - WEIGHTS[0]).abs() < 0.3);
    }

    #[test]
    fn half_the_importance_counts_as_half_as_many() {
        let mut once = examples(2000, 6);
        let mut twice = once.clone();
        twice.extend(once.iter().filter(|example| example.evidence.features.score_mass > 0.0));
        for example in &mut once {
            let is_rich = example.evidence.features.score_mass > 0.0;
            example.importance = if is_rich { 1.0 } else { 0.5 };
        }
        let (once, twice) = (fit(&once), fit(&twice));
        assert!((once.bias - twice.bias).abs() < 1e-3);
        assert!((once.weights.score_mass - twice.weights.score_mass).abs() < 1e-3);
    }

    #[test]
    fn what_a_skill_lacks_counts_against_it_by_near_requests_alone() {
        // Tasks that need no skill name no subject; near ones lack most of theirs.
        let mut random = Random::new(7);
        let mut examples = examples(3000, 7);
        for (at, example) in examples.iter_mut().enumerate() {
            let (is_answerable, is_near) = [(true, false), (false, true), (false, false)][at % 3];
            (example.is_answerable, example.is_near) = (is_answerable, is_near);
            let features = &mut example.evidence.features;
            features.score_mass = if is_answerable { 0.5 } else { 0.0 } + random.share();
            features.subjects_lacked = match (is_answerable, is_near) {
                (true, _) => 0.6 * random.share(),
                (_, true) => 0.3 + 0.6 * random.share(),
                _ => 0.0,
            };
        }
        let fitted = fit(&examples);
        assert!(fitted.weights.subjects_lacked < -1.0);
        for example in &mut examples {
            example.is_near = false;
        }
        let without = fit(&examples);
        assert!(without.weights.subjects_lacked.abs() < f32::EPSILON);
        assert!((without.weights.score_mass - fitted.weights.score_mass).abs() < 1e-6);
        assert!((without.bias - fitted.bias).abs() < 1e-6);
    }

    #[test]
    fn without_both_answers_nothing_is_learned() {
        let evidence = Evidence::default();
        let only = [CalibrationExample {
            evidence,
            is_answerable: true,
            is_near: false,
            importance: 1.0,
            library_weight: 1.0,
        }];
        assert_eq!(fit(&only).weights, Features::default());
        assert_eq!(fit(&[]).weights, Features::default());
    }
}
