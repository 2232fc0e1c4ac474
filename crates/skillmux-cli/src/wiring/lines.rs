//! [`with_line_ends`] and [`with_blank_lines`]: what editing a file would else change of its lines.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// What may stand at the begin of a file, most of all on Windows.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Returns a text whose lines end as in the text before; new lines end as most others do.
pub(super) fn with_line_ends(text: &str, before: &str) -> String {
    let n_of_windows = before.matches("\r\n").count();
    let is_of_windows = n_of_windows > before.matches('\n').count() - n_of_windows;
    let new_end = if is_of_windows { "\r\n" } else { "\n" };
    let (old, new) = (lines(before), lines(text));
    let mut out = String::with_capacity(before.len().max(text.len()));
    let mut push = |line: &Line<'_>, end: &str| {
        out.push_str(line.content);
        // The last line may have none.
        out.push_str(if line.end.is_empty() { "" } else { end });
    };
    for op in ops(&old, &new) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            for (old, new) in old[old_index..][..len].iter().zip(&new[new_index..][..len]) {
                push(new, if old.end.is_empty() { new_end } else { old.end });
            }
        } else {
            new[op.new_range()].iter().for_each(|line| push(line, new_end));
        }
    }
    out
}

/// Returns a text with the blank lines of the text before that it lacks, also those of what was taken
/// out.
pub(super) fn with_blank_lines(text: &str, before: &str) -> String {
    let (old, new) = (lines(before), lines(text));
    let mut out = String::with_capacity(before.len().max(text.len()));
    let is_blank = |line: &&Line<'_>| line.content.trim().is_empty();
    for op in ops(&old, &new) {
        let is_same = matches!(op, DiffOp::Equal { .. });
        let gone = &old[if is_same { 0..0 } else { op.old_range() }];
        // Those at the head stood above what changed.
        let (above, below) = gone.split_at(gone.iter().take_while(is_blank).count());
        let below = below.iter().filter(is_blank);
        // One after a line without an end would be that end.
        let can_be_blank = |out: &String| out.is_empty() || out.ends_with('\n');
        if can_be_blank(&out) {
            out.extend(above.iter().flat_map(Line::parts));
        }
        out.extend(new[op.new_range()].iter().flat_map(Line::parts));
        if can_be_blank(&out) {
            out.extend(below.flat_map(Line::parts));
        }
    }
    out
}

/// A line without its end, and its end.
struct Line<'t> {
    content: &'t str,
    end: &'t str,
}

impl<'t> Line<'t> {
    fn parts(&self) -> [&'t str; 2] {
        [self.content, self.end]
    }
}

fn lines<'t>(text: &'t str) -> Vec<Line<'t>> {
    let line = |line: &'t str| {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = content.strip_suffix('\r').filter(|_| content != line).unwrap_or(content);
        Line { content, end: &line[content.len()..] }
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Returns which lines of two texts are the same, but for their ends.
fn ops(old: &[Line<'_>], new: &[Line<'_>]) -> Vec<DiffOp> {
    let [old, new] =
        [old, new].map(|lines| lines.iter().map(|line| line.content).collect::<Vec<_>>());
    capture_diff_slices(Algorithm::Myers, &old, &new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_ends_as_before() {
        let before = "a\nb\r\nc\r\nd";
        assert_eq!(with_line_ends("a\nb\nx\nc\nd\ny\n", before), "a\nb\r\nx\r\nc\r\nd\r\ny\r\n");
        assert_eq!(with_line_ends("a\nd", before), "a\nd");
        assert_eq!(with_line_ends("a\r\nb\r\n", "a\n"), "a\nb\n");
        assert_eq!(with_line_ends("a\n", ""), "a\n");
    }

    #[test]
    fn blank_lines_that_are_missing_come_back() {
        let before = "{\n\n  1\n\r\n}\n\n";
        assert_eq!(with_blank_lines("{\n\n  1,\n  2\n}\n\n", before), "{\n\n  1,\n  2\n\r\n}\n\n");
        assert_eq!(with_blank_lines(before, before), before);
        assert_eq!(with_blank_lines("{}", "{\n\n}"), "{}");
        let before = "{\n\n  1\n\n}";
        assert_eq!(with_blank_lines("{\n  1,\n  2\n}", before), "{\n\n  1,\n  2\n\n}");
        assert_eq!(with_blank_lines("{\n  1\n}", "{\n\n  1,\n  2\n\n}"), before);
    }
}
