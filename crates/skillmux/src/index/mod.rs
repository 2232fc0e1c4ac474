//! Stores a library on disk so that it can be searched and paged.

mod analyze;
mod files;
mod generation;
mod lexical;
mod manifest;
pub mod node;
mod reader;
mod sketch;
mod store;
mod table;
pub mod tokens;
mod update;
mod vectors;

pub use analyze::Analyzer;
pub use lexical::{Field, FieldCaps};
pub use manifest::{FORMAT_VERSION, FileIdentity, IndexManifest};
pub use node::{Node, NodeKind, NodeTree, Section};
pub use reader::{Index, IndexedSkill};
pub use sketch::for_each_shingle;
pub use table::SkillIdx;
pub use tokens::estimate_tokens;
pub use update::{Progress, UpdateMode, UpdateOptions, UpdateOutcome, UpdateReport};

pub(crate) use analyze::{Term, TermReader, is_character_pair, is_spaceless, is_stop_word};
pub(crate) use lexical::{TermPostings, length_id_of, length_of, name_key};
pub(crate) use vectors::{Part, Quantised, Vectors, encode_queries, encode_query};
