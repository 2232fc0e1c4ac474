//! `skillmux synth`

mod distractors;
mod queries;
mod report;

use std::path::Path;

use skillmux_models::{
    remote::ChatEndpoint,
    synth::{WorkOptions, WorkReport},
};

use super::{chat, progress};
use crate::{
    Outcome,
    args::{SynthCommand, SynthWorkArgs},
    error::CliError,
    settings::Settings,
};
use report::Report;

pub(crate) fn run(command: &SynthCommand, settings: &Settings) -> anyhow::Result<Outcome> {
    match command {
        SynthCommand::Queries(args) => queries::run(args, settings),
        SynthCommand::Distractors(args) => distractors::run(args, settings),
    }
}

/// Returns the chat model that the arguments must name.
fn named_chat(args: &SynthWorkArgs, settings: &Settings) -> anyhow::Result<ChatEndpoint> {
    chat(&args.endpoint, settings)?.ok_or_else(|| CliError::NoChat.into())
}

/// Shows the progress of some work on rows, and then what came of it.
fn write_rows(
    args: &SynthWorkArgs,
    what: &'static str,
    out: &Path,
    n_rows: u32,
    write: impl FnOnce(&WorkOptions<'_>) -> skillmux_models::Result<WorkReport>,
) -> anyhow::Result<Outcome> {
    let n_rows = n_rows as usize;
    let bar = progress(n_rows, what);
    let written = write(&WorkOptions {
        n_rows,
        seed: args.seed,
        n_parallel: args.parallel.into(),
        max_attempts: args.attempts.into(),
        model_name: args.endpoint.chat_model.as_deref().unwrap_or_default(),
        on_row: &|n_rows| bar.set_position(n_rows as u64),
    });
    bar.finish_and_clear();
    let mut work = written?;
    let stopped = work.stopped.take();
    let report = Report::new(work, what, out, n_rows, stopped.is_some());
    report.print(args.format)?;
    match stopped {
        Some(error) => Err(error.into()),
        None if report.is_empty() => Ok(Outcome::NothingFound),
        None => Ok(Outcome::Found),
    }
}
