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
    for micro in drawn.chunks(options.n_micro_pairs.max(1)) {
        let loss = match tunable.purpose() {
            CheckpointUse::PairScorer => pair_loss(tunable, &network, micro)?,
            _ => {
                let (loss, n_blocked) = vector_loss(tunable, &network, micro, options)?;
                outcome.n_blocked += n_blocked;
                loss
            }
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

/// Returns the vectors of skills, `[n, dim]`: the product of one with a query is the mean cosine of its parts,
/// as the router has it.
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
