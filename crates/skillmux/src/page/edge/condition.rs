//! Conditions: which step a node guards.

use super::{Edge, EdgeKind, compared, words::Word};
use crate::skill::{Node, NodeKind, NodeTree};

/// First words of a node that guards a step, whatever its kind; one entry may be the begin of
/// another.
const OPENERS: [&[&str]; 7] = [
    &["only", "if"],
    &["only", "when"],
    &["only", "after"],
    &["only", "once"],
    &["unless"],
    &["before", "you"],
    &["before", "running"],
];
const OPENERS_ZH: [&str; 5] = ["仅当", "仅在", "只有", "除非", "只能在"];

/// Part of a node that its first words are looked for in.
const OPENER_BYTES: usize = 60;

/// Adds an edge from each guard to the step that it guards.
pub(super) fn add(body: &str, tree: &NodeTree, edges: &mut Vec<Edge>) {
    let nodes = compared(tree);
    let is_step = |idx: usize| nodes[idx].kind == NodeKind::Step;
    // The next step at or after each node.
    let mut next_steps = vec![None; nodes.len() + 1];
    for idx in (0..nodes.len()).rev() {
        next_steps[idx] = if is_step(idx) { Some(idx) } else { next_steps[idx + 1] };
    }
    let mut last_step = None;
    for (idx, node) in nodes.iter().enumerate() {
        if is_guard(body, node) {
            let is_beside = |step: &usize| nodes[*step].section == node.section;
            let next = next_steps[idx + 1];
            let step = next
                .filter(is_beside)
                .or(last_step.filter(is_beside))
                .or(next.filter(|step| is_around(tree, node, &nodes[*step])));
            edges.extend(step.and_then(|step| Edge::new(idx, step, EdgeKind::Condition)));
        }
        if is_step(idx) {
            last_step = Some(idx);
        }
    }
}

/// Tells whether the section around that of a guard holds a step.
fn is_around(tree: &NodeTree, guard: &Node, step: &Node) -> bool {
    match tree.sections_of(guard).nth(1) {
        Some(around) => tree.sections_of(step).any(|section| section == around),
        None => true,
    }
}

fn is_guard(body: &str, node: &Node) -> bool {
    if node.kind == NodeKind::Precondition {
        return true;
    }
    let text = node.text(body).unwrap_or("");
    let begin = &text[..text.floor_char_boundary(OPENER_BYTES)];
    let begin = begin.trim_start_matches(|c: char| !c.is_alphanumeric());
    if begin.starts_with(|c: char| c.is_ascii()) {
        let words = Word::all(begin);
        OPENERS.iter().any(|opener| {
            words.len() >= opener.len()
                && words.iter().zip(*opener).all(|(word, known)| word.is_one_of(&[known]))
        })
    } else {
        OPENERS_ZH.iter().any(|opener| begin.starts_with(opener))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::edges_of;
    use super::*;

    fn conditions(body: &str) -> Vec<(u32, u32)> {
        edges_of(body, EdgeKind::Condition)
    }

    #[test]
    fn a_precondition_guards_the_next_step_of_its_section() {
        let body = "# A\n\nWords.\n\nYou must own it.\n\nWords.\n\n1. Open it.\n\n# B\n\n1. Go.\n";
        assert_eq!(conditions(body), [(1, 3)]);
    }

    #[test]
    fn a_warning_below_the_last_step_guards_that_step() {
        let body = "# A\n\n1. Open it.\n\nYou must own it.\n\n# B\n\n1. Go.\n";
        assert_eq!(conditions(body), [(1, 0)]);
    }

    #[test]
    fn prerequisites_guard_the_steps_of_the_section_around() {
        let body = "# T\n\n## A\n\n### Prerequisites\n\nPython.\n\n### Steps\n\n1. Go.\n\n## B\n\n\
                    ### Prerequisites\n\nNode.\n\n## C\n\n1. Stop.\n";
        assert_eq!(conditions(body), [(0, 1)]);
        assert_eq!(conditions("## Prerequisites\n\nPython.\n\n## Steps\n\n1. Go.\n"), [(0, 1)]);
    }

    #[test]
    fn only_if_guards_whatever_its_kind() {
        for opener in ["Only if it is locked", "**Unless** it is open", "- 仅当文件已加密时"]
        {
            let body = format!("# A\n\n{opener}, mind this.\n\n---\n\n1. Open it.\n");
            assert_eq!(conditions(&body), [(0, 1)], "{opener}");
        }
        assert!(conditions("# A\n\nOnly some of it is open.\n\n1. Open it.\n").is_empty());
        assert!(conditions("# A\n\nYou must own it.\n").is_empty());
    }
}
