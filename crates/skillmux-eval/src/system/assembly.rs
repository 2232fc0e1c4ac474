//! [`Assembly`]: the rankings that the program can put together.

use skillmux::{
    index::Index,
    rerank::KeepOrder,
    retrieve::{Bm25Config, Bm25Retriever},
    route::Ranker,
};

use crate::error::Error;

/// Knows rankings by name: those of the program that measures, so that what is measured is what it
/// ships.
pub trait Assembly: Sync {
    /// Returns every ranking that can be named.
    fn rankings(&self) -> Vec<RankingForm>;

    /// Returns the ranking of a name over an index; `None` if there is none of that name.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::Weights`] for a ranking that reads a file, and
    /// [`Error::Unencoded`] for one that uses vectors which the index does not have.
    fn ranker(&self, name: &str, index: &Index) -> Result<Option<Ranker>, Error>;
}

/// How a ranking is named, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankingForm {
    /// The name; `NAME:FILE` for one that reads a file.
    pub form: String,
    /// What it is, in a phrase.
    pub help: String,
}

/// The rankings that need no model: BM25 over the joined text, and over weighted fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WordRankings;

impl Assembly for WordRankings {
    fn rankings(&self) -> Vec<RankingForm> {
        let form = |(form, help): (&str, &str)| RankingForm {
            form: form.to_owned(),
            help: help.to_owned(),
        };
        [("bm25", "BM25 over the joined text"), ("fielded", "BM25 over weighted fields")]
            .map(form)
            .to_vec()
    }

    fn ranker(&self, name: &str, _index: &Index) -> Result<Option<Ranker>, Error> {
        let config = match name {
            "bm25" => Bm25Config::joined_text(),
            "fielded" => Bm25Config::default(),
            _ => return Ok(None),
        };
        let bm25 = Box::new(Bm25Retriever::new(config));
        Ok(Some(Ranker::new(bm25, Box::new(KeepOrder)).with_words(config)))
    }
}
