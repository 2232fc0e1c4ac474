//! [`Ranker`]: what finds, orders and pins skills.

use std::{collections::HashMap, sync::Arc};

use rayon::prelude::*;

use super::{
    merge::contributions,
    pin::pin,
    reading::Reading,
    standing::{MIN_COMPARED, Standing},
};
use crate::{
    compose::Calibration,
    decompose::{AskingWeights, asks_anywhere},
    error::Result,
    explain::{EXACT_NAME, Explanation, WordReader},
    index::{Index, IndexedSkill, whole_text},
    model::{Language, PairScorer, Speller, SubjectWords, Translated, Translator},
    query::Query,
    rerank::{KeepOrder, RerankRequest, Reranker},
    retrieve::{
        Bm25, Bm25Config, Bm25Retriever, Candidate, Contribution, Feature, Ranking,
        RankingIdentity, RetrieveRequest, Retriever, ScoreScale, Translation, lower_nearest, named,
    },
    skill::{Skill, SkillId},
    text::is_spaceless,
    trust::TrustPolicy,
};

/// A retriever and a reranker, with what every ranking shares: named skills come first, and reasons
/// are given in the same words.
pub struct Ranker {
    retriever: Box<dyn Retriever>,
    reranker: Box<dyn Reranker>,
    words: Bm25Config,
    speller: Option<Arc<dyn Speller>>,
    asking: Option<Arc<AskingWeights>>,
    subjects: Option<Arc<dyn SubjectWords>>,
    verifier: Option<Arc<dyn PairScorer>>,
    translator: Option<Arc<dyn Translator>>,
    trust: Option<TrustPolicy>,
}

impl Default for Ranker {
    /// BM25 alone.
    fn default() -> Self {
        Self::new(Box::new(Bm25Retriever::default()), Box::new(KeepOrder))
    }
}

impl Ranker {
    /// Returns a ranker of these stages.
    pub fn new(retriever: Box<dyn Retriever>, reranker: Box<dyn Reranker>) -> Self {
        Self {
            retriever,
            reranker,
            words: Bm25Config::default(),
            speller: None,
            asking: None,
            subjects: None,
            verifier: None,
            translator: None,
            trust: Some(TrustPolicy::default()),
        }
    }

    /// Returns the ranker with another way to weigh the words of reasons, as a retriever by words
    /// of its own needs.
    #[must_use]
    pub fn with_words(self, words: Bm25Config) -> Self {
        Self { words, ..self }
    }

    /// Returns the ranker with what knows how words are written: it then mends typing errors.
    #[must_use]
    pub fn with_speller(self, speller: Arc<dyn Speller>) -> Self {
        Self { speller: Some(speller), ..self }
    }

    /// Returns the ranker with what tells the sentences of a task that ask for something: long tasks
    /// are then ranked by these as well.
    #[must_use]
    pub fn with_asking(self, asking: Arc<AskingWeights>) -> Self {
        Self { asking: Some(asking), ..self }
    }

    /// Returns the ranker with what knows which words name a subject: the words that a skill has,
    /// and those that it lacks, are then weighed by that.
    #[must_use]
    pub fn with_subjects(self, subjects: Arc<dyn SubjectWords>) -> Self {
        Self { subjects: Some(subjects), ..self }
    }

    /// Returns the ranker with what reads a query and its best skill together: a calibration that
    /// weighs what it says then judges by that as well.
    #[must_use]
    pub fn with_verifier(self, verifier: Arc<dyn PairScorer>) -> Self {
        Self { verifier: Some(verifier), ..self }
    }

    /// Returns what reads a query and its best skill together, if there is such.
    pub fn verifier(&self) -> Option<&dyn PairScorer> {
        self.verifier.as_deref()
    }

    /// Returns the ranker with what says queries in English: skills in English are then found by
    /// that as well. Where scores are no log-odds, or the writing of skills is not measured, it
    /// changes nothing.
    #[must_use]
    pub fn with_translator(self, translator: Arc<dyn Translator>) -> Self {
        Self { translator: Some(translator), ..self }
    }

    /// Returns the ranker with what the user trusts.
    #[must_use]
    pub fn with_trust(self, trust: TrustPolicy) -> Self {
        Self { trust: Some(trust), ..self }
    }

    /// Returns a ranker to which all skills are the same, whatever speaks against them: what
    /// weights are fitted to.
    #[must_use]
    pub fn without_trust(self) -> Self {
        Self { trust: None, ..self }
    }

    /// Returns what the user trusts; `None` if that changes nothing.
    pub fn trust(&self) -> Option<&TrustPolicy> {
        self.trust.as_ref()
    }

    /// Returns the ranker with another reranker, which is made from the present one.
    #[must_use]
    pub fn with_reranker(self, make: impl FnOnce(Box<dyn Reranker>) -> Box<dyn Reranker>) -> Self {
        Self { reranker: make(self.reranker), ..self }
    }

    /// Returns who ranks, with models and weights.
    pub fn identity(&self) -> RankingIdentity {
        self.reranker.identity(self.retriever.as_ref())
    }

    /// Checks that the ranker can rank the skills of an index.
    ///
    /// # Errors
    /// As for [`Retriever::check`].
    pub fn check(&self, index: &Index) -> Result<()> {
        self.retriever.check(index)
    }

    /// Returns the best `k` skills of an index; those that the query names come first.
    ///
    /// If the query has needs, the task and each need are ranked alone and merged. First the
    /// log-odds for the task are added to those for each need; a skill loses at most 5 against the
    /// best skill of the task. Then each ranking shares out 1, and a skill has the sum of its shares.
    /// The scale is then
    /// [`ScoreScale::Share`](crate::retrieve::ScoreScale::Share), and the identity is one that no
    /// calibration has.
    ///
    /// What the query rules out (`no docker`) is not ranked. What it says is not to be done (`don't
    /// draw charts`) is, because weights are fitted to that; a [`Router`](super::Router) takes it
    /// out before.
    ///
    /// # Errors
    /// Those of the retriever and the reranker.
    pub fn rank(&self, index: &Index, query: &Query, k: usize) -> Result<Ranking> {
        self.rank_reading(index, &self.read(index, query)?, k)
    }

    /// Returns what applies the policy of the ranker, if it has one.
    pub(super) fn standing<'r>(&'r self, index: &'r Index) -> Option<Standing<'r>> {
        self.trust.as_ref().map(|trust| Standing::new(index, trust))
    }

    /// Returns how a query is read that somebody asks.
    pub(super) fn read_request(&self, index: &Index, query: &Query) -> Result<Reading> {
        Reading::of_request(query, index, self.speller.as_deref(), self.asking.as_deref())
    }

    /// Returns how a query is read that weights are fitted to.
    pub(super) fn read(&self, index: &Index, query: &Query) -> Result<Reading> {
        Reading::of(query, index, self.speller.as_deref())
    }

    /// Returns the best `k` skills for the text of a query, which is that of a reading or of a part
    /// of it.
    pub(super) fn rank_text(
        &self,
        index: &Index,
        reading: &Reading,
        query: &Query,
        k: usize,
    ) -> Result<Ranking> {
        Ok(self.rank_texts(index, reading, std::slice::from_ref(query), k)?.remove(0))
    }

    /// As [`rank_text`](Self::rank_text), for each of some texts; faster than one by one.
    pub(super) fn rank_texts(
        &self,
        index: &Index,
        reading: &Reading,
        queries: &[Query],
        k: usize,
    ) -> Result<Vec<Ranking>> {
        let n = k.max(self.reranker.n_compared()).max(MIN_COMPARED);
        let texts = queries.par_iter().map(|query| self.read_text(index, query));
        let texts = texts.collect::<Result<Vec<RankedText>>>()?;
        let request = |query, named| RetrieveRequest { index, query, named, k: n };
        let requests: Vec<RetrieveRequest<'_>> = texts
            .iter()
            .flat_map(|text| {
                let own = request(&text.query, &text.named);
                let said = text.said.as_ref().map(|(_, said)| request(said, &[]));
                std::iter::once(own).chain(said)
            })
            .collect();
        let mut lists = self.retriever.retrieve_all(&requests)?.into_iter();
        let mut next = || lists.next().expect("there is a list for each request");
        let found: Vec<_> = texts
            .iter()
            .map(|text| (text, next(), text.said.as_ref().map(|_| next()).unwrap_or_default()))
            .collect();
        let ranking = |(text, own, by_translation)| {
            self.ranking(index, reading, text, own, by_translation, k)
        };
        found.into_par_iter().map(ranking).collect()
    }

    /// Reads which skills a text names, and says it in English.
    fn read_text(&self, index: &Index, query: &Query) -> Result<RankedText> {
        let named = pinned(self.standing(index).as_ref(), named(index, query)?)?;
        let is_log_odds = self.scale() == ScoreScale::LogOdds;
        let translator = self.translator.as_ref().filter(|_| is_log_odds);
        let said = translator.and_then(|known| known.translate(query.text()));
        let own = said.as_ref().filter(|said| said.language != Language::Chinese);
        let own = own.and_then(|said| Query::new(said.content.as_str()).ok());
        // English takes more bytes; what gets too long is an attachment, and is ranked as it is.
        let said = said.and_then(|said| Query::new(said.text.as_str()).ok().map(|of| (said, of)));
        Ok(RankedText { query: own.unwrap_or_else(|| query.clone()), named, said })
    }

    fn scale(&self) -> ScoreScale {
        self.reranker.scale(self.retriever.as_ref())
    }

    /// Makes a ranking of what was found for a text, and for what it says in English.
    fn ranking(
        &self,
        index: &Index,
        reading: &Reading,
        text: &RankedText,
        found: Vec<Candidate>,
        found_by_translation: Vec<Candidate>,
        k: usize,
    ) -> Result<Ranking> {
        let scale = self.scale();
        let rerank = |query, found| self.reranker.rerank(&RerankRequest { index, query }, found);
        let mut candidates = rerank(&text.query, found)?;
        let identity = self.reranker.identity_of(self.retriever.as_ref(), &candidates);
        if let Some((said, query)) = &text.said {
            let mut discount = said.discount;
            if said.language != Language::Chinese {
                self.keep_own(index, &mut candidates, &text.named, said.language)?;
                if candidates.iter().any(has_words) {
                    discount = f32::max(discount, OWN_LANGUAGE_DISCOUNT);
                }
            }
            let found = rerank(query, found_by_translation)?;
            let ranking = self.reranker.identity_of(self.retriever.as_ref(), &found);
            let translation = Translation { text: said.text.clone(), ranking, discount };
            candidates = both(candidates, translation, found);
        }
        let n_found = candidates.len();
        reading.leave_out(index, &mut candidates)?;
        if let Some(standing) = self.standing(index) {
            standing.apply(&mut candidates, scale)?;
        }
        if candidates.len() < n_found {
            lower_nearest(&mut candidates);
        }
        pin(&mut candidates, &text.named, scale);
        candidates.truncate(k);
        Ok(Ranking { candidates, scale, identity })
    }

    /// Keeps the skills that are in a language, and those that the task names: its words find
    /// others by chance.
    fn keep_own(
        &self,
        index: &Index,
        candidates: &mut Vec<Candidate>,
        named: &[SkillId],
        language: Language,
    ) -> Result<()> {
        let Some(translator) = &self.translator else { return Ok(()) };
        let mut kept = Vec::new();
        for candidate in candidates.drain(..) {
            let is_own = named.contains(&candidate.skill) || {
                let headline = index.headline(index.find(&candidate.skill)?)?;
                translator.is_in(headline.description, language)
            };
            if is_own {
                kept.push(candidate);
            }
        }
        *candidates = kept;
        Ok(())
    }

    /// Returns whether a task asks for something by its words, or by those of its translation.
    pub(super) fn asks(&self, task: &str) -> bool {
        let translated = || self.translator.as_ref().and_then(|known| known.translate(task));
        asks_anywhere(task) || translated().is_some_and(|said| asks_anywhere(&said.text))
    }

    /// Returns what the parts of one skill are chosen by: the task, what it is in English, and its
    /// needs.
    pub(super) fn page_text(&self, query: &Query) -> String {
        let needs = query.needs().iter().map(|need| need.text().to_owned());
        let translation = self.translator.as_ref().and_then(|known| known.translate(query.text()));
        let translation = translation.map(|said| said.text);
        let all = std::iter::once(query.text().to_owned()).chain(translation).chain(needs);
        all.collect::<Vec<String>>().join("\n")
    }

    /// Returns a reader of skills for the reasons of one query.
    pub(super) fn reasons<'r>(&'r self, index: &'r Index, query: &'r Query) -> Result<Reasons<'r>> {
        let bm25 = Bm25::new(index, self.words);
        Ok(Reasons { ranker: self, query, words: WordReader::new(&bm25, query)?, bm25 })
    }

    /// Returns what the score of a candidate is made of.
    fn contributions(&self, candidate: &Candidate) -> Vec<Contribution> {
        let mut parts = contributions(candidate)
            .unwrap_or_else(|| self.reranker.contributions(self.retriever.as_ref(), candidate));
        if let Some(found) = &candidate.signals.translation {
            let value = -found.discount;
            parts.push(Contribution { feature: TRANSLATION.to_owned(), value });
        }
        if candidate.signals.of_readings != 0.0 {
            let value = candidate.signals.of_readings;
            parts.push(Contribution { feature: READINGS.to_owned(), value });
        }
        // A merged ranking has taken it off the shares.
        if candidate.signals.lowered > 0.0 && contributions(candidate).is_none() {
            let value = -candidate.signals.lowered;
            parts.push(Contribution { feature: TRUST.to_owned(), value });
        }
        if candidate.signals.is_named {
            let rest: f32 = parts.iter().map(|part| part.value).sum();
            let value = candidate.score - rest;
            parts.push(Contribution { feature: EXACT_NAME.to_owned(), value });
        }
        parts
    }
}

/// A text that is ranked.
struct RankedText {
    /// What is looked for: the text, or what of it is not grammar.
    query: Query,
    /// The skills that it names and that are put first.
    named: Vec<SkillId>,
    /// What it says in English, if it is in another language.
    said: Option<(Translated, Query)>,
}

/// Reads skills, and tells the reasons for their places.
pub(super) struct Reasons<'r> {
    ranker: &'r Ranker,
    query: &'r Query,
    bm25: Bm25<'r>,
    words: WordReader<'r>,
}

impl Reasons<'_> {
    /// Reads which words a candidate has, unless that is known.
    pub(super) fn read(&mut self, candidate: &mut Candidate, indexed: &IndexedSkill) -> Result<()> {
        if candidate.signals.words.is_some() {
            return Ok(());
        }
        let words = match candidate.signals.translation.as_deref() {
            Some(translation) => {
                let query = Query::new(translation.text.as_str())?;
                WordReader::new(&self.bm25, &query)?.read(&self.bm25, &indexed.skill)
            }
            None => self.words.read(&self.bm25, &indexed.skill),
        };
        let words = match self.ranker.subjects.as_deref() {
            Some(subjects) => {
                let Skill { name, description, .. } = &indexed.skill;
                words.with_subjects(subjects, &format!("{name} {description}"))
            }
            None => words,
        };
        candidate.signals.words = Some(words);
        Ok(())
    }

    /// Asks the verifier about a candidate that was read, if the calibration weighs what it says in a
    /// library of this size, and the query does not name the skill. Against a skill that has all
    /// words of the query it is not heard.
    pub(super) fn verify_for(
        &self,
        calibration: Option<&Calibration>,
        n_skills: usize,
        candidate: &mut Candidate,
        indexed: &IndexedSkill,
    ) -> Result<()> {
        match (self.ranker.verifier(), calibration) {
            (Some(verifier), Some(calibration)) if calibration.asks(verifier, n_skills) => {
                self.verify(candidate, indexed)
            }
            _ => Ok(()),
        }
    }

    /// Asks the verifier, as [`Self::verify_for`] does, whatever a calibration makes of it.
    pub(super) fn verify(&self, candidate: &mut Candidate, indexed: &IndexedSkill) -> Result<()> {
        let signals = &mut candidate.signals;
        let Some(verifier) = self.ranker.verifier() else { return Ok(()) };
        if signals.is_named || signals.serves.is_some() {
            return Ok(());
        }
        let translation = signals.translation.as_ref().map(|found| found.text.as_str());
        let Skill { name, description, body, .. } = &indexed.skill;
        let text = whole_text(name, description, body);
        let scores = verifier.scores(translation.unwrap_or(self.query.text()), &[&text])?;
        // Of Chinese, not all that a skill lacks is told.
        let is_told = !self.query.text().contains(is_spaceless);
        let words = signals.words.as_ref();
        let has_all = is_told && words.is_some_and(|words| words.missing.is_empty());
        let least = if has_all { 0.0 } else { f32::NEG_INFINITY };
        signals.serves =
            scores.first().copied().filter(|it| it.is_finite()).map(|it| it.max(least));
        Ok(())
    }

    /// Returns why a candidate that was read has its place.
    pub(super) fn explain(&self, candidate: &Candidate) -> Explanation {
        Explanation::of(candidate, self.ranker.contributions(candidate))
    }
}

/// Returns which of the skills that a text names are put first.
pub(super) fn pinned(standing: Option<&Standing<'_>>, named: Vec<SkillId>) -> Result<Vec<SkillId>> {
    match standing {
        Some(standing) => standing.pinned(named),
        None => Ok(named),
    }
}

/// What a skill loses by its risks, and by being a copy of one that is trusted more.
const TRUST: &str = "trust";

/// What other readings of a task change of a score: of one with something pasted, or a long one.
const READINGS: &str = "readings";

/// What a skill loses that a translation found.
const TRANSLATION: &str = "translation";

/// What a skill loses that a translation found, where a skill in the language of the task shares a
/// word with it.
const OWN_LANGUAGE_DISCOUNT: f32 = 2.0;

/// Least share of its writing that a skill has in common with a text that finds it.
const SAME_WRITING: f32 = 0.5;

/// Returns whether a candidate has a word of its query.
fn has_words(candidate: &Candidate) -> bool {
    candidate.signals.get(Feature::Bm25.as_str()).is_some_and(|bm25| bm25 > 0.0)
}

/// Joins what a query and its translation found. The translation adds skills in its own writing,
/// which lose something; a skill that both found has the higher score.
fn both(
    of_query: Vec<Candidate>,
    translation: Translation,
    of_translation: Vec<Candidate>,
) -> Vec<Candidate> {
    let writing = |candidate: &Candidate| candidate.signals.get(Feature::SameWriting.as_str());
    let is_same = |candidate: &Candidate| writing(candidate).is_some_and(|w| w >= SAME_WRITING);
    let translation = Arc::new(translation);
    let mut candidates = of_query;
    let place_of: HashMap<SkillId, usize> =
        candidates.iter().enumerate().map(|(at, known)| (known.skill.clone(), at)).collect();
    for mut candidate in of_translation.into_iter().filter(is_same) {
        candidate.score -= translation.discount;
        candidate.signals.translation = Some(Arc::clone(&translation));
        match place_of.get(&candidate.skill) {
            Some(at) if candidates[*at].score >= candidate.score => {}
            Some(at) => candidates[*at] = candidate,
            None => candidates.push(candidate),
        }
    }
    candidates.sort_unstable_by(Candidate::best_first);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::Signals;

    const SIGNALS: &[&str] = &["same_writing"];

    fn found(all: &[(&str, f32, f32)]) -> Vec<Candidate> {
        let candidate = |(id, score, writing): &(&str, f32, f32)| Candidate {
            skill: SkillId::new(*id),
            score: *score,
            signals: Signals::new(SIGNALS, vec![*writing]),
        };
        all.iter().map(candidate).collect()
    }

    fn translation() -> Translation {
        let ranking = RankingIdentity::new("test");
        Translation { text: "clean a table".to_owned(), ranking, discount: 3.0 }
    }

    fn told(candidates: Vec<Candidate>) -> Vec<(String, f32, bool)> {
        let told = |found: Candidate| {
            (found.skill.as_str().to_owned(), found.score, found.signals.translation.is_some())
        };
        candidates.into_iter().map(told).collect()
    }

    #[test]
    fn a_translation_adds_skills_in_its_own_writing() {
        let of_query = found(&[("zh", 3.0, 1.0), ("en", 1.0, 0.0), ("other", 1.0, 0.1)]);
        let of_translation =
            found(&[("en", 5.0, 1.0), ("new", 4.5, 0.9), ("other", 3.5, 1.0), ("zh", 9.0, 0.2)]);
        let joined = both(of_query.clone(), translation(), of_translation);
        let expected =
            [("zh", 3.0, false), ("en", 2.0, true), ("new", 1.5, true), ("other", 1.0, false)];
        assert_eq!(told(joined), expected.map(|(id, score, by)| (id.to_owned(), score, by)));
        // Where the writing is not measured, a translation adds nothing.
        let unmeasured = vec![Candidate::new(SkillId::new("a"), 9.0)];
        assert_eq!(both(of_query.clone(), translation(), unmeasured), of_query);
    }
}
