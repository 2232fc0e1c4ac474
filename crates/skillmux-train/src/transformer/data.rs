//! [`TransformerData`]: what to train on, and what to hold out.

use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use skillmux::{
    index::{Index, SkillIdx},
    query::Query,
    skill::SkillId,
};

use super::example::Example;
use crate::{
    error::Result,
    file::{Translations, read_queries},
    gold::{gold_of_queries, idx_of_ids},
    split::{ScoredNames, is_new_to_encoder, key_of_name},
};

/// Queries with the skills that answer them, and skills in two languages.
#[derive(Debug, Clone, Default)]
pub struct TransformerData {
    /// A query may stand there several times, with a skill each.
    queries: Vec<(String, SkillId)>,
    translations: Translations,
}

/// What to train on, and what to hold out.
pub(super) struct Split {
    pub(super) train: Vec<Example>,
    pub(super) held_out: Vec<Example>,
}

impl TransformerData {
    /// Adds the queries of a file, plain or `.zst`: `{"query", "skill_id" or "skill_ids"}` a line;
    /// those with `"relevant": false` are left out.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn add_queries(&mut self, path: &Path) -> Result<()> {
        self.queries.extend(read_queries(path)?);
        Ok(())
    }

    /// Adds the pairs of a file, plain or `.zst`: `{"zh", "en"}` a line, both ids of skills. The
    /// description of each is a query that the other answers.
    ///
    /// Pairs that are kept for the final scores are left out, and so are all with the name of one.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn add_translations(&mut self, path: &Path) -> Result<()> {
        self.translations.add(path)
    }

    /// Returns what to train on and what to hold out, as far as the index holds it. A query that
    /// one skill with a held-out name answers is held out.
    pub(super) fn split(&self, index: &Index) -> Result<Split> {
        let idx_of = idx_of_ids(index)?;
        let keys = self.name_keys(index, &idx_of)?;
        let is_held_out = |idx: &SkillIdx| is_new_to_encoder(keys[idx]);
        let (mut train, mut held_out) = (Vec::new(), Vec::new());
        for (text, gold) in gold_of_queries(&self.queries, &idx_of) {
            // What cannot be asked, as a query without words, teaches nothing.
            let Ok(query) = Query::new(text) else { continue };
            let is_any = gold.iter().any(is_held_out);
            let example = Example { query, twin: None, gold };
            if is_any { &mut held_out } else { &mut train }.push(example);
        }
        let scored = self.translations.scored.iter().filter_map(|id| idx_of.get(id));
        let scored: ScoredNames = scored.map(|idx| keys[idx]).collect();
        for (zh, en) in &self.translations.pairs {
            let (Some(zh), Some(en)) = (idx_of.get(zh), idx_of.get(en)) else { continue };
            let is_open = |idx: &SkillIdx| scored.leave(keys[idx]) && !is_held_out(idx);
            if is_open(zh) && is_open(en) {
                for (from, to) in [(zh, en), (en, zh)] {
                    let description = index.skill(*from)?.skill.description;
                    let Ok(query) = Query::new(description) else { continue };
                    train.push(Example { query, twin: Some(*from), gold: vec![*to] });
                }
            }
        }
        Ok(Split { train, held_out })
    }

    /// Returns the hashes of the names of all skills that the data name.
    fn name_keys(
        &self,
        index: &Index,
        idx_of: &FxHashMap<SkillId, SkillIdx>,
    ) -> Result<FxHashMap<SkillIdx, u64>> {
        let Translations { pairs, scored } = &self.translations;
        let of_pairs = pairs.iter().flat_map(|(zh, en)| [zh, en]).chain(scored);
        let ids = self.queries.iter().map(|(_, id)| id).chain(of_pairs);
        let mut named: Vec<SkillIdx> = ids.filter_map(|id| idx_of.get(id).copied()).collect();
        named.sort_unstable();
        named.dedup();
        let key = |idx: SkillIdx| Ok((idx, key_of_name(&index.skill(idx)?.skill.name)));
        named.into_par_iter().map(key).collect()
    }
}
