//! A plan as a graph: a box for each step, an arrow to each that waits for it.

use std::fmt::Write as _;

use skillmux::{
    route::{Route, RouteStep},
    text::{clipped, one_line, printable},
};

/// Characters of a subtask in a box.
const MAX_SUBTASK_CHARS: usize = 60;

/// Characters of a name in a box.
const MAX_NAME_CHARS: usize = 64;

/// Returns a plan as a Mermaid flowchart; a plan without steps is a flowchart without boxes.
pub(crate) fn mermaid(route: &Route) -> String {
    let mut out = "flowchart LR\n".to_owned();
    for (at, step) in route.steps.iter().enumerate() {
        let lines: Vec<String> = lines(step).iter().map(|line| mermaid_text(line)).collect();
        let _ = writeln!(out, "    s{at}[\"{}\"]", lines.join("<br>"));
    }
    for (first, then) in edges(route) {
        let _ = writeln!(out, "    s{first} --> s{then}");
    }
    out
}

/// Returns a plan in the language of Graphviz.
pub(crate) fn dot(route: &Route) -> String {
    let mut out = "digraph plan {\n    rankdir=LR;\n    node [shape=box];\n".to_owned();
    for (at, step) in route.steps.iter().enumerate() {
        let lines: Vec<String> = lines(step).iter().map(|line| dot_text(line)).collect();
        let _ = writeln!(out, "    s{at} [label=\"{}\"];", lines.join("\\n"));
    }
    for (first, then) in edges(route) {
        let _ = writeln!(out, "    s{first} -> s{then};");
    }
    out.push_str("}\n");
    out
}

/// Returns a line of text as it stands between the quotes of a Mermaid label.
pub(super) fn mermaid_text(text: &str) -> String {
    // Mermaid has no other way to write these. At the start of a text it takes these for a list.
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '-' | '+' | '*' | '0'..='9' if at == 0 => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            '"' | '#' | '&' | '<' | '>' | '`' | '\\' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns a line of text as it stands between quotes of Graphviz.
pub(super) fn dot_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns what a box holds: the subtask, then the names of the skills.
fn lines(step: &RouteStep) -> Vec<String> {
    let subtask = clipped(&printable(&one_line(&step.subtask)), MAX_SUBTASK_CHARS);
    let name = |name: &String| clipped(&printable(&one_line(name)), MAX_NAME_CHARS);
    std::iter::once(subtask).chain(step.skills.iter().map(|skill| name(&skill.name))).collect()
}

fn edges(route: &Route) -> impl Iterator<Item = (u32, usize)> {
    let steps = route.steps.iter().enumerate();
    steps.flat_map(|(at, step)| step.depends_on.iter().map(move |first| (*first, at)))
}

#[cfg(test)]
mod tests {
    use skillmux::compose::Decision;

    use super::*;

    fn route() -> Route {
        let step = |subtask: &str, depends_on: &[u32]| RouteStep {
            subtask: subtask.to_owned(),
            confidence: None,
            depends_on: depends_on.to_vec(),
            skills: Vec::new(),
            alternatives: Vec::new(),
        };
        Route {
            query_id: None,
            decision: Decision::Load,
            confidence: None,
            reason: String::new(),
            steps: vec![step("1. \"a\\b\"", &[]), step("<b>draw</b>\n#1", &[0])],
            pages: Vec::new(),
            hints: Vec::new(),
            request: None,
            corrections: Vec::new(),
            formalities: Vec::new(),
            ruled_out: Vec::new(),
            passes: Vec::new(),
            trace: Vec::new(),
        }
    }

    #[test]
    fn text_of_a_task_stays_text() {
        assert_eq!(
            mermaid(&route()),
            "flowchart LR\n    s0[\"#49;. #34;a#92;b#34;\"]\n    \
             s1[\"#60;b#62;draw#60;/b#62; #35;1\"]\n    s0 --> s1\n"
        );
        let dot = dot(&route());
        assert!(dot.contains("s0 [label=\"1. \\\"a\\\\b\\\"\"];"), "{dot}");
        assert!(dot.contains("s0 -> s1;") && dot.ends_with("}\n"), "{dot}");
    }
}
