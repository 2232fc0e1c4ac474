//! [`InterpolatedReranker`]: what a cross-encoder says of the first candidates, beside the order before it.

use std::sync::Arc;

use super::{Passage, RerankRequest, Reranker, asked};
use crate::{
    error::Result,
    model::PairScorer,
    retrieve::{
        Candidate, Contribution, QUERY_TRANSFORMER, RankingIdentity, Retriever, ScoreScale,
    },
};

/// Contribution of what the cross-encoder says.
const PAIR: &str = "pair";

/// How much a cross-encoder is asked, and how much its answer counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interpolation {
    /// What an answer is multiplied with before it is added to the score.
    pub weight: f32,
    /// Most candidates that are asked about.
    pub n_asked: usize,
    /// Candidates whose score is further below the first one's are not asked about, in log-odds.
    pub margin: f32,
}

impl Default for Interpolation {
    /// Chosen on `datasets/library-fit.jsonl`: `docs/transformer.md` has the table.
    fn default() -> Self {
        Self { weight: 0.75, n_asked: 4, margin: 2.0 }
    }
}

/// Adds what a cross-encoder says of the first candidates of another reranker to their scores.
///
/// Asks only where a transformer has read the query, which the signal [`QUERY_TRANSFORMER`] tells; else the other order
/// stays, and its identity. Keeps the answers in [`Signals::fit`](crate::retrieve::Signals::fit). The candidates that it is not asked about follow: each is as
/// far below the last one asked as it was before.
pub struct InterpolatedReranker {
    inner: Box<dyn Reranker>,
    scorer: Arc<dyn PairScorer>,
    passage: Box<dyn Passage>,
    config: Interpolation,
}

impl InterpolatedReranker {
    /// Returns a reranker over another one, whose scores are log-odds.
    pub fn new(
        inner: Box<dyn Reranker>,
        scorer: Arc<dyn PairScorer>,
        passage: Box<dyn Passage>,
        config: Interpolation,
    ) -> Self {
        Self { inner, scorer, passage, config }
    }

    /// Returns how many of the first candidates are asked about.
    fn n_asked(&self, candidates: &[Candidate]) -> usize {
        let is_read = |found: &Candidate| found.signals.get(QUERY_TRANSFORMER) > Some(0.5);
        let Some(first) = candidates.first().filter(|first| is_read(first)) else { return 0 };
        let least = first.score - self.config.margin;
        let n_near = candidates.iter().take_while(|found| found.score >= least).count();
        asked::n_asked(candidates, n_near.min(self.config.n_asked))
    }

    fn over(&self, inner: &RankingIdentity) -> RankingIdentity {
        let Interpolation { weight, n_asked, margin } = self.config;
        let (scorer, passage) = (self.scorer.identity().short(), self.passage.identity());
        RankingIdentity::new(format!(
            "{weight} pairs {scorer} of {n_asked} within {margin} by {passage} and {inner}"
        ))
    }
}

impl Reranker for InterpolatedReranker {
    fn identity(&self, retriever: &dyn Retriever) -> RankingIdentity {
        self.over(&self.inner.identity(retriever))
    }

    fn identity_of(&self, retriever: &dyn Retriever, found: &[Candidate]) -> RankingIdentity {
        let inner = self.inner.identity_of(retriever, found);
        let is_asked = found.iter().any(|found| found.signals.fit.is_some());
        if is_asked || found.is_empty() { self.over(&inner) } else { inner }
    }

    fn scale(&self, _retriever: &dyn Retriever) -> ScoreScale {
        ScoreScale::LogOdds
    }

    fn n_compared(&self) -> usize {
        self.config.n_asked.max(self.inner.n_compared())
    }

    fn rerank(
        &self,
        request: &RerankRequest<'_>,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>> {
        let mut candidates = self.inner.rerank(request, candidates)?;
        let n_asked = self.n_asked(&candidates);
        let (asked, rest) = candidates.split_at_mut(n_asked);
        let Some(last) = asked.last().map(|last| last.score) else { return Ok(candidates) };
        let answers = asked::answers(&*self.scorer, &*self.passage, request, asked)?;
        for (candidate, answer) in asked.iter_mut().zip(answers) {
            candidate.score += self.config.weight * answer;
            candidate.signals.fit = Some(answer);
        }
        asked.sort_unstable_by(Candidate::best_first);
        asked::follow(rest, last, asked.last().map_or(0.0, |lowest| lowest.score));
        Ok(candidates)
    }

    fn contributions(&self, retriever: &dyn Retriever, candidate: &Candidate) -> Vec<Contribution> {
        asked::with_answer(self.inner.contributions(retriever, candidate), PAIR, candidate)
    }
}
