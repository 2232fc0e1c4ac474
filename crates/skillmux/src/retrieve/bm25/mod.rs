//! BM25 over name, description and body.
//!
//! A term at a time, its postings are added into one score a document. Cost is linear in the
//! postings of the query's distinct terms, so that a task of 700 words is a normal query.

mod config;
mod retriever;
mod saturation;
mod score;

pub use config::{Bm25Config, FieldWeights, QueryRepetition, TermSaturation};
pub use retriever::Bm25Retriever;

pub(super) use retriever::by_field;

pub(crate) use saturation::saturate;
pub(crate) use score::{Bm25, TermWeight};
