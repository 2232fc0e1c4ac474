//! [`SetTaskRow`]: a task of one skill or several in the file.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use skillmux::{model::Encoder, skill::SkillId};

use super::{
    draw::DrawnSet,
    graph::{EdgeKind, Ground, SkillGraph},
};
use crate::{
    error::Result,
    synth::{text::Shingles, work::Mark},
};

/// Characters of the sequences by which tasks are told from each other (`SkillComposer` appendix B.3).
const DUPLICATE_CHARS: usize = 3;

/// Kinds of these rows.
pub(super) const SINGLE: &str = "single";
pub(super) const SET: &str = "set";

/// A task, as `skillmux train` reads it, by `skill_ids`, and `skillmux eval`, as a dataset of the kind `composition`, by `task_id`
/// and `skills`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SetTaskRow {
    // First: a row that was cut is known by it.
    pub(super) query_id: String,
    #[serde(default)]
    pub(super) task_id: String,
    pub(super) query: String,
    /// In the order in which they are used.
    #[serde(default)]
    pub(super) skill_ids: Vec<SkillId>,
    #[serde(default)]
    pub(super) skills: Vec<SkillId>,
    #[serde(default)]
    pub(super) lang: String,
    #[serde(default)]
    pub(super) kind: String,
    /// Edges that the set was grown along.
    #[serde(default)]
    pub(super) edges: Vec<EdgeRow>,
    #[serde(default)]
    pub(super) model: String,
    /// Version of the instructions; 0 if nobody was asked.
    #[serde(default)]
    pub(super) prompt: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EdgeRow {
    from: SkillId,
    to: SkillId,
    kind: EdgeKind,
    /// Where it is known from.
    by: Ground,
    /// What is passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thing: Option<String>,
}

impl SetTaskRow {
    /// Returns a row of a set, whose skills are used in the order of `nodes`.
    pub(super) fn of(
        set: &DrawnSet,
        graph: &SkillGraph,
        nodes: &[usize],
        query: String,
        (model, prompt): (&str, u32),
    ) -> Self {
        let id = |node: usize| graph.nodes[node].id.clone();
        let edge = |place: &usize| {
            let edge = &graph.edges[*place];
            EdgeRow {
                from: id(edge.from),
                to: id(edge.to),
                kind: edge.kind,
                by: edge.ground,
                thing: edge.thing.map(str::to_owned),
            }
        };
        let skills: Vec<SkillId> = nodes.iter().copied().map(id).collect();
        let query_id = query_id(set, graph);
        Self {
            task_id: query_id.clone(),
            query_id,
            query,
            skills: skills.clone(),
            skill_ids: skills,
            lang: set.language.as_str().to_owned(),
            kind: if nodes.len() == 1 { SINGLE } else { SET }.to_owned(),
            edges: set.grown.iter().map(edge).collect(),
            model: model.to_owned(),
            prompt,
        }
    }
}

/// Returns the id of a row: its language, the side of the ranker's split that all of its skills are on, and what tells it.
pub(super) fn query_id(set: &DrawnSet, graph: &SkillGraph) -> String {
    let is_held_out = set.nodes.iter().any(|node| graph.nodes[*node].is_held_out);
    let side = if is_held_out { "held" } else { "train" };
    format!("compose-{}-{side}-{}", set.language.as_str(), set.key)
}

/// Returns what a task is told from others by: its text, its sequences of three characters and its meaning.
pub(super) fn mark(query: &str, encoder: &dyn Encoder) -> Result<Mark> {
    let chars: Vec<String> = plain(query).chars().map(String::from).collect();
    let mut hasher = FxHasher::default();
    hasher.write(query.as_bytes());
    Ok(Mark {
        shingles: Shingles::of(&chars, DUPLICATE_CHARS),
        name_key: None,
        text_key: Some(hasher.finish()),
        vector: encoder.encode_queries(&[query])?,
    })
}

/// Returns a text in lower case with single blanks.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}
