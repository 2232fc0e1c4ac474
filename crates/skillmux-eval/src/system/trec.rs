//! [`TrecSystem`]: rankings of any other system, from a TREC run.

use std::path::{Path, PathBuf};

use super::contract::System;
use crate::{answer::Answer, dataset::Aliases, error::Error, run::Run, task::Task};

/// Answers with the rankings of a run, in the order of [`Run`]; a task that is not in it has none.
///
/// A skill counts by the id that the library keeps: of several exact copies the best one stays.
pub(super) struct TrecSystem {
    path: PathBuf,
    run: Run,
}

impl TrecSystem {
    /// Reads a run over the skills of a library.
    pub(super) fn read(path: &Path, aliases: &Aliases) -> Result<Self, Error> {
        let kept = |id: &str| aliases.resolve(id).unwrap_or(id).to_owned();
        Ok(Self { path: path.to_owned(), run: Run::read(path)?.with_ids(kept) })
    }
}

impl System for TrecSystem {
    fn name(&self) -> String {
        format!("trec:{}", self.path.display())
    }

    fn config(&self) -> String {
        format!("trec run {:016x}", self.run.fingerprint())
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        let ranking = self.run.ranking(&task.id).iter().cloned();
        let scores = self.run.scores(&task.id).iter().copied();
        Ok(Answer::of_ranking(ranking.zip(scores).take(depth)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::RunLine;

    #[test]
    fn a_run_is_answered_as_it_was_written() {
        let line = |skill_id: &str, rank, score| RunLine {
            query_id: "task 1".into(),
            document_id: skill_id.into(),
            rank,
            score,
            tag: "t".into(),
        };
        let lines = [line("a b/100%", 1, 2.5), line("c%zz\u{3000}", 2, 0.5), line("d", 3, -1.0)];
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), lines.map(|line| line.to_string()).join("\n")).unwrap();
        let system = TrecSystem::read(file.path(), &Aliases::default()).unwrap();
        let task = Task { id: "task 1".into(), ..Task::default() };

        let ranking = system.answer(&task, 2).unwrap().ranking.unwrap();

        let found: Vec<_> = ranking.iter().map(|s| (s.skill_id.as_str(), s.score)).collect();
        assert_eq!(found, [("a b/100%", 2.5), ("c%zz\u{3000}", 0.5)]);
        assert!(system.answer(&Task::default(), 2).unwrap().ranked().is_empty());
    }

    #[test]
    fn a_run_that_is_not_there_is_named() {
        let error =
            TrecSystem::read(Path::new("/nowhere/a.run"), &Aliases::default()).err().unwrap();
        assert_eq!(error.to_string(), "cannot read `/nowhere/a.run`");
    }
}
