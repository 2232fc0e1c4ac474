//! [`Tensors`]: the tensors of safetensors files by name.

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use super::{damaged, layer::Norm, linear::Linear};
use crate::error::Result;

/// The tensors of some files.
pub(super) struct Tensors(Vec<SafeTensors<'static>>);

/// Signed bytes with a scale a row, `[n_out, n_in]`.
pub(super) struct Matrix {
    pub(super) n_out: usize,
    pub(super) n_in: usize,
    steps: &'static [u8],
    pub(super) scales: Vec<f32>,
}

impl Matrix {
    #[cfg(test)]
    pub(super) fn new(n_out: usize, n_in: usize, steps: &'static [u8], scales: Vec<f32>) -> Self {
        Self { n_out, n_in, steps, scales }
    }

    /// Returns the numbers of a row; none if there is no such row.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = f32> {
        let scale = self.scales.get(row).copied().unwrap_or(0.0);
        let steps = self.steps.get(row * self.n_in..(row + 1) * self.n_in).unwrap_or(&[]);
        steps.iter().map(move |step| f32::from(i8::from_le_bytes([*step])) * scale)
    }

    /// Returns the steps of all rows.
    pub(super) fn steps(&self) -> impl Iterator<Item = i8> {
        self.steps.iter().map(|step| i8::from_le_bytes([*step]))
    }
}

impl Tensors {
    pub(super) fn read(files: &[&'static [u8]]) -> Result<Self> {
        let read = |bytes: &&'static [u8]| {
            SafeTensors::deserialize(bytes)
                .map_err(|error| damaged(format!("does not open: {error}")))
        };
        files.iter().map(read).collect::<Result<_>>().map(Self)
    }

    fn find(&self, name: &str) -> Option<TensorView<'static>> {
        self.0.iter().find_map(|file| file.tensor(name).ok())
    }

    fn of_type(&self, name: &str, dtype: Dtype) -> Result<TensorView<'static>> {
        let tensor = self.find(name).ok_or_else(|| damaged(format!("has no tensor `{name}`")))?;
        if tensor.dtype() == dtype {
            Ok(tensor)
        } else {
            Err(damaged(format!("has a tensor `{name}` of another type")))
        }
    }

    /// Returns whether there is a layer of this number.
    pub(super) fn has_layer(&self, layer: usize) -> bool {
        self.find(&format!("encoder.layer.{layer}.output.dense.weight")).is_some()
    }

    /// Returns the numbers of a tensor.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f32>> {
        let tensor = self.of_type(name, Dtype::F32)?;
        let (numbers, _) = tensor.data().as_chunks();
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// Returns the numbers of a tensor of this length.
    fn vector(&self, name: &str, n: usize) -> Result<Vec<f32>> {
        let numbers = self.numbers(name)?;
        let is_sound = numbers.len() == n && numbers.iter().all(|x| x.is_finite());
        if is_sound { Ok(numbers) } else { Err(damaged(format!("has a wrong tensor `{name}`"))) }
    }

    pub(super) fn matrix(&self, name: &str) -> Result<Matrix> {
        let tensor = self.of_type(name, Dtype::I8)?;
        let [n_out, n_in] = *tensor.shape() else {
            return Err(damaged(format!("has a tensor `{name}` that is no matrix")));
        };
        let scales = self.vector(&format!("{name}.scale"), n_out)?;
        Ok(Matrix { n_out, n_in, steps: tensor.data(), scales })
    }

    /// Returns a layer of a network: matrices of one input side by side.
    pub(super) fn linear(&self, names: &[String], n_in: usize) -> Result<Linear> {
        let mut parts = Vec::with_capacity(names.len());
        for name in names {
            let matrix = self.matrix(&format!("{name}.weight"))?;
            let bias = self.vector(&format!("{name}.bias"), matrix.n_out)?;
            if matrix.n_in != n_in {
                return Err(damaged(format!("has a matrix `{name}` of another width")));
            }
            parts.push((matrix, bias));
        }
        Ok(Linear::new(n_in, &parts))
    }

    pub(super) fn norm(&self, name: &str, dim: usize) -> Result<Norm> {
        let part = |part: &str| self.vector(&format!("{name}.{part}"), dim);
        Ok(Norm { scale: part("weight")?, bias: part("bias")? })
    }
}
