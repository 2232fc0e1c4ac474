//! [`PoolTerm`]: a term of the query, with what the library says of it.

use crate::query::QueryTerm;

/// A term of the query that some skill holds.
pub(super) struct PoolTerm {
    /// Factor of its share in the score of a clause, which says it once.
    pub(super) weight_in_clause: f32,
    pub(super) term: QueryTerm,
    /// Factor of its share in a score.
    pub(super) weight: f32,
    /// How much more it is said in descriptions than in bodies, in `[0, 2]`.
    pub(super) task_affinity: f32,
}

/// What a term adds to BM25 by each field of a skill, for a weight of 1; 0 for a field without it.
pub(super) type Match = [f32; 3];
