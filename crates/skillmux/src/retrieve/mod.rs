//! Finds the skills of an index that a query may need.
//!
//! ```
//! use skillmux::{
//!     index::{Index, UpdateOptions},
//!     library::Library,
//!     query::Query,
//!     retrieve::{Bm25Config, Bm25Retriever, RetrieveRequest, Retriever},
//! };
//!
//! # let dir = tempfile::tempdir()?;
//! # let (skills, path) = (dir.path().join("skills"), dir.path().join("index"));
//! # std::fs::create_dir_all(skills.join("pdf-forms"))?;
//! # std::fs::write(skills.join("pdf-forms/SKILL.md"),
//! #     "---\nname: pdf-forms\ndescription: Fill in PDF forms\n---\nList the fields first.\n")?;
//! Index::update(&path, &Library::open([&skills])?, &UpdateOptions::default(), &mut |_| {})?;
//! let index = Index::open(&path)?;
//!
//! let query = Query::new("fill in this form")?;
//! let request = RetrieveRequest { index: &index, query: &query, named: &[], k: 10 };
//! let found = Bm25Retriever::new(Bm25Config::default()).retrieve(&request)?;
//!
//! assert_eq!(found[0].skill.as_str(), "pdf-forms");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bm25;
mod candidate;
mod contribution;
mod dense;
mod hit;
mod hybrid;
mod mentions;
mod named;
mod pool;
mod ranking;
mod retriever;
mod signals;
mod work;

pub use bm25::{Bm25Config, Bm25Retriever, FieldWeights, QueryRepetition, TermSaturation};
pub use candidate::Candidate;
pub use contribution::Contribution;
pub use dense::DenseRetriever;
pub use hybrid::{HybridConfig, HybridRetriever};
pub use pool::{
    Feature, FeatureGroup, PoolRetriever, QUERY_LENGTH, QUERY_LIBRARY, QUERY_SPACELESS,
    QUERY_TRANSFORMER, QUERY_UNCOVERED,
};
pub use ranking::{Ranking, RankingIdentity, ScoreScale};
pub(crate) use ranking::{log_odds_shares, shares};
pub use retriever::{RetrieveRequest, Retriever, Tier};
pub use signals::{Behind, Signals, Translation, WordMatch};
pub use work::{WorkUnit, WorkWeights};

pub(crate) use bm25::{Bm25, TermWeight, saturate};
pub use named::named;
pub(crate) use pool::{
    BEST_COSINE, BEST_TEXT_COSINE, COSINE_RISE, QUERY_WORK, TEXT_COSINE_RISE, lower_nearest,
};
