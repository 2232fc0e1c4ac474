//! [`SetExamples`]: what a router found for tasks, and which of it is right.

use std::{collections::BTreeMap, path::Path};

use rayon::prelude::*;
use serde::Deserialize;
use skillmux::{
    compose::{ComposeRequest, SetHead, SetTable, SetWeights, Split, StepCandidates},
    index::Index,
    query::Query,
    retrieve::ScoreScale,
    route::Router,
    skill::SkillId,
};

use super::fit::{Example, fit};
use crate::{
    error::Result,
    file::lines,
    split::{Fold, RankerShare, key_of_name},
};

/// Tasks with the skills that are right for them.
#[derive(Debug, Clone, Default)]
pub struct SetTasks(BTreeMap<String, Right>);

/// What is right for a task.
#[derive(Debug, Clone, Default)]
struct Right {
    skills: Vec<SkillId>,
    /// What would do as well as one of these: neither right nor wrong beside it.
    also: Vec<SkillId>,
}

/// A line of a file of tasks.
#[derive(Deserialize)]
struct TaskLine {
    query: String,
    #[serde(default)]
    skill_id: Option<SkillId>,
    #[serde(default)]
    skill_ids: Vec<SkillId>,
    #[serde(default)]
    also: Vec<SkillId>,
}

impl SetTasks {
    /// Adds the tasks of a file, plain or `.zst`: `{"query", "skill_ids" or "skill_id", "also"}` a line. A task may stand there
    /// several times, with a skill each; one without a skill is left out.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn add(&mut self, path: &Path) -> Result<()> {
        let lines: Vec<TaskLine> = lines(path, "a task with `skill_id` or `skill_ids`")?;
        for TaskLine { query, skill_id, skill_ids, also } in lines {
            if skill_id.is_none() && skill_ids.is_empty() {
                continue;
            }
            let right = self.0.entry(query).or_default();
            for skill in skill_id.into_iter().chain(skill_ids) {
                if !right.skills.contains(&skill) {
                    right.skills.push(skill);
                }
            }
            right.also.extend(also);
        }
        Ok(())
    }
}

/// A task that a router was asked, with what it found.
struct Asked {
    steps: Vec<StepCandidates>,
    right: Right,
    fold: Fold,
}

/// What routers found for tasks, library by library.
#[derive(Default)]
pub struct SetExamples {
    libraries: Vec<(usize, Vec<Asked>)>,
}

/// How well plans do on the tasks of one library that are held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetScores {
    /// Skills of the library.
    pub n_skills: usize,
    /// Tasks of one right skill and of several.
    pub n_tasks: [usize; 2],
    /// Mean Set F1 of these, in `[0, 1]`; 0 where there are none.
    pub set_f1: [f64; 2],
    /// The same of plans that load the best skill alone.
    pub set_f1_of_first: [f64; 2],
}

impl SetExamples {
    /// Asks a router the tasks all of whose skills its index holds, on all cores.
    ///
    /// # Errors
    /// What the index says.
    pub fn ask(&mut self, tasks: &SetTasks, router: &Router) -> Result<()> {
        let index = router.index();
        let ask = |(query, right): (&String, &Right)| -> Result<Option<Asked>> {
            let Some(fold) = fold(&index, &right.skills)? else { return Ok(None) };
            let steps = router.step_candidates(&Query::new(query.as_str())?)?;
            Ok(Some(Asked { steps, right: right.clone(), fold }))
        };
        let asked = tasks.0.par_iter().map(ask).collect::<Result<Vec<_>>>()?;
        self.libraries.push((index.n_skills(), asked.into_iter().flatten().collect()));
        Ok(())
    }

    /// Returns the weights that fit the tasks that are not held out, with this threshold.
    pub fn fit(&self, threshold: f32) -> SetWeights {
        let examples: Vec<Example> =
            self.libraries.iter().flat_map(|(n, asked)| examples(*n, asked)).collect();
        fit(&examples, threshold)
    }

    /// Returns the number of tasks that weights are fitted to, over all libraries.
    pub fn n_train(&self) -> usize {
        let all = self.libraries.iter().flat_map(|(_, asked)| asked);
        all.filter(|asked| asked.fold != Fold::HeldOut).count()
    }

    /// Returns the scores of the tasks that are held out, by library. No plan abstains.
    pub fn scores(&self, weights: SetWeights) -> Vec<SetScores> {
        let composer = SetHead::new(weights);
        self.libraries.iter().map(|(n_skills, asked)| scores(*n_skills, asked, &composer)).collect()
    }
}

/// Returns the fold of a task by the names of its skills; `None` if the index lacks one.
fn fold(index: &Index, right: &[SkillId]) -> Result<Option<Fold>> {
    let mut share: Option<RankerShare> = None;
    for id in right {
        let Ok(idx) = index.find(id) else { return Ok(None) };
        let of_skill = RankerShare::of_name(key_of_name(&index.skill(idx)?.skill.name));
        share = Some(share.map_or(of_skill, |share| share.and(of_skill)));
    }
    Ok(share.map(|share| share.fold))
}

fn examples(n_skills: usize, asked: &[Asked]) -> Vec<Example> {
    let train = asked.iter().filter(|asked| asked.fold != Fold::HeldOut);
    train.flat_map(|asked| of_task(n_skills, asked)).collect()
}

/// Returns the examples of a task, which have the weight 1 together.
fn of_task(n_skills: usize, asked: &Asked) -> Vec<Example> {
    let table = SetTable::new(&asked.steps, n_skills);
    let first = asked.steps.first().and_then(|whole| whole.candidates.first());
    let Some(first) = first.map(|considered| &considered.candidate.skill) else {
        return Vec::new();
    };
    let mut examples = Vec::new();
    for skill in table.candidates().filter(|skill| *skill != first) {
        let Right { skills: right, also } = &asked.right;
        let is_right = right.contains(skill);
        if !is_right && also.contains(skill) {
            continue;
        }
        let others = right.iter().filter(|right| *right != skill && *right != first);
        let all: Vec<SkillId> = std::iter::once(first).chain(others).cloned().collect();
        for chosen in [&all[..1], &all] {
            let features = table.features(skill, chosen);
            examples.push(Example { features, is_right, weight: 0.0 });
        }
    }
    let weight = 1.0 / examples.len().max(1) as f64;
    for example in &mut examples {
        example.weight = weight;
    }
    examples
}

fn scores(n_skills: usize, asked: &[Asked], composer: &SetHead) -> SetScores {
    let mut scores =
        SetScores { n_skills, n_tasks: [0; 2], set_f1: [0.0; 2], set_f1_of_first: [0.0; 2] };
    for Asked { steps, right, .. } in asked.iter().filter(|asked| asked.fold == Fold::HeldOut) {
        let group = usize::from(right.skills.len() > 1);
        let loaded = composer.chosen(&ComposeRequest {
            steps,
            split: Split::Parts,
            scale: ScoreScale::LogOdds,
            similarity: &|_, _| 0.0,
            compatibility: &|_, _| 0.0,
            max_skills: usize::MAX,
            n_skills,
        });
        let first = &loaded[..loaded.len().min(1)];
        scores.n_tasks[group] += 1;
        scores.set_f1[group] += set_f1(&loaded, right);
        scores.set_f1_of_first[group] += set_f1(first, right);
    }
    for group in 0..2 {
        let n = scores.n_tasks[group].max(1) as f64;
        scores.set_f1[group] /= n;
        scores.set_f1_of_first[group] /= n;
    }
    scores
}

/// Returns the Set F1 of a plan; a skill that would do as well counts neither way.
fn set_f1(loaded: &[SkillId], right: &Right) -> f64 {
    let n_right = loaded.iter().filter(|skill| right.skills.contains(skill)).count();
    let n_also = loaded.iter().filter(|skill| right.also.contains(skill)).count();
    let n_counted = loaded.len() - n_also + right.skills.len();
    2.0 * n_right as f64 / n_counted.max(1) as f64
}
