//! [`Ranker`]: what finds, orders and pins skills.

use std::sync::Arc;

use super::{
    merge::{N_MERGED, contributions, merge},
    pin::pin,
    reading::Reading,
};
use crate::{
    error::Result,
    explain::{EXACT_NAME, Explanation, WordReader},
    index::{Index, IndexedSkill},
    model::Speller,
    query::Query,
    rerank::{KeepOrder, RerankRequest, Reranker},
    retrieve::{
        Bm25, Bm25Config, Bm25Retriever, Candidate, Contribution, Ranking, RankingIdentity,
        RetrieveRequest, Retriever, named,
    },
};

/// A retriever and a reranker, with what every ranking shares: named skills come first, and reasons are
/// given in the same words.
pub struct Ranker {
    retriever: Box<dyn Retriever>,
    reranker: Box<dyn Reranker>,
    words: Bm25Config,
    speller: Option<Arc<dyn Speller>>,
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
        Self { retriever, reranker, words: Bm25Config::default(), speller: None }
    }

    /// Returns the ranker with another way to weigh the words of reasons, as a retriever by words of its
    /// own needs.
    #[must_use]
    pub fn with_words(self, words: Bm25Config) -> Self {
        Self { words, ..self }
    }

    /// Returns the ranker with what knows how words are written: it then mends typing errors.
    #[must_use]
    pub fn with_speller(self, speller: Arc<dyn Speller>) -> Self {
        Self { speller: Some(speller), ..self }
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
    /// If the query has needs, the task and each need are ranked alone and merged: a skill has the sum of its shares of
    /// these rankings, each of which shares out 1. The scale is then [`ScoreScale::Share`](crate::retrieve::ScoreScale::Share), and the identity is one that
    /// no calibration has.
    ///
    /// # Errors
    /// Those of the retriever and the reranker.
    pub fn rank(&self, index: &Index, query: &Query, k: usize) -> Result<Ranking> {
        self.rank_reading(index, &self.read(index, query)?, k)
    }

    /// As [`Ranker::rank`], for a query that was read.
    pub(super) fn rank_reading(
        &self,
        index: &Index,
        reading: &Reading,
        k: usize,
    ) -> Result<Ranking> {
        let query = &reading.query;
        if query.needs().is_empty() {
            return self.rank_text(index, reading, query, k);
        }
        let n = usize::max(k, N_MERGED);
        let mut rankings = vec![self.rank_text(index, reading, query, n)?];
        let mut all_named = named(index, query)?;
        for need in query.needs() {
            let need = Query::new(need.text())?;
            rankings.push(self.rank_text(index, reading, &need, n)?);
            all_named.extend(named(index, &need)?);
        }
        all_named.sort_unstable();
        all_named.dedup();
        let mut merged = merge(rankings);
        pin(&mut merged.candidates, &all_named, merged.scale);
        merged.candidates.truncate(k);
        Ok(merged)
    }

    /// Returns how a query is read.
    pub(super) fn read(&self, index: &Index, query: &Query) -> Result<Reading> {
        Reading::of(query, index, self.speller.as_deref())
    }

    /// Returns the best `k` skills for the text of a query, which is that of a reading or of a part of it.
    pub(super) fn rank_text(
        &self,
        index: &Index,
        reading: &Reading,
        query: &Query,
        k: usize,
    ) -> Result<Ranking> {
        let named = named(index, query)?;
        let n_retrieved = k.max(self.reranker.n_compared());
        let request = RetrieveRequest { index, query, named: &named, k: n_retrieved };
        let found = self.retriever.retrieve(&request)?;
        let mut candidates = self.reranker.rerank(&RerankRequest { index, query }, found)?;
        let scale = self.reranker.scale(self.retriever.as_ref());
        let identity = self.reranker.identity_of(self.retriever.as_ref(), &candidates);
        reading.leave_out(index, &mut candidates)?;
        pin(&mut candidates, &named, scale);
        candidates.truncate(k);
        Ok(Ranking { candidates, scale, identity })
    }

    /// Returns a reader of skills for the reasons of one query.
    pub(super) fn reasons<'r>(&'r self, index: &'r Index, query: &'r Query) -> Result<Reasons<'r>> {
        let bm25 = Bm25::new(index, self.words);
        Ok(Reasons { ranker: self, words: WordReader::new(&bm25, query)?, bm25 })
    }

    /// Returns what the score of a candidate is made of.
    fn contributions(&self, candidate: &Candidate) -> Vec<Contribution> {
        let mut parts = contributions(candidate)
            .unwrap_or_else(|| self.reranker.contributions(self.retriever.as_ref(), candidate));
        if candidate.signals.is_named {
            let rest: f32 = parts.iter().map(|part| part.value).sum();
            let value = candidate.score - rest;
            parts.push(Contribution { feature: EXACT_NAME.to_owned(), value });
        }
        parts
    }
}

/// Reads skills, and tells the reasons for their places.
pub(super) struct Reasons<'r> {
    ranker: &'r Ranker,
    bm25: Bm25<'r>,
    words: WordReader<'r>,
}

impl Reasons<'_> {
    /// Reads which words a candidate has, unless that is known.
    pub(super) fn read(&mut self, candidate: &mut Candidate, indexed: &IndexedSkill) {
        if candidate.signals.words.is_none() {
            candidate.signals.words = Some(self.words.read(&self.bm25, &indexed.skill));
        }
    }

    /// Returns why a candidate that was read has its place.
    pub(super) fn explain(&self, candidate: &Candidate) -> Explanation {
        Explanation::of(candidate, self.ranker.contributions(candidate))
    }
}
