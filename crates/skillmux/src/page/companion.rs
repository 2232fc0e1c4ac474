//! [`together`]: what a node cannot be read without.

use super::{
    markers::{Line, begins_item, step_number},
    outline::{Extent, Outline},
    scene::MAX_COMPARED,
};
use crate::skill::{Node, NodeKind, is_step_condition};

/// Most nodes that come with one.
const MAX_COMPANIONS: usize = 16;

/// Most nodes between two items of a numbered list.
const MAX_GAP: usize = 12;

/// Most tokens of a condition that comes with what stands beside it.
const MAX_GUARD_TOKENS: u32 = 160;

/// What a rule or a warning says loudly.
const WARNINGS: [&str; 30] = [
    "IMPORTANT",
    "MANDATORY",
    "CRITICAL",
    "WARNING",
    "NEVER",
    "DO NOT",
    "Do NOT",
    "do NOT",
    "MUST",
    "WARN",
    "ALWAYS",
    "STOP",
    "ONLY ",
    "**Never",
    "**Do not",
    "**Don't",
    "**Important",
    "**Warning",
    "**Always",
    "**Only",
    "**Must",
    "⚠",
    "**重要",
    "严禁",
    "必须",
    "禁止",
    "切勿",
    "务必",
    "不要",
    "不得",
];

/// What a condition begins with.
const CONDITIONS: [&str; 8] = ["If ", "When ", "Unless ", "Before ", "**If ", "如果", "若", "当"];

/// What a node is to another one that cannot be read without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Code to the text before it, or the text to the code; what a text announces; the rest of a
    /// line.
    Part,
    /// A condition or a loud warning.
    Guard,
    /// Comes before it: an earlier step, the head of a table, the text before a list. Its short
    /// form may stand for it.
    Before,
    /// The condition below a step, which is a node of its own behind code.
    Condition,
}

/// A node with those that it cannot be read without, as far as they fit.
#[derive(Debug, PartialEq)]
pub(super) struct Together {
    /// Rising by position.
    pub(super) choices: Vec<(usize, Extent)>,
    /// Whether all of them fit, some perhaps in short.
    pub(super) is_complete: bool,
}

/// Returns a node with those that it cannot be read without. The others cost at most `max_tokens`,
/// and all of them fit what is left of the budget.
///
/// If they don't, what comes before is shown in short, as far as it has a short form. If that is
/// still too much, there are no conditions of the section; then only what belongs to the node
/// itself; then what belongs to it and what comes before, in short; then all this without the
/// condition of the step itself; then the node is alone. Conditions that fit for themselves come
/// along nevertheless.
pub(super) fn together(
    outline: &Outline<'_>,
    nodes: &[Node],
    node_idx: usize,
    max_tokens: f32,
) -> Together {
    let alone = vec![(node_idx, Extent::Whole)];
    if max_tokens <= 0.0 {
        return Together { choices: alone, is_complete: false };
    }
    let companions = with_companions(outline, nodes, node_idx);
    let extent_of = |(idx, role): (usize, Role), extents: &[Option<Extent>; 4]| {
        let extent = if idx == node_idx { Some(Extent::Whole) } else { extents[role as usize] };
        let extent = extent.map(|extent| match extent {
            Extent::Brief if !outline.has_brief(idx) => Extent::Whole,
            extent => extent,
        });
        extent.map(|extent| (idx, extent))
    };
    let (whole, brief) = (Some(Extent::Whole), Some(Extent::Brief));
    let of_others = [
        [whole, whole, whole],
        [whole, whole, brief],
        [whole, None, brief],
        [whole, None, None],
        [brief, None, brief],
    ];
    let ways = [whole, None].into_iter().flat_map(|condition| {
        of_others.map(|[part, guard, before]| [part, guard, before, condition])
    });
    let fit = |choices: &Vec<(usize, Extent)>| {
        let others: Vec<_> = choices.iter().copied().filter(|(idx, _)| *idx != node_idx).collect();
        outline.cost_of(&others) as f32 <= max_tokens
            && outline.cost_of(choices) <= outline.left_tokens()
    };
    let choices = |extents: [Option<Extent>; 4]| {
        companions.iter().filter_map(|companion| extent_of(*companion, &extents)).collect()
    };
    let mut chosen = ways.map(choices).find(fit).unwrap_or(alone);
    for wanted in [Role::Condition, Role::Guard] {
        for (condition, _) in companions.iter().filter(|(_, role)| *role == wanted) {
            if chosen.iter().all(|(idx, _)| idx != condition) {
                chosen.push((*condition, Extent::Whole));
                if !fit(&chosen) {
                    chosen.pop();
                }
            }
        }
    }
    chosen.sort_unstable_by_key(|(idx, _)| *idx);
    let is_chosen = |idx: usize| chosen.iter().any(|(chosen, _)| *chosen == idx);
    let is_complete = companions.iter().all(|(idx, _)| is_chosen(*idx));
    Together { choices: chosen, is_complete }
}

/// Returns a node and those that it cannot be read without, rising, as far as they are not shown
/// yet.
fn with_companions(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Vec<(usize, Role)> {
    let mut all = vec![(node_idx, Role::Part)];
    let mut next = 0;
    while next < all.len() && all.len() <= MAX_COMPANIONS {
        let (idx, role) = all[next];
        next += 1;
        // What a shown node needs was looked at when it was chosen.
        let is_done = next > 1 && !outline.is_open(idx);
        if is_done || role == Role::Condition {
            continue;
        }
        for (companion, its_role) in companions(outline, nodes, idx) {
            // What belongs to a condition, or to an earlier step, counts as that does.
            let role = if role == Role::Part { its_role } else { role };
            if all.iter().all(|(idx, _)| *idx != companion) {
                all.push((companion, role));
            }
        }
    }
    all.retain(|(idx, _)| *idx < MAX_COMPARED && outline.is_open(*idx));
    all.sort_unstable_by_key(|(idx, _)| *idx);
    all
}

fn companions(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Vec<(usize, Role)> {
    let parts = [partner(outline, nodes, node_idx), announced(outline, nodes, node_idx)];
    let lines = rest_of_paragraph(outline, nodes, node_idx);
    let before = [
        head_of_table(outline, nodes, node_idx),
        step_before(outline, nodes, node_idx),
        own_step(outline, nodes, node_idx),
        lead_in(outline, nodes, node_idx),
        announcer(outline, nodes, node_idx),
    ];
    let condition = own_condition(outline, nodes, node_idx).map(|idx| (idx, Role::Condition));
    let guards = guards(outline, nodes, node_idx);
    let parts = parts.into_iter().flatten().chain(lines).map(|idx| (idx, Role::Part));
    let before = before.into_iter().flatten().map(|idx| (idx, Role::Before));
    parts.chain(before).chain(condition).chain(guards.map(|idx| (idx, Role::Guard))).collect()
}

/// Returns the text before a code block, or the code after a text, of the same section.
fn partner(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    let is_code = outline.is_code(node_idx);
    let partner = if is_code { before(nodes, node_idx)? } else { after(nodes, node_idx)? };
    (outline.is_code(partner) != is_code).then_some(partner)
}

/// Returns the node after one that announces it.
fn announced(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    after(nodes, node_idx).filter(|_| announces(outline, node_idx))
}

/// Returns the node before one that is announced by it.
fn announcer(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    before(nodes, node_idx).filter(|before| announces(outline, *before))
}

/// Tells whether a node ends as if something would follow.
fn announces(outline: &Outline<'_>, node_idx: usize) -> bool {
    let text = outline.text(node_idx).unwrap_or("").trim_end().trim_end_matches(['*', '_']);
    text.ends_with([':', '：']) || text.ends_with("——")
}

/// Returns the nodes beside a node that belong to its paragraph: a long one is several nodes.
fn rest_of_paragraph(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Vec<usize> {
    let before = before(nodes, node_idx);
    let before = before.filter(|before| outline.is_same_paragraph(*before, node_idx));
    let after = after(nodes, node_idx);
    let after = after.filter(|after| outline.is_same_paragraph(node_idx, *after));
    before.into_iter().chain(after).collect()
}

/// Returns the node that begins the list of some later items, if it has the text before that list.
fn lead_in(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    let begins_item = |idx: usize| outline.text(idx).is_some_and(begins_item);
    if !begins_item(node_idx) {
        return None;
    }
    let earlier = (node_idx.saturating_sub(MAX_GAP)..node_idx).rev();
    let mut earlier = earlier.take_while(|idx| nodes[*idx].section == nodes[node_idx].section);
    let first = earlier.find(|idx| !begins_item(*idx))?;
    outline
        .text(first)
        .is_some_and(|text| Line::all(text).any(|line| line.is_item()))
        .then_some(first)
}

/// Returns the item before a numbered one that is not the first.
fn step_before(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    let number = step_of(outline, node_idx).filter(|number| *number > 1)?;
    let lower = |idx: &usize| step_of(outline, *idx).is_some_and(|before| before < number);
    let earlier = (node_idx.saturating_sub(MAX_GAP)..node_idx).rev();
    earlier.take_while(|idx| nodes[*idx].section == nodes[node_idx].section).find(lower)
}

/// Returns the step that a node belongs to: of an indented one, and of a condition below a step, the
/// item above; of others the bold begin of a step above.
fn own_step(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    let text = outline.text(node_idx)?;
    if step_of(outline, node_idx).is_some() || text.starts_with("**") {
        return None;
    }
    let is_within = text.starts_with([' ', '\t']) || is_condition_of_step(outline, nodes, node_idx);
    let is_bold =
        |idx: usize| outline.text(idx).is_some_and(|text| text.trim_start().starts_with("**"));
    let is_step = |idx: &usize| step_of(outline, *idx).is_some() && (is_within || is_bold(*idx));
    let earlier = (node_idx.saturating_sub(MAX_GAP)..node_idx).rev();
    earlier.take_while(|idx| nodes[*idx].section == nodes[node_idx].section).find(is_step)
}

/// Returns the number of the step that a node is.
fn step_of(outline: &Outline<'_>, node_idx: usize) -> Option<u32> {
    step_number(outline.text(node_idx)?)
}

/// Tells whether a node is a condition of the step above it: it stands before another step, or
/// further in than what follows.
fn is_condition_of_step(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> bool {
    let Some(text) = outline.text(node_idx).filter(|text| is_step_condition(text)) else {
        return false;
    };
    let is_before_step =
        || after(nodes, node_idx).is_some_and(|next| step_of(outline, next).is_some_and(|n| n > 1));
    text.starts_with([' ', '\t']) || is_before_step()
}

/// Returns the condition of the step that a node is, or belongs to, if it is a node of its own.
fn own_condition(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    let is_indented = outline.text(node_idx)?.starts_with([' ', '\t']);
    if !is_indented && !outline.is_code(node_idx) && step_of(outline, node_idx).is_none() {
        return None;
    }
    (node_idx + 1..nodes.len())
        .take(MAX_GAP)
        .take_while(|idx| nodes[*idx].section == nodes[node_idx].section)
        .take_while(|idx| step_of(outline, *idx).is_none())
        .find(|idx| is_condition_of_step(outline, nodes, *idx))
}

/// Returns the first rows of the table of some later ones.
fn head_of_table(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Option<usize> {
    if let Some(table) = outline.table_before(node_idx) {
        return nodes[..node_idx].iter().rposition(|node| node.start as usize <= table);
    }
    let row_before = |idx: &usize| before(nodes, *idx).filter(|before| is_table(outline, *before));
    if !is_table(outline, node_idx) {
        return None;
    }
    std::iter::successors(row_before(&node_idx), row_before).last()
}

fn is_table(outline: &Outline<'_>, node_idx: usize) -> bool {
    outline.text(node_idx).is_some_and(|text| text.trim_start().starts_with('|'))
}

/// Returns the short conditions and prohibitions of the section of a node, those that stand near.
fn guards<'a>(
    outline: &'a Outline<'_>,
    nodes: &'a [Node],
    node_idx: usize,
) -> impl Iterator<Item = usize> + 'a {
    let near = node_idx.saturating_sub(MAX_GAP)..nodes.len().min(node_idx + MAX_GAP + 1);
    near.filter(move |idx| *idx != node_idx && nodes[*idx].section == nodes[node_idx].section)
        .filter(|idx| nodes[*idx].n_tokens <= MAX_GUARD_TOKENS && is_guard(outline, nodes, *idx))
}

/// Returns the short conditions and prohibitions that the section around a section begins with.
pub(super) fn guards_around(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> Vec<usize> {
    let Some(parent) = outline.sections_of(node_idx).nth(1) else { return Vec::new() };
    let is_in =
        |section: usize, idx: &usize| nodes[*idx].section.is_some_and(|of| of as usize == section);
    // The own text of a section stands before the sections in it.
    let own = nodes.partition_point(|node| node.section.is_none_or(|of| (of as usize) < parent));
    let own = (own..nodes.len()).take(MAX_GAP).take_while(|idx| is_in(parent, idx));
    own.filter(|idx| nodes[*idx].n_tokens <= MAX_GUARD_TOKENS && is_guard(outline, nodes, *idx))
        .collect()
}

/// Tells whether a node is a condition, or says loudly that something must or must not be done.
fn is_guard(outline: &Outline<'_>, nodes: &[Node], node_idx: usize) -> bool {
    let text = outline.text(node_idx).unwrap_or("");
    nodes[node_idx].kind == NodeKind::Precondition
        || WARNINGS.iter().any(|mark| text.contains(mark))
        || CONDITIONS.iter().any(|begin| text.starts_with(begin))
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

    /// Calls `f` with the position of the first node that begins so.
    fn at<T>(body: &str, begin: &str, f: impl FnOnce(&Outline<'_>, &[Node], usize) -> T) -> T {
        outlined(body, 900, |outline, tree| {
            let text = |idx: usize| tree.nodes[idx].text(body).unwrap();
            let idx = (0..tree.nodes.len()).find(|idx| text(*idx).starts_with(begin)).unwrap();
            f(&outline, &tree.nodes, idx)
        })
    }

    /// Returns the first lines of the nodes that come with a node.
    fn with(body: &str, begin: &str) -> Vec<String> {
        at(body, begin, |outline, nodes, idx| {
            let all = with_companions(outline, nodes, idx).into_iter();
            let line = |idx: usize| outline.text(idx).unwrap().lines().next().unwrap().to_owned();
            all.map(|(idx, _)| line(idx)).collect()
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
    fn steps_that_do_not_fit_are_shown_in_short() {
        let long = "and so on ".repeat(60);
        let body = format!(
            "# A\n\n1. Stop it.\n   {long}\n2. Copy it.\n   {long}\n3. Start it.\n   {long}\n"
        );
        let extents = |max_tokens: f32| {
            let all =
                at(&body, "3.", |outline, nodes, idx| together(outline, nodes, idx, max_tokens));
            (all.choices, all.is_complete)
        };
        let (brief, whole) = (Extent::Brief, Extent::Whole);
        assert_eq!(extents(500.0), (vec![(0, whole), (1, whole), (2, whole)], true));
        assert_eq!(extents(50.0), (vec![(0, brief), (1, brief), (2, whole)], true));
        assert_eq!(extents(5.0), (vec![(2, whole)], false));
        assert_eq!(extents(0.0), (vec![(2, whole)], false));
    }

    #[test]
    fn what_has_no_short_form_is_shown_whole_or_not_at_all() {
        let long = "and so on ".repeat(60);
        let body = format!(
            "# A\n\n1. Stop it.\n2. Copy it.\n3. Start it.\n   {long}\n4. Look.\n   {long}\n"
        );
        let of_step = |max_tokens| {
            at(&body, "4.", |outline, nodes, idx| together(outline, nodes, idx, max_tokens))
        };
        let choices = vec![(0, Extent::Whole), (1, Extent::Brief), (2, Extent::Whole)];
        assert_eq!(of_step(50.0), Together { choices, is_complete: true });
        let choices = vec![(2, Extent::Whole)];
        assert_eq!(of_step(8.0), Together { choices, is_complete: false });
        let body = format!("# A\n\nRun it so {long}.\n\n```\nrun\n```\n");
        let code = at(&body, "```", |outline, nodes, idx| together(outline, nodes, idx, 50.0));
        assert_eq!(code, Together { choices: vec![(1, Extent::Whole)], is_complete: false });
    }

    #[test]
    fn rows_come_with_the_head_of_their_table() {
        for (head, bar) in [
            ("| name | use |\n|---|---|", "| "),
            ("name | use\n---|---", ""),
            ("Options:\n\n| name | use |\n|---|---|", "| "),
        ] {
            let row = |n: usize| format!("{bar}r{n} | {}\n", "word ".repeat(30));
            let rows: String = (0..30).map(row).collect();
            let body = format!("# A\n\n{head}\n{rows}");
            outlined(&body, 900, |outline, tree| {
                let last = tree.nodes.len() - 1;
                assert!(last > 1, "the table is split");
                let expected = [(0, Role::Before), (last, Role::Part)];
                assert_eq!(with_companions(&outline, &tree.nodes, last), expected, "{head}");
            });
        }
    }

    #[test]
    fn indented_code_comes_with_the_text_before_it() {
        let body = "# A\n\nOn the test host, run this.\n\n    purge --all\n\nOther words.\n\n\
                    \tpurge --one\n";
        assert_eq!(with(body, "    purge"), ["On the test host, run this.", "    purge --all"]);
        assert_eq!(with(body, "\tpurge"), ["Other words.", "\tpurge --one"]);
        assert_eq!(with(body, "On").len(), 2);
    }

    #[test]
    fn a_condition_below_a_step_is_a_part_of_it() {
        let long = "and so on ".repeat(30);
        let step =
            |n: usize| format!("{n}. Do part {n}.\n   {long}\n\nIf part {n} fails, undo it.\n\n");
        let body = format!("# A\n\n{}", (1..=4).map(step).collect::<String>());
        // That of the last step may be for all.
        let last = "If part 4 fails, undo it.";
        let begin = |n: usize| format!("{n}. Do part {n}.");
        assert_eq!(with(&body, "2."), [begin(1), begin(2), last.to_owned()]);
        at(&body, "2.", |outline, _, idx| {
            assert!(outline.text(idx).unwrap().ends_with("If part 2 fails, undo it."));
        });
    }

    #[test]
    fn a_condition_behind_the_code_of_a_step_comes_with_it() {
        let step = |n: usize| {
            let code = "run ".repeat(200);
            format!(
                "{n}. Do part {n}.\n\n   ```\n   {code}\n   ```\n\n   If part {n} fails, undo it.\n\n"
            )
        };
        let body = format!("# A\n\n{}", (10..=12).map(step).collect::<String>());
        let (first, code) = ("10. Do part 10.".to_owned(), "   ```".to_owned());
        let failed = |n: usize| format!("   If part {n} fails, undo it.");
        for begin in ["10.", "   ```", "   If part 10"] {
            assert_eq!(with(&body, begin), [first.clone(), code.clone(), failed(10)], "{begin}");
        }
        let chosen = |max_tokens| {
            at(&body, "   If part 11", |outline, nodes, idx| {
                let choices = together(outline, nodes, idx, max_tokens).choices;
                choices.into_iter().map(|(idx, _)| idx).collect::<Vec<usize>>()
            })
        };
        assert_eq!((chosen(900.0), chosen(2.0)), (vec![0, 1, 2, 3, 4, 5], vec![5]));
    }

    #[test]
    fn what_is_shown_needs_nothing_more() {
        let long = "and so on ".repeat(30);
        let step = |n: usize| format!("{n}. Do part {n}.\n   {long}\n\n");
        let body = format!("# A\n\n{}", (1..=3).map(step).collect::<String>());
        outlined(&body, 900, |mut outline, tree| {
            let found = with_companions(&outline, &tree.nodes, 2);
            assert_eq!(found, [(0, Role::Before), (1, Role::Before), (2, Role::Part)]);
            assert!(outline.select(1));
            assert_eq!(with_companions(&outline, &tree.nodes, 2), [(2, Role::Part)]);
        });
    }

    #[test]
    fn later_items_come_with_the_text_before_the_list() {
        let item = |n: usize| format!("- item {n} {}\n", "word ".repeat(60));
        let items: String = (0..4).map(item).collect();
        let body = format!("# A\n\nOnly these files:\n\n{items}\nText.\n");
        assert_eq!(with(&body, "- item 3"), ["Only these files:", item(3).trim_end()]);
        assert_eq!(with(&body, "Text."), ["Text."]);
    }

    #[test]
    fn what_is_announced_and_the_rest_of_a_line_come_along() {
        let sentence = "This sentence is one of many that stand in one long line of text. ";
        let body = format!("# A\n\n{}\n\nSay this —— \n\nIt is done.\n", sentence.repeat(40));
        let first = at(&body, "This", with_companions);
        assert!(first.len() > 2, "{first:?}");
        assert!(first.iter().all(|(_, role)| *role == Role::Part));
        let wrapped = body.replace(". ", ".\n").replace(".\n\n\n", ".\n\n");
        assert!(at(&wrapped, "This", with_companions).len() > 2, "{wrapped}");
        assert_eq!(with("# A\n\nSay this ——\n\nIt is done.\n\nMore.\n", "Say").len(), 2);
        assert_eq!(with("# A\n\nSay this.\n\nIt is done.\n\nMore.\n", "Say").len(), 1);
    }

    #[test]
    fn warnings_of_the_section_come_along() {
        let body = "# A\n\n1. Open the file and save it.\n\nOther words stand here.\n\n\
                    IMPORTANT: the file is shared.\n\n# B\n\nNEVER print it.\n";
        let found = ["1. Open the file and save it.", "IMPORTANT: the file is shared."];
        assert_eq!(with(body, "1."), found);
        let found = ["Other words stand here.", "IMPORTANT: the file is shared."];
        assert_eq!(with(body, "Other"), found);
    }

    #[test]
    fn a_step_comes_with_the_condition_beside_it() {
        let body =
            "# A\n\n1. Open the file and save it.\n\nYou must own the file.\n\nOther words.\n";
        assert_eq!(with(body, "1."), ["1. Open the file and save it.", "You must own the file."]);
    }

    #[test]
    fn a_part_comes_with_the_line_that_announces_it() {
        let body =
            "# A\n\nWords.\n\n**A user asks \"why\"**: tell both ——\n- It costs.\n- It pays.\n";
        assert_eq!(with(body, "- It costs")[0], "**A user asks \"why\"**: tell both ——");
    }

    #[test]
    fn conditions_of_the_section_around_are_found() {
        let body = "You must read this.\n\n# A\n\n## Clouds\n\nYou must own the sky.\n\nMore words.\n\n\
                    NEVER print it.\n\n### Dogs\n\nDogs bark.\n\n### Cats\n\nCats sleep.\n";
        let around = |begin: &str| at(body, begin, guards_around);
        assert_eq!((around("Dogs"), around("Cats")), (vec![1, 3], vec![1, 3]));
        assert_eq!((around("More"), around("You must read")), (vec![], vec![]));
    }

    #[test]
    fn what_belongs_to_a_step_comes_with_it() {
        let long = "and so on ".repeat(100);
        let body =
            format!("# A\n\n1. Stop it. {long}\n\n   ```\n   stop\n   ```\n\n2. Start it.\n");
        assert_eq!(with(&body, "   ```").len(), 2);
        let body = format!("# A\n\n**Step 2 — Copy**: {long}\n\nText.\n\nRun it.\n");
        assert_eq!(with(&body, "Run it.").len(), 2);
    }

    #[test]
    fn a_condition_comes_where_the_steps_before_do_not() {
        let long = "and so on ".repeat(60);
        let body = format!(
            "# A\n\nIMPORTANT: it is shared.\n\n- a\n\nWords.\n\n```\n{long}\n```\n\n1. Stop it. {long}\n"
        );
        let chosen = at(&body, "Words", |outline, nodes, idx| together(outline, nodes, idx, 20.0));
        assert!(chosen.choices.contains(&(0, Extent::Whole)), "{chosen:?}");
    }

    #[test]
    fn bold_steps_come_with_those_before() {
        let long = "and so on ".repeat(60);
        let body = format!(
            "# A\n\n**Step 1 — Look**: {long}\n\n**Step 2 — Copy**: {long}\n\n**Bold**: {long}\n"
        );
        assert_eq!(with(&body, "**Step 2").len(), 2);
        assert_eq!(with(&body, "**Bold").len(), 1);
    }
}
