//! [`RejectOptions`]: which tasks are asked about, and [`RejectReason`]: what may be said.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Which tasks are asked about, and how many candidates of each are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectOptions {
    /// Files of tasks, plain or `.zst`: `{"query", "skill_ids" or "skill_id"}` a line, with
    /// `query_id`, `also` and `rejected` where they are known.
    pub tasks: Vec<PathBuf>,
    /// Skills that are shown besides the right ones, 1 to 20.
    pub n_candidates: usize,
}

/// Why a skill is wrong for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectReason {
    /// It is for another product, platform, language or version.
    Platform,
    /// It shares words with the task, nothing else.
    WordsOnly,
    /// It fits the topic, but is for another stage of the work.
    Stage,
    /// It is a bundle, where a fitting one is there.
    TooBroad,
    /// It does the same part as one that is right.
    Substitute,
    /// It is what the task says it does not want.
    RuledOut,
    /// It is for a special case that the task is not.
    TooNarrow,
    /// It takes or makes something that does not fit.
    Format,
}

impl RejectReason {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::Platform,
        Self::WordsOnly,
        Self::Stage,
        Self::TooBroad,
        Self::Substitute,
        Self::RuledOut,
        Self::TooNarrow,
        Self::Format,
    ];

    /// Returns the name, such as `words_only`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::WordsOnly => "words_only",
            Self::Stage => "stage",
            Self::TooBroad => "too_broad",
            Self::Substitute => "substitute",
            Self::RuledOut => "ruled_out",
            Self::TooNarrow => "too_narrow",
            Self::Format => "format",
        }
    }

    /// Returns what it says of a candidate.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Platform => "it is for another product, platform, language or version",
            Self::WordsOnly => "it shares words with the task and nothing else",
            Self::Stage => "it fits the topic, but is for another stage of the work",
            Self::TooBroad => "it is a bundle or a general guide, where a fitting one is right",
            Self::Substitute => {
                "it does the same part as a right one in another way, so that both would be in each \
                 other's way"
            }
            Self::RuledOut => "it is what the task says it does not want",
            Self::TooNarrow => "it is for a special case that the task is not",
            Self::Format => "it takes or makes something that does not fit the rest of the work",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        for reason in RejectReason::ALL {
            let json = serde_json::to_value(reason).unwrap();
            assert_eq!(json, reason.as_str());
        }
    }

    #[test]
    fn the_reasons_are_those_of_our_tasks() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/set-tasks.jsonl");
        let mut seen = std::collections::BTreeSet::new();
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            for rejected in row["rejected"].as_array().unwrap() {
                let why: RejectReason = serde_json::from_value(rejected["why"].clone()).unwrap();
                seen.insert(why);
            }
        }
        assert_eq!(seen, RejectReason::ALL.into_iter().collect());
    }
}
