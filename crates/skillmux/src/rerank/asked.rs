//! What rerankers that ask a model share: which candidates they ask about, and what the answer
//! adds.

use super::RerankRequest;
use crate::{
    error::Result,
    index::IndexedSkill,
    retrieve::{Candidate, Contribution},
};

/// Returns how many of the first candidates a model may be asked about, at most `n`.
///
/// If some have signals, only those: none without may come above them.
pub(super) fn n_asked(candidates: &[Candidate], n: usize) -> usize {
    let is_measured = |candidate: &&Candidate| candidate.signals.is_measured();
    let n_measured = candidates.iter().take_while(is_measured).count();
    n.min(if n_measured > 0 { n_measured } else { candidates.len() })
}

/// Reads the skills of candidates.
pub(super) fn read(
    request: &RerankRequest<'_>,
    candidates: &[Candidate],
) -> Result<Vec<IndexedSkill>> {
    let index = request.index;
    candidates.iter().map(|candidate| index.skill(index.find(&candidate.skill)?)).collect()
}

/// Returns the parts of a score with what the answer of a model added to those of the order before
/// it.
pub(super) fn with_answer(
    mut parts: Vec<Contribution>,
    feature: &str,
    candidate: &Candidate,
) -> Vec<Contribution> {
    // A skill that the query names was raised once more, after the answer, and how much either gave
    // cannot be told any more.
    if !candidate.signals.is_named {
        let rest: f32 = parts.iter().map(|part| part.value).sum();
        let value = candidate.score - rest;
        parts.push(Contribution { feature: feature.to_owned(), value });
    }
    parts
}
