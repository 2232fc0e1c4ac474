//! The second half of the weights of the transformer of skillmux, and the verifier over it; a crate
//! of its own, since a registry takes ten megabytes a crate.
//!
//! The model cards are `transformer.md` and `verifier.md` in `crates/skillmux-models/assets`.

/// Layers 1 to 5, as a safetensors file.
pub static TENSORS: &[u8] = include_bytes!("../assets/layers.safetensors");

/// The adapter of the verifier, as a safetensors file; its card is
/// `crates/skillmux-models/assets/verifier.md`.
pub static VERIFIER: &[u8] = include_bytes!("../assets/verifier.safetensors");
