//! [`Needs`]: what tasks ask for, as an agent or a language model wrote it down.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use skillmux::query::Query;

use super::record;
use crate::{error::Error, fault::Fault, task::Task};

/// The needs of tasks, by the id of the task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs(BTreeMap<String, Vec<String>>);

impl Needs {
    /// Reads a file of JSON Lines, one `{"query_id": ..., "needs": [...]}` a task.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a line without an id, with another kind of needs, or with the id of
    /// a line before; [`Error::NeedRefused`] for needs that [`Query::with_needs`] does not take;
    /// [`Error::Json`] and [`Error::Read`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut needs_of = BTreeMap::new();
        record::for_each_record(path, &mut |record| {
            let id = record.text("query_id")?.to_owned();
            let mut needs = Vec::new();
            for need in record.list("needs")? {
                let Some(need) = need.as_str() else {
                    let expected = "a list of texts";
                    return Err(record.fault(Fault::FieldKind { field: "needs", expected }));
                };
                needs.push(need.to_owned());
            }
            // Which task it is does not matter here.
            let checked = Query::new("task").and_then(|query| query.with_needs(&needs));
            if let Err(error) = checked {
                let (place, source) = (record.place, Box::new(error));
                return Err(Error::NeedRefused { place, source });
            }
            if needs_of.insert(id.clone(), needs).is_some() {
                return Err(record.fault(Fault::TaskRepeated { id }));
            }
            Ok(())
        })?;
        Ok(Self(needs_of))
    }

    /// Gives each task its needs, and returns how many tasks have some.
    pub fn give(&self, tasks: &mut [Task]) -> usize {
        let mut n_given = 0;
        for task in tasks {
            if let Some(needs) = self.0.get(&task.id) {
                task.needs.clone_from(needs);
                n_given += usize::from(!needs.is_empty());
            }
        }
        n_given
    }

    /// Returns how many ids are those of none of the tasks.
    pub fn n_unknown(&self, tasks: &[Task]) -> usize {
        let known: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        self.0.keys().filter(|id| !known.contains(id.as_str())).count()
    }

    /// Returns the number of ids.
    pub fn n_tasks(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(text: &str) -> Result<Needs, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("needs.jsonl");
        fs::write(&path, text).unwrap();
        Needs::read(&path)
    }

    #[test]
    fn tasks_get_their_needs_by_id() {
        let needs = read(
            "{\"query_id\": \"a\", \"needs\": [\"read CSV\", \"draw a chart\"]}\n\
             {\"query_id\": \"b\", \"needs\": []}\n",
        );
        let task = |id: &str| Task { id: id.to_owned(), ..Task::default() };
        let mut tasks = [task("a"), task("b"), task("c")];
        let needs = needs.unwrap();
        assert_eq!(needs.give(&mut tasks), 1);
        assert_eq!((needs.n_unknown(&tasks), needs.n_tasks()), (0, 2));
        assert_eq!(needs.n_unknown(&tasks[1..]), 1);
        assert_eq!(tasks.map(|task| task.needs.len()), [2, 0, 0]);
    }

    #[test]
    fn a_line_that_holds_no_needs_is_named() {
        for (text, message) in [
            ("{\"needs\": []}", "query_id"),
            ("{\"query_id\": \"a\"}", "needs"),
            ("{\"query_id\": \"a\", \"needs\": [1]}", "a list of texts"),
            ("{\"query_id\": \"a\", \"needs\": []}\n{\"query_id\": \"a\", \"needs\": []}", "`a`"),
        ] {
            let error = read(text).unwrap_err();
            let error = format!("{:?}", causes(&error));
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn needs_that_the_engine_refuses_are_named() {
        let many = (0..17).map(|n| format!("\"need {n}\"")).collect::<Vec<_>>().join(",");
        for (needs, message) in [
            ("\"read CSV\",\"...\"", "need 2 has no letter or digit"),
            (many.as_str(), "need 17 is too many: at most 16 are taken"),
        ] {
            let error = read(&format!("\n{{\"query_id\":\"a\",\"needs\":[{needs}]}}")).unwrap_err();
            let [place, cause] = &causes(&error)[..] else { panic!("two causes") };
            assert!(place.ends_with("needs.jsonl`, line 2"), "{place}");
            assert_eq!(cause, message);
            assert!(error.hint().unwrap().starts_with("pass short phrases"));
        }
    }

    /// Returns an error with its causes.
    fn causes(error: &dyn std::error::Error) -> Vec<String> {
        std::iter::successors(Some(error), |error| error.source())
            .map(ToString::to_string)
            .collect()
    }
}
