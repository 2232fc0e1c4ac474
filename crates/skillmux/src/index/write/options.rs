//! How an index is updated, and what an update says about itself.

use std::sync::Arc;

use crate::{
    index::vector_kind::VectorKind,
    library::ScanReport,
    model::{Encoder, EncoderIdentity},
};

/// What to do with the generation that is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateMode {
    /// Keep what has not changed; the result equals a full rebuild.
    #[default]
    Incremental,
    /// Take nothing over from it; also replaces an index of another format.
    Rebuild,
}

/// How an index is updated.
#[derive(Debug, Clone)]
pub struct UpdateOptions {
    /// What to do with the generation that is there.
    pub mode: UpdateMode,
    /// Names of the sources, for the manifest.
    pub sources: Vec<String>,
    /// Threads that index text, beside the one that reads it.
    pub n_threads: usize,
    /// Memory for postings before they are written out, in bytes, over all threads.
    pub memory_bytes: usize,
    /// Makes the vectors of skills; without one the index holds none. An index of another encoder
    /// is made anew.
    pub encoder: Option<Arc<dyn Encoder>>,
    /// What numbers these vectors are stored as; without it, as in the index that is there, or else
    /// as bytes. An index of another kind is made anew.
    pub vectors: Option<VectorKind>,
    /// Which transformer makes the vectors of whole texts, which is slow. An update only takes over
    /// those that it finds; [`Index::encode`](crate::index::Index::encode) makes the others.
    /// Without a transformer the index holds none.
    pub transformer: Option<EncoderIdentity>,
}

impl Default for UpdateOptions {
    fn default() -> Self {
        Self {
            mode: UpdateMode::default(),
            sources: Vec::new(),
            n_threads: 2,
            memory_bytes: 400 << 20,
            encoder: None,
            vectors: None,
            transformer: None,
        }
    }
}

/// How far an update is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// So many distinct skills were read.
    Read {
        /// Skills read so far.
        n_skills: usize,
    },
    /// Everything was read; the generation is being merged and made durable.
    Commit,
}

/// Whether an update made a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateOutcome {
    /// A new generation was committed.
    Committed,
    /// The current generation says the same as the new one would, and stays.
    Unchanged,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateReport {
    /// What the sources held.
    pub scan: ScanReport,
    /// Whether the generation is new.
    pub outcome: UpdateOutcome,
    /// The current generation.
    pub generation: u64,
    /// Skills that the index held before; 0 if that cannot be told.
    pub n_before: usize,
    /// Skills whose text was not in the index before.
    pub n_added: usize,
    /// Skills whose text is no longer in the index.
    pub n_removed: usize,
    /// Skills whose text was in the index before.
    pub n_unchanged: usize,
    /// Skills that the index held before, of which neither the text nor the id is there any more;
    /// counted also where the index is made anew.
    pub n_lost: usize,
}
