//! Systems: what is measured, from plain baselines to the whole router.
//!
//! A system is named by a short text, its [`SystemSpec`], and opened over an index:
//!
//! ```
//! use skillmux::{index::{Index, UpdateOptions}, library::Library, route::Router};
//! use skillmux_eval::{
//!     system::{SystemContext, SystemSpec},
//!     task::Task,
//! };
//!
//! # let dir = tempfile::tempdir()?;
//! # let (skills, path) = (dir.path().join("skills"), dir.path().join("index"));
//! # for name in ["pdf-forms", "pdf-merge"] {
//! #     std::fs::create_dir_all(skills.join(name))?;
//! #     let text = format!("---\nname: {name}\ndescription: Work with PDF\n---\n{name}\n");
//! #     std::fs::write(skills.join(name).join("SKILL.md"), text)?;
//! # }
//! let library = Library::open([&skills])?;
//! Index::update(&path, &library, &UpdateOptions::default(), &mut |_| {})?;
//! let router = Router::open(&path)?;
//! let index = router.index();
//! let context = SystemContext::new(&router, &index);
//!
//! let system = SystemSpec::parse("rrf(bm25,tfidf:nd)")?.open(&context)?;
//! let task = Task { query: "merge two PDF files".into(), ..Task::default() };
//!
//! assert_eq!(system.answer(&task, 10)?.ranked()[0].skill_id, "pdf-merge");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assembly;
mod bodiless;
mod context;
mod contract;
mod cut;
mod dense;
mod engine;
mod forms;
mod fusion;
mod judge;
mod open;
pub mod paging;
mod ranking;
mod recipe;
mod series;
mod skill_text;
mod spec;
mod sufficiency;
mod text_system;
mod tfidf;
mod trec;
mod whole_router;

pub use assembly::{Assembly, RankingForm};
pub use context::SystemContext;
pub use contract::System;
pub use cut::Cut;
pub use forms::system_forms;
pub use series::SpecSeries;
pub use spec::SystemSpec;

#[cfg(test)]
mod tests;
