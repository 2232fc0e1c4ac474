//! [`Passage`]: a node that may name others.

use super::words::Word;

/// A node that may name others.
pub(super) struct Passage<'a> {
    /// Its position.
    pub(super) node: usize,
    /// Its section.
    pub(super) section: Option<u32>,
    /// The sections around it, its own first.
    pub(super) around: Vec<usize>,
    pub(super) text: &'a str,
    pub(super) words: Vec<Word<'a>>,
}

/// Returns the item whose node is nearest to another one; items rise by their node. Of two as near,
/// the first.
pub(super) fn nearest<T>(items: &[T], to: usize, node: impl Fn(&T) -> usize) -> Option<&T> {
    let after = items.partition_point(|item| node(item) < to);
    let before = after.checked_sub(1).and_then(|before| items.get(before));
    match (before, items.get(after)) {
        (Some(before), Some(after)) if node(after) - to < to - node(before) => Some(after),
        (before, after) => before.or(after),
    }
}
