//! Stores a library on disk so that it can be searched and paged.

mod files;
mod generation;
mod lexical;
mod manifest;
mod reader;
mod sketch;
mod store;
mod table;
mod update;
mod vectors;

pub use lexical::{Field, FieldCaps};
pub use manifest::{FORMAT_VERSION, FileIdentity, IndexManifest};
pub use reader::{Index, IndexedSkill};
pub use table::SkillIdx;
pub use update::{Progress, UpdateMode, UpdateOptions, UpdateOutcome, UpdateReport};

pub(crate) use lexical::{TermPostings, length_id_of, length_of, name_key};
pub(crate) use vectors::{Part, Quantised, Vectors, encode_queries, encode_query};
