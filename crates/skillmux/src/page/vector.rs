//! [`TermVector`]: sparse tf-idf vectors of the nodes of one skill, in place of the paper's embeddings.

use std::collections::HashMap;

use super::TermSource;

/// A sparse vector: weights by term, sorted by term, of length 1 or empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TermVector(Vec<(u32, f32)>);

/// Counts the terms of texts and turns the counts into vectors that compare by cosine.
///
/// A term weighs `(1 + ln tf) · idf · ln(1 + n_texts / df)`: `idf` tells how rare it is in the
/// library, the last factor how rare among the nodes of this skill, where a topic word that
/// stands in every node tells none from another.
pub(super) struct TermCounts<'a> {
    source: &'a TermSource<'a>,
    ids: HashMap<String, u32>,
    idf: Vec<f32>,
    /// Counts of each text, sorted by term.
    texts: Vec<Vec<(u32, f32)>>,
}

impl<'a> TermCounts<'a> {
    pub(super) fn new(source: &'a TermSource<'a>) -> Self {
        Self { source, ids: HashMap::new(), idf: Vec::new(), texts: Vec::new() }
    }

    /// Counts the terms of `text` and adds the counts to the texts.
    pub(super) fn add(&mut self, text: &str) {
        let counts = self.count(text);
        self.texts.push(counts);
    }

    fn count(&mut self, text: &str) -> Vec<(u32, f32)> {
        let Self { source, ids, idf, .. } = self;
        let mut terms: Vec<u32> = Vec::new();
        (source.terms)(text, &mut |term| {
            if let Some(id) = ids.get(term) {
                terms.push(*id);
            } else if let Ok(id) = u32::try_from(idf.len()) {
                ids.insert(term.to_owned(), id);
                let weight = (source.idf)(term);
                idf.push(if weight.is_finite() { weight.max(0.0) } else { 0.0 });
                terms.push(id);
            }
        });
        terms.sort_unstable();
        let same_terms = terms.chunk_by(|a, b| a == b);
        same_terms.map(|same| (same[0], same.len() as f32)).collect()
    }

    /// Returns the vectors of the texts in the order they were added, and that of `query`.
    pub(super) fn into_vectors(mut self, query: &str) -> (Vec<TermVector>, TermVector) {
        let query_counts = self.count(query);
        let mut n_texts_with = vec![0_u32; self.idf.len()];
        for (term, _) in self.texts.iter().flatten() {
            n_texts_with[*term as usize] += 1;
        }
        let n_texts = self.texts.len() as f32;
        let rarity = |(idf, df): (&f32, &u32)| idf * (n_texts / (*df).max(1) as f32).ln_1p();
        let weights: Vec<f32> = self.idf.iter().zip(&n_texts_with).map(rarity).collect();
        let to_vector = |counts: Vec<(u32, f32)>| TermVector::new(counts, &weights);
        (self.texts.into_iter().map(to_vector).collect(), to_vector(query_counts))
    }
}

impl TermVector {
    fn new(mut counts: Vec<(u32, f32)>, weights: &[f32]) -> Self {
        for (term, weight) in &mut counts {
            *weight = (1.0 + weight.ln()) * weights[*term as usize];
        }
        counts.retain(|(_, weight)| *weight > 0.0);
        // An infinite weight was refused, but the squares of huge ones may overflow.
        let norm = counts.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        if !norm.is_normal() {
            return Self::default();
        }
        for (_, weight) in &mut counts {
            *weight /= norm;
        }
        Self(counts)
    }

    /// Returns the cosine of this vector with each of `others`, in `[0, 1]` and in their order; 0
    /// where one is empty.
    pub(super) fn cosines(&self, others: &[Self]) -> Vec<f32> {
        let n_terms = self.0.last().map_or(0, |(term, _)| *term as usize + 1);
        let mut weights = vec![0.0; n_terms];
        for (term, weight) in &self.0 {
            weights[*term as usize] = *weight;
        }
        let cosine = |other: &Self| {
            let shared = other.0.iter().take_while(|(term, _)| (*term as usize) < n_terms);
            shared.map(|(term, weight)| weight * weights[*term as usize]).sum::<f32>().min(1.0)
        };
        others.iter().map(cosine).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(texts: &[&str], query: &str, idf: f32) -> (Vec<TermVector>, TermVector) {
        let source = TermSource {
            terms: &|text, visit| text.split_whitespace().for_each(visit),
            idf: &|_| idf,
        };
        let mut counts = TermCounts::new(&source);
        for text in texts {
            counts.add(text);
        }
        counts.into_vectors(query)
    }

    #[test]
    fn cosine_is_one_for_the_same_text_and_zero_without_shared_terms() {
        let (texts, query) = vectors(&["a b b", "c d"], "a b b", 1.0);
        assert!((query.cosines(&texts)[0] - 1.0).abs() < 1e-6);
        assert!(query.cosines(&texts)[1].abs() < 1e-6);
        assert!((texts[0].cosines(&texts)[0] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn terms_that_are_rare_among_the_texts_weigh_more() {
        let (texts, query) = vectors(&["pdf merge", "pdf rotate", "pdf split"], "pdf split", 1.0);
        let cosines = query.cosines(&texts);
        assert!(cosines[2] > 0.9);
        assert!(cosines[0] < 0.5);
    }

    #[test]
    fn unusable_weights_count_as_zero() {
        for idf in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 0.0, f32::MAX] {
            let (texts, query) = vectors(&["a b", "a"], "a", idf);
            assert!(query.cosines(&texts).iter().all(|cosine| cosine.abs() < 1e-6), "{idf}");
        }
    }
}
