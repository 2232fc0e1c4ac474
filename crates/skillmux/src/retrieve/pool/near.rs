//! [`Near`]: what the vectors of a query find.

use crate::{
    error::Result,
    index::{Index, N_PARTS, Part, QueryVector, SkillIdx, Vectors, encode_queries},
    model::Encoder,
    retrieve::{WorkWeights, dense::MIN_COSINE, hit::Hit},
};

/// Skills that the vector of the query brings into the pool.
const N_DENSE: usize = 28;

/// Skills that the transformer brings into the pool.
const N_TRANSFORMER: usize = 28;

/// The first are chosen among this many skills, those whose descriptions are closest: for 150 long
/// tasks, these are the same as among all skills.
const N_CLOSEST: usize = 4096;

/// What vectors are searched.
#[derive(Clone, Copy)]
pub(super) struct Encoders<'e> {
    /// The encoder of names, descriptions and bodies.
    pub(super) encoder: Option<&'e dyn Encoder>,
    /// The encoder of whole texts.
    pub(super) transformer: Option<&'e dyn Encoder>,
    /// What tells work from talk by a vector of one of them.
    pub(super) work: &'e [WorkWeights],
}

impl Encoders<'_> {
    /// Returns how likely a query asks for work, by the vector of the transformer if it has read
    /// the query, else by that of the encoder.
    fn work(&self, by_parts: Option<&ByParts<'_>>, by_text: Option<&ByText<'_>>) -> f32 {
        let by = |encoder: Option<&dyn Encoder>, vector: Option<&QueryVector>| {
            let (identity, vector) = (encoder?.identity(), vector?);
            let weights = self.work.iter().find(|weights| weights.encoder() == identity)?;
            (!vector.is_zero()).then(|| weights.signal(vector.numbers()))
        };
        by(self.transformer, by_text.map(|by| &by.query))
            .or_else(|| by(self.encoder, by_parts.map(|by| &by.query)))
            .unwrap_or(0.0)
    }
}

/// The vectors of a query, and the skills whose vectors are closest.
pub(super) struct Near<'i> {
    /// By the encoder of names, descriptions and bodies; `None` without one.
    by_parts: Option<ByParts<'i>>,
    /// By the transformer; `None` without one, and for a query that it cannot read.
    by_text: Option<ByText<'i>>,
    /// How likely the query asks for work, in `[-1, 1]`; 0 if nothing tells it.
    pub(super) work: f32,
}

struct ByParts<'i> {
    encoder: &'i dyn Encoder,
    vectors: &'i Vectors<N_PARTS>,
    query: QueryVector,
    closest: Vec<SkillIdx>,
}

struct ByText<'i> {
    vectors: &'i Vectors<1>,
    query: QueryVector,
    /// How much of the query was read, in `(0, 1]`.
    read_share: f32,
    closest: Vec<SkillIdx>,
}

/// Cosines of the query and its clauses with the members, each with the parts of a skill in the
/// order of [`Part::ALL`].
pub(super) struct PoolCosines {
    /// Of the whole query, by member.
    pub(super) whole: Vec<[f32; Part::ALL.len()]>,
    /// Of each clause that was looked up, by member.
    pub(super) of_clauses: Vec<Vec<[f32; Part::ALL.len()]>>,
}

impl<'i> Near<'i> {
    /// Looks queries up, in their order: the vectors of the index are read once for all.
    pub(super) fn of_all(
        queries: &[&str],
        index: &'i Index,
        encoders: Encoders<'i>,
    ) -> Result<Vec<Self>> {
        let by_parts = encoders.encoder.map(|encoder| ByParts::of_all(queries, index, encoder));
        let by_text = encoders.transformer.map(|encoder| ByText::of_all(queries, index, encoder));
        let mut by_parts = by_parts.transpose()?.unwrap_or_default().into_iter();
        let mut by_text = by_text.transpose()?.unwrap_or_default().into_iter();
        let near = |_: &&str| {
            let (by_parts, by_text) = (by_parts.next(), by_text.next().flatten());
            let work = encoders.work(by_parts.as_ref(), by_text.as_ref());
            Self { by_parts, by_text, work }
        };
        Ok(queries.iter().map(near).collect())
    }

    /// Returns the closest skills, some of them twice.
    pub(super) fn skills(&self) -> impl Iterator<Item = SkillIdx> {
        let by_parts = self.by_parts.iter().flat_map(|by| &by.closest);
        by_parts.chain(self.by_text.iter().flat_map(|by| &by.closest)).copied()
    }

    /// Returns the cosines of the query and some clauses of it with these skills; `None` without an
    /// encoder.
    pub(super) fn cosines(
        &self,
        skills: &[SkillIdx],
        clauses: &[&str],
    ) -> Result<Option<PoolCosines>> {
        let Some(ByParts { encoder, vectors, query, .. }) = &self.by_parts else { return Ok(None) };
        let of = |vector: &QueryVector| vectors.cosines_of(skills, vector);
        let clauses = if clauses.is_empty() { vec![] } else { encode_queries(*encoder, clauses)? };
        Ok(Some(PoolCosines { whole: of(query), of_clauses: clauses.iter().map(of).collect() }))
    }

    /// Returns the cosines of the query with the texts of these skills by the transformer; `None`
    /// without one, and for a query that it cannot read.
    pub(super) fn text_cosines(&self, skills: &[SkillIdx]) -> Option<Vec<f32>> {
        let ByText { vectors, query, .. } = self.by_text.as_ref()?;
        Some(vectors.cosines_of(skills, query).into_iter().map(|[cosine]| cosine).collect())
    }

    /// Returns how much of the query the transformer read, in `[0, 1]`; 0 if it read nothing.
    pub(super) fn read_share(&self) -> f32 {
        self.by_text.as_ref().map_or(0.0, |by| by.read_share)
    }
}

impl<'i> ByParts<'i> {
    fn of_all(queries: &[&str], index: &'i Index, encoder: &'i dyn Encoder) -> Result<Vec<Self>> {
        let vectors = index.vectors_of(encoder)?;
        let read = encode_queries(encoder, queries)?;
        let found = vectors.closest(&read.iter().collect::<Vec<_>>(), N_CLOSEST);
        let by_parts = |(query, found): (QueryVector, Vec<(SkillIdx, f32)>)| {
            let near = found.into_iter().filter(|(_, cosine)| *cosine >= MIN_COSINE);
            let hits = near.map(|(skill, score)| Hit { skill, score }).collect();
            let closest = Hit::best(hits, N_DENSE).into_iter().map(|hit| hit.skill).collect();
            Self { encoder, vectors, query, closest }
        };
        Ok(read.into_iter().zip(found).map(by_parts).collect())
    }
}

impl<'i> ByText<'i> {
    /// Returns nothing if not all skills have a vector, and `None` for a query that the transformer
    /// cannot read.
    fn of_all(
        queries: &[&str],
        index: &'i Index,
        transformer: &dyn Encoder,
    ) -> Result<Vec<Option<Self>>> {
        let Some(vectors) = index.text_vectors_of(transformer) else { return Ok(Vec::new()) };
        let read = encode_queries(transformer, queries)?;
        let readable: Vec<&QueryVector> = read.iter().filter(|query| !query.is_zero()).collect();
        let mut found = vectors.closest(&readable, N_TRANSFORMER).into_iter();
        let by_text = |(text, query): (&&str, QueryVector)| {
            if query.is_zero() {
                return None;
            }
            let closest = found.next()?.into_iter().map(|(skill, _)| skill).collect();
            Some(Self { vectors, query, read_share: transformer.read_share(text), closest })
        };
        Ok(queries.iter().zip(read).map(by_text).collect())
    }
}
