//! Arguments of `skillmux train`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum TrainCommand {
    /// Train the decision whether to load a skill at all
    Abstention(TrainAbstentionArgs),
    /// Train the weights that tell what a task asks for
    Asking(TrainAskingArgs),
    /// Train the decision which skills to load together
    Composer(TrainComposerArgs),
    /// Train the static encoder that finds skills by meaning
    Encoder(TrainEncoderArgs),
    /// Train the weights that tell what the parts of a skill are: steps, examples, background
    Kinds(TrainKindsArgs),
    /// Train the weights that choose the parts of a skill
    Pager(TrainPagerArgs),
    /// Train the weights that rank the best candidates
    Ranker(TrainRankerArgs),
    /// Tune a published encoder or cross-encoder on skills and queries of your own
    Transformer(TrainTransformerArgs),
    /// Train the weights that tell work from talk
    Work(TrainWorkArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainAskingArgs {
    /// Tasks, plain or .zst: a line is `{"query", "asks": [...]}`, where `asks` has excerpts of the
    /// query that say what is wanted (or `spans`). Lines with the same `library` are held out
    /// together in the scores
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) tasks: Vec<PathBuf>,
    /// File for the weights
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainComposerArgs {
    /// Folders of indexes with the skills and their vectors, made by `skillmux index`: libraries of
    /// several sizes
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    pub(crate) index: Vec<PathBuf>,
    /// Tasks and all skills that are right for each, plain or .zst: `{"query", "skill_ids"}` a
    /// line, with `also` for skills that would do as well and `rejected` for skills that look right
    /// and are not. A task is asked of each index that has all of its skills
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) tasks: Vec<PathBuf>,
    /// Weights that `skillmux train asking` wrote, by which long tasks are split: those that were
    /// fitted to none of these tasks
    #[arg(long, value_name = "FILE")]
    pub(crate) asking_weights: Option<PathBuf>,
    /// What is trained
    #[arg(long, value_enum, default_value = "set-head")]
    pub(crate) kind: ComposerKind,
    /// Folder where what the indexes found is kept. The same tasks over the same indexes are read
    /// from there the next time
    #[arg(long, value_name = "DIR")]
    pub(crate) examples: Option<PathBuf>,
    /// For set-head: lowest and highest threshold, from 0 to 1. A skill is added if this raises the
    /// expected Set F1. It is never added if its probability is below the first number, and always
    /// added if it is above the second
    #[arg(long, value_names = ["LEAST", "MOST"], num_args = 2, allow_negative_numbers = true, default_values_t = [0.1, 0.2])]
    pub(crate) threshold: Vec<f32>,
    /// For set-head: weight of the `rejected` skills of a task, where other wrong ones have 1. For
    /// sequence, the option `rejected_weight` says this
    #[arg(long, value_name = "W", allow_negative_numbers = true, default_value_t = 1.0)]
    pub(crate) rejected_weight: f64,
    /// For sequence: what it chooses from
    #[arg(long, value_enum, default_value = "open")]
    pub(crate) scene: SceneChoice,
    /// For sequence: which encoder reads tasks and skills. It is frozen
    #[arg(long, value_enum, default_value = "static")]
    pub(crate) text_encoder: TextEncoderChoice,
    /// For sequence: folder for the checkpoint
    #[arg(long, value_name = "DIR", required_if_eq("kind", "sequence"))]
    pub(crate) run: Option<PathBuf>,
    /// For sequence: go on from the checkpoint in the folder of --run
    #[arg(long)]
    pub(crate) resume: bool,
    /// For sequence: options of the training to change, as JSON, such as `{"width": 128}`
    #[arg(long, value_name = "JSON")]
    pub(crate) options: Option<String>,
    /// For sequence: seed of all random choices
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// File for the weights
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComposerKind {
    /// Weights of the set head, the default composer: plain numbers as JSON
    SetHead,
    /// A sequence composer, for `--composer sequence`: a small network as safetensors
    Sequence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SceneChoice {
    /// The candidates of the task and of its clauses, with what the rankings say of them
    Open,
    /// All skills of a library of up to 1,000, by their names and descriptions alone
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextEncoderChoice {
    /// That of --encoder, or the static one inside this program
    Static,
    /// The transformer inside this program: slower by a hundred times
    Transformer,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainKindsArgs {
    /// Folder of an index with the skills, made by `skillmux index`
    #[arg(long, value_name = "DIR")]
    pub(crate) index: PathBuf,
    /// Parts of skills with their kinds: a line is `{"skill_id", "start", "end", "kind"}`, with the
    /// lines of a skill in a row
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) labels: PathBuf,
    /// File for the weights
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainPagerArgs {
    /// Folder of an index with the skills, made by `skillmux index`
    #[arg(long, value_name = "DIR")]
    pub(crate) index: PathBuf,
    /// Questions about skills, with the bytes that answer them: a line is `{"case_id", "skill_id",
    /// "query", "body_bytes", "evidence": [[first, end], ...]}`
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) cases: PathBuf,
    /// File for the weights
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
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
    /// Also train the weights that are used with the transformer. The index must hold the vectors
    /// of all texts
    #[arg(long)]
    pub(crate) transformer: bool,
    /// Sizes of libraries to sample from the index, separated by commas: the weights with the
    /// transformer are trained on these as well
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_delimiter = ',',
        requires = "transformer"
    )]
    pub(crate) sizes: Vec<usize>,
    /// Queries for the weights with the transformer alone, in the format of --tasks
    #[arg(long, value_name = "FILE.jsonl", num_args = 1.., requires = "transformer")]
    pub(crate) transformer_tasks: Vec<PathBuf>,
    /// Weights to keep: only those with the transformer are trained, beside them
    #[arg(long, value_name = "FILE.json", requires = "transformer", conflicts_with_all = ["held_out", "ablations"])]
    pub(crate) keep: Option<PathBuf>,
    /// File for the weights
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
    /// File for the scores of each query that was kept for testing
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) held_out: Option<PathBuf>,
    /// Loss function
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
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainTransformerArgs {
    /// Folder of the published model to begin with, as for --encoder and --reranker
    #[arg(long, value_name = "DIR")]
    pub(crate) base: PathBuf,
    /// Folder of an index with the skills, made by `skillmux index`
    #[arg(long, value_name = "DIR")]
    pub(crate) index: PathBuf,
    /// Queries and their right skills, plain or .zst, in the format of `train encoder`
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) queries: Vec<PathBuf>,
    /// Skills in two languages, plain or .zst: `{"zh", "en"}` a line
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) translations: Vec<PathBuf>,
    /// Folder for the tuned model, which --encoder and --reranker read. It must be new or empty
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Folder for the checkpoint, the best weights and the log of the training
    #[arg(long, value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Go on from the checkpoint in the folder of --run
    #[arg(long)]
    pub(crate) resume: bool,
    /// Options of the training to change, as JSON, such as `{"n_negatives": 2}`
    #[arg(long, value_name = "JSON")]
    pub(crate) options: Option<String>,
    /// Steps of the training [default: 400]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) steps: Option<usize>,
    /// Number format for multiplying matrices
    #[arg(long, value_enum, default_value = "f32")]
    pub(crate) precision: PrecisionChoice,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionChoice {
    /// 32 bits
    F32,
    /// 16 bits, for a GPU: it gains nothing on a CPU
    Bf16,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainWorkArgs {
    /// Tasks that a skill helps with, plain or .zst: `{"query", "skill_ids"}` a line
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) work: Vec<PathBuf>,
    /// Requests that need no skill, such as thanks, small talk and questions of general knowledge:
    /// `{"query"}` a line
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) talk: Vec<PathBuf>,
    /// File for the weights
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TrainAbstentionArgs {
    /// Queries that some skill answers, one `{"query_id", "query"}` a line. A line may also have
    /// `skill_ids`: an index that holds none of these skills should load nothing. Lines without it
    /// are asked of the first index only
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) answerable: Vec<PathBuf>,
    /// Queries that no skill answers. They are asked of every index; a line with `skill_ids` is
    /// asked of the index of these skills alone, none of which serves it
    #[arg(long, value_name = "FILE.jsonl", required = true, num_args = 1..)]
    pub(crate) unanswerable: Vec<PathBuf>,
    /// Statements and questions about the subjects of skills, which ask for no work. Each is asked
    /// of the index of its `skill_ids` alone
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) talk: Vec<PathBuf>,
    /// Queries that must not load the skills in their `skill_ids`. They are asked of each index
    /// that holds one of these. They are measured, but not trained on: another skill may help
    #[arg(long, value_name = "FILE.jsonl", num_args = 1..)]
    pub(crate) triggers: Vec<PathBuf>,
    /// Folder of an index with vectors, made by `skillmux index`. Several indexes of different
    /// sizes give a decision that suits them all [default: that of `skillmux index`]
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) index: Vec<PathBuf>,
    /// Folders of further indexes, each of which counts as much as four others: those whose queries
    /// are most like what users type
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) heavy_index: Vec<PathBuf>,
    /// Calibrations to keep: only the one with the transformer is fitted, beside the others of this
    /// file
    #[arg(long, value_name = "FILE.json")]
    pub(crate) keep: Option<PathBuf>,
    /// Of the calibration with the transformer in --keep, only fit what it makes of the verifier; all
    /// its other weights and thresholds stay. Only indexes of up to 2,000 skills count
    #[arg(long, requires = "keep")]
    pub(crate) only_verifier: bool,
    /// Two thresholds of the calibration with the transformer, from 0 to 1: one for libraries of up
    /// to 300 skills, one for 100,000 skills. Between these sizes, the threshold changes with the
    /// logarithm of the size. Without this option, the threshold is the one that covers 90 % of the
    /// queries
    #[arg(long, value_names = ["SMALL", "LARGE"], num_args = 2, allow_negative_numbers = true)]
    pub(crate) thresholds: Vec<f32>,
    /// File for the trained decision
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: PathBuf,
    /// File for the confidence of each query that was kept for testing
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) held_out: Option<PathBuf>,
}
