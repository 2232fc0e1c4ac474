//! What stands in the settings of agents for skillmux, and what stands in the way.

/// Name of the server in all agents.
pub(super) const SERVER: &str = "skillmux";

/// Returns whether a command with its arguments starts skillmux as a server.
pub(super) fn starts_server(words: &[&str]) -> bool {
    let [program, "mcp", ..] = words else { return false };
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name) == "skillmux"
}

/// A value that stands where another kind must be.
pub(super) struct BadShape {
    /// Keys that lead there, with dots.
    pub(super) key: String,
    /// What must stand there.
    pub(super) expected: &'static str,
}

impl BadShape {
    pub(super) fn no_table(keys: &[String], expected: &'static str) -> Self {
        Self { key: keys.join("."), expected }
    }

    /// Of two, programs disagree on which one counts.
    pub(super) fn twice(keys: &[String]) -> Self {
        Self { key: keys.join("."), expected: "there once, but is there twice" }
    }
}

/// A command on a prompt: `hooks.EVENT[].hooks[]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookCommand<'a> {
    pub(super) event: &'a str,
    pub(super) command: &'a str,
    pub(super) timeout: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_name_of_the_program_counts() {
        for program in ["skillmux", "/x/skillmux", r"C:\x y\skillmux.exe"] {
            assert!(starts_server(&[program, "mcp", "-v"]), "{program}");
            assert!(!starts_server(&[program, "hook"]), "{program}");
        }
        assert!(!starts_server(&["/skillmux/other", "mcp"]));
        assert!(!starts_server(&["skillmux"]));
    }
}
