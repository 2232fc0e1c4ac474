//! [`Ranked`]: the engine's ranker with weights from a file.

use std::{fs, path::Path};

use skillmux::{
    index::Index,
    model::Encoder,
    rerank::{Ranker, RankerWeights},
    retrieve::Retriever,
};

use super::{
    contract::System,
    engine::{query_of, scored_ids},
};
use crate::{answer::Answer, error::Error, task::Task};

/// Ranks candidates by other weights than the router's, as `skillmux train ranker` writes them.
pub(super) struct Ranked<'a> {
    name: String,
    index: &'a Index,
    encoder: &'a dyn Encoder,
    weights: RankerWeights,
}

impl<'a> Ranked<'a> {
    /// Reads the weights.
    pub(super) fn open(
        name: String,
        path: &Path,
        index: &'a Index,
        encoder: &'a dyn Encoder,
    ) -> Result<Self, Error> {
        let text = fs::read_to_string(path)
            .map_err(|source| Error::Read { path: path.to_owned(), source })?;
        let weights = serde_json::from_str(&text).map_err(|source: serde_json::Error| {
            Error::Weights { path: path.to_owned(), source: Box::new(source) }
        })?;
        let system = Self { name, index, encoder, weights };
        system.ranker()?;
        Ok(system)
    }

    fn ranker(&self) -> Result<Ranker<'_>, Error> {
        Ok(Ranker::new(self.index, Some(self.encoder), &self.weights)?)
    }
}

impl System for Ranked<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn config(&self) -> String {
        format!("ranker {}", fingerprint(&self.weights))
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        let ranking = self.ranker()?.retrieve(&query_of(task)?, depth)?;
        Ok(Answer::of_ranking(scored_ids(self.index, &ranking)?))
    }
}

/// Returns a short text that tells weights from others.
pub(super) fn fingerprint(weights: &RankerWeights) -> String {
    let json = serde_json::to_vec(weights).unwrap_or_default();
    blake3::hash(&json).to_hex()[..16].to_owned()
}
