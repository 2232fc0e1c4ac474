//! Names of the files of a published model, in the layout of Hugging Face.

pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// Which of several files holds which tensor.
pub(crate) const WEIGHTS_INDEX: &str = "model.safetensors.index.json";
