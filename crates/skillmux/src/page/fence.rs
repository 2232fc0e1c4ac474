//! [`prose_lines`]: the lines of a text that are no code.

use super::markers::{Line, after_item_mark};

/// Returns the lines that stand in no fenced code block, without the fences.
///
/// A fence with a language within a block opens another one. Where that leaves a block without an
/// end, all lines from there on are code.
pub(super) fn prose_lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut outer: Option<Fence> = None;
    let mut depth = 0_usize;
    Line::all(text).filter(move |line| {
        let Some(open) = outer else {
            outer = Fence::opened_by(line.text);
            return outer.is_none();
        };
        match Fence::of(line.text).filter(|fence| fence.is_of(&open)) {
            Some(fence) if !fence.is_bare => depth += 1,
            Some(_) if depth > 0 => depth -= 1,
            Some(_) => outer = None,
            None => {}
        }
        false
    })
}

/// Three or more backticks or tildes at the begin of a line.
#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    n_marks: usize,
    /// Whether nothing follows.
    is_bare: bool,
}

impl Fence {
    /// Returns the fence of a line, which may stand in a quote.
    fn of(line: &str) -> Option<Self> {
        let text = line.trim_start_matches([' ', '\t', '>']).trim_end();
        let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let n_marks = text.bytes().take_while(|byte| *byte == mark).count();
        let info = &text[n_marks..];
        // Backticks with others after them are code within a line.
        let is_fence = n_marks >= 3 && !(mark == b'`' && info.contains('`'));
        is_fence.then_some(Self { mark, n_marks, is_bare: info.is_empty() })
    }

    /// Returns the fence of a line, which may begin an item.
    fn opened_by(line: &str) -> Option<Self> {
        Self::of(line).or_else(|| Self::of(after_item_mark(line)?))
    }

    /// Tells whether it could end a block that `open` begins, if it were bare.
    fn is_of(&self, open: &Self) -> bool {
        self.mark == open.mark && self.n_marks >= open.n_marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> Vec<&str> {
        prose_lines(text).map(|line| line.text).collect()
    }

    #[test]
    fn lines_of_code_are_left_out() {
        assert_eq!(prose("a\n```sh\n- x\n```\nb"), ["a", "b"]);
        assert_eq!(prose("1. ~~~\n   ```\n   ~~~\n2. b"), ["2. b"]);
        assert_eq!(prose("> ```\n> - a\n> ```\n> b"), ["> b"]);
        assert_eq!(prose("```a``` is a mark\n- b"), ["```a``` is a mark", "- b"]);
        assert_eq!(prose("````md\n```\n````\nb"), ["b"]);
    }

    #[test]
    fn a_template_ends_with_its_own_fence() {
        assert_eq!(prose("a\n```md\n```sh\nls\n```\n- b\n```\nc"), ["a", "c"]);
        assert_eq!(prose("a\n```md\n```sh\nls\n```\n- b"), ["a"]);
    }
}
