//! [`Decomposer`]: the port of what splits a task into needs.

use std::sync::Arc;

use super::{
    asking::{AskingWeights, Judged, judged, likely_asks},
    boilerplate::is_work,
    clause::{Clause, clauses},
    request::{requests, says_enough, without_sign},
    request_start::asks,
};
use crate::{
    error::Result,
    model::fingerprint,
    query::{Need, Query},
};

/// Splits a task into needs: short phrases, one for each capability that it asks for.
///
/// The contract, which one test suite checks for every implementation:
/// - at least one need, in the order of the task, none of them blank;
/// - the same query gives the same needs.
pub trait Decomposer: Send + Sync {
    /// Returns the name of the decomposer.
    fn identity(&self) -> String;

    /// Returns the needs.
    ///
    /// # Errors
    /// [`Error::Chat`](crate::Error::Chat) if a model that it asks fails; the decomposers of this
    /// crate ask none and never fail.
    fn decompose(&self, query: &Query) -> Result<Vec<Need>>;
}

/// Takes the whole task as one need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WholeTask;

impl Decomposer for WholeTask {
    fn identity(&self) -> String {
        "whole".to_owned()
    }

    fn decompose(&self, query: &Query) -> Result<Vec<Need>> {
        Ok(vec![Need::new(query.text())])
    }
}

/// Most needs of a task. If there are more, those that ask for something are kept.
const MAX_NEEDS: usize = 8;

/// Probability below which a piece of a long task hardly asks for anything. Chosen by
/// `long-requests.jsonl` of `datasets/`.
const HARDLY_ASKS: f32 = 0.1;

/// Takes each request of a clause that asks for work as a need; the whole task where there are
/// fewer than two.
///
/// With weights, a long task of which most is background gives the pieces that most likely ask for
/// something.
#[derive(Debug, Clone, Default)]
pub struct ByClause {
    asking: Option<Arc<AskingWeights>>,
}

impl ByClause {
    /// Returns a decomposer that tells with these weights what asks for something in a long task.
    pub fn with_asking(asking: impl Into<Arc<AskingWeights>>) -> Self {
        Self { asking: Some(asking.into()) }
    }
}

impl Decomposer for ByClause {
    fn identity(&self) -> String {
        let weights = self.asking.as_ref();
        weights.map_or_else(|| "clauses".to_owned(), |w| format!("clauses {}", fingerprint(&**w)))
    }

    fn decompose(&self, query: &Query) -> Result<Vec<Need>> {
        let task = query.text();
        let judged = self.asking.as_ref().and_then(|weights| judged(task, weights));
        let needs = judged.map_or_else(|| by_rules(task), |judged| by_asking(task, judged));
        if needs.len() < 2 { WholeTask.decompose(query) } else { Ok(needs) }
    }
}

/// Returns the pieces that most likely ask for something, in their order.
fn by_asking(task: &str, mut judged: Vec<Judged>) -> Vec<Need> {
    judged.retain(|(piece, asks)| {
        likely_asks(*asks) || *asks >= HARDLY_ASKS && is_work(piece.weight)
    });
    judged.sort_by(|a, b| b.1.total_cmp(&a.1));
    judged.truncate(MAX_NEEDS);
    judged.sort_by_key(|(piece, _)| piece.range.start);
    let need = |(piece, probability): Judged| Need::part(tidy(&task[piece.range]), probability);
    judged.into_iter().map(need).collect()
}

/// Returns the requests of clauses that ask for work.
fn by_rules(task: &str) -> Vec<Need> {
    let work = clauses(task).into_iter().filter(|clause| is_work(clause.weight));
    let requests = |clause: Clause| {
        let text = &task[clause.range];
        requests(text).into_iter().map(move |range| tidy(&text[range]))
    };
    let texts: Vec<&str> = work.flat_map(requests).filter(|text| says_enough(text)).collect();
    let asking = (0..texts.len()).filter(|at| asks(texts[*at]));
    let others = (0..texts.len()).filter(|at| !asks(texts[*at]));
    let mut kept: Vec<usize> = asking.chain(others).take(MAX_NEEDS).collect();
    kept.sort_unstable();
    kept.into_iter().map(|at| Need::new(texts[at])).collect()
}

/// Returns a piece without a sign before it and a comma behind it.
fn tidy(text: &str) -> &str {
    without_sign(text.trim()).trim_end_matches([',', ';', '，', '；', '、'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decompose::{N_ASKING_FEATURES, pieces};

    const TASKS: [&str; 5] = [
        "merge the PDF files",
        "Merge the PDF files. Then translate the summary into German.",
        "# Report\n- Clean the table\n- Draw a chart\n\n## Acceptance criteria\n- must be done by noon",
        "清洗数据表格，然后画一张折线图并写成周报。",
        "?? a",
    ];

    /// Returns a decomposer to which the pieces that begin with a word ask for something.
    fn by_asking_of(word: &str) -> ByClause {
        let features = |task: &str| pieces(task).remove(0).features;
        let asking = features(&format!("{word} wait."));
        let telling = features("Ships wait.");
        let mut weights = vec![0; N_ASKING_FEATURES];
        weights[0] = -600;
        for at in asking.iter().filter(|at| !telling.contains(at)) {
            weights[usize::from(*at)] = 400;
        }
        ByClause::with_asking(AskingWeights::new(weights).unwrap())
    }

    fn texts(decomposer: &dyn Decomposer, task: &str) -> Vec<String> {
        let needs = decomposer.decompose(&Query::new(task).unwrap()).unwrap();
        needs.iter().map(|need| need.text().to_owned()).collect()
    }

    #[test]
    fn every_decomposer_keeps_the_contract() {
        let piers: Vec<String> =
            (1..30).map(|n| format!("Pier {n} has an old crane of its own.")).collect();
        let long = format!(
            "{} Please count the ships. It rained. Please sum up the log.",
            piers.join(" ")
        );
        let by_asking = by_asking_of("Please");
        assert_eq!(texts(&by_asking, &long), ["Please count the ships.", "Please sum up the log."]);
        for decomposer in [&WholeTask as &dyn Decomposer, &ByClause::default(), &by_asking] {
            for task in TASKS.into_iter().chain([&*long]) {
                let needs = texts(decomposer, task);
                assert!(!needs.is_empty(), "{task}");
                assert!(needs.iter().all(|need| !need.trim().is_empty()), "{task}");
                assert_eq!(needs, texts(decomposer, task));
                let places: Vec<_> = needs.iter().map(|need| task.find(need).unwrap()).collect();
                assert!(places.is_sorted(), "{task}");
            }
        }
    }

    #[test]
    fn a_long_story_does_not_push_out_what_is_asked_for() {
        let story = "The harbour has nine piers and a crane. ".repeat(12);
        let task = format!("{story}Please count the ships. 然后请把结果整理成表格。");
        let needs = texts(&ByClause::default(), &task);
        assert_eq!(needs.len(), MAX_NEEDS);
        assert_eq!(needs[MAX_NEEDS - 2..], ["Please count the ships.", "然后请把结果整理成表格。"]);
    }

    #[test]
    fn work_is_a_need_and_conditions_are_not() {
        let task = TASKS[2];
        assert_eq!(texts(&WholeTask, task), [task]);
        assert_eq!(
            texts(&ByClause::default(), task),
            ["Report", "Clean the table", "Draw a chart"]
        );
        assert_eq!(texts(&ByClause::default(), TASKS[0]), [TASKS[0]]);
    }
}
