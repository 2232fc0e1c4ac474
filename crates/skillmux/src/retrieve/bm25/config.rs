//! Constants of BM25, and what follows from them alone.

use std::fmt;

use super::saturation::saturate;
use crate::{index::Field, query::QueryTerm};

/// How a field counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldWeights {
    /// Factor of the field.
    pub weight: f32,
    /// How fast repetitions of a term stop to count (`k1`); 0 counts presence only.
    pub k1: f32,
    /// How much a field longer than the mean is held against it (`b`), in `[0, 1]`.
    pub b: f32,
}

/// Where the repetitions of a term saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TermSaturation {
    /// Within each field, and the scores of the fields are added: a skill whose name,
    /// description and body all speak of a term outdoes one that repeats it in one place.
    PerField,
    /// Over all fields together (BM25F, Robertson and Zaragoza 2009, §3.6), with the mean `k1` of
    /// the fields. With equal weights this is BM25 over the joined text.
    Joint,
}

/// How the repetitions of a term in the query count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryRepetition {
    /// Each as much as the first.
    Linear,
    /// `1 + ln(repetitions)` from the first on: a long task repeats what it is about, but also its
    /// boilerplate.
    Logarithmic,
}

/// Constants of [`Bm25Retriever`](super::Bm25Retriever).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25Config {
    /// Weights by [`Field::position`](crate::index::Field::position).
    pub fields: [FieldWeights; 3],
    /// Where repetitions in a skill saturate.
    pub saturation: TermSaturation,
    /// How repetitions in the query count.
    pub repetition: QueryRepetition,
}

impl Bm25Config {
    /// Returns plain BM25 over name, description and body joined, the usual baseline.
    pub fn joined_text() -> Self {
        let field = FieldWeights { weight: 1.0, k1: 1.2, b: 0.75 };
        Self {
            fields: [field; 3],
            saturation: TermSaturation::Joint,
            repetition: QueryRepetition::Linear,
        }
    }

    pub(crate) fn query_weight(&self, term: &QueryTerm) -> f32 {
        match self.repetition {
            QueryRepetition::Linear => term.frequency,
            QueryRepetition::Logarithmic if term.frequency < 1.0 => term.frequency,
            QueryRepetition::Logarithmic => 1.0 + term.frequency.ln(),
        }
    }

    /// Returns what a term adds in a field: its saturated frequency, or its share of the joint one.
    pub(crate) fn share(&self, field: usize, frequency: f32, norm: f32) -> f32 {
        let FieldWeights { weight, k1, .. } = self.fields[field];
        match self.saturation {
            _ if frequency == 0.0 => 0.0,
            TermSaturation::PerField => weight * saturate(frequency, k1 * norm),
            TermSaturation::Joint => weight * frequency / norm,
        }
    }

    /// Returns what a term of weight 1 cannot add more than.
    pub(crate) fn max_share(&self) -> f32 {
        match self.saturation {
            TermSaturation::PerField => self.fields.iter().map(|field| field.weight).sum(),
            TermSaturation::Joint => 1.0,
        }
    }

    /// Returns the `k1` of joint saturation.
    pub(crate) fn joint_k1(&self) -> f32 {
        self.fields.iter().map(|field| field.k1).sum::<f32>() / 3.0
    }
}

impl Default for Bm25Config {
    /// Chosen on `queries-train`, in the middle of a plateau, but for the `b` of the body, which
    /// was raised on long tasks; see `docs/retrieval.md`.
    fn default() -> Self {
        Self {
            fields: [
                FieldWeights { weight: 0.6, k1: 1.2, b: 0.5 },
                FieldWeights { weight: 1.0, k1: 1.2, b: 0.3 },
                FieldWeights { weight: 1.0, k1: 1.2, b: 0.9 },
            ],
            saturation: TermSaturation::PerField,
            repetition: QueryRepetition::Logarithmic,
        }
    }
}

impl fmt::Display for Bm25Config {
    /// Shows all constants: `bm25 name=weight/k1/b ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bm25")?;
        for (field, FieldWeights { weight, k1, b }) in Field::ALL.into_iter().zip(self.fields) {
            write!(f, " {}={weight}/{k1}/{b}", field.as_str())?;
        }
        let saturation = match self.saturation {
            TermSaturation::PerField => "per-field",
            TermSaturation::Joint => "joint",
        };
        let repetition = match self.repetition {
            QueryRepetition::Linear => "linear",
            QueryRepetition::Logarithmic => "logarithmic",
        };
        write!(f, " saturation={saturation} repetition={repetition}")
    }
}
