//! Arguments of `skillmux route`, `search`, `page`, `audit` and `mcp`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{
    models::ModelArgs,
    shared::{EndpointArgs, Format, JudgeArgs, PageFormat, PlanFormat, SourceArgs, TaskArgs},
    stages::{KindChoice, PagerChoice, PassArgs, RetrieverChoice, StageArgs},
};

#[derive(Debug, ClapArgs)]
pub(crate) struct RouteArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Load at most N skills. Without this option: 3. For a task of several parts: 6. With needs:
    /// as many as there are needs, but never less than 3
    #[arg(short, alias = "k", value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) k: Option<u16>,
    /// Show at most this many tokens of skill text in all. 0 shows none
    #[arg(long, value_name = "TOKENS", default_value_t = 4000, allow_negative_numbers = true, value_parser = super::shared::budget)]
    pub(crate) budget: u32,
    /// Also list up to N other skills, 15 at most, one on each line. You can choose one of them, or
    /// use their words in your next needs
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(0..=15))]
    pub(crate) hints: u8,
    /// Format of the answer. With --queries it is always JSON, one answer a line
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: PlanFormat,
    #[command(flatten)]
    pub(crate) stages: StageArgs,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    #[command(flatten)]
    pub(crate) models: ModelArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Show the best N skills
    #[arg(short, alias = "k", value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) k: u16,
    /// List near-copies of a better skill as separate results. With --queries, near-copies and
    /// exact copies are always separate results
    #[arg(long)]
    pub(crate) all: bool,
    /// Format of the ranking. With --queries it is always a TREC run
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
    /// How skills are ranked
    #[arg(long, value_enum, default_value = "transformer")]
    pub(crate) retriever: RetrieverChoice,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    /// Print the time that a query took: the 50th and the 99th percentile
    #[arg(long, requires = "queries")]
    pub(crate) timings: bool,
    #[command(flatten)]
    pub(crate) models: ModelArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PageArgs {
    /// Id of the skill, as `search` and `route` print it; or its name, if no other skill has it
    pub(crate) skill_id: String,
    /// What you want to know. Without it: the skill from the top
    pub(crate) query: Option<String>,
    /// A need that the skill should help with, as for `route`. You may repeat this option
    #[arg(long = "need", value_name = "PHRASE", requires = "query")]
    pub(crate) needs: Vec<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Show at most this many tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 2000, allow_negative_numbers = true, value_parser = super::shared::budget)]
    pub(crate) budget: u32,
    /// Parts that you have from an earlier page, such as 0-3,7. They are not shown again
    #[arg(long, value_name = "PARTS", default_value = "", hide_default_value = true)]
    pub(crate) have: String,
    /// Format of the page
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: PageFormat,
    /// Which parts are shown
    #[arg(long, value_enum, default_value = "transformer")]
    pub(crate) pager: PagerChoice,
    /// How skillmux finds out which parts of a skill are steps, examples or background
    #[arg(long, value_enum, default_value = "rules", requires = "query")]
    pub(crate) kinds: KindChoice,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    /// Weights of the pager that `skillmux train pager` wrote [default: those inside the program]
    #[arg(long, value_name = "FILE")]
    pub(crate) pager_weights: Option<PathBuf>,
    /// List all parts of the skill: how likely each is needed, what speaks for it, and whether it
    /// is shown
    #[arg(long, requires = "query")]
    pub(crate) why: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Remember the skills as they are now. A later audit tells which of them changed
    #[arg(long)]
    pub(crate) pin: bool,
    /// File of the pins [default: `pins.json` in the data folder of skillmux]
    #[arg(long, value_name = "FILE")]
    pub(crate) pins: Option<PathBuf>,
    /// Also read what a scanner found: a report in SARIF 2.1.0. You may repeat this option
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Vec<PathBuf>,
    /// List every skill, not only the first ones
    #[arg(long)]
    pub(crate) all: bool,
    /// Format of the report. JSON always has every skill
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct McpArgs {
    /// Serve HTTP on this address of your computer, instead of standard input and output. Port 0
    /// takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) models: ModelArgs,
}
