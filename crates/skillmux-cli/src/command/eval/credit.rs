//! Answers in which near-duplicates count as the right skill.

use skillmux_eval::{answer::Answer, cluster::Clusters, task::Task};

/// Returns what names near-duplicates of right skills as these, in an answer to a task.
pub(super) fn credited(clusters: &Clusters) -> impl Fn(&Answer, &Task) -> Answer + Sync + '_ {
    |answer, task| {
        let mut answer = answer.clone();
        answer.drop_skills(&clusters.with_copies(&task.ignored, &task.gold));
        clusters.credit(&answer, &task.gold)
    }
}
