//! Arguments of `skillmux eval`.

use std::path::PathBuf;

use clap::{Arg, Args as ClapArgs, Subcommand, ValueEnum};
use skillmux_eval::stats::BootstrapConfig;

use super::{
    models::ModelArgs,
    shared::{EndpointArgs, Format, SourceArgs},
    stages::{PassArgs, StageArgs},
};
use crate::error::CliError;

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,
    #[command(flatten)]
    pub(crate) trec: EvalTrecArgs,
}

impl EvalArgs {
    /// Returns the models that the command names.
    pub(crate) fn models(&self) -> ModelArgs {
        let ask = match &self.command {
            Some(EvalCommand::Run(args)) => &args.ask,
            Some(EvalCommand::Gate(args)) => &args.ask,
            Some(EvalCommand::Sweep(args)) => &args.ask,
            _ => return ModelArgs::default(),
        };
        ask.models.clone()
    }

    /// Checks that options about the stages belong to stages that are chosen.
    ///
    /// # Errors
    /// [`CliError::ChoiceMissing`]
    pub(crate) fn check_stages(&self) -> Result<(), CliError> {
        match &self.command {
            Some(EvalCommand::Run(args)) => {
                args.stages.check()?;
                args.passes.check(args.stages)
            }
            Some(EvalCommand::Sweep(args)) => args.stages.check(),
            _ => Ok(()),
        }
    }
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
    /// Try several values for the parameters of pagers, and compare the scores
    ///
    /// A list in braces stands for several systems: `page:default/{20,40,60}%`. Each list is a
    /// table, and a curve of the plot.
    Sweep(Box<EvalSweepArgs>),
    /// Show which tasks two systems differ on, and why
    Compare(EvalCompareArgs),
    /// Decide whether a new ranking may replace an old one
    ///
    /// The new ranking is promoted if no dataset, and no slice of a dataset, gets worse on Hit@1 or
    /// Recall@10: the 95 % interval of the difference must not lie below 0. A slice is a group of
    /// tasks that the dataset tells apart, such as a kind of task or a language.
    ///
    /// Exit code 0: promoted. 1: not promoted. 2: error.
    Gate(Box<EvalGateArgs>),
    /// Show one task: what is right, what each system answered, and why
    Show(EvalShowArgs),
    /// Carry out the plans of a run with mock executors, which fail now and then
    ///
    /// Nothing of a skill is run. A mock executor stands for each skill, and a call of it succeeds
    /// in 80 to 95 % of all cases, by the category of the skill. The table has the plans as they
    /// are, with retries, and with the substitutes of their steps.
    Execute(EvalExecuteArgs),
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
    /// Systems to measure, such as `default`, `bm25`, `bm25:nd`, `tfidf@best-k` or
    /// `rrf(bm25,tfidf)`. The others are compared with the first one
    #[arg(long = "system", short, value_name = "SPEC", default_value = "default", num_args = 1..)]
    pub(crate) systems: Vec<String>,
    /// Folder for the answers, scores, TREC runs and the HTML page. Answers that it already holds
    /// are kept, so you can interrupt a run and start it again
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Measure everything again, and replace all that the folder holds
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// File of near-duplicates, from `skillmux eval build clusters`. Every score is then reported
    /// twice: the second time, near-duplicates of a right skill count as right
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) clusters: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Let `default` load at most N skills [default: as many as `skillmux route`]
    #[arg(short, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) k: Option<u16>,
    /// Let `default` show at most this many tokens in all. 0 shows none
    #[arg(long, value_name = "TOKENS", default_value_t = 4000, allow_negative_numbers = true, value_parser = super::shared::budget)]
    pub(crate) budget: u32,
    /// Format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: ReportFormat,
    // Last: what follows would stand under the heading, too.
    #[command(flatten, next_help_heading = "Stages of `default`")]
    pub(crate) stages: StageArgs,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalSweepArgs {
    /// Questions about one skill each, with the parts that they need, such as
    /// `datasets/intra-skill-bench.jsonl`
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: PathBuf,
    /// Systems that differ in one parameter. By default, this varies the two parameters of the
    /// paper's method
    /// (tables 6 and 7 of `SkillPager`), and the budget of skillmux and of chunks
    #[arg(long = "system", short, value_name = "SPEC", default_values = SWEEPS, num_args = 1..)]
    pub(crate) systems: Vec<String>,
    /// File for a plot of all lists
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    // Last: what follows would stand under the heading, too.
    #[command(flatten, next_help_heading = "Stages of `default`")]
    pub(crate) stages: StageArgs,
}

/// What a sweep turns where nothing is named: the weights and caps of `SkillPager` Tables 6 and 7,
/// without a budget as there, and budgets.
const SWEEPS: [&str; 4] = [
    "page:skill-pager/lambda={0.3,0.5,0.7,0.9}/100%",
    "page:skill-pager/k={5,10,20,30,40,60}/100%",
    "page:default/{10,20,30,40,50,60,70,80,90}%",
    "page:chunk/{10,20,30,40,50,60,70,80,90}%",
];

/// What is asked, over which skills, and how answers are scored.
#[derive(Debug, ClapArgs)]
pub(crate) struct AskArgs {
    /// Kind of the dataset [default: found from its files]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// File with the right skills (TREC qrels), for a dataset of plain queries [default:
    /// `qrels.trec` in the same folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: Option<PathBuf>,
    /// If the qrels have no line for a query, treat it as a query that needs no skill, and score
    /// it. Without this option, such a query is not scored, as in `trec_eval`
    #[arg(long)]
    pub(crate) unjudged_need_none: bool,
    /// Which skills of the dataset to choose from, if it has tiers [default: hard]
    #[arg(long, value_enum, conflicts_with_all = ["index", "library"])]
    pub(crate) tier: Option<TierChoice>,
    /// Use the whole dataset, not only the part that no model was trained on
    #[arg(long)]
    pub(crate) all: bool,
    /// File of what the tasks ask for, one `{"query_id": ..., "needs": [...]}` a line
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) needs: Option<PathBuf>,
    /// Measure only N tasks, drawn at random
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) sample: Option<usize>,
    /// Keep the best N skills of each ranking. Scores that look at more are left out
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) depth: u16,
    /// Seed of all random choices
    #[arg(long, default_value_t = 42, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Number of bootstrap samples for each interval
    #[arg(long, value_name = "N", default_value_t = 10_000, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: u32,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    #[command(flatten)]
    pub(crate) models: ModelArgs,
}

impl AskArgs {
    /// Returns how intervals and tests are drawn.
    pub(crate) fn bootstrap(&self) -> BootstrapConfig {
        let n_resamples = self.resamples as usize;
        BootstrapConfig { n_resamples, seed: self.seed, ..BootstrapConfig::default() }
    }
}

#[derive(Debug, ClapArgs)]
#[command(mut_args(needs_dataset))]
pub(crate) struct EvalGateArgs {
    /// Datasets to ask both rankings. Without any, --old and --new name results of `skillmux eval
    /// run --out`
    #[arg(value_name = "DATASET")]
    pub(crate) datasets: Vec<PathBuf>,
    /// The ranking in use: a system such as `ranked`, `ranked:FILE` or `fielded`, or its results:
    /// `DIR/SYSTEM`. With results of several datasets, repeat --old and --new in the same order
    #[arg(long, value_name = "A", required = true)]
    pub(crate) old: Vec<String>,
    /// The ranking that is to replace it
    #[arg(long, value_name = "B", required = true)]
    pub(crate) new: Vec<String>,
    /// Fewest tasks that can tell whether something is worse. A smaller slice is not judged. A
    /// smaller dataset is not promoted, unless all scores are the same
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) min_tasks: u32,
    /// File of near-duplicates, from `skillmux eval build clusters`. Near-duplicates of a right
    /// skill then count as right
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) clusters: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Format of the verdict
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

/// Arguments of a gate that say something about stored results as well. All others say how datasets
/// are asked.
const OF_RESULTS: [&str; 8] =
    ["datasets", "old", "new", "min_tasks", "clusters", "seed", "resamples", "format"];

/// Makes an argument of a gate an error without a dataset, if it would say nothing then.
fn needs_dataset(argument: Arg) -> Arg {
    if OF_RESULTS.contains(&argument.get_id().as_str()) {
        return argument;
    }
    argument.requires("datasets")
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
    #[arg(short, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
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

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalExecuteArgs {
    /// Folder that `skillmux eval run --out` wrote, or one system in it: `DIR/SYSTEM`
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,
    /// How often each plan is carried out
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) trials: u32,
    /// Call a failed skill at most N more times
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(0..=10))]
    pub(crate) retries: u8,
    /// After a skill fails, call at most N other skills of the same step
    #[arg(long, value_name = "N", default_value_t = 2, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(0..=20))]
    pub(crate) substitutes: u8,
    /// Seed of all random choices
    #[arg(long, default_value_t = 42, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Format of the table
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: CompareFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalBuildCommand {
    /// Make `CompSkillBench`, the benchmark of SkillWeaver, from the README of a list of MCP
    /// servers
    Compskillbench {
        /// The README of the list
        #[arg(value_name = "README.md")]
        readme: PathBuf,
        /// Folder for the files of the benchmark
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Seed of all random choices
        #[arg(long, default_value_t = 42, allow_negative_numbers = true)]
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
