//! [`Example`]: a task as the network sees it, with what is right.

use rayon::prelude::*;
use skillmux::{compose::first_skill, model::Encoder, skill::SkillId};
use skillmux_models::sequence::{Scene, SceneKind, SequenceConfig};

use super::super::{
    asked::{Asked, Library},
    data::SetExamples,
    scores::TaskScores,
    tasks::Right,
};
use crate::{error::Result, random::Random, split::Fold};

/// A task as the network sees it.
pub(super) struct Example {
    pub(super) scene: Scene,
    /// Places of the right skills that the scene has, in the order of use.
    pub(super) sequence: Vec<u32>,
    /// What each skill of the scene is.
    pub(super) labels: Vec<Label>,
    /// Names of the skills in small letters: no two of one name stand in a plan.
    names: Vec<String>,
    /// Whether a plan may load a skill: whether a ranking holds it.
    is_listed: Vec<bool>,
    right: Right,
    pub(super) max_skills: usize,
}

/// What a skill is for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Right,
    /// It would do as well as a right one.
    Also,
    Wrong,
    /// It looks right and is not.
    Rejected,
}

/// Returns the examples of a fold.
pub(super) fn examples(
    found: &SetExamples,
    fold: Fold,
    encoder: &dyn Encoder,
    config: &SequenceConfig,
) -> Result<Vec<Example>> {
    let all = found
        .libraries
        .iter()
        .flat_map(|library| library.asked.iter().map(move |asked| (library, asked)));
    let of_fold: Vec<(&Library, &Asked)> = all.filter(|(_, asked)| asked.fold == fold).collect();
    let of_fold = of_fold.into_par_iter();
    let is_useful = |(library, _): &(&Library, &Asked)| {
        config.scene == SceneKind::Open || library.index.n_skills() <= MAX_CLOSED
    };
    of_fold
        .filter(is_useful)
        .map(|(library, asked)| example(library, asked, encoder, config))
        .collect()
}

/// Skills of the largest library that is a closed scene.
const MAX_CLOSED: usize = 1_000;

fn example(
    library: &Library,
    asked: &Asked,
    encoder: &dyn Encoder,
    config: &SequenceConfig,
) -> Result<Example> {
    let (scene, max_skills) = library
        .with_request(asked, |request| (Scene::new(request, encoder, config), request.max_skills));
    let scene = scene?;
    let Right { skills, also, rejected } = &asked.right;
    let place = |id: &SkillId| {
        let at = scene.skills.iter().position(|skill| skill.id == *id)?;
        u32::try_from(at).ok()
    };
    let sequence: Vec<u32> = skills.iter().filter_map(place).take(config.max_skills).collect();
    let label = |id: &SkillId| match id {
        id if skills.contains(id) => Label::Right,
        id if also.contains(id) => Label::Also,
        id if rejected.contains(id) => Label::Rejected,
        _ => Label::Wrong,
    };
    let considered = |id: &SkillId| {
        let all = asked.steps.iter().flat_map(|step| &step.candidates);
        all.into_iter().find(|considered| considered.candidate.skill == *id)
    };
    let found: Vec<_> = scene.skills.iter().map(|skill| considered(&skill.id)).collect();
    let name = |at: usize| found[at].map_or(String::new(), |found| found.name.to_lowercase());
    Ok(Example {
        labels: scene.skills.iter().map(|skill| label(&skill.id)).collect(),
        names: (0..found.len()).map(name).collect(),
        is_listed: found.iter().map(Option::is_some).collect(),
        right: asked.right.clone(),
        sequence,
        scene,
        max_skills: if first_skill(&asked.steps).is_some() { max_skills } else { 0 },
    })
}

impl Example {
    /// Returns whether a skill may be chosen after others.
    pub(super) fn may_follow(&self, chosen: &[u32], at: usize) -> bool {
        let repeats = |other: &u32| self.names[*other as usize] == self.names[at];
        self.is_listed[at] && !chosen.iter().any(repeats)
    }

    /// Returns the Set F1 of a plan.
    pub(super) fn set_f1(&self, chosen: &[u32]) -> f64 {
        let ids: Vec<SkillId> =
            chosen.iter().map(|at| self.scene.skills[*at as usize].id.clone()).collect();
        TaskScores::of(&ids, &self.right).set_f1
    }

    /// Returns the example without some of its wrong skills: a share of them, and as many more as
    /// are above `most`.
    pub(super) fn thinned(&self, share: f32, most: usize, random: &mut Random) -> Drawn {
        let mut wrong: Vec<usize> = Vec::new();
        let mut kept: Vec<usize> = Vec::new();
        for (at, label) in self.labels.iter().enumerate() {
            if matches!(label, Label::Right | Label::Rejected) {
                kept.push(at);
            } else if random.share() >= share {
                wrong.push(at);
            }
        }
        while kept.len() + wrong.len() > most.max(kept.len()) {
            wrong.swap_remove(random.below(wrong.len()));
        }
        kept.extend(wrong);
        kept.sort_unstable();
        let new_place = |at: &u32| {
            let at = kept.iter().position(|kept| *kept == *at as usize);
            at.and_then(|at| u32::try_from(at).ok())
        };
        Drawn {
            sequence: self.sequence.iter().filter_map(new_place).collect(),
            labels: kept.iter().map(|at| self.labels[*at]).collect(),
            scene: self.scene.with_skills(&kept),
        }
    }
}

/// An example of a step.
pub(super) struct Drawn {
    pub(super) scene: Scene,
    pub(super) sequence: Vec<u32>,
    pub(super) labels: Vec<Label>,
}
