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

/// Characters of the sequences by which tasks are told from each other (`SkillComposer` appendix
/// B.3).
const DUPLICATE_CHARS: usize = 3;

/// Kinds of these rows.
pub(super) const SINGLE: &str = "single";
pub(super) const SET: &str = "set";

/// A task, as `skillmux train` reads it, by `skill_ids`, and `skillmux eval`, as a dataset of the
/// kind `composition`, by `task_id` and `skills`.
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

/// Returns the id of a row: its language, the side of the ranker's split that all of its skills are
/// on, and what tells it.
pub(super) fn query_id(set: &DrawnSet, graph: &SkillGraph) -> String {
    let is_held_out = set.nodes.iter().any(|node| graph.nodes[*node].is_held_out);
    let side = if is_held_out { "held" } else { "train" };
    format!("compose-{}-{side}-{}", set.language.as_str(), set.key)
}

/// Returns what a task is told from others by: its text, its sequences of three characters and its
/// meaning.
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

#[cfg(test)]
mod tests {
    use skillmux::model::EncoderIdentity;

    use super::*;
    use crate::synth::{set_task::MAX_SIMILARITY, work::Likeness};

    /// Says how often a text has each letter, and so gives anagrams one meaning.
    struct Letters(EncoderIdentity);

    impl Letters {
        fn new() -> Self {
            let identity =
                EncoderIdentity { name: "letters".into(), dim: 26, fingerprint: String::new() };
            Self(identity)
        }
    }

    impl Encoder for Letters {
        fn identity(&self) -> &EncoderIdentity {
            &self.0
        }

        fn encode(&self, texts: &[&str]) -> skillmux::Result<Vec<f32>> {
            let row = |text: &&str| {
                let mut counts = vec![0.0_f32; 26];
                for letter in text.bytes().filter(u8::is_ascii_lowercase) {
                    counts[usize::from(letter - b'a')] += 1.0;
                }
                let norm = counts.iter().map(|n| n * n).sum::<f32>().sqrt().max(1.0);
                counts.into_iter().map(move |n| n / norm).collect::<Vec<_>>()
            };
            Ok(texts.iter().flat_map(row).collect())
        }
    }

    #[test]
    fn three_layers_tell_duplicates_the_strictest_reason_first() {
        let letters = Letters::new();
        let known = ["sort the ledger of may by date", "paint a chart of all sales"]
            .map(|query| mark(query, &letters).unwrap());
        let likeness = Likeness { max_similarity: MAX_SIMILARITY, max_cosine: 0.92 };
        let reason = |query: &str| {
            let refusal = likeness.repeats(&mark(query, &letters).unwrap(), &known);
            refusal.map(|refusal| refusal.reason())
        };
        for (query, expected) in [
            ("sort the ledger of may by date", Some("the same text as an earlier one")),
            // The same sequences, and other bytes.
            ("Sort  the ledger of May by date", Some("like an earlier one")),
            ("sort the ledger of may by the date", Some("like an earlier one")),
            // The same letters in another order.
            ("etad yb yam fo regdel eht tros", Some("the same meaning as an earlier one")),
            ("fix my bike", None),
        ] {
            assert_eq!(reason(query), expected, "{query}");
        }
        let loose = Likeness { max_similarity: 1.0, max_cosine: 1.1 };
        let other = mark("etad yb yam fo regdel eht tros", &letters).unwrap();
        assert!(loose.repeats(&other, &known).is_none());
        // A task is a duplicate wherever the earlier one stands.
        let turned: Vec<Mark> = known.iter().rev().cloned().collect();
        let same = mark("paint a chart of all sales", &letters).unwrap();
        for known in [known.as_slice(), &turned] {
            let refusal = likeness.repeats(&same, known).unwrap();
            assert_eq!(refusal.reason(), "the same text as an earlier one");
        }
    }
}
