//! [`gradients`]: what a step finds, micro-batch by micro-batch.

use candle_core::{Tensor, backprop::GradStore};
use skillmux_models::checkpoint::{CheckpointUse, Gradients, Tunable, TunableNetwork, Variable};

use super::{
    example::Drawn,
    loss::{info_nce, listwise},
    options::TransformerOptions,
    reading::{N_PARTS, SkillText},
};
use crate::error::Result;

/// What a step finds.
pub(super) struct Outcome {
    /// Mean over the queries.
    pub(super) loss: f32,
    /// Of each variable.
    pub(super) gradients: Vec<Tensor>,
    /// In-batch negatives that the filter took out.
    pub(super) n_blocked: usize,
}

/// Returns the gradients of the mean loss of some queries.
pub(super) fn gradients(
    tunable: &Tunable,
    drawn: &[Drawn<'_>],
    options: &TransformerOptions,
) -> Result<Outcome> {
    let network = tunable.network(Gradients::Tracked)?;
    let zeros = tunable.variables().iter().map(|variable| variable.var.zeros_like());
    let gradients = zeros.collect::<candle_core::Result<_>>()?;
    let mut outcome = Outcome { loss: 0.0, gradients, n_blocked: 0 };
    for micro in drawn.chunks(options.n_micro_pairs) {
        let loss = if tunable.purpose() == CheckpointUse::PairScorer {
            pair_loss(tunable, &network, micro)?
        } else {
            let (loss, n_blocked) = vector_loss(tunable, &network, micro, options)?;
            outcome.n_blocked += n_blocked;
            loss
        };
        let share = micro.len() as f64 / drawn.len() as f64;
        let loss = (loss * share)?;
        outcome.loss += loss.to_scalar::<f32>()?;
        add(&mut outcome.gradients, tunable.variables(), &loss.backward()?)?;
    }
    Ok(outcome)
}

fn add(sums: &mut [Tensor], variables: &[Variable], found: &GradStore) -> Result<()> {
    for (sum, variable) in sums.iter_mut().zip(variables) {
        if let Some(gradient) = found.get(&variable.var) {
            *sum = (&*sum + gradient)?;
        }
    }
    Ok(())
}

/// Returns the loss of a cross-encoder.
fn pair_loss(
    tunable: &Tunable,
    network: &TunableNetwork<'_>,
    drawn: &[Drawn<'_>],
) -> Result<Tensor> {
    let (mut inputs, mut lengths) = (Vec::new(), Vec::new());
    for Drawn { example, answer, negatives } in drawn {
        let candidates = std::iter::once(answer).chain(negatives);
        let texts: Vec<&str> = candidates.flat_map(SkillText::parts).collect();
        inputs.extend(tunable.pair_inputs(example.query.text(), &texts)?);
        lengths.push(texts.len());
    }
    Ok(listwise(&network.logits(&inputs)?, &lengths)?)
}

/// Returns the loss of an encoder, and how many in-batch negatives the filter took out.
fn vector_loss(
    tunable: &Tunable,
    network: &TunableNetwork<'_>,
    drawn: &[Drawn<'_>],
    options: &TransformerOptions,
) -> Result<(Tensor, usize)> {
    let queries: Vec<&str> = drawn.iter().map(|drawn| drawn.example.query.text()).collect();
    let queries = network.vectors(&tunable.query_inputs(&queries)?)?;
    let answers = drawn.iter().map(|drawn| &drawn.answer);
    let candidates: Vec<&SkillText> =
        answers.chain(drawn.iter().flat_map(|drawn| &drawn.negatives)).collect();
    let vectors = skill_vectors(tunable, network, &candidates)?;
    let alike = cosines(&vectors.detach())?;
    let (n, m) = (drawn.len(), candidates.len());
    let mut hidden = vec![0.0_f32; n * m];
    for (at, Drawn { example, answer, .. }) in drawn.iter().enumerate() {
        for (to, candidate) in candidates.iter().enumerate() {
            let is_answer = candidate.name_key == answer.name_key
                || example.knows(candidate.skill)
                || alike[at][to] > options.filter.max_cosine;
            if to != at && is_answer {
                hidden[at * m + to] = f32::NEG_INFINITY;
            }
        }
    }
    let n_blocked = hidden.iter().filter(|added| added.is_infinite()).count();
    let hidden = Tensor::from_vec(hidden, (n, m), tunable.device())?;
    Ok((info_nce(&queries, &vectors, &hidden, options.temperature)?, n_blocked))
}

/// Returns the vectors of skills, `[n, dim]`: the product of one with a query is the mean cosine of
/// its parts, as the router has it.
pub(super) fn skill_vectors(
    tunable: &Tunable,
    network: &TunableNetwork<'_>,
    skills: &[&SkillText],
) -> Result<Tensor> {
    let texts: Vec<&str> = skills.iter().copied().flat_map(SkillText::parts).collect();
    let vectors = network.vectors(&tunable.text_inputs(&texts)?)?;
    let mut shares = vec![0.0_f32; skills.len() * texts.len()];
    let mut column = 0;
    for (row, skill) in skills.iter().enumerate() {
        let parts = column..column + skill.parts.len();
        shares[row * texts.len()..][parts.clone()].fill(1.0 / N_PARTS as f32);
        column = parts.end;
    }
    let shares = Tensor::from_vec(shares, (skills.len(), texts.len()), tunable.device())?;
    Ok(shares.matmul(&vectors)?)
}

/// Returns the cosines of vectors with each other.
fn cosines(vectors: &Tensor) -> Result<Vec<Vec<f32>>> {
    let lengths = vectors.sqr()?.sum_keepdim(1)?.sqrt()?;
    let unit = vectors.broadcast_div(&lengths)?;
    Ok(unit.matmul(&unit.t()?)?.to_vec2()?)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use skillmux::{index::SkillIdx, query::Query};
    use skillmux_models::checkpoint::{Precision, TuneOptions};

    use super::{super::example::Example, *};
    use crate::reference::Reference;

    fn skill(number: u32, text: &str) -> SkillText {
        SkillText { skill: SkillIdx(number), name_key: number.into(), parts: vec![text.to_owned()] }
    }

    fn examples() -> Vec<Example> {
        let example = |(text, gold): (&str, u32)| Example {
            query: Query::new(text).unwrap(),
            twin: None,
            gold: vec![SkillIdx(gold)],
        };
        let queries = [("fill in the form", 0), ("merge two tables", 1), ("a slow query", 2)];
        queries.into_iter().map(example).collect()
    }

    /// Draws the answer of each example, with the two others or fewer as negatives.
    fn drawn(examples: &[Example]) -> Vec<Drawn<'_>> {
        let texts = ["the form of a pdf", "tables , two of the tables", "the query is slow"];
        let all = |at: usize| skill(u32::try_from(at).unwrap(), texts[at]);
        let one = |(at, example)| Drawn {
            example,
            answer: all(at),
            negatives: (0..3).filter(|other| *other != at).skip(at / 2).map(all).collect(),
        };
        examples.iter().enumerate().map(one).collect()
    }

    fn outcome(name: &str, changed: impl FnOnce(&mut TransformerOptions)) -> Outcome {
        let reference = Reference::read();
        let written = reference.write_named(name);
        let tune = TuneOptions {
            device: Device::Cpu,
            precision: Precision::Single,
            max_query_tokens: 64,
            max_text_tokens: 64,
        };
        let tunable = Tunable::open(&written.open(), &tune).unwrap();
        let mut options = TransformerOptions::of_use(tunable.purpose());
        options.filter.max_cosine = 1.0;
        changed(&mut options);
        gradients(&tunable, &drawn(&examples()), &options).unwrap()
    }

    #[test]
    fn micro_batches_add_up_to_the_whole_batch() {
        for name in ["bert reranker", "qwen3 reranker"] {
            let [parts, whole] = [1, 3].map(|n| outcome(name, |options| options.n_micro_pairs = n));
            assert!((parts.loss - whole.loss).abs() < 1e-5);
            for (part, whole) in parts.gradients.iter().zip(&whole.gradients) {
                let far = (part - whole).unwrap().abs().unwrap().flatten_all().unwrap();
                assert!(far.max(0).unwrap().to_scalar::<f32>().unwrap() < 1e-5, "{name}");
            }
        }
    }

    #[test]
    fn the_negatives_of_a_batch_are_those_of_its_micro_batch() {
        let losses = [1, 3].map(|n| outcome("bert encoder", |o| o.n_micro_pairs = n).loss);
        assert!(losses[0] < losses[1], "{losses:?}");
    }

    #[test]
    fn what_is_alike_is_no_negative() {
        let none = outcome("bert encoder", |_| ());
        // Each other candidate that is the answer of a query stands there again as a negative of
        // another.
        let all = outcome("bert encoder", |options| options.filter.max_cosine = -1.0);
        assert!(none.n_blocked < all.n_blocked);
        assert!(all.loss.abs() < 1e-6, "{}", all.loss);
    }
}
