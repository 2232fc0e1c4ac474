//! [`RejectRow`]: a task with the skills that are wrong for it, in the format of `datasets/set-tasks.jsonl`.

use serde::{Deserialize, Serialize};
use skillmux::skill::SkillId;

use super::options::RejectReason;

/// A task, as `skillmux train` reads it, by `skill_ids`, and `skillmux eval`, as a dataset of the
/// kind `composition`, by `task_id` and `skills`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RejectRow {
    // First: a row that was cut is known by it.
    pub(super) query_id: String,
    pub(super) task_id: String,
    pub(super) query: String,
    /// In the order of the file of tasks.
    pub(super) skill_ids: Vec<SkillId>,
    pub(super) skills: Vec<SkillId>,
    /// What would do as well as one of these.
    pub(super) also: Vec<SkillId>,
    /// What looks right and is not.
    pub(super) rejected: Vec<Rejected>,
    pub(super) lang: String,
    /// The right skills and the candidates that the model saw, in the order of the letters.
    pub(super) seen: Vec<SkillId>,
    pub(super) model: String,
    /// Version of the instructions.
    pub(super) prompt: u32,
}

/// A skill that is wrong for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rejected {
    pub(super) skill_id: SkillId,
    pub(super) why: RejectReason,
    /// The right skill that it does not work with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) with: Option<SkillId>,
}
