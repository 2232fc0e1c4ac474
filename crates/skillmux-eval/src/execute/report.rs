//! A [`Pilot`] as a table.

use super::pilot::Pilot;
use crate::{
    printable::{code, json, one_line},
    report::{Align, NONE, Table, fixed},
    stats::Interval,
};

impl Pilot {
    /// Returns the scores for a terminal.
    pub fn to_text(&self) -> String {
        format!("{}\n\n{}", one_line(&self.head_line(&self.system)), self.table().to_text())
    }

    /// Returns the scores in the Markdown of GitHub.
    pub fn to_markdown(&self) -> String {
        format!("{}\n\n{}", self.head_line(&code(&self.system)), self.table().to_markdown())
    }

    /// Returns the pilots of some systems as JSON.
    pub fn to_json(pilots: &[Self]) -> String {
        json(&pilots)
    }

    fn head_line(&self, system: &str) -> String {
        let Self { n_tasks, n_without_plan, config, .. } = self;
        format!(
            "{system}: tasks {n_tasks}, without a plan {n_without_plan}; trials {}, seed {}, retries {}, substitutes {}",
            config.n_trials, config.seed, config.n_retries, config.n_substitutes
        )
    }

    fn table(&self) -> Table {
        let names = ["help", "SES", "CCR", "done", "all done", "calls"];
        let align = |name: &str| if name == "help" { Align::Left } else { Align::Right };
        let mut table = Table::new(names.map(|name| (name.to_owned(), align(name))));
        for policy in &self.policies {
            let help = match (policy.retries, policy.substitutes) {
                (false, false) => "none",
                (true, false) => "retries",
                (false, true) => "substitutes",
                (true, true) => "both",
            };
            let scores = [&policy.ses, &policy.ccr, &policy.done, &policy.all_done].map(cell);
            let calls = format!("{:.1}", policy.n_calls);
            table.push(std::iter::once(help.to_owned()).chain(scores).chain([calls]).collect());
        }
        table
    }
}

fn cell(interval: &Interval) -> String {
    if interval.n == 0 {
        return NONE.to_owned();
    }
    format!("{} [{}, {}]", fixed(interval.mean), fixed(interval.low), fixed(interval.high))
}
