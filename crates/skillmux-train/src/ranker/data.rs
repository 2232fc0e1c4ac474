//! [`RankerData`]: queries and the skills that answer them, as lists of candidates.

use std::{collections::BTreeMap, path::Path};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use skillmux::{
    index::{Index, SkillIdx},
    query::Query,
    rerank::QueryTraits,
    retrieve::{Feature, PoolRetriever, RetrieveRequest, Retriever, named},
    skill::SkillId,
    text::spaceless_share,
};

use crate::{
    error::Result,
    file::{Translations, read_queries},
    split::{Fold, RankerShare, ScoredNames, key_of_name},
};

/// Bodies with more in common are near-duplicates, as for a plan.
const NEAR_DUPLICATE: f32 = 0.6;

/// A text with a larger share of Chinese, kana and Hangul is written without spaces, as for the
/// traits of a query.
const MIN_SPACELESS_SHARE: f32 = 0.3;

/// The features of one candidate, in the order of [`Feature::ALL`].
pub(super) type FeatureRow = [f32; Feature::ALL.len()];

/// Queries and the skills that answer them.
#[derive(Debug, Clone, Default)]
pub struct RankerData {
    /// By text, so that a query that stands in two lines has the skills of both.
    queries: BTreeMap<String, LabelledQuery>,
    translations: Translations,
}

#[derive(Debug, Clone, Default)]
struct LabelledQuery {
    ids: Vec<SkillId>,
    is_known_to_encoder: bool,
    is_in_other_words: bool,
}

impl RankerData {
    /// Adds queries that the encoder was trained on, as for
    /// [`EncoderData::add_queries`](crate::encoder::EncoderData::add_queries): those whose skills
    /// it knows from them are left out, for its cosines are too good there.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn add_queries(&mut self, path: &Path) -> Result<()> {
        self.add(path, |query| query.is_known_to_encoder = true)
    }

    /// Adds queries that the encoder was not trained on, in the same format.
    ///
    /// # Errors
    /// As for [`RankerData::add_queries`].
    pub fn add_tasks(&mut self, path: &Path) -> Result<()> {
        self.add(path, |_| {})
    }

    /// Adds tasks in other words than their skills have, which count as a kind of their own, in the
    /// same format; the encoder was not trained on them. Tasks in another language than their
    /// skills are one more kind.
    ///
    /// # Errors
    /// As for [`RankerData::add_queries`].
    pub fn add_other_words(&mut self, path: &Path) -> Result<()> {
        self.add(path, |query| query.is_in_other_words = true)
    }

    /// Adds the pairs that the encoder was trained on, as for
    /// [`EncoderData::add_translations`](crate::encoder::EncoderData::add_translations): the
    /// description of one skill is a query for the other, in both directions. Those that the
    /// encoder knows are left out, and so are skills that share a name with a scored one.
    ///
    /// # Errors
    /// As for [`RankerData::add_queries`].
    pub fn add_translations(&mut self, path: &Path) -> Result<()> {
        self.translations.add(path)
    }

    /// Returns the number of queries that were added; a pair of translations is two.
    pub fn n_queries(&self) -> usize {
        self.queries.len() + 2 * self.translations.pairs.len()
    }

    fn add(&mut self, path: &Path, mark: impl Fn(&mut LabelledQuery)) -> Result<()> {
        for (text, id) in read_queries(path)? {
            let query = self.queries.entry(text).or_default();
            query.ids.push(id);
            mark(query);
        }
        Ok(())
    }

    /// Returns the skills that some query asks for whose skills are all new to the encoders, each
    /// once.
    pub(super) fn right_skills(&self, index: &Index) -> Result<Vec<SkillIdx>> {
        let examples = self.query_examples(index, &idx_of(index)?, Queries::OfNewSkills)?;
        let mut right: Vec<SkillIdx> =
            examples.into_iter().flat_map(|example| example.right).collect();
        right.sort_unstable();
        right.dedup();
        Ok(right)
    }

    /// Returns the candidates of each query of which the index holds a skill.
    pub(super) fn lists(
        &self,
        index: &Index,
        retriever: &PoolRetriever,
        queries: Queries,
    ) -> Result<Lists> {
        let idx_of = idx_of(index)?;
        let mut examples = self.query_examples(index, &idx_of, queries)?;
        examples.extend(self.translation_examples(index, &idx_of)?);
        let list = |example: &Example| List::of(index, retriever, example);
        let lists = examples.par_iter().map(list).collect::<Result<Vec<_>>>()?;
        Ok(Lists(lists.into_iter().flatten().collect()))
    }

    fn query_examples(
        &self,
        index: &Index,
        idx_of: &FxHashMap<SkillId, SkillIdx>,
        queries: Queries,
    ) -> Result<Vec<Example>> {
        let mut examples = Vec::new();
        for (text, LabelledQuery { ids, is_known_to_encoder, is_in_other_words }) in &self.queries {
            let mut right: Vec<SkillIdx> =
                ids.iter().filter_map(|id| idx_of.get(id).copied()).collect();
            right.sort_unstable();
            right.dedup();
            let Some(share) = share_of(index, &right)? else { continue };
            let is_used = match queries {
                Queries::NewToEncoder => share.is_new_to_encoder || !is_known_to_encoder,
                Queries::OfNewSkills => share.is_new_to_encoder,
            };
            if is_used {
                let text = text.clone();
                let kind = if *is_in_other_words { QueryKind::OtherWords } else { QueryKind::Own };
                let is_across = is_across(index, &text, &right)?;
                examples.push(Example { text, right, kind, is_across, fold: share.fold });
            }
        }
        Ok(examples)
    }

    fn translation_examples(
        &self,
        index: &Index,
        idx_of: &FxHashMap<SkillId, SkillIdx>,
    ) -> Result<Vec<Example>> {
        let key_of = |idx: SkillIdx| Ok(key_of_name(&index.skill(idx)?.skill.name));
        let scored = self.translations.scored.iter().filter_map(|id| idx_of.get(id));
        let scored: ScoredNames = scored.map(|idx| key_of(*idx)).collect::<Result<_>>()?;
        let mut examples = Vec::new();
        for (zh, en) in &self.translations.pairs {
            let (Some(zh), Some(en)) = (idx_of.get(zh), idx_of.get(en)) else { continue };
            let Some(share) = share_of(index, &[*zh, *en])? else { continue };
            let may_learn = scored.leave(key_of(*zh)?) && scored.leave(key_of(*en)?);
            if !share.is_new_to_encoder || !may_learn {
                continue;
            }
            for (from, to) in [(*zh, *en), (*en, *zh)] {
                let text = index.skill(from)?.skill.description;
                examples.push(Example {
                    text,
                    right: vec![to],
                    kind: QueryKind::Translation { of: from },
                    is_across: true,
                    fold: share.fold,
                });
            }
        }
        Ok(examples)
    }
}

/// Which queries are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queries {
    /// Those that the static encoder was not trained on.
    NewToEncoder,
    /// Those of skills that no encoder was trained on, whatever file the query comes from.
    OfNewSkills,
}

/// Returns where the index holds each id.
fn idx_of(index: &Index) -> Result<FxHashMap<SkillId, SkillIdx>> {
    let mut idx_of = FxHashMap::default();
    for idx in index.skills() {
        idx_of.extend(index.all_ids(idx)?.into_iter().map(|id| (id, idx)));
    }
    Ok(idx_of)
}

/// Returns what the names of the skills of a query decide; `None` for no skills.
fn share_of(index: &Index, right: &[SkillIdx]) -> Result<Option<RankerShare>> {
    let mut found: Option<RankerShare> = None;
    for idx in right {
        let share = RankerShare::of_name(key_of_name(&index.skill(*idx)?.skill.name));
        found = Some(found.map_or(share, |found| found.and(share)));
    }
    Ok(found)
}

/// Returns whether a query is written with spaces and all of its skills without them, or the other
/// way round.
fn is_across(index: &Index, text: &str, right: &[SkillIdx]) -> Result<bool> {
    let is_mainly_spaceless = |text: &str| spaceless_share(text) > MIN_SPACELESS_SHARE;
    for idx in right {
        let description = index.skill(*idx)?.skill.description;
        if is_mainly_spaceless(&description) == is_mainly_spaceless(text) {
            return Ok(false);
        }
    }
    Ok(!right.is_empty())
}

/// A query before it is looked up.
struct Example {
    text: String,
    right: Vec<SkillIdx>,
    kind: QueryKind,
    is_across: bool,
    fold: Fold,
}

/// Where a query is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryKind {
    /// It was written as a query.
    Own,
    /// It is a task in other words than its skills have.
    OtherWords,
    /// It is the description of a skill in another language, which is no candidate.
    Translation {
        /// That skill.
        of: SkillIdx,
    },
}

/// The candidates of one query.
pub(super) struct List {
    pub(super) query: String,
    pub(super) rows: Vec<FeatureRow>,
    /// What the weights of the query depend on.
    pub(super) traits: QueryTraits,
    pub(super) fold: Fold,
    /// Positions of the right skills among the candidates.
    pub(super) right: Vec<usize>,
    /// Candidates that nearly repeat a right skill.
    pub(super) near_duplicates: Vec<usize>,
    /// The right skills, found or not.
    pub(super) right_ids: Vec<SkillId>,
    /// Where the query is from.
    pub(super) kind: QueryKind,
    /// Whether the right skills are in another writing than the query.
    pub(super) is_across: bool,
    /// Whether the transformer read the query.
    pub(super) is_read: bool,
}

impl List {
    fn of(index: &Index, retriever: &PoolRetriever, example: &Example) -> Result<Option<Self>> {
        let Example { text, right, kind, is_across, fold } = example;
        let Ok(query) = Query::new(text.as_str()) else { return Ok(None) };
        let named = named(index, &query)?;
        let request = RetrieveRequest { index, query: &query, named: &named, k: 0 };
        let mut list = Self {
            query: text.clone(),
            rows: Vec::new(),
            traits: QueryTraits::default(),
            fold: *fold,
            right: Vec::new(),
            near_duplicates: Vec::new(),
            right_ids: right.iter().map(|idx| index.id(*idx)).collect::<Result<_, _>>()?,
            kind: *kind,
            is_across: *is_across,
            is_read: false,
        };
        let mut skills = Vec::new();
        for candidate in retriever.retrieve(&request)? {
            let (skill, signals) = (index.find(&candidate.skill)?, candidate.signals);
            if *kind == (QueryKind::Translation { of: skill }) {
                continue;
            }
            let value = |feature: Feature| signals.get(feature.as_str()).unwrap_or(0.0);
            list.rows.push(Feature::ALL.map(value));
            list.traits = QueryTraits::of(&signals);
            list.is_read = list.traits.read > 0.0;
            skills.push(skill);
        }
        for (position, skill) in skills.into_iter().enumerate() {
            if right.contains(&skill) {
                list.right.push(position);
                continue;
            }
            for right in right {
                if index.similarity(skill, *right)? > NEAR_DUPLICATE {
                    list.near_duplicates.push(position);
                    break;
                }
            }
        }
        Ok(Some(list))
    }

    /// Returns whether a right skill is among the candidates.
    pub(super) fn has_right(&self) -> bool {
        !self.right.is_empty()
    }

    /// Returns the number of right skills, found or not.
    pub(super) fn n_right(&self) -> usize {
        self.right_ids.len()
    }

    /// Returns whether the query is a task of several sentences.
    pub(super) fn is_long(&self) -> bool {
        self.traits.length > 0.5
    }

    /// Returns whether the query is written without spaces.
    pub(super) fn is_spaceless(&self) -> bool {
        self.traits.spaceless > 0.5
    }

    /// Returns whether the query is the description of a skill in another language.
    pub(super) fn is_translation(&self) -> bool {
        matches!(self.kind, QueryKind::Translation { .. })
    }
}

/// The lists of all queries, by text.
#[derive(Default)]
pub(super) struct Lists(Vec<List>);

impl Lists {
    #[cfg(test)]
    pub(super) fn new(lists: Vec<List>) -> Self {
        Self(lists)
    }

    /// Adds the lists of other libraries.
    pub(super) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Keeps the lists of queries that the transformer read.
    pub(super) fn retain_read(&mut self) {
        self.0.retain(|list| list.is_read);
    }

    pub(super) fn fold(&self, fold: Fold) -> impl Iterator<Item = &List> {
        self.0.iter().filter(move |list| list.fold == fold)
    }
}
