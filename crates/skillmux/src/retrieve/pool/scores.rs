//! [`PoolScores`]: the scores of all documents, for the query and for its clauses.

use super::{
    clause_terms::ClauseTerms,
    members::MemberDocuments,
    shares::ShareTable,
    term::{Match, PoolTerm},
};
use crate::index::{Field, TermPostings};

/// A term that a larger share of all skills holds brings no skill into the pool for a clause: it is
/// in most clauses, and its postings are most of the work.
const MAX_CLAUSE_TERM_SHARE: f32 = 0.08;

/// A clause with less weight states conditions, and brings no skill into the pool.
const MIN_CLAUSE_WEIGHT: f32 = 0.6;

/// Most shares that are kept for the members, 32 MiB; beyond, postings are read again.
const MAX_KEPT_SHARES: usize = 4 << 20;

/// Returns how many postings a term may have that brings skills into the pool for a clause.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
fn max_clause_postings(n_documents: usize) -> usize {
    // In a small library all terms are frequent, and cheap.
    usize::max((MAX_CLAUSE_TERM_SHARE * n_documents as f32) as usize, 1000)
}

/// What every document has of every term, and the sums.
pub(super) struct PoolScores {
    /// Scores of the whole query, by document.
    pub(super) whole: Vec<f32>,
    /// Scores of each clause that brings skills into the pool, by document.
    pub(super) of_parts: Vec<Vec<f32>>,
    /// Documents with shares, term by term and field by field.
    shares: Vec<(u32, f32)>,
    /// Where the shares of each term begin, and those of each field end; `None` for a term whose
    /// shares are not kept.
    places: Vec<Option<[usize; 4]>>,
}

impl PoolScores {
    pub(super) fn add_up(
        table: &ShareTable<'_>,
        terms: &[PoolTerm],
        postings_of: &[[TermPostings<'_>; 3]],
        parts: &[ClauseTerms],
    ) -> Self {
        let n_documents = table.bm25.index().lexical().n_documents();
        let mut scores = Self {
            whole: vec![0.0; n_documents],
            of_parts: Vec::new(),
            shares: Vec::with_capacity(usize::min(n_postings(postings_of), MAX_KEPT_SHARES)),
            places: Vec::with_capacity(terms.len()),
        };
        let mut parts_of = vec![Vec::new(); terms.len()];
        let is_work = |part: &&ClauseTerms| part.weight >= MIN_CLAUSE_WEIGHT;
        for ClauseTerms { terms, .. } in parts.iter().filter(is_work) {
            for term in terms {
                parts_of[*term].push(scores.of_parts.len());
            }
            scores.of_parts.push(vec![0.0; n_documents]);
        }
        let max_in_clause = max_clause_postings(n_documents);
        for ((term, postings), parts) in terms.iter().zip(postings_of).zip(&parts_of) {
            let start = scores.shares.len();
            let mut places = [start; 4];
            for (end, field) in places[1..].iter_mut().zip(Field::ALL) {
                table.read(postings, field, &mut scores.shares);
                *end = scores.shares.len();
            }
            let shares = &scores.shares[start..];
            for (document, share) in shares {
                scores.whole[*document as usize] += term.weight * share;
            }
            if shares.len() <= max_in_clause {
                for part in parts {
                    let sums: &mut Vec<f32> = &mut scores.of_parts[*part];
                    for (document, share) in shares {
                        sums[*document as usize] += term.weight_in_clause * share;
                    }
                }
            }
            let is_kept = scores.shares.len() <= MAX_KEPT_SHARES;
            scores.shares.truncate(if is_kept { scores.shares.len() } else { start });
            scores.places.push(is_kept.then_some(places));
        }
        scores
    }

    /// Returns what the members hold of each term, `[terms, members]`.
    pub(super) fn matches(
        &self,
        table: &ShareTable<'_>,
        postings_of: &[[TermPostings<'_>; 3]],
        members: &MemberDocuments,
    ) -> Vec<Match> {
        let mut matches = vec![[0.0; 3]; postings_of.len() * members.n_members()];
        let mut again = Vec::new();
        let rows = matches.chunks_exact_mut(members.n_members().max(1));
        for ((places, postings), row) in self.places.iter().zip(postings_of).zip(rows) {
            for field in Field::ALL {
                let position = field.position();
                let shares = if let Some(places) = places {
                    &self.shares[places[position]..places[position + 1]]
                } else {
                    again.clear();
                    table.read(postings, field, &mut again);
                    &again
                };
                members.for_each_share(shares, |member, share| row[member][position] = share);
            }
        }
        matches
    }
}

fn n_postings(postings_of: &[[TermPostings<'_>; 3]]) -> usize {
    postings_of.iter().flatten().map(|postings| postings.n_skills as usize).sum()
}
