//! The verdict of a gate for a terminal.

use std::fmt::Write;

use super::{Gate, GateComparison, GateDataset, GateSlice, Verdict};
use crate::{
    printable::one_line,
    report::{
        number::{fixed, grouped},
        table::{Align, Table},
        text::{MARK, difference, wrapped},
    },
};

/// Reasons that the last line names at most.
const N_REASONS: usize = 3;

impl Gate {
    /// Returns the comparisons for a terminal of so many columns; the verdict is the last line.
    pub fn to_text(&self, width: usize) -> String {
        let mut text = String::new();
        for GateDataset { name, old, new, setting, n_tasks, .. } in &self.datasets {
            let n_tasks = grouped(*n_tasks as u64);
            let head = format!("{} · {n_tasks} tasks{}", one_line(name), setting.line());
            text.push_str(&wrapped(&head, width));
            let _ = writeln!(text, "  old  {}\n  new  {}", one_line(old), one_line(new));
        }
        let _ = write!(text, "\n{}\n{}", self.table().to_text(), wrapped(&self.note(), width));
        let _ = writeln!(text, "\n{}", self.last_line());
        text
    }

    fn table(&self) -> Table {
        let columns = [
            ("dataset", Align::Left),
            ("slice", Align::Left),
            ("measure", Align::Left),
            ("tasks", Align::Right),
            ("old", Align::Right),
            ("new", Align::Right),
            ("difference", Align::Left),
            ("verdict", Align::Left),
        ];
        let mut table = Table::new(columns.map(|(name, align)| (name.to_owned(), align)));
        for (dataset, comparison) in self.comparisons() {
            let GateComparison { slice, verdict, old, new, test } = comparison;
            table.push(vec![
                one_line(&dataset.name),
                slice.as_ref().map_or("all".to_owned(), slice_name),
                test.measure.clone(),
                grouped(test.n as u64),
                fixed(*old),
                fixed(*new),
                difference(test),
                verdict.in_words().to_owned(),
            ]);
        }
        table
    }

    fn comparisons(&self) -> impl Iterator<Item = (&GateDataset, &GateComparison)> {
        self.datasets
            .iter()
            .flat_map(|dataset| dataset.comparisons.iter().map(move |found| (dataset, found)))
    }

    fn note(&self) -> String {
        format!(
            "Differences are new less old with {:.0} % intervals (paired bootstrap, {} resamples, \
             seed {}), {}. Worse: the whole interval is below 0. Not worse: it reaches 0, and its \
             lower end is the drop that is not ruled out. Fewer than {} tasks cannot tell. Each \
             comparison is judged by itself: of {} between equally good rankings, up to {:.1} look \
             worse by chance. {MARK} is below 0.05 after Holm's correction for their number.",
            self.level * 100.0,
            grouped(self.n_resamples as u64),
            self.seed,
            self.view.label(),
            grouped(self.min_tasks as u64),
            grouped(self.n_judged as u64),
            self.n_judged as f64 * (1.0 - self.level)
        )
    }

    fn last_line(&self) -> String {
        let n = |verdict| self.comparisons().filter(|(_, found)| found.verdict == verdict).count();
        if self.is_promoted {
            let n_judged = grouped(self.n_judged as u64);
            let small = match n(Verdict::CannotTell) {
                0 => String::new(),
                n => format!("; {} more have too few tasks to tell", grouped(n as u64)),
            };
            return format!("promoted: none of {n_judged} comparisons is worse{small}");
        }
        let blocking: Vec<_> = self.comparisons().filter(|(_, found)| found.blocks()).collect();
        let reason = |(dataset, found): &(&GateDataset, &GateComparison)| {
            let name = one_line(&dataset.name);
            let slice = found.slice.as_ref().map(slice_name);
            let slice = slice.map_or_else(String::new, |slice| format!(" ({slice})"));
            let measure = &found.test.measure;
            match found.verdict {
                Verdict::CannotTell => {
                    format!("{} tasks of {name} cannot tell about {measure}", found.test.n)
                }
                _ => format!("{measure} of {name}{slice} is worse"),
            }
        };
        let mut reasons: Vec<String> = blocking.iter().take(N_REASONS).map(reason).collect();
        if blocking.len() > N_REASONS {
            reasons.push(format!("{} more", grouped((blocking.len() - N_REASONS) as u64)));
        }
        format!("not promoted: {}", reasons.join("; "))
    }
}

impl Verdict {
    fn in_words(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::NotWorse => "not worse",
            Self::Better => "better",
            Self::Same => "the same",
            Self::CannotTell => "cannot tell",
        }
    }
}

fn slice_name(GateSlice { key, value }: &GateSlice) -> String {
    one_line(&format!("{key} {value}"))
}
