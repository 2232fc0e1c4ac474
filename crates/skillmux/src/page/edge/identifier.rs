//! Identifiers and files that several nodes have.

use std::collections::HashMap;

use super::{super::markers::is_fence, Edge, EdgeKind};
use crate::skill::Node;

/// Most nodes that have an identifier which ties them together: one of more is a topic.
const MAX_NODES: usize = 4;

/// Shortest and longest identifier, in bytes.
const MIN_BYTES: usize = 4;
const MAX_BYTES: usize = 80;

/// Adds an edge from each later node that has an identifier or a file to the first one that has it.
pub(super) fn add(body: &str, nodes: &[Node], edges: &mut Vec<Edge>) {
    // The first nodes that have it, at most one more than those of a tie.
    let mut nodes_with: HashMap<&str, Vec<usize>> = HashMap::new();
    for (idx, node) in nodes.iter().enumerate() {
        for_each_identifier(node.text(body).unwrap_or(""), &mut |identifier| {
            let with = nodes_with.entry(identifier).or_default();
            if with.len() <= MAX_NODES && with.last() != Some(&idx) {
                with.push(idx);
            }
        });
    }
    for with in nodes_with.values().filter(|with| (2..=MAX_NODES).contains(&with.len())) {
        let to_first = with[1..].iter().map(|idx| Edge::new(*idx, with[0], EdgeKind::Reference));
        edges.extend(to_first.flatten());
    }
}

/// Visits the identifiers of code, and those that a text marks as code.
fn for_each_identifier<'a>(text: &'a str, visit: &mut dyn FnMut(&'a str)) {
    let mut is_fenced = false;
    for line in text.lines() {
        if is_fence(line.trim_start()) {
            is_fenced = !is_fenced;
        } else if is_fenced {
            in_code(line, visit);
        } else {
            for span in line.split('`').skip(1).step_by(2) {
                in_code(span, visit);
            }
        }
    }
}

fn in_code<'a>(code: &'a str, visit: &mut dyn FnMut(&'a str)) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    for token in code.split(|c: char| !is_part(c)) {
        let token = token.trim_matches(['.', '/']).trim_end_matches('-');
        if is_identifier(token) {
            visit(token);
        }
    }
}

/// Tells whether a token names something by its shape: `load_all`, `loadAll`, `--dry-run`,
/// `config.yaml`, `scripts/run`.
fn is_identifier(token: &str) -> bool {
    let bytes = token.as_bytes();
    if !(MIN_BYTES..=MAX_BYTES).contains(&bytes.len())
        || !token.contains(|c: char| c.is_alphabetic())
    {
        return false;
    }
    let is_flag = token.starts_with("--");
    let is_camel =
        bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let joins = |joint: u8| {
        let is_joint = |part: &&[u8]| {
            part[0].is_ascii_alphanumeric() && part[1] == joint && part[2].is_ascii_alphabetic()
        };
        bytes.windows(3).any(|part| is_joint(&part))
    };
    is_flag || is_camel || joins(b'_') || joins(b'.') || joins(b'/')
}

#[cfg(test)]
mod tests {
    use super::super::tests::edges_of;
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        for_each_identifier(text, &mut |identifier| found.push(identifier));
        found
    }

    #[test]
    fn identifiers_are_told_by_their_shape() {
        let text = "Call `load_all()` with `--dry-run`, not load_none.\n\n```py\nrun(loadAll, \"a/b.yaml\")\n\
                    x = 1.5 # the end\n```\n\nSee `scripts/run.sh` and `git push`.";
        assert_eq!(found(text), ["load_all", "--dry-run", "loadAll", "a/b.yaml", "scripts/run.sh"]);
        assert!(found("`1.2.3` `a.b` `----` `true` `e.g.` `http`").is_empty());
    }

    #[test]
    fn later_nodes_refer_to_the_first_that_has_it() {
        let body =
            "```\nload_all()\n```\n\nWords.\n\nThen call `load_all`.\n\nAnd `load_all` again.\n";
        assert_eq!(edges_of(body, EdgeKind::Reference), [(2, 0), (3, 0)]);
    }

    #[test]
    fn what_many_nodes_have_is_a_topic() {
        let body = "Call `load_all`.\n\n".repeat(MAX_NODES + 1);
        assert!(edges_of(&body, EdgeKind::Reference).is_empty());
        assert_eq!(edges_of(&body[18..], EdgeKind::Reference).len(), MAX_NODES - 1);
    }
}
