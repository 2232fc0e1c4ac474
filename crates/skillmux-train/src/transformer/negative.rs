//! [`draw`]: the answer and the negatives of an example.

use skillmux::index::Index;
use skillmux_models::checkpoint::CheckpointUse;

use super::{
    example::{Drawn, Example},
    options::TransformerOptions,
    reading::SkillText,
};
use crate::{error::Result, lexical::find_by_words, random::Random, split::key_of_name};

/// Draws one of the answers of an example, and negatives from the first that BM25 finds for its
/// query.
///
/// What is named as an answer, shares the name of one or has a body like one's is no negative.
/// There may be fewer than asked for.
pub(super) fn draw<'e>(
    index: &Index,
    example: &'e Example,
    options: &TransformerOptions,
    purpose: CheckpointUse,
    random: &mut Random,
) -> Result<Drawn<'e>> {
    let answer = *random.choose(&example.gold).expect("an example has an answer");
    let answer = SkillText::read(index, answer, purpose)?;
    let mut found = find_by_words(index, &example.query, options.n_best)?;
    let mut negatives = Vec::with_capacity(options.n_negatives);
    while negatives.len() < options.n_negatives && !found.is_empty() {
        let hit = found.swap_remove(random.below(found.len()));
        if example.knows(hit.skill) {
            continue;
        }
        let text = SkillText::read(index, hit.skill, purpose)?;
        if !is_answer(index, example, &text, options)? {
            negatives.push(text);
        }
    }
    Ok(Drawn { example, answer, negatives })
}

/// Returns whether a skill is an answer to an example under another id.
fn is_answer(
    index: &Index,
    example: &Example,
    text: &SkillText,
    options: &TransformerOptions,
) -> Result<bool> {
    for gold in &example.gold {
        let is_namesake = key_of_name(&index.skill(*gold)?.skill.name) == text.name_key;
        let similarity = index.similarity(*gold, text.skill)?;
        if is_namesake || similarity > options.filter.max_body_similarity {
            return Ok(true);
        }
    }
    Ok(false)
}
