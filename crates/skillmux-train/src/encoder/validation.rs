//! [`Validation`]: scores what was held out, over all skills.

use rayon::prelude::*;
use skillmux::{
    index::{Index, SkillIdx},
    query::Query,
    retrieve::HybridConfig,
};

use super::{
    corpus::{Bag, Corpus},
    data::{Split, TrainQuery},
    log::ValidationScores,
    loss::{encode, mean_of},
    matrix::product_transposed,
    weights::Weights,
};
use crate::{
    error::Result,
    lexical::{LexicalHit, find_by_words},
    rank::best_rank,
};

/// Most held-out queries that a round scores.
const MAX_QUERIES: usize = 1500;

/// Skills that BM25 is asked for; what it ranks below has a score near 0.
const N_LEXICAL: usize = 3000;

/// Queries that are compared with all skills at a time.
const N_QUERIES_AT_A_TIME: usize = 32;

/// Held-out queries with what BM25 says of them.
pub(super) struct Validation<'d> {
    corpus: &'d Corpus,
    queries: Vec<(&'d TrainQuery, Vec<LexicalHit>)>,
    translations: &'d [(SkillIdx, SkillIdx)],
}

impl<'d> Validation<'d> {
    pub(super) fn new(index: &'d Index, corpus: &'d Corpus, split: &'d Split) -> Result<Self> {
        let step = split.held_out.len().div_ceil(MAX_QUERIES).max(1);
        let ask = |query: &&'d TrainQuery| -> Result<(&'d TrainQuery, Vec<LexicalHit>)> {
            let scale = 1.0 / corpus.attainable(&query.bag);
            let found = find_by_words(index, &Query::new(query.text.clone())?, N_LEXICAL)?;
            let share = |hit: LexicalHit| LexicalHit { score: hit.score * scale, ..hit };
            Ok((query, found.into_iter().map(share).collect()))
        };
        let queries: Vec<&TrainQuery> = split.held_out.iter().step_by(step).collect();
        let queries = queries.par_iter().map(ask).collect::<Result<_>>()?;
        Ok(Self { corpus, queries, translations: &split.held_out_translations })
    }

    pub(super) fn scores(&self, weights: &Weights) -> ValidationScores {
        let dim = weights.dim;
        let intros = encode(&self.corpus.intros, &weights.vectors, None, dim);
        let bodies = encode(&self.corpus.bodies, &weights.vectors, None, dim);
        let skills = mean_of(&[intros, bodies]);
        let ranks: Vec<Ranks> = self
            .queries
            .par_chunks(N_QUERIES_AT_A_TIME)
            .flat_map_iter(|queries| self.ranks(queries, weights, &skills))
            .collect();
        let n = ranks.len().max(1) as f32;
        let share =
            |is: &dyn Fn(&Ranks) -> bool| ranks.iter().filter(|ranks| is(ranks)).count() as f32 / n;
        let (zh_to_en, en_to_zh) = self.translated(weights, &skills);
        ValidationScores {
            recall_at_10: share(&|ranks| ranks.fused < 10),
            recall_at_50: share(&|ranks| ranks.fused < 50),
            hit_at_1: share(&|ranks| ranks.fused == 0),
            lexical_recall_at_10: share(&|ranks| ranks.lexical < 10),
            lexical_hit_at_1: share(&|ranks| ranks.lexical == 0),
            dense_recall_at_10: share(&|ranks| ranks.dense < 10),
            zh_to_en,
            en_to_zh,
        }
    }

    fn ranks(
        &self,
        queries: &[(&TrainQuery, Vec<LexicalHit>)],
        weights: &Weights,
        skills: &[f32],
    ) -> Vec<Ranks> {
        let bags: Vec<Bag> = queries.iter().map(|(query, _)| query.bag.clone()).collect();
        let cosines = cosines(&bags, weights, skills);
        let dense_weight = HybridConfig::default().dense_weight;
        let rank = |((query, found), cosines): (&(&TrainQuery, Vec<LexicalHit>), &[f32])| {
            let mut lexical = vec![0.0; cosines.len()];
            for LexicalHit { skill, score } in found {
                lexical[skill.0 as usize] = *score;
            }
            let fuse = |(lexical, cosine): (&f32, &f32)| lexical + dense_weight * cosine;
            let fused: Vec<f32> = lexical.iter().zip(cosines).map(fuse).collect();
            let gold: Vec<usize> = query.gold.iter().map(|skill| skill.0 as usize).collect();
            Ranks {
                fused: best_rank(&fused, &gold),
                lexical: best_rank(&lexical, &gold),
                dense: best_rank(cosines, &gold),
            }
        };
        queries.iter().zip(cosines.chunks(self.corpus.n_skills())).map(rank).collect()
    }

    /// Returns Recall@10 from descriptions to their translations, from Chinese and from English.
    fn translated(&self, weights: &Weights, skills: &[f32]) -> (f32, f32) {
        let recall = |pairs: Vec<(SkillIdx, SkillIdx)>| {
            let bag = |skill: SkillIdx| self.corpus.descriptions[skill.0 as usize].clone();
            let bags: Vec<Bag> = pairs.iter().map(|(from, _)| bag(*from)).collect();
            let mut cosines = cosines(&bags, weights, skills);
            let rows = cosines.chunks_mut(self.corpus.n_skills());
            let is_found = |((from, to), row): (&(SkillIdx, SkillIdx), &mut [f32])| {
                row[from.0 as usize] = f32::NEG_INFINITY;
                best_rank(row, &[to.0 as usize]) < 10
            };
            let n_found = pairs.iter().zip(rows).filter_map(|pair| is_found(pair).then_some(()));
            n_found.count() as f32 / pairs.len().max(1) as f32
        };
        let turned = self.translations.iter().map(|(zh, en)| (*en, *zh)).collect();
        (recall(self.translations.to_vec()), recall(turned))
    }
}

/// Returns the cosines of queries with all skills.
fn cosines(bags: &[Bag], weights: &Weights, skills: &[f32]) -> Vec<f32> {
    let dim = weights.dim;
    let encoded = encode(bags, &weights.vectors, Some(&weights.of_queries), dim);
    product_transposed(&encoded.vectors, skills, dim)
}

/// Ranks of the best answer, from 0.
struct Ranks {
    fused: usize,
    lexical: usize,
    dense: usize,
}
