//! Reports: what was measured, for terminals, programs and pages.
//!
//! ```
//! use skillmux_eval::{
//!     answer::Answer,
//!     dataset::Dataset,
//!     evaluate::{Evaluation, Row},
//!     report::{Report, ReportOptions, TaskScores},
//!     task::Task,
//! };
//!
//! let gold = ["pdf-forms"].into_iter().collect();
//! let task = Task { id: "t1".into(), query: "fill in a form".into(), gold, ..Task::default() };
//! let dataset = Dataset { name: "demo".into(), tasks: vec![task], ..Dataset::default() };
//! let answer = Answer::of_ranking([("pdf-merge".into(), 9.5), ("pdf-forms".into(), 7.0)]);
//! let rows = vec![Row { task_id: "t1".into(), answer, ..Row::default() }];
//! let evaluations = [Evaluation { system: "bm25".into(), rows, ..Evaluation::default() }];
//!
//! let scores = TaskScores::new(&dataset, &evaluations, None)?;
//! let report = Report::new(&scores, &ReportOptions::default())?;
//! assert!(report.to_text(80).contains("0.500"), "MRR@10");
//! # Ok::<(), skillmux_eval::Error>(())
//! ```

mod compare;
mod confidence;
mod context;
mod gate;
mod html;
mod number;
mod plot;
mod reasons;
mod results;
mod scores;
mod setting;
mod show;
mod slices;
mod snapshot;
mod summarize;
mod summary;
mod sweep;
mod table;
mod tested;
mod text;
mod times;

pub(crate) use number::{NONE, fixed};
pub(crate) use table::{Align, Table};

pub use compare::{
    ChangedTask, ChangedValue, CompareOptions, ComparedMeasure, Comparison, Outcome,
};
pub use confidence::Confidence;
pub use gate::{Gate, GateComparison, GateDataset, GateOptions, GateSlice, Verdict};
pub use reasons::{ChangedGold, FeatureChange, FeatureLead, Rival};
pub use results::{Pair, Results, file_stem};
pub use scores::{Credit, SystemScores, TaskScores, View};
pub use setting::{
    ClusterSetting, LibrarySetting, NeedsSetting, Sample, Setting, SettingDifference,
};
pub use show::{ShownMeasure, ShownSkill, ShownSystem, ShownTask};
pub use snapshot::{SNAPSHOT_MEASURES, Snapshot, TaskChange};
pub use summary::{
    DifferenceCount, MeasureNote, Measured, Report, ReportOptions, ReportedChange, Slice,
    Statistics, SystemReport, ViewReport,
};
pub use sweep::Sweep;
pub use tested::Tested;
pub use times::{SystemTimes, Times};

pub use crate::printable::csv;

#[cfg(test)]
mod tests;
