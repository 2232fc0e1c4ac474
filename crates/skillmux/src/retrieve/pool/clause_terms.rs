//! [`ClauseTerms`]: the clauses that are looked up by themselves.

use std::ops::Range;

use super::term::PoolTerm;
use crate::decompose::{Clause, clauses_with_terms};

/// Most clauses that are looked up by themselves, the weightiest first.
const MAX_CLAUSES: usize = 24;

/// A clause of fewer known terms is no request of its own.
const MIN_CLAUSE_TERMS: usize = 2;

/// The terms of one clause.
pub(super) struct ClauseTerms {
    pub(super) range: Range<usize>,
    pub(super) weight: f32,
    /// Positions of the terms in the clause.
    pub(super) terms: Vec<usize>,
}

impl ClauseTerms {
    /// Returns the clauses that say enough to be looked up; none where there is only one.
    pub(super) fn of_task(task: &str, terms: &[PoolTerm]) -> Vec<Self> {
        let sources = terms
            .iter()
            .enumerate()
            .flat_map(|(at, term)| term.term.sources.iter().map(move |source| (source.start, at)));
        let mut parts: Vec<(usize, Self)> = clauses_with_terms(task, sources)
            .into_iter()
            .enumerate()
            .filter(|(_, (_, terms))| terms.len() >= MIN_CLAUSE_TERMS)
            .map(|(position, (Clause { range, weight, .. }, terms))| {
                (position, Self { range, weight, terms })
            })
            .collect();
        if parts.len() < 2 {
            return Vec::new();
        }
        parts.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight));
        parts.truncate(MAX_CLAUSES);
        parts.sort_by_key(|(position, _)| *position);
        parts.into_iter().map(|(_, part)| part).collect()
    }
}
