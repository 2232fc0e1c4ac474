//! Tables of text, for terminals and Markdown.

use crate::printable::width;

/// Which edge of a column its cells keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A head and rows of as many cells; the cells are harmless already.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: impl IntoIterator<Item = (String, Align)>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn widths(&self) -> Vec<usize> {
        let of_column = |(at, (name, _)): (usize, &(String, Align))| {
            let cells = self.rows.iter().map(|row| width(&row[at]));
            cells.fold(width(name), usize::max)
        };
        self.columns.iter().enumerate().map(of_column).collect()
    }

    /// Returns the columns that a line takes.
    pub(crate) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
    }

    /// Returns the table with its columns in line; no line ends with blanks.
    pub(crate) fn to_text(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        let mut push_line = |cells: &[&str]| {
            let mut line = String::new();
            for (at, (cell, n_columns)) in cells.iter().zip(&widths).enumerate() {
                if at > 0 {
                    line.push_str(GAP);
                }
                let blanks = " ".repeat(n_columns.saturating_sub(width(cell)));
                match self.columns[at].1 {
                    Align::Left => line.extend([cell, blanks.as_str()]),
                    Align::Right => line.extend([blanks.as_str(), cell]),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        };
        push_line(&self.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
        let rules: Vec<String> = widths.iter().map(|n| "─".repeat(*n)).collect();
        push_line(&rules.iter().map(String::as_str).collect::<Vec<_>>());
        for row in &self.rows {
            push_line(&row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        text
    }

    /// Returns the names of the columns.
    pub(crate) fn head(&self) -> impl Iterator<Item = (&str, Align)> {
        self.columns.iter().map(|(name, align)| (name.as_str(), *align))
    }

    /// Returns the cells of each row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = (&str, Align)>> {
        let aligns = || self.columns.iter().map(|(_, align)| *align);
        self.rows.iter().map(move |row| row.iter().map(String::as_str).zip(aligns()))
    }

    /// Returns the table in the Markdown of GitHub.
    pub(crate) fn to_markdown(&self) -> String {
        let line = |cells: &[&str]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let rule = |align| if align == Align::Left { "---" } else { "---:" };
        let rules: Vec<&str> = self.columns.iter().map(|(_, align)| rule(*align)).collect();
        let mut text = line(&names) + &line(&rules);
        for row in &self.rows {
            text += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        text
    }
}

/// What stands between two columns.
const GAP: &str = "  ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_line_whatever_the_script() {
        let mut table =
            Table::new([("name".to_owned(), Align::Left), ("n".to_owned(), Align::Right)]);
        table.push(vec!["合并".to_owned(), "12".to_owned()]);
        table.push(vec!["a".to_owned(), "3".to_owned()]);
        let expected = "name   n\n────  ──\n合并  12\na      3\n";
        assert_eq!(table.to_text(), expected);
        assert_eq!(table.width(), 8);
        assert_eq!(table.to_markdown(), "| name | n |\n| --- | ---: |\n| 合并 | 12 |\n| a | 3 |\n");
    }
}
