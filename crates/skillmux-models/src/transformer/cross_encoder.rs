//! [`CrossEncoder`]: whether a skill serves a task, by a transformer that reads both together.

use std::{borrow::Cow, sync::Arc};

use rten_simd::SimdUnaryOp;
use rten_vecmath::Gelu;
use skillmux::{
    error::Result as EngineResult,
    model::{PairScorer, PairScorerIdentity, Translator, dot},
};

use super::{
    damaged,
    network::{Network, Second},
    weights::Tensors,
};
use crate::{
    error::Result,
    int8::{LayerAdapter, Workspace, on_all_threads},
};

/// Tokens that are read of a task, with the two that open and close it.
const TASK_TOKENS: usize = 64;

/// Tokens that are read of a skill, with the one that closes it.
const SKILL_TOKENS: usize = 96;

/// Scores are log-odds within this range.
const MAX_LOG_ODDS: f32 = 8.0;

/// Says how likely a skill serves a task: a transformer with an adapter of low rank (`LoRA`, Hu et
/// al. 2021) reads the task, and the skill after it, and a small network reads what it makes of
/// them.
///
/// A score is the log-odds, within 8 of 0. A pair of which one text says nothing to the transformer
/// has 0. Chinese is read as a translator says it in English.
pub(crate) struct CrossEncoder {
    identity: PairScorerIdentity,
    network: Arc<Network>,
    adapter: Vec<LayerAdapter>,
    /// Added to the states of a skill before the first layer.
    of_skill: Vec<f32>,
    head: Head,
    translator: Box<dyn Translator>,
}

impl CrossEncoder {
    /// Reads the adapter of a transformer.
    ///
    /// # Errors
    /// [`Error::TransformerDamaged`](crate::Error::TransformerDamaged).
    pub(super) fn new(
        name: &str,
        network: Arc<Network>,
        bytes: &'static [u8],
        translator: Box<dyn Translator>,
    ) -> Result<Self> {
        let tensors = Tensors::read(&[bytes])?;
        let dim = network.dim();
        if network.max_tokens() < TASK_TOKENS + SKILL_TOKENS {
            return Err(damaged("has no place for a task and a skill"));
        }
        let fingerprint = blake3::hash(bytes).to_hex()[..16].to_owned();
        Ok(Self {
            identity: PairScorerIdentity { name: name.to_owned(), fingerprint },
            adapter: network.adapter(&tensors)?,
            of_skill: tensors.vector("second", dim)?,
            head: Head::read(&tensors, dim)?,
            network,
            translator,
        })
    }

    fn read<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.translator.translate(text).map_or(text.into(), |said| said.text.into())
    }

    /// Returns the tokens of a task, with those that open and close it; `None` if it says nothing.
    fn task(&self, task: &str) -> Option<Vec<u32>> {
        let ids = self.network.tokens.of(&self.read(task), TASK_TOKENS);
        self.network.can_read(&ids[1..ids.len() - 1]).then_some(ids)
    }

    fn score(&self, task: &[u32], text: &str, workspace: &mut Workspace) -> f32 {
        let of_skill = self.network.tokens.of(&self.read(text), SKILL_TOKENS + 1);
        if !self.network.can_read(&of_skill[1..of_skill.len() - 1]) {
            return 0.0;
        }
        let ids = [task, &of_skill[1..]].concat();
        let second = Second { start: task.len(), added: &self.of_skill };
        let states = self.network.adapted_states(&ids, &second, &self.adapter, workspace);
        let score = self.head.apply(&states, task.len());
        score.clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
    }
}

impl PairScorer for CrossEncoder {
    fn identity(&self) -> &PairScorerIdentity {
        &self.identity
    }

    fn scores(&self, query: &str, texts: &[&str]) -> EngineResult<Vec<f32>> {
        let Some(task) = self.task(query) else { return Ok(vec![0.0; texts.len()]) };
        Ok(on_all_threads(texts, |text, workspace| self.score(&task, text, workspace)))
    }
}

/// From the states of a task and of a skill to log-odds.
struct Head {
    /// `[n_hidden, 4 * dim]`.
    hidden: Vec<Vec<f32>>,
    bias: Vec<f32>,
    /// `[n_hidden]`.
    out: Vec<f32>,
    out_bias: f32,
}

impl Head {
    fn read(tensors: &Tensors, dim: usize) -> Result<Self> {
        let hidden = tensors.matrix("head.0.weight")?;
        let n = hidden.n_out;
        if n == 0 || hidden.n_in != 4 * dim {
            return Err(damaged("has a head of another width"));
        }
        Ok(Self {
            bias: tensors.vector("head.0.bias", n)?,
            out: tensors.vector("head.2.weight", n)?,
            out_bias: tensors.vector("head.2.bias", 1)?[0],
            hidden: (0..n).map(|row| hidden.row(row).collect()).collect(),
        })
    }

    /// Reads the state of the first token, the means of the states of the task and of the skill,
    /// and the product of both.
    fn apply(&self, states: &[f32], n_task: usize) -> f32 {
        let dim = self.hidden.first().map_or(0, Vec::len) / 4;
        let (task, skill) = states.split_at(n_task * dim);
        let (task_mean, skill_mean) = (mean(task, dim), mean(skill, dim));
        let both = task_mean.iter().zip(&skill_mean).map(|(a, b)| a * b).collect::<Vec<f32>>();
        let input = [&states[..dim], &task_mean, &skill_mean, &both].concat();
        let biased = self.hidden.iter().zip(&self.bias);
        let mut hidden: Vec<f32> = biased.map(|(row, bias)| dot(row, &input) + bias).collect();
        Gelu {}.map_mut(&mut hidden);
        dot(&hidden, &self.out) + self.out_bias
    }
}

/// Returns the mean of rows of this width.
fn mean(rows: &[f32], dim: usize) -> Vec<f32> {
    let mut mean = vec![0.0; dim];
    for row in rows.chunks_exact(dim) {
        for (sum, x) in mean.iter_mut().zip(row) {
            *sum += x;
        }
    }
    let n = (rows.len() / dim) as f32;
    for sum in &mut mean {
        *sum /= n;
    }
    mean
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use skillmux::model::Translated;

    use super::*;
    use crate::transformer;

    /// What torch made of the same adapter, with sums of 32 bits:
    /// `training/transformer/verifier_train.py`.
    const REFERENCE: &str = include_str!("../../tests/data/verifier.json");

    #[derive(Deserialize)]
    struct Reference {
        task: String,
        skill: String,
        log_odds: f32,
    }

    /// Knows no language.
    struct English;

    impl Translator for English {
        fn translate(&self, _text: &str) -> Option<Translated> {
            None
        }
    }

    #[test]
    fn scores_are_those_of_torch() {
        let verifier = transformer::verifier(Box::new(English));
        for Reference { task, skill, log_odds } in
            serde_json::from_str::<Vec<Reference>>(REFERENCE).unwrap()
        {
            let found = verifier.scores(&task, &[&skill]).unwrap()[0];
            // What enters a matrix is rounded, on some processors to 7 bits.
            assert!((found - log_odds).abs() < 0.4, "{task}: {found} is not {log_odds}");
        }
    }

    #[test]
    fn a_score_depends_on_its_own_text_alone() {
        let verifier = transformer::verifier(Box::new(English));
        let texts = ["pdf forms: Fill in PDF forms", "wifi: Mend a slow wireless network"];
        let both = verifier.scores("the form has to be filled in", &texts).unwrap();
        for (text, of_both) in texts.iter().zip(&both) {
            let alone = verifier.scores("the form has to be filled in", &[text]).unwrap()[0];
            assert!((alone - of_both).abs() < 1e-4);
        }
        assert!(both[0] > both[1], "{both:?}");
        assert!(verifier.scores("the form", &[]).unwrap().is_empty());
    }

    #[test]
    fn a_text_that_says_nothing_has_no_odds() {
        let verifier = transformer::verifier(Box::new(English));
        let found = verifier.scores("把推文排好版", &["pdf forms: Fill in PDF forms"]).unwrap();
        assert!(found[0].abs() < f32::EPSILON);
        let found = verifier.scores("fill in the form", &["推文: 排好版"]).unwrap();
        assert!(found[0].abs() < f32::EPSILON);
    }

    #[test]
    fn a_damaged_adapter_is_refused() {
        let bytes = skillmux_transformer_layers::VERIFIER;
        for end in [0, 8, bytes.len() / 2, bytes.len() - 1] {
            let network = Arc::clone(&transformer::NETWORK);
            assert!(CrossEncoder::new("x", network, &bytes[..end], Box::new(English)).is_err());
        }
    }
}
