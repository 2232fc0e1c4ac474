//! [`Tensors`]: the tensors of safetensors files by name.

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use super::{damaged, matrix::Matrix};
use crate::error::Result;

/// The tensors of some files.
pub(super) struct Tensors(Vec<SafeTensors<'static>>);

impl Tensors {
    /// Opens the files, which hold the tensors together.
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

    /// Returns the numbers of a tensor of this length, all finite.
    pub(super) fn vector(&self, name: &str, n: usize) -> Result<Vec<f32>> {
        let numbers = self.numbers(name)?;
        let is_sound = numbers.len() == n && numbers.iter().all(|x| x.is_finite());
        if is_sound { Ok(numbers) } else { Err(damaged(format!("has a wrong tensor `{name}`"))) }
    }

    /// Returns a matrix with its scales.
    pub(super) fn matrix(&self, name: &str) -> Result<Matrix> {
        let tensor = self.of_type(name, Dtype::I8)?;
        let [n_out, n_in] = *tensor.shape() else {
            return Err(damaged(format!("has a tensor `{name}` that is no matrix")));
        };
        let scales = self.vector(&format!("{name}.scale"), n_out)?;
        Ok(Matrix::new(n_out, n_in, tensor.data(), scales))
    }
}
