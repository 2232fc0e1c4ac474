//! [`Plan`]: which tasks are asked about, in which order, with which candidates.

use std::{collections::HashSet, sync::Arc};

use skillmux::{
    index::{Index, SkillIdx},
    query::Query,
    route::Router,
    skill::Skill,
};

use super::{assignment::RejectAssignment, task::KnownTask};
use crate::{
    error::Result,
    split::key_of_name,
    synth::{
        sample::{MAX_SIMILARITY, chance},
        work::{Assignments, WorkOptions},
    },
};

/// The tasks to ask about, each once.
pub(super) struct Plan<'r> {
    router: &'r Router,
    index: Arc<Index>,
    tasks: std::vec::IntoIter<KnownTask>,
    n_candidates: usize,
    seed: u64,
    model_name: String,
}

impl<'r> Plan<'r> {
    pub(super) fn new(
        router: &'r Router,
        tasks: Vec<KnownTask>,
        n_candidates: usize,
        work_options: &WorkOptions<'_>,
    ) -> Self {
        Self {
            router,
            index: router.index(),
            tasks: tasks.into_iter(),
            n_candidates,
            seed: work_options.seed,
            model_name: work_options.model_name.to_owned(),
        }
    }

    /// Returns the best skills that a router finds for a task and its clauses: the best of each
    /// ranking, then the second of each, and so on. Copies of a right one are not among them; they
    /// are the second list.
    fn candidates(&self, task: &KnownTask) -> Result<(Vec<SkillIdx>, Vec<SkillIdx>)> {
        let steps = self.router.step_candidates(&Query::new(task.query.as_str())?)?;
        let longest = steps.iter().map(|step| step.candidates.len()).max().unwrap_or(0);
        let mut seen: HashSet<SkillIdx> = task.right.iter().copied().collect();
        let mut right_names = HashSet::new();
        for idx in &task.right {
            right_names.insert(key_of_name(&self.index.skill(*idx)?.skill.name));
        }
        let (mut candidates, mut copies) = (Vec::new(), Vec::new());
        for rank in 0..longest {
            for considered in steps.iter().filter_map(|step| step.candidates.get(rank)) {
                let idx = self.index.find(&considered.candidate.skill)?;
                if !seen.insert(idx) {
                    continue;
                }
                if right_names.contains(&key_of_name(&considered.name))
                    || self.is_copy(idx, &task.right)?
                {
                    copies.push(idx);
                } else if candidates.len() < self.n_candidates {
                    candidates.push(idx);
                }
            }
        }
        Ok((candidates, copies))
    }

    fn is_copy(&self, idx: SkillIdx, right: &[SkillIdx]) -> Result<bool> {
        for other in right {
            if self.index.similarity(idx, *other)? > MAX_SIMILARITY {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn skill(&self, idx: SkillIdx) -> Result<Skill> {
        Ok(self.index.skill(idx)?.skill)
    }
}

impl Assignments for Plan<'_> {
    type Item = RejectAssignment;

    fn next(&mut self) -> Result<Option<RejectAssignment>> {
        while let Some(task) = self.tasks.next() {
            let (mut candidates, copies) = self.candidates(&task)?;
            if candidates.is_empty() {
                continue;
            }
            // The letters tell nothing of the ranking.
            candidates.sort_by_cached_key(|idx| {
                chance(self.seed, &["candidate", &task.key, &idx.0.to_string()])
            });
            let right: Result<Vec<Skill>> = task.right.iter().map(|idx| self.skill(*idx)).collect();
            let shown: Result<Vec<Skill>> = candidates.iter().map(|idx| self.skill(*idx)).collect();
            let mut also = task.also.clone();
            for idx in copies {
                let id = self.index.id(idx)?;
                if !also.contains(&id) {
                    also.push(id);
                }
            }
            return Ok(Some(RejectAssignment {
                right: right?,
                candidates: shown?,
                also,
                task,
                model_name: self.model_name.clone(),
            }));
        }
        Ok(None)
    }

    fn n_passed_over(&self) -> (usize, usize) {
        (0, 0)
    }
}
