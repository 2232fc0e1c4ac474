//! [`JudgeReranker`]: a chat model chooses among the first candidates.

use std::sync::Arc;

use super::{JudgeConfig, RerankRequest, Reranker, SkillJudge, asked};
use crate::{
    error::{Error, Result},
    model::ChatModel,
    retrieve::{Candidate, Contribution, RankingIdentity, Retriever, ScoreScale},
};

/// Contribution of the judge to a score.
const JUDGE: &str = "judge";

/// How far the last chosen skill is above all others: at least this much, and twice the best of
/// them, so that [`ScoreCut`](crate::compose::ScoreCut) cuts between them on every scale.
const MARGIN: f32 = 2.0;

/// How far the first chosen skill is above the last one: too little for a cut between them.
const CHOSEN_SPAN: f32 = 0.1;

/// Puts what a chat model chooses from the first candidates of another reranker before all others.
///
/// The chosen ones come in the order of the model; all others keep their order and their scores. A
/// model gives no numbers: what it chose stands out as far as a cut needs to take these and no
/// others. A model that chooses nothing leaves the ranking as it is; one that gives no choice is an
/// error.
///
/// One request is sent for each ranking, which is as slow as the model.
pub struct JudgeReranker {
    inner: Box<dyn Reranker>,
    model: Arc<dyn ChatModel>,
    config: JudgeConfig,
}

/// Why a choice could not be read.
#[derive(Debug, thiserror::Error)]
#[error("no list of numbers in its answer, asked twice")]
struct NoChoice;

impl JudgeReranker {
    /// Returns a reranker that lets this model choose after another reranker.
    pub fn new(inner: Box<dyn Reranker>, model: Arc<dyn ChatModel>, config: JudgeConfig) -> Self {
        Self { inner, model, config }
    }

    fn judge(&self) -> SkillJudge<'_> {
        SkillJudge::new(self.model.as_ref(), self.config)
    }

    /// Returns the positions of the chosen candidates.
    fn chosen(&self, request: &RerankRequest<'_>, candidates: &[Candidate]) -> Result<Vec<usize>> {
        let skills = asked::read(request, candidates)?;
        let skills = skills.iter().map(|indexed| &indexed.skill);
        self.judge().choose(request.query.text(), skills)?.ok_or_else(|| Error::Chat {
            name: self.model.name().to_owned(),
            hint: Some("take a model that follows instructions, or rank without one".to_owned()),
            source: Box::new(NoChoice),
        })
    }

    fn over(&self, inner: &RankingIdentity) -> RankingIdentity {
        RankingIdentity::new(format!("{} over {inner}", self.judge().identity()))
    }
}

impl Reranker for JudgeReranker {
    fn identity(&self, retriever: &dyn Retriever) -> RankingIdentity {
        self.over(&self.inner.identity(retriever))
    }

    fn identity_of(&self, retriever: &dyn Retriever, found: &[Candidate]) -> RankingIdentity {
        self.over(&self.inner.identity_of(retriever, found))
    }

    fn scale(&self, retriever: &dyn Retriever) -> ScoreScale {
        self.inner.scale(retriever)
    }

    fn n_compared(&self) -> usize {
        self.inner.n_compared().max(self.config.n_shown)
    }

    fn rerank(
        &self,
        request: &RerankRequest<'_>,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>> {
        let mut candidates = self.inner.rerank(request, candidates)?;
        let n_shown = asked::n_asked(&candidates, self.config.n_shown);
        let chosen = self.chosen(request, &candidates[..n_shown])?;
        let best = candidates.first().map_or(0.0, |best| best.score);
        let lowest = best + best.max(MARGIN);
        for (n_below, position) in chosen.iter().rev().enumerate() {
            let part = n_below as f32 / chosen.len() as f32;
            candidates[*position].score = lowest + part * CHOSEN_SPAN;
        }
        candidates.sort_unstable_by(Candidate::best_first);
        Ok(candidates)
    }

    fn contributions(&self, retriever: &dyn Retriever, candidate: &Candidate) -> Vec<Contribution> {
        asked::with_answer(self.inner.contributions(retriever, candidate), JUDGE, candidate)
    }
}
