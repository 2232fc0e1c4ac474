//! [`ListwiseJudge`]: a chat model chooses from a list, the LLM-judge of `SkillComposer` §5.2.

use std::sync::Arc;

use skillmux::{
    index::Index,
    model::ChatModel,
    rerank::{JudgeConfig, SkillJudge},
    skill::Skill,
};

use super::{context::SystemContext, contract::System, engine::query_of};
use crate::{answer::Answer, dataset::Aliases, error::Error, task::Task};

/// Depth of the ranking in which skills to show are looked for: a run may name skills that are not
/// in the index.
const SEARCH_DEPTH: usize = 100;

/// Loads what a chat model chooses from the best 20 of another system's ranking. The paper shows
/// its whole library of 196 skills.
///
/// The model is asked as by [`JudgeReranker`](skillmux::rerank::JudgeReranker), and says which
/// skills, how many, and in what order. A second answer without a choice counts as a choice of
/// nothing, as it is no answer to the task. The ranking has the chosen skills first, and then the
/// others in their order; the score is the number of skills that are not above.
pub(super) struct ListwiseJudge<'a> {
    system: Box<dyn System + 'a>,
    judge: SkillJudge<'a>,
    index: &'a Index,
    aliases: Arc<Aliases>,
}

impl<'a> ListwiseJudge<'a> {
    pub(super) fn open(
        system: Box<dyn System + 'a>,
        model: &'a dyn ChatModel,
        context: &SystemContext<'a>,
    ) -> Result<Self, Error> {
        let judge = SkillJudge::new(model, JudgeConfig::default());
        Ok(Self { system, judge, index: context.index(), aliases: context.aliases()? })
    }
}

impl System for ListwiseJudge<'_> {
    fn name(&self) -> String {
        format!("judge({})", self.system.name())
    }

    fn config(&self) -> String {
        format!("{} of [{}]", self.judge.identity(), self.system.config())
    }

    fn empty_answer(&self) -> Answer {
        Answer { loaded: Some(Vec::new()), ..Answer::of_ranking([]) }
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        query_of(task)?;
        let ranking =
            self.system.answer(task, depth.max(SEARCH_DEPTH))?.ranking.unwrap_or_default();
        let mut ids: Vec<String> = ranking.into_iter().map(|skill| skill.skill_id).collect();
        let known = ids.iter().filter_map(|id| Some((id.clone(), self.aliases.position(id)?)));
        let shown = known.take(JudgeConfig::default().n_shown);
        let shown = shown.map(|(id, idx)| Ok((id, self.index.skill(idx)?.skill)));
        let shown: Vec<(String, Skill)> = shown.collect::<Result<_, Error>>()?;
        let skills = shown.iter().map(|(_, skill)| skill);
        let chosen = self.judge.choose(&task.query, skills)?.unwrap_or_default();
        let chosen: Vec<String> = chosen.into_iter().map(|at| shown[at].0.clone()).collect();

        let place_of = |id: &String| chosen.iter().position(|known| known == id);
        // Those that were not chosen stay in their order.
        ids.sort_by_key(|id| place_of(id).unwrap_or(usize::MAX));
        let scores: Vec<f32> = (1..=ids.len()).rev().map(|n| n as f32).collect();
        let mut answer = Answer::of_ranking(ids.into_iter().zip(scores).take(depth));
        answer.loaded = Some(chosen);
        Ok(answer)
    }
}
