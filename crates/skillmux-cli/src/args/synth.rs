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
    /// Write tasks for sets of skills that work together, to train a composer
    Composer(SynthComposerArgs),
    /// Find which skills look right for a task and are not, and why
    Reject(SynthRejectArgs),
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
    #[arg(short, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n: u32,
    /// What kind of task to write
    #[arg(long, value_enum, default_value = "long")]
    pub(crate) kind: TaskKindChoice,
    /// Share of the tasks to write in Chinese, from 0 to 1. The others are in English
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, allow_negative_numbers = true, value_parser = share)]
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
    #[arg(short, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n: u32,
    /// Distractors to write for each skill. The first has the same subject, the second the same
    /// technology, and the third is broader
    #[arg(long, value_name = "N", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub(crate) per_skill: u8,
    #[command(flatten)]
    pub(crate) work: SynthWorkArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SynthComposerArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// File for the tasks, one a line. Tasks that it already holds are kept, so you can interrupt
    /// a run and start it again
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// Write until the file holds N tasks
    #[arg(short, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n: u32,
    /// Tasks that are known, plain or .zst: `{"skill_ids"}` a line. Skills of one task work
    /// together
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) tasks: Vec<PathBuf>,
    /// Queries about one skill each, plain or .zst: `{"query", "skill_id"}` a line. They are joined
    /// to tasks, and no chat model is asked
    #[arg(long, value_name = "FILE.jsonl", num_args = 1.., conflicts_with_all = ["chat_url", "chat_model"])]
    pub(crate) queries: Vec<PathBuf>,
    /// Share of the tasks that need one skill, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, allow_negative_numbers = true, value_parser = share)]
    pub(crate) share_single: f64,
    /// Share of the pairs, from 0 to 1, in which one skill takes what the other makes. In the
    /// others both are used in one piece of work
    #[arg(long, value_name = "SHARE", default_value_t = 0.65, allow_negative_numbers = true, value_parser = share)]
    pub(crate) share_dependency: f64,
    /// Share of the tasks to write in Chinese, from 0 to 1. The others are in English
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, allow_negative_numbers = true, value_parser = share)]
    pub(crate) share_zh: f64,
    /// Leave out a task whose meaning is closer than this to an earlier one: a cosine, from 0 to 1
    #[arg(long, value_name = "COSINE", default_value_t = 0.92, allow_negative_numbers = true, value_parser = share)]
    pub(crate) max_cosine: f64,
    #[command(flatten)]
    pub(crate) work: SynthWorkArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SynthRejectArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Tasks with the skills that are right, plain or .zst: `{"query", "skill_ids"}` a line. A task
    /// is used only if the library has all of its skills
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) tasks: Vec<PathBuf>,
    /// File for the tasks with the rejected skills, one a line. Tasks that it already holds are
    /// kept, so you can interrupt a run and start it again
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) out: PathBuf,
    /// Write until the file holds N tasks
    #[arg(short, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) n: u32,
    /// Show the chat model the best N skills that are not right for a task
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub(crate) candidates: u8,
    #[command(flatten)]
    pub(crate) work: SynthWorkArgs,
}

/// How a chat model is asked.
#[derive(Debug, ClapArgs)]
pub(crate) struct SynthWorkArgs {
    /// Seed of all random choices
    #[arg(long, default_value_t = 42, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    /// Send at most N requests at the same time
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(crate) parallel: u8,
    /// Ask at most N times for an answer that passes all checks
    #[arg(long, value_name = "N", default_value_t = 3, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=10))]
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
