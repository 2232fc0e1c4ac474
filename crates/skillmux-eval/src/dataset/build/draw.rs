//! Draws at random, the same way for the same seed on every machine and in every version.

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

/// A stream of random numbers.
pub(super) struct Draw {
    rng: ChaCha8Rng,
}

impl Draw {
    /// Returns the stream of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self { rng: ChaCha8Rng::from_seed(bytes) }
    }

    /// Returns a number below `n`, each equally likely to within `n / 2^64`.
    ///
    /// # Panics
    /// Never for an `n` of 1 and more; 0 gives 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        // Lemire's multiplication, without the rejection that would even out the last bit.
        let wide = u128::from(self.rng.next_u64()) * n as u128;
        usize::try_from(wide >> 64).expect("the upper half is below n")
    }

    /// Returns one element.
    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// Shuffles a list (Fisher and Yates).
    fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.below(last + 1);
            list.swap(last, other);
        }
    }
}

/// Hands out all numbers below a bound in random order, and begins anew: each comes equally often.
pub(super) struct Deck {
    n_cards: usize,
    left: Vec<usize>,
}

impl Deck {
    /// Returns a deck of the numbers below `n_cards`.
    pub(super) fn new(n_cards: usize) -> Self {
        Self { n_cards, left: Vec::new() }
    }

    /// Returns the next number that is not among `taken`, or nothing if all are.
    pub(super) fn next(&mut self, taken: &[usize], draw: &mut Draw) -> Option<usize> {
        for _ in 0..2 {
            if let Some(at) = self.left.iter().rposition(|card| !taken.contains(card)) {
                return Some(self.left.remove(at));
            }
            let mut fresh: Vec<usize> = (0..self.n_cards).collect();
            draw.shuffle(&mut fresh);
            // Cards that could not be used now stay on top.
            fresh.append(&mut self.left);
            self.left = fresh;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_good() {
        let mut draw = Draw::new(7);
        let drawn: Vec<usize> = (0..8).map(|_| draw.below(1000)).collect();
        assert_eq!(drawn, [764, 465, 5, 301, 386, 336, 354, 193]);
    }

    #[test]
    fn every_card_comes_equally_often() {
        let (mut deck, mut draw) = (Deck::new(5), Draw::new(1));
        let mut counts = [0; 5];
        for _ in 0..25 {
            let first = deck.next(&[], &mut draw).unwrap();
            let second = deck.next(&[first], &mut draw).unwrap();
            assert_ne!(first, second);
            counts[first] += 1;
            counts[second] += 1;
        }
        assert_eq!(counts, [10; 5]);
        assert_eq!(Deck::new(2).next(&[0, 1], &mut draw), None);
        assert_eq!(Deck::new(0).next(&[], &mut draw), None);
    }
}
