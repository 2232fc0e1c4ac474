//! [`Miner`]: skills that look like an answer and are none (`SkillRouter` §4.2).

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use skillmux::{
    index::{Index, SkillIdx},
    query::Query,
    retrieve::HybridConfig,
};

use super::{
    corpus::Corpus,
    data::{Split, TrainQuery},
    loss::{encode, mean_of},
    matrix::product_transposed,
    options::{EncoderOptions, FalseNegativeFilter},
    weights::Weights,
};
use crate::{
    error::Result,
    lexical::{LexicalHit, find_by_words},
    random::Random,
};

/// Semantic and lexical negatives are drawn from so many of the best (`SkillRouter` §4.2).
const N_BEST: usize = 50;

/// Skills that BM25 is asked for, to be fused with.
const N_LEXICAL: usize = 200;

/// Groups of skills that stand for categories, which a pool does not have.
const N_CATEGORIES: usize = 64;

/// Steps of k-means; groups need not be exact.
const N_GROUPING_STEPS: usize = 4;

/// Attempts to draw a negative that the filter lets pass.
const MAX_ATTEMPTS: usize = 8;

/// Queries that are compared with all skills at a time.
const N_QUERIES_AT_A_TIME: usize = 32;

/// Where a negative comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NegativeSource {
    /// The best of the encoder as it is, fused with BM25 as in retrieval: what the encoder has to
    /// put right (`SkillRouter`: the best of the encoder alone, which is not retrained for it).
    Semantic,
    /// The best of BM25; `SkillRouter` takes them from among the semantic ones.
    Lexical,
    /// A skill of the same category: of the same group, by k-means over the vectors of names and
    /// descriptions.
    Taxonomy,
    /// A skill of another category.
    Random,
}

impl NegativeSource {
    /// Negatives of each source among ten (`SkillRouter` §4.2).
    const SHARES: [(Self, usize); 4] =
        [(Self::Semantic, 4), (Self::Lexical, 3), (Self::Taxonomy, 2), (Self::Random, 1)];

    fn draw(random: &mut Random) -> Self {
        let mut left = random.below(10);
        for (source, share) in Self::SHARES {
            if left < share {
                return source;
            }
            left -= share;
        }
        Self::Random
    }
}

/// How many negatives were drawn, and how many of them each layer of the filter removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NegativeCounts {
    /// Drawn, whether kept or removed.
    pub n_drawn: usize,
    /// Removed because an answer has the same name, or is the skill.
    pub n_same_name: usize,
    /// Removed because the body is similar.
    pub n_similar_body: usize,
    /// Removed because the vector is similar.
    pub n_similar_vector: usize,
}

impl NegativeCounts {
    fn add(&mut self, other: &Self) {
        self.n_drawn += other.n_drawn;
        self.n_same_name += other.n_same_name;
        self.n_similar_body += other.n_similar_body;
        self.n_similar_vector += other.n_similar_vector;
    }
}

/// Draws negatives, and remembers what BM25 finds.
pub(super) struct Miner<'d> {
    index: &'d Index,
    corpus: &'d Corpus,
    split: &'d Split,
    options: &'d EncoderOptions,
    /// Score shares, best first.
    lexical: FxHashMap<usize, Vec<LexicalHit>>,
    counts: NegativeCounts,
}

impl<'d> Miner<'d> {
    pub(super) fn new(
        index: &'d Index,
        corpus: &'d Corpus,
        split: &'d Split,
        options: &'d EncoderOptions,
    ) -> Self {
        let counts = NegativeCounts::default();
        Self { index, corpus, split, options, lexical: FxHashMap::default(), counts }
    }

    /// Returns the counts since the last call.
    pub(super) fn take_counts(&mut self) -> NegativeCounts {
        std::mem::take(&mut self.counts)
    }

    /// Draws negatives for each query, given by its position in the training queries.
    pub(super) fn mine(
        &mut self,
        queries: &[usize],
        weights: &Weights,
        random: &mut Random,
    ) -> Result<Vec<Vec<SkillIdx>>> {
        self.find_lexical(queries)?;
        let space = Space::of(self.corpus, weights, random);
        let mut distinct = queries.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let found: Vec<Vec<SkillIdx>> = distinct
            .par_chunks(N_QUERIES_AT_A_TIME)
            .flat_map_iter(|queries| self.semantic(queries, weights, &space))
            .collect();
        let semantic: FxHashMap<usize, Vec<SkillIdx>> = distinct.into_iter().zip(found).collect();
        let seeds: Vec<u64> = queries.iter().map(|_| random.next()).collect();
        let drawn: Vec<(Vec<SkillIdx>, NegativeCounts)> = queries
            .par_iter()
            .zip(seeds)
            .map(|(query, seed)| {
                self.draw(*query, &semantic[query], &space, &mut Random::new(seed))
            })
            .collect::<Result<_>>()?;
        for (_, counts) in &drawn {
            self.counts.add(counts);
        }
        Ok(drawn.into_iter().map(|(negatives, _)| negatives).collect())
    }

    /// Asks BM25 for the queries that it was not asked before.
    fn find_lexical(&mut self, queries: &[usize]) -> Result<()> {
        let mut new: Vec<usize> =
            queries.iter().copied().filter(|query| !self.lexical.contains_key(query)).collect();
        new.sort_unstable();
        new.dedup();
        let ask = |at: &usize| -> Result<(usize, Vec<LexicalHit>)> {
            let TrainQuery { text, bag, .. } = &self.split.train[*at];
            let query = Query::new(text.clone())?;
            let found = find_by_words(self.index, &query, N_LEXICAL)?;
            let scale = 1.0 / self.corpus.attainable(bag);
            let share = |hit: LexicalHit| LexicalHit { score: hit.score * scale, ..hit };
            Ok((*at, found.into_iter().map(share).collect()))
        };
        let found = new.par_iter().map(ask).collect::<Result<Vec<_>>>()?;
        self.lexical.extend(found);
        Ok(())
    }

    /// Returns the skills that the encoder and BM25 find for each query.
    fn semantic(&self, queries: &[usize], weights: &Weights, space: &Space) -> Vec<Vec<SkillIdx>> {
        let bags: Vec<_> = queries.iter().map(|at| self.split.train[*at].bag.clone()).collect();
        let dim = weights.dim;
        let encoded = encode(&bags, &weights.vectors, Some(&weights.of_queries), dim);
        let mut scores = product_transposed(&encoded.vectors, &space.skills, dim);
        let rows = scores.chunks_mut(self.corpus.n_skills());
        let fuse = |(query, row): (&usize, &mut [f32])| {
            for LexicalHit { skill, score } in &self.lexical[query] {
                row[skill.0 as usize] += score / HybridConfig::default().dense_weight;
            }
            best(row, N_BEST)
        };
        queries.iter().zip(rows).map(fuse).collect()
    }

    fn draw(
        &self,
        query: usize,
        semantic: &[SkillIdx],
        space: &Space,
        random: &mut Random,
    ) -> Result<(Vec<SkillIdx>, NegativeCounts)> {
        let TrainQuery { gold, .. } = &self.split.train[query];
        let mut negatives = Vec::new();
        let mut counts = NegativeCounts::default();
        for _ in 0..self.options.n_negatives {
            let source = NegativeSource::draw(random);
            for _ in 0..MAX_ATTEMPTS {
                let drawn = match source {
                    NegativeSource::Semantic => random.choose(semantic),
                    NegativeSource::Lexical => {
                        let found = &self.lexical[&query];
                        random.choose(&found[..found.len().min(N_BEST)]).map(|c| &c.skill)
                    }
                    NegativeSource::Taxonomy => {
                        let category = space.category_of[gold[0].0 as usize];
                        random.choose(&space.categories[category])
                    }
                    NegativeSource::Random => {
                        let own = space.category_of[gold[0].0 as usize];
                        let other = (own + 1 + random.below(N_CATEGORIES - 1)) % N_CATEGORIES;
                        random.choose(&space.categories[other])
                    }
                };
                let Some(skill) = drawn.copied() else { break };
                counts.n_drawn += 1;
                if self.passes(skill, gold, space, &mut counts)? && !negatives.contains(&skill) {
                    negatives.push(skill);
                    break;
                }
            }
        }
        Ok((negatives, counts))
    }

    /// Returns whether a skill is no answer in disguise.
    fn passes(
        &self,
        skill: SkillIdx,
        gold: &[SkillIdx],
        space: &Space,
        counts: &mut NegativeCounts,
    ) -> Result<bool> {
        let FalseNegativeFilter { max_body_similarity, max_cosine } = self.options.filter;
        let key = |skill: SkillIdx| self.corpus.name_keys[skill.0 as usize];
        if gold.iter().any(|gold| *gold == skill || key(*gold) == key(skill)) {
            counts.n_same_name += 1;
            return Ok(false);
        }
        for gold in gold {
            if self.index.similarity(*gold, skill)? > max_body_similarity {
                counts.n_similar_body += 1;
                return Ok(false);
            }
        }
        if gold.iter().any(|gold| space.cosine(*gold, skill) > max_cosine) {
            counts.n_similar_vector += 1;
            return Ok(false);
        }
        Ok(true)
    }
}

/// All skills as the encoder sees them.
struct Space {
    dim: usize,
    /// `[n_skills, dim]`, the mean of the vectors of the parts.
    skills: Vec<f32>,
    category_of: Vec<usize>,
    categories: Vec<Vec<SkillIdx>>,
}

impl Space {
    fn of(corpus: &Corpus, weights: &Weights, random: &mut Random) -> Self {
        let dim = weights.dim;
        let intros = encode(&corpus.intros, &weights.vectors, None, dim);
        let category_of = grouped(&intros.vectors, dim, random);
        let mut categories = vec![Vec::new(); N_CATEGORIES];
        for (skill, category) in (0..).map(SkillIdx).zip(&category_of) {
            categories[*category].push(skill);
        }
        let skills = mean_of(&[intros, encode(&corpus.bodies, &weights.vectors, None, dim)]);
        Self { dim, skills, category_of, categories }
    }

    fn cosine(&self, a: SkillIdx, b: SkillIdx) -> f32 {
        let [a, b] = [a, b].map(|skill| &self.skills[skill.0 as usize * self.dim..][..self.dim]);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f32::MIN_POSITIVE)
    }
}

/// Returns the group of each vector, by k-means over directions.
fn grouped(vectors: &[f32], dim: usize, random: &mut Random) -> Vec<usize> {
    let n = vectors.len() / dim;
    let mut centres: Vec<f32> = Vec::with_capacity(N_CATEGORIES * dim);
    for _ in 0..N_CATEGORIES {
        centres.extend(&vectors[random.below(n) * dim..][..dim]);
    }
    let mut groups = vec![0; n];
    for _ in 0..N_GROUPING_STEPS {
        let cosines = product_transposed(vectors, &centres, dim);
        let nearest = |row: &[f32]| {
            (0..row.len()).rev().max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap_or(0)
        };
        groups = cosines.chunks(N_CATEGORIES).map(nearest).collect();
        centres.fill(0.0);
        for (vector, group) in vectors.chunks(dim).zip(&groups) {
            for (sum, x) in centres[group * dim..][..dim].iter_mut().zip(vector) {
                *sum += x;
            }
        }
        for centre in centres.chunks_mut(dim) {
            let length = centre.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            for x in centre.iter_mut() {
                *x /= length;
            }
        }
    }
    groups
}

/// Returns the positions of the highest numbers, highest first.
pub(super) fn best(row: &[f32], n: usize) -> Vec<SkillIdx> {
    let mut order: Vec<u32> = (0..).take(row.len()).collect();
    let by_score =
        |a: &u32, b: &u32| row[*b as usize].total_cmp(&row[*a as usize]).then_with(|| a.cmp(b));
    if n < order.len() && n > 0 {
        order.select_nth_unstable_by(n - 1, by_score);
    }
    order.truncate(n);
    order.sort_unstable_by(by_score);
    order.into_iter().map(SkillIdx).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_in_order_and_ties_by_position() {
        let row = [0.5, 2.0, -1.0, 2.0, 0.7];
        let found: Vec<u32> = best(&row, 3).into_iter().map(|skill| skill.0).collect();
        assert_eq!(found, [1, 3, 4]);
        assert_eq!(best(&row, 9).len(), 5);
    }

    #[test]
    fn sources_are_drawn_by_their_shares() {
        let mut random = Random::new(3);
        let mut counts = [0_u32; 4];
        for _ in 0..10_000 {
            counts[NegativeSource::draw(&mut random) as usize] += 1;
        }
        for (count, (_, share)) in counts.into_iter().zip(NegativeSource::SHARES) {
            assert!((f64::from(count) / 1000.0 - share as f64).abs() < 0.2, "{counts:?}");
        }
    }

    #[test]
    fn directions_that_belong_together_are_grouped() {
        let mut random = Random::new(5);
        let vectors: Vec<f32> = (0..400).flat_map(|n| [[1.0, 0.0], [0.0, 1.0]][n % 2]).collect();
        let groups = grouped(&vectors, 2, &mut random);
        assert!(groups.iter().step_by(2).all(|group| *group == groups[0]));
        assert!(groups.iter().skip(1).step_by(2).all(|group| *group == groups[1]));
        assert_ne!(groups[0], groups[1]);
    }
}
