//! Fits the [`Calibration`](skillmux::compose::Calibration) by which a router abstains.
//!
//! Routers are asked questions of which it is known whether a skill helps; what they find is the
//! evidence that a calibration is fitted to. `docs/abstention.md` says which questions, and what it
//! gave.
//!
//! ```
//! use skillmux::{compose::{Evidence, Features}, retrieve::RankingIdentity};
//! use skillmux_train::abstention::{CalibrationExample, fit_calibration};
//!
//! let example = |score_mass: f32, is_answerable: bool| CalibrationExample {
//!     evidence: Evidence {
//!         features: Features { score_mass, ..Features::default() },
//!         ..Evidence::default()
//!     },
//!     is_answerable,
//!     is_near: false,
//!     importance: 1.0,
//!     library_weight: 1.0,
//! };
//! let examples = [example(0.9, true), example(0.7, true), example(0.3, false), example(0.1, false)];
//! let ranking = RankingIdentity::new("words alone");
//! let calibration = fit_calibration(ranking, None, &examples);
//! assert!(calibration.weights.score_mass > 0.0);
//! ```

mod calibration;
mod example;
mod question;
mod scores;

pub use calibration::{COVERAGE, CalibrationExample, fit_calibration};
pub use example::{AbstentionExample, AbstentionExamples};
pub use question::{QuestionKind, Questions};
pub use scores::{KindScores, RejectionScores};
