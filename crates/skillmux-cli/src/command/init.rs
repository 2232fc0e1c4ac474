//! `skillmux init`

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
};

use anyhow::Context;
use skillmux::text::{one_line, printable};

use crate::{
    agents::home,
    args::{ConsentArgs, InitArgs},
    error::CliError,
    outcome::Outcome,
    render::{
        diff::diff,
        paint::{BAD, NOTE, STRONG, styled},
        print_text,
    },
    settings::Settings,
    wiring::{AgentPlan, Records, SettingsFileError, Wiring, program},
};

pub(crate) fn run(args: &InitArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let home = home(settings)?;
    let agents = args.agents.profiles(settings)?;
    let state = settings.state.as_ref().context("the home folder is not known")?;
    let mut records = if args.consent.dry_run {
        Records::open(state, home)?
    } else {
        Records::lock(state, home)?
    };
    let program = program(settings.search_path.as_deref())?;
    let mut unfinished = Unfinished::default();
    let mut has_changed = false;
    for agent in agents {
        print_text(&format!("{}\n", styled(STRONG, &agent.name)))?;
        let wiring = Wiring { home, program: &program, records: &records };
        let plan = match wiring.plan(agent).and_then(AgentPlan::writable) {
            Ok(plan) => plan,
            Err(error) => {
                tell(&error)?;
                unfinished.add(&agent.name, &[])?;
                continue;
            }
        };
        show(&plan)?;
        let is_wanted = !plan.changes.is_empty()
            && args.consent.is_given(&format!("Change the settings of {}?", agent.name))?;
        if is_wanted {
            let mut changed = Vec::new();
            let made = plan.changes.into_iter().try_for_each(|change| {
                let path = change.path.clone();
                change.make(&mut records).map(|()| changed.push(path))
            });
            has_changed |= !changed.is_empty();
            match made {
                Ok(()) => {
                    print_text("  done\n")?;
                    for note in plan.notes {
                        print_text(&format!("  {} {note}\n", styled(NOTE, "note:")))?;
                    }
                }
                Err(error) => {
                    tell(&error)?;
                    unfinished.add(&agent.name, &changed)?;
                }
            }
        }
    }
    if has_changed {
        let copies = records.copies();
        if copies.exists() {
            let copies = copies.display();
            print_text(&format!("\nCopies of the files as they were are in `{copies}`."))?;
        }
        print_text("\n`skillmux uninit` brings everything back.\n")?;
    }
    unfinished.outcome()
}

fn show(plan: &AgentPlan) -> io::Result<()> {
    for kept in &plan.kept {
        print_text(&format!("  left as it is: {}\n", one_line(kept)))?;
    }
    if plan.changes.is_empty() {
        return print_text("  nothing to do: skillmux is there\n");
    }
    for change in &plan.changes {
        print_text(&diff(&change.path, change.before.as_deref(), change.after.as_deref()))?;
    }
    Ok(())
}

/// Tells why an agent is passed over.
pub(super) fn tell(error: &SettingsFileError) -> io::Result<()> {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    let message = printable(&format!("{error}{}", cause.unwrap_or_default()));
    let mut out = anstream::stderr().lock();
    writeln!(out, "{} {message}", styled(BAD, "error:"))?;
    writeln!(out, "{} {}", styled(NOTE, "hint:"), error.hint())
}

/// The agents whose settings are not as the user asked for, for errors that were told.
#[derive(Default)]
pub(super) struct Unfinished {
    /// Nothing was changed.
    left: Vec<String>,
    /// Only some of the files were changed.
    partly: Vec<String>,
}

impl Unfinished {
    /// Adds an agent, and names the files that were changed all the same.
    pub(super) fn add(&mut self, name: &str, changed: &[PathBuf]) -> io::Result<()> {
        for path in changed {
            print_text(&format!("  changed: `{}`\n", one_line(&path.display().to_string())))?;
        }
        let names = if changed.is_empty() { &mut self.left } else { &mut self.partly };
        names.push(name.to_owned());
        Ok(())
    }

    /// Returns how the command ends.
    ///
    /// # Errors
    /// [`CliError::AgentsLeft`] if there is such an agent.
    pub(super) fn outcome(self) -> anyhow::Result<Outcome> {
        let Self { left, partly } = self;
        if left.is_empty() && partly.is_empty() {
            return Ok(Outcome::Found);
        }
        Err(CliError::AgentsLeft { left, partly }.into())
    }
}

impl ConsentArgs {
    /// Returns whether files may be changed, after asking where that is possible.
    ///
    /// # Errors
    /// [`CliError::NoConsent`] where nobody can be asked and no option answers.
    pub(super) fn is_given(&self, question: &str) -> anyhow::Result<bool> {
        if self.yes || self.dry_run {
            return Ok(self.yes);
        }
        if !io::stdin().is_terminal() {
            return Err(CliError::NoConsent.into());
        }
        print_text(&format!("{question} [y/N] "))?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }
}
