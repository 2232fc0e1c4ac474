//! [`Weights`]: the numbers that training changes.

use super::corpus::Corpus;
use crate::random::Random;

/// Numbers that training changes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights {
    pub(super) dim: usize,
    /// `[n_terms, dim]`, row-major.
    pub(super) vectors: Vec<f32>,
    /// Weights of the terms in a query.
    pub(super) of_queries: Vec<f32>,
}

impl Weights {
    /// Draws directions at random, with lengths after the rarity of the term: the encoder starts as
    /// a compressed lexical match.
    pub(super) fn random(corpus: &Corpus, dim: usize, random: &mut Random) -> Self {
        let scale = 1.0 / (dim as f32).sqrt();
        let row =
            |rarity: &f32| (0..dim).map(|_| random.normal() * scale * rarity).collect::<Vec<f32>>();
        let vectors = corpus.rarities.iter().flat_map(row).collect();
        Self { dim, vectors, of_queries: vec![1.0; corpus.rarities.len()] }
    }
}
