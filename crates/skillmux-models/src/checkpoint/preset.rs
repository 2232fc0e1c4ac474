//! [`Preset`]: the words that a published pair of models was trained with.

use std::str::FromStr;

use serde::Deserialize;

use super::pooling::Pooling;

/// What the reranker of `SkillRouter` is told, and any of the Qwen3 class where nothing else is
/// said.
pub(super) const SKILLROUTER_INSTRUCTION: &str = "Given a coding task description, judge whether the \
                                                  skill document is relevant and useful for completing \
                                                  the task";

/// The words of a published pair of models, an encoder and a cross-encoder for skills.
///
/// It says what stands before a query, where a query is cut, how tokens become a vector, how long
/// an input may be, and what a reranker is told. It does not say which parts of a skill are read:
/// an index keeps a vector of name and description and one of the body, whatever the encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Preset {
    /// SkillRouter-Embedding-0.6B and SkillRouter-Reranker-0.6B.
    SkillRouter,
    /// SKILLRET-Embedding-0.6B and SKILLRET-Reranker-0.6B.
    SkillRet,
    /// R3-Embedding-0.6B and R3-Rerank-0.6B.
    R3,
    /// all-MiniLM-L6-v2, as `SkillWeaver` uses it; there is no cross-encoder.
    SkillWeaver,
}

/// What a preset says; `None` where the folder says it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words {
    pub(super) query_prefix: &'static str,
    pub(super) text_prefix: &'static str,
    pub(super) query_chars: Option<usize>,
    pub(super) pooling: Option<Pooling>,
    pub(super) max_tokens: Option<usize>,
    pub(super) instruction: Option<&'static str>,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 4] = [Self::SkillRouter, Self::SkillRet, Self::R3, Self::SkillWeaver];

    /// Returns the name, as `skillmux.json` and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SkillRouter => "skillrouter",
            Self::SkillRet => "skillret",
            Self::R3 => "r3",
            Self::SkillWeaver => "skillweaver",
        }
    }

    pub(super) fn words(self) -> Words {
        let qwen3 = Words { pooling: Some(Pooling::Last), ..Words::default() };
        match self {
            // The published evaluation: tasks are cut at 2,000 characters, and no blank follows
            // `Query:`.
            Self::SkillRouter => Words {
                query_prefix: "Instruct: Given a coding task description, retrieve the most relevant \
                               skill document that would help an agent complete the task\nQuery:",
                query_chars: Some(2000),
                max_tokens: Some(4096),
                instruction: Some(SKILLROUTER_INSTRUCTION),
                ..qwen3
            },
            // skillret/config.py. It reads up to 32,768 tokens; here the folder says how many.
            Self::SkillRet => Words {
                query_prefix: "Instruct: Given a skill search query, retrieve relevant skills that \
                               match the query\nQuery: ",
                instruction: Some(
                    "Given a skill search query, judge whether the skill document is relevant and \
                     useful for the query",
                ),
                ..qwen3
            },
            // infer.py of R3-Skill.
            Self::R3 => Words {
                query_prefix: "Instruct: Given a user request, retrieve the agent skill that solves \
                               it.\nQuery: ",
                max_tokens: Some(4096),
                instruction: Some("Given a user request, retrieve the agent skill that solves it."),
                ..qwen3
            },
            // SkillWeaver §4.2, and the model's own files: they say 256 tokens, its tokenizer 128.
            Self::SkillWeaver => {
                Words { pooling: Some(Pooling::Mean), max_tokens: Some(256), ..Words::default() }
            }
        }
    }
}

impl FromStr for Preset {
    type Err = PresetUnknown;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let unknown = || PresetUnknown { name: name.to_owned() };
        Self::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(unknown)
    }
}

/// No preset has this name.
#[derive(Debug, thiserror::Error)]
#[error("no preset is called `{name}`")]
pub struct PresetUnknown {
    /// The name.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_found_by_the_names_that_files_have() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse::<Preset>().unwrap(), preset);
            let json = format!("\"{}\"", preset.name());
            assert_eq!(serde_json::from_str::<Preset>(&json).unwrap(), preset);
        }
        let error = "SkillRouter".parse::<Preset>().unwrap_err();
        assert_eq!(error.to_string(), "no preset is called `SkillRouter`");
    }
}
