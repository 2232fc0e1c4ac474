//! `skillmux uninit`

use std::path::Path;

use anyhow::Context;
use skillmux::library::agents::{AgentProfile, profiles};

use super::init::{Unfinished, tell};
use crate::{
    agents::home,
    args::UninitArgs,
    outcome::Outcome,
    render::{
        diff::diff,
        paint::{STRONG, styled},
        print_text,
    },
    settings::Settings,
    wiring::{Records, Undoing, undo, wired},
};

/// What is said where skillmux is in the settings still: the user wrote that, or changed it.
const LEFT: &str =
    "  what `init` added is gone, but skillmux is in these settings still: take it out by hand\n";

/// Returns whether skillmux is in the settings of an agent.
fn is_left(id: &str, home: &Path) -> bool {
    let agent = profiles().iter().find(|agent| agent.id == id);
    let wired = agent.and_then(|agent| wired(agent, home).ok());
    wired.is_some_and(|wired| wired.mcp || wired.hook == Some(true))
}

pub(crate) fn run(args: &UninitArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let state = settings.state.as_ref().context("the home folder is not known")?;
    let home = home(settings)?;
    // Where nothing was ever changed, nothing is written now.
    let mut records = if args.consent.dry_run || !state.exists() {
        Records::open(state, home)?
    } else {
        Records::lock(state, home)?
    };
    let names = &args.agents.names;
    let is_meant = |id: &&String| names.is_empty() || names.contains(id);
    let changed: Vec<String> = records.agents().into_iter().map(str::to_owned).collect();
    let agents: Vec<&String> = changed.iter().filter(is_meant).collect();
    if agents.is_empty() {
        let is_wired = |agent: &&&AgentProfile| is_left(&agent.id, home);
        let meant: Vec<&AgentProfile> =
            profiles().iter().filter(|agent| is_meant(&&agent.id)).collect();
        let names: Vec<&str> =
            meant.iter().filter(is_wired).map(|agent| agent.name.as_str()).collect();
        if !names.is_empty() {
            let (names, state) = (names.join(", "), state.join("agents"));
            print_text(&format!(
                "nothing to do: `{}` has no record of a change by `skillmux init`. But skillmux is in the \
                 settings of {names}: take it out by hand; docs/agents.md names the files\n",
                state.display()
            ))?;
            return Ok(Outcome::Found);
        }
        print_text("nothing to do: `skillmux init` has changed nothing here\n")?;
        return Ok(Outcome::Found);
    }
    let mut unfinished = Unfinished::default();
    for id in agents {
        // An agent that an earlier version knew has no other name.
        let name = profiles().iter().find(|agent| agent.id == *id).map_or(id, |agent| &agent.name);
        print_text(&format!("{}\n", styled(STRONG, name)))?;
        let (undoings, errors) = undo(id, &records);
        errors.iter().try_for_each(tell)?;
        let mut has_failed = !errors.is_empty();
        let mut changes = undoings.iter().filter(|undoing| undoing.is_change()).peekable();
        if changes.peek().is_none() && !has_failed {
            print_text("  nothing to do: what `init` added is gone\n")?;
        }
        let mut needs_consent = false;
        for Undoing { path, before, after, .. } in changes {
            print_text(&diff(path, before.as_deref(), after.as_deref()))?;
            needs_consent = true;
        }
        let question = format!("Take skillmux out of the settings of {name}?");
        let is_wanted =
            if needs_consent { args.consent.is_given(&question)? } else { !args.consent.dry_run };
        let mut changed = Vec::new();
        for undoing in undoings.into_iter().filter(|_| is_wanted) {
            let path = undoing.is_change().then(|| undoing.path.clone());
            match undoing.make(&mut records) {
                Ok(()) => changed.extend(path),
                Err(error) => {
                    tell(&error)?;
                    has_failed = true;
                }
            }
        }
        if has_failed {
            unfinished.add(name, &changed)?;
        } else if is_wanted {
            print_text(if is_left(id, home) { LEFT } else { "  done\n" })?;
        }
    }
    unfinished.outcome()
}
