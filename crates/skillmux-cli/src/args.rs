//! The command line.

mod synth;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub(crate) use synth::{
    SynthCommand, SynthDistractorsArgs, SynthQueriesArgs, SynthWorkArgs, TaskKindChoice,
};

/// The skill router for LLM agents.
///
/// Takes a task in plain words. Decides whether a skill helps, which skill, and how many. Hands over
/// only the parts that the task needs. Works offline, in milliseconds, in English and Chinese.
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
    /// Decide which skills a task needs, and show the parts that help
    Route(RouteArgs),
    /// Rank skills for a query
    Search(SearchArgs),
    /// Show the parts of one skill that answer a query
    Page(PageArgs),
    /// Describe an index
    Stats(StatsArgs),
    /// Measure the router and other systems on datasets, or score a TREC run
    Eval(EvalArgs),
    /// Train one of the models inside this program
    #[command(subcommand)]
    Train(TrainCommand),
    /// Write training data for your own skills with a chat model
    #[command(subcommand)]
    Synth(SynthCommand),
    /// Describe the models inside this program
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Give agents the skills of an index over MCP (Model Context Protocol, stdio)
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
    /// Where to read skills: a folder of SKILL.md files, a .jsonl[.gz|.zst] file or a folder of
    /// them, or the README.md of a list of MCP servers. Without any source: the sources of the
    /// index, or the skills of the agents on this computer
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,
    /// Folder of the index [default: the user's own index]
    #[arg(long, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
    /// Make the index from nothing. This also replaces an index of another format
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Go back to the index before the last update
    #[arg(long, conflicts_with_all = ["sources", "rebuild"])]
    pub(crate) restore: bool,
    /// List all skills that were merged, repaired or skipped
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
    /// Skills to use without an index of your own: a folder, file or list, as for `skillmux
    /// index`. skillmux keeps an index of them in its cache. You may repeat this option
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Vec<PathBuf>,
}

/// Which implementation of each stage a command uses.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct StageArgs {
    /// How skills are ranked
    #[arg(long, value_enum, default_value = "ranked")]
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
    /// By words and meaning of the task and of each of its clauses, with learned weights
    Ranked,
    /// By words (BM25) of name, description and body, each with its own weight
    Fielded,
    /// By words (BM25) of the whole text, the usual baseline
    Joined,
    /// By meaning alone (vectors of the embedded encoder)
    Dense,
    /// The sum of `fielded` and `dense`
    Hybrid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComposerChoice {
    /// Those that stand out, without near-duplicates; none if no skill fits
    ScoreCut,
    /// Always the best N skills
    TopK,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PagerChoice {
    /// The parts that fit the task and differ from each other, in their order
    Mmr,
    /// From the top until the budget is used up
    Full,
}

/// The task, from one of three places.
#[derive(Debug, ClapArgs)]
pub(crate) struct TaskArgs {
    /// The task in plain words. `-` reads it from standard input
    #[arg(value_name = "TASK", conflicts_with_all = ["file", "queries"])]
    pub(crate) text: Option<String>,
    /// Read the task from a file
    #[arg(long, value_name = "FILE", conflicts_with = "queries")]
    pub(crate) file: Option<PathBuf>,
    /// Answer many tasks from a file, one `{"query_id": ..., "query": ...}` a line
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) queries: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RouteArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Load at most N skills
    #[arg(short, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) k: u16,
    /// Show at most this many tokens of skill text in all. 0 shows none
    #[arg(long, value_name = "TOKENS", default_value_t = 4000)]
    pub(crate) budget: u32,
    /// Format of the answer. With --queries it is always JSON, one answer a line
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
    /// Show the best N skills
    #[arg(short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) k: u16,
    /// Format of the ranking. With --queries it is always a TREC run
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
    /// How skills are ranked
    #[arg(long, value_enum, default_value = "ranked")]
    pub(crate) retriever: RetrieverChoice,
    /// Print the time that a query took: the 50th and the 99th percentile
    #[arg(long, requires = "queries")]
    pub(crate) timings: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PageArgs {
    /// Id of the skill, as `search` and `route` print it
    pub(crate) skill_id: String,
    /// What you want to know. Without it: the skill from the top
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Show at most this many tokens
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
    /// Check every byte of the index
    #[arg(long)]
    pub(crate) verify: bool,
    /// Format of the description
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,
    #[command(flatten)]
    pub(crate) trec: EvalTrecArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalTrecArgs {
    /// A TREC run, as `skillmux search --queries` prints it
    #[arg(value_name = "RUN", required = true)]
    pub(crate) run: Option<PathBuf>,
    /// File with the right skills (TREC qrels), one `query_id 0 skill_id relevance` a line
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) qrels: Option<PathBuf>,
    /// Format of the scores
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Measure systems on a dataset
    Run(Box<EvalRunArgs>),
    /// Show which tasks two systems differ on, and why
    Compare(EvalCompareArgs),
    /// Show one task: what is right, what each system answered, and why
    Show(EvalShowArgs),
    /// Make a dataset, or what a dataset needs
    #[command(subcommand)]
    Build(EvalBuildCommand),
    /// List all systems, kinds of dataset and measures
    List,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalRunArgs {
    /// The dataset: a file or a folder. `skillmux eval list` shows the kinds
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: PathBuf,
    /// Kind of the dataset [default: found from its files]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Systems to measure, such as `default`, `bm25`, `bm25:nd`, `tfidf@best-k` or
    /// `rrf(bm25,tfidf)`. The others are compared with the first one
    #[arg(long = "system", short, value_name = "SPEC", default_value = "default", num_args = 1..)]
    pub(crate) systems: Vec<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Folder for the answers, scores, TREC runs and the HTML page. Answers that it already holds
    /// are kept, so you can interrupt a run and start it again
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Measure everything again, and replace all that the folder holds
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// File of near-duplicates, from `skillmux eval build clusters`. The report then has every
    /// score twice: without and with near-duplicates of a right skill counted as right
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) clusters: Option<PathBuf>,
    /// File with the right skills (TREC qrels), for a dataset of plain queries [default:
    /// `qrels.trec` in the same folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: Option<PathBuf>,
    /// Score queries that the qrels do not name as queries that need no skill. Without this option
    /// they are not scored, as in `trec_eval`
    #[arg(long)]
    pub(crate) unjudged_need_none: bool,
    /// Which skills of the dataset to choose from, if it has tiers [default: hard]
    #[arg(long, value_enum, conflicts_with_all = ["index", "library"])]
    pub(crate) tier: Option<TierChoice>,
    /// Use the whole dataset, not only the part that no model was trained on
    #[arg(long)]
    pub(crate) all: bool,
    /// Measure only N tasks, drawn at random
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// Keep the best N skills of each ranking
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) depth: u16,
    /// Let `default` load at most N skills
    #[arg(short, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) k: u16,
    /// Let `default` show at most this many tokens in all. 0 shows none
    #[arg(long, value_name = "TOKENS", default_value_t = 4000)]
    pub(crate) budget: u32,
    /// Seed of all random choices
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,
    /// Number of bootstrap samples for each interval
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: u32,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    /// Format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: ReportFormat,
    // Last: what follows would stand under the heading, too.
    #[command(flatten, next_help_heading = "Stages of `default`")]
    pub(crate) stages: StageArgs,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TierChoice {
    /// Without distractors: skills that only look right
    Easy,
    /// With distractors
    Hard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people, on a terminal
    Text,
    /// For programs
    Json,
    /// For a document
    Markdown,
    /// One page with plots
    Html,
    /// One row for each task
    Csv,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalCompareArgs {
    /// Results of the first system: `DIR/SYSTEM`, or `DIR` if it holds only one system
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Results of the second system
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Show at most N tasks that changed
    #[arg(short, value_name = "N", default_value_t = 10)]
    pub(crate) n: usize,
    /// File of near-duplicates, from `skillmux eval build clusters`. Near-duplicates of a right
    /// skill then count as right
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) clusters: Option<PathBuf>,
    /// Format of the comparison
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: CompareFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For people, on a terminal
    Text,
    /// For programs
    Json,
    /// For a document
    Markdown,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalShowArgs {
    /// Id of the task
    #[arg(value_name = "TASK")]
    pub(crate) task_id: String,
    /// Folder that `skillmux eval run --out` wrote, or one system in it: `DIR/SYSTEM`
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) results: PathBuf,
    /// File of near-duplicates, from `skillmux eval build clusters`. The scores with them are
    /// shown, too
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) clusters: Option<PathBuf>,
    /// Format of the output
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalBuildCommand {
    /// Make `CompSkillBench`, the benchmark of SkillWeaver, from the README of a list of MCP servers
    Compskillbench {
        /// The README of the list
        #[arg(value_name = "README.md")]
        readme: PathBuf,
        /// Folder for the files of the benchmark
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Seed of all random choices
        #[arg(long, default_value_t = 42)]
        seed: u64,
    },
    /// Find the near-duplicates of an index
    Clusters {
        #[command(flatten)]
        source: SourceArgs,
        /// File for the groups of near-duplicates, with ids only
        #[arg(long, value_name = "FILE.jsonl")]
        out: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// Train the decision whether to load a skill at all
    Abstention(TrainAbstentionArgs),
    /// Train the static encoder that finds skills by meaning
    Encoder(TrainEncoderArgs),
    /// Train the weights that rank the best candidates
    Ranker(TrainRankerArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainRankerArgs {
    /// Folder of an index with the skills and their vectors, made by `skillmux index`
    #[arg(long, value_name = "DIR")]
    pub(crate) index: PathBuf,
    /// Queries that the encoder was trained on, plain or .zst, in the format of `train encoder`.
    /// Only queries about skills that the encoder did not see are used
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) queries: Vec<PathBuf>,
    /// Queries that the encoder was not trained on, in the same format
    #[arg(long, value_name = "FILE.jsonl", num_args = 1.., required_unless_present = "queries")]
    pub(crate) tasks: Vec<PathBuf>,
    /// Skills in two languages, plain or .zst: `{"zh", "en"}` a line. Only those that the encoder
    /// did not see are used
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) translations: Vec<PathBuf>,
    /// File for the weights
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
    /// File for the scores of each query that was kept for testing
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) held_out: Option<PathBuf>,
    /// What the training makes small
    #[arg(long, value_enum, default_value = "listwise")]
    pub(crate) loss: LossChoice,
    /// How to count candidates that are near-duplicates of a right skill
    #[arg(long, value_enum, default_value = "wrong")]
    pub(crate) near_duplicates: NearDuplicatesChoice,
    /// Groups of features to leave out, separated by commas
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Also train without each group of features, and with the other losses. Print the scores, and
    /// write the weights and the test queries to this folder.
    /// `skillmux eval run --system ranked:FILE` measures them
    #[arg(long, value_name = "DIR")]
    pub(crate) ablations: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossChoice {
    /// All candidates of a query together (softmax)
    Listwise,
    /// Each candidate by itself
    Pointwise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NearDuplicatesChoice {
    /// As wrong
    Wrong,
    /// Leave them out
    LeftOut,
    /// As right, with a grade of 0.2
    Graded,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainEncoderArgs {
    /// Folder of an index with the skills, made by `skillmux index`
    #[arg(long, value_name = "DIR")]
    pub(crate) index: PathBuf,
    /// Queries and their right skills, plain or .zst: `{"query", "skill_id"}` or `{"query",
    /// "skill_ids"}` a line. Lines with `"relevant": false` are left out
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) queries: Vec<PathBuf>,
    /// Skills in two languages, plain or .zst: `{"zh", "en"}` a line
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) translations: Vec<PathBuf>,
    /// File for the encoder
    #[arg(long, value_name = "FILE.bin")]
    pub(crate) out: PathBuf,
    /// Folder for the checkpoint, the log and the plot of the training
    #[arg(long, value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Go on from the checkpoint in the folder of --run
    #[arg(long)]
    pub(crate) resume: bool,
    /// Options of the training to change, as JSON, such as `{"dim": 128}`
    #[arg(long, value_name = "JSON")]
    pub(crate) options: Option<String>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainAbstentionArgs {
    /// Queries that some skill answers, one `{"query_id", "query"}` a line. A line may also have
    /// `skill_ids`: an index that holds none of these skills should load nothing. Lines without it
    /// are asked of the first index only
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) answerable: Vec<PathBuf>,
    /// Queries that no skill answers. They are asked of every index
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) unanswerable: Vec<PathBuf>,
    /// Queries that must not load the skills in their `skill_ids`. They are asked of each index
    /// that holds one of these. They are measured, but not trained on: another skill may help
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) triggers: Vec<PathBuf>,
    /// Folder of an index with vectors, made by `skillmux index`. Several indexes of different
    /// sizes give a decision that suits them all [default: the user's own index]
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) index: Vec<PathBuf>,
    /// File for the trained decision
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
    /// File for the confidence of each query that was kept for testing
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) held_out: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models with their size and training data
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
