//! Trains the [`NodeWeights`] by which the parts of a skill are chosen.
//!
//! Each case is a query about one skill, with the bytes of its body that the answer needs. Every node of the body is an example: one
//! that holds some of these bytes is needed. A logistic regression tells them from the others.

mod fit;

use std::collections::BTreeMap;

use rayon::prelude::*;
use skillmux::{
    model::Encoder,
    page::{NodeFeatures, NodeWeights},
    query::Query,
    route::Router,
    skill::{Node, SkillId},
};
use skillmux_eval::{
    dataset::Dataset,
    metric::abstention::{Judged, auroc},
    task::Task,
};

use self::fit::{Example, fit};
use crate::{error::Result, split::key_of_name};

/// Parts that skills are dealt out to, one of which is held out in turn.
const N_FOLDS: u64 = 5;

/// The nodes of the skills that cases ask about, and which of them are needed.
#[derive(Debug, Clone, Default)]
pub struct PagerExamples {
    /// By the fold of the skill.
    folds: BTreeMap<u64, Vec<Example>>,
    n_cases: usize,
    n_left_out: usize,
}

/// How well a value tells the needed nodes of held-out skills from the others: the area under the ROC curve, in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PagerScores {
    /// By the weights.
    pub value: f64,
    /// By the best line of words alone.
    pub words: f64,
    /// By the meaning alone.
    pub meaning: f64,
}

impl PagerExamples {
    /// Reads the nodes of all skills that the cases of an `intra-skill-bench` ask about, on all cores. A case about a skill that the
    /// index lacks, or has with a body of another length, is left out.
    ///
    /// # Errors
    /// What the index says.
    pub fn read(cases: &Dataset, router: &Router, encoder: &dyn Encoder) -> Result<Self> {
        let index = router.index();
        let read = |task: &Task| -> Result<Option<(u64, Vec<Example>)>> {
            let Some(evidence) = &task.evidence else { return Ok(None) };
            let id = SkillId::new(evidence.skill_id.as_str());
            let Ok(idx) = index.find(&id) else { return Ok(None) };
            let indexed = index.skill(idx)?;
            if indexed.skill.body.len() != evidence.body_bytes as usize {
                return Ok(None);
            }
            let query = Query::new(task.query.as_str())?;
            let features = router.node_features(&indexed, &query, encoder);
            let example = |(node, features): (&Node, NodeFeatures)| {
                let holds = |[start, end]: &[u32; 2]| *start < node.end && node.start < *end;
                Example { features, is_needed: evidence.spans.iter().any(holds) }
            };
            let examples = indexed.nodes.nodes.iter().zip(features).map(example).collect();
            Ok(Some((key_of_name(&indexed.skill.name) % N_FOLDS, examples)))
        };
        let all = cases.tasks.par_iter().map(read).collect::<Result<Vec<_>>>()?;
        let mut read = Self::default();
        for case in all {
            let Some((fold, examples)) = case else {
                read.n_left_out += 1;
                continue;
            };
            read.n_cases += 1;
            read.folds.entry(fold).or_default().extend(examples);
        }
        Ok(read)
    }

    /// Returns the number of cases that were read, and of those that were left out.
    pub fn n_cases(&self) -> [usize; 2] {
        [self.n_cases, self.n_left_out]
    }

    /// Returns the number of nodes, and of those that are needed.
    pub fn n_nodes(&self) -> [usize; 2] {
        let all = || self.folds.values().flatten();
        [all().count(), all().filter(|example| example.is_needed).count()]
    }

    /// Returns the weights that fit all nodes.
    pub fn fit(&self) -> NodeWeights {
        fit(&self.folds.values().flatten().copied().collect::<Vec<_>>())
    }

    /// Returns how well weights do that are fitted to four fifths of the skills on the other fifth, over all fifths.
    pub fn scores(&self) -> PagerScores {
        let mut by: [Vec<Judged>; 3] = Default::default();
        for (held_out, examples) in &self.folds {
            let others = self.folds.iter().filter(|(fold, _)| *fold != held_out);
            let weights = fit(&others.flat_map(|(_, of)| of).copied().collect::<Vec<_>>());
            for Example { features, is_needed } in examples {
                let value = weights.probability(features);
                for (by, score) in by.iter_mut().zip([value, features.best_line, features.meaning])
                {
                    by.push(Judged { confidence: score, answerable: *is_needed });
                }
            }
        }
        let [value, words, meaning] = by.map(|judged| auroc(&judged));
        PagerScores { value, words, meaning }
    }
}
