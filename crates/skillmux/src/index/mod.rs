//! Stores a library on disk so that it can be searched and paged.

mod current;
mod damage;
mod dot;
mod draft;
mod files;
mod folder;
mod generation;
mod layout;
mod lexical;
mod manifest;
mod quantised;
mod read;
mod sketch;
mod store;
mod table;
mod vector_kind;
mod vectors;
mod write;

pub(crate) use current::Current;
pub use lexical::{Field, FieldCaps};
pub use manifest::{FORMAT_VERSION, FileIdentity, IndexManifest, TransformerVectors};
pub use read::{Index, IndexedSkill};
pub(crate) use store::Headline;
pub use table::SkillIdx;
pub use vector_kind::VectorKind;
pub use write::{
    EncodeReport, EncodeStep, Progress, UpdateMode, UpdateOptions, UpdateOutcome, UpdateReport,
};

pub(crate) use lexical::{TermPostings, length_id_of, length_of, name_key};
pub(crate) use quantised::QueryVector;
pub(crate) use vectors::{N_PARTS, Part, Vectors, encode_queries, encode_query};
pub(crate) use write::whole_text;
