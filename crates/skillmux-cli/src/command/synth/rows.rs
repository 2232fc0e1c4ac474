//! Rows that a chat model writes.

use std::path::Path;

use skillmux_models::remote::{ChatEndpoint, RemoteError};
use skillmux_train::synth::{WorkOptions, WorkReport};

use super::report::{GraphLines, Report};
use crate::{
    args::SynthWorkArgs, chat::chat, error::CliError, outcome::Outcome, render::progress::progress,
    settings::Settings,
};

/// Returns the chat model that the arguments must name.
pub(super) fn named_chat(
    args: &SynthWorkArgs,
    settings: &Settings,
) -> anyhow::Result<ChatEndpoint> {
    chat(&args.endpoint, settings)?.ok_or_else(|| CliError::NoChat.into())
}

/// Returns whether the endpoint will fail for every other request as well.
fn is_final(error: &skillmux::Error) -> bool {
    let skillmux::Error::Chat { source, .. } = error else { return true };
    source.downcast_ref().is_some_and(RemoteError::is_final)
}

/// What is written, where, and how.
pub(super) struct Rows<'a> {
    /// For people, such as `tasks`.
    pub(super) what: &'static str,
    pub(super) out: &'a Path,
    /// That the file holds in the end.
    pub(super) n: u32,
    pub(super) work: &'a SynthWorkArgs,
}

impl Rows<'_> {
    /// Shows the progress of some work, and then what came of it.
    pub(super) fn write(
        &self,
        write: impl FnOnce(&WorkOptions<'_>) -> skillmux_train::Result<WorkReport>,
    ) -> anyhow::Result<Outcome> {
        self.write_with(write, |written| (written, None))
    }

    /// Does the same with work that draws from a graph.
    pub(super) fn write_with<T>(
        &self,
        write: impl FnOnce(&WorkOptions<'_>) -> skillmux_train::Result<T>,
        split: impl FnOnce(T) -> (WorkReport, Option<GraphLines>),
    ) -> anyhow::Result<Outcome> {
        let Self { what, out, work, .. } = self;
        let n_rows = self.n as usize;
        let bar = progress(n_rows, what);
        let written = write(&WorkOptions {
            out,
            n_rows,
            seed: work.seed,
            n_parallel: work.parallel.into(),
            max_attempts: work.attempts.into(),
            model_name: work.endpoint.chat_model.as_deref().unwrap_or_default(),
            is_final: &is_final,
            on_row: &|n_rows| bar.set_position(n_rows as u64),
        });
        bar.finish_and_clear();
        let (written, graph) = split(written?);
        let report = Report::new(&written, what, out, n_rows).with_graph(graph);
        report.print(work.format)?;
        match written.stopped {
            Some(error) => Err(error.into()),
            None if report.is_empty() => Ok(Outcome::NothingFound),
            None => Ok(Outcome::Found),
        }
    }
}
