//! [`SetTaskOptions`]: which tasks of several skills are written, and by whom.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;
use skillmux::model::{ChatModel, Encoder};

use super::graph::GraphSize;
use crate::synth::work::WorkReport;

/// Which tasks are written.
#[derive(Debug, Clone, PartialEq)]
pub struct SetTaskOptions {
    /// Files of tasks, plain or `.zst`, `{"skill_ids"}` a line: skills of one task are joined by
    /// edges.
    pub tasks: Vec<PathBuf>,
    /// Share of the tasks that need one skill, in `[0, 1]`. The paper has 2,880 of 9,807.
    pub share_single: f64,
    /// Share of the dependencies among the edges that sets are grown along, in `[0, 1]`; the paper
    /// has 0.65 (`SkillComposer` appendix B.1). The others are workflow edges.
    pub share_dependency: f64,
    /// Share of the Chinese tasks, in `[0, 1]`; the others are English.
    pub share_zh: f64,
}

impl Default for SetTaskOptions {
    /// The shares of the paper, and English.
    fn default() -> Self {
        Self { tasks: Vec::new(), share_single: 0.3, share_dependency: 0.65, share_zh: 0.0 }
    }
}

/// What writes the tasks.
#[derive(Clone, Copy)]
pub enum SetTaskWriter<'a> {
    /// A chat model that sees the skills.
    Chat(&'a dyn ChatModel),
    /// Nobody: queries about one skill each are joined. Files, plain or `.zst`, `{"query",
    /// "skill_id"}` a line; lines with `"relevant": false` are left out.
    Queries(&'a [PathBuf]),
}

/// What tells tasks from each other: how near in meaning they may be.
#[derive(Clone, Copy)]
pub struct Meaning<'a> {
    /// Reads the tasks.
    pub encoder: &'a dyn Encoder,
    /// Largest cosine of two tasks; the paper has 0.92, with another encoder (`SkillComposer`
    /// appendix B.3).
    pub max_cosine: f64,
}

/// What a run wrote, and from which graph.
#[derive(Debug, Default)]
pub struct SetTaskReport {
    /// What was written and refused. Of queries nothing is asked.
    pub work: WorkReport,
    /// The graph.
    pub graph: GraphSize,
    /// What was drawn from it.
    pub draws: DrawReport,
    /// Queries that can be joined, and those that cannot, if they write the tasks.
    pub queries: Option<QueryCounts>,
}

/// What was drawn from a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct DrawReport {
    /// Edges that sets were grown along.
    pub n_dependency: usize,
    /// The same for workflow edges.
    pub n_workflow: usize,
    /// Sets that were drawn before, and left out.
    pub n_repeated: usize,
}

/// Queries about one skill each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct QueryCounts {
    /// Lines with a skill of the index.
    pub n_read: usize,
    /// Of these, those that can be joined.
    pub n_usable: usize,
    /// Skills that have one.
    pub n_skills: usize,
    /// Those that cannot be joined, by reason.
    pub refusals: BTreeMap<&'static str, usize>,
}
