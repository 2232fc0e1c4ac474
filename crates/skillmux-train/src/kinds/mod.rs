//! Trains the [`KindWeights`] that tell the kinds of the parts of a skill.
//!
//! Each label is a part of a skill, by its bytes, with its kind. A logistic regression over what is
//! seen of the part ([`kind_features`]) tells the kinds apart.

mod fit;

use std::path::Path;

use serde::Deserialize;
use skillmux::{
    index::Index,
    skill::{KindWeights, NodeKind, SkillId, node::kind_features},
};

use self::fit::{Example, fit};
use crate::{error::Result, file::lines, split::key_of_name};

/// Parts that skills are dealt out to, one of which is held out in turn.
const N_FOLDS: u64 = 5;

#[derive(Deserialize)]
struct Label {
    skill_id: SkillId,
    start: u32,
    end: u32,
    kind: NodeKind,
}

/// Parts of skills with their kinds.
#[derive(Debug, Clone, Default)]
pub struct KindExamples {
    examples: Vec<Example>,
    /// By example, the fold of its skill and its kind by the rules.
    about: Vec<(u64, NodeKind)>,
    n_skills: usize,
    n_left_out: usize,
}

/// How well kinds are told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KindScores {
    /// Share of the parts whose kind is right, in `[0, 1]`.
    pub accuracy: f64,
    /// Mean over the kinds of the harmonic mean of precision and recall, in `[0, 1]`; a kind that
    /// is neither said nor right counts 0.
    pub macro_f1: f64,
}

impl KindExamples {
    /// Reads the labels of a file, `{"skill_id", "start", "end", "kind"}` a line, ordered by skill.
    /// A label of a skill that the index lacks is left out, and one whose bytes do not begin and
    /// end as a part of it.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read), [`Error::TrainingData`](crate::Error::TrainingData) and
    /// what the index says.
    pub fn read(labels: &Path, index: &Index) -> Result<Self> {
        let labels: Vec<Label> = lines(labels, "a part of a skill with its `kind`")?;
        let mut read = Self::default();
        for labels in labels.chunk_by(|a, b| a.skill_id == b.skill_id) {
            let Ok(idx) = index.find(&labels[0].skill_id) else {
                read.n_left_out += labels.len();
                continue;
            };
            let indexed = index.skill(idx)?;
            let features = kind_features(&indexed.skill.body, &indexed.nodes);
            let fold = key_of_name(&indexed.skill.name) % N_FOLDS;
            read.n_skills += 1;
            for label in labels {
                let mut nodes = indexed.nodes.nodes.iter().zip(&features);
                let found =
                    nodes.find(|(node, _)| [node.start, node.end] == [label.start, label.end]);
                let Some((node, features)) = found else {
                    read.n_left_out += 1;
                    continue;
                };
                read.examples.push(Example { features: features.clone(), kind: label.kind });
                read.about.push((fold, node.kind));
            }
        }
        Ok(read)
    }

    /// Returns the number of parts that were read, and of those that were left out.
    pub fn n_parts(&self) -> [usize; 2] {
        [self.examples.len(), self.n_left_out]
    }

    /// Returns the number of skills.
    pub fn n_skills(&self) -> usize {
        self.n_skills
    }

    /// Returns how well the rules tell the kinds.
    pub fn rules(&self) -> KindScores {
        let pairs = self.examples.iter().zip(&self.about);
        KindScores::of(pairs.map(|(example, (_, rules))| (example.kind, *rules)))
    }

    /// Returns the weights that fit all parts, and how well weights tell the kinds of parts of
    /// held-out skills.
    pub fn fit(&self) -> (KindWeights, KindScores) {
        let mut told = Vec::with_capacity(self.examples.len());
        for held_out in 0..N_FOLDS {
            let of_fold = |is_held_out: bool| {
                let all = self.examples.iter().zip(&self.about);
                all.filter(move |(_, (fold, _))| (*fold == held_out) == is_held_out)
                    .map(|(example, _)| example)
            };
            let weights = fit(&of_fold(false).collect::<Vec<_>>());
            told.extend(
                of_fold(true).map(|example| (example.kind, weights.kind(&example.features))),
            );
        }
        (fit(&self.examples.iter().collect::<Vec<_>>()), KindScores::of(told))
    }
}

impl KindScores {
    /// Returns the scores of right kinds and those that were told.
    fn of(pairs: impl IntoIterator<Item = (NodeKind, NodeKind)>) -> Self {
        let pairs: Vec<(NodeKind, NodeKind)> = pairs.into_iter().collect();
        let count = |is_counted: &dyn Fn(&(NodeKind, NodeKind)) -> bool| {
            pairs.iter().filter(|pair| is_counted(pair)).count() as f64
        };
        let f1 = |kind: NodeKind| {
            let both = count(&|(right, told)| *right == kind && *told == kind);
            let either = count(&|(right, _)| *right == kind) + count(&|(_, told)| *told == kind);
            2.0 * both / either.max(1.0)
        };
        let n_kinds = NodeKind::ALL.len() as f64;
        Self {
            accuracy: count(&|(right, told)| right == told) / pairs.len().max(1) as f64,
            macro_f1: NodeKind::ALL.into_iter().map(f1).sum::<f64>() / n_kinds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_worked_by_hand() {
        use NodeKind::{Example, Step};
        // Step: two said, two right, one of them both. Example: one said, one right, never both.
        let scores = KindScores::of([(Step, Step), (Step, Example), (Example, Step)]);
        assert!((scores.accuracy - 1.0 / 3.0).abs() < 1e-9);
        assert!((scores.macro_f1 - 0.5 / 6.0).abs() < 1e-9, "{scores:?}");
    }
}
