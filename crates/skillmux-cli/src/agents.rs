//! Which agents a command looks at.

use std::path::Path;

use anyhow::Context;
use skillmux::library::agents::{AgentProfile, profiles};

use crate::{args::AgentArgs, error::CliError, settings::Settings};

impl AgentArgs {
    /// Returns the agents that are named, or all that are installed.
    ///
    /// # Errors
    /// [`CliError::NoAgentInstalled`] if there is none.
    pub(crate) fn profiles(
        &self,
        settings: &Settings,
    ) -> anyhow::Result<Vec<&'static AgentProfile>> {
        let home = home(settings)?;
        let is_meant = |agent: &&AgentProfile| match self.names.as_slice() {
            [] => agent.is_installed(home),
            names => names.contains(&agent.id) && agent.is_installed(home),
        };
        let agents: Vec<_> = profiles().iter().filter(is_meant).collect();
        if agents.is_empty() {
            let home = home.to_owned();
            return Err(CliError::NoAgentInstalled { home, names: self.names.clone() }.into());
        }
        Ok(agents)
    }
}

/// Returns the home folder.
pub(crate) fn home(settings: &Settings) -> anyhow::Result<&Path> {
    settings.home.as_deref().context("the home folder is not known")
}
