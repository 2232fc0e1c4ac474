//! Decides the [`NodeKind`] of a node by rules, in place of the paper's language model
//! (`SkillPager` §3.1), so that a library of a million skills is parsed in minutes.
//!
//! The first rule that applies decides:
//!
//! 1. The nearest heading with a cue names preconditions or errors: that kind.
//! 2. Code: a step where it is a shell command under a heading that names steps or after an
//!    instruction (`Run the tests:`), otherwise an example.
//! 3. A table whose header names parameters: a parameter.
//! 4. The heading names parameters, examples or background: that kind.
//! 5. An opener names the kind: `Note`, `Example:`, `If the build fails`, `You must`, `` `--flag`
//!    ``.
//! 6. An ordered list, or most of what is said begins with an imperative verb: a step.
//! 7. The heading names steps: a step.
//! 8. Anything else: background.
//!
//! The title of the body, a first heading of level 1, is no cue: `Error Handling in Rust` names
//! what the skill is about, not the role of its parts.

use super::{cue, sentence, tree::NodeKind};

/// What kind of block a node is, as far as the rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Code,
    Table,
    OrderedList,
    Text,
}

/// What the rules look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traits<'a> {
    pub(super) shape: Shape,
    /// The local header merged into the node; empty where there is none.
    pub(super) intro: &'a str,
    /// The text of the node after `intro`.
    pub(super) text: &'a str,
    /// Cue of the nearest heading that has one.
    pub(super) heading: Option<NodeKind>,
}

/// Lines of a node that are searched for an imperative verb.
const MAX_LINES: usize = 4;
/// Bytes of a node that are searched for markers; what a node is about is said at its begin.
const MARKER_BYTES: usize = 240;

/// Returns the kind that the first rule of the module's list gives.
pub(super) fn kind_of(traits: &Traits<'_>) -> NodeKind {
    let Traits { shape, intro, text, heading } = *traits;
    match (heading, shape) {
        (Some(kind @ (NodeKind::Precondition | NodeKind::ErrorHandling)), _) => kind,
        (_, Shape::Code) => {
            let is_instruction = heading == Some(NodeKind::Step) || is_imperative(intro);
            if is_instruction && is_shell(text) { NodeKind::Step } else { NodeKind::Example }
        }
        (_, Shape::Table) if names_params(text) => NodeKind::Param,
        (Some(kind @ (NodeKind::Param | NodeKind::Example | NodeKind::Concept)), _) => kind,
        _ => kind_of_text(shape, intro, text, heading),
    }
}

fn kind_of_text(shape: Shape, intro: &str, text: &str, heading: Option<NodeKind>) -> NodeKind {
    let opener = if intro.is_empty() { text } else { intro };
    let is_step = shape == Shape::OrderedList || is_mostly_imperative(text);
    if let Some(kind) = kind_of_opener(opener) {
        return kind;
    }
    // In a list of steps, `must` and `--flag` qualify the steps.
    if shape != Shape::OrderedList {
        if is_flag_list(text) {
            return NodeKind::Param;
        }
        if !is_step && states_requirement(opener) {
            return NodeKind::Precondition;
        }
    }
    if is_step || heading == Some(NodeKind::Step) { NodeKind::Step } else { NodeKind::Concept }
}

/// Returns the kind that the first words name.
fn kind_of_opener(text: &str) -> Option<NodeKind> {
    let line = strip_markers(first_line(text));
    let head = clip(line, MARKER_BYTES);
    if sentence::opens_condition(line) && cue::has_word(head, cue::FAILURES, cue::FAILURES_ZH) {
        return Some(NodeKind::ErrorHandling);
    }
    let label_end = line.find([':', '：']).filter(|end| *end <= 32);
    label_end.and_then(|end| cue::label_kind(&line[..end]))
}

/// Tells whether the text says that something must hold, as in `Requires Python 3.10`.
fn states_requirement(text: &str) -> bool {
    cue::has_word(clip(text, MARKER_BYTES), cue::REQUIREMENTS, cue::REQUIREMENTS_ZH)
}

fn is_imperative(text: &str) -> bool {
    let line = strip_markers(first_line(text));
    cue::is_imperative(line)
}

/// Tells whether at least half of the first lines begin with an imperative verb.
fn is_mostly_imperative(text: &str) -> bool {
    let mut n_lines = 0;
    let mut n_imperative = 0;
    // Indented lines continue an item or are its details.
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t'])).take(MAX_LINES) {
        if !line.is_empty() {
            n_lines += 1;
            n_imperative += usize::from(cue::is_imperative(strip_markers(line)));
        }
    }
    n_imperative > 0 && 2 * n_imperative >= n_lines
}

/// Tells whether the first items begin with a flag or define a name in code: `` - `dpi`: ... ``.
fn is_flag_list(text: &str) -> bool {
    let mut n_items = 0;
    let mut n_flags = 0;
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t'])).take(MAX_LINES) {
        let item = strip_list_marker(line);
        if item.len() < line.len() {
            n_items += 1;
            n_flags += usize::from(is_flag(item));
        }
    }
    n_flags > 0 && 2 * n_flags > n_items
}

fn is_flag(item: &str) -> bool {
    let bare = item.trim_start_matches(['*', '_']);
    if bare.trim_start_matches('`').starts_with("--") {
        return true;
    }
    let Some((name, rest)) = bare.strip_prefix('`').and_then(|name| name.split_once('`')) else {
        return false;
    };
    let rest = rest.trim_start_matches(['*', '_', ' ']);
    // `git push` is a command; a name of a parameter is one word.
    !name.contains(' ') && rest.starts_with([':', '：', '(', '（', '-', '–', '—', '='])
}

/// Tells whether the header row of a table has a cell that names parameters.
fn names_params(table: &str) -> bool {
    first_line(table).split('|').any(|cell| cue::heading_kind(cell.trim()) == Some(NodeKind::Param))
}

/// Tells whether code is meant for a shell: by its language, or by a prompt.
fn is_shell(code: &str) -> bool {
    let code = code.trim_start();
    let line = first_line(code);
    let language = line.trim_start_matches(['`', '~']).trim();
    let language = language.split([' ', ',', '{']).next().unwrap_or("");
    let is_fence = line.starts_with("```") || line.starts_with("~~~");
    let is_known = matches!(
        language,
        "sh" | "bash" | "shell" | "zsh" | "console" | "fish" | "powershell" | "ps1" | "cmd" | "bat"
    );
    let first_command = if is_fence { code[line.len()..].trim_start() } else { code };
    is_fence && is_known || (language.is_empty() || !is_fence) && first_command.starts_with("$ ")
}

fn first_line(text: &str) -> &str {
    let text = text.trim_start();
    text.lines().next().unwrap_or("")
}

/// Returns the begin of `text`, at most `max_bytes` long.
fn clip(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Returns `line` without list markers, check boxes, quote marks and opening emphasis.
fn strip_markers(line: &str) -> &str {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    strip_list_marker(line).trim_start_matches(['*', '_', '"', '“', '~', ' '])
}

fn strip_list_marker(line: &str) -> &str {
    let line = line.trim_start();
    let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if unnumbered.len() < line.len() {
        unnumbered.strip_prefix(['.', ')', '、']).unwrap_or(line)
    } else {
        ["- ", "* ", "+ "].iter().find_map(|marker| line.strip_prefix(marker)).unwrap_or(line)
    };
    let rest = rest.trim_start();
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(shape: Shape, heading: Option<NodeKind>, text: &str) -> NodeKind {
        kind_of(&Traits { shape, intro: "", text, heading })
    }

    #[test]
    fn headings_decide_first() {
        for (heading, text, expected) in [
            ("Prerequisites", "Install the tool.", NodeKind::Precondition),
            ("前置条件", "安装工具。", NodeKind::Precondition),
            ("Troubleshooting", "- Restart it", NodeKind::ErrorHandling),
            ("常见问题", "重启服务。", NodeKind::ErrorHandling),
            ("Examples", "Ask for a summary.", NodeKind::Example),
            ("When to use", "- Merge two files", NodeKind::Concept),
            ("Workflow", "The scan comes first.", NodeKind::Step),
            ("参数说明", "输入文件的路径。", NodeKind::Param),
        ] {
            assert_eq!(kind(Shape::Text, cue::heading_kind(heading), text), expected, "{heading}");
        }
    }

    #[test]
    fn shell_code_is_a_step_only_where_steps_are_meant() {
        let shell = "```bash\nmake test\n```";
        assert_eq!(kind(Shape::Code, None, shell), NodeKind::Example);
        assert_eq!(kind(Shape::Code, Some(NodeKind::Step), shell), NodeKind::Step);
        let python = "```python\nprint()\n```";
        assert_eq!(kind(Shape::Code, Some(NodeKind::Step), python), NodeKind::Example);
        let intro = "Run the tests:";
        let traits = Traits { shape: Shape::Code, intro, text: shell, heading: None };
        assert_eq!(kind_of(&traits), NodeKind::Step);
    }

    #[test]
    fn text_decides_where_headings_say_nothing() {
        for (shape, text, expected) in [
            (Shape::OrderedList, "1. The scan is read", NodeKind::Step),
            (Shape::Text, "- Open the file\n- Read each page", NodeKind::Step),
            (Shape::Text, "打开文件并读取每一页。", NodeKind::Step),
            (Shape::Text, "First, open the file.", NodeKind::Step),
            (Shape::Text, "PDF is a page format.", NodeKind::Concept),
            (Shape::Text, "PDF 是一种版式。", NodeKind::Concept),
            (Shape::Text, "If the build fails, clean it.", NodeKind::ErrorHandling),
            (Shape::Text, "如果编译失败，先清理。", NodeKind::ErrorHandling),
            (Shape::Text, "The file must be unlocked.", NodeKind::Precondition),
            (Shape::Text, "文件必须未加密。", NodeKind::Precondition),
            (Shape::Text, "**Example**: two files", NodeKind::Example),
            (Shape::Text, "- `--dpi`: resolution\n- `--out`: file", NodeKind::Param),
            (Shape::Text, "- `dpi` (integer): resolution", NodeKind::Param),
            (Shape::Table, "| Option | Meaning |\n|---|---|\n| a | b |", NodeKind::Param),
            (Shape::Table, "| 参数 | 含义 |\n|---|---|\n| a | b |", NodeKind::Param),
            (Shape::Table, "| City | Country |\n|---|---|\n| a | b |", NodeKind::Concept),
        ] {
            assert_eq!(kind(shape, None, text), expected, "{text}");
        }
    }

    #[test]
    fn markers_are_stripped() {
        for line in ["- **Run", "1. Run", "10) Run", "- [ ] Run", "> * Run", "2、Run"] {
            assert_eq!(strip_markers(line), "Run", "{line}");
        }
        assert_eq!(strip_list_marker("2024 was"), "2024 was");
    }
}
