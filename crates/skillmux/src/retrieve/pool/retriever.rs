//! [`PoolRetriever`]: what a reranker chooses from.

use std::{collections::HashSet, sync::Arc};

use rayon::prelude::*;

use super::{
    feature::{Feature, OfQuery, QUERY_TRANSFORMER, SIGNALS},
    measure::Measured,
    near::{Encoders, Near},
};
use crate::{
    error::Result,
    index::{Index, SkillIdx},
    model::Encoder,
    retrieve::{
        Bm25, Bm25Config, Candidate, Contribution, RankingIdentity, RetrieveRequest, Retriever,
        ScoreScale, Signals, WorkWeights, hit::Hit,
    },
};

/// Score of a member of the pool that has no word of the query; what words alone find beyond the
/// pool has less.
const MEMBER_SCORE: f32 = 1.0;

/// Skills of a library that counts as large, as all that are larger.
const LARGE_LIBRARY: u32 = 100_000;

/// Contribution of being in the pool.
const MEMBER: &str = "pool";

/// Finds the skills that the query as a whole, each of its clauses and its vector bring, and
/// measures every [`Feature`] of them.
///
/// A member of this pool scores 1 plus its BM25 relative to the best one; all members come, however
/// few are asked for. Skills that only a longer list needs follow in the order of BM25, below 1 and
/// without signals. Beside its features a candidate has the signals `query.length`,
/// `query.spaceless`, `query.best_cosine`, `query.cosine_rise`, `query.transformer`,
/// `query.best_text_cosine`, `query.text_cosine_rise`, `query.uncovered`, `query.library` and
/// `query.work`, which are the same for all.
pub struct PoolRetriever {
    encoder: Option<Arc<dyn Encoder>>,
    transformer: Option<Arc<dyn Encoder>>,
    work: Arc<[WorkWeights]>,
}

impl PoolRetriever {
    /// Returns a retriever over indexes that hold vectors of this encoder; without one, the
    /// features that need vectors are 0.
    pub fn new(encoder: Option<Arc<dyn Encoder>>) -> Self {
        Self { encoder, transformer: None, work: Arc::default() }
    }

    /// Returns the retriever with a transformer beside the encoder. It brings the skills whose
    /// texts are closest, and sets the features of
    /// [`FeatureGroup::Transformer`](super::FeatureGroup::Transformer), where an index has a vector
    /// of every text and the transformer can read the query.
    #[must_use]
    pub fn with_transformer(self, transformer: Arc<dyn Encoder>) -> Self {
        Self { transformer: Some(transformer), ..self }
    }

    /// Returns the retriever with what tells work from talk; weights that read the vectors of
    /// another encoder are passed over.
    #[must_use]
    pub fn with_work(self, work: Arc<[WorkWeights]>) -> Self {
        Self { work, ..self }
    }
}

impl Retriever for PoolRetriever {
    fn identity(&self) -> RankingIdentity {
        identity([&self.encoder, &self.transformer])
    }

    fn identity_of(&self, found: &[Candidate]) -> RankingIdentity {
        let read_share = |candidate: &Candidate| candidate.signals.get(QUERY_TRANSFORMER);
        match found.iter().find_map(read_share) {
            Some(read_share) if read_share <= 0.0 => identity([&self.encoder, &None]),
            _ => self.identity(),
        }
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Share
    }

    fn check(&self, index: &Index) -> Result<()> {
        self.encoder.as_ref().map_or(Ok(()), |encoder| index.vectors_of(encoder.as_ref()).map(drop))
    }

    fn retrieve(&self, request: &RetrieveRequest<'_>) -> Result<Vec<Candidate>> {
        let near = self.near(request.index, &[request.query.text()])?.remove(0);
        retrieve_near(request, &near)
    }

    fn retrieve_all(&self, requests: &[RetrieveRequest<'_>]) -> Result<Vec<Vec<Candidate>>> {
        let Some(RetrieveRequest { index, .. }) = requests.first() else { return Ok(Vec::new()) };
        debug_assert!(
            requests.iter().all(|request| std::ptr::eq(request.index, *index)),
            "the requests are over one snapshot"
        );
        let queries: Vec<&str> = requests.iter().map(|request| request.query.text()).collect();
        let near = self.near(index, &queries)?;
        let found = requests.par_iter().zip(&near);
        found.map(|(request, near)| retrieve_near(request, near)).collect()
    }

    fn contributions(&self, candidate: &Candidate) -> Vec<Contribution> {
        let part = |feature: &str, value| Contribution { feature: feature.to_owned(), value };
        let bm25 = Feature::Bm25.as_str();
        match candidate.signals.get(bm25) {
            Some(value) => vec![part(MEMBER, MEMBER_SCORE), part(bm25, value)],
            None => vec![part(bm25, candidate.score)],
        }
    }
}

impl PoolRetriever {
    /// Returns what the vectors of queries find, in their order.
    fn near<'n>(&'n self, index: &'n Index, queries: &[&str]) -> Result<Vec<Near<'n>>> {
        let encoders = Encoders {
            encoder: self.encoder.as_deref(),
            transformer: self.transformer.as_deref(),
            work: &self.work,
        };
        Near::of_all(queries, index, encoders)
    }
}

/// As [`PoolRetriever::retrieve`], with what the vectors of the query found.
fn retrieve_near(request: &RetrieveRequest<'_>, near: &Near<'_>) -> Result<Vec<Candidate>> {
    let RetrieveRequest { index, query, k, .. } = *request;
    let bm25 = Bm25::new(index, Bm25Config::default());
    let named = request.named_positions()?;
    let measured = Measured::of(query, &bm25, near, &named)?;
    let (kind, cosines) = (measured.kind, measured.cosines());
    let texts = measured.text_cosines();
    let of_query = OfQuery {
        length: kind.length,
        spaceless: kind.spaceless,
        best_cosine: cosines.best,
        cosine_rise: cosines.best - cosines.mean,
        read_share: measured.read_share,
        best_text_cosine: texts.best,
        text_cosine_rise: texts.best - texts.mean,
        uncovered: measured.uncovered(),
        library: library_size(index.n_skills()),
        work: measured.work,
    }
    .values();
    let mut candidates = Vec::with_capacity(usize::max(k.min(index.n_skills()), 128));
    for (skill, row) in measured.skills.iter().zip(&measured.rows) {
        let hit = Hit { skill: *skill, score: MEMBER_SCORE + row[Feature::Bm25 as usize] };
        let values = row.iter().chain(&of_query).copied().collect();
        candidates.push(hit.named_by(index, Signals::new(&SIGNALS, values))?);
    }
    candidates.sort_unstable_by(Candidate::best_first);
    if k > candidates.len() {
        let members: HashSet<SkillIdx> = measured.skills.into_iter().collect();
        let found = Hit::best(bm25.hits(&query.terms(), &[])?, k);
        let highest = found.first().map_or(1.0, |hit| f32::max(hit.score, f32::MIN_POSITIVE));
        for hit in found.into_iter().filter(|hit| !members.contains(&hit.skill)) {
            let hit = Hit { score: hit.score / highest, ..hit };
            candidates.push(hit.named_by(index, Signals::default())?);
        }
    }
    Ok(candidates)
}

/// Returns the size of a library as a signal.
fn library_size(n_skills: usize) -> f32 {
    f32::min((n_skills as f32).ln_1p() / (LARGE_LIBRARY as f32).ln(), 1.0)
}

fn identity(encoders: [&Option<Arc<dyn Encoder>>; 2]) -> RankingIdentity {
    let names = encoders.into_iter().flatten();
    let names = names.map(|encoder| format!(" {}", encoder.identity().short()));
    RankingIdentity::new(format!("pool{}", names.collect::<String>()))
}
