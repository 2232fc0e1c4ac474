//! [`VectorKind`]: the numbers that vectors are stored as.

use half::f16;
use serde::{Deserialize, Serialize};

use super::quantised::Quantised;

/// What numbers the vectors of an encoder are stored as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum VectorKind {
    /// One byte a number, in 127 steps either side of 0, and a scale a vector.
    #[default]
    Int8,
    /// Half precision, two bytes a number.
    F16,
    /// Single precision, four bytes a number: as the encoder gave them.
    F32,
}

impl VectorKind {
    /// All kinds, the smallest first.
    pub const ALL: [Self; 3] = [Self::Int8, Self::F16, Self::F32];

    /// Returns the name by which users know it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::F16 => "f16",
            Self::F32 => "f32",
        }
    }

    /// Returns whether it is what an index has that says nothing of it.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the size of a number in bytes.
    pub(super) fn n_bytes(self) -> usize {
        match self {
            Self::Int8 => 1,
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    /// Returns whether a vector has a scale.
    pub(super) fn is_scaled(self) -> bool {
        self == Self::Int8
    }

    /// Adds the bytes of a vector, and returns its scale.
    pub(super) fn store(self, vector: &[f32], bytes: &mut Vec<u8>) -> f32 {
        match self {
            Self::Int8 => {
                let quantised = Quantised::of(vector);
                bytes.extend(quantised.steps.iter().map(|step| step.to_le_bytes()[0]));
                return quantised.scale;
            }
            Self::F16 => {
                let most = f16::MAX.to_f32();
                let half = |x: &f32| f16::from_f32(x.clamp(-most, most)).to_le_bytes();
                bytes.extend(vector.iter().flat_map(half));
            }
            Self::F32 => bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes())),
        }
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_manifest() {
        for kind in VectorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn numbers_beyond_half_precision_are_stored_as_the_largest_of_it() {
        let mut bytes = Vec::new();
        VectorKind::F16.store(&[1e9, -1e9], &mut bytes);
        let halves = bytes.as_chunks::<2>().0.iter().map(|half| f16::from_le_bytes(*half));
        assert_eq!(halves.collect::<Vec<_>>(), [f16::MAX, f16::MIN]);
    }
}
