//! [`SetExamples`]: what a router found for tasks, and which of it is right.

use std::path::{Path, PathBuf};

use skillmux::{
    compose::{SetHead, SetTable, SetWeights},
    route::Router,
    skill::SkillId,
};

use super::{
    asked::{Asked, Library},
    fit::{FitOptions, SetExample, fit},
    scores::TaskScores,
    tasks::{Right, SetTasks},
};
use crate::{error::Result, random::Random, split::Fold};

/// Seed of the choice of the right skills that an example is beside.
const SEED: u64 = 1;

/// How often the best skill of a task counts: there is one example of it, and many of the others.
const FIRST: f64 = 3.0;

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
    /// Returns no examples yet. What routers find is kept in a folder, and read from there when the
    /// same is asked again.
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
        let mut random = Random::new(SEED);
        let mut examples = Vec::new();
        for library in &self.libraries {
            for asked in library.asked.iter().filter(|asked| asked.fold != Fold::HeldOut) {
                examples.extend(of_task(library.index.n_skills(), asked, options, &mut random));
            }
        }
        fit(&examples, options.threshold)
    }

    /// Returns the number of tasks that weights are fitted to, over all libraries.
    pub fn n_train(&self) -> usize {
        let all = self.libraries.iter().flat_map(|library| &library.asked);
        all.filter(|asked| asked.fold != Fold::HeldOut).count()
    }

    /// Returns the scores of the tasks that are held out, by library. A plan abstains where no
    /// skill helps.
    pub fn scores(&self, weights: &SetWeights) -> Vec<SetScores> {
        let composer = SetHead::new(weights.clone());
        self.libraries.iter().map(|library| scores(library, &composer)).collect()
    }
}

/// Returns the examples of a task: the best skill beside none, and every other candidate beside the
/// best skill alone, beside that and all other right ones, and beside that and some of them. Those
/// of the other candidates have the weight 1 together.
fn of_task(
    n_skills: usize,
    asked: &Asked,
    options: &FitOptions,
    random: &mut Random,
) -> Vec<SetExample> {
    let table = SetTable::new(&asked.steps, n_skills);
    let first = asked.steps.first().and_then(|whole| whole.candidates.first());
    let Some(first) = first.map(|considered| &considered.candidate.skill) else {
        return Vec::new();
    };
    let Right { skills: right, also, rejected } = &asked.right;
    let example = |skill: &SkillId, chosen: &[SkillId]| {
        let is_right = right.contains(skill);
        let features = table.features(skill, chosen).filter(|_| is_right || !also.contains(skill));
        let is_rejected = !is_right && rejected.contains(skill);
        let weight = if is_rejected { options.rejected_weight } else { 1.0 };
        Some(SetExample { features: features?.to_array(), is_right, weight })
    };
    let mut examples = Vec::new();
    for skill in table.candidates().filter(|skill| *skill != first) {
        let others: Vec<&SkillId> =
            right.iter().filter(|right| *right != skill && *right != first).collect();
        let beside = |others: &[&SkillId]| -> Vec<SkillId> {
            std::iter::once(first).chain(others.iter().copied()).cloned().collect()
        };
        examples.extend(example(skill, &beside(&[])));
        examples.extend(example(skill, &beside(&others)));
        if others.len() > 1 {
            let mut some = others;
            let n_left = 1 + random.below(some.len() - 1);
            while some.len() > n_left {
                some.swap_remove(random.below(some.len()));
            }
            examples.extend(example(skill, &beside(&some)));
        }
    }
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    examples.extend(example(first, &[]).map(|first| SetExample { weight: FIRST, ..first }));
    if total > 0.0 {
        for example in &mut examples {
            example.weight /= total;
        }
    }
    examples
}

fn scores(library: &Library, composer: &SetHead) -> SetScores {
    let n_skills = library.index.n_skills();
    let mut scores =
        SetScores { n_skills, n_tasks: [0; 2], set_f1: [0.0; 2], set_f1_of_first: [0.0; 2] };
    for asked in library.asked.iter().filter(|asked| asked.fold == Fold::HeldOut) {
        let right = &asked.right;
        let group = usize::from(right.skills.len() > 1);
        let loaded = library.with_request(asked, |request| composer.chosen(request));
        let first = &loaded[..loaded.len().min(1)];
        scores.n_tasks[group] += 1;
        scores.set_f1[group] += TaskScores::of(&loaded, right).set_f1;
        scores.set_f1_of_first[group] += TaskScores::of(first, right).set_f1;
    }
    for group in 0..2 {
        let n = scores.n_tasks[group].max(1) as f64;
        scores.set_f1[group] /= n;
        scores.set_f1_of_first[group] /= n;
    }
    scores
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
    fn a_skill_that_is_right_and_would_also_do_is_right() {
        let Asked { right, .. } = asked();
        let right = Right { also: right.skills.clone(), ..right };
        let scores = TaskScores::of(&right.skills, &right);
        assert!((scores.set_f1 - 1.0).abs() < f64::EPSILON, "{scores:?}");
    }

    #[test]
    fn a_rejected_candidate_weighs_as_much_as_is_asked_for() {
        let weights = |rejected_weight: f64| -> Vec<f64> {
            let options = FitOptions { threshold: [0.0, 1.0], rejected_weight };
            of_task(48, &asked(), &options, &mut Random::new(1)).iter().map(|e| e.weight).collect()
        };
        // Two examples each of `b`, `c` and `d`, and one of the best skill, which is as heavy as
        // three of them.
        assert_eq!(weights(1.0)[..6], [1.0 / 6.0; 6]);
        assert_eq!(weights(1.0)[6..], [0.5]);
        let graded = weights(3.0);
        assert!(
            graded.iter().zip([0.1, 0.1, 0.3, 0.3, 0.1, 0.1]).all(|(a, b)| (a - b).abs() < 1e-12)
        );
        assert_eq!(weights(0.0)[2..4], [0.0; 2]);
    }
}
