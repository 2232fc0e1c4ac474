//! [`NodeVectors`]: the nodes of one skill and a query as TF-IDF vectors.

use std::collections::HashMap;

use skillmux::page::TermSource;

/// Vectors of length 1, or empty, of texts and a query; a term that occurs `tf` times weighs
/// `(1 + ln tf) · idf`, with the rarity in the library.
pub(super) struct NodeVectors {
    nodes: Vec<Vec<(u32, f32)>>,
    query: Vec<(u32, f32)>,
}

impl NodeVectors {
    pub(super) fn new(texts: &[impl AsRef<str>], query: &str, terms: &TermSource<'_>) -> Self {
        let mut counting = Counting { terms, positions: HashMap::new(), idf: Vec::new() };
        let nodes = texts.iter().map(|text| counting.vector(text.as_ref())).collect();
        Self { nodes, query: counting.vector(query) }
    }

    /// Returns the cosine of each node with the query.
    pub(super) fn with_query(&self) -> Vec<f32> {
        self.nodes.iter().map(|node| dot(node, &self.query)).collect()
    }

    /// Returns the cosine of two nodes.
    pub(super) fn between(&self, a: usize, b: usize) -> f32 {
        dot(&self.nodes[a], &self.nodes[b])
    }
}

struct Counting<'a> {
    terms: &'a TermSource<'a>,
    positions: HashMap<String, u32>,
    idf: Vec<f32>,
}

impl Counting<'_> {
    fn vector(&mut self, text: &str) -> Vec<(u32, f32)> {
        let Self { terms, positions, idf } = self;
        let mut present: Vec<u32> = Vec::new();
        (terms.terms)(text, &mut |term| {
            if let Some(position) = positions.get(term) {
                present.push(*position);
            } else if let Ok(position) = u32::try_from(idf.len()) {
                positions.insert(term.to_owned(), position);
                let weight = (terms.idf)(term);
                idf.push(if weight.is_finite() { weight.max(0.0) } else { 0.0 });
                present.push(position);
            }
        });
        present.sort_unstable();
        let weight = |same: &[u32]| (1.0 + (same.len() as f32).ln()) * idf[same[0] as usize];
        let weights = present.chunk_by(|a, b| a == b).map(|same| (same[0], weight(same)));
        let mut vector: Vec<(u32, f32)> = weights.collect();
        let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        if !length.is_normal() {
            return Vec::new();
        }
        for (_, weight) in &mut vector {
            *weight /= length;
        }
        vector
    }
}

/// Returns the dot product of vectors that are sorted by term.
fn dot(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
    let mut others = b.iter().peekable();
    let mut sum = 0.0;
    for (term, weight) in a {
        while others.next_if(|(other, _)| other < term).is_some() {}
        if let Some((_, other)) = others.next_if(|(other, _)| other == term) {
            sum += weight * other;
        }
    }
    sum
}
