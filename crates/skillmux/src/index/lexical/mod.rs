//! The lexical index: postings of name, description and body, kept by tantivy.
//!
//! tantivy stores the postings, deletes and merges them; scoring is ours (see
//! [`retrieve`](crate::retrieve)), because tantivy's statistics count deleted documents until
//! they are merged away, and an incremental index must score like a full rebuild.

mod failure;
mod field;
mod postings;
mod schema;
mod tokenizer;
mod writer;

pub use field::{Field, FieldCaps};

pub(crate) use postings::{LexicalReader, TermPostings, length_id_of, length_of};
pub(crate) use schema::name_key;
pub(crate) use writer::{LexicalWriter, WriterResources};
