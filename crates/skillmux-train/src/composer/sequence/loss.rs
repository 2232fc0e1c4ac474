//! [`loss`]: what a step of the training makes smaller.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::ops;
use skillmux_models::sequence::{Dropout, N_RELATIONS, SceneBatch, SequenceNetwork};

use super::{
    example::{Drawn, Label},
    options::SequenceOptions,
};

/// Added to the logit of what cannot be chosen.
const NEVER: f32 = -1e9;

/// Returns the loss of some tasks: cross-entropy of the sequence with its end, plus those of the
/// heads (`SkillComposer` section 4.2).
pub(super) fn loss(
    network: &SequenceNetwork,
    drawn: &[Drawn],
    options: &SequenceOptions,
    dropout: &mut Dropout<'_>,
) -> Result<Tensor> {
    let scenes: Vec<_> = drawn.iter().map(|drawn| &drawn.scene).collect();
    let batch = SceneBatch::new(&scenes)?;
    let n_skills = batch.n_skills()?;
    let memory = network.read(&batch, dropout)?;
    let teacher = Teacher::new(drawn, n_skills);
    let logits =
        network.steps(&memory, &teacher.chosen, &teacher.relations(drawn, n_skills)?, dropout)?;
    let skills = (logits.skills + teacher.mask)?;
    let all = Tensor::cat(&[&skills, &logits.stop], D::Minus1)?;
    let log_shares = ops::log_softmax(&all, D::Minus1)?;
    let of_answers = log_shares.gather(&teacher.answers, D::Minus1)?.squeeze(D::Minus1)?;
    let mut loss = (of_answers * &teacher.counts)?.sum_all()?.neg()?;
    loss = (loss / f64::from(teacher.counts.sum_all()?.to_scalar::<f32>()?))?;
    if options.set_weight > 0.0 || options.count_weight > 0.0 {
        let set = network.set_logits(&memory, dropout)?;
        if options.set_weight > 0.0 {
            loss = (loss + (set_loss(&set, drawn, n_skills, options)? * options.set_weight)?)?;
        }
        if options.count_weight > 0.0 {
            let counts = network.count_logits(&memory, &set)?;
            loss = (loss + (count_loss(&counts, drawn)? * options.count_weight)?)?;
        }
    }
    Ok(loss)
}

/// Right answers of each step, padded to the longest sequence.
struct Teacher {
    n_steps: usize,
    /// What is chosen before each step; 0 where a sequence has ended.
    chosen: Vec<u32>,
    /// `[n, n_steps, 1]`; the number of skills stands for stopping.
    answers: Tensor,
    /// 1 for a step that a sequence has, `[n, n_steps]`.
    counts: Tensor,
    /// `[n, n_steps, n_skills]`.
    mask: Tensor,
}

impl Teacher {
    fn new(drawn: &[Drawn], n_skills: usize) -> Self {
        let n = drawn.len();
        let n_steps = drawn.iter().map(|drawn| drawn.sequence.len()).max().unwrap_or(0) + 1;
        let stop = u32::try_from(n_skills).unwrap_or(u32::MAX);
        let (mut chosen, mut answers, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut mask = vec![0.0_f32; n * n_steps * n_skills];
        for (row, Drawn { sequence, labels, .. }) in drawn.iter().enumerate() {
            for step in 0..n_steps {
                if step + 1 < n_steps {
                    chosen.push(sequence.get(step).copied().unwrap_or(0));
                }
                answers.push(sequence.get(step).copied().unwrap_or(stop));
                counts.push(if step <= sequence.len() { 1.0_f32 } else { 0.0 });
                let mask = &mut mask[(row * n_steps + step) * n_skills..][..n_skills];
                for (at, hidden) in mask.iter_mut().enumerate() {
                    if labels.get(at).is_none_or(|label| *label == Label::Also) {
                        *hidden = NEVER;
                    }
                }
                for before in sequence.iter().take(step) {
                    mask[*before as usize] = NEVER;
                }
            }
        }
        let device = &Device::Cpu;
        let tensor = |numbers, shape| Tensor::from_vec::<_, f32>(numbers, shape, device);
        Self {
            n_steps,
            chosen,
            answers: Tensor::from_vec(answers, (n, n_steps, 1), device).expect("one a step"),
            counts: tensor(counts, candle_core::Shape::from((n, n_steps))).expect("one a step"),
            mask: tensor(mask, candle_core::Shape::from((n, n_steps, n_skills)))
                .expect("one a skill"),
        }
    }

    fn relations(&self, drawn: &[Drawn], n_skills: usize) -> Result<Tensor> {
        let mut numbers = vec![0.0_f32; drawn.len() * self.n_steps * n_skills * N_RELATIONS];
        for (row, Drawn { scene, sequence, .. }) in drawn.iter().enumerate() {
            for step in 0..=sequence.len() {
                let chosen: Vec<usize> = sequence[..step].iter().map(|at| *at as usize).collect();
                let start = (row * self.n_steps + step) * n_skills * N_RELATIONS;
                let found = scene.relations(&chosen);
                for (to, relation) in numbers[start..].chunks_mut(N_RELATIONS).zip(found) {
                    to.copy_from_slice(&relation);
                }
            }
        }
        let shape = (drawn.len(), self.n_steps, n_skills, N_RELATIONS);
        Tensor::from_vec(numbers, shape, &Device::Cpu)
    }
}

/// Returns the binary cross-entropy of all skills, over the number of right ones.
fn set_loss(
    logits: &Tensor,
    drawn: &[Drawn],
    n_skills: usize,
    options: &SequenceOptions,
) -> Result<Tensor> {
    let (mut right, mut weights) = (Vec::new(), Vec::new());
    for Drawn { labels, .. } in drawn {
        for at in 0..n_skills {
            let label = labels.get(at);
            right.push(if label == Some(&Label::Right) { 1.0_f32 } else { 0.0 });
            weights.push(match label {
                Some(Label::Right | Label::Wrong) => 1.0,
                Some(Label::Rejected) => options.rejected_weight,
                Some(Label::Also) | None => 0.0,
            });
        }
    }
    let n_right: f32 = right.iter().sum();
    let shape = (drawn.len(), n_skills);
    let right = Tensor::from_vec(right, shape, &Device::Cpu)?;
    let weights = Tensor::from_vec(weights, shape, &Device::Cpu)?;
    // `max(x, 0) - x y + ln(1 + exp(-|x|))`, which does not overflow.
    let positive = logits.relu()?;
    let small = (logits.abs()?.neg()?.exp()? + 1.0)?.log()?;
    let each = ((positive - (logits * right)?)? + small)?;
    (each * weights)?.sum_all()? / f64::from(n_right.max(1.0))
}

/// Returns the cross-entropy of the number of skills, over the tasks that have one.
fn count_loss(logits: &Tensor, drawn: &[Drawn]) -> Result<Tensor> {
    let most = logits.dim(1)?;
    let classes: Vec<u32> = drawn
        .iter()
        .map(|drawn| u32::try_from(drawn.sequence.len().clamp(1, most) - 1).unwrap_or(0))
        .collect();
    let has_any: Vec<f32> =
        drawn.iter().map(|drawn| if drawn.sequence.is_empty() { 0.0 } else { 1.0 }).collect();
    let n = has_any.iter().sum::<f32>().max(1.0);
    let classes = Tensor::from_vec(classes, (drawn.len(), 1), &Device::Cpu)?;
    let has_any = Tensor::from_vec(has_any, (drawn.len(), 1), &Device::Cpu)?;
    let log_shares = ops::log_softmax(logits, 1)?.gather(&classes, 1)?;
    (log_shares * has_any)?.sum_all()?.neg()? / f64::from(n)
}
