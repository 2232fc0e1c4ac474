//! Arguments that choose stages.

use clap::{Args as ClapArgs, ValueEnum};
use skillmux::route::NeedsConfig;

use crate::error::CliError;

/// Which implementation of each stage a command uses.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct StageArgs {
    /// How a task is split into steps
    #[arg(long, value_enum, default_value = "clauses")]
    pub(crate) decomposer: DecomposerChoice,
    /// How skills are ranked
    #[arg(long, value_enum, default_value = "transformer")]
    pub(crate) retriever: RetrieverChoice,
    /// How many skills are loaded
    #[arg(long, value_enum, default_value = "set-head")]
    pub(crate) composer: ComposerChoice,
    /// For `--composer chain`: how much the fit to the step counts, from 0 to 1. The rest is how
    /// well a skill works with those of the steps before [default: 0.5]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = share)]
    pub(crate) chain_alpha: Option<f32>,
    /// How the parts of a skill to show are chosen [default: value. When `eval` measures only
    /// pages: transformer]
    #[arg(long, value_enum)]
    pub(crate) pager: Option<PagerChoice>,
    /// How skillmux finds out which parts of a skill are steps, examples or background
    #[arg(long, value_enum, default_value = "rules")]
    pub(crate) kinds: KindChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecomposerChoice {
    /// Not at all: one step for the whole task
    Whole,
    /// The clauses that ask for work, beside the whole task
    Clauses,
    /// A chat model says what the task needs, and says it again after it saw what was found.
    /// skillmux sends it the task, and names and descriptions of skills. Needs --chat-url and
    /// --chat-model
    Chat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RetrieverChoice {
    /// Learned weights over words, clauses, and the vectors of both built-in encoders. If the
    /// transformer has not read all skills, this is the same as `ranked`
    Transformer,
    /// The same without the transformer: smaller and faster
    Ranked,
    /// By words (BM25) of name, description and body, each with its own weight
    Fielded,
    /// By words (BM25) of the whole text, the usual baseline
    #[value(alias = "bm25")]
    Joined,
    /// By meaning alone (vectors of the encoder)
    Dense,
    /// The sum of `fielded` and `dense`
    Hybrid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComposerChoice {
    /// The best skill, and skills for other parts of the task. No skill if none fits
    SetHead,
    /// The skills whose scores stand out, without near-duplicates. No skill if none fits
    ScoreCut,
    /// The sequence of skills that a small network says, for the task as a whole; none if no skill
    /// fits. Needs --composer-weights
    Sequence,
    /// Always the best N skills
    TopK,
    /// One skill for each step: the one that best fits this step and the skills of the steps
    /// before. No skill only for small talk
    Chain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PagerChoice {
    /// The parts that the task most likely needs, by learned weights. The transformer reads each
    /// part: the first page of a skill takes about a sixth of a second, the next ones a tenth of
    /// that
    Transformer,
    /// The same without the transformer, in some milliseconds
    Value,
    /// The parts that share words with the task and differ from each other
    Mmr,
    /// From the top until the budget is used up
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindChoice {
    /// Rules over headings, lists, code and first words
    Rules,
    /// Learned weights over words and shapes. The weights of `--pager value` are fitted to the
    /// rules
    Learned,
    /// A chat model, asked about 20 parts at a time. skillmux sends it the text of the skills that
    /// are shown. Rules stand in where it fails. Needs --chat-url and --chat-model
    Chat,
}

/// How a chat model is asked for the needs of a task.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct PassArgs {
    /// For `--decomposer chat`: how often the model says the needs. It sees skills from the second
    /// time on, and stops early if they stay the same [default: 2]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) chat_passes: Option<u8>,
    /// For `--decomposer chat`: how many skills the model sees [default: 15]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) chat_hints: Option<u8>,
}

impl PassArgs {
    /// Returns how the model is asked.
    pub(crate) fn config(self) -> NeedsConfig {
        let default = NeedsConfig::default();
        NeedsConfig {
            n_passes: self.chat_passes.map_or(default.n_passes, usize::from),
            n_hints: self.chat_hints.map_or(default.n_hints, usize::from),
            ..default
        }
    }

    /// Checks that a model is asked for needs where something is said about it.
    ///
    /// # Errors
    /// [`CliError::ChoiceMissing`]
    pub(crate) fn check(self, stages: StageArgs) -> Result<(), CliError> {
        let is_asked = stages.decomposer == DecomposerChoice::Chat;
        let options = [
            ("chat-passes", self.chat_passes.is_some()),
            ("chat-hints", self.chat_hints.is_some()),
        ];
        match options.into_iter().find(|(_, is_set)| *is_set) {
            Some((option, _)) if !is_asked => {
                Err(CliError::ChoiceMissing { option, choice: "--decomposer chat" })
            }
            _ => Ok(()),
        }
    }
}

/// Reads a number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a number from 0 to 1 is needed".to_owned())
}

impl Default for StageArgs {
    /// The default of each option.
    fn default() -> Self {
        Self {
            decomposer: DecomposerChoice::Clauses,
            retriever: RetrieverChoice::Transformer,
            composer: ComposerChoice::SetHead,
            chain_alpha: None,
            pager: None,
            kinds: KindChoice::Rules,
        }
    }
}

impl StageArgs {
    /// Checks that a composer is chosen where something is said about it.
    ///
    /// # Errors
    /// [`CliError::ChoiceMissing`]
    pub(crate) fn check(self) -> Result<(), CliError> {
        if self.chain_alpha.is_some() && self.composer != ComposerChoice::Chain {
            let (option, choice) = ("chain-alpha", "--composer chain");
            return Err(CliError::ChoiceMissing { option, choice });
        }
        Ok(())
    }
}

impl RetrieverChoice {
    /// Returns the choice of a name, or of one of its other names.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::from_str(name, false).ok()
    }

    /// Returns every name with what it stands for, as `--help` says it.
    pub(crate) fn named() -> Vec<(String, String)> {
        let mut named = Vec::new();
        for choice in Self::value_variants() {
            let Some(value) = choice.to_possible_value() else { continue };
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            named.extend(value.get_name_and_aliases().map(|name| (name.to_owned(), help.clone())));
        }
        named
    }
}
