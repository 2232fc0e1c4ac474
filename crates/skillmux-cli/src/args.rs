//! The command line.

mod synth;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub(crate) use synth::{
    QueryKindChoice, SynthCommand, SynthDistractorsArgs, SynthQueriesArgs, SynthWorkArgs,
};

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
    /// Measure the router and baselines on datasets, or score a TREC run
    Eval(EvalArgs),
    /// Fit one of the models that are inside this program
    #[command(subcommand)]
    Train(TrainCommand),
    /// Write training tasks, or distractors, for a library of your own with a chat model
    #[command(subcommand)]
    Synth(SynthCommand),
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
    /// Words and vectors of the task and of each of its clauses, weighed by a learned ranker
    Ranked,
    /// BM25 of name, description and body, weighted and added
    Fielded,
    /// BM25 of the joined text, the usual baseline
    Joined,
    /// The vectors of the embedded encoder alone
    Dense,
    /// Fielded BM25 and the vectors, added
    Hybrid,
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
    #[arg(long, value_enum, default_value = "ranked")]
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
    /// TREC relevance judgements: `query_id 0 skill_id relevance`
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
    /// Tell which tasks two measured systems differ on, and why
    Compare(EvalCompareArgs),
    /// Show one task: what is right, what each system said, and why
    Show(EvalShowArgs),
    /// Make a dataset, or what a dataset needs
    #[command(subcommand)]
    Build(EvalBuildCommand),
    /// List the systems and datasets that can be named, and the measures
    List,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalRunArgs {
    /// A dataset: a file or a folder; see `skillmux eval list`
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: PathBuf,
    /// Kind of the dataset [default: told from its files]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// What to measure, such as `default`, `bm25`, `bm25:nd`, `tfidf@best-k`, `rrf(bm25,tfidf)`;
    /// the first is what the others are tested against
    #[arg(long = "system", short, value_name = "SPEC", default_value = "default", num_args = 1..)]
    pub(crate) systems: Vec<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Folder for answers, scores, TREC runs and the page; what it holds of the same dataset and
    /// library is kept and not asked again, and a run that was interrupted goes on from there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Ask everything anew, and put the answers in place of all that the folder holds
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Near-duplicates that count as the right skill, from `skillmux eval build clusters`; every
    /// score is then given twice
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) clusters: Option<PathBuf>,
    /// Relevance judgements of a dataset of plain queries [default: `qrels.trec` beside them]
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: Option<PathBuf>,
    /// Queries without judgements need no skill, so that a router should abstain; else they are
    /// not scored, as in `trec_eval`
    #[arg(long)]
    pub(crate) unjudged_need_none: bool,
    /// Which of its skills to choose from, for a dataset that has tiers [default: hard]
    #[arg(long, value_enum, conflicts_with_all = ["index", "library"])]
    pub(crate) tier: Option<TierChoice>,
    /// Take all of a dataset that is split, not its held-out part only
    #[arg(long)]
    pub(crate) all: bool,
    /// Ask only this many of the tasks, chosen by the seed
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// Length of the rankings
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) depth: u16,
    /// Most skills that a plan of `default` may load
    #[arg(short, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) k: u16,
    /// Most tokens that `default` shows over all skills; 0 shows none
    #[arg(long, value_name = "TOKENS", default_value_t = 4000)]
    pub(crate) budget: u32,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 42)]
    pub(crate) seed: u64,
    /// Number of bootstrap resamples behind each interval
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
    /// Base URL of a chat endpoint, such as `http://localhost:8000/v1`, for what needs a language
    /// model; its key is read from `SKILLMUX_API_KEY`
    #[arg(long, value_name = "URL", requires = "chat_model")]
    pub(crate) chat_url: Option<String>,
    /// Name of the chat model
    #[arg(long, value_name = "NAME", requires = "chat_url")]
    pub(crate) chat_model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TierChoice {
    /// Without the distractors
    Easy,
    /// With the distractors
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
    /// One row a task
    Csv,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalCompareArgs {
    /// Folder of results, and the system of it that is meant: `DIR/SYSTEM`, or `DIR` if it has one
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The other one
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Most changed tasks to show
    #[arg(short, value_name = "N", default_value_t = 10)]
    pub(crate) n: usize,
    /// Near-duplicates that count as the right skill, from `skillmux eval build clusters`
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
    /// Folder of results that `skillmux eval run --out` wrote, or one system of it: `DIR/SYSTEM`
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) results: PathBuf,
    /// Near-duplicates that count as the right skill: their scores are shown besides
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) clusters: Option<PathBuf>,
    /// Format of the case
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalBuildCommand {
    /// Build the compositional benchmark of SkillWeaver from the README of a list of MCP servers
    Compskillbench {
        /// The README
        #[arg(value_name = "README.md")]
        readme: PathBuf,
        /// Folder for its files
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Seed of everything that is drawn
        #[arg(long, default_value_t = 42)]
        seed: u64,
    },
    /// Find the near-duplicates of an index
    Clusters {
        #[command(flatten)]
        source: SourceArgs,
        /// File for the clusters, ids only
        #[arg(long, value_name = "FILE.jsonl")]
        out: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// Fit the calibration that decides whether to load anything
    Abstention(TrainAbstentionArgs),
    /// Train the static encoder that finds skills by meaning
    Encoder(TrainEncoderArgs),
    /// Fit the weights that rank the best candidates again
    Ranker(TrainRankerArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainRankerArgs {
    /// Folder of an index that holds the skills, with vectors of the embedded encoder
    #[arg(long, value_name = "DIR")]
    pub(crate) index: PathBuf,
    /// Queries that the encoder was trained on, plain or .zst, in its format; only those about
    /// skills that were held out from it are used
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) queries: Vec<PathBuf>,
    /// Queries that the encoder was not trained on, in the same format
    #[arg(long, value_name = "FILE.jsonl", num_args = 1.., required_unless_present = "queries")]
    pub(crate) tasks: Vec<PathBuf>,
    /// Skills in two languages, as for the encoder; only those that were held out from it are used
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) translations: Vec<PathBuf>,
    /// Where to write the weights
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
    /// Where to write the scores of every held-out query
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) held_out: Option<PathBuf>,
    /// What is made small
    #[arg(long, value_enum, default_value = "listwise")]
    pub(crate) loss: LossChoice,
    /// How candidates count that nearly repeat a right skill
    #[arg(long, value_enum, default_value = "wrong")]
    pub(crate) near_duplicates: NearDuplicatesChoice,
    /// Groups of features that get no weight, to see what they are worth; several with commas
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Also fit with each group of features off, and with the other losses; print the scores and
    /// write the weights into this folder, for `skillmux eval run --system ranked:FILE`, and the
    /// held-out queries as a dataset
    #[arg(long, value_name = "DIR")]
    pub(crate) ablations: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossChoice {
    /// Softmax over the candidates of a query
    Listwise,
    /// Each candidate by itself
    Pointwise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NearDuplicatesChoice {
    /// As wrong
    Wrong,
    /// Not at all
    LeftOut,
    /// As right, with a grade of 0.2
    Graded,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainEncoderArgs {
    /// Folder of an index that holds the skills
    #[arg(long, value_name = "DIR")]
    pub(crate) index: PathBuf,
    /// Queries and the skills that answer them, plain or .zst: `{"query", "skill_id"}` or
    /// `{"query", "skill_ids"}` a line; lines with `"relevant": false` are left out
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) queries: Vec<PathBuf>,
    /// Skills in two languages, plain or .zst: `{"zh", "en"}` a line
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) translations: Vec<PathBuf>,
    /// Where to write the encoder
    #[arg(long, value_name = "FILE.bin")]
    pub(crate) out: PathBuf,
    /// Folder for the checkpoint, the log and the plot of the run
    #[arg(long, value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Go on from the checkpoint in the folder of the run
    #[arg(long)]
    pub(crate) resume: bool,
    /// Options of the training that differ from the default, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) options: Option<String>,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainAbstentionArgs {
    /// Queries that some skill answers: `{"query_id", "query"}` a line, as for a batch; with
    /// `skill_ids`, an index that holds none of them is to load nothing; without, asked of the first
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) answerable: Vec<PathBuf>,
    /// Queries that no skill answers, asked of every index
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) unanswerable: Vec<PathBuf>,
    /// Queries that must not load the skills in `skill_ids`, asked where one of them is; measured,
    /// but not fitted, for another skill may help
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) triggers: Vec<PathBuf>,
    /// Folder of an index made by `skillmux index`, with vectors of the embedded encoder; several of
    /// different sizes make a calibration that suits them all [default: the user's own index]
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
