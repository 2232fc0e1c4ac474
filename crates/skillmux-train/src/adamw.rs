//! [`AdamW`]: Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2), on tensors.

use candle_core::{Result as TensorResult, Tensor, Var};
use rayon::prelude::*;

use crate::error::{Error, Result};

/// As `PyTorch` has them.
const DECAY: f64 = 0.9;
const DECAY_OF_SQUARES: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Running means of the slopes of each variable and of their squares.
#[derive(Debug, Clone)]
pub(crate) struct AdamW {
    pub(crate) means: Vec<Tensor>,
    pub(crate) squares: Vec<Tensor>,
}

/// How far a step goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The rate of learning.
    pub(crate) rate: f64,
    /// What is taken off a matrix at a rate of 1, as a share of it.
    pub(crate) weight_decay: f64,
}

impl AdamW {
    /// Returns the state before the first step.
    pub(crate) fn new(variables: &[&Var]) -> TensorResult<Self> {
        let zeros = || variables.iter().map(|v| v.zeros_like()).collect::<TensorResult<Vec<_>>>();
        Ok(Self { means: zeros()?, squares: zeros()? })
    }

    /// Moves the variables against their gradients; `step` counts from 1.
    pub(crate) fn step(
        &mut self,
        variables: &[&Var],
        gradients: &[Tensor],
        step: usize,
        pace: Pace,
    ) -> TensorResult<()> {
        let Pace { rate, weight_decay } = pace;
        let step = i32::try_from(step).unwrap_or(i32::MAX);
        let unbias = 1.0 / (1.0 - DECAY.powi(step));
        let unbias_squares = 1.0 / (1.0 - DECAY_OF_SQUARES.powi(step));
        let moments = self.means.par_iter_mut().zip(&mut self.squares);
        let all = variables.par_iter().zip(gradients).zip(moments);
        all.try_for_each(|((var, gradient), (mean, square))| {
            *mean = ((&*mean * DECAY)? + (gradient * (1.0 - DECAY))?)?;
            let squared = (gradient.sqr()? * (1.0 - DECAY_OF_SQUARES))?;
            *square = ((&*square * DECAY_OF_SQUARES)? + squared)?;
            let slope = ((&*mean * unbias)? / ((&*square * unbias_squares)?.sqrt()? + EPSILON)?)?;
            // Biases and norms keep their size.
            let kept = if var.rank() > 1 { 1.0 - rate * weight_decay } else { 1.0 };
            var.set(&((var.as_detached_tensor() * kept)? - (slope * rate)?)?)
        })
    }
}

/// Shortens the gradients of a step to a length over all of them; returns the length that they had.
///
/// # Errors
/// [`Error::GradientNotFinite`]: no step could be taken, and none after it.
pub(crate) fn shorten(gradients: &mut [Tensor], max_norm: f64, step: usize) -> Result<f64> {
    let squares = gradients
        .par_iter()
        .map(|gradient| gradient.sqr()?.sum_all()?.to_scalar::<f32>())
        .collect::<TensorResult<Vec<_>>>()?;
    let norm = squares.into_iter().map(f64::from).sum::<f64>().sqrt();
    if !norm.is_finite() {
        return Err(Error::GradientNotFinite { step });
    }
    if norm > max_norm {
        let shorten = |gradient: &mut Tensor| -> TensorResult<()> {
            *gradient = (&*gradient * (max_norm / norm))?;
            Ok(())
        };
        gradients.par_iter_mut().try_for_each(shorten)?;
    }
    Ok(norm)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn gradients(numbers: [f32; 2]) -> Vec<Tensor> {
        numbers.map(|number| Tensor::new(&[number], &Device::Cpu).unwrap()).to_vec()
    }

    #[test]
    fn gradients_are_shortened_together() {
        let mut long = gradients([3.0, -4.0]);
        assert!((shorten(&mut long, 1.0, 1).unwrap() - 5.0).abs() < 1e-6);
        for (gradient, expected) in long.iter().zip([0.6, -0.8]) {
            assert!((gradient.to_vec1::<f32>().unwrap()[0] - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn a_gradient_that_is_no_number_is_refused() {
        for bad in [f32::NAN, f32::INFINITY] {
            let error = shorten(&mut gradients([1.0, bad]), 1.0, 7).unwrap_err();
            assert!(matches!(error, Error::GradientNotFinite { step: 7 }), "{error}");
        }
    }
}
