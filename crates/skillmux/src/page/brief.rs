//! [`brief_of`]: what a node says in short, for a page that has no room for all of it.

use std::ops::Range;

use super::{
    fence::prose_lines,
    markers::{Line, step_number},
};

/// Longest first line of a step, in bytes.
const MAX_STEP_BYTES: usize = 160;

/// Longest short form of a list or a table, in bytes.
const MAX_HEAD_BYTES: usize = 600;

/// Returns the bytes of a node that stand for all of it: the head of a table, the text before a
/// list, the first line of a numbered step. `None` where there is nothing shorter that says what the
/// node is, as of code.
pub(super) fn brief_of(text: &str) -> Option<Range<usize>> {
    let brief = head_of_table(text).or_else(|| lead_in(text)).or_else(|| first_line(text))?;
    (brief.len() < text.trim_end().len()).then_some(brief)
}

/// Returns the row of names of a table, and the line below it.
fn head_of_table(text: &str) -> Option<Range<usize>> {
    let lines: Vec<Line<'_>> = prose_lines(text).collect();
    let at = lines.windows(2).position(|pair| pair[1].is_delimiter_below(&pair[0]))?;
    let (start, end) = (lines[at].start, lines[at + 1].end());
    (end - start <= MAX_HEAD_BYTES).then_some(start..end)
}

/// Returns the text before the first item of a list.
fn lead_in(text: &str) -> Option<Range<usize>> {
    let items = prose_lines(text).find(Line::is_item)?;
    let lead_in = text[..items.start].trim_end();
    (!lead_in.is_empty() && lead_in.len() <= MAX_HEAD_BYTES).then_some(0..lead_in.len())
}

/// Returns the first line of a numbered step, or its first words where the line is long; `None` of
/// several steps, and of one that begins with code.
fn first_line(text: &str) -> Option<Range<usize>> {
    step_number(text)?;
    let mut lines = prose_lines(text);
    let first = lines.next().filter(|line| line.start == 0)?;
    if lines.any(|line| step_number(line.text).is_some()) {
        return None;
    }
    let line = first.text.trim_end();
    if line.len() <= MAX_STEP_BYTES {
        return Some(0..line.len());
    }
    let clipped = &line[..line.floor_char_boundary(MAX_STEP_BYTES)];
    // Chinese has no spaces to cut at.
    let end = clipped.rfind(' ').filter(|at| 2 * at > clipped.len()).unwrap_or(clipped.len());
    Some(0..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(text: &str) -> Option<&str> {
        brief_of(text).map(|range| &text[range])
    }

    #[test]
    fn tables_lists_and_steps_have_a_short_form() {
        let table = "Options:\n\n| name | use |\n|---|---|\n| a | b |\n| c | d |";
        assert_eq!(brief(table), Some("| name | use |\n|---|---|"));
        assert_eq!(brief("| name |\n|---|"), None);
        assert_eq!(brief("Only these files:\n\n- a\n- b"), Some("Only these files:"));
        assert_eq!(brief("2. Stop it.\n   Wait for a while.\n   - a"), Some("2. Stop it."));
        assert_eq!(brief("3、先停止服务\n   等待"), Some("3、先停止服务"));
        assert_eq!(brief("**Step 2 — Stop**\nWait."), Some("**Step 2 — Stop**"));
    }

    #[test]
    fn other_nodes_have_none() {
        for text in ["", "Text.\nMore text.", "```\nls\n```", "- a\n- b", "1. a\n2. b", "1. a"] {
            assert_eq!(brief(text), None, "{text}");
        }
    }

    #[test]
    fn code_has_none() {
        for text in [
            "```yaml\njobs:\n  - a\n  - b\n```",
            "```ts\n/**\n * Handles it.\n */\nrun()\n```",
            "Write this:\n\n~~~yaml\n- a\n~~~",
            "Write this:\n\n```md\n| a |\n|---|\n| b |\n```",
            "Write this:\n\n```md\n```sh\nls\n```\n\n- a\n```",
            "1. ```sh\n   ls\n   ```",
        ] {
            assert_eq!(brief(text), None, "{text}");
        }
        let code = "Only this:\n\n```\n- x\n```";
        assert_eq!(brief(&format!("{code}\n\n- a\n- b")), Some(code));
        assert_eq!(brief("2. Run it.\n   ```\n   1. x\n   ```"), Some("2. Run it."));
    }

    #[test]
    fn a_table_needs_no_bar_at_the_begin_of_a_line() {
        let head = "name | use\n---|---";
        assert_eq!(brief(&format!("{head}\na | b\nc | d")), Some(head));
        assert_eq!(brief("a | b\n---\nc | d"), None);
    }

    #[test]
    fn long_lines_are_cut_between_words() {
        let text = format!("1. {}", "stop it ".repeat(60));
        let short = brief(&text).unwrap();
        assert!(short.len() <= MAX_STEP_BYTES && short.len() > 150);
        assert!(short.ends_with("stop") || short.ends_with("it"));
        let text = format!("1. {}", "停".repeat(90));
        assert_eq!(brief(&text).unwrap().len(), 159);
    }
}
