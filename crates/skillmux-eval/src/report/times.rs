//! [`Times`]: how long systems took, apart from the report because no two runs agree.

use serde::Serialize;

use super::{
    number::{grouped, time},
    table::{Align, Table},
};
use crate::{evaluate::Evaluation, metric::latency::Latency, printable::one_line};

/// How long systems took for a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Times {
    /// The systems whose times are known.
    pub systems: Vec<SystemTimes>,
}

/// How long one system took for a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemTimes {
    /// Name of the system.
    pub system: String,
    /// The percentiles.
    pub latency: Latency,
}

impl Times {
    /// Returns the percentiles of the systems; without those that have no times.
    pub fn new(evaluations: &[Evaluation]) -> Self {
        let of_system = |evaluation: &Evaluation| {
            let latency = Latency::of(evaluation.rows.iter().map(|row| row.time_us));
            let system = evaluation.system.clone();
            (latency.max_us > 0).then_some(SystemTimes { system, latency })
        };
        Self { systems: evaluations.iter().filter_map(of_system).collect() }
    }

    /// Returns a table for a terminal; nothing if no times are known.
    pub fn to_text(&self) -> String {
        if self.systems.is_empty() { String::new() } else { self.table(one_line).to_text() }
    }

    pub(super) fn table(&self, name: impl Fn(&str) -> String) -> Table {
        let numbers = ["p50", "p90", "p99", "tasks"];
        let mut table = Table::new(
            std::iter::once(("time a task".to_owned(), Align::Left))
                .chain(numbers.map(|name| (name.to_owned(), Align::Right))),
        );
        for times in &self.systems {
            table.push(times.cells(name(&times.system)));
        }
        table
    }
}

impl SystemTimes {
    /// Returns the cells of a line.
    pub(crate) fn cells(&self, name: String) -> Vec<String> {
        let Latency { n, p50_us, p90_us, p99_us, .. } = self.latency;
        let times = [p50_us, p90_us, p99_us].map(|time_us| time(time_us as f64));
        [vec![name], times.to_vec(), vec![grouped(n as u64)]].concat()
    }
}
