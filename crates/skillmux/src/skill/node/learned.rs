//! [`KindWeights`]: the kind of a node by a logistic regression over what is seen of it.

use std::{collections::BTreeMap, iter};

use serde::{Deserialize, Serialize};

use super::{
    classifier::KindClassifier,
    tree::{Node, NodeKind, NodeTree},
};
use crate::text::{feature_place, is_common_han};

/// Features of a node: the first one is there of every node, the others are hashes.
pub const N_KIND_FEATURES: usize = 8192;

/// Begin of a node whose words are features: what a node is for is said there.
const WORDS_BYTES: usize = 400;
/// Lines of a node whose first words are features.
const MAX_LINES: usize = 8;
/// Part of a node that is measured.
const MEASURED_BYTES: usize = 4096;

/// Weights of a logistic regression for each kind, in hundredths, over [`kind_features`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<NodeKind, Vec<i16>>", into = "BTreeMap<NodeKind, Vec<i16>>")]
pub struct KindWeights(BTreeMap<NodeKind, Vec<i16>>);

impl KindWeights {
    /// Returns the classifier of weights; `None` unless each kind has [`N_KIND_FEATURES`] of them.
    pub fn new(weights: BTreeMap<NodeKind, Vec<i16>>) -> Option<Self> {
        let is_whole = |kind| weights.get(&kind).is_some_and(|row| row.len() == N_KIND_FEATURES);
        NodeKind::ALL.into_iter().all(is_whole).then_some(Self(weights))
    }

    /// Returns the likeliest kind of a node with these features; of equal ones the first of
    /// [`NodeKind::ALL`].
    pub fn kind(&self, features: &[u16]) -> NodeKind {
        let score = |row: &Vec<i16>| -> i64 {
            features.iter().filter_map(|at| row.get(usize::from(*at))).map(|w| i64::from(*w)).sum()
        };
        let scored = self.0.iter().map(|(kind, row)| (*kind, score(row)));
        let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(NodeKind::Concept, |(kind, _)| kind)
    }
}

impl TryFrom<BTreeMap<NodeKind, Vec<i16>>> for KindWeights {
    type Error = String;

    fn try_from(weights: BTreeMap<NodeKind, Vec<i16>>) -> Result<Self, String> {
        let message = || format!("each of the six kinds needs {N_KIND_FEATURES} weights");
        Self::new(weights).ok_or_else(message)
    }
}

impl From<KindWeights> for BTreeMap<NodeKind, Vec<i16>> {
    fn from(KindWeights(weights): KindWeights) -> Self {
        weights
    }
}

impl KindClassifier for KindWeights {
    fn identity(&self) -> String {
        "learned".to_owned()
    }

    fn kinds(&self, body: &str, tree: &NodeTree) -> Vec<NodeKind> {
        kind_features(body, tree).iter().map(|features| self.kind(features)).collect()
    }
}

/// Returns what is seen of each node of a body, as ascending positions below [`N_KIND_FEATURES`]:
/// its words, those at the begin of its lines and of the headings above it, the shape of its text,
/// its place, its kind by the rules, and the shapes and kinds beside it.
///
/// The title of a body is no heading, as for the rules. Linear in the bodies; some microseconds a
/// node.
pub fn kind_features(body: &str, tree: &NodeTree) -> Vec<Vec<u16>> {
    let NodeTree { nodes, sections } = tree;
    // Once for each section: the whole heading is read for its title.
    let titles: Vec<&str> = sections.iter().map(|section| section.title(body)).collect();
    let shapes: Vec<u8> = nodes.iter().map(|node| shape(node.text(body).unwrap_or(""))).collect();
    let of_node = |(idx, node): (usize, &Node)| {
        let mut seen = Seen { features: vec![0], shape: shapes[idx] };
        seen.add_text(node.text(body).unwrap_or(""));
        seen.add_headings(tree, &titles, node);
        seen.add(b'r', [kind_byte(node.kind)]);
        seen.add(b'R', [kind_byte(node.kind), shapes[idx]]);
        seen.add(b's', [shapes[idx]]);
        let beside = [(b'p', idx.checked_sub(1)), (b'n', Some(idx + 1))];
        for (group, beside) in beside {
            let Some(beside) = beside.filter(|beside| *beside < nodes.len()) else {
                seen.add(group, *b"end");
                continue;
            };
            seen.add(group, [b'k', kind_byte(nodes[beside].kind)]);
            seen.add(group, [b's', shapes[beside]]);
        }
        seen.add_number(b'L', node.n_tokens.checked_ilog2().unwrap_or(0).min(8));
        let quarter = idx * 4 / nodes.len();
        seen.add_number(b'P', u32::try_from(quarter).unwrap_or(3));
        seen.into_sorted()
    };
    nodes.iter().enumerate().map(of_node).collect()
}

/// Features of a node, as they come.
struct Seen {
    features: Vec<u16>,
    /// Shape of the node, for what means something else in code and in prose.
    shape: u8,
}

impl Seen {
    fn add(&mut self, group: u8, name: impl IntoIterator<Item = u8>) {
        self.features.push(feature_place(group, name, N_KIND_FEATURES));
    }

    fn add_word(&mut self, group: u8, word: &str) {
        self.add(group, word.bytes().map(|byte| byte.to_ascii_lowercase()));
    }

    fn add_word_of_shape(&mut self, group: u8, word: &str) {
        let shape = iter::once(self.shape);
        self.add(group, shape.chain(word.bytes().map(|byte| byte.to_ascii_lowercase())));
    }

    fn add_number(&mut self, group: u8, number: u32) {
        self.add(group, number.to_le_bytes());
    }

    fn add_text(&mut self, text: &str) {
        let begin = &text[..text.floor_char_boundary(WORDS_BYTES)];
        let mut n_words = 0;
        for_each_word(begin, &mut |word| {
            self.add_word(b't', word);
            if n_words < 2 {
                self.add_word(b'0' + n_words, word);
                if n_words == 0 {
                    self.add_word_of_shape(b'F', word);
                }
                n_words += 1;
            }
        });
        let measured = &text[..text.floor_char_boundary(MEASURED_BYTES)];
        for line in measured.lines().skip(1).take(MAX_LINES) {
            let mut is_first = true;
            let begin = &line[..line.floor_char_boundary(80)];
            for_each_word(begin, &mut |word| {
                if is_first {
                    self.add_word(b'l', word);
                    is_first = false;
                }
            });
        }
        let mut code_bytes = 0;
        for (at, part) in measured.split("```").enumerate() {
            if at % 2 == 1 {
                code_bytes += part.len();
                self.add_word(b'c', part.lines().next().unwrap_or("").trim());
            }
        }
        let quarters = code_bytes * 4 / measured.len().max(1);
        self.add_number(b'C', u32::try_from(quarters).unwrap_or(4));
        let is_item = |line: &&str| line.trim_start().starts_with(['-', '*', '+']);
        let n_items = measured.lines().filter(is_item).count();
        for (group, n, most) in [
            (b'I', n_items, 4),
            (b'B', measured.matches("**").count() / 2, 4),
            (b'T', measured.matches('`').count() / 2, 5),
            (b'E', usize::from(text.trim_end().ends_with([':', '：'])), 1),
            (b'A', usize::from(measured.contains("|-") || measured.contains("| -")), 1),
        ] {
            self.add_number(group, u32::try_from(n.min(most)).unwrap_or(0));
        }
    }

    fn add_headings(&mut self, tree: &NodeTree, titles: &[&str], node: &Node) {
        let mut at = node.section;
        let mut group = b'h';
        let mut depth = 0;
        // Walking from parent to parent meets each of the six levels at most once.
        while let Some(idx) = at.map(|at| at as usize).filter(|_| depth < 6)
            && let Some((section, title)) = tree.sections.get(idx).zip(titles.get(idx))
        {
            let is_title = idx == 0 && section.level == 1;
            if !is_title {
                let title = &title[..title.floor_char_boundary(WORDS_BYTES)];
                for_each_word(title, &mut |word| {
                    self.add_word(group, word);
                    if group == b'h' {
                        self.add_word_of_shape(b'H', word);
                    }
                });
                if group == b'h' {
                    self.add_word(b'W', title);
                }
                group = b'a';
            }
            depth += 1;
            at = section.parent;
        }
        self.add_number(b'D', depth);
    }

    fn into_sorted(mut self) -> Vec<u16> {
        self.features.sort_unstable();
        self.features.dedup();
        self.features
    }
}

/// Visits words of ASCII letters and digits, and pairs of Chinese characters.
fn for_each_word(text: &str, visit: &mut dyn FnMut(&str)) {
    let (mut word, mut han) = (None, None);
    for (at, c) in text.char_indices().chain(iter::once((text.len(), ' '))) {
        if c.is_ascii_alphanumeric() {
            word.get_or_insert(at);
        } else if let Some(start) = word.take() {
            visit(&text[start..at]);
        }
        let is_han = is_common_han(c);
        if let Some(start) = han.take().filter(|_| is_han) {
            visit(&text[start..at + c.len_utf8()]);
        }
        han = is_han.then_some(at);
    }
}

/// Returns a letter for what a text begins with.
fn shape(text: &str) -> u8 {
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.as_bytes() {
        [b'`', b'`', b'`', ..] | [b'~', b'~', b'~', ..] => b'c',
        [b'|', ..] => b't',
        [b'>', ..] => b'q',
        [b'<', ..] => b'h',
        [b'*', b'*', ..] => b'b',
        [b'-' | b'*' | b'+', b' ', ..] => b'u',
        _ if digits > 0 && text[digits..].starts_with(['.', ')']) => b'o',
        _ => b'p',
    }
}

fn kind_byte(kind: NodeKind) -> u8 {
    let place = NodeKind::ALL.iter().position(|known| *known == kind);
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    /// Weights of 0, but for one feature of one kind.
    fn weights(kind: NodeKind, feature: u16) -> KindWeights {
        let mut weights: BTreeMap<NodeKind, Vec<i16>> =
            NodeKind::ALL.map(|kind| (kind, vec![0; N_KIND_FEATURES])).into();
        weights.get_mut(&kind).unwrap()[usize::from(feature)] = 5;
        KindWeights::new(weights).unwrap()
    }

    #[test]
    fn a_heading_that_weighs_decides_the_kinds_below_it() {
        let body =
            "# Scans\n\n## Traps\n\nPages may be crooked.\n\n## Use\n\nPages may be turned.\n";
        let tree = NodeTree::parse(body);
        let mut seen = Seen { features: Vec::new(), shape: b'p' };
        seen.add_word(b'h', "TRAPS");
        let learned = weights(NodeKind::ErrorHandling, seen.features[0]);
        assert_eq!(learned.kinds(body, &tree), [NodeKind::ErrorHandling, NodeKind::Step]);
    }

    #[test]
    fn features_are_ascending_and_in_bounds() {
        let body = "# T\n\nRun `a`：\n\n```sh\nls\n```\n\n- 旋转页面\n\n| a |\n|---|\n| b |\n";
        for features in kind_features(body, &NodeTree::parse(body)) {
            assert_eq!(features[0], 0);
            assert!(features.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(features.iter().all(|at| usize::from(*at) < N_KIND_FEATURES));
        }
    }

    #[test]
    fn weights_of_another_shape_are_refused() {
        let json = serde_json::to_string(&weights(NodeKind::Step, 7)).unwrap();
        assert_eq!(serde_json::from_str::<KindWeights>(&json).unwrap(), weights(NodeKind::Step, 7));
        let error = serde_json::from_str::<KindWeights>("{\"step\":[1]}").unwrap_err();
        assert!(error.to_string().contains("each of the six kinds"), "{error}");
    }

    #[test]
    fn a_long_title_above_many_nodes_takes_linear_time() {
        assert_linear("#", 1 << 16, |fill| {
            let body = format!("# A\n\n## x {fill}\n{}", "### s\nx\n".repeat(fill.len() / 64));
            kind_features(&body, &NodeTree::parse(&body));
        });
    }

    #[test]
    fn long_bodies_take_linear_time() {
        assert_linear("- run it\n", 1 << 19, |body| {
            kind_features(body, &NodeTree::parse(body));
        });
    }
}
