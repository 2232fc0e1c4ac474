//! [`Hint`]: what else there is, so that a caller can choose, or say better what it needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::merge::N_MERGED;
use crate::{
    error::Result,
    index::Index,
    query::Query,
    retrieve::{Candidate, Ranking},
    route::Ranker,
    skill::SkillId,
    text::{clipped, estimate_tokens, one_line},
};

/// Most hints of an answer: as many as `SkillWeaver` shows its decomposer (section 3.3).
pub const MAX_HINTS: usize = 15;

/// Most tokens of all hints of an answer together, by our estimate.
const MAX_TOKENS: u32 = 900;

/// Longest description in characters.
const MAX_CHARS: usize = 180;

/// Bodies with more in common repeat each other.
const MAX_SIMILARITY: f32 = 0.6;

/// A skill that may help, in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    /// Identifier.
    pub id: SkillId,
    /// Name.
    pub name: String,
    /// Description, cut to 180 characters.
    pub description: String,
}

/// Returns skills of which each is near to the task or to one of its needs: the best for each need, then the next best for
/// each, as far as 900 tokens go. None has the name of another, or nearly repeats it.
pub(super) fn hints(ranker: &Ranker, index: &Index, query: &Query, n: usize) -> Result<Vec<Hint>> {
    let Ranking { candidates, .. } = ranker.rank(index, query, N_MERGED)?;
    let mut headlines = index.headlines()?;
    let mut hints: Vec<Hint> = Vec::new();
    let mut taken = Vec::new();
    let mut n_tokens = 0;
    for candidate in in_turns(&candidates, query.needs().len()) {
        if hints.len() >= n.min(MAX_HINTS) {
            break;
        }
        let idx = index.find(&candidate.skill)?;
        let headline = headlines.read(idx)?;
        let name = one_line(&headline.name);
        let is_repeated = hints.iter().any(|hint| hint.name.eq_ignore_ascii_case(&name))
            || taken
                .iter()
                .any(|other| index.similarity(*other, idx).unwrap_or(0.0) > MAX_SIMILARITY);
        if is_repeated {
            continue;
        }
        let description = clipped(&one_line(&headline.description), MAX_CHARS);
        n_tokens += estimate_tokens(&format!("{}\n{name}: {description}\n", candidate.skill));
        if n_tokens > MAX_TOKENS {
            break;
        }
        taken.push(idx);
        hints.push(Hint { id: candidate.skill.clone(), name, description });
    }
    Ok(hints)
}

/// Returns candidates in the order in which the needs and the task take turns; those of a ranking that was not merged
/// as they are.
fn in_turns(candidates: &[Candidate], n_needs: usize) -> Vec<&Candidate> {
    if n_needs == 0 {
        return candidates.iter().collect();
    }
    // The task is the first ranking, and the last to choose.
    let columns = (1..=n_needs).chain([0]);
    let by_column: Vec<Vec<&Candidate>> = columns
        .map(|column| {
            let share = |candidate: &Candidate| {
                candidate.signals.values().get(column).copied().unwrap_or(0.0)
            };
            let mut found: Vec<&Candidate> =
                candidates.iter().filter(|candidate| share(candidate) > 0.0).collect();
            found.sort_by(|a, b| share(b).total_cmp(&share(a)));
            found
        })
        .collect();
    let n_longest = by_column.iter().map(Vec::len).max().unwrap_or(0);
    let mut turns: Vec<&Candidate> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for place in 0..n_longest {
        for column in &by_column {
            turns.extend(column.get(place).filter(|found| seen.insert(&found.skill)));
        }
    }
    turns
}
