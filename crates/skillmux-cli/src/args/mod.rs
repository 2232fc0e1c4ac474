//! The command line.

mod agents;
mod answer;
mod compile;
mod eval;
mod index;
mod models;
mod shared;
mod shell;
mod stages;
mod synth;
mod train;

use clap::{Parser, Subcommand};

pub(crate) use agents::{AgentArgs, ConsentArgs, DoctorArgs, HookArgs, InitArgs, UninitArgs};
pub(crate) use answer::{AuditArgs, McpArgs, PageArgs, RouteArgs, SearchArgs};
pub(crate) use compile::CompileArgs;
pub(crate) use eval::{
    AskArgs, CompareFormat, EvalArgs, EvalBuildCommand, EvalCommand, EvalCompareArgs,
    EvalExecuteArgs, EvalGateArgs, EvalRunArgs, EvalShowArgs, EvalSweepArgs, EvalTrecArgs,
    ReportFormat, TierChoice,
};
pub(crate) use index::{IndexArgs, StatsArgs, TransformerChoice};
pub(crate) use models::{InferenceChoice, ModelArgs, ModelsCommand, PassageChoice};
pub(crate) use shared::{
    EndpointArgs, Format, JudgeArgs, PageFormat, PlanFormat, SourceArgs, TaskArgs,
};
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use stages::{
    ComposerChoice, DecomposerChoice, KindChoice, PagerChoice, RetrieverChoice, StageArgs,
};
pub(crate) use synth::{
    SynthCommand, SynthComposerArgs, SynthDistractorsArgs, SynthQueriesArgs, SynthRejectArgs,
    SynthWorkArgs, TaskKindChoice,
};
pub(crate) use train::{
    ComposerKind, LossChoice, NearDuplicatesChoice, PrecisionChoice, SceneChoice,
    TextEncoderChoice, TrainAbstentionArgs, TrainAskingArgs, TrainCommand, TrainComposerArgs,
    TrainEncoderArgs, TrainKindsArgs, TrainPagerArgs, TrainRankerArgs, TrainTransformerArgs,
    TrainWorkArgs,
};

/// The skill router for LLM agents.
///
/// skillmux takes a task in plain words. It decides whether any skill helps, and which ones. It
/// shows only the parts of these skills that the task needs. It works offline. Skills and tasks may
/// be in English or Chinese. Tasks may also be in German, French, Spanish, Portuguese, Russian,
/// Japanese or Korean.
#[derive(Debug, Parser)]
#[command(name = "skillmux", version, max_term_width = 80, styles = crate::render::paint::HELP)]
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
    /// Serve skills to agents over MCP (Model Context Protocol): on standard input and output, or
    /// over HTTP
    Mcp(McpArgs),
    /// Show which skills the agents on this computer do not see, and why. Changes nothing
    Doctor(DoctorArgs),
    /// List risks in the texts of skills, and skills that changed since you pinned them
    Audit(AuditArgs),
    /// Make a list of skills that fits the limit of an agent, and measure how good the list is
    Compile(CompileArgs),
    /// Add skillmux to the settings of the agents installed here
    Init(InitArgs),
    /// Take away what `init` added
    Uninit(UninitArgs),
    /// Answer the prompt hook of an agent: JSON on standard input and output
    Hook(HookArgs),
    /// Print a script that lets your shell complete commands and options
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use clap::CommandFactory;

    use super::*;

    fn takes_number(option: &clap::Arg) -> bool {
        let taken = option.get_value_parser().type_id();
        [
            TypeId::of::<u8>(),
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<usize>(),
            TypeId::of::<f32>(),
            TypeId::of::<f64>(),
        ]
        .iter()
        .any(|number| taken == *number)
    }

    #[test]
    fn a_negative_number_is_a_value_of_each_option_that_takes_numbers() {
        let mut commands = vec![Args::command()];
        let mut n_numbers = 0;
        while let Some(command) = commands.pop() {
            for option in command.get_arguments().filter(|option| takes_number(option)) {
                let name = format!("{} of {}", option.get_id(), command.get_name());
                assert!(option.is_allow_negative_numbers_set(), "{name}");
                n_numbers += 1;
            }
            commands.extend(command.get_subcommands().cloned());
        }
        assert!(n_numbers > 40, "{n_numbers}");
    }
}
