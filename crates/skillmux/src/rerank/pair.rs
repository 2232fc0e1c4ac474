//! [`PairReranker`]: the first candidates in the order of a cross-encoder.

use std::sync::Arc;

use super::{Passage, RerankRequest, Reranker, asked, passage::beginning};
use crate::{
    error::{Error, Result},
    model::PairScorer,
    retrieve::{Candidate, Contribution, RankingIdentity, Retriever, ScoreScale},
};

/// Contribution of what the cross-encoder says over what the order before it said.
const PAIR: &str = "pair";

/// Characters of a query that a cross-encoder reads; `SkillRouter`'s evaluation cuts tasks there.
const MAX_QUERY_CHARS: usize = 2000;

/// Asks a cross-encoder about the first candidates of another reranker, and orders them by its
/// answers.
///
/// A score is the answer, in log-odds. The candidates that it is not asked about follow: each is as
/// far below the last one asked as it was before. If some candidates have signals, only those are
/// asked about.
pub struct PairReranker {
    inner: Box<dyn Reranker>,
    scorer: Arc<dyn PairScorer>,
    passage: Box<dyn Passage>,
    n_asked: usize,
}

impl PairReranker {
    /// Candidates that are asked about; `SkillRouter` §4 reranks as many.
    pub const N_ASKED: usize = 20;

    /// Returns a reranker that asks about the first [`N_ASKED`](Self::N_ASKED) candidates.
    pub fn new(
        inner: Box<dyn Reranker>,
        scorer: Arc<dyn PairScorer>,
        passage: Box<dyn Passage>,
    ) -> Self {
        Self { inner, scorer, passage, n_asked: Self::N_ASKED }
    }

    /// Returns the reranker with another number of candidates to ask about.
    #[must_use]
    pub fn with_n_asked(self, n_asked: usize) -> Self {
        Self { n_asked, ..self }
    }

    /// Returns what the cross-encoder says of each candidate.
    fn answers(&self, request: &RerankRequest<'_>, asked: &[Candidate]) -> Result<Vec<f32>> {
        let texts = self.passage.texts(request, &asked::read(request, asked)?)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let query = beginning(request.query.text(), MAX_QUERY_CHARS);
        let scores = self.scorer.scores(query, &texts)?;
        if scores.len() != asked.len() || scores.iter().any(|score| !score.is_finite()) {
            let name = self.scorer.identity().name.clone();
            let (n_scores, n_texts) = (scores.len(), texts.len());
            return Err(Error::PairScorerAnswer { name, n_scores, n_texts });
        }
        Ok(scores)
    }

    fn over(&self, inner: &RankingIdentity) -> RankingIdentity {
        let (scorer, passage) = (self.scorer.identity().short(), self.passage.identity());
        let n_asked = self.n_asked;
        RankingIdentity::new(format!("pairs {scorer} of {n_asked} by {passage} over {inner}"))
    }
}

impl Reranker for PairReranker {
    fn identity(&self, retriever: &dyn Retriever) -> RankingIdentity {
        self.over(&self.inner.identity(retriever))
    }

    fn identity_of(&self, retriever: &dyn Retriever, found: &[Candidate]) -> RankingIdentity {
        self.over(&self.inner.identity_of(retriever, found))
    }

    fn scale(&self, _retriever: &dyn Retriever) -> ScoreScale {
        ScoreScale::LogOdds
    }

    fn n_compared(&self) -> usize {
        self.n_asked.max(self.inner.n_compared())
    }

    fn rerank(
        &self,
        request: &RerankRequest<'_>,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>> {
        let mut candidates = self.inner.rerank(request, candidates)?;
        let n_asked = asked::n_asked(&candidates, self.n_asked);
        let (asked, rest) = candidates.split_at_mut(n_asked);
        let Some(last) = asked.last().map(|last| last.score) else { return Ok(candidates) };
        let answers = self.answers(request, asked)?;
        for (candidate, answer) in asked.iter_mut().zip(answers) {
            candidate.score = answer;
        }
        asked.sort_unstable_by(Candidate::best_first);
        let floor = asked.last().map_or(0.0, |lowest| lowest.score);
        let (mut before, mut lowest) = (last, floor);
        for (at, candidate) in rest.iter_mut().enumerate() {
            let score = candidate.score;
            let shifted = floor + (score - last);
            // Ties stay ties, and rounding makes no new ones.
            let is_tie = at > 0 && score.total_cmp(&before).is_eq();
            lowest = if is_tie { lowest } else { shifted.min(lowest.next_down()) };
            before = score;
            candidate.score = lowest;
        }
        Ok(candidates)
    }

    fn contributions(&self, retriever: &dyn Retriever, candidate: &Candidate) -> Vec<Contribution> {
        asked::with_answer(self.inner.contributions(retriever, candidate), PAIR, candidate)
    }
}
