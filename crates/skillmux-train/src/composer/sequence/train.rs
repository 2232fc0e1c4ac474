//! [`train_sequence`]: steps and epochs.

use candle_core::{Device, Tensor, Var};
use skillmux::model::Encoder;
use skillmux_models::sequence::{Fusion, SequenceConfig, SequenceModel, SequenceNetwork};

use super::{
    super::data::SetExamples,
    checkpoint::{State, Variable, copies},
    epoch::EpochLine,
    example::{Drawn, Example, examples},
    fusion::{Tuning, first_fusion, fit_fusion},
    loss::loss,
    options::SequenceOptions,
};
use crate::{
    adamw::{Pace, shorten},
    encoder::RunFolder,
    error::{Error, Result},
    random::Random,
    split::Fold,
};

/// Fewer tasks than this train nothing.
const MIN_TASKS: usize = 10;

/// A sequence composer that was trained.
#[derive(Debug, Clone)]
pub struct TrainedSequence {
    /// Its file, which [`SequenceModel::from_bytes`] reads.
    pub bytes: Vec<u8>,
    /// How it decodes.
    pub fusion: Fusion,
    /// The best epoch.
    pub best: EpochLine,
    /// Set F1 of the validation tasks with the weights of Eq. 4.4 that were fitted to them.
    pub set_f1: f64,
    /// Numbers of the network.
    pub n_weights: usize,
    /// Tasks that were trained on, and tasks that decided when to stop; a task counts once a
    /// library.
    pub n_tasks: [usize; 2],
}

/// Trains a sequence composer on what routers found for tasks. The folder of the run gets a
/// checkpoint after each epoch.
///
/// # Errors
/// [`Error::BadOption`], [`Error::TooFewPairs`], [`Error::CheckpointForeign`] when resuming,
/// [`Error::LossNotFinite`], [`Error::GradientNotFinite`], what the encoder says, and errors of
/// writing the folder.
///
/// # Panics
/// Never: there is at least one epoch.
pub fn train_sequence(
    found: &SetExamples,
    encoder: &dyn Encoder,
    options: &SequenceOptions,
    run: &RunFolder<'_>,
    report: &mut dyn FnMut(&EpochLine),
) -> Result<TrainedSequence> {
    options.check()?;
    let config = options.config(encoder.identity());
    let train: Vec<Example> = examples(found, Fold::Train, encoder, &config)?
        .into_iter()
        .filter(|example| !example.sequence.is_empty())
        .collect();
    let mut validation = examples(found, Fold::Validation, encoder, &config)?;
    // Tasks of all libraries come early.
    let mut random_place = random(options.seed, 3, 0);
    validation.sort_by_cached_key(|_| random_place.next());
    let n_pairs = train.len().min(validation.len());
    if n_pairs < MIN_TASKS {
        return Err(Error::TooFewPairs { n_pairs, min_pairs: MIN_TASKS });
    }
    let (network, variables) = begin(&config, options.seed)?;
    let key = key(&config, options, &train);
    let mut state = match State::open(run, &key, &variables)? {
        Some(state) => state,
        None => State::start(key, &variables)?,
    };
    let vars: Vec<&Var> = variables.iter().map(|variable| &variable.var).collect();
    while !is_done(&state.header.log, options) {
        let epoch = state.header.log.len() + 1;
        let mut sum = 0.0;
        let order = order(train.len(), options.seed, epoch);
        for tasks in order.chunks(options.n_tasks) {
            state.header.step += 1;
            let step = state.header.step;
            let mut random = random(options.seed, 1, step);
            let drawn: Vec<Drawn> = tasks
                .iter()
                .map(|at| {
                    train[*at].thinned(options.skill_dropout, options.max_memory, &mut random)
                })
                .collect();
            let mut dropout = |tensor: Tensor| dropped(tensor, options.dropout, &mut random);
            let of_step = loss(&network, &drawn, options, &mut dropout)?;
            let value = of_step.to_scalar::<f32>()?;
            if !value.is_finite() {
                return Err(Error::LossNotFinite { step });
            }
            sum += value * tasks.len() as f32;
            let found = of_step.backward()?;
            // A gradient would keep what it was computed from.
            let gradient = |var: &&Var| match found.get(var.as_tensor()) {
                Some(gradient) => Ok(gradient.detach()),
                None => var.zeros_like(),
            };
            let mut gradients: Vec<Tensor> =
                vars.iter().map(gradient).collect::<candle_core::Result<_>>()?;
            shorten(&mut gradients, options.max_gradient_norm, step)?;
            let pace = Pace { rate: options.rate_at(step), weight_decay: options.weight_decay };
            state.optimizer.step(&vars, &gradients, step, pace)?;
        }
        let now = copies(&variables)?;
        let judged = with_weights(&config, &variables, &now)?;
        let few = &validation[..validation.len().min(options.n_judged)];
        let set_f1 = Tuning::new(&judged, few)?.set_f1(&first_fusion(options))?;
        let line = EpochLine { epoch, loss: sum / train.len() as f32, set_f1 };
        if best_of(&state.header.log).is_none_or(|best| set_f1 > best.set_f1) {
            state.best = now;
        }
        state.header.log.push(line);
        state.write(run, &variables)?;
        report(&line);
    }
    let named: Vec<(String, Tensor)> = variables
        .iter()
        .map(|variable| variable.name.clone())
        .zip(state.best.iter().cloned())
        .collect();
    // The weights of Eq. 4.4 are fitted to the network as its file has it.
    let bytes = SequenceModel::to_bytes(&config, &Fusion::default(), &named)?;
    let read = SequenceModel::from_bytes(&bytes).map_err(Error::Composer)?;
    let (fusion, set_f1) = fit_fusion(&read.network, &validation, options)?;
    Ok(TrainedSequence {
        bytes: SequenceModel::to_bytes(&config, &fusion, &named)?,
        fusion,
        best: *best_of(&state.header.log).expect("there was an epoch"),
        set_f1,
        n_weights: vars.iter().map(|var| var.elem_count()).sum(),
        n_tasks: [train.len(), validation.len()],
    })
}

fn best_of(log: &[EpochLine]) -> Option<&EpochLine> {
    // Of equals the first one, so the last of a reversed order.
    log.iter().rev().max_by(|a, b| a.set_f1.total_cmp(&b.set_f1))
}

fn is_done(log: &[EpochLine], options: &SequenceOptions) -> bool {
    let best = best_of(log).map_or(0, |line| line.epoch);
    log.len() >= options.n_epochs || log.len() >= best + options.patience
}

/// Returns a network before the first step, and its variables.
fn begin(config: &SequenceConfig, seed: u64) -> Result<(SequenceNetwork, Vec<Variable>)> {
    let mut random = random(seed, 2, 0);
    let mut variables = Vec::new();
    let mut source = |name: &str, shape: &[usize]| {
        let n: usize = shape.iter().product();
        let spread = match name.rsplit('.').next() {
            Some("bias" | "zero") => 0.0,
            Some("scale") => {
                let var = Var::ones(shape, candle_core::DType::F32, &Device::Cpu)?;
                variables.push(Variable { name: name.to_owned(), var: var.clone() });
                return Ok(var.as_tensor().clone());
            }
            Some("place" | "places") => 0.02,
            _ => (1.0 / shape[0].max(1) as f32).sqrt(),
        };
        let numbers: Vec<f32> = (0..n).map(|_| random.normal() * spread).collect();
        let var = Var::from_vec(numbers, shape, &Device::Cpu)?;
        variables.push(Variable { name: name.to_owned(), var: var.clone() });
        Ok(var.as_tensor().clone())
    };
    let network = SequenceNetwork::new(config, &mut source)?;
    Ok((network, variables))
}

/// Returns the network with weights that no gradient is kept for.
fn with_weights(
    config: &SequenceConfig,
    variables: &[Variable],
    weights: &[Tensor],
) -> Result<SequenceNetwork> {
    let mut next = variables.iter().zip(weights);
    let mut source = |name: &str, _: &[usize]| match next.next() {
        Some((variable, weight)) if variable.name == name => Ok(weight.clone()),
        _ => Err(candle_core::Error::Msg(format!("has no tensor `{name}`"))),
    };
    Ok(SequenceNetwork::new(config, &mut source)?)
}

/// Returns what two runs must have in common for one to go on from the other.
fn key(config: &SequenceConfig, options: &SequenceOptions, train: &[Example]) -> String {
    let mut hasher = blake3::Hasher::new();
    // A run may go on for longer than it was to, and its weights may be decoded in other ways.
    let options = options.of_weights();
    let config = SequenceConfig { prior: options.prior, ..config.clone() };
    let both = serde_json::to_vec(&(config, options));
    hasher.update(&both.expect("numbers always serialise"));
    for Example { scene, sequence, labels, .. } in train {
        for number in &scene.task {
            hasher.update(&number.to_le_bytes());
        }
        for skill in &scene.skills {
            hasher.update(skill.id.as_str().as_bytes());
        }
        for label in labels {
            hasher.update(&[*label as u8]);
        }
        for place in sequence {
            hasher.update(&place.to_le_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Returns the order of the tasks of an epoch (Fisher and Yates).
fn order(n: usize, seed: u64, epoch: usize) -> Vec<usize> {
    let mut random = random(seed, 0, epoch);
    let mut order: Vec<usize> = (0..n).collect();
    for at in (1..n).rev() {
        order.swap(at, random.below(at + 1));
    }
    order
}

fn dropped(tensor: Tensor, share: f32, random: &mut Random) -> candle_core::Result<Tensor> {
    if share <= 0.0 {
        return Ok(tensor);
    }
    let kept = 1.0 / (1.0 - share);
    let mask: Vec<f32> =
        (0..tensor.elem_count()).map(|_| if random.share() < share { 0.0 } else { kept }).collect();
    let mask = Tensor::from_vec(mask, tensor.shape().clone(), &Device::Cpu)?;
    tensor * mask
}

/// Returns the numbers of one thing that is drawn.
fn random(seed: u64, kind: u64, number: usize) -> Random {
    let mut seeds = Random::new(seed);
    let mix = seeds.next() ^ Random::new(kind).next();
    Random::new(mix.wrapping_add(number as u64))
}
