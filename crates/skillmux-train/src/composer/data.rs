//! [`SetExamples`]: what a router found for tasks, and which of it is right.

use std::path::{Path, PathBuf};

use skillmux::{
    compose::{ComposeRequest, SetHead, SetTable, SetWeights, Split},
    retrieve::ScoreScale,
    route::Router,
    skill::SkillId,
};

use super::{
    asked::{Asked, Library},
    fit::{Example, FitOptions, fit},
    tasks::{Right, SetTasks},
};
use crate::{error::Result, split::Fold};

/// What routers found for tasks, library by library.
#[derive(Default)]
pub struct SetExamples {
    pub(super) libraries: Vec<Library>,
    kept: Option<PathBuf>,
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
    /// Returns no examples yet. What routers find is kept in a folder, and read from there when the same is asked again.
    pub fn kept_in(folder: &Path) -> Self {
        Self { libraries: Vec::new(), kept: Some(folder.to_owned()) }
    }

    /// Asks a router the tasks all of whose skills its index holds, on all cores.
    ///
    /// # Errors
    /// What the index says, and what is said of files that cannot be kept.
    pub fn ask(&mut self, tasks: &SetTasks, router: &Router) -> Result<()> {
        self.libraries.push(Library::ask(tasks, router, self.kept.as_deref())?);
        Ok(())
    }

    /// Returns the weights that fit the tasks that are not held out.
    pub fn fit(&self, options: &FitOptions) -> SetWeights {
        let of_library =
            |l: &Library| examples(l.index.n_skills(), &l.asked, options.rejected_weight);
        let examples: Vec<Example> = self.libraries.iter().flat_map(of_library).collect();
        fit(&examples, options.threshold)
    }

    /// Returns the number of tasks that weights are fitted to, over all libraries.
    pub fn n_train(&self) -> usize {
        let all = self.libraries.iter().flat_map(|library| &library.asked);
        all.filter(|asked| asked.fold != Fold::HeldOut).count()
    }

    /// Returns the scores of the tasks that are held out, by library. No plan abstains.
    pub fn scores(&self, weights: SetWeights) -> Vec<SetScores> {
        let composer = SetHead::new(weights);
        let scores =
            |library: &Library| scores(library.index.n_skills(), &library.asked, &composer);
        self.libraries.iter().map(scores).collect()
    }
}

fn examples(n_skills: usize, asked: &[Asked], rejected_weight: f64) -> Vec<Example> {
    let train = asked.iter().filter(|asked| asked.fold != Fold::HeldOut);
    train.flat_map(|asked| of_task(n_skills, asked, rejected_weight)).collect()
}

/// Returns the examples of a task, which have the weight 1 together.
fn of_task(n_skills: usize, asked: &Asked, rejected_weight: f64) -> Vec<Example> {
    let table = SetTable::new(&asked.steps, n_skills);
    let first = asked.steps.first().and_then(|whole| whole.candidates.first());
    let Some(first) = first.map(|considered| &considered.candidate.skill) else {
        return Vec::new();
    };
    let mut examples = Vec::new();
    for skill in table.candidates().filter(|skill| *skill != first) {
        let Right { skills: right, also, rejected } = &asked.right;
        let is_right = right.contains(skill);
        if !is_right && also.contains(skill) {
            continue;
        }
        let is_rejected = !is_right && rejected.contains(skill);
        let weight = if is_rejected { rejected_weight } else { 1.0 };
        let others = right.iter().filter(|right| *right != skill && *right != first);
        let all: Vec<SkillId> = std::iter::once(first).chain(others).cloned().collect();
        for chosen in [&all[..1], &all] {
            let features = table.features(skill, chosen);
            examples.push(Example { features, is_right, weight });
        }
    }
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    if total > 0.0 {
        for example in &mut examples {
            example.weight /= total;
        }
    }
    examples
}

fn scores(n_skills: usize, asked: &[Asked], composer: &SetHead) -> SetScores {
    let mut scores =
        SetScores { n_skills, n_tasks: [0; 2], set_f1: [0.0; 2], set_f1_of_first: [0.0; 2] };
    for Asked { steps, right, .. } in asked.iter().filter(|asked| asked.fold == Fold::HeldOut) {
        let group = usize::from(right.skills.len() > 1);
        let loaded = composer.chosen(&ComposeRequest {
            task: "",
            steps,
            split: Split::Parts,
            scale: ScoreScale::LogOdds,
            similarity: &|_, _| 0.0,
            compatibility: &|_, _| 0.0,
            headline: &|_| None,
            library: &Vec::new,
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
pub(super) fn set_f1(loaded: &[SkillId], right: &Right) -> f64 {
    let n_right = loaded.iter().filter(|skill| right.skills.contains(skill)).count();
    let n_also = loaded.iter().filter(|skill| right.also.contains(skill)).count();
    let n_counted = loaded.len() - n_also + right.skills.len();
    2.0 * n_right as f64 / n_counted.max(1) as f64
}

#[cfg(test)]
mod tests {
    use skillmux::{
        compose::{Considered, Judgement, StepCandidates, Verdict},
        query::Need,
        retrieve::Candidate,
    };

    use super::*;

    /// A task for which `a` and `b` are right, `c` is rejected, and nothing is known of `d`.
    fn asked() -> Asked {
        let candidates = ["a", "b", "c", "d"].iter().zip([4.0, 3.0, 2.0, 1.0]);
        let considered = |(id, score): (&&str, f32)| Considered {
            candidate: Candidate::new(SkillId::new(*id), score),
            name: (*id).to_owned(),
        };
        let judgement = Judgement { confidence: Some(0.9), verdict: Verdict::Helps };
        let ids = |ids: &[&str]| ids.iter().map(|id| SkillId::new(*id)).collect::<Vec<_>>();
        Asked {
            steps: vec![StepCandidates {
                need: Need::new("whole"),
                judgement,
                candidates: candidates.map(considered).collect(),
            }],
            right: Right { skills: ids(&["a", "b"]), also: Vec::new(), rejected: ids(&["c"]) },
            fold: Fold::Train,
        }
    }

    #[test]
    fn a_rejected_candidate_weighs_as_much_as_is_asked_for() {
        let weights = |rejected_weight: f64| -> Vec<f64> {
            of_task(48, &asked(), rejected_weight).iter().map(|e| e.weight).collect()
        };
        // Two examples each of `b`, `c` and `d`; one of all six is exactly what it was without grades.
        assert_eq!(weights(1.0), [1.0 / 6.0; 6]);
        let graded = weights(3.0);
        assert!(
            graded.iter().zip([0.1, 0.1, 0.3, 0.3, 0.1, 0.1]).all(|(a, b)| (a - b).abs() < 1e-12)
        );
        assert_eq!(weights(0.0)[2..4], [0.0; 2]);
    }
}
