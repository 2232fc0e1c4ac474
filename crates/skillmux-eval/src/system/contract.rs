//! [`System`]: what everything that is measured keeps to.

use std::time::Duration;

use crate::{answer::Answer, error::Error, task::Task};

/// Something that answers tasks.
///
/// The same system gives the same answer to the same task, whatever was asked before, from any
/// thread. A ranking is sorted by falling score, and ties by rising id, but for one that was read
/// from a file, which has the order of [`Run`](crate::Run). Its begin does not depend on its depth,
/// up to a depth of 100. A skill that the index merged with exact copies is named by the id that
/// the index kept, wherever an answer names it: copies share a place.
pub trait System: Sync {
    /// Returns the name for tables, such as `bm25`.
    fn name(&self) -> String;

    /// Returns everything that the answers depend on, but for the library, as a short text; results
    /// of another configuration are not mixed with these.
    fn config(&self) -> String;

    /// Returns the answer to a task, with a ranking of at most `depth` skills.
    ///
    /// # Errors
    /// As the system says.
    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error>;

    /// Returns the answer, and how long a user would have waited for it: without what is only there
    /// to be measured. `clock` returns the time since some fixed moment.
    ///
    /// # Errors
    /// As for [`System::answer`].
    fn timed_answer(
        &self,
        task: &Task,
        depth: usize,
        clock: fn() -> Duration,
    ) -> Result<(Answer, Duration), Error> {
        let started = clock();
        let answer = self.answer(task, depth)?;
        Ok((answer, clock().saturating_sub(started)))
    }

    /// Returns the answer to a task that the system can't be asked: it finds, loads and shows
    /// nothing.
    ///
    /// A part that the system never says is absent here, too.
    fn empty_answer(&self) -> Answer {
        Answer::of_ranking([])
    }
}
