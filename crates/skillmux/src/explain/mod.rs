//! Why a skill has its place: what its score is made of, and which words of the task it has and
//! lacks.
//!
//! Reasons are worked out for skills that are judged or shown, and for no others, because they cost
//! reading the skill.
//!
//! ```
//! use skillmux::{explain::Explanation, retrieve::Contribution};
//!
//! let part = |feature: &str, value| Contribution { feature: feature.to_owned(), value };
//! let explanation = Explanation {
//!     contributions: vec![part("bm25.name", 1.5), part("bm25.body", 0.5)],
//!     matched: vec!["pdf".to_owned()],
//!     ..Explanation::default()
//! };
//! assert_eq!(explanation.total(), 2.0);
//! ```

mod explanation;
mod matching;
mod words;

pub use explanation::{Explanation, Grounds};
pub use words::whole_words;

pub(crate) use explanation::EXACT_NAME;
pub(crate) use matching::WordReader;
