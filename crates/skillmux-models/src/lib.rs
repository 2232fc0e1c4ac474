//! The models inside the `skillmux` binary, those of a folder or of a hub, and those at an
//! endpoint.
//!
//! | feature | gives | brings |
//! |---|---|---|
//! | `embedded` (default) | [`encoder`], [`ranker`], [`abstention`], [`asking`], [`composer`], [`kinds`], [`pager`], [`transformer`], [`verifier`], [`translator`] and [`subject_words`]: the weights and lists that are shipped | 28 megabytes |
//! | `checkpoint` | module `checkpoint`: published encoders and cross-encoders of a folder; module `sequence`: the sequence composer | a tensor library and tokenizers |
//! | `hub` | module `hub`: published models by their ids on the Hugging Face Hub | an HTTP client with TLS |
//! | `remote` | module `remote`: chat models, encoders and cross-encoders at an endpoint | an HTTP client with TLS |
//!
//! Without any, [`StaticEncoder`] reads an encoder that was trained elsewhere. How the weights
//! were made stands in their cards, `assets/*.md`; `skillmux-train` makes them.
//!
//! ```
//! # #[cfg(feature = "embedded")] {
//! use skillmux::model::Encoder;
//!
//! let encoder = skillmux_models::encoder();
//! let query = encoder.encode_queries(&["生成演示文稿"])?;
//! let skills = encoder.encode(&["Builds slide decks", "Tunes slow SQL queries"])?;
//!
//! let cosine = |skill: &[f32]| skill.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
//! let cosines: Vec<f32> = skills.chunks(encoder.dim()).map(cosine).collect();
//! assert!(cosines[0] > cosines[1]);
//! # }
//! # Ok::<(), skillmux::Error>(())
//! ```

#[cfg(feature = "checkpoint")]
pub mod checkpoint;
#[cfg(feature = "embedded")]
mod embedded;
mod error;
#[cfg(test)]
#[path = "../../skillmux/src/growth.rs"]
mod growth;
#[cfg(any(feature = "hub", feature = "remote"))]
mod http;
#[cfg(feature = "hub")]
pub mod hub;
mod int8;
mod lexicon;
#[cfg(any(feature = "checkpoint", feature = "hub"))]
mod model_file;
#[cfg(feature = "remote")]
pub mod remote;
#[cfg(feature = "checkpoint")]
pub mod sequence;
mod speller;
mod static_encoder;
#[cfg(feature = "embedded")]
mod subject_words;
mod translated;
mod transformer;

#[cfg(feature = "embedded")]
pub use embedded::{
    EmbeddedModel, ModelKind, abstention, asking, composer, embedded_models, encoder, kinds, pager,
    ranker, speller, subject_words, transformer, translator, verifier, work,
};
pub use error::{Error, Result};
pub use int8::multiply_exactly;
pub use lexicon::{Reading, RunLexicon, WordLexicon, Writing};
pub use speller::VocabularySpeller;
pub use static_encoder::{EncoderParts, StaticEncoder};
#[cfg(feature = "embedded")]
pub use transformer::TRANSFORMER_NAME;
pub use transformer::{TransformerEncoder, TransformerParts};
pub use translated::TranslatedEncoder;
