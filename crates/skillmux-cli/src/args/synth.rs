//! The command line of `skillmux synth`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::{EndpointArgs, Format, SourceArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum SynthCommand {
    /// Write tasks that need your skills, to train and to measure
    Queries(SynthQueriesArgs),
    /// Write distractors: skills that look like yours but do something else
    Distractors(SynthDistractorsArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SynthQueriesArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// File for the tasks, one a line. Tasks that it already holds are kept, so you can interrupt
    /// a run and start it again
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// Write until the file holds N tasks of this kind
    #[arg(short, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n: u32,
    /// What kind of task to write
    #[arg(long, value_enum, default_value = "long")]
    pub(crate) kind: TaskKindChoice,
    /// Share of the tasks to write in Chinese, from 0 to 1. The others are in English
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub(crate) share_zh: f64,
    #[command(flatten)]
    pub(crate) work: SynthWorkArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskKindChoice {
    /// One to three sentences that need one skill
    Short,
    /// 100 to 250 words that need one skill
    Long,
    /// 100 to 250 words that need two to four skills in an order
    Multi,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SynthDistractorsArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// File for the skills, one a line. Skills that it already holds are kept, so you can
    /// interrupt a run and start it again
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// Write until the file holds N distractors
    #[arg(short, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n: u32,
    /// Distractors to write for each skill. The first has the same subject, the second the same
    /// technology, and the third is broader
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(crate) per_skill: u8,
    #[command(flatten)]
    pub(crate) work: SynthWorkArgs,
}

/// How a chat model is asked.
#[derive(Debug, ClapArgs)]
pub(crate) struct SynthWorkArgs {
    /// Seed of all random choices
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    /// Send at most N requests at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(crate) parallel: u8,
    /// Ask at most N times for an answer that passes all checks
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub(crate) attempts: u8,
    /// Format of the report at the end
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

/// Returns a share, a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not a number from 0 to 1".to_owned())
}
