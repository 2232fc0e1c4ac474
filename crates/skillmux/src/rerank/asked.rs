//! What rerankers that ask a model share: which candidates they ask about, and what the answer adds.

use super::{Passage, RerankRequest, passage::beginning};
use crate::{
    error::{Error, Result},
    index::IndexedSkill,
    model::PairScorer,
    retrieve::{Candidate, Contribution},
};

/// Characters of a query that a cross-encoder reads; `SkillRouter`'s evaluation cuts tasks there.
const MAX_QUERY_CHARS: usize = 2000;

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

/// Returns what a cross-encoder says of each candidate.
pub(super) fn answers(
    scorer: &dyn PairScorer,
    passage: &dyn Passage,
    request: &RerankRequest<'_>,
    candidates: &[Candidate],
) -> Result<Vec<f32>> {
    let texts = passage.texts(request, &read(request, candidates)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let query = beginning(request.query.text(), MAX_QUERY_CHARS);
    let scores = scorer.scores(query, &texts)?;
    if scores.len() != candidates.len() || scores.iter().any(|score| !score.is_finite()) {
        let name = scorer.identity().name.clone();
        let (n_scores, n_texts) = (scores.len(), texts.len());
        return Err(Error::PairScorerAnswer { name, n_scores, n_texts });
    }
    Ok(scores)
}

/// Moves the candidates that were not asked about below those that were: each is as far below `floor`, the lowest score
/// of these, as it was below `last`, the score that the last of them had before.
pub(super) fn follow(rest: &mut [Candidate], last: f32, floor: f32) {
    let (mut before, mut lowest) = (last, floor);
    for (at, candidate) in rest.iter_mut().enumerate() {
        let score = candidate.score;
        let shifted = floor + (score - last);
        // Ties stay ties, and rounding makes no new ones.
        let is_tie = at > 0 && score.total_cmp(&before).is_eq();
        lowest = if is_tie { lowest } else { shifted.min(lowest.next_down()) };
        before = score;
        candidate.score = lowest;
    }
}

/// Returns the parts of a score with what the answer of a model added to those of the order before it.
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
