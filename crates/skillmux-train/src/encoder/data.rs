//! [`EncoderData`]: which texts belong together, and which of them are held out.

use std::{collections::BTreeMap, path::Path};

use skillmux::{
    index::{Index, SkillIdx},
    skill::SkillId,
};

use super::corpus::{Bag, Corpus};
use crate::{
    error::Result,
    file::{Translations, read_queries},
    gold::{gold_of_queries, idx_of_ids},
    split::{ScoredNames, is_new_to_encoder},
};

/// A skill with more Chinese among its terms than this is Chinese.
const MIN_CHINESE_SHARE: f32 = 0.5;

/// A skill with less Chinese among its terms than this is not.
const MAX_ENGLISH_SHARE: f32 = 0.05;

/// Most skills of one name and language that are paired.
const MAX_NAMESAKES: usize = 2;

/// Queries with the skills that answer them, and skills in two languages.
#[derive(Debug, Clone, Default)]
pub struct EncoderData {
    /// A query may stand there several times, with a skill each.
    queries: Vec<(String, SkillId)>,
    translations: Translations,
}

impl EncoderData {
    /// Adds the queries of a file, plain or `.zst`: `{"query", "skill_id" or "skill_ids"}` a line;
    /// those with `"relevant": false` are left out.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn add_queries(&mut self, path: &Path) -> Result<()> {
        self.queries.extend(read_queries(path)?);
        Ok(())
    }

    /// Adds the pairs of a file, plain or `.zst`: `{"zh", "en"}` a line, both ids of skills.
    ///
    /// Those that [`is_scored`](skillmux_eval::dataset::split::is_scored) keeps for the final
    /// scores are left out, and so are all skills that share a name with one of them.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn add_translations(&mut self, path: &Path) -> Result<()> {
        self.translations.add(path)
    }

    /// Returns what to train on and what to hold out, as far as the index holds it.
    pub(super) fn split(&self, index: &Index, corpus: &Corpus) -> Result<Split> {
        let idx_of = idx_of_ids(index)?;
        let gold_of = gold_of_queries(&self.queries, &idx_of);
        let key = |idx: SkillIdx| corpus.name_keys[idx.0 as usize];
        let is_held_out = |idx: &SkillIdx| is_new_to_encoder(key(*idx));
        let mut split = Split::default();
        for (text, gold) in gold_of {
            let bag = corpus.bag_of_text(text);
            if bag.is_empty() {
                continue;
            }
            let is_any = gold.iter().any(is_held_out);
            let query = TrainQuery { text: text.to_owned(), bag, gold };
            if is_any { &mut split.held_out } else { &mut split.train }.push(query);
        }
        for (zh, en) in &self.translations.pairs {
            let (Some(zh), Some(en)) = (idx_of.get(zh), idx_of.get(en)) else { continue };
            let is_any = is_held_out(en) || is_held_out(zh);
            if is_any { &mut split.held_out_translations } else { &mut split.translations }
                .push((*zh, *en));
        }
        let scored = self.translations.scored.iter().filter_map(|id| idx_of.get(id));
        let scored: ScoredNames = scored.map(|idx| key(*idx)).collect();
        split.translations.retain(|(zh, en)| scored.leave(key(*zh)) && scored.leave(key(*en)));
        split.namesakes = namesakes(corpus, |key| scored.leave(key) && !is_new_to_encoder(key));
        Ok(split)
    }
}

/// Returns Chinese skills with skills in another language that have the same name.
///
/// Most are translations that no list names, or at least of one subject.
fn namesakes(corpus: &Corpus, is_open: impl Fn(u64) -> bool) -> Vec<(SkillIdx, SkillIdx)> {
    let mut by_name: BTreeMap<u64, [Vec<SkillIdx>; 2]> = BTreeMap::new();
    for (skill, key) in (0..).map(SkillIdx).zip(&corpus.name_keys) {
        let share = corpus.chinese_share(skill.0 as usize);
        if is_open(*key) && !(MAX_ENGLISH_SHARE..MIN_CHINESE_SHARE).contains(&share) {
            let language = usize::from(share < MIN_CHINESE_SHARE);
            by_name.entry(*key).or_default()[language].push(skill);
        }
    }
    let pairs = by_name.into_values().flat_map(|[chinese, english]| {
        let english = english.into_iter().take(MAX_NAMESAKES);
        english.flat_map(move |en| {
            chinese.clone().into_iter().take(MAX_NAMESAKES).map(move |zh| (zh, en))
        })
    });
    pairs.collect()
}

/// A query with its terms and the skills that answer it.
#[derive(Debug, Clone)]
pub(super) struct TrainQuery {
    pub(super) text: String,
    pub(super) bag: Bag,
    pub(super) gold: Vec<SkillIdx>,
}

/// What to train on, and what to hold out.
#[derive(Debug, Clone, Default)]
pub(super) struct Split {
    pub(super) train: Vec<TrainQuery>,
    pub(super) held_out: Vec<TrainQuery>,
    pub(super) translations: Vec<(SkillIdx, SkillIdx)>,
    /// Chinese skills with skills in another language that have the same name.
    pub(super) namesakes: Vec<(SkillIdx, SkillIdx)>,
    pub(super) held_out_translations: Vec<(SkillIdx, SkillIdx)>,
}
