//! Trains the [`NodeWeights`] by which the parts of a skill are chosen.
//!
//! Each case is a query about one skill, with the bytes of its body that the answer needs. Every
//! node of the body is an example: one that holds some of these bytes is needed. A logistic
//! regression and boosted trees upon it tell them from the others. A second regression tells how
//! likely a page suffices, from what it leaves out.

mod fit;

use std::collections::BTreeMap;

use rayon::prelude::*;
use skillmux::{
    index::IndexedSkill,
    page::{LeftOutValue, NodeFeatures, NodeValues, NodeWeights, PageRequest, Pager, ValuePager},
    query::Query,
    route::Router,
    skill::{Node, SkillId},
};
use skillmux_eval::{
    dataset::Dataset,
    metric::abstention::{Judged, auroc},
    task::{GoldEvidence, Task},
};

use self::fit::{Example, fit, fit_sufficiency};
use crate::{error::Result, split::key_of_name};

/// Parts that skills are dealt out to, one of which is held out in turn.
const N_FOLDS: u64 = 5;

/// Budgets that sufficiency is learned from, in percent of the tokens of a body.
const BUDGETS: [u32; 5] = [15, 30, 45, 60, 80];

/// The nodes of the skills that cases ask about, and which of them are needed.
#[derive(Debug)]
pub struct PagerExamples {
    /// The one that weights are fitted for.
    pager: ValuePager,
    cases: Vec<Case>,
    /// Ids of skills that the index lacks.
    n_unknown: usize,
    /// Skills that the index has with a body of another length.
    n_other_body: usize,
}

/// A query about one skill.
#[derive(Debug, Clone)]
struct Case {
    /// The fold of the skill.
    fold: u64,
    skill: IndexedSkill,
    query: Query,
    /// One for each node.
    examples: Vec<Example>,
}

/// How well a value tells the needed nodes of held-out skills from the others, and pages that
/// suffice from others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PagerScores {
    /// Area under the ROC curve of nodes by the weights, in `[0, 1]`.
    pub value: f64,
    /// The same by the best line of words alone.
    pub words: f64,
    /// The same by the meaning alone.
    pub meaning: f64,
    /// Area under the ROC curve of pages by how likely they suffice.
    pub sufficiency: f64,
    /// Mean distance between that probability and the share of pages that do, over ten bins, in
    /// `[0, 1]`.
    pub sufficiency_error: f64,
}

impl PagerExamples {
    /// Reads the nodes of all skills that the cases of an `intra-skill-bench` ask about, on all
    /// cores. A case about a skill that the index lacks, or has with a body of another length, is
    /// left out. The weights of the pager do not count.
    ///
    /// # Errors
    /// What the index says.
    pub fn read(cases: &Dataset, router: &Router, pager: ValuePager) -> Result<Self> {
        let read = |task: &Task| Case::read(task, router, &pager);
        // A body is read once for all that is asked about it in a row.
        let is_of_one = |a: &Task, b: &Task| skill_of(a).is_some_and(|id| Some(id) == skill_of(b));
        let of_skill = |tasks: &[Task]| tasks.iter().map(read).collect::<Result<Vec<_>>>();
        let all = cases.tasks.par_chunk_by(is_of_one).map(of_skill).collect::<Result<Vec<_>>>()?;
        let mut read = Self { pager, cases: Vec::new(), n_unknown: 0, n_other_body: 0 };
        for case in all.into_iter().flatten() {
            match case {
                Read::Case(case) => read.cases.push(*case),
                Read::Unknown => read.n_unknown += 1,
                Read::OtherBody => read.n_other_body += 1,
            }
        }
        Ok(read)
    }

    /// Returns the number of cases that were read, of those about skills that the index lacks, and
    /// of those about other bodies.
    pub fn n_cases(&self) -> [usize; 3] {
        [self.cases.len(), self.n_unknown, self.n_other_body]
    }

    /// Returns the number of skills.
    pub fn n_skills(&self) -> usize {
        let ids: std::collections::BTreeSet<&SkillId> =
            self.cases.iter().map(|case| &case.skill.skill.id).collect();
        ids.len()
    }

    /// Returns the number of nodes, and of those that are needed.
    pub fn n_nodes(&self) -> [usize; 2] {
        let all = || self.cases.iter().flat_map(|case| &case.examples);
        [all().count(), all().filter(|example| example.is_needed).count()]
    }

    /// Returns the weights that fit all nodes and, over held-out skills, all pages, with their
    /// scores.
    pub fn fit(&self, router: &Router) -> (NodeWeights, PagerScores) {
        let folds: Vec<u64> = (0..N_FOLDS).collect();
        let of_fold = |fold: u64| self.cases.iter().filter(move |case| case.fold == fold);
        let examples = |is_in: &dyn Fn(&Case) -> bool| -> Vec<Example> {
            self.cases
                .iter()
                .filter(|case| is_in(case))
                .flat_map(|case| &case.examples)
                .copied()
                .collect()
        };
        let weights: BTreeMap<u64, NodeWeights> =
            folds.iter().map(|fold| (*fold, fit(&examples(&|case| case.fold != *fold)))).collect();
        let mut by: [Vec<Judged>; 3] = Default::default();
        for fold in &folds {
            for Example { features, is_needed } in of_fold(*fold).flat_map(|case| &case.examples) {
                let value = weights[fold].probability(features);
                let scores = [value, features.best_line, features.meaning];
                for (by, confidence) in by.iter_mut().zip(scores) {
                    by.push(Judged { confidence, answerable: *is_needed });
                }
            }
        }
        let pages: Vec<(u64, PageExample)> = self
            .cases
            .par_chunk_by(|a, b| a.skill.skill.id == b.skill.skill.id)
            .flat_map_iter(|cases| cases)
            .flat_map_iter(|case| {
                let weights = &weights[&case.fold];
                let pager = self.pager.clone().with_weights(weights.clone());
                let pages = case.pages(weights, router, &pager);
                pages.into_iter().map(|page| (case.fold, page))
            })
            .collect();
        let pages_where = |is_in: &dyn Fn(u64) -> bool| -> Vec<PageExample> {
            pages.iter().filter(|(fold, _)| is_in(*fold)).map(|(_, page)| *page).collect()
        };
        let mut judged = Vec::with_capacity(pages.len());
        for held_out in &folds {
            let weights = fit_sufficiency(&pages_where(&|fold| fold != *held_out));
            judged.extend(pages_where(&|fold| fold == *held_out).iter().map(|page| Judged {
                confidence: weights.probability(&page.left_out),
                answerable: page.suffices,
            }));
        }
        let sufficiency = fit_sufficiency(&pages_where(&|_| true));
        let [value, words, meaning] = by.map(|judged| auroc(&judged));
        let scores = PagerScores {
            value,
            words,
            meaning,
            sufficiency: auroc(&judged),
            sufficiency_error: calibration_error(&judged),
        };
        let weights = NodeWeights { sufficiency: Some(sufficiency), ..fit(&examples(&|_| true)) };
        (weights, scores)
    }
}

/// Returns the skill that a task asks about.
fn skill_of(task: &Task) -> Option<&str> {
    task.evidence.as_ref().map(|evidence| evidence.skill_id.as_str())
}

/// What became of a case.
enum Read {
    Case(Box<Case>),
    Unknown,
    OtherBody,
}

/// A page that leaves something out.
#[derive(Debug, Clone, Copy)]
struct PageExample {
    left_out: LeftOutValue,
    /// Whether all that is needed is shown.
    suffices: bool,
}

impl Case {
    fn read(task: &Task, router: &Router, pager: &ValuePager) -> Result<Read> {
        let Some(evidence) = &task.evidence else { return Ok(Read::Unknown) };
        let index = router.index();
        let Ok(idx) = index.find(&SkillId::new(evidence.skill_id.as_str())) else {
            return Ok(Read::Unknown);
        };
        let skill = index.skill(idx)?;
        if skill.skill.body.len() != evidence.body_bytes as usize {
            return Ok(Read::OtherBody);
        }
        let query = Query::new(task.query.as_str())?;
        let NodeValues { features, .. } =
            router.with_page_request(&skill, &query, |request| pager.values(request));
        let example = |(node, features): (&Node, NodeFeatures)| Example {
            features,
            is_needed: is_needed(node, evidence),
        };
        let examples = skill.nodes.nodes.iter().zip(features).map(example).collect();
        let fold = key_of_name(&skill.skill.name) % N_FOLDS;
        Ok(Read::Case(Box::new(Self { fold, skill, query, examples })))
    }

    /// Returns pages of all [`BUDGETS`] by weights that were not fitted to this case.
    fn pages(
        &self,
        weights: &NodeWeights,
        router: &Router,
        pager: &ValuePager,
    ) -> Vec<PageExample> {
        router.with_page_request(&self.skill, &self.query, |request| {
            let full_tokens = pager.page(request).full_tokens;
            let page = |percent: &u32| {
                let budget_tokens = full_tokens.saturating_mul(*percent) / 100;
                let page = pager.page(&PageRequest { budget_tokens, ..*request });
                let shown = page.parts();
                let examples = (0_u32..).zip(&self.examples).zip(&self.skill.nodes.nodes);
                let left_out: Vec<(&Example, &Node)> = examples
                    .filter(|((position, _), _)| !shown.contains(*position))
                    .map(|((_, example), node)| (example, node))
                    .collect();
                let losses = left_out.iter().map(|(example, node)| {
                    (weights.loss_without(&example.features), node.n_tokens)
                });
                PageExample {
                    left_out: LeftOutValue::of(losses, page.full_tokens),
                    suffices: left_out.iter().all(|(example, _)| !example.is_needed),
                }
            };
            BUDGETS.iter().map(page).collect()
        })
    }
}

/// Returns the mean distance between probability and share over ten bins of equal width, each page
/// counting alike.
fn calibration_error(judged: &[Judged]) -> f64 {
    let mut gaps = [0.0; 10];
    for Judged { confidence, answerable } in judged {
        let bin = (1_u8..10).take_while(|edge| confidence * 10.0 >= f32::from(*edge)).count();
        gaps[bin] += f64::from(*confidence) - f64::from(u8::from(*answerable));
    }
    gaps.iter().map(|gap| gap.abs()).sum::<f64>() / judged.len().max(1) as f64
}

/// Tells whether a node holds bytes that the answer needs.
fn is_needed(node: &Node, evidence: &GoldEvidence) -> bool {
    let holds = |[start, end]: &[u32; 2]| *start < node.end && node.start < *end;
    evidence.spans.iter().any(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_compares_probability_and_share() {
        let judged = |confidence: f32, answerable: bool| Judged { confidence, answerable };
        let fair =
            [judged(0.75, true), judged(0.75, true), judged(0.75, true), judged(0.75, false)];
        assert!(calibration_error(&fair) < 1e-6);
        let sure = [judged(1.0, true), judged(1.0, false), judged(0.0, false), judged(0.0, true)];
        assert!((calibration_error(&sure) - 0.5).abs() < 1e-6);
        assert!(calibration_error(&[]) < 1e-6);
    }
}
