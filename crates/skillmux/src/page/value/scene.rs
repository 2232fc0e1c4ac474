//! [`features`]: the features of all nodes of a body.

use std::collections::HashMap;

use super::{
    super::{
        PageRequest,
        outline::Outline,
        scene::{MAX_COMPARED, Scene},
    },
    NodeFeatures,
    clauses::of_clauses,
    lines::best_lines,
    meaning::Meaning,
    numbers::{places, scaled, standardised},
};
use crate::skill::{Node, NodeKind};

/// Returns the features of the first [`MAX_COMPARED`] nodes of a body, with what an encoder makes
/// of them.
pub(super) fn features(
    request: &PageRequest<'_>,
    outline: &Outline<'_>,
    scene: &Scene,
    meaning: &Meaning,
) -> Vec<NodeFeatures> {
    let nodes = &request.nodes.nodes[..request.nodes.nodes.len().min(MAX_COMPARED)];
    let words = scaled(&scene.text_cosines);
    let headings = scaled(&scene.heading_cosines);
    let texts: Vec<&str> = (0..nodes.len()).map(|idx| outline.text(idx).unwrap_or("")).collect();
    let lines = scaled(&best_lines(request.query, &texts, request.terms));
    let places_by_words = places(&words);
    let places_by_meaning = places(&meaning.of_nodes);
    let deviations = standardised(&meaning.of_nodes);
    let best = |cosines: &[f32]| cosines.iter().copied().fold(-1.0, f32::max);
    let (best_node, best_heading) = (best(&meaning.of_nodes), best(&meaning.of_headings));
    let sections = section_means(nodes, &deviations);
    let clauses = of_clauses(&meaning.of_clauses);
    let is = |kind: NodeKind, node: &Node| if node.kind == kind { 1.0 } else { 0.0 };
    let of_section = |of: &[f32], node: &Node| {
        node.section.and_then(|section| of.get(section as usize)).copied()
    };
    let beside = |idx: Option<usize>, node: &Node| {
        let beside = idx.filter(|idx| nodes.get(*idx).is_some_and(|b| b.section == node.section));
        beside.map_or(0.0, |idx| words[idx])
    };
    let features = |(idx, node): (usize, &Node)| NodeFeatures {
        heading_words: of_section(&headings, node).unwrap_or(0.0),
        best_line: lines[idx],
        place_by_words: if words[idx] > 0.0 { 1.0 / places_by_words[idx] } else { 0.0 },
        words_before: beside(idx.checked_sub(1), node),
        words_after: beside(Some(idx + 1), node),
        meaning: meaning.of_nodes[idx] - best_node,
        place_by_meaning: 1.0 / places_by_meaning[idx],
        heading_meaning: of_section(&meaning.of_headings, node).map_or(0.0, |of| of - best_heading),
        section_meaning: sections.get(&node.section).copied().unwrap_or(0.0),
        token_share: meaning.token_shares.get(idx).copied().unwrap_or(0.0),
        clause_meaning: clauses.get(idx).map_or(0.0, |of| of.meaning),
        place_by_clause: clauses.get(idx).map_or(0.0, |of| of.place),
        clause_rise: clauses.get(idx).map_or(0.0, |of| of.rise),
        best_clause_share: clauses.get(idx).map_or(0.0, |of| of.best_share),
        clause_share: clauses.get(idx).map_or(0.0, |of| of.share),
        is_example: is(NodeKind::Example, node),
        is_error_handling: is(NodeKind::ErrorHandling, node),
        is_concept: is(NodeKind::Concept, node),
        length: (node.n_tokens as f32).ln_1p() / 5.0,
        position: idx as f32 / nodes.len() as f32,
        n_nodes: (nodes.len() as f32).ln() / 5.0,
    };
    nodes.iter().enumerate().map(features).collect()
}

/// Returns the mean of the numbers of the nodes of each section.
fn section_means(nodes: &[Node], numbers: &[f32]) -> HashMap<Option<u32>, f32> {
    let mut sums: HashMap<Option<u32>, (f32, f32)> = HashMap::new();
    for (node, number) in nodes.iter().zip(numbers) {
        let (sum, n) = sums.entry(node.section).or_default();
        *sum += number;
        *n += 1.0;
    }
    sums.into_iter().map(|(section, (sum, n))| (section, sum / n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_have_the_places_of_their_order() {
        assert_eq!(places(&[0.5, 0.9, 0.5]), [2.0, 1.0, 3.0]);
        assert_eq!(scaled(&[1.0, 2.0]), [0.5, 1.0]);
        assert_eq!(scaled(&[0.0]), [0.0]);
        assert_eq!(standardised(&[1.0, 3.0]), [-1.0, 1.0]);
        assert_eq!(standardised(&[2.0, 2.0]), [0.0, 0.0]);
    }
}
