//! [`without_inner_fences`]: code blocks that hold code blocks.

use std::borrow::Cow;

/// Returns a body of the same length in which the fences within code blocks are no fences.
///
/// Skills show templates that hold code blocks, and fence both with three backticks. To Markdown
/// the first inner end ends the whole block, and the rest of the template counts as text and
/// headings of the skill. Here a fence with a language within a code block opens another one, and
/// the next bare fence ends that one. Where that leaves a block without an end, all fences from
/// there on are those of Markdown.
pub(super) fn without_inner_fences(body: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut copied = 0;
    // The block that is open, and the ranges of the fences within it.
    let mut outer: Option<Fence<'_>> = None;
    let mut inner = Vec::new();
    let mut depth = 0_usize;
    let mut next = 0;
    for line in body.split_inclusive('\n') {
        let start = next;
        next += line.len();
        let Some(fence) = Fence::of(line) else { continue };
        let Some(open) = outer else {
            outer = fence.can_open().then_some(fence);
            continue;
        };
        if !fence.is_of(&open) {
            continue;
        }
        match (fence.info.is_empty(), depth) {
            (true, 0) => {
                for at in inner.drain(..) {
                    masked.push_str(&body[copied..at]);
                    // Three characters of the same length that open nothing.
                    masked.push_str("'''");
                    copied = at + 3;
                }
                outer = None;
                continue;
            }
            (true, _) => depth -= 1,
            (false, _) if fence.names_language() => depth += 1,
            (false, _) => continue,
        }
        inner.push(start + fence.indent);
    }
    if copied == 0 {
        return Cow::Borrowed(body);
    }
    masked.push_str(&body[copied..]);
    Cow::Owned(masked)
}

/// A line that begins with three or more backticks or tildes.
#[derive(Debug, Clone, Copy)]
struct Fence<'a> {
    mark: u8,
    n_marks: usize,
    indent: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let text = line[indent..].trim_end();
        let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let n_marks = text.bytes().take_while(|byte| *byte == mark).count();
        let info = text[n_marks..].trim();
        (n_marks >= 3).then_some(Self { mark, n_marks, indent, info })
    }

    /// Tells whether it opens a block at all: what follows backticks has none.
    fn can_open(&self) -> bool {
        self.mark == b'~' || !self.info.contains('`')
    }

    /// Tells whether it could end a block that `open` begins, if it were bare.
    fn is_of(&self, open: &Self) -> bool {
        self.mark == open.mark && self.n_marks >= open.n_marks
    }

    /// Tells whether it says nothing but a language, and options after it: `rust`, `c++`, `python
    /// title="a"`.
    fn names_language(&self) -> bool {
        let word = self.info.split([' ', '{', ',', ':']).next().unwrap_or("");
        let is_part =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.');
        !word.is_empty() && word.len() <= 20 && word.chars().all(is_part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(body: &str) -> String {
        let masked = without_inner_fences(body);
        assert_eq!(masked.len(), body.len());
        masked.into_owned()
    }

    #[test]
    fn the_last_fence_ends_the_template() {
        let body = "```markdown\n# T\n```bash\nls\n```\nmore\n```\n\n## Next\n";
        assert_eq!(masked(body), "```markdown\n# T\n'''bash\nls\n'''\nmore\n```\n\n## Next\n");
        let body = "- a\n  ~~~\n  ~~~~rust\n  ~~~\n  ~~~\n";
        assert_eq!(masked(body), "- a\n  ~~~\n  '''~rust\n  '''\n  ~~~\n");
    }

    #[test]
    fn other_bodies_stay_as_they_are() {
        for body in [
            "",
            "text\n",
            "```sh\nls\n```\n\n```sh\nls\n```\n",
            // Four marks hold three.
            "````md\n```sh\nls\n```\n````\n",
            // The first one has no end: the second is not within it.
            "```sh\nls\n\n```python\nx\n```\n\n## Next\n",
            "``` a `b`\n```sh\nls\n```\n",
            "```\na ```b\n```c d` e\n```\n",
        ] {
            assert!(matches!(without_inner_fences(body), Cow::Borrowed(_)), "{body}");
        }
    }

    #[test]
    fn a_block_without_an_end_spoils_only_what_follows() {
        let whole = "```md\n```sh\n```\n```\n";
        let body = format!("{whole}\n```sh\nls\n\n```python\nx\n```\n");
        assert!(masked(&body).starts_with("```md\n'''sh\n'''\n```\n\n```sh\n"));
        assert!(masked(&body).ends_with("```python\nx\n```\n"));
    }
}
