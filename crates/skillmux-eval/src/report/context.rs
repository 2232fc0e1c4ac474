//! [`Context`]: what every part of a report is made from.

use super::{
    scores::{SystemScores, TaskScores, View},
    summary::{Measured, ReportOptions},
};
use crate::{metric::Measure, stats};

/// What every part of a report is made from.
pub(super) struct Context<'a> {
    pub(super) scores: &'a TaskScores<'a>,
    pub(super) measures: &'a [&'static Measure],
    pub(super) headline: &'a [&'a str],
    pub(super) baseline: &'a SystemScores<'a>,
    pub(super) options: &'a ReportOptions<'a>,
}

impl Context<'_> {
    /// Returns the means of measures, over all tasks or those at some positions.
    pub(super) fn measured(
        &self,
        system: &SystemScores<'_>,
        view: View,
        names: &[&str],
        tasks: Option<&[usize]>,
    ) -> Vec<Measured> {
        let column = |name: &&str| {
            let column = system.column(view, name);
            tasks.map_or_else(
                || column.to_vec(),
                |tasks| tasks.iter().map(|task| column[*task]).collect(),
            )
        };
        let (names, columns): (Vec<&str>, Vec<Vec<Option<f64>>>) = names
            .iter()
            .map(|name| (*name, column(name)))
            .filter(|(_, column)| column.iter().any(Option::is_some))
            .unzip();
        let intervals = stats::bootstrap_means(&columns, &self.options.bootstrap);
        let pairs = names.into_iter().zip(intervals);
        pairs.map(|(name, interval)| Measured::new(name, &interval)).collect()
    }
}
