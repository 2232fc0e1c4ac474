//! [`together`]: what a node cannot be read without.

use super::{outline::Outline, scene::MAX_COMPARED};
use crate::skill::{Node, NodeKind};

/// Most nodes that come with one.
const MAX_COMPANIONS: usize = 16;

/// Most nodes between two items of a numbered list.
const MAX_GAP: usize = 12;

/// Most tokens of a condition that comes with the step beside it.
const MAX_GUARD_TOKENS: u32 = 80;

/// What a warning says loudly.
const WARNINGS: [&str; 17] = [
    "IMPORTANT",
    "MANDATORY",
    "CRITICAL",
    "WARNING",
    "NEVER",
    "DO NOT",
    "Do NOT",
    "do NOT",
    "MUST",
    "**Never",
    "**Do not",
    "**Don't",
    "**Important",
    "**Warning",
    "⚠",
    "**重要",
    "严禁",
];

/// Returns a node with those that it cannot be read without, rising, as far as they fit: they cost at most `max_tokens`,
/// and all of them fit what is left of the budget. Else it comes with its code, or the text before its code; else alone.
pub(super) fn together(
    outline: &Outline<'_>,
    nodes: &[Node],
    node_idx: usize,
    max_tokens: f32,
) -> Vec<usize> {
    if max_tokens <= 0.0 {
        return vec![node_idx];
    }
    let open = |idx: &usize| *idx < MAX_COMPARED && !outline.is_selected(*idx);
    let fit = |all: &[usize]| {
        let others: Vec<usize> = all.iter().copied().filter(|idx| *idx != node_idx).collect();
        outline.cost_of(&others) as f32 <= max_tokens
            && outline.cost_of(all) <= outline.left_tokens()
    };
    let mut all = with_companions(outline, nodes, node_idx);
    all.retain(open);
    if fit(&all) {
        return all;
    }
    let pair = partner(outline, nodes, node_idx).filter(open);
    let pair: Vec<usize> = pair.into_iter().chain([node_idx]).collect();
    if fit(&pair) { pair } else { vec![node_idx] }
}

/// Returns a node and those that it cannot be read without, rising: the text before code, the code after text, the steps before a
/// numbered one, the first rows of a table, and short conditions beside a step.
fn with_companions(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Vec<usize> {
    let mut all = vec![node_idx];
    let mut next = 0;
    while next < all.len() && all.len() <= MAX_COMPANIONS {
        for companion in companions(outline, nodes, all[next]) {
            if !all.contains(&companion) {
                all.push(companion);
            }
        }
        next += 1;
    }
    all.sort_unstable();
    all
}

/// Returns the text before a code block, or the code after a text, of the same section.
fn partner(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    let partner =
        if is_code(outline, node_idx) { before(nodes, node_idx)? } else { after(nodes, node_idx)? };
    (is_code(outline, partner) != is_code(outline, node_idx)).then_some(partner)
}

fn companions(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Vec<usize> {
    let mut found: Vec<usize> = partner(outline, nodes, node_idx).into_iter().collect();
    found.extend(head_of_table(outline, nodes, node_idx));
    found.extend(step_before(outline, nodes, node_idx));
    if nodes[node_idx].kind == NodeKind::Step {
        found.extend(guards(outline, nodes, node_idx));
    }
    found
}

/// Returns the item before a numbered one that is not the first.
fn step_before(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    let number = number_of(outline.text(node_idx)?).filter(|number| *number > 1)?;
    let lower =
        |idx: &usize| outline.text(*idx).and_then(number_of).is_some_and(|before| before < number);
    let earlier = (node_idx.saturating_sub(MAX_GAP)..node_idx).rev();
    earlier.take_while(|idx| nodes[*idx].section == nodes[node_idx].section).find(lower)
}

/// Returns the first rows of the table of some later ones.
fn head_of_table(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    let row_before = |idx: &usize| before(nodes, *idx).filter(|before| is_table(outline, *before));
    if !is_table(outline, node_idx) {
        return None;
    }
    std::iter::successors(row_before(&node_idx), row_before).last()
}

/// Returns the number that an item begins with.
fn number_of(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = &text[n_digits..];
    let is_item =
        after.starts_with(". ") || after.starts_with(") ") || after.starts_with(['、', '．']);
    if is_item { text[..n_digits].parse().ok() } else { None }
}

fn is_code(outline: &Outline<'_>, node_idx: usize) -> bool {
    let fence =
        |text: &str| text.trim_start().starts_with("```") || text.trim_start().starts_with("~~~");
    outline.text(node_idx).is_some_and(fence)
}

fn is_table(outline: &Outline<'_>, node_idx: usize) -> bool {
    outline.text(node_idx).is_some_and(|text| text.trim_start().starts_with('|'))
}

/// Returns the short conditions and prohibitions of the section of a step, those that stand near.
fn guards<'a>(
    outline: &'a Outline<'_>,
    nodes: &'a [Node],
    node_idx: usize,
) -> impl Iterator<Item = usize> + 'a {
    let near = node_idx.saturating_sub(MAX_GAP)..nodes.len().min(node_idx + MAX_GAP + 1);
    near.filter(move |idx| *idx != node_idx && nodes[*idx].section == nodes[node_idx].section)
        .filter(|idx| nodes[*idx].n_tokens <= MAX_GUARD_TOKENS && is_guard(outline, nodes, *idx))
}

/// Tells whether a node is a condition, or says in capitals or bold that something must or must not be done.
fn is_guard(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> bool {
    let text = outline.text(node_idx).unwrap_or("");
    nodes[node_idx].kind == NodeKind::Precondition
        || WARNINGS.iter().any(|mark| text.contains(mark))
}

/// Returns the node before another one in its section.
fn before(nodes: &[Node], node_idx: usize) -> Option<usize> {
    let before = node_idx.checked_sub(1)?;
    (nodes[before].section == nodes[node_idx].section).then_some(before)
}

/// Returns the node after another one in its section.
fn after(nodes: &[Node], node_idx: usize) -> Option<usize> {
    let after = nodes.get(node_idx + 1)?;
    (after.section == nodes[node_idx].section).then_some(node_idx + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::outlined;
    use super::*;

    /// Returns the first lines of the nodes that come with the first one that begins so.
    fn with(body: &str, begin: &str) -> Vec<String> {
        outlined(body, 900, |outline, tree| {
            let text = |idx: usize| tree.nodes[idx].text(body).unwrap();
            let at = (0..tree.nodes.len()).find(|idx| text(*idx).starts_with(begin)).unwrap();
            let all = with_companions(&outline, &tree.nodes, at).into_iter();
            all.map(|idx| text(idx).lines().next().unwrap().to_owned()).collect()
        })
    }

    #[test]
    fn code_text_and_conditions_come_together() {
        let body = "# A\n\nRun the check.\n\n```\ncheck\n```\n\nOther words.\n\n## B\n\nYou must own the file.\n\nOpen it.\n";
        assert_eq!(with(body, "```"), ["Run the check.", "```"]);
        assert_eq!(with(body, "Run"), ["Run the check.", "```"]);
        assert_eq!(with(body, "Other"), ["Other words."]);
    }

    #[test]
    fn a_numbered_step_comes_with_those_before() {
        let long = "and so on ".repeat(60);
        let body = format!(
            "# A\n\n1. Stop it. {long}\n2. Copy it. {long}\n3. Start it. {long}\n\n# B\n\n4. Alone {long}\n"
        );
        assert_eq!(with(&body, "3.").len(), 3);
        assert_eq!(with(&body, "1.").len(), 1);
        assert_eq!(with(&body, "4.").len(), 1);
    }

    #[test]
    fn rows_come_with_the_head_of_their_table() {
        let row = |n: usize| format!("| r{n} | {} |\n", "word ".repeat(30));
        let rows: String = (0..30).map(row).collect();
        let body = format!("# A\n\n| name | use |\n|---|---|\n{rows}");
        outlined(&body, 900, |outline, tree| {
            let last = tree.nodes.len() - 1;
            assert!(last > 1, "the table is split");
            assert_eq!(with_companions(&outline, &tree.nodes, last), [0, last]);
        });
    }

    #[test]
    fn a_step_comes_with_the_warnings_of_its_section() {
        let body = "# A\n\n1. Open the file and save it.\n\nOther words stand here.\n\n\
                    IMPORTANT: the file is shared.\n\nMore of them.\n\n# B\n\nNEVER print it.\n";
        let found = ["1. Open the file and save it.", "IMPORTANT: the file is shared."];
        assert_eq!(with(body, "1."), found);
        assert_eq!(with(body, "More"), ["More of them."]);
    }

    #[test]
    fn a_step_comes_with_the_condition_beside_it() {
        let body =
            "# A\n\n1. Open the file and save it.\n\nYou must own the file.\n\nOther words.\n";
        assert_eq!(with(body, "1."), ["1. Open the file and save it.", "You must own the file."]);
    }
}
