//! [`PlanScores`]: how well composers do on the same held-out tasks.

use rayon::prelude::*;
use skillmux::{compose::Composer, skill::SkillId};
use skillmux_eval::stats::{BootstrapConfig, Interval, PairedTest, bootstrap_mean, compare_paired};

use super::{
    asked::{Asked, Library},
    data::SetExamples,
    scores::TaskScores,
};
use crate::{error::Result, split::Fold};

/// Sizes of libraries that are told apart: up to so many skills.
const SIZES: [(usize, &str); 3] =
    [(130, "up to 130"), (2_000, "131 to 2,000"), (usize::MAX, "more")];

/// Means of one composer over the tasks of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanScores {
    /// Name of the composer.
    pub composer: String,
    /// Mean Set F1.
    pub set_f1: Interval,
    /// Share of the tasks with exactly the right skills.
    pub exact: Interval,
    /// Mean of Kendall's tau over the tasks with two right skills in their plan.
    pub order: Interval,
    /// Mean of the error in the number of skills, without its sign.
    pub count_error: Interval,
    /// Share of the tasks whose number of skills is off by one at most.
    pub within_one: Interval,
    /// Set F1 against the first composer, and against the second one if there is one.
    pub against: Vec<PairedTest>,
}

/// Held-out tasks of libraries of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanGroup {
    /// Sizes of the libraries.
    pub sizes: &'static str,
    /// Whether the tasks need several skills.
    pub is_several: bool,
    /// One for each composer.
    pub scores: Vec<PlanScores>,
}

impl SetExamples {
    /// Returns the scores of composers on the tasks that are held out, each in every library that
    /// has its skills. They abstain as the router does.
    ///
    /// # Errors
    /// What a composer says.
    pub fn compare(&self, composers: &[(&str, &dyn Composer)]) -> Result<Vec<PlanGroup>> {
        let mut groups = Vec::new();
        for (number, (_, sizes)) in SIZES.iter().enumerate() {
            for is_several in [false, true] {
                let tasks = self.held_out(number, is_several);
                if tasks.is_empty() {
                    continue;
                }
                let of_composer = |composer: &dyn Composer| {
                    tasks
                        .par_iter()
                        .map(|(library, asked)| score(library, asked, composer))
                        .collect::<Result<Vec<TaskScores>>>()
                };
                let all = composers.iter().map(|(_, composer)| of_composer(*composer));
                let all = all.collect::<Result<Vec<_>>>()?;
                let names = composers.iter().map(|(name, _)| *name);
                let scores = names.zip(&all).map(|(name, of)| summary(name, of, &all)).collect();
                groups.push(PlanGroup { sizes, is_several, scores });
            }
        }
        Ok(groups)
    }

    fn held_out(&self, size: usize, is_several: bool) -> Vec<(&Library, &Asked)> {
        let is_size = |n: usize| SIZES.iter().position(|(most, _)| n <= *most) == Some(size);
        let libraries = self.libraries.iter().filter(|library| is_size(library.index.n_skills()));
        let tasks =
            libraries.flat_map(|library| library.asked.iter().map(move |asked| (library, asked)));
        tasks
            .filter(|(_, asked)| {
                asked.fold == Fold::HeldOut && (asked.right.skills.len() > 1) == is_several
            })
            .collect()
    }
}

fn score(library: &Library, asked: &Asked, composer: &dyn Composer) -> Result<TaskScores> {
    let plan = library.with_request(asked, |request| composer.compose(request))?;
    let loaded: Vec<SkillId> = plan.steps.into_iter().flat_map(|step| step.skills).collect();
    Ok(TaskScores::of(&loaded, &asked.right))
}

fn summary(name: &str, scores: &[TaskScores], all: &[Vec<TaskScores>]) -> PlanScores {
    let config = BootstrapConfig::default();
    let of = |value: fn(&TaskScores) -> f64| -> Vec<f64> { scores.iter().map(value).collect() };
    let mean = |value: fn(&TaskScores) -> f64| bootstrap_mean(&of(value), &config);
    let order: Vec<f64> = scores.iter().filter_map(|scores| scores.order).collect();
    let against = |other: &Vec<TaskScores>| {
        let other: Vec<f64> = other.iter().map(|scores| scores.set_f1).collect();
        compare_paired(&other, &of(|scores| scores.set_f1), &config)
    };
    PlanScores {
        composer: name.to_owned(),
        set_f1: mean(|scores| scores.set_f1),
        exact: mean(|scores| scores.exact),
        order: bootstrap_mean(&order, &config),
        count_error: mean(|scores| scores.count.abs()),
        within_one: mean(|scores| f64::from(u8::from(scores.count.abs() < 1.5))),
        against: all.iter().take(2).map(against).collect(),
    }
}
