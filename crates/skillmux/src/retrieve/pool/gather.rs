//! [`Pool`]: the skills that are ranked again, and what their postings say of the query.

use super::{
    clause_terms::ClauseTerms,
    members::MemberDocuments,
    near::{Near, PoolCosines},
    scores::PoolScores,
    shares::ShareTable,
    term::{Match, PoolTerm},
};
use crate::{
    error::Result,
    index::{Field, SkillIdx, TermPostings, length_of},
    query::Query,
    retrieve::{Bm25, hit::Hit},
};

/// Skills that the query as a whole brings into the pool.
const N_WHOLE: usize = 60;

/// Skills that each clause brings into the pool.
const N_PER_CLAUSE: usize = 4;

/// Scores that are looked at together.
const CHUNK: usize = 64;

/// What is known of a query and the skills that may answer it.
pub(super) struct Pool {
    /// Distinct terms that some skill holds, in query order.
    pub(super) terms: Vec<PoolTerm>,
    /// Skills by falling score of the whole query.
    pub(super) members: Vec<Member>,
    /// Clauses that were looked up, in query order; none if the query is one clause.
    pub(super) clauses: Vec<PoolClause>,
    /// Cosines with the members; `None` without an encoder.
    pub(super) cosines: Option<PoolCosines>,
    /// Cosines of the query with the text of each member by the transformer; `None` without one,
    /// and for a query that it cannot read.
    pub(super) text_cosines: Option<Vec<f32>>,
    /// How much of the query the transformer read, in `[0, 1]`; 0 without these cosines.
    pub(super) read_share: f32,
    /// How likely the query asks for work, in `[-1, 1]`; 0 if nothing tells it.
    pub(super) work: f32,
    /// What each field of each member holds of each term, `[terms, members]`.
    matches: Vec<Match>,
}

/// A skill of the pool.
pub(super) struct Member {
    pub(super) skill: SkillIdx,
    /// BM25 of the whole query.
    pub(super) score: f32,
    /// Quantised length of the name in terms.
    pub(super) n_name_terms: u32,
}

/// A clause with the scores of the members.
pub(super) struct PoolClause {
    /// How much it is about the work itself, in `(0, 1]`.
    pub(super) weight: f32,
    /// BM25 of its terms, by member.
    pub(super) scores: Vec<f32>,
}

impl Pool {
    /// Looks a query up, as a whole and clause by clause; those that its vectors found join the
    /// pool, and `further` skills.
    pub(super) fn gather(
        query: &Query,
        bm25: &Bm25<'_>,
        near: &Near<'_>,
        further: &[SkillIdx],
    ) -> Result<Self> {
        let index = bm25.index();
        let mut terms = Vec::new();
        let mut postings_of = Vec::new();
        for term in query.terms() {
            let postings = index.postings(&term.text)?;
            if postings.iter().any(|postings| postings.n_skills > 0) {
                let idf = index.idf_of(&postings);
                let weight = bm25.config().query_weight(&term) * idf;
                let weight_in_clause = f32::min(term.frequency, 1.0) * idf;
                let task_affinity = task_affinity(&postings);
                terms.push(PoolTerm { weight_in_clause, term, weight, task_affinity });
                postings_of.push(postings);
            }
        }
        let parts = ClauseTerms::of_task(query.text(), &terms);
        let table = ShareTable::new(bm25);
        let scores = PoolScores::add_up(&table, &terms, &postings_of, &parts);

        let skills: Vec<Option<SkillIdx>> = index.lexical().skills().collect();
        let mut is_inside = vec![false; index.n_skills()];
        let mut enter = |skill: SkillIdx| {
            if let Some(is_inside) = is_inside.get_mut(skill.0 as usize) {
                *is_inside = true;
            }
        };
        further.iter().copied().for_each(&mut enter);
        best_of(&scores.whole, &skills, N_WHOLE).for_each(&mut enter);
        for clause in &scores.of_parts {
            best_of(clause, &skills, N_PER_CLAUSE).for_each(&mut enter);
        }
        near.skills().for_each(&mut enter);
        let mut places: Vec<(Hit, usize)> = Vec::new();
        for (document, skill) in skills.iter().enumerate() {
            let Some(skill) = *skill else { continue };
            if is_inside.get(skill.0 as usize) == Some(&true) {
                places.push((Hit { skill, score: scores.whole[document] }, document));
            }
        }
        places.sort_unstable_by(|a, b| Hit::best_first(&a.0, &b.0));

        let documents = MemberDocuments::of(places.iter().map(|(_, document)| *document));
        let matches = scores.matches(&table, &postings_of, &documents);
        let members = places.iter().map(|(hit, document)| Member {
            skill: hit.skill,
            score: hit.score,
            n_name_terms: length_of(index.lexical().length_id(Field::Name, *document)),
        });
        let clause = |part: &ClauseTerms| {
            let of_terms = |member: usize| {
                let of_term = |at: &usize| {
                    let found: &Match = &matches[at * places.len() + member];
                    terms[*at].weight_in_clause * found.iter().sum::<f32>()
                };
                part.terms.iter().map(of_term).sum()
            };
            let scores = (0..places.len()).map(of_terms).collect();
            PoolClause { weight: part.weight, scores }
        };
        let members: Vec<Member> = members.collect();
        let skills: Vec<SkillIdx> = members.iter().map(|member| member.skill).collect();
        let clause_texts: Vec<&str> =
            parts.iter().map(|part| &query.text()[part.range.clone()]).collect();
        let cosines = near.cosines(&skills, &clause_texts)?;
        let (text_cosines, read_share) = (near.text_cosines(&skills), near.read_share());
        let work = near.work;
        let clauses = parts.iter().map(clause).collect();
        Ok(Self { terms, members, clauses, cosines, text_cosines, read_share, work, matches })
    }

    /// Returns what each field of a member holds of a term.
    pub(super) fn matches(&self, term: usize, member: usize) -> &Match {
        &self.matches[term * self.members.len() + member]
    }
}

/// Returns `(4 + ln r) / 3` within `[0, 2]`, where `r` is the ratio of the skills that hold a term
/// in the description to those that hold it in the body: 0 for one in 50, 1 for one in 3.
fn task_affinity(postings: &[TermPostings<'_>; 3]) -> f32 {
    let n_with = |field: Field| postings[field.position()].n_skills as f32 + 1.0;
    let ratio = n_with(Field::Description) / n_with(Field::Body);
    ((ratio.ln() + 4.0) / 3.0).clamp(0.0, 2.0)
}

/// Returns the skills of the best `k` documents with a score above 0.
fn best_of(
    scores: &[f32],
    skills: &[Option<SkillIdx>],
    k: usize,
) -> impl Iterator<Item = SkillIdx> {
    let mut best: Vec<Hit> = Vec::with_capacity(4 * k);
    let mut least = f32::MIN_POSITIVE;
    for (scores, skills) in scores.chunks(CHUNK).zip(skills.chunks(CHUNK)) {
        // Most chunks hold nothing, which a few vector instructions tell.
        #[expect(
            clippy::needless_bitwise_bool,
            reason = "a lazy operator is a branch for each score"
        )]
        let is_any = scores.iter().fold(false, |any, score| any | (*score >= least));
        if !is_any {
            continue;
        }
        for (score, skill) in scores.iter().zip(skills) {
            if *score < least {
                continue;
            }
            let Some(skill) = *skill else { continue };
            best.push(Hit { skill, score: *score });
            if best.len() == 4 * k {
                best.select_nth_unstable_by(k - 1, Hit::best_first);
                best.truncate(k);
                least = best[k - 1].score;
            }
        }
    }
    Hit::best(best, k).into_iter().map(|hit| hit.skill)
}
