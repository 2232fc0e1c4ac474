//! [`Dataset`]: tasks, and what belongs to them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use skillmux::skill::Skill;

use super::aliases::Aliases;
use crate::task::{Gold, Task};

/// Tasks, and what belongs to them.
#[derive(Debug, Clone, Default)]
pub struct Dataset {
    /// Name for reports, such as `skillrouter`.
    pub name: String,
    /// Tasks that count, in the order of the file.
    pub tasks: Vec<Task>,
    /// Number of tasks that the dataset holds but does not score.
    pub n_unscored: usize,
    /// Number of queries that are judged but not among the tasks, as of other qrels.
    pub n_unasked: usize,
    /// Functional category by skill id, for category recall; empty if the dataset has none.
    pub categories: BTreeMap<String, String>,
    /// The skills to choose from, if the dataset brings them.
    pub library: Option<DatasetLibrary>,
}

/// The skills that a dataset brings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DatasetLibrary {
    /// Files that [`skillmux::library::Library::open`] reads.
    Paths(Vec<PathBuf>),
    /// Skills of a format of the dataset's own.
    Skills(Vec<Skill>),
}

/// What [`Dataset::bind`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    /// Ids of gold skills that are copies of another skill, by whose id the library knows them.
    pub renamed: BTreeMap<String, String>,
    /// Gold skills that the library does not have: no system can find them.
    pub missing: BTreeSet<String>,
}

impl Dataset {
    /// Gives every skill the id by which the library knows it, and says which gold skills it does
    /// not have.
    ///
    /// A library keeps one of several exact duplicates; the ids of the others would never be found.
    pub fn bind(&mut self, aliases: &Aliases) -> Binding {
        let mut binding = Binding::default();
        let known = |id: &str| aliases.resolve(id).unwrap_or(id).to_owned();
        for task in &mut self.tasks {
            for (id, _) in task.gold.iter() {
                match aliases.resolve(id) {
                    None => {
                        binding.missing.insert(id.to_owned());
                    }
                    Some(kept) if kept != id => {
                        binding.renamed.insert(id.to_owned(), kept.to_owned());
                    }
                    Some(_) => {}
                }
            }
            for gold in [&mut task.gold, &mut task.partial] {
                let mut bound = Gold::default();
                for (id, grade) in gold.iter() {
                    let id = known(id);
                    let grade = grade.max(bound.grade(&id));
                    bound.insert(id, grade);
                }
                *gold = bound;
            }
            for set in [&mut task.rejected, &mut task.ignored] {
                *set = set.iter().map(|id| known(id)).collect();
            }
            task.rejected.retain(|id| !task.gold.contains(id));
            task.ignored.retain(|id| !task.gold.contains(id));
            task.order = task.order.iter().map(|id| known(id)).collect();
            for step in &mut task.steps {
                step.skill_id = step.skill_id.as_deref().map(known);
            }
            if let Some(evidence) = &mut task.evidence {
                evidence.skill_id = known(&evidence.skill_id);
            }
        }
        let categories = std::mem::take(&mut self.categories);
        self.categories = categories.into_iter().map(|(id, name)| (known(&id), name)).collect();
        binding
    }
}
