//! [`Tfidf`]: cosine of TF-IDF vectors, the retrieval baseline of `SkillComposer` §5.2.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use skillmux::{
    index::{Index, SkillIdx},
    text::Analyzer,
};

use super::{
    contract::System,
    engine::{best_ids, query_of},
    skill_text::{SkillText, text_of},
};
use crate::{answer::Answer, error::Error, task::Task};

/// Skills that one thread counts at a time.
const CHUNK_SKILLS: usize = 512;

/// Ranks by the cosine of TF-IDF vectors over the terms of the index.
///
/// The weights are those of scikit-learn's `TfidfVectorizer` by default: a term that occurs `tf`
/// times in a text weighs `tf · idf` with `idf = ln((1 + n) / (1 + df)) + 1` over `n` skills, and
/// vectors have length 1. A term of the task that no skill holds counts nothing. Terms are the
/// engine's, stemmed and with the parts of identifiers, where scikit-learn takes plain words.
pub(super) struct Tfidf<'a> {
    index: &'a Index,
    text: SkillText,
    vectors: TermVectors,
}

impl<'a> Tfidf<'a> {
    /// Reads all skills and makes their vectors.
    pub(super) fn open(text: SkillText, index: &'a Index) -> Result<Self, Error> {
        Ok(Self { index, text, vectors: TermVectors::open(text, index)? })
    }
}

impl System for Tfidf<'_> {
    fn name(&self) -> String {
        format!("tfidf{}", self.text.suffix())
    }

    fn config(&self) -> String {
        format!("tfidf tf=raw idf=smooth norm=l2 text={}", self.text.as_str())
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        let cosines = self.vectors.cosines(query_of(task)?.text());
        let found = (0..).map(SkillIdx).zip(cosines).filter(|(_, cosine)| *cosine > 0.0);
        Ok(Answer::of_ranking(best_ids(self.index, found, depth)?))
    }
}

/// Vectors of length 1, by term.
struct TermVectors {
    /// Position of each term.
    terms: FxHashMap<Box<str>, u32>,
    idf: Vec<f32>,
    /// Where the postings of each term begin, and where the last ones end.
    starts: Vec<usize>,
    postings: Vec<Posting>,
    n_skills: usize,
}

/// A skill that holds a term.
#[derive(Clone, Copy, Default)]
struct Posting {
    skill: u32,
    weight: f32,
}

/// Counts of the terms of some skills.
struct Counts {
    /// Terms in the order in which they first occur.
    terms: Vec<Box<str>>,
    /// Position in `terms`, and how often a skill holds it, one skill after the other.
    n_times: Vec<(u32, u32)>,
    /// Where the numbers of each skill end.
    ends: Vec<usize>,
}

impl TermVectors {
    fn open(text: SkillText, index: &Index) -> Result<Self, Error> {
        let skills: Vec<SkillIdx> = index.skills().collect();
        let count = |chunk: &[SkillIdx]| Counts::of(chunk, text, index);
        let chunks = skills.par_chunks(CHUNK_SKILLS).map(count).collect::<Result<_, Error>>()?;
        Ok(Self::of(chunks))
    }

    fn of(chunks: Vec<Counts>) -> Self {
        let n_skills = chunks.iter().map(|chunk| chunk.ends.len()).sum::<usize>();
        let mut terms: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let mut n_holders: Vec<u32> = Vec::new();
        // Chunk by chunk, so that terms are numbered alike each time.
        let mut numbered = Vec::with_capacity(chunks.len());
        for Counts { terms: chunk_terms, n_times: counts, ends } in chunks {
            let mut number = |term: Box<str>| {
                let next =
                    u32::try_from(n_holders.len()).expect("texts have fewer than 2^32 terms");
                let position = *terms.entry(term).or_insert(next);
                if position == next {
                    n_holders.push(0);
                }
                position
            };
            let positions: Vec<u32> = chunk_terms.into_iter().map(&mut number).collect();
            for (term, _) in &counts {
                n_holders[positions[*term as usize] as usize] += 1;
            }
            numbered.push((positions, counts, ends));
        }
        let idf: Vec<f32> = n_holders.iter().map(|df| smooth_idf(n_skills, *df)).collect();
        let mut starts = Vec::with_capacity(n_holders.len() + 1);
        let mut n_postings = 0;
        for n_holders in &n_holders {
            starts.push(n_postings);
            n_postings += *n_holders as usize;
        }
        starts.push(n_postings);
        let mut postings = vec![Posting::default(); n_postings];
        let mut next = starts.clone();
        let mut skill = 0;
        for (positions, counts, ends) in numbered {
            let mut start = 0;
            for end in ends {
                let weight = |(term, n): (u32, u32)| {
                    let term = positions[term as usize] as usize;
                    (term, n as f32 * idf[term])
                };
                let counts = &counts[std::mem::replace(&mut start, end)..end];
                let scale = 1.0 / length(counts.iter().map(|count| weight(*count).1));
                for (term, weight) in counts.iter().map(|count| weight(*count)) {
                    postings[next[term]] = Posting { skill, weight: weight * scale };
                    next[term] += 1;
                }
                skill += 1;
            }
        }
        Self { terms, idf, starts, postings, n_skills }
    }

    /// Returns the cosine of a text with each skill.
    fn cosines(&self, text: &str) -> Vec<f32> {
        // In the order of terms, so that sums are rounded alike each time.
        let mut counts: BTreeMap<u32, f32> = BTreeMap::new();
        Analyzer::new().for_each_term(text, &mut |term| {
            if let Some(position) = self.terms.get(term) {
                *counts.entry(*position).or_default() += 1.0;
            }
        });
        let weights = counts.iter().map(|(term, n)| (*term as usize, n * self.idf[*term as usize]));
        let scale = 1.0 / length(weights.clone().map(|(_, weight)| weight));
        let mut cosines = vec![0.0; self.n_skills];
        for (term, weight) in weights {
            for posting in &self.postings[self.starts[term]..self.starts[term + 1]] {
                cosines[posting.skill as usize] += posting.weight * weight * scale;
            }
        }
        cosines
    }
}

impl Counts {
    fn of(skills: &[SkillIdx], text: SkillText, index: &Index) -> Result<Self, Error> {
        let mut counting = Counting::default();
        for idx in skills {
            counting.add(&text_of(&index.skill(*idx)?.skill, text, index));
        }
        Ok(counting.done())
    }
}

/// Counts the terms of one text after the other.
#[derive(Default)]
struct Counting {
    positions: FxHashMap<Box<str>, u32>,
    terms: Vec<Box<str>>,
    counts: Vec<(u32, u32)>,
    ends: Vec<usize>,
    /// Terms of the present text.
    present: Vec<u32>,
}

impl Counting {
    fn add(&mut self, text: &str) {
        let Self { positions, terms, counts, ends, present } = self;
        present.clear();
        Analyzer::new().for_each_term(text, &mut |term| {
            let position = positions.get(term).copied().unwrap_or_else(|| {
                let next = u32::try_from(terms.len()).expect("texts have fewer than 2^32 terms");
                terms.push(term.into());
                positions.insert(term.into(), next);
                next
            });
            present.push(position);
        });
        present.sort_unstable();
        let n_times = |same: &[u32]| u32::try_from(same.len()).unwrap_or(u32::MAX);
        counts.extend(present.chunk_by(|a, b| a == b).map(|same| (same[0], n_times(same))));
        ends.push(counts.len());
    }

    fn done(self) -> Counts {
        Counts { terms: self.terms, n_times: self.counts, ends: self.ends }
    }
}

/// Returns `ln((1 + n) / (1 + df)) + 1`.
fn smooth_idf(n_skills: usize, n_holders: u32) -> f32 {
    narrow(((1.0 + n_skills as f64) / (1.0 + f64::from(n_holders))).ln() + 1.0)
}

/// Returns the Euclidean length of a vector.
fn length(weights: impl Iterator<Item = f32>) -> f32 {
    narrow(weights.map(|weight| f64::from(weight) * f64::from(weight)).sum::<f64>().sqrt())
}

#[expect(clippy::cast_possible_truncation, reason = "precision beyond that of weights is dropped")]
fn narrow(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(texts: &[&str]) -> TermVectors {
        // One text a chunk, so that terms are numbered over several.
        let count = |text: &&str| {
            let mut counting = Counting::default();
            counting.add(text);
            counting.done()
        };
        TermVectors::of(texts.iter().map(count).collect())
    }

    /// Cosines of `TfidfVectorizer(token_pattern=r"\w+")` of scikit-learn 1.9.1 for the same texts:
    ///
    /// ```python
    /// from sklearn.feature_extraction.text import TfidfVectorizer
    /// v = TfidfVectorizer(token_pattern=r"\w+")
    /// x = v.fit_transform(["zebra lion lion", "lion tiger", "tiger panda lion zebra", "koala"])
    /// print((x @ v.transform(["lion tiger panda panda unknown"]).T).toarray())
    /// ```
    #[test]
    fn cosines_are_those_of_scikit_learn() {
        let texts = ["zebra lion lion", "lion tiger", "tiger panda lion zebra", "koala"];
        let cosines = vectors(&texts).cosines("lion tiger panda panda unknown");
        let expected = [0.242_164_67, 0.452_342_48, 0.829_634_9, 0.0];
        for (cosine, expected) in cosines.iter().zip(expected) {
            assert!((cosine - expected).abs() < 1e-6, "{cosines:?}");
        }
    }

    #[test]
    fn a_text_of_unknown_terms_is_like_nothing() {
        let vectors = vectors(&["zebra", "lion"]);
        assert!(vectors.cosines("tiger").iter().all(|cosine| cosine.to_bits() == 0));
        assert!(vectors.cosines("").iter().all(|cosine| cosine.to_bits() == 0));
    }
}
