//! Opens a dataset of any kind.

use std::path::Path;

use super::{
    aliases::Lookup,
    bilingual::{self, BilingualSplit},
    comp_skill_bench, composition,
    contents::Dataset,
    intra_skill_bench,
    kind::DatasetKind,
    pairs, r3,
    skillrouter::{self, Tier},
    trec::{self, Unjudged},
};
use crate::error::Error;

/// How a dataset is read; each option matters to one kind only.
#[derive(Clone, Copy, Default)]
pub struct DatasetOptions<'a> {
    /// `skillrouter`: which pool shards belong to the library.
    pub tier: Tier,
    /// `bilingual`: which pairs are used.
    pub split: BilingualSplit,
    /// `bilingual`: where the texts of the skills are found.
    pub lookup: Option<&'a Lookup<'a>>,
    /// `trec`: the qrels; the file `qrels.trec` beside the queries if absent.
    pub qrels: Option<&'a Path>,
    /// `trec`: what a query without judgements means.
    pub unjudged: Unjudged,
}

impl Dataset {
    /// Reads the dataset at a path; its kind is detected if none is given.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Json`] and [`Error::Malformed`] name the file, the line and the
    /// field; [`Error::DatasetUnknown`] says which shapes there are.
    pub fn open(
        path: &Path,
        kind: Option<DatasetKind>,
        options: DatasetOptions<'_>,
    ) -> Result<Self, Error> {
        let kind = match kind {
            Some(kind) => kind,
            None => DatasetKind::detect(path)?,
        };
        match kind {
            DatasetKind::SkillRouter => skillrouter::read(path, options.tier),
            DatasetKind::R3 => r3::read(path),
            DatasetKind::Pairs => pairs::read(path),
            DatasetKind::Bilingual => bilingual::read(path, options.split, options.lookup),
            DatasetKind::Composition => composition::read(path),
            DatasetKind::CompSkillBench => comp_skill_bench::read(path),
            DatasetKind::IntraSkillBench => intra_skill_bench::read(path),
            DatasetKind::Trec => trec::read(path, options.qrels, options.unjudged),
        }
    }
}
