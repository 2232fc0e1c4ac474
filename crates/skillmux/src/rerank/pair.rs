//! [`PairReranker`]: the first candidates in the order of a cross-encoder.

use std::sync::Arc;

use super::{Passage, RerankRequest, Reranker, passage::beginning};
use crate::{
    error::{Error, Result},
    index::IndexedSkill,
    model::PairScorer,
    retrieve::{Candidate, Contribution, RankingIdentity, Retriever, ScoreScale},
};

/// Contribution of what the cross-encoder says over what the order before it said.
const PAIR: &str = "pair";

/// Characters of a query that a cross-encoder reads; `SkillRouter`'s evaluation cuts tasks there.
const MAX_QUERY_CHARS: usize = 2000;

/// Asks a cross-encoder about the first candidates of another reranker, and orders them by its answers.
///
/// A score is the answer, in log-odds. The candidates that it is not asked about follow: each is as far
/// below the last one asked as it was before. If some candidates have signals, only those are asked about.
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
        let index = request.index;
        let read = |candidate: &Candidate| index.skill(index.find(&candidate.skill)?);
        let skills = asked.iter().map(read).collect::<Result<Vec<IndexedSkill>>>()?;
        let texts = self.passage.texts(request, &skills)?;
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
}

impl Reranker for PairReranker {
    fn identity(&self, retriever: &dyn Retriever) -> RankingIdentity {
        RankingIdentity::new(format!(
            "pairs {} of {} by {} over {}",
            self.scorer.identity().short(),
            self.n_asked,
            self.passage.identity(),
            self.inner.identity(retriever),
        ))
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
        let is_measured = |candidate: &&Candidate| candidate.signals.is_measured();
        let n_measured = candidates.iter().take_while(is_measured).count();
        let n_known = if n_measured > 0 { n_measured } else { candidates.len() };
        let (asked, rest) = candidates.split_at_mut(self.n_asked.min(n_known));
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
        let mut parts = self.inner.contributions(retriever, candidate);
        let value = candidate.score - parts.iter().map(|part| part.value).sum::<f32>();
        parts.push(Contribution { feature: PAIR.to_owned(), value });
        parts
    }
}
