//! [`Headlines`]: compares names and descriptions with a query, word by word.

use rustc_hash::FxHashMap;

use super::{ratio::ratio, term::PoolTerm};
use crate::text::TermReader;

/// Words of a query that stand side by side may have this many others between them in a text.
const MAX_GAP: usize = 2;

/// Compares texts with a query, word by word.
pub(super) struct Headlines<'p> {
    position_of: FxHashMap<&'p str, usize>,
    /// Neighbouring terms of the query, with the sum of their weights.
    pairs: FxHashMap<(usize, usize), f32>,
    weight_of_pairs: f32,
    reader: TermReader,
}

/// What a text says in the words of a query.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Headline {
    /// Share of the query's neighbouring words that are neighbours here, weighted by rarity.
    pub(super) phrase_share: f32,
    /// Share of the text's terms that are the query's.
    pub(super) precision: f32,
}

impl<'p> Headlines<'p> {
    /// Returns a comparison with a query of these terms.
    pub(super) fn new(terms: &'p [PoolTerm]) -> Self {
        let position_of = terms.iter().enumerate().map(|(at, term)| (term.term.text.as_str(), at));
        let mut sources: Vec<(usize, usize)> = terms
            .iter()
            .enumerate()
            .flat_map(|(at, term)| term.term.sources.iter().map(move |source| (source.start, at)))
            .collect();
        sources.sort_unstable();
        let mut pairs = FxHashMap::default();
        for pair in sources.windows(2) {
            let (a, b) = (pair[0].1, pair[1].1);
            if a != b {
                pairs.insert((a, b), terms[a].weight + terms[b].weight);
            }
        }
        // In a fixed order, so that the sum is always rounded the same way.
        let mut known: Vec<(usize, usize)> = pairs.keys().copied().collect();
        known.sort_unstable();
        Self {
            position_of: position_of.collect(),
            weight_of_pairs: known.iter().map(|pair| pairs[pair]).sum(),
            pairs,
            reader: TermReader::new(),
        }
    }

    /// Compares one text.
    pub(super) fn read(&mut self, text: &str) -> Headline {
        let mut recent: Vec<(usize, usize)> = Vec::new();
        let mut seen: Vec<(usize, usize)> = Vec::new();
        let (mut n_terms, mut n_known) = (0_usize, 0_usize);
        let mut terms = self.reader.read(text);
        while let Some(term) = terms.advance() {
            n_terms += 1;
            let Some(at) = self.position_of.get(term.text).copied() else { continue };
            n_known += 1;
            recent.retain(|(_, place)| n_terms - place <= 1 + MAX_GAP);
            seen.extend(
                recent
                    .iter()
                    .map(|(before, _)| (*before, at))
                    .filter(|pair| self.pairs.contains_key(pair)),
            );
            recent.push((at, n_terms));
        }
        seen.sort_unstable();
        seen.dedup();
        let weight: f32 = seen.iter().map(|pair| self.pairs[pair]).sum();
        Headline {
            phrase_share: ratio(weight, self.weight_of_pairs),
            precision: ratio(n_known as f32, n_terms as f32),
        }
    }
}
