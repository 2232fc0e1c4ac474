//! Reads weights: from safetensors as single-precision numbers, from GGUF as they are.

use std::{collections::BTreeMap, fs::File, io::Read, path::Path, sync::Arc};

use blake3::Hasher;
use candle_core::{DType, Device, Tensor, quantized::QTensor};
use rustc_hash::FxHashMap;
use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use serde::Deserialize;

use super::{
    CheckpointError, Precision,
    folder::Folder,
    gguf::{self, Gguf},
};
use crate::model_file::{WEIGHTS, WEIGHTS_INDEX};

/// A longer header is none; the largest model that is published has one of some hundred kilobytes.
const MAX_HEADER_BYTES: u64 = 100 << 20;

/// What a wrapper puts before the names of the network inside it.
const PREFIXES: [&str; 3] = ["bert.", "roberta.", "model."];

/// The tensors of a checkpoint by name, without the prefix of a wrapper.
pub(super) struct Weights {
    folder: Folder,
    place: Place,
    tensors: FxHashMap<String, Tensor>,
    /// Matrices of a GGUF file.
    quantised: FxHashMap<String, Arc<QTensor>>,
    /// Which rows of its labels say yes and no.
    answers: (u32, u32),
}

/// Where and how a network computes.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) device: Device,
    pub(super) precision: Precision,
}

impl Default for Place {
    fn default() -> Self {
        Self { device: Device::Cpu, precision: Precision::Single }
    }
}

/// A tensor as a file has it.
pub(super) struct Stored {
    /// Its name with the prefix of a wrapper.
    pub(super) name: String,
    pub(super) tensor: Tensor,
}

/// Which file holds which tensor.
#[derive(Deserialize)]
struct WeightsIndex {
    weight_map: BTreeMap<String, String>,
}

impl Weights {
    /// Returns weights of these tensors, by their names without the prefix of a wrapper.
    pub(super) fn of(
        folder: &Folder,
        place: Place,
        tensors: impl IntoIterator<Item = (String, Tensor)>,
    ) -> Self {
        let (folder, tensors) = (folder.clone(), tensors.into_iter().collect());
        Self { folder, place, tensors, quantised: FxHashMap::default(), answers: (1, 0) }
    }

    /// Reads all tensors of numbers, and adds all bytes to the hash.
    pub(super) fn read(folder: &Folder, hasher: &mut Hasher) -> Result<Self, CheckpointError> {
        if let Some(gguf) = Gguf::find(folder)? {
            return Self::read_gguf(folder, &gguf, hasher);
        }
        let stored = read_stored(folder, &Device::Cpu, hasher)?;
        let tensors = stored.into_iter().map(|(name, stored)| (name, stored.tensor));
        Ok(Self::of(folder, Place::default(), tensors))
    }

    /// Reads all tensors of a GGUF file; those of plain fractions as numbers.
    fn read_gguf(
        folder: &Folder,
        gguf: &Gguf,
        hasher: &mut Hasher,
    ) -> Result<Self, CheckpointError> {
        let (plain, quantised): (Vec<_>, Vec<_>) = gguf
            .tensors(hasher)?
            .into_iter()
            .partition(|(_, tensor)| gguf::is_plain(tensor.dtype()));
        let plain = plain.into_iter().map(|(name, tensor)| {
            let tensor = tensor.dequantize(&Device::Cpu);
            Ok((name, tensor.map_err(|source| folder.network(source))?))
        });
        let plain = plain.collect::<Result<Vec<_>, CheckpointError>>()?;
        let quantised = quantised.into_iter().collect();
        Ok(Self { quantised, answers: gguf.answers(), ..Self::of(folder, Place::default(), plain) })
    }

    /// Returns which rows of the labels say yes and no.
    pub(super) fn answers(&self) -> (u32, u32) {
        self.answers
    }

    pub(super) fn device(&self) -> &Device {
        &self.place.device
    }

    pub(super) fn precision(&self) -> Precision {
        self.place.precision
    }

    /// Takes a tensor out, and checks its shape.
    /// Those of a quantised one are widened.
    pub(super) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Tensor, CheckpointError> {
        if let Some(quantised) = self.take_quantised(name, shape)? {
            return quantised.dequantize(&Device::Cpu).map_err(|source| self.network(source));
        }
        match self.tensors.remove(name) {
            None => Err(self.wrong(name, "have no tensor".to_owned())),
            Some(tensor) => {
                self.check_shape(name, tensor.dims(), shape)?;
                Ok(tensor)
            }
        }
    }

    /// Takes a quantised matrix out, and checks its shape; `None` if there is none of this name.
    pub(super) fn take_quantised(
        &mut self,
        name: &str,
        shape: &[usize],
    ) -> Result<Option<Arc<QTensor>>, CheckpointError> {
        let Some(tensor) = self.quantised.remove(name) else { return Ok(None) };
        self.check_shape(name, tensor.shape().dims(), shape)?;
        Ok(Some(tensor))
    }

    fn check_shape(
        &self,
        name: &str,
        found: &[usize],
        expected: &[usize],
    ) -> Result<(), CheckpointError> {
        if found == expected {
            return Ok(());
        }
        let [found, expected] = [found, expected].map(shape_text);
        Err(self.wrong(name, format!("have the shape {found} and not {expected} for")))
    }

    fn wrong(&self, name: &str, detail: String) -> CheckpointError {
        let (folder, tensor) = (self.folder.path().to_owned(), name.to_owned());
        CheckpointError::Tensor { folder, tensor, detail }
    }

    /// Returns the error of a network that could not be made.
    pub(super) fn network(&self, source: candle_core::Error) -> CheckpointError {
        self.folder.network(source)
    }

    /// Returns whether there is a tensor of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name) || self.is_quantised(name)
    }

    /// Returns whether there is a quantised matrix of this name.
    pub(super) fn is_quantised(&self, name: &str) -> bool {
        self.quantised.contains_key(name)
    }

    /// Takes tensors of one width out and stacks their rows.
    pub(super) fn take_stacked(
        &mut self,
        parts: &[(String, Vec<usize>)],
    ) -> Result<Tensor, CheckpointError> {
        let tensors = parts
            .iter()
            .map(|(name, shape)| self.take(name, shape))
            .collect::<Result<Vec<Tensor>, _>>()?;
        Tensor::cat(&tensors, 0).map_err(|source| self.folder.network(source))
    }
}

fn shape_text(shape: &[usize]) -> String {
    let numbers: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

/// Reads all tensors of numbers in single precision, by their names without the prefix of a
/// wrapper, and adds all bytes to the hash.
pub(super) fn read_stored(
    folder: &Folder,
    device: &Device,
    hasher: &mut Hasher,
) -> Result<BTreeMap<String, Stored>, CheckpointError> {
    let mut files = vec![WEIGHTS.to_owned()];
    if let Some(index) = folder.json::<WeightsIndex>(WEIGHTS_INDEX)? {
        files = index.weight_map.into_values().collect();
        files.sort_unstable();
        files.dedup();
        // A file of another folder is none of this checkpoint.
        if let Some(file) = files.iter().find(|file| file.contains(['/', '\\'])) {
            return Err(folder.form(WEIGHTS_INDEX, format!("it names the file `{file}`")));
        }
    }
    let mut tensors = BTreeMap::new();
    for file in files {
        for_each_tensor(folder, &file, hasher, &mut |name, info, bytes| {
            let Some(dtype) = number_type(info.dtype) else { return Ok(()) };
            let tensor = Tensor::from_raw_buffer(&bytes, dtype, &info.shape, device)
                .and_then(|tensor| tensor.to_dtype(DType::F32))
                .map_err(|source| folder.network(source))?;
            let bare = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
            let bare = bare.unwrap_or(&name).to_owned();
            tensors.insert(bare, Stored { name, tensor });
            Ok(())
        })?;
    }
    Ok(tensors)
}

/// What reads a tensor: its name, its type and shape, and its bytes.
type TensorReader<'r> = dyn FnMut(String, &TensorInfo, Vec<u8>) -> Result<(), CheckpointError> + 'r;

/// Reads a file from its first byte to its last and adds them to the hash: a tensor at a time, so
/// that little more than the tensors themselves is in memory.
pub(super) fn for_each_tensor(
    folder: &Folder,
    file: &str,
    hasher: &mut Hasher,
    read: &mut TensorReader<'_>,
) -> Result<(), CheckpointError> {
    let path = folder.path().join(file);
    if !path.exists() {
        return Err(folder.missing(file));
    }
    let unreadable = |source| CheckpointError::Read { path: path.clone(), source };
    let mut reader = File::open(&path).map_err(unreadable)?;
    let n_bytes = reader.metadata().map_err(unreadable)?.len();
    let header = read_header(&path, &mut reader, n_bytes, hasher)?;
    for name in header.offset_keys() {
        let Some(info) = header.info(&name) else { continue };
        let mut bytes = vec![0; info.data_offsets.1 - info.data_offsets.0];
        reader.read_exact(&mut bytes).map_err(unreadable)?;
        hasher.update(&bytes);
        read(name, info, bytes)?;
    }
    Ok(())
}

/// Reads the header of a file of this size.
fn read_header(
    path: &Path,
    reader: &mut File,
    n_bytes: u64,
    hasher: &mut Hasher,
) -> Result<Metadata, CheckpointError> {
    let form =
        |detail: &str| CheckpointError::Form { path: path.to_owned(), detail: detail.to_owned() };
    let unreadable = |source| CheckpointError::Read { path: path.to_owned(), source };
    if n_bytes < 8 {
        return Err(form("it is no safetensors file"));
    }
    let mut length = [0; 8];
    reader.read_exact(&mut length).map_err(unreadable)?;
    let header_bytes = u64::from_le_bytes(length);
    if header_bytes > MAX_HEADER_BYTES {
        return Err(form("it is no safetensors file"));
    }
    if header_bytes > n_bytes - 8 {
        let (path, expected_bytes) = (path.to_owned(), 8 + header_bytes);
        return Err(CheckpointError::WeightsCut { path, n_bytes, expected_bytes });
    }
    let mut text = Vec::new();
    reader.take(header_bytes).read_to_end(&mut text).map_err(unreadable)?;
    hasher.update(&text);
    let header: Metadata =
        serde_json::from_slice(&text).map_err(|_| form("its header is not one of safetensors"))?;
    let expected_bytes = 8 + header_bytes + header.data_len() as u64;
    if n_bytes != expected_bytes {
        return Err(CheckpointError::WeightsCut { path: path.to_owned(), n_bytes, expected_bytes });
    }
    Ok(header)
}

/// Returns the type of a tensor of fractions; whole numbers, as those of `position_ids`, are no
/// weights.
pub(super) fn number_type(dtype: Dtype) -> Option<DType> {
    match dtype {
        Dtype::F64 => Some(DType::F64),
        Dtype::F32 => Some(DType::F32),
        Dtype::F16 => Some(DType::F16),
        Dtype::BF16 => Some(DType::BF16),
        _ => None,
    }
}
