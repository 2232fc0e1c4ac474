//! Orders candidates by what retrieval knows of them, or by what a model says.
//!
//! ```
//! use skillmux::rerank::{FeatureWeight, RankerWeights};
//!
//! let json = r#"{
//!     "with_vectors": {"dense.body": {"base": 3.0, "length": -0.5, "spaceless": 0.0}},
//!     "without_vectors": {"bm25": {"base": 1.0, "length": 1.0, "spaceless": 0.0}}
//! }"#;
//! let weights: RankerWeights = serde_json::from_str(json)?;
//! assert_eq!(weights.without_vectors.get("bm25").base, 1.0);
//! assert_eq!(weights.without_vectors.get("dense"), FeatureWeight::default());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod asked;
mod judge;
mod keep_order;
mod linear;
mod pair;
mod passage;
mod reranker;
mod skill_judge;
mod traits;
mod weights;

pub use judge::JudgeReranker;
pub use keep_order::KeepOrder;
pub use linear::LinearReranker;
pub use pair::PairReranker;
pub use passage::{Passage, SkillStart};
pub use reranker::{RerankRequest, Reranker};
pub use skill_judge::{JudgeConfig, SkillJudge};
pub use traits::QueryTraits;
pub use weights::{FeatureWeight, FeatureWeights, RankerWeights, WeightsError};
