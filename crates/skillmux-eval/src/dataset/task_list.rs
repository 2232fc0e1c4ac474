//! [`TaskList`]: the tasks of a dataset as they are read, each under an id of its own.

use std::{collections::HashSet, path::Path};

use crate::{
    error::Error,
    fault::{Fault, Place},
    printable::one_line,
    task::Task,
};

/// Tasks with one id each.
#[derive(Default)]
pub(super) struct TaskList {
    pub(super) tasks: Vec<Task>,
    ids: HashSet<String>,
}

impl TaskList {
    /// Adds a task; characters of its id that a terminal would act on are marked.
    ///
    /// # Errors
    /// [`Fault::TaskRepeated`].
    pub(super) fn push(&mut self, place: &Place, mut task: Task) -> Result<(), Error> {
        task.id = one_line(&task.id);
        if !self.ids.insert(task.id.clone()) {
            let fault = Fault::TaskRepeated { id: task.id };
            return Err(Error::Malformed { place: place.clone(), fault });
        }
        self.tasks.push(task);
        Ok(())
    }

    /// Adds a task that has no id of its own: `q-` and a hash of the query, with a number if the
    /// same query occurs again.
    pub(super) fn push_by_query(&mut self, mut task: Task) {
        let base = query_id(&task.query);
        task.id.clone_from(&base);
        for n in 2.. {
            if self.ids.insert(task.id.clone()) {
                break;
            }
            task.id = format!("{base}-{n}");
        }
        self.tasks.push(task);
    }

    /// Returns the tasks.
    ///
    /// # Errors
    /// [`Error::NoTasks`] if there is none.
    pub(super) fn finish(self, path: &Path) -> Result<Vec<Task>, Error> {
        if self.tasks.is_empty() {
            return Err(Error::NoTasks { path: path.to_owned() });
        }
        Ok(self.tasks)
    }
}

/// Returns the id of a task that is known by its query only.
fn query_id(query: &str) -> String {
    format!("q-{}", &blake3::hash(query.as_bytes()).to_hex()[..12])
}

/// Returns one entry of [`Task::slices`].
pub(super) fn slice(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_tasks_are_harmless_and_still_differ() {
        let mut tasks = TaskList::default();
        let place = Place::File { path: "x".into() };
        let mut push = |id: &str| {
            let task = Task { id: id.to_owned(), ..Task::default() };
            tasks.push(&place, task).map_err(|error| error.to_string())
        };
        push("a\u{1b}[2J\u{202e}b").unwrap();
        push("中文 id").unwrap();
        let again = push("a\u{7}[2J\u{202d}b").unwrap_err();
        assert_eq!(again, "`x`: task `a\u{fffd}[2J\u{fffd}b` occurs again");
        let ids: Vec<_> = tasks.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["a\u{fffd}[2J\u{fffd}b", "中文 id"]);
    }

    #[test]
    fn queries_that_recur_get_a_number() {
        let mut tasks = TaskList::default();
        for query in ["a", "b", "a"] {
            tasks.push_by_query(Task { query: query.to_owned(), ..Task::default() });
        }
        let ids: Vec<_> = tasks.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["q-17762fddd969", "q-10e5cf3d3c8a", "q-17762fddd969-2"]);
    }
}
