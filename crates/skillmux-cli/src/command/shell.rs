//! `skillmux completions` and `skillmux man`: what shells and readers of manuals know of the
//! commands.

use std::io::{self, Write as _};

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::{
    args::{Args, CompletionsArgs, ManArgs},
    folder::make_folder,
    outcome::Outcome,
    render::print_text,
};

/// Name of the program, as shells call it.
const NAME: &str = "skillmux";

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), NAME, &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Outcome::Found)
}

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<Outcome> {
    make_folder(&args.out)?;
    clap_mangen::generate_to(Args::command(), &args.out)
        .with_context(|| format!("cannot write to `{}`", args.out.display()))?;
    print_text(&format!("manual pages written to {}\n", args.out.display()))?;
    Ok(Outcome::Found)
}
