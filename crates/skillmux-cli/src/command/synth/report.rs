//! [`Report`]: what a run wrote, and what it refused.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use serde::Serialize;
use skillmux::text::one_line;
use skillmux_train::synth::{DrawReport, GraphSize, QueryCounts, SetTaskReport, WorkReport};

use crate::{
    args::Format,
    render::{
        paint::{self, grouped, styled},
        print_json, print_text,
    },
};

/// What `--format json` prints, and what the text is made of.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// In the plural.
    #[serde(skip)]
    what: &'static str,
    out: String,
    n_wanted: usize,
    n_before: usize,
    n_written: usize,
    n_given_up: usize,
    n_failed: usize,
    n_requests: usize,
    n_tokens_sent: u64,
    n_tokens_received: u64,
    refusals: BTreeMap<&'static str, usize>,
    n_near_duplicates: usize,
    n_thin: usize,
    is_exhausted: bool,
    is_stopped: bool,
    #[serde(flatten)]
    graph: Option<GraphLines>,
}

/// The graph that tasks were drawn from.
#[derive(Debug, Serialize)]
pub(super) struct GraphLines {
    graph: GraphSize,
    draws: DrawReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    queries: Option<QueryCounts>,
}

impl GraphLines {
    pub(super) fn of(report: &SetTaskReport) -> Self {
        let SetTaskReport { graph, draws, queries, .. } = report;
        Self { graph: graph.clone(), draws: draws.clone(), queries: queries.clone() }
    }

    fn write(&self, out: &mut String) {
        let Self { graph, draws, queries } = self;
        let mut line = |name: &str, n: usize, note: &str| {
            let _ = writeln!(out, "  {name:<11}{:>9}  {note}", grouped(n));
        };
        line("skills", graph.n_skills, "that say enough");
        let drawn = |n: usize| format!("pairs; tasks follow {} of this kind", grouped(n));
        line("dependency", graph.n_dependency, &drawn(draws.n_dependency));
        line("workflow", graph.n_workflow, &drawn(draws.n_workflow));
        for (ground, n) in &graph.n_by_ground {
            let note = match *ground {
                "task" => "of these pairs stand in a task",
                "mention" => "in which one names the other",
                "folder" => "lie in one folder",
                _ => "share rare words",
            };
            line("", *n, note);
        }
        line("repeated", draws.n_repeated, "sets that were drawn before");
        if let Some(QueryCounts { n_read, n_usable, n_skills, refusals }) = queries {
            let _ = writeln!(out, "\n{}", styled(paint::STRONG, "queries"));
            let mut line = |n: usize, note: &str| {
                let _ = writeln!(out, "  {:>9}  {note}", grouped(n));
            };
            line(*n_read, "about skills of the index");
            line(*n_usable, &format!("can be joined, about {} skills", grouped(*n_skills)));
            for (reason, n) in most_first(refusals) {
                line(n, reason);
            }
        }
    }
}

/// Returns reasons with the most frequent first; ties are in the order of the names.
fn most_first(reasons: &BTreeMap<&'static str, usize>) -> Vec<(&'static str, usize)> {
    let mut reasons: Vec<(&str, usize)> = reasons.iter().map(|(reason, n)| (*reason, *n)).collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    reasons
}

impl Report {
    pub(super) fn new(work: &WorkReport, what: &'static str, out: &Path, n_wanted: usize) -> Self {
        Self {
            what,
            out: out.display().to_string(),
            n_wanted,
            n_before: work.n_before,
            n_written: work.n_written,
            n_given_up: work.n_given_up,
            n_failed: work.n_failed,
            n_requests: work.n_requests,
            n_tokens_sent: work.n_tokens_sent,
            n_tokens_received: work.n_tokens_received,
            refusals: work.refusals.clone(),
            n_near_duplicates: work.n_near_duplicates,
            n_thin: work.n_thin,
            is_exhausted: work.is_exhausted,
            is_stopped: work.stopped.is_some(),
            graph: None,
        }
    }

    pub(super) fn with_graph(self, graph: Option<GraphLines>) -> Self {
        Self { graph, ..self }
    }

    /// Returns whether the file holds nothing of what was asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.n_before + self.n_written == 0
    }

    pub(super) fn print(&self, format: Format) -> anyhow::Result<()> {
        match format {
            Format::Text => Ok(print_text(&self.text())?),
            Format::Json => print_json(self),
        }
    }

    /// Returns what is written, in the number that fits.
    fn noun(&self, n: usize) -> &str {
        if n == 1 { self.what.trim_end_matches('s') } else { self.what }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let n_present = grouped(self.n_before + self.n_written);
        let _ = writeln!(
            out,
            "{} {} {}; {} holds {n_present} of {}\n",
            styled(paint::GOOD, "written"),
            grouped(self.n_written),
            self.noun(self.n_written),
            one_line(&self.out),
            grouped(self.n_wanted),
        );
        let mut row = |name: &str, n: usize, note: &str| {
            let line = format!("  {name:<11}{:>7}  {note}", grouped(n));
            let _ = writeln!(out, "{}", line.trim_end());
        };
        let tokens = format!(
            "requests; about {} tokens sent and {} received",
            grouped(self.n_tokens_sent),
            grouped(self.n_tokens_received)
        );
        row("asked", self.n_requests, &tokens);
        let is_joined = self.graph.as_ref().is_some_and(|graph| graph.queries.is_some());
        let refused = if is_joined { "tasks that were joined" } else { "answers" };
        row("refused", self.refusals.values().sum(), refused);
        row(
            "given up",
            self.n_given_up,
            &format!("{}, each answer to which was refused", self.noun(self.n_given_up)),
        );
        row(
            "failed",
            self.n_failed,
            &format!("{}, for which the endpoint gave no answer", self.noun(self.n_failed)),
        );
        let passed_over = format!(
            "skills: {} near-duplicates, {} that say too little",
            grouped(self.n_near_duplicates),
            grouped(self.n_thin)
        );
        row("passed over", self.n_near_duplicates + self.n_thin, &passed_over);
        if !self.refusals.is_empty() {
            let _ = writeln!(out, "\n{}", styled(paint::STRONG, "refused"));
            for (reason, n) in most_first(&self.refusals) {
                let _ = writeln!(out, "  {:>7}  {reason}", grouped(n));
            }
        }
        if let Some(graph) = &self.graph {
            let _ = writeln!(out, "\n{}", styled(paint::STRONG, "graph"));
            graph.write(&mut out);
        }
        if self.is_stopped {
            out.push_str("\nStopped early; the same command goes on from here.\n");
        } else if self.is_exhausted && self.n_before + self.n_written < self.n_wanted {
            out.push_str(match &self.graph {
                Some(_) => "\nThe graph has no more sets to write tasks for.\n",
                None => "\nThe library has no more skills to ask about.\n",
            });
        }
        out
    }
}
