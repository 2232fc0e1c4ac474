//! [`Measured`]: the features of all candidates of a query.

use super::{
    feature::{Feature, FeatureRow},
    gather::Pool,
    headline::Headlines,
    near::{Near, PoolCosines},
    ratio::ratio,
};
use crate::{
    error::Result,
    index::SkillIdx,
    query::Query,
    retrieve::Bm25,
    text::{spaceless_share, spaceless_share_of_words},
};

/// Weightiest terms of a query that count as its rare ones.
const N_RARE: usize = 5;

/// Candidates whose names and descriptions are compared word by word: those that words and vectors,
/// of the query and of its best clause, place first.
const N_READ: usize = 48;

/// Weight of the cosine beside the score share, as [`HybridConfig`](crate::retrieve::HybridConfig)
/// has it.
const DENSE_WEIGHT: f32 = 0.2;

/// Weight of the relative cosine of a clause beside its relative BM25.
const CLAUSE_DENSE_WEIGHT: f32 = 0.3;

/// A best cosine below this is noise, and others are not made large by it.
const MIN_BEST_COSINE: f32 = 0.05;

/// A clause with more weight is about the work itself.
const FOCUS_WEIGHT: f32 = 0.9;

/// Terms of the longest short query and of the shortest long one; between them weights go over.
const LENGTHS: (f32, f32) = (6.0, 80.0);

/// A query with a larger share of Chinese, kana and Hangul is written without spaces.
const MIN_CHARACTER_SHARE: f32 = 0.3;

/// What kind of query it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct QueryKind {
    /// 0 for a sentence, 1 for a task of several paragraphs, in `[0, 1]`.
    pub(super) length: f32,
    /// 1 for writing without spaces, else 0.
    pub(super) spaceless: f32,
}

impl QueryKind {
    fn of(text: &str, n_terms: usize) -> Self {
        let (short, long) = LENGTHS;
        let length = ((n_terms as f32).ln_1p() - short.ln()) / (long.ln() - short.ln());
        let is_spaceless = spaceless_share_of_words(text) > MIN_CHARACTER_SHARE;
        Self { length: length.clamp(0.0, 1.0), spaceless: f32::from(u8::from(is_spaceless)) }
    }
}

/// The candidates of a query with their features.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    /// Skills by falling BM25.
    pub(super) skills: Vec<SkillIdx>,
    /// The features of each.
    pub(super) rows: Vec<FeatureRow>,
    /// What kind of query it is.
    pub(super) kind: QueryKind,
    /// How much of the query the transformer read, in `[0, 1]`; if it is 0, the features of
    /// [`FeatureGroup::Transformer`](super::FeatureGroup::Transformer) say nothing.
    pub(super) read_share: f32,
    /// How likely the query asks for work, in `[-1, 1]`.
    pub(super) work: f32,
}

impl Measured {
    /// Looks a query up and measures the candidates; the skills that it names are among them.
    ///
    /// Without an encoder the features that need vectors are 0.
    pub(super) fn of(
        query: &Query,
        bm25: &Bm25<'_>,
        near: &Near<'_>,
        named: &[SkillIdx],
    ) -> Result<Self> {
        let pool = Pool::gather(query, bm25, near, named)?;
        let mut rows = vec![[0.0; Feature::ALL.len()]; pool.members.len()];
        let sums = Sums::of(&pool, bm25.config().max_share());
        sums.fill(&mut rows);
        fill_counts(&pool, &mut rows);
        fill_clauses(&pool, &mut rows);
        if let Some(cosines) = &pool.cosines {
            fill_cosines(cosines, &sums.share, &mut rows);
            fill_clause_cosines(&pool, cosines, &mut rows);
        }
        if let Some(cosines) = &pool.text_cosines {
            fill_text_cosines(cosines, &mut rows);
        }
        fill_texts(query, bm25, &pool, &mut rows)?;
        Ok(Self {
            read_share: pool.read_share,
            work: pool.work,
            skills: pool.members.iter().map(|member| member.skill).collect(),
            rows,
            kind: QueryKind::of(query.text(), pool.terms.len()),
        })
    }
}

/// How near a query is to its candidates, by cosines of at least 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cosines {
    /// Of the nearest candidate.
    pub(super) best: f32,
    /// Mean over all candidates.
    pub(super) mean: f32,
}

impl Measured {
    /// Returns how near the query is to the candidates, by the means of the cosines with both
    /// parts; 0 without vectors.
    pub(super) fn cosines(&self) -> Cosines {
        let of = |row: &FeatureRow| {
            mean([Feature::DenseDescription, Feature::DenseBody].map(|part| row[part as usize]))
        };
        Cosines::of(&self.rows.iter().map(of).collect::<Vec<f32>>())
    }

    /// Returns the same by the transformer.
    pub(super) fn text_cosines(&self) -> Cosines {
        let of = |row: &FeatureRow| row[Feature::Transformer as usize];
        Cosines::of(&self.rows.iter().map(of).collect::<Vec<f32>>())
    }

    /// Returns the share of the query that no candidate has.
    pub(super) fn uncovered(&self) -> f32 {
        let coverage = |row: &FeatureRow| row[Feature::Coverage as usize];
        1.0 - self.rows.iter().map(coverage).fold(0.0, f32::max)
    }
}

impl Cosines {
    fn of(cosines: &[f32]) -> Self {
        Self { best: best(cosines), mean: ratio(cosines.iter().sum(), cosines.len() as f32) }
    }
}

/// BM25 of the members, field by field and all together.
struct Sums {
    /// Score share of the whole query.
    share: Vec<f32>,
    /// Sum over the terms in each field.
    fields: [Vec<f32>; 3],
    /// Sum over the terms in name and description and in the body, by how much they tell of tasks.
    task_words: [Vec<f32>; 2],
    weight_of_terms: f32,
}

impl Sums {
    fn of(pool: &Pool, max_share: f32) -> Self {
        let n = pool.members.len();
        let weight_of_terms = weight_of(pool, 0..pool.terms.len());
        let mut fields = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        let mut task_words = [vec![0.0; n], vec![0.0; n]];
        for (at, term) in pool.terms.iter().enumerate() {
            for member in 0..n {
                let matches = pool.matches(at, member);
                for (sums, share) in fields.iter_mut().zip(matches) {
                    sums[member] += term.weight * share;
                }
                let weight = term.weight * term.task_affinity;
                task_words[0][member] += weight * (matches[0] + matches[1]);
                task_words[1][member] += weight * matches[2];
            }
        }
        let attainable = weight_of_terms * max_share;
        let share = pool.members.iter().map(|member| ratio(member.score, attainable)).collect();
        Self { share, fields, task_words, weight_of_terms }
    }

    fn fill(&self, rows: &mut [FeatureRow]) {
        fill_relative(Feature::Bm25, &self.share, rows);
        let [name, description, body] = &self.fields;
        fill_relative(Feature::Name, name, rows);
        fill_relative(Feature::Description, description, rows);
        fill_relative(Feature::Body, body, rows);
        fill_relative(Feature::TaskWordsHeadline, &self.task_words[0], rows);
        fill_relative(Feature::TaskWordsBody, &self.task_words[1], rows);
        for (member, row) in rows.iter_mut().enumerate() {
            Feature::Bm25Share.set(row, self.share[member]);
            // Members are in this order.
            Feature::Bm25Rank.set(row, of_place(member));
            let share_of = |sums: &[f32]| ratio(sums[member], self.weight_of_terms);
            Feature::DescriptionShare.set(row, share_of(description));
            Feature::BodyShare.set(row, share_of(body));
        }
    }
}

/// How many terms of the query a skill holds, and of its name the query.
fn fill_counts(pool: &Pool, rows: &mut [FeatureRow]) {
    let mut rarest: Vec<usize> = (0..pool.terms.len()).collect();
    let weight = |at: &usize| pool.terms[*at].weight;
    rarest.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.cmp(b)));
    rarest.truncate(N_RARE);
    let weight_of_all = weight_of(pool, 0..pool.terms.len());
    let weight_of_rarest = weight_of(pool, rarest.iter().copied());
    let holds = |share: &f32| *share > 0.0;
    for (member, row) in rows.iter_mut().enumerate() {
        let in_skill = |at: &usize| pool.matches(*at, member).iter().any(holds);
        let in_headline = |at: &usize| pool.matches(*at, member)[..2].iter().any(holds);
        let all = 0..pool.terms.len();
        let held = weight_of(pool, all.clone().filter(in_skill));
        Feature::Coverage.set(row, ratio(held, weight_of_all));
        let held = weight_of(pool, all.clone().filter(in_headline));
        Feature::HeadlineCoverage.set(row, ratio(held, weight_of_all));
        let held = weight_of(pool, rarest.iter().copied().filter(in_skill));
        Feature::RareCoverage.set(row, ratio(held, weight_of_rarest));

        let n_in_name = all.filter(|at| holds(&pool.matches(*at, member)[0])).count();
        let n_name_terms = pool.members[member].n_name_terms as usize;
        let precision = f32::min(ratio(n_in_name as f32, n_name_terms as f32), 1.0);
        Feature::NamePrecision.set(row, precision);
        let is_whole = n_name_terms >= 2 && n_in_name >= n_name_terms;
        Feature::NameWhole.set(row, f32::from(u8::from(is_whole)));
    }
}

fn fill_clauses(pool: &Pool, rows: &mut [FeatureRow]) {
    let n = rows.len();
    let weight_of_clauses: f32 = pool.clauses.iter().map(|clause| clause.weight).sum();
    let [mut best_of, mut wins, mut votes, mut focus] = std::array::from_fn(|_| vec![0.0_f32; n]);
    for clause in &pool.clauses {
        let best = best(&clause.scores);
        for (member, place) in places(&clause.scores).into_iter().enumerate() {
            let score = clause.scores[member];
            best_of[member] = f32::max(best_of[member], clause.weight * ratio(score, best));
            votes[member] += clause.weight * reciprocal(place, score);
            if place == 0 && score > 0.0 {
                wins[member] += clause.weight;
            }
            if clause.weight > FOCUS_WEIGHT {
                focus[member] += score;
            }
        }
    }
    fill_relative(Feature::ClauseFocus, &focus, rows);
    for (member, row) in rows.iter_mut().enumerate() {
        Feature::ClauseBest.set(row, best_of[member]);
        Feature::ClauseWins.set(row, f32::min(wins[member], 2.0) / 2.0);
        Feature::ClauseVotes.set(row, ratio(votes[member], weight_of_clauses));
    }
}

fn fill_cosines(cosines: &PoolCosines, shares: &[f32], rows: &mut [FeatureRow]) {
    let mean: Vec<f32> = cosines.whole.iter().map(|parts| mean(*parts)).collect();
    let hybrid: Vec<f32> = shares.iter().zip(&mean).map(|(s, c)| s + DENSE_WEIGHT * c).collect();
    fill_relative(Feature::Hybrid, &hybrid, rows);
    let best = f32::max(best(&mean), MIN_BEST_COSINE);
    for (member, (row, place)) in rows.iter_mut().zip(places(&mean)).enumerate() {
        let [description, body] = cosines.whole[member];
        Feature::DenseDescription.set(row, f32::max(description, 0.0));
        Feature::DenseBody.set(row, f32::max(body, 0.0));
        Feature::Dense.set(row, f32::max(mean[member], 0.0) / best);
        Feature::DenseRank.set(row, of_place(place));
    }
}

fn fill_text_cosines(cosines: &[f32], rows: &mut [FeatureRow]) {
    // A text that the transformer cannot read has a vector of zeros.
    let is_unread = |cosine: f32| cosine.abs() < f32::MIN_POSITIVE;
    let read: Vec<f32> = cosines.iter().copied().filter(|cosine| !is_unread(*cosine)).collect();
    let mean = ratio(read.iter().sum(), read.len() as f32);
    let of = |cosine: &f32| if is_unread(*cosine) { mean } else { *cosine };
    let cosines: Vec<f32> = cosines.iter().map(of).map(|cosine| f32::max(cosine, 0.0)).collect();
    let best = best(&cosines);
    for ((row, cosine), place) in rows.iter_mut().zip(&cosines).zip(places(&cosines)) {
        Feature::Transformer.set(row, *cosine);
        Feature::TransformerGap.set(row, cosine - best);
        Feature::TransformerRank.set(row, of_place(place));
        Feature::TransformerFirst.set(row, f32::from(u8::from(place == 0)));
    }
}

fn fill_clause_cosines(pool: &Pool, cosines: &PoolCosines, rows: &mut [FeatureRow]) {
    let weight_of_clauses: f32 = pool.clauses.iter().map(|clause| clause.weight).sum();
    let mut sums = vec![[0.0_f32; 3]; rows.len()];
    for (clause, cosines) in pool.clauses.iter().zip(&cosines.of_clauses) {
        let best_score = best(&clause.scores);
        let cosines: Vec<f32> = cosines.iter().map(|parts| f32::max(mean(*parts), 0.0)).collect();
        let best_cosine = f32::max(best(&cosines), MIN_BEST_COSINE);
        let both = clause.scores.iter().zip(&cosines).map(|(score, cosine)| {
            (1.0 - CLAUSE_DENSE_WEIGHT) * ratio(*score, best_score)
                + CLAUSE_DENSE_WEIGHT * cosine / best_cosine
        });
        let both: Vec<f32> = both.collect();
        for (member, place) in places(&both).into_iter().enumerate() {
            let [cosine, best, votes] = &mut sums[member];
            *cosine = f32::max(*cosine, clause.weight * cosines[member]);
            *best = f32::max(*best, clause.weight * both[member]);
            *votes += clause.weight * reciprocal(place, both[member]);
        }
    }
    for (row, [cosine, best, votes]) in rows.iter_mut().zip(sums) {
        Feature::ClauseCosine.set(row, cosine);
        Feature::ClauseHybridBest.set(row, best);
        Feature::ClauseHybridVotes.set(row, ratio(votes, weight_of_clauses));
    }
}

fn fill_texts(query: &Query, bm25: &Bm25<'_>, pool: &Pool, rows: &mut [FeatureRow]) -> Result<()> {
    let mut headlines = Headlines::new(&pool.terms);
    let share_of_query = spaceless_share(query.text());
    let promises: Vec<f32> = rows
        .iter()
        .map(|row| {
            [Feature::Bm25, Feature::Hybrid, Feature::ClauseBest, Feature::ClauseHybridBest]
                .map(|feature| row[feature as usize])
                .iter()
                .sum()
        })
        .collect();
    let places = places(&promises);
    for ((row, member), place) in rows.iter_mut().zip(&pool.members).zip(places) {
        let headline = bm25.index().headline(member.skill)?;
        let difference = (share_of_query - spaceless_share(headline.description)).abs();
        Feature::SameWriting.set(row, 1.0 - difference);
        fill_crossing(difference, row);
        if place < N_READ {
            let description = headlines.read(headline.description);
            Feature::NamePhrases.set(row, headlines.read(headline.name).phrase_share);
            Feature::DescriptionPhrases.set(row, description.phrase_share);
            Feature::DescriptionPrecision.set(row, description.precision);
        }
    }
    Ok(())
}

/// Sets what is measured of a skill whose description is so far in another writing than the query.
fn fill_crossing(difference: f32, row: &mut FeatureRow) {
    Feature::Crossing.set(row, difference);
    for (crossing, cosine) in [
        (Feature::CrossingDescription, Feature::DenseDescription),
        (Feature::CrossingBody, Feature::DenseBody),
        (Feature::CrossingDense, Feature::Dense),
        (Feature::CrossingRank, Feature::DenseRank),
        (Feature::CrossingTransformer, Feature::Transformer),
        (Feature::CrossingTransformerGap, Feature::TransformerGap),
        (Feature::CrossingTransformerRank, Feature::TransformerRank),
    ] {
        crossing.set(row, difference * row[cosine as usize]);
    }
}

/// Sets scores as shares of the best one.
fn fill_relative(feature: Feature, scores: &[f32], rows: &mut [FeatureRow]) {
    let best = best(scores);
    for (row, score) in rows.iter_mut().zip(scores) {
        feature.set(row, ratio(f32::max(*score, 0.0), best));
    }
}

fn weight_of(pool: &Pool, terms: impl Iterator<Item = usize>) -> f32 {
    terms.map(|at| pool.terms[at].weight).sum()
}

fn best(scores: &[f32]) -> f32 {
    scores.iter().copied().fold(0.0, f32::max)
}

fn mean([description, body]: [f32; 2]) -> f32 {
    f32::midpoint(description, body)
}

/// Returns the place of each score, best first from 0; ties keep their order.
fn places(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    let mut places = vec![0; scores.len()];
    for (place, at) in order.into_iter().enumerate() {
        places[at] = place;
    }
    places
}

/// Returns `1 / (1 + place)`; 0 for a score of nothing.
fn reciprocal(place: usize, score: f32) -> f32 {
    if score > 0.0 { 1.0 / (place as f32 + 1.0) } else { 0.0 }
}

/// Logarithm of the place that counts as nothing: about the four hundredth.
const LAST_PLACE: f32 = 6.0;

/// Returns 1 for the first place, falling to 0 near the four hundredth.
fn of_place(place: usize) -> f32 {
    1.0 - (place as f32).ln_1p() / LAST_PLACE
}
