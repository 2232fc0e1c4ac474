//! The weights of the cross-encoder of skillmux; a crate of its own, since a registry takes ten megabytes a crate.
//!
//! Word vectors, positions and layer 0 are those of the transformer (`skillmux-transformer-embeddings`). The model card is
//! `crates/skillmux-models/assets/cross-encoder.md`.

/// Layers 1 to 5 and the weights of the score, as a safetensors file.
pub static TENSORS: &[u8] = include_bytes!("../assets/cross-encoder.safetensors");
