//! [`LinearReranker`]: a weighed sum of signals.

use super::{FeatureWeights, QueryTraits, RerankRequest, Reranker};
use crate::{
    error::Result,
    retrieve::{Candidate, Contribution, RankingIdentity, Retriever, ScoreScale, Signals},
};

/// Contribution of a candidate of which nothing was measured.
const RETRIEVED: &str = "retrieved";

/// How far the best candidate of which nothing was measured is below those that were, in log-odds.
/// Set by hand.
const UNMEASURED_MARGIN: f32 = 2.0;

/// Orders candidates by a weighed sum of their signals.
///
/// Scores are log-odds up to a constant: a skill that scores 1 more is `e` times as likely the
/// right one. Weights depend on the [`QueryTraits`]. Candidates without signals follow in their
/// order.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearReranker {
    weights: FeatureWeights,
    /// For queries that a transformer has read.
    with_transformer: Option<FeatureWeights>,
    fingerprint: String,
}

impl LinearReranker {
    /// Returns a reranker with these weights.
    pub fn new(weights: FeatureWeights) -> Self {
        Self { fingerprint: weights.fingerprint(), weights, with_transformer: None }
    }

    /// Returns the reranker with other weights for queries that a transformer has read. Both are
    /// mixed: [`QueryTraits::transformer_share`] is the share of these.
    #[must_use]
    pub fn with_transformer(self, weights: FeatureWeights) -> Self {
        let fingerprint = format!("{}+{}", self.fingerprint, weights.fingerprint());
        Self { with_transformer: Some(weights), fingerprint, ..self }
    }

    /// Returns the weights that count for a query, by the position of the signal.
    fn applied(&self, signals: &Signals) -> Vec<(usize, f32)> {
        let traits = QueryTraits::of(signals);
        let share = traits.transformer_share();
        let with_transformer = self.with_transformer.as_ref().filter(|_| share > 0.0);
        let names = signals.names().iter().enumerate();
        let weighed = names.map(|(position, name)| {
            let of = |weights: &FeatureWeights| weights.get(name).of(&traits);
            let without = of(&self.weights);
            let weight = with_transformer
                .map_or(without, |weights| share * of(weights) + (1.0 - share) * without);
            (position, weight)
        });
        weighed.filter(|(_, weight)| *weight != 0.0).collect()
    }
}

impl Reranker for LinearReranker {
    fn identity(&self, retriever: &dyn Retriever) -> RankingIdentity {
        RankingIdentity::new(format!("linear {} over {}", self.fingerprint, retriever.identity()))
    }

    fn identity_of(&self, retriever: &dyn Retriever, found: &[Candidate]) -> RankingIdentity {
        let measured = found.iter().find(|candidate| candidate.signals.is_measured());
        if measured.is_none_or(|candidate| QueryTraits::of(&candidate.signals).read > 0.0) {
            return self.identity(retriever);
        }
        let retriever = retriever.identity_of(found);
        RankingIdentity::new(format!("linear {} over {retriever}", self.weights.fingerprint()))
    }

    fn scale(&self, _retriever: &dyn Retriever) -> ScoreScale {
        ScoreScale::LogOdds
    }

    fn rerank(
        &self,
        _request: &RerankRequest<'_>,
        mut candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>> {
        let measured = candidates.iter().find(|candidate| candidate.signals.is_measured());
        let weights = measured.map_or_else(Vec::new, |found| self.applied(&found.signals));
        let mut floor: Option<f32> = None;
        for Candidate { score, signals, .. } in &mut candidates {
            if signals.is_measured() {
                let values = signals.values();
                *score = weights.iter().map(|(position, weight)| values[*position] * weight).sum();
                floor = Some(floor.map_or(*score, |floor| floor.min(*score)));
            }
        }
        let floor = floor.unwrap_or(0.0);
        for candidate in &mut candidates {
            if !candidate.signals.is_measured() {
                candidate.score += floor - UNMEASURED_MARGIN;
            }
        }
        candidates.sort_unstable_by(Candidate::best_first);
        Ok(candidates)
    }

    fn contributions(
        &self,
        _retriever: &dyn Retriever,
        candidate: &Candidate,
    ) -> Vec<Contribution> {
        let Candidate { signals, score, .. } = candidate;
        if !signals.is_measured() {
            return vec![Contribution { feature: RETRIEVED.to_owned(), value: *score }];
        }
        let part = |(position, weight): (usize, f32)| Contribution {
            feature: signals.names()[position].to_owned(),
            value: signals.values()[position] * weight,
        };
        self.applied(signals).into_iter().map(part).filter(|part| part.value != 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rerank::FeatureWeight,
        retrieve::{Feature, QUERY_LIBRARY, QUERY_TRANSFORMER},
    };

    static NAMES: [&str; 4] = ["bm25", "transformer", QUERY_TRANSFORMER, QUERY_LIBRARY];

    #[test]
    fn weights_with_and_without_a_transformer_are_mixed() {
        let of = |bm25, transformer| {
            let weight = |base| FeatureWeight { base, ..FeatureWeight::default() };
            let named = [(Feature::Bm25, bm25), (Feature::Transformer, transformer)];
            let named = named.map(|(feature, base)| (feature.as_str().to_owned(), weight(base)));
            FeatureWeights::new(named).unwrap()
        };
        let reranker = LinearReranker::new(of(4.0, 0.0)).with_transformer(of(1.0, 10.0));
        let score = |read, library| {
            let signals = Signals::new(&NAMES, vec![1.0, 0.5, read, library]);
            let weights = reranker.applied(&signals);
            weights.iter().map(|(position, weight)| signals.values()[*position] * weight).sum()
        };
        for (read, library, expected) in
            [(0.0, 1.0, 4.0), (1.0, 0.5, 6.0), (1.0, 1.0, 0.7 * 6.0 + 0.3 * 4.0), (0.0, 0.5, 4.0)]
        {
            let score: f32 = score(read, library);
            assert!((score - expected).abs() < 1e-5, "{read} read, {library}: {score}");
        }
    }
}
