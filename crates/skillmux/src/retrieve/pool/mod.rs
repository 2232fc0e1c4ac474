//! Candidates that words, vectors and clauses bring together, with all that is measured of them.

mod clause_terms;
mod feature;
mod gather;
mod headline;
mod measure;
mod members;
mod near;
mod nearest;
mod ratio;
mod retriever;
mod scores;
mod shares;
mod term;

pub use feature::{
    Feature, FeatureGroup, QUERY_LENGTH, QUERY_LIBRARY, QUERY_SPACELESS, QUERY_TRANSFORMER,
    QUERY_UNCOVERED,
};
pub use retriever::PoolRetriever;

pub(crate) use feature::{
    BEST_COSINE, BEST_TEXT_COSINE, COSINE_RISE, QUERY_WORK, TEXT_COSINE_RISE,
};
pub(crate) use nearest::lower_nearest;
