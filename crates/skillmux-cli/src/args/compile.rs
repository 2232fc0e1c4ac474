//! Arguments of `skillmux compile`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{agents::agent_names, shared::Format};

#[derive(Debug, ClapArgs)]
pub(crate) struct CompileArgs {
    /// The agent
    #[arg(long, value_name = "NAME", value_parser = agent_names())]
    pub(crate) agent: String,
    /// Limit of the list in characters. Use this if your model or your settings change the usual
    /// limit
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) chars: Option<u32>,
    /// How often you used which skill: a file with one `{"skill": "pdf", "uses": 3}` a line, or
    /// `none`. Without it, skillmux counts in the files of Claude Code
    #[arg(long, value_name = "FILE|none")]
    pub(crate) history: Option<PathBuf>,
    /// Tasks to measure with, one `{"query": "...", "skill_ids": ["pdf"]}` a line. Without it,
    /// sentences of the skills stand for tasks
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) tasks: Option<PathBuf>,
    /// Write into this folder what your agent needs for the new list: settings for you to copy, and
    /// copies of skills with short descriptions. No other file is changed
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}
