//! Arguments that several commands share.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Reads a budget.
pub(crate) fn budget(text: &str) -> Result<u32, &'static str> {
    text.parse()
        .map_err(|_| "a budget is a whole number of tokens, such as 4000, and at most 4294967295")
}

/// How a plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// Which step waits for which, as a Mermaid flowchart
    Mermaid,
    /// The same for Graphviz
    Dot,
}

/// How a page is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// All parts of the skill and how they hang together, as a Mermaid flowchart. Those of the page
    /// have thick lines
    Mermaid,
    /// The same for Graphviz
    Dot,
}

/// Which skills a command works on.
#[derive(Debug, Clone, PartialEq, Eq, ClapArgs)]
pub(crate) struct SourceArgs {
    /// Folder of an index made by `skillmux index`
    #[arg(long, value_name = "DIR", conflicts_with = "library")]
    pub(crate) index: Option<PathBuf>,
    /// Skills to use without an index: a folder, file or list, as for `skillmux
    /// index`. skillmux keeps an index of them in its cache. You may repeat this option
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Vec<PathBuf>,
}

/// The task, from one of three places.
#[derive(Debug, ClapArgs)]
pub(crate) struct TaskArgs {
    /// The task in plain words, with or without quotes. `-` reads it from standard input
    #[arg(value_name = "TASK", conflicts_with_all = ["file", "queries"])]
    pub(crate) text: Vec<String>,
    /// Read the task from a file
    #[arg(long, value_name = "FILE", conflicts_with = "queries")]
    pub(crate) file: Option<PathBuf>,
    /// One capability that the task asks for, in a short phrase, such as "extract tables from PDF
    /// files". You may repeat this option, up to 16 times
    #[arg(long = "need", value_name = "PHRASE", conflicts_with = "queries")]
    pub(crate) needs: Vec<String>,
    /// Answer many tasks from a file, one `{"query_id": ..., "query": ..., "needs": [...]}` a line;
    /// needs may be left out
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) queries: Option<PathBuf>,
}

/// A chat model that chooses from a ranking.
#[derive(Debug, ClapArgs)]
pub(crate) struct JudgeArgs {
    /// Have a chat model choose from the best 20 skills. skillmux sends it the task and the
    /// beginning of each skill. Needs --chat-url and --chat-model
    #[arg(long)]
    pub(crate) judge: bool,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
}

/// A chat model of an OpenAI-compatible endpoint.
#[derive(Debug, ClapArgs)]
pub(crate) struct EndpointArgs {
    /// URL of an OpenAI-compatible chat endpoint, such as `http://localhost:8000/v1`. skillmux
    /// reads the key from the environment variable `SKILLMUX_API_KEY`
    #[arg(long, value_name = "URL", requires = "chat_model")]
    pub(crate) chat_url: Option<String>,
    /// Name of the chat model
    #[arg(long, value_name = "NAME", requires = "chat_url")]
    pub(crate) chat_model: Option<String>,
}
