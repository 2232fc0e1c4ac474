//! [`Batch`]: sequences laid end to end.
//!
//! Everything but attention works on one token at a time, so that a batch needs no padding: its
//! tokens are the rows of one matrix, and each sequence attends to its own rows. A text then costs
//! what its own length costs, and its numbers do not depend on how long the others are.

use std::ops::Range;

use super::tokens::Sequence;

/// Tokens of a batch. More make the matrices no better to multiply, and take memory.
const MAX_BATCH_TOKENS: usize = 1024;

/// Sequences that a network reads at once.
#[derive(Clone, Copy)]
pub(super) struct Batch<'s> {
    pub(super) sequences: &'s [Sequence],
    /// Tokens at the begin of every sequence that are left out.
    pub(super) n_skipped: usize,
}

impl<'s> Batch<'s> {
    /// Splits sequences into batches, without the first `n_skipped` tokens of each.
    pub(super) fn split(
        sequences: &'s [Sequence],
        n_skipped: usize,
    ) -> impl Iterator<Item = Batch<'s>> {
        let mut rest = sequences;
        std::iter::from_fn(move || {
            let mut n_tokens = 0;
            let fits = |sequence: &&Sequence| {
                n_tokens += sequence.tokens.len() - n_skipped;
                n_tokens <= MAX_BATCH_TOKENS
            };
            let n_sequences = rest.iter().take_while(fits).count().max(1).min(rest.len());
            let (sequences, after) = rest.split_at(n_sequences);
            rest = after;
            (!sequences.is_empty()).then_some(Batch { sequences, n_skipped })
        })
    }

    /// Returns the tokens, end to end.
    pub(super) fn tokens(&self) -> Vec<u32> {
        self.sequences.iter().flat_map(|s| s.tokens[self.n_skipped..].iter().copied()).collect()
    }

    /// Returns the types of the tokens, end to end.
    pub(super) fn types(&self) -> Vec<u32> {
        self.sequences.iter().flat_map(|s| s.types[self.n_skipped..].iter().copied()).collect()
    }

    /// Returns the position of each token in its sequence, counted from a number.
    pub(super) fn positions(&self, from: usize) -> Vec<u32> {
        let of_sequence = |rows: Range<usize>| {
            (from + self.n_skipped..from + self.n_skipped + rows.len()).map(narrow)
        };
        self.rows().into_iter().flat_map(of_sequence).collect()
    }

    /// Returns the rows of each sequence.
    pub(super) fn rows(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let of_sequence = |sequence: &Sequence| {
            let end = start + sequence.tokens.len() - self.n_skipped;
            let rows = start..end;
            start = end;
            rows
        };
        self.sequences.iter().map(of_sequence).collect()
    }

    /// Returns the first row of each sequence.
    pub(super) fn first_rows(&self) -> Vec<u32> {
        self.rows().into_iter().map(|rows| narrow(rows.start)).collect()
    }

    /// Returns the last row of each sequence.
    pub(super) fn last_rows(&self) -> Vec<u32> {
        self.rows().into_iter().map(|rows| narrow(rows.end - 1)).collect()
    }
}

/// Returns the number of tokens that all sequences begin with, but for the last of each, whose
/// state is asked for.
pub(super) fn n_shared(sequences: &[Sequence]) -> usize {
    let Some((first, rest)) = sequences.split_first() else { return 0 };
    let shortest = sequences.iter().map(|sequence| sequence.tokens.len()).min().unwrap_or(0);
    let same = |tokens: &[u32]| first.tokens.iter().zip(tokens).take_while(|(a, b)| a == b).count();
    let n_same = rest.iter().map(|sequence| same(&sequence.tokens)).min().unwrap_or(0);
    n_same.min(shortest.saturating_sub(1))
}

fn narrow(position: usize) -> u32 {
    u32::try_from(position).expect("a batch has fewer than 2^32 tokens")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(all: &[&[u32]]) -> Vec<Sequence> {
        let sequence =
            |tokens: &&[u32]| Sequence { tokens: tokens.to_vec(), types: vec![0; tokens.len()] };
        all.iter().map(sequence).collect()
    }

    #[test]
    fn positions_go_on_after_what_is_left_out() {
        let all = sequences(&[&[7, 8, 1, 2], &[7, 8, 3]]);
        let batch = Batch { sequences: &all, n_skipped: 2 };
        assert_eq!(batch.tokens(), [1, 2, 3]);
        assert_eq!(batch.positions(0), [2, 3, 2]);
        assert_eq!(batch.rows(), [0..2, 2..3]);
        assert_eq!(batch.last_rows(), [1, 2]);
    }

    #[test]
    fn batches_hold_all_sequences_in_their_order() {
        let long = vec![1; MAX_BATCH_TOKENS + 1];
        let half = vec![2; MAX_BATCH_TOKENS / 2];
        let all = sequences(&[&half, &half, &long, &half]);
        let sizes: Vec<usize> = Batch::split(&all, 0).map(|batch| batch.sequences.len()).collect();
        assert_eq!(sizes, [2, 1, 1]);
        assert_eq!(Batch::split(&[], 0).count(), 0);
    }

    #[test]
    fn the_last_token_is_never_shared() {
        assert_eq!(n_shared(&sequences(&[&[1, 2, 3], &[1, 2, 4, 5]])), 2);
        assert_eq!(n_shared(&sequences(&[&[1, 2], &[1, 2, 4]])), 1);
        assert_eq!(n_shared(&sequences(&[&[1, 2, 3], &[2]])), 0);
        assert_eq!(n_shared(&sequences(&[&[1, 2, 3]])), 0);
        assert_eq!(n_shared(&[]), 0);
    }
}
