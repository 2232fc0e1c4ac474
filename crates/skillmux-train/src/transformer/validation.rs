//! [`Validation`]: scores what was held out.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use skillmux::index::{Index, SkillIdx};
use skillmux_models::checkpoint::{CheckpointUse, Gradients, Tunable, TunableNetwork};

use super::{
    example::Example, log::TransformerScores, options::TransformerOptions, reading::SkillText,
    step::skill_vectors,
};
use crate::{error::Result, lexical::find_by_words, rank::best_rank};

/// Texts that are read at a time.
const N_AT_A_TIME: usize = 64;

/// Held-out queries, and the skills that they are scored against.
pub(super) struct Validation<'e> {
    queries: Vec<Candidates<'e>>,
    /// All candidates of all queries, each once.
    library: Vec<SkillText>,
}

/// A query with the places of its candidates in the library; the answers come first.
struct Candidates<'e> {
    example: &'e Example,
    places: Vec<usize>,
}

impl<'e> Validation<'e> {
    /// Samples held-out queries evenly, each with its answers and what BM25 finds first.
    pub(super) fn new(
        index: &Index,
        held_out: &'e [Example],
        options: &TransformerOptions,
        purpose: CheckpointUse,
    ) -> Result<Self> {
        let step = held_out.len().div_ceil(options.n_held_out).max(1);
        let examples: Vec<&Example> = held_out.iter().step_by(step).collect();
        let skills_of = |example: &&'e Example| -> Result<Vec<SkillIdx>> {
            let n_found = options.n_distractors + example.gold.len();
            let found = find_by_words(index, &example.query, n_found)?;
            let others = found.into_iter().map(|hit| hit.skill).filter(|idx| !example.knows(*idx));
            let others = others.take(options.n_distractors);
            Ok(example.gold.iter().copied().chain(others).collect())
        };
        let skills = examples.par_iter().map(skills_of).collect::<Result<Vec<_>>>()?;
        let mut all = skills.concat();
        all.sort_unstable();
        all.dedup();
        let place_of: FxHashMap<SkillIdx, usize> =
            all.iter().enumerate().map(|(place, idx)| (*idx, place)).collect();
        let read = |idx: SkillIdx| SkillText::read(index, idx, purpose);
        let library = all.into_par_iter().map(read).collect::<Result<_>>()?;
        let places = |skills: Vec<SkillIdx>| skills.iter().map(|idx| place_of[idx]).collect();
        let queries = examples.into_iter().zip(skills);
        let queries =
            queries.map(|(example, skills)| Candidates { example, places: places(skills) });
        Ok(Self { queries: queries.collect(), library })
    }

    pub(super) fn scores(&self, tunable: &Tunable) -> Result<TransformerScores> {
        let network = tunable.network(Gradients::Ignored)?;
        let ranks = match tunable.purpose() {
            CheckpointUse::PairScorer => self.ranks_of_pairs(tunable, &network)?,
            _ => self.ranks_of_vectors(tunable, &network)?,
        };
        Ok(TransformerScores::of_ranks(&ranks))
    }

    /// Returns the rank of the best answer to each query among its candidates.
    fn ranks_of_pairs(
        &self,
        tunable: &Tunable,
        network: &TunableNetwork<'_>,
    ) -> Result<Vec<usize>> {
        let rank = |Candidates { example, places }: &Candidates<'_>| {
            let texts: Vec<&str> =
                places.iter().flat_map(|place| self.library[*place].parts()).collect();
            let inputs = tunable.pair_inputs(example.query.text(), &texts)?;
            let scores: Vec<f32> = network.logits(&inputs)?.to_vec1()?;
            let answers: Vec<usize> = (0..example.gold.len()).collect();
            Ok(best_rank(&scores, &answers))
        };
        self.queries.iter().map(rank).collect()
    }

    /// Returns the rank of the best answer to each query in the library.
    fn ranks_of_vectors(
        &self,
        tunable: &Tunable,
        network: &TunableNetwork<'_>,
    ) -> Result<Vec<usize>> {
        let library: Vec<&SkillText> = self.library.iter().collect();
        let skills =
            library.chunks(N_AT_A_TIME).map(|skills| skill_vectors(tunable, network, skills));
        let skills = skills.collect::<Result<Vec<_>>>()?;
        let mut ranks = Vec::with_capacity(self.queries.len());
        for some in self.queries.chunks(N_AT_A_TIME) {
            let texts: Vec<&str> = some.iter().map(|query| query.example.query.text()).collect();
            let queries = network.vectors(&tunable.query_inputs(&texts)?)?;
            let mut scores = vec![Vec::new(); some.len()];
            for skills in &skills {
                let found: Vec<Vec<f32>> = queries.matmul(&skills.t()?)?.to_vec2()?;
                scores.iter_mut().zip(found).for_each(|(row, found)| row.extend(found));
            }
            let rank = |(Candidates { example, places }, scores): (&Candidates<'_>, &Vec<f32>)| {
                best_rank(scores, &places[..example.gold.len()])
            };
            ranks.extend(some.iter().zip(&scores).map(rank));
        }
        Ok(ranks)
    }
}
