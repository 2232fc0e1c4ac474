//! Training tasks for a composer: sets of skills that work together, drawn from a graph of the
//! index, and a task for each, after `SkillComposer` section 5.1 and appendix B.

mod assignment;
mod bank;
mod draw;
mod graph;
mod joined;
mod options;
mod row;

use skillmux::{
    index::{Index, SkillIdx},
    model::{ChatModel, Encoder},
    skill::{Skill, SkillId},
};

pub use graph::GraphSize;
pub use options::{DrawReport, Meaning, QueryCounts, SetTaskOptions, SetTaskReport, SetTaskWriter};

use self::{
    assignment::SetAssignment,
    bank::QueryBank,
    draw::{DrawOptions, DrawnSet, Draws},
    graph::SkillGraph,
    joined::joined,
    row::{SET, SINGLE, SetTaskRow, mark, query_id},
};
use super::{
    name::Names,
    out::OutFile,
    refusal::{Checked, Refusal},
    sample::chance,
    task::check_not_given_away,
    text::Language,
    work::{Assignments, Draft, Likeness, Made, Rows, WorkOptions, collect, work},
};
use crate::{error::Result, file::skills_of_tasks};

/// Tasks with a larger Jaccard similarity of their sequences of three characters are duplicates
/// (`SkillComposer` appendix B.3).
const MAX_SIMILARITY: f64 = 0.6;

/// What stands for the model where queries are joined.
const JOINED: &str = "joined queries";

/// Writes tasks for sets of skills of an index, and appends those that pass all checks to a file of
/// JSON Lines; goes on where an earlier run stopped. `docs/synth.md` has the rules.
///
/// The paper compares meanings with "the cached library embedding bank"; here those of the tasks of
/// the file are compared.
///
/// # Errors
/// As for [`write_queries`](super::write_queries), and [`Error::Read`](crate::Error::Read) and
/// [`Error::TrainingData`](crate::Error::TrainingData) of the files that the options name;
/// [`Error::NoTasks`](crate::Error::NoTasks) if queries are joined and none is about a skill of the
/// index.
pub fn write_set_tasks(
    index: &Index,
    meaning: Meaning<'_>,
    writer: SetTaskWriter<'_>,
    options: &SetTaskOptions,
    work_options: &WorkOptions<'_>,
) -> Result<SetTaskReport> {
    let mut tasks: Vec<Vec<SkillId>> = Vec::new();
    for path in &options.tasks {
        tasks.extend(skills_of_tasks(path)?);
    }
    let source = match writer {
        SetTaskWriter::Chat(model) => Source::Chat(model),
        SetTaskWriter::Queries(paths) => Source::Bank(QueryBank::read(paths, index)?),
    };
    let (rows, out) = OutFile::open::<SetTaskRow>(work_options.out, "{\"query_id\":\"")?;
    let rows = Rows {
        out,
        keys: rows.iter().map(|row| row.query_id.clone()).collect(),
        marks: rows.iter().map(|row| mark(&row.query, meaning.encoder)).collect::<Result<_>>()?,
        n_before: rows.iter().filter(|row| [SINGLE, SET].contains(&row.kind.as_str())).count(),
        likeness: Likeness { max_similarity: MAX_SIMILARITY, max_cosine: meaning.max_cosine },
    };
    let graph = SkillGraph::of(index, &tasks, &|idx| source.holds(idx))?;
    let usable = [Language::En, Language::Zh].map(|language| {
        graph.nodes.iter().map(|node| source.has(node.idx, language)).collect::<Vec<bool>>()
    });
    let draw_options = DrawOptions {
        seed: work_options.seed,
        share_single: options.share_single,
        share_dependency: options.share_dependency,
        share_zh: options.share_zh,
    };
    let mut plan = Plan {
        draws: Draws::new(&graph, index, usable, draw_options),
        graph: &graph,
        index,
        encoder: meaning.encoder,
        work_options,
    };
    let mut report = match &source {
        Source::Chat(model) => work(*model, &mut plan, rows, work_options),
        Source::Bank(bank) => collect(&mut || plan.joined(bank), rows, work_options)?,
    };
    report.n_thin = graph.n_thin;
    let [n_dependency, n_workflow] = plan.draws.n_grown;
    Ok(SetTaskReport {
        work: report,
        graph: graph.size(),
        draws: DrawReport { n_dependency, n_workflow, n_repeated: plan.draws.n_repeated },
        queries: match source {
            Source::Chat(_) => None,
            Source::Bank(bank) => Some(bank.counts),
        },
    })
}

/// What the tasks are made of.
enum Source<'a> {
    Chat(&'a dyn ChatModel),
    Bank(QueryBank),
}

impl Source<'_> {
    /// Returns whether a task for a skill can be written.
    fn holds(&self, idx: SkillIdx) -> bool {
        match self {
            Self::Chat(_) => true,
            Self::Bank(bank) => bank.holds(idx),
        }
    }

    /// Returns whether it can be written in a language.
    fn has(&self, idx: SkillIdx, language: Language) -> bool {
        match self {
            Self::Chat(_) => true,
            Self::Bank(bank) => !bank.of(idx, language).is_empty(),
        }
    }
}

/// The sets to write tasks for.
struct Plan<'a> {
    draws: Draws<'a>,
    graph: &'a SkillGraph,
    index: &'a Index,
    encoder: &'a dyn Encoder,
    work_options: &'a WorkOptions<'a>,
}

impl Plan<'_> {
    fn skill(&self, node: usize) -> Result<Skill> {
        Ok(self.index.skill(self.graph.nodes[node].idx)?.skill)
    }

    /// Returns the next task that is joined of queries.
    fn joined(&mut self, bank: &QueryBank) -> Result<Option<Made>> {
        let Some(set) = self.draws.next()? else { return Ok(None) };
        let draft = match self.join(&set, bank)? {
            Checked::Accepted(query) => {
                let mark = mark(&query, self.encoder)?;
                let row = SetTaskRow::of(&set, self.graph, &set.nodes, query, (JOINED, 0));
                let row = serde_json::to_vec(&row).expect("a row has string keys only");
                Checked::Accepted(Draft { row, mark })
            }
            Checked::Refused(refusal) => Checked::Refused(refusal),
        };
        Ok(Some(Made { key: query_id(&set, self.graph), draft }))
    }

    fn join(&self, set: &DrawnSet, bank: &QueryBank) -> Result<Checked<String>> {
        let seed = self.work_options.seed;
        let mut parts: Vec<&str> = Vec::with_capacity(set.nodes.len());
        for node in &set.nodes {
            let node = &self.graph.nodes[*node];
            let queries = bank.of(node.idx, set.language);
            // A skill that comes again comes with another query, as long as there is one.
            let first = chance(seed, &["joined query", node.id.as_str()]);
            let at = first.wrapping_add(set.round) % queries.len().max(1) as u64;
            let at = usize::try_from(at).expect("it is below a count");
            match queries.get(at) {
                Some(query) => parts.push(query),
                None => return Ok(Checked::Refused(Refusal::NoQuery)),
            }
        }
        let query = joined(&parts, set.language, seed, &set.key);
        for node in &set.nodes {
            let skill = self.skill(*node)?;
            if let Err(refusal) = check_not_given_away(&query, &skill, &Names::of(&skill)) {
                return Ok(Checked::Refused(refusal));
            }
        }
        Ok(Checked::Accepted(query))
    }
}

impl<'a> Assignments for &mut Plan<'a> {
    type Item = SetAssignment<'a>;

    fn next(&mut self) -> Result<Option<SetAssignment<'a>>> {
        let Some(set) = self.draws.next()? else { return Ok(None) };
        let WorkOptions { seed, model_name, .. } = *self.work_options;
        let read = |node| self.skill(node);
        SetAssignment::new(set, self.graph, self.encoder, (seed, model_name), read).map(Some)
    }

    fn n_passed_over(&self) -> (usize, usize) {
        (0, self.graph.n_thin)
    }
}
