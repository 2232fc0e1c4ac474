//! Why a part of a skill is shown or not.

use std::fmt::Write as _;

use serde::Serialize;
use skillmux::{
    page::{NodeFeatures, NodeWeights, Page},
    skill::{Node, NodeKind, NodeTree},
    text::printable,
};

use super::paint::{FAINT, STRONG, grouped, styled};

/// Features that a line of text names.
const N_NAMED: usize = 3;

/// Characters of a part that a line of text shows.
const N_CHARS: usize = 44;

/// A part of a skill, and what speaks for it.
#[derive(Debug, Serialize)]
pub(crate) struct PartReason {
    position: usize,
    kind: NodeKind,
    n_tokens: u32,
    /// How likely the query needs it, in `[0, 1]`.
    probability: f32,
    is_shown: bool,
    /// What the log-odds would lose if a feature were the mean over all parts; the largest first.
    reasons: Vec<(&'static str, f32)>,
    /// Its beginning.
    begin: String,
}

/// Returns the reasons of all parts, in the order of the skill. A part may be shown without a
/// reason of its own: another one cannot be read without it, or the whole skill fits.
pub(crate) fn part_reasons(
    page: &Page,
    nodes: &NodeTree,
    body: &str,
    features: &[NodeFeatures],
    weights: &NodeWeights,
) -> Vec<PartReason> {
    let numbers: Vec<_> = features.iter().map(|of| of.to_array()).collect();
    let n = numbers.len().max(1) as f32;
    let mean = |at: usize| numbers.iter().map(|of| of[at]).sum::<f32>() / n;
    let of_mean = NodeFeatures::from_array(std::array::from_fn(mean));
    let shown: Vec<usize> = page.nodes.iter().map(|node| node.position as usize).collect();
    let reason = |(position, node): (usize, &Node)| {
        let of = weights.contributions(&features[position], &of_mean);
        let mut reasons: Vec<_> = NodeFeatures::NAMES.into_iter().zip(of).collect();
        reasons.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let text = node.text(body).unwrap_or("");
        let line = text.lines().find(|line| line.chars().any(char::is_alphanumeric));
        PartReason {
            position,
            kind: node.kind,
            n_tokens: node.n_tokens,
            probability: weights.probability(&features[position]),
            is_shown: shown.binary_search(&position).is_ok(),
            reasons,
            begin: printable(line.unwrap_or("").trim()).chars().take(N_CHARS).collect(),
        }
    };
    nodes.nodes.iter().enumerate().take(features.len()).map(reason).collect()
}

/// Shows a line for each part.
pub(crate) fn why_text(parts: &[PartReason]) -> String {
    let title = format!(
        "{:>5} {:>5} {:>6}  {:<14} {}",
        "part", "need", "tokens", "kind", "why, and its beginning"
    );
    let mut text = format!("\n{}\n", styled(STRONG, &title));
    for part in parts {
        let named = part.reasons.iter().take(N_NAMED).map(|(name, by)| format!("{name} {by:+.1}"));
        let line = format!(
            "{:>5} {:>5.2} {:>6}  {:<14} {}",
            part.position,
            part.probability,
            grouped(part.n_tokens),
            part.kind.as_str(),
            named.collect::<Vec<_>>().join(", ")
        );
        let mark = if part.is_shown { '*' } else { ' ' };
        let line = if part.is_shown { line } else { styled(FAINT, &line) };
        let _ = writeln!(text, "{mark}{line}\n {:>34}{}", "", styled(FAINT, &part.begin));
    }
    text.push_str("\n* shown. need: how likely the answer needs the part. +1.0: one more in log-odds than the mean part has by it.\n");
    text
}
