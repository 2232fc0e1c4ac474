//! The first half of the weights of the transformer of skillmux; a crate of its own, since a
//! registry takes ten megabytes a crate.
//!
//! The model card is `crates/skillmux-models/assets/transformer.md`.

/// The tokens, one a line, in the order of their rows in [`TENSORS`].
pub static VOCABULARY: &str = include_str!("../assets/vocabulary.txt");

/// Word vectors, position vectors and layer 0, as a safetensors file.
pub static TENSORS: &[u8] = include_bytes!("../assets/embeddings.safetensors");
