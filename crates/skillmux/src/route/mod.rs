//! Joins the stages: one query in, one [`Route`] out.
//!
//! ```
//! use skillmux::{
//!     compose::Decision,
//!     index::{Index, UpdateOptions},
//!     library::Library,
//!     query::Query,
//!     route::{RouteOptions, Router},
//! };
//!
//! # let dir = tempfile::tempdir()?;
//! # let (skills, index) = (dir.path().join("skills"), dir.path().join("index"));
//! # std::fs::create_dir_all(skills.join("pdf-forms"))?;
//! # std::fs::write(skills.join("pdf-forms/SKILL.md"),
//! #     "---\nname: pdf-forms\ndescription: Fill in PDF forms\n---\nList the fields first.\n")?;
//! let library = Library::open([&skills])?;
//! Index::update(&index, &library, &UpdateOptions::default(), &mut |_| {})?;
//!
//! let router = Router::open(&index)?;
//! let route = router.route(&Query::new("fill in this PDF form")?, &RouteOptions::default())?;
//!
//! assert_eq!(route.decision, Decision::Load);
//! assert_eq!(route.steps[0].skills[0].name, "pdf-forms");
//! assert_eq!(route.pages[0].nodes[0].text, "List the fields first.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod audit;
mod copies;
mod found;
mod hints;
mod merge;
mod needs_writer;
mod page_words;
mod paged_passage;
mod pin;
mod profiles;
mod ranker;
mod reading;
mod router;
mod routing;
mod search;
mod spelling;
mod stages;
mod standing;
mod task;
mod terms;
mod training;

pub use answer::{Alternative, ExplainedSkill, Route, RouteStep, Stage, StageTrace};
pub use audit::{PresentSkill, Suspect};
pub use hints::{Hint, MAX_HINTS};
pub use needs_writer::{NeedsConfig, NeedsPass, NeedsWriter};
pub use paged_passage::PagedPassage;
pub use ranker::Ranker;
pub use router::{N_SPARE_CANDIDATES, Router};
pub use routing::RouteOptions;
pub use spelling::Correction;
pub use stages::Stages;
pub use training::BestEvidence;
