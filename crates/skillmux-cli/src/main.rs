//! `skillmux`: the skill router for LLM agents, in one binary.
//!
//! Results go to standard output, everything else to standard error. Exit code 0: found, or
//! promoted. 1: nothing found, or not promoted, or problems found. 2: error. `skillmux hook` always
//! ends with 0: some agents take another code for a veto.

mod agents;
mod args;
mod assemble;
mod chat;
mod clock;
mod command;
mod error;
mod folder;
mod hub;
mod kept;
mod links;
mod model_file;
mod model_option;
mod model_place;
mod named_file;
mod networks;
mod outcome;
mod own_model;
mod pins;
mod render;
mod settings;
mod source;
mod task;
mod trust;
mod watch;
mod wiring;

use std::{env, io, process::ExitCode};

use anstream::eprintln;
use clap::{CommandFactory, Parser, error::ErrorKind};
use skillmux::{library::agents::CompileError, text::printable};
use skillmux_models::{checkpoint::CheckpointError, hub::HubError, remote::RemoteError};

use args::{Args, Command, ModelArgs};
use networks::Networks;
use outcome::Outcome;
use render::paint::{BAD, NOTE, styled};
use settings::Settings;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if command::hook::is_called() && error.use_stderr() => {
            // Nobody need read it.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let first = env::args_os().nth(1).unwrap_or_default();
            let names_command = Args::command().find_subcommand(&first).is_some();
            let code = error.exit_code();
            let _ = error.print();
            if error.kind() == ErrorKind::InvalidSubcommand && !names_command {
                eprintln!("{} for a task: skillmux route \"what to do\"", styled(NOTE, "hint:"));
            }
            return ExitCode::from(u8::try_from(code).unwrap_or(2));
        }
    };
    match run(args) {
        Ok(Outcome::Found) => ExitCode::SUCCESS,
        Ok(Outcome::NothingFound | Outcome::NotPromoted | Outcome::ProblemsFound) => {
            ExitCode::from(1)
        }
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if kept::remove_damaged(&error) => {
            eprintln!("{} {}", styled(BAD, "error:"), printable(&format!("{error:#}")));
            eprintln!(
                "{} this index was in the cache, and is removed; the same command makes it again",
                styled(NOTE, "hint:")
            );
            ExitCode::from(2)
        }
        Err(error) => {
            report(&error);
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> anyhow::Result<Outcome> {
    if settings::is_exact() {
        skillmux_models::multiply_exactly();
    }
    if let Some(networks) = Networks::of(&args.command) {
        networks.read_ahead();
    }
    let settings = Settings::from_environment;
    let with = |models: &ModelArgs| -> anyhow::Result<Settings> {
        let settings = settings()?.with_models(models);
        networks::read_transformer(&settings)?;
        Ok(settings)
    };
    let own = || with(&ModelArgs::default());
    match args.command {
        Command::Index(args) => {
            let models = ModelArgs {
                encoder: args.encoder.clone(),
                encoder_model: args.encoder_model.clone(),
                preset: args.preset,
                precision: args.precision,
                transformer_weights: args.transformer_weights.clone(),
                ..ModelArgs::default()
            };
            command::index::run(&args, &with(&models)?)
        }
        Command::Route(args) => command::route::run(&args, &with(&args.models)?),
        Command::Search(args) => command::search::run(&args, &with(&args.models)?),
        Command::Page(args) => command::page::run(&args, &own()?),
        Command::Stats(args) => command::stats::run(&args, &own()?),
        Command::Eval(args) => {
            args.check_stages()?;
            command::eval::run(&args, &with(&args.models())?)
        }
        Command::Train(command) => command::train::run(&command, &own()?),
        Command::Synth(command) => command::synth::run(&command, &own()?),
        Command::Models(command) => command::models::run(&command),
        Command::Mcp(args) => command::mcp::run(&args, &with(&args.models)?),
        Command::Doctor(args) => command::doctor::run(&args, &settings()?),
        Command::Audit(args) => command::audit::run(&args, &settings()?),
        Command::Compile(args) => command::compile::run(&args, &settings()?),
        Command::Init(args) => command::init::run(&args, &settings()?),
        Command::Uninit(args) => command::uninit::run(&args, &settings()?),
        Command::Completions(args) => command::shell::completions(&args),
        Command::Man(args) => command::shell::man(&args),
        // A mistake in the settings must not stop an agent: they are read where nothing can.
        Command::Hook(args) => {
            command::hook::run(&args);
            Ok(Outcome::Found)
        }
    }
}

/// Prints an error with its causes and, where there is one, what to do about it.
fn report(error: &anyhow::Error) {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    let causes = printable(&causes.join(": "));
    eprintln!("{} {causes}", styled(BAD, "error:"));
    let hints = [
        error::engine_error(error).and_then(error::engine_hint),
        error.downcast_ref::<skillmux_eval::Error>().and_then(error::eval_hint),
        error.downcast_ref::<skillmux_eval::Error>().and_then(skillmux_eval::Error::hint),
        error.downcast_ref::<skillmux_models::Error>().and_then(skillmux_models::Error::hint),
        error.downcast_ref::<skillmux_train::Error>().and_then(error::train_hint),
        error.downcast_ref::<CheckpointError>().and_then(CheckpointError::hint),
        error.downcast_ref::<HubError>().map(HubError::hint),
        error.downcast_ref::<RemoteError>().and_then(error::remote_hint),
        error.downcast_ref::<skillmux_server::ServerError>().map(|e| e.hint().to_owned()),
        error.downcast_ref::<error::CliError>().map(error::CliError::hint),
        error.downcast_ref::<wiring::SettingsFileError>().map(|e| e.hint().to_owned()),
        error.downcast_ref::<CompileError>().map(|e| e.hint().to_owned()),
        error.downcast_ref::<task::TaskError>().map(task::TaskError::hint),
        error.chain().find_map(|cause| cause.downcast_ref()).and_then(error::io_hint),
    ];
    if let Some(hint) = hints.into_iter().flatten().next() {
        let hint = printable(&hint);
        eprintln!("{} {hint}", styled(NOTE, "hint:"));
    }
}

/// Returns whether the reader of our output went away, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io_kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json_kind =
            cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        [io_kind, json_kind].contains(&Some(io::ErrorKind::BrokenPipe))
    })
}
