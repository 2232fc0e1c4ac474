//! [`Pool`]: the skills that are ranked again, and what their postings say of the query.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::{
    decompose::{Clause, clauses_with_terms},
    error::Result,
    index::{
        Field, Part, Quantised, SkillIdx, TermPostings, encode_queries, encode_query, length_of,
    },
    model::Encoder,
    retrieve::{Bm25Retriever, Candidate, MIN_COSINE, Query, QueryTerm, Ranking},
};

/// Skills that the query as a whole brings into the pool.
const N_WHOLE: usize = 60;

/// Skills that the vector of the query brings into the pool.
const N_DENSE: usize = 28;

/// Skills with the closest descriptions, among which those are looked for: of 150 long tasks none
/// gets other ones than among all skills.
const N_CLOSEST: usize = 4096;

/// Skills that each clause brings into the pool.
const N_PER_CLAUSE: usize = 4;

/// A term that a larger share of all skills holds brings no skill into the pool for a clause: it is
/// in most clauses, and its postings are most of the work.
const MAX_CLAUSE_TERM_SHARE: f32 = 0.08;

/// A clause with less weight states conditions, and brings no skill into the pool.
const MIN_CLAUSE_WEIGHT: f32 = 0.6;

/// Most clauses that are looked up by themselves, the weightiest first.
const MAX_CLAUSES: usize = 24;

/// A clause of fewer known terms is no request of its own.
const MIN_CLAUSE_TERMS: usize = 2;

/// Scores that are looked at together.
const CHUNK: usize = 64;

/// Most shares that are kept for the members, 32 MiB; beyond, postings are read again.
const MAX_KEPT_SHARES: usize = 4 << 20;

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
    /// What each field of each member holds of each term, `[terms, members]`.
    matches: Vec<Match>,
}

/// A term of the query that some skill holds.
pub(super) struct PoolTerm {
    /// Factor of its share in the score of a clause, which says it once.
    weight_in_clause: f32,
    pub(super) term: QueryTerm,
    /// Factor of its share in a score.
    pub(super) weight: f32,
    /// How much more it is said in descriptions than in bodies, in `[0, 2]`.
    pub(super) task_affinity: f32,
}

/// A skill of the pool.
pub(super) struct Member {
    pub(super) skill: SkillIdx,
    /// BM25 of the whole query.
    pub(super) score: f32,
    /// Quantised length of the name in terms.
    pub(super) n_name_terms: u32,
}

/// Cosines of the query and its clauses with the members, each with the parts of a skill in the order of [`Part::ALL`].
pub(super) struct PoolCosines {
    /// Of the whole query, by member.
    pub(super) whole: Vec<[f32; Part::ALL.len()]>,
    /// Of each clause that was looked up, by member.
    pub(super) of_clauses: Vec<Vec<[f32; Part::ALL.len()]>>,
}

/// A clause with the scores of the members.
pub(super) struct PoolClause {
    /// How much it is about the work itself, in `(0, 1]`.
    pub(super) weight: f32,
    /// BM25 of its terms, by member.
    pub(super) scores: Vec<f32>,
}

/// What a term adds to BM25 by each field of a skill, for a weight of 1; 0 for a field without it.
pub(super) type Match = [f32; 3];

impl Pool {
    /// Looks a query up, as a whole and clause by clause; `further` skills join the pool.
    pub(super) fn gather(
        query: &Query,
        bm25: &Bm25Retriever<'_>,
        encoder: Option<&dyn Encoder>,
        further: &[SkillIdx],
    ) -> Result<Self> {
        let index = bm25.index();
        let vectors = match encoder {
            Some(encoder) => Some((encoder, index.vectors_of(encoder)?)),
            None => None,
        };
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
        let scores = Scores::add_up(bm25, &terms, &postings_of, &parts);

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
        let vector = match vectors {
            Some((encoder, _)) => Some(encode_query(encoder, query.text())?),
            None => None,
        };
        if let (Some((_, vectors)), Some(vector)) = (vectors, &vector) {
            let found = vectors.closest(vector, N_CLOSEST).into_iter();
            let found = found.filter(|(_, cosine)| *cosine >= MIN_COSINE);
            let found = found.map(|(skill, score)| Candidate { skill, score }).collect();
            let best = Ranking::of_best(found, N_DENSE).into_candidates();
            best.into_iter().map(|candidate| candidate.skill).for_each(&mut enter);
        }
        let mut places: Vec<(Candidate, usize)> = Vec::new();
        for (document, skill) in skills.iter().enumerate() {
            let Some(skill) = *skill else { continue };
            if is_inside.get(skill.0 as usize) == Some(&true) {
                places.push((Candidate { skill, score: scores.whole[document] }, document));
            }
        }
        places.sort_unstable_by(|a, b| Candidate::best_first(&a.0, &b.0));

        let documents = MemberDocuments::of(places.iter().map(|(_, document)| *document));
        let matches = scores.matches(bm25, &postings_of, &documents);
        let members = places.iter().map(|(candidate, document)| Member {
            skill: candidate.skill,
            score: candidate.score,
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
        let cosines = match (vectors, &vector) {
            (Some((encoder, vectors)), Some(vector)) => {
                let of = |vector: &Quantised| -> Vec<_> {
                    members.iter().map(|member| vectors.cosines(member.skill, vector)).collect()
                };
                let texts: Vec<&str> =
                    parts.iter().map(|part| &query.text()[part.range.clone()]).collect();
                let of_clauses = if texts.is_empty() {
                    Vec::new()
                } else {
                    encode_queries(encoder, &texts)?.iter().map(of).collect()
                };
                Some(PoolCosines { whole: of(vector), of_clauses })
            }
            _ => None,
        };
        Ok(Self { members, cosines, clauses: parts.iter().map(clause).collect(), terms, matches })
    }

    /// Returns what each field of a member holds of a term.
    pub(super) fn matches(&self, term: usize, member: usize) -> &Match {
        &self.matches[term * self.members.len() + member]
    }
}

/// Returns `(4 + ln r) / 3` within `[0, 2]`, where `r` is the ratio of the skills that hold a term in the
/// description to those that hold it in the body: 0 for one in 50, 1 for one in 3.
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
    let mut best: Vec<Candidate> = Vec::with_capacity(4 * k);
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
            best.push(Candidate { skill, score: *score });
            if best.len() == 4 * k {
                best.select_nth_unstable_by(k - 1, Candidate::best_first);
                best.truncate(k);
                least = best[k - 1].score;
            }
        }
    }
    Ranking::of_best(best, k).into_candidates().into_iter().map(|candidate| candidate.skill)
}

/// Returns how many postings a term may have that brings skills into the pool for a clause.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
fn max_clause_postings(n_documents: usize) -> usize {
    // In a small library all terms are frequent, and cheap.
    usize::max((MAX_CLAUSE_TERM_SHARE * n_documents as f32) as usize, 1000)
}

/// The terms of one clause.
struct ClauseTerms {
    range: Range<usize>,
    weight: f32,
    /// Positions of the terms in the clause.
    terms: Vec<usize>,
}

impl ClauseTerms {
    /// Returns the clauses that say enough to be looked up; none where there is only one.
    fn of_task(task: &str, terms: &[PoolTerm]) -> Vec<Self> {
        let sources = terms
            .iter()
            .enumerate()
            .flat_map(|(at, term)| term.term.sources.iter().map(move |source| (source.start, at)));
        let mut parts: Vec<(usize, Self)> = clauses_with_terms(task, sources)
            .into_iter()
            .enumerate()
            .filter(|(_, (_, terms))| terms.len() >= MIN_CLAUSE_TERMS)
            .map(|(position, (Clause { range, weight }, terms))| {
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

/// What every document has of every term, and the sums.
struct Scores {
    /// Scores of the whole query, by document.
    whole: Vec<f32>,
    /// Scores of each clause that brings skills into the pool, by document.
    of_parts: Vec<Vec<f32>>,
    /// Documents with shares, term by term and field by field.
    shares: Vec<(u32, f32)>,
    /// Where the shares of each term begin, and those of each field end; `None` for a term whose
    /// shares are not kept.
    places: Vec<Option<[usize; 4]>>,
}

impl Scores {
    fn add_up(
        bm25: &Bm25Retriever<'_>,
        terms: &[PoolTerm],
        postings_of: &[[TermPostings<'_>; 3]],
        parts: &[ClauseTerms],
    ) -> Self {
        let n_documents = bm25.index().lexical().n_documents();
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
        let norms = bm25.norms();
        let max_in_clause = max_clause_postings(n_documents);
        for ((term, postings), parts) in terms.iter().zip(postings_of).zip(&parts_of) {
            let start = scores.shares.len();
            let mut places = [start; 4];
            for (end, field) in places[1..].iter_mut().zip(Field::ALL) {
                read_shares(bm25, &norms, postings, field, &mut scores.shares);
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
    fn matches(
        &self,
        bm25: &Bm25Retriever<'_>,
        postings_of: &[[TermPostings<'_>; 3]],
        members: &MemberDocuments,
    ) -> Vec<Match> {
        let norms = bm25.norms();
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
                    read_shares(bm25, &norms, postings, field, &mut again);
                    &again
                };
                for (document, share) in shares {
                    if members.holds(*document) {
                        row[members.member_of(*document)][position] = *share;
                    }
                }
            }
        }
        matches
    }
}

/// Tells members from other documents; most questions are answered from few bytes.
struct MemberDocuments {
    /// A bit a document.
    bits: Vec<u64>,
    member_of: FxHashMap<u32, usize>,
}

impl MemberDocuments {
    /// Numbers the documents of the members, in order.
    fn of(documents: impl Iterator<Item = usize>) -> Self {
        let mut bits = Vec::new();
        let mut member_of = FxHashMap::default();
        for (member, document) in documents.enumerate() {
            if bits.len() <= document / 64 {
                bits.resize(document / 64 + 1, 0);
            }
            bits[document / 64] |= 1 << (document % 64);
            member_of.insert(document_number(document), member);
        }
        Self { bits, member_of }
    }

    fn n_members(&self) -> usize {
        self.member_of.len()
    }

    fn holds(&self, document: u32) -> bool {
        let bits = self.bits.get(document as usize / 64).copied().unwrap_or(0);
        bits >> (document % 64) & 1 == 1
    }

    /// Returns the number of a member.
    fn member_of(&self, document: u32) -> usize {
        self.member_of[&document]
    }
}

fn document_number(document: usize) -> u32 {
    u32::try_from(document).expect("documents are numbered in 32 bits")
}

fn n_postings(postings_of: &[[TermPostings<'_>; 3]]) -> usize {
    postings_of.iter().flatten().map(|postings| postings.n_skills as usize).sum()
}

/// Appends the documents whose field holds a term, with what it adds to BM25 for a weight of 1.
fn read_shares(
    bm25: &Bm25Retriever<'_>,
    norms: &[[f32; 256]; 3],
    postings: &[TermPostings<'_>; 3],
    field: Field,
    shares: &mut Vec<(u32, f32)>,
) {
    let position = field.position();
    let norms = &norms[position];
    postings[position].clone().for_each_block(|segment, documents, frequencies| {
        let base = document_number(segment.base());
        let length_ids = segment.length_ids(field);
        shares.extend(documents.iter().zip(frequencies).map(|(document, frequency)| {
            let norm = norms[usize::from(length_ids[*document as usize])];
            (base + document, bm25.config().share(position, *frequency as f32, norm))
        }));
    });
}
