//! Arguments of `skillmux doctor`, `init`, `uninit` and `hook`.

use std::time::Duration;

use clap::{Args as ClapArgs, builder::PossibleValuesParser};
use skillmux::library::agents::profiles;

use super::shared::Format;

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) agents: AgentArgs,
    /// List every problem, not only the first of each kind
    #[arg(long)]
    pub(crate) all: bool,
    /// Format of the report. JSON always has every problem
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) agents: AgentArgs,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UninitArgs {
    #[command(flatten)]
    pub(crate) agents: AgentArgs,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

/// Which agents a command looks at.
#[derive(Debug, ClapArgs)]
pub(crate) struct AgentArgs {
    /// Only this agent. You may repeat this option. Without it: all that are installed
    #[arg(long = "agent", value_name = "NAME", value_parser = agent_names())]
    pub(crate) names: Vec<String>,
}

/// Whether files are changed.
#[derive(Debug, ClapArgs)]
pub(crate) struct ConsentArgs {
    /// Change the files without a question
    #[arg(long, short, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct HookArgs {
    /// The agent that calls
    #[arg(value_name = "AGENT", value_parser = agent_names())]
    pub(crate) agent: String,
    /// Add at most this many tokens of skill text. More than 2,000 count as 2,000: agents cut longer
    /// answers
    #[arg(long, value_name = "TOKENS", default_value_t = 1500, allow_negative_numbers = true, value_parser = super::shared::budget)]
    pub(crate) budget: u32,
    /// Give up after so many milliseconds, without an answer
    #[arg(long, value_name = "MS", default_value_t = 1000, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) deadline: u32,
}

impl HookArgs {
    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_millis(u64::from(self.deadline))
    }
}

pub(super) fn agent_names() -> PossibleValuesParser {
    profiles().iter().map(|profile| profile.id.as_str()).collect::<Vec<_>>().into()
}
