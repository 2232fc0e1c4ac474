//! [`ShareTable`]: what terms add to BM25, read from their postings.

use super::members::document_number;
use crate::{
    index::{Field, TermPostings},
    retrieve::Bm25,
};

/// Frequencies whose shares are worked out once; a term that a field holds more often is rare.
const N_TABLED: usize = 16;

/// What a term adds to BM25 for a weight of 1, by its frequency and the quantised length of a
/// field.
pub(super) struct ShareTable<'b> {
    pub(super) bm25: &'b Bm25<'b>,
    norms: [[f32; 256]; 3],
    /// `[fields, N_TABLED, 256]`.
    shares: Vec<f32>,
}

impl<'b> ShareTable<'b> {
    pub(super) fn new(bm25: &'b Bm25<'b>) -> Self {
        let norms = bm25.norms();
        let mut shares = Vec::with_capacity(norms.len() * N_TABLED * 256);
        for (position, norms) in norms.iter().enumerate() {
            for frequency in 0..N_TABLED {
                let share = |norm: &f32| bm25.config().share(position, frequency as f32, *norm);
                shares.extend(norms.iter().map(share));
            }
        }
        Self { bm25, norms, shares }
    }

    /// Appends the documents whose field holds a term, rising, with what it adds.
    pub(super) fn read(
        &self,
        postings: &[TermPostings<'_>; 3],
        field: Field,
        shares: &mut Vec<(u32, f32)>,
    ) {
        let position = field.position();
        let norms = &self.norms[position];
        let tabled = &self.shares[position * N_TABLED * 256..][..N_TABLED * 256];
        postings[position].clone().for_each_block(|segment, documents, frequencies| {
            let base = document_number(segment.base());
            let length_ids = segment.length_ids(field);
            shares.extend(documents.iter().zip(frequencies).map(|(document, frequency)| {
                let length_id = usize::from(length_ids[*document as usize]);
                let at = *frequency as usize * 256 + length_id;
                let share = tabled.get(at).copied().unwrap_or_else(|| {
                    self.bm25.config().share(position, *frequency as f32, norms[length_id])
                });
                (base + document, share)
            }));
        });
    }
}
