//! Stores a library on disk so that it can be searched and paged.

mod current;
mod damage;
mod draft;
mod files;
mod folder;
mod generation;
mod layout;
mod lexical;
mod manifest;
mod read;
mod sketch;
mod store;
mod table;
mod vectors;
mod write;

pub use lexical::{Field, FieldCaps};
pub use manifest::{FORMAT_VERSION, FileIdentity, IndexManifest, TransformerVectors};
pub(crate) use read::HeadlineReader;
pub use read::{Index, IndexedSkill};
pub use table::SkillIdx;
pub use write::{
    EncodeReport, EncodeStep, Progress, UpdateMode, UpdateOptions, UpdateOutcome, UpdateReport,
};

pub(crate) use lexical::{TermPostings, length_id_of, length_of, name_key};
pub(crate) use vectors::{N_PARTS, Part, Quantised, Vectors, encode_queries, encode_query};
