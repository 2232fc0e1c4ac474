//! Trains the models of `skillmux`, and has chat models write data to train on.
//!
//! | module | makes | of |
//! |---|---|---|
//! | [`encoder`] | a static encoder | queries with the skills that answer them, skills, translations |
//! | [`ranker`] | the weights by which candidates are ranked | queries, over an index with vectors |
//! | [`abstention`] | the calibration by which a router abstains | queries that a skill answers, and others |
//! | [`asking`] | the weights that tell what a task asks for | tasks, with the sentences that ask for something |
//! | [`composer`] | the weights by which a plan adds skills | tasks with all their skills, over indexes of several sizes |
//! | [`pager`] | the weights by which parts of a skill are chosen | queries about a skill, and the bytes that answer them |
//! | [`kinds`] | the weights that tell the kinds of parts | parts of skills with their kinds |
//! | [`work`] | the weights that tell work from talk | tasks, and requests that need no skill |
//! | `transformer` (feature `transformer`) | a published encoder or cross-encoder, tuned | a checkpoint, and queries with the skills that answer them |
//! | [`synth`] | queries, tasks of several skills, and skills that resemble others or do not work for a task | what a chat model writes, or queries |
//!
//! Deterministic: the same data, options and seed give the same bytes, on any number of threads.
//! What is scored is never trained on: who is held out from what is decided in one place, by the
//! names of skills, and by the published rule of
//! [`skillmux_eval::dataset::split`].
//!
//! ```
//! use skillmux::{index::{Index, UpdateOptions}, library::Library, model::Encoder};
//! use skillmux_models::StaticEncoder;
//! use skillmux_train::encoder::{
//!     EncoderData, EncoderOptions, RunFolder, RunStart, train_encoder,
//! };
//!
//! # let folder = tempfile::tempdir()?;
//! # let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/library");
//! # let queries = folder.path().join("queries.jsonl");
//! # let ids: Vec<String> = std::fs::read_dir(library)?
//! #     .flat_map(|group| {
//! #         let group = group.unwrap().path();
//! #         std::fs::read_dir(&group).into_iter().flatten().map(move |skill| {
//! #             let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
//! #             format!("{}/{}", name(&group), name(&skill.unwrap().path()))
//! #         })
//! #     })
//! #     .collect();
//! # let line = |id: &String| format!("{{\"query\":\"help with {}\",\"skill_id\":\"{id}\"}}\n", id.replace(['/', '-'], " "));
//! # std::fs::write(&queries, ids.iter().map(line).collect::<String>())?;
//! # let path = folder.path().join("index");
//! Index::update(&path, &Library::open([library])?, &UpdateOptions::default(), &mut |_| ())?;
//! let mut data = EncoderData::default();
//! // Lines such as {"query": "merge these scans", "skill_id": "documents/pdf-merge"}.
//! data.add_queries(&queries)?;
//!
//! let options = EncoderOptions { n_terms: 2000, dim: 8, n_steps: 8, n_rounds: 1, ..EncoderOptions::default() };
//! let run = RunFolder { path: folder.path(), start: RunStart::Fresh };
//! let trained = train_encoder(&Index::open(&path)?, &data, &options, &run, &mut |_| ())?;
//! assert_eq!(StaticEncoder::from_bytes(trained.bytes)?.dim(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abstention;
pub mod asking;
#[cfg(feature = "transformer")]
mod adamw;
mod boosting;
pub mod composer;
pub mod encoder;
mod error;
mod file;
mod gold;
pub mod kinds;
mod lexical;
mod optimizer;
mod option;
pub mod pager;
mod random;
mod rank;
pub mod ranker;
mod split;
pub mod synth;
#[cfg(feature = "transformer")]
pub mod transformer;
pub mod work;

pub use error::{Error, Result};

#[cfg(all(test, feature = "transformer"))]
#[expect(dead_code, reason = "what writes them is that of the tests of the models")]
#[allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]
#[path = "../../skillmux-models/tests/support/reference.rs"]
mod reference;
