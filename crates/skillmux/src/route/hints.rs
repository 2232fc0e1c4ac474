//! [`Hint`]: what else there is, so that a caller can choose, or say better what it needs.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    index::{Index, SkillIdx},
    retrieve::{Candidate, Ranking},
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

/// Returns up to `n` skills, the best of each ranking, then the next best of each, as far as 900
/// tokens go. None has the name of another, or nearly repeats it.
pub(super) fn hints(index: &Index, rankings: &[&Ranking], n: usize) -> Result<Vec<Hint>> {
    let mut hints: Vec<Hint> = Vec::new();
    let mut taken = Vec::new();
    let mut n_tokens = 0;
    for candidate in in_turns(rankings) {
        if hints.len() >= n {
            break;
        }
        let idx = index.find(&candidate.skill)?;
        let headline = index.headline(idx)?;
        let name = one_line(headline.name);
        let is_near = |other: &SkillIdx| {
            index.similarity(*other, idx).is_ok_and(|similarity| similarity > MAX_SIMILARITY)
        };
        let has_name = |hint: &Hint| hint.name.eq_ignore_ascii_case(&name);
        if hints.iter().any(has_name) || taken.iter().any(is_near) {
            continue;
        }
        let description = clipped(&one_line(headline.description), MAX_CHARS);
        n_tokens += estimate_tokens(&format!("{}\n{name}: {description}\n", candidate.skill));
        if n_tokens > MAX_TOKENS {
            break;
        }
        taken.push(idx);
        hints.push(Hint { id: candidate.skill.clone(), name, description });
    }
    Ok(hints)
}

/// Returns the candidates of all rankings, place by place, each skill once.
fn in_turns<'r>(rankings: &'r [&Ranking]) -> impl Iterator<Item = &'r Candidate> {
    let n_longest = rankings.iter().map(|ranking| ranking.candidates.len()).max().unwrap_or(0);
    let mut seen = HashSet::new();
    (0..n_longest)
        .flat_map(move |place| {
            rankings.iter().filter_map(move |ranking| ranking.candidates.get(place))
        })
        .filter(move |candidate| seen.insert(&candidate.skill))
}
