//! [`Evaluation`]: what a system answered.

use serde::{Deserialize, Serialize};

use crate::answer::Answer;

/// The answer to one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The task.
    pub task_id: String,
    /// What the system said.
    pub answer: Answer,
    /// Wall-clock time in microseconds.
    #[serde(default)]
    pub time_us: u64,
}

/// What a system answered to the tasks of a dataset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evaluation {
    /// Name of the system.
    pub system: String,
    /// Its configuration, see [`System::config`](crate::system::System::config).
    pub config: String,
    /// One row a task, in the order of the dataset.
    pub rows: Vec<Row>,
}
