//! [`TokenEncoder`]: texts to one vector for each token.

use std::{fmt, ops::Range};

use crate::{error::Result, model::Encoder};

/// An [`Encoder`] that also tells what each token of a text means where it stands, for late
/// interaction (`ColBERT`; Khattab and Zaharia 2020).
pub trait TokenEncoder: Encoder {
    /// Returns the tokens of each text, in their order; a batch gives what one by one gives.
    ///
    /// # Errors
    /// As for [`encode`](Encoder::encode).
    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<TokenVectors>>;

    /// Returns the tokens of a query.
    ///
    /// # Errors
    /// As for [`encode`](Encoder::encode).
    fn encode_query_tokens(&self, query: &str) -> Result<TokenVectors>;

    /// Returns the clauses of a query with these tokens, as ranges of them in their order: what
    /// stands between commas, full stops, and words that join. None is empty, and no two overlap.
    fn clauses(&self, tokens: &[u32]) -> Vec<Range<usize>> {
        std::iter::once(0..tokens.len()).filter(|whole| !whole.is_empty()).collect()
    }
}

impl fmt::Debug for dyn TokenEncoder + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TokenEncoder").field(self.identity()).finish()
    }
}

/// The tokens of a text, and what each means there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TokenVectors {
    /// Which token each is, by its number in the vocabulary of the model; none where the text says
    /// nothing to the model.
    pub tokens: Vec<u32>,
    /// The vectors of the tokens, `[n_tokens, dim]`, row-major; each has Euclidean length 1 within
    /// `1e-3`, or is all zero.
    pub vectors: Vec<f32>,
}

impl TokenVectors {
    /// Returns whether each token has a vector of so many finite numbers.
    pub(crate) fn has_dim(&self, dim: usize) -> bool {
        dim > 0
            && self.tokens.len().checked_mul(dim) == Some(self.vectors.len())
            && self.vectors.iter().all(|x| x.is_finite())
    }

    /// Returns the largest cosine of each token of `self` with a token of another text, in the
    /// order of the tokens, in `[0, 1]`; 0 where the other text has none above 0.
    ///
    /// # Panics
    /// If `dim` is 0.
    pub fn best_cosines(&self, other: &Self, dim: usize) -> Vec<f32> {
        let best = |token: &[f32]| {
            let cosines = other.vectors.chunks_exact(dim).map(|of_other| dot(token, of_other));
            cosines.fold(0.0, f32::max).min(1.0)
        };
        self.vectors.chunks_exact(dim).map(best).collect()
    }
}

/// Returns the dot product of two vectors of the same length.
/// Eight sums that do not wait for each other let the processor add eight products at once.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    const N_SUMS: usize = 8;
    let mut sums = [0.0; N_SUMS];
    let (a, b) = (a.chunks_exact(N_SUMS), b.chunks_exact(N_SUMS));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in a.zip(b) {
        for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cosine_is_that_with_the_nearest_token() {
        let of = |vectors: &[f32]| TokenVectors { tokens: vec![1, 2], vectors: vectors.to_vec() };
        let query = of(&[1.0, 0.0, 0.6, 0.8]);
        let text = of(&[0.0, 1.0, 0.6, 0.8]);
        assert_eq!(query.best_cosines(&text, 2), [0.6, 1.0]);
        assert_eq!(query.best_cosines(&TokenVectors::default(), 2), [0.0, 0.0]);
        assert!(TokenVectors::default().best_cosines(&text, 2).is_empty());
    }

    #[test]
    fn a_product_has_all_its_terms() {
        let a: Vec<f32> = (0..19).map(|n| n as f32).collect();
        assert!((dot(&a, &[1.0; 19]) - 171.0).abs() < 1e-3);
        assert!((dot(&a[..3], &a[..3]) - 5.0).abs() < 1e-6);
    }
}
