//! The command line of `skillmux synth`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::{EndpointArgs, Format, SourceArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum SynthCommand {
    /// Write tasks that skills of a library are needed for, to train and to measure with
    Queries(SynthQueriesArgs),
    /// Write skills that look like those of a library and do something else
    Distractors(SynthDistractorsArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SynthQueriesArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// File for the tasks, one a line; those that it holds are kept, and a run that was interrupted
    /// goes on from there
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// Tasks of this kind that the file holds in the end
    #[arg(short, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n: u32,
    /// What the tasks are like
    #[arg(long, value_enum, default_value = "long")]
    pub(crate) kind: QueryKindChoice,
    /// Share of the tasks to write in Chinese, from 0 to 1; the others are in English
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub(crate) share_zh: f64,
    #[command(flatten)]
    pub(crate) work: SynthWorkArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueryKindChoice {
    /// One to three sentences, one skill
    Short,
    /// 100 to 250 words, one skill
    Long,
    /// 100 to 250 words, two to four skills in an order
    Multi,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SynthDistractorsArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Shard for the skills, one a line; those that it holds are kept, and a run that was interrupted
    /// goes on from there
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// Distractors that the file holds in the end
    #[arg(short, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n: u32,
    /// Distractors of each skill: of the same field, of the same technology, and broader
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(crate) per_skill: u8,
    #[command(flatten)]
    pub(crate) work: SynthWorkArgs,
}

/// How a chat model is asked.
#[derive(Debug, ClapArgs)]
pub(crate) struct SynthWorkArgs {
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    /// Requests under way at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(crate) parallel: u8,
    /// Most answers to ask for until one passes all checks
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub(crate) attempts: u8,
    /// Format of the closing report
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

/// Returns a share, a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not a number from 0 to 1".to_owned())
}
