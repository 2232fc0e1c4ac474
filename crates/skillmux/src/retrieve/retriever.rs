//! [`Retriever`]: the port of what finds candidates.

use rayon::prelude::*;

use super::{Candidate, Contribution, RankingIdentity, ScoreScale};
use crate::{
    error::Result,
    index::{Index, SkillIdx},
    query::Query,
    skill::SkillId,
};

/// What a [`Retriever`] is asked.
#[derive(Clone, Copy)]
pub struct RetrieveRequest<'a> {
    /// The snapshot of the library.
    pub index: &'a Index,
    /// What is looked for.
    pub query: &'a Query,
    /// Skills that the query names, in the order of ids.
    pub named: &'a [SkillId],
    /// How many are asked for.
    pub k: usize,
}

impl RetrieveRequest<'_> {
    /// Returns the positions of the named skills, rising.
    pub(crate) fn named_positions(&self) -> Result<Vec<SkillIdx>> {
        self.named.iter().map(|id| self.index.find(id)).collect()
    }
}

/// How well a retriever's best are the best there are.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Tier {
    /// Always the best, and the same bits each time.
    Exact,
    /// Most of the best, as an approximate index or another engine finds them.
    Approximate {
        /// Measured share of the exact best ten that are found, in `[0, 1]`.
        recall_at_10: f32,
    },
}

/// Finds the skills that a query may need, with what it knows of them.
///
/// A retriever keeps no skill itself: it reads the snapshot of the request, or asks another engine
/// by the ids of skills. The contract, which one test suite checks for every implementation:
/// - the best `k` candidates at least, if there are as many, and all skills that the query names,
///   in [`Candidate::best_first`] order, each skill at most once;
/// - scores and signals are finite; all candidates have the same named values, or none: one that a
///   reranker can't measure has none, and a score in `[0, 1]` below those that have some;
/// - a skill that shares nothing with the query is left out unless the query names it, so that
///   fewer than `k` may come, or none;
/// - the first `k` do not depend on `k`;
/// - [`Tier::Exact`]: the same index and query give the same candidates, bit by bit, whether the
///   index was built at once or step by step. [`Tier::Approximate`]: the stated share of those.
pub trait Retriever: Send + Sync {
    /// Returns which retriever this is, with its models and constants.
    fn identity(&self) -> RankingIdentity;

    /// Returns who found these candidates: [`identity`](Self::identity), unless a model of it had
    /// no say in them, as one that cannot read the query. A calibration is chosen by this.
    fn identity_of(&self, _found: &[Candidate]) -> RankingIdentity {
        self.identity()
    }

    /// Returns what the scores mean.
    fn scale(&self) -> ScoreScale;

    /// Returns how well the best are found.
    fn tier(&self) -> Tier {
        Tier::Exact
    }

    /// Checks that the retriever can search this index.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`](crate::Error::EncoderMismatch) if it has vectors of another
    /// encoder.
    fn check(&self, _index: &Index) -> Result<()> {
        Ok(())
    }

    /// Returns the candidates.
    ///
    /// # Errors
    /// [`Error::Lexical`](crate::Error::Lexical) if the index cannot be read, and
    /// [`Error::Encoder`](crate::Error::Encoder) if a model that it asks fails.
    fn retrieve(&self, request: &RetrieveRequest<'_>) -> Result<Vec<Candidate>>;

    /// Returns the candidates of each of some requests, a list for each in their order. All are over
    /// one snapshot. A list is the same as [`retrieve`](Self::retrieve) gives, but may come sooner:
    /// what the requests share is read once.
    ///
    /// # Errors
    /// As for [`retrieve`](Self::retrieve); an error of one is that of all.
    fn retrieve_all(&self, requests: &[RetrieveRequest<'_>]) -> Result<Vec<Vec<Candidate>>> {
        requests.par_iter().map(|request| self.retrieve(request)).collect()
    }

    /// Returns what the score of a candidate is made of, from its signals; they add up to the score
    /// that [`retrieve`](Self::retrieve) gave it, within rounding. What is made of words needs
    /// [`Signals::words`](super::Signals::words).
    fn contributions(&self, candidate: &Candidate) -> Vec<Contribution>;
}
