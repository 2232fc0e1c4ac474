//! What stands in the settings of agents for skillmux, and what stands in the way.

/// Name of the server in all agents.
pub(super) const SERVER: &str = "skillmux";

/// A value that stands where another kind must be.
pub(super) struct BadShape {
    /// Keys that lead there, with dots.
    pub(super) key: String,
    /// What must stand there.
    pub(super) expected: &'static str,
}

impl BadShape {
    pub(super) fn no_table(keys: &[String]) -> Self {
        Self { key: keys.join("."), expected: "table" }
    }

    /// Of two, programs disagree on which one counts.
    pub(super) fn twice(keys: &[String]) -> Self {
        Self { key: keys.join("."), expected: "single table: it is there twice" }
    }
}

/// A command on a prompt: `hooks.EVENT[].hooks[]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookCommand<'a> {
    pub(super) event: &'a str,
    pub(super) command: &'a str,
    pub(super) timeout: u32,
}
