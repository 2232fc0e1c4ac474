//! [`named`]: the skills that a query names.

use super::mentions::{Strength, mentions};
use crate::{
    error::Result,
    index::{Index, SkillIdx},
    query::Query,
    skill::SkillId,
    text::TermReader,
};

/// A word used by more skills than this for each one named so is no name, but a word.
///
/// In `queries-train` the names that are meant have 1 to 6 users, those that are not 100 and more.
const MAX_USERS_PER_NAME: usize = 20;

/// Returns the skills that the query names exactly, in the order of ids.
///
/// # Errors
/// [`Error::Lexical`](crate::Error::Lexical) if the index cannot be read.
pub fn named(index: &Index, query: &Query) -> Result<Vec<SkillId>> {
    let mut named: Vec<SkillIdx> = Vec::new();
    for mention in mentions(query.text()) {
        let skills = index.named(&mention.key)?;
        let is_meant = match mention.strength {
            Strength::Certain => true,
            Strength::Likely => !is_ordinary_word(index, &mention.key, skills.len())?,
        };
        if is_meant {
            named.extend(skills);
        }
    }
    named.sort_unstable();
    named.dedup();
    named.into_iter().map(|skill| index.id(skill)).collect()
}

/// Returns whether far more skills use a word than bear it as their name, as `follow-up`.
fn is_ordinary_word(index: &Index, key: &str, n_named: usize) -> Result<bool> {
    let mut reader = TermReader::new();
    let mut terms = reader.read(key);
    let mut n_users = 0;
    // The last term of an identifier is the whole.
    let mut whole = String::new();
    while let Some(term) = terms.advance() {
        term.text.clone_into(&mut whole);
    }
    for postings in index.postings(&whole)? {
        n_users = n_users.max(postings.n_skills as usize);
    }
    Ok(n_users > MAX_USERS_PER_NAME * n_named)
}
