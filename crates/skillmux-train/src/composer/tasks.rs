//! [`SetTasks`]: tasks with the skills that are right for them.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use skillmux::skill::SkillId;

use crate::{
    error::Result,
    file::{TaskLine, read_task_lines},
};

/// Tasks with the skills that are right for them.
#[derive(Debug, Clone, Default)]
pub struct SetTasks(pub(super) BTreeMap<String, Right>);

/// What is right for a task.
#[derive(Debug, Clone, Default)]
pub(super) struct Right {
    /// In the order of use.
    pub(super) skills: Vec<SkillId>,
    /// What would do as well as one of these: neither right nor wrong beside it.
    pub(super) also: Vec<SkillId>,
    /// What looks right and is not.
    pub(super) rejected: Vec<SkillId>,
}

#[derive(Deserialize)]
struct RejectedLine {
    skill_id: SkillId,
}

impl SetTasks {
    /// Adds the tasks of a file, plain or `.zst`: `{"query", "skill_ids" or "skill_id", "also",
    /// "rejected": [{"skill_id"}]}` a line. A task may stand there several times, with a skill
    /// each; one without a skill is left out.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn add(&mut self, path: &Path) -> Result<()> {
        for TaskLine { query, skill_ids, also, rejected, .. } in
            read_task_lines::<RejectedLine>(path)?
        {
            if skill_ids.is_empty() {
                continue;
            }
            let right = self.0.entry(query).or_default();
            for skill in skill_ids {
                if !right.skills.contains(&skill) {
                    right.skills.push(skill);
                }
            }
            right.also.extend(also);
            right.rejected.extend(rejected.into_iter().map(|line| line.skill_id));
        }
        Ok(())
    }
}
