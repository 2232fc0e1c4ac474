//! Reads skills from folders, shards and lists, and reports what it could not use.
//!
//! ```
//! use skillmux::library::Library;
//!
//! # let dir = tempfile::tempdir()?;
//! # let root = dir.path().join("skills");
//! std::fs::create_dir_all(root.join("documents/pdf"))?;
//! std::fs::write(
//!     root.join("documents/pdf/SKILL.md"),
//!     "---\nname: pdf\ndescription: Fills PDF forms: all of them\n---\n# PDF\n",
//! )?;
//!
//! let mut skills = Vec::new();
//! let report = Library::open([&root])?.scan(&mut |scanned| {
//!     skills.push(scanned.skill);
//!     Ok(())
//! })?;
//!
//! assert_eq!(skills[0].id.as_str(), "documents/pdf");
//! assert_eq!(skills[0].description, "Fills PDF forms: all of them");
//! assert_eq!(report.n_kept, 1);
//! // The second colon needs quotes in YAML; the scan reads it anyway and says so.
//! assert!(report.noted[0].issue.to_string().starts_with("front matter is not valid YAML"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod agents;
mod archive;
mod decode;
mod directory;
mod entry;
mod front_matter;
mod front_matter_fields;
mod front_matter_lines;
mod ledger;
mod mcp_list;
mod origin;
mod path;
mod place;
mod places;
mod report;
mod scan;
mod shard;
mod skill_file;
mod source;

pub use directory::COPIES_MARK;
pub use front_matter::strict_front_matter;
pub use mcp_list::ListedServer;
pub use origin::{Background, Origin, ScannedSkill};
pub use place::SkillPlace;
pub use places::{SkillPlaces, Whereabouts};
pub use report::{Collision, Finding, Issue, Merged, Provenance, ScanReport};
pub use scan::Library;
pub use source::Source;
