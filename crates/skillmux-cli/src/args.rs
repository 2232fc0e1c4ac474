//! The command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// The skill router for LLM agents.
///
/// Decides whether any skill of a library helps with a task, which, how many, and hands over only
/// the parts that are needed. Local, offline, in milliseconds, in English and Chinese.
#[derive(Debug, Parser)]
#[command(name = "skillmux", version, max_term_width = 80, styles = crate::paint::HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make or update an index of skills
    Index(IndexArgs),
    /// Decide which skills a task needs, and show the parts that it needs
    Route(RouteArgs),
    /// Rank skills for a query
    Search(SearchArgs),
    /// Show the parts of one skill that a query needs
    Page(PageArgs),
    /// Describe an index
    Stats(StatsArgs),
    /// Score a TREC run against relevance judgements
    Eval(EvalArgs),
    /// Fit one of the models that are inside this program
    #[command(subcommand)]
    Train(TrainCommand),
    /// Describe the models that are inside this program
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Serve an index to an agent over the Model Context Protocol (stdio)
    Mcp(McpArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct IndexArgs {
    /// Folders of SKILL.md files, .jsonl[.gz|.zst] shards or folders of them, or the README.md of
    /// a list of MCP servers; without any, those that the named index was made of, or the skills of
    /// the agents installed for this user
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,
    /// Folder of the index [default: the user's own index]
    #[arg(long, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
    /// Read nothing of the present generation; replaces an index of another format
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Go back to the generation before the current one
    #[arg(long, conflicts_with_all = ["sources", "rebuild"])]
    pub(crate) restore: bool,
    /// List everything that was merged, repaired and skipped
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

/// Which skills a command works on.
#[derive(Debug, ClapArgs)]
pub(crate) struct SourceArgs {
    /// Folder of an index made by `skillmux index`
    #[arg(long, value_name = "DIR", conflicts_with = "library")]
    pub(crate) index: Option<PathBuf>,
    /// Skills to index on the fly, kept in a cache and brought up to date; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Vec<PathBuf>,
}

/// Which implementation of each stage a command uses.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct StageArgs {
    /// How skills are ranked
    #[arg(long, value_enum, default_value = "fielded")]
    pub(crate) retriever: RetrieverChoice,
    /// How many skills are loaded
    #[arg(long, value_enum, default_value = "score-cut")]
    pub(crate) composer: ComposerChoice,
    /// Which parts of a skill are shown
    #[arg(long, value_enum, default_value = "mmr")]
    pub(crate) pager: PagerChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RetrieverChoice {
    /// BM25 of name, description and body, weighted and added
    Fielded,
    /// BM25 of the joined text, the usual baseline
    Joined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComposerChoice {
    /// As many as stand out, without near-duplicates; may abstain
    ScoreCut,
    /// Always the best N
    TopK,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PagerChoice {
    /// Relevant and different parts, in their order
    Mmr,
    /// From the top until the budget is used
    Full,
}

/// The task, from one of three places.
#[derive(Debug, ClapArgs)]
pub(crate) struct TaskArgs {
    /// The task in plain words; `-` reads standard input
    #[arg(value_name = "TASK", conflicts_with_all = ["file", "queries"])]
    pub(crate) text: Option<String>,
    /// Read the task from a file
    #[arg(long, value_name = "FILE", conflicts_with = "queries")]
    pub(crate) file: Option<PathBuf>,
    /// Answer a batch: one `{"query_id": ..., "query": ...}` a line
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) queries: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RouteArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Most skills to load
    #[arg(short, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) k: u16,
    /// Most tokens of skill text over all skills; 0 shows none
    #[arg(long, value_name = "TOKENS", default_value_t = 4000)]
    pub(crate) budget: u32,
    /// Format of the answer; a batch is always JSON, one answer a line
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) stages: StageArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Number of skills
    #[arg(short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) k: u16,
    /// Format of the ranking; a batch is always a TREC run
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
    /// How skills are ranked
    #[arg(long, value_enum, default_value = "fielded")]
    pub(crate) retriever: RetrieverChoice,
    /// Print the 50th and 99th percentile of the time a query of the batch took
    #[arg(long, requires = "queries")]
    pub(crate) timings: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PageArgs {
    /// Id of the skill, as `search` and `route` print it
    pub(crate) skill_id: String,
    /// What the parts are for; without it, the skill from the top
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Most tokens to show
    #[arg(long, value_name = "TOKENS", default_value_t = 2000)]
    pub(crate) budget: u32,
    /// Format of the page
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
    /// Which parts are shown
    #[arg(long, value_enum, default_value = "mmr")]
    pub(crate) pager: PagerChoice,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Compare every byte of the index with what was written
    #[arg(long)]
    pub(crate) verify: bool,
    /// Format of the description
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalArgs {
    /// A TREC run, as `skillmux search --queries` prints it
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// TREC relevance judgements: `query_id 0 skill_id relevance`
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: PathBuf,
    /// Format of the scores
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// Fit the calibration that decides whether to load anything
    Abstention(TrainAbstentionArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainAbstentionArgs {
    /// Queries that some skill answers: `{"query_id", "query"}` a line, as for a batch; with
    /// `skill_ids`, asked of every index that holds one of them, else of the first
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) answerable: Vec<PathBuf>,
    /// Queries that no skill answers, asked of every index
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) unanswerable: Vec<PathBuf>,
    /// Folder of an index made by `skillmux index`; several of different sizes make a calibration
    /// that suits them all [default: the user's own index]
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) index: Vec<PathBuf>,
    /// Where to write the calibration
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
    /// Where to write the confidence of every held-out query
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) held_out: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List them with their size and what they were trained on
    List {
        /// Format of the list
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}
