//! [`EncoderData`]: which texts belong together, and which of them are held out.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use skillmux::{
    index::{Index, SkillIdx},
    skill::SkillId,
};

use super::corpus::{Bag, Corpus, key_of_name};
use crate::error::{Error, Result};

/// One skill name in so many is held out.
const HELD_OUT_ONE_IN: u64 = 10;

/// One pair of translations in so many is kept for the final scores, and never read here.
const RESERVED_ONE_IN: u32 = 5;

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

/// Skills in two languages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Translations {
    /// Chinese and English.
    pub(crate) pairs: Vec<(SkillId, SkillId)>,
    /// Skills of the pairs that are kept for the final scores.
    pub(crate) reserved: Vec<SkillId>,
}

impl Translations {
    /// Adds the pairs of a file, plain or `.zst`: `{"zh", "en"}` a line.
    pub(crate) fn add(&mut self, path: &Path) -> Result<()> {
        let lines: Vec<TranslationLine> = lines(path, "a pair of `zh` and `en`")?;
        for TranslationLine { zh, en } in lines {
            if is_reserved(&en) {
                self.reserved.extend([zh, en]);
            } else {
                self.pairs.push((zh, en));
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct QueryLine {
    query: String,
    #[serde(default)]
    skill_id: Option<SkillId>,
    #[serde(default)]
    skill_ids: Vec<SkillId>,
    #[serde(default = "yes")]
    relevant: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct TranslationLine {
    zh: SkillId,
    en: SkillId,
}

impl EncoderData {
    /// Adds the queries of a file, plain or `.zst`: `{"query", "skill_id" or "skill_ids"}` a line;
    /// those with `"relevant": false` are left out.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::TrainingData`].
    pub fn add_queries(&mut self, path: &Path) -> Result<()> {
        self.queries.extend(read_queries(path)?);
        Ok(())
    }

    /// Adds the pairs of a file, plain or `.zst`: `{"zh", "en"}` a line, both ids of skills.
    ///
    /// Those whose English id has a SHA-256 hash that starts with a multiple of five (as a 32-bit
    /// number) are left out, and so are all skills that share a name with one of them: they are
    /// for the final scores.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::TrainingData`].
    pub fn add_translations(&mut self, path: &Path) -> Result<()> {
        self.translations.add(path)
    }

    /// Returns what to train on and what to hold out, as far as the index holds it.
    pub(super) fn split(&self, index: &Index, corpus: &Corpus) -> Result<Split> {
        let mut idx_of: FxHashMap<SkillId, SkillIdx> = FxHashMap::default();
        for idx in (0..).map(SkillIdx).take(index.n_skills()) {
            idx_of.extend(index.all_ids(idx)?.into_iter().map(|id| (id, idx)));
        }
        let mut gold_of: BTreeMap<&str, Vec<SkillIdx>> = BTreeMap::new();
        for (query, id) in &self.queries {
            if let Some(idx) = idx_of.get(id) {
                let gold = gold_of.entry(query).or_default();
                if !gold.contains(idx) {
                    gold.push(*idx);
                }
            }
        }
        let key = |idx: SkillIdx| corpus.name_keys[idx.0 as usize];
        let is_held_out = |idx: &SkillIdx| key(*idx).is_multiple_of(HELD_OUT_ONE_IN);
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
        let reserved = self.translations.reserved.iter().filter_map(|id| idx_of.get(id));
        let reserved: FxHashSet<u64> = reserved.map(|idx| key(*idx)).collect();
        split
            .translations
            .retain(|(zh, en)| !reserved.contains(&key(*zh)) && !reserved.contains(&key(*en)));
        split.namesakes = namesakes(corpus, |key| {
            !reserved.contains(&key) && !key.is_multiple_of(HELD_OUT_ONE_IN)
        });
        Ok(split)
    }
}

/// Returns the queries of a file, each with a skill that answers it.
pub(crate) fn read_queries(path: &Path) -> Result<Vec<(String, SkillId)>> {
    let lines: Vec<QueryLine> = lines(path, "a query with `skill_id` or `skill_ids`")?;
    let relevant = lines.into_iter().filter(|line| line.relevant);
    let pairs = relevant.flat_map(|QueryLine { query, skill_id, skill_ids, .. }| {
        skill_id.into_iter().chain(skill_ids).map(move |id| (query.clone(), id))
    });
    Ok(pairs.collect())
}

/// Returns whether the queries of skills with this name are held out from the training.
pub(crate) fn is_held_out_name(name: &str) -> bool {
    key_of_name(name).is_multiple_of(HELD_OUT_ONE_IN)
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

/// Returns whether a pair of translations is kept for the final scores.
fn is_reserved(en: &SkillId) -> bool {
    let hash = Sha256::digest(en.as_str().as_bytes());
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]).is_multiple_of(RESERVED_ONE_IN)
}

fn lines<T: DeserializeOwned>(path: &Path, expected: &'static str) -> Result<Vec<T>> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(read_error)?;
    let is_compressed = path.extension().is_some_and(|extension| extension == "zst");
    let reader: Box<dyn Read> = if is_compressed {
        Box::new(zstd::stream::read::Decoder::new(file).map_err(read_error)?)
    } else {
        Box::new(file)
    };
    let parse = |(line, text): (usize, std::io::Result<String>)| {
        let text = text.map_err(read_error)?;
        serde_json::from_str(&text).map_err(|source| Error::TrainingData {
            path: path.to_owned(),
            line,
            expected,
            source,
        })
    };
    (1..).zip(BufReader::new(reader).lines()).map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::corpus::key_of_name;

    #[test]
    fn the_reserved_fifth_follows_the_stated_rule() {
        // [n for n in range(12) if int(hashlib.sha256(b"a/%d" % n).hexdigest()[:8], 16) % 5 == 0]
        let reserved: Vec<usize> =
            (0..12).filter(|n| is_reserved(&SkillId::new(format!("a/{n}")))).collect();
        assert_eq!(reserved, [1, 3, 5]);
    }

    #[test]
    fn names_are_compared_without_case_and_joints() {
        assert_eq!(key_of_name("PDF-Forms"), key_of_name("pdf_forms"));
        assert_ne!(key_of_name("pdf-forms"), key_of_name("pdf-form"));
    }
}
