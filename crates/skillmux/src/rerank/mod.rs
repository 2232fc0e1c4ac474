//! Ranks the best candidates of retrieval again, by features that weights were learned for.
//!
//! ```
//! use skillmux::rerank::{Feature, RankerWeights};
//!
//! let json = r#"{
//!     "with_vectors": {"dense.body": {"base": 3.0, "length": -0.5, "spaceless": 0.0}},
//!     "without_vectors": {"bm25": {"base": 1.0, "length": 1.0, "spaceless": 0.0}}
//! }"#;
//! let weights: RankerWeights = serde_json::from_str(json)?;
//! let of_bm25 = weights.without_vectors.as_array()[Feature::Bm25 as usize];
//! assert_eq!(of_bm25.base, 1.0);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod feature;
mod headline;
mod pool;
mod ranker;
mod table;

pub use feature::{Feature, FeatureGroup, N_FEATURES};
pub use ranker::{FeatureWeight, FeatureWeights, Ranker, RankerWeights};
pub use table::{FeatureRow, FeatureTable, QueryKind};
