//! Ports for models: what the engine asks of one, without knowing which one it is.
//!
//! ```
//! use skillmux::{
//!     error::Result,
//!     model::{Encoder, EncoderIdentity},
//! };
//!
//! /// Tells texts apart by whether they are long.
//! struct Length(EncoderIdentity);
//!
//! impl Encoder for Length {
//!     fn identity(&self) -> &EncoderIdentity {
//!         &self.0
//!     }
//!
//!     fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
//!         let row = |text: &&str| match text.len() {
//!             0 => [0.0, 0.0],
//!             1..20 => [1.0, 0.0],
//!             _ => [0.0, 1.0],
//!         };
//!         Ok(texts.iter().flat_map(row).collect())
//!     }
//! }
//!
//! let encoder = Length(EncoderIdentity {
//!     name: "length".to_owned(),
//!     dim: 2,
//!     fingerprint: String::new(),
//! });
//! assert_eq!(encoder.encode(&["short", ""])?, [1.0, 0.0, 0.0, 0.0]);
//! # Ok::<(), skillmux::Error>(())
//! ```

mod chat;
mod encoder;
mod json_answer;
mod numbers;
mod pair_scorer;
mod speller;
mod subject_words;
mod token_encoder;
mod translator;
mod trees;

pub use chat::{ChatMessage, ChatModel, ChatRequest, ChatRole, last_json_in};
pub use encoder::{Encoder, EncoderIdentity};
pub use json_answer::JsonQuestion;
pub use pair_scorer::{PairScorer, PairScorerIdentity};
pub use speller::Speller;
pub use subject_words::{Kind, SubjectWords};
pub use token_encoder::{TokenEncoder, TokenVectors, dot};
pub use translator::{Language, Translated, Translator};
pub use trees::{Tree, TreeSplit, Trees};

pub(crate) use numbers::{fingerprint, probability};
