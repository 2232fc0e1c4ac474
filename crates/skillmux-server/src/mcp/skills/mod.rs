//! Serves skills as resources, as the Skills extension of MCP says: `skill://PATH/SKILL.md` and the
//! files beside it.
//!
//! The extension is `io.modelcontextprotocol/skills` (SEP-2640). A skill whose name, front matter
//! or size is against its rules is left out here; the tools have it all the same.

mod address;
mod folder;
mod front_matter;
mod listing;
mod served;

pub(super) use listing::{Page, resource_page, skill_page};
pub(super) use served::{contents, entry};

/// What the extension allows a skill.
const MAX_FILES: usize = 512;

/// What the extension allows the files of a skill together, in bytes.
const MAX_BYTES: u64 = 16 << 20;
