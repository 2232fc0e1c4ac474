//! [`PageMethod`]: how a skill is paged.

use skillmux::page::{FullPager, MmrConfig, MmrPager, Pager};

use super::{
    chunk::{self, ChunkPager, ChunkSelection},
    graph::{self, GreedyGraphPager, TopKDependencyPager},
};

/// How a skill is paged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageMethod {
    /// The engine's own, [`MmrPager`].
    Mmr,
    /// The method of `SkillPager` §3.2: [`MmrConfig::skill_pager`].
    SkillPager,
    /// Everything, whatever the budget.
    FullDocument,
    /// From the top as far as the budget goes, [`FullPager`].
    Head,
    /// [`ChunkPager`] with MMR.
    Chunk,
    /// [`ChunkPager`] by cosine alone.
    ChunkTopK,
    /// [`GreedyGraphPager`].
    GreedyGraph,
    /// [`TopKDependencyPager`].
    TopKDependency,
}

impl PageMethod {
    pub(crate) const ALL: [Self; 8] = [
        Self::Mmr,
        Self::SkillPager,
        Self::FullDocument,
        Self::Head,
        Self::Chunk,
        Self::ChunkTopK,
        Self::GreedyGraph,
        Self::TopKDependency,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Mmr => "mmr",
            Self::SkillPager => "skill-pager",
            Self::FullDocument => "full-document",
            Self::Head => "head",
            Self::Chunk => "chunk",
            Self::ChunkTopK => "chunk-topk",
            Self::GreedyGraph => "greedy-graph",
            Self::TopKDependency => "topk-dep",
        }
    }

    pub(super) fn pager(self) -> Box<dyn Pager> {
        match self {
            Self::Mmr => Box::new(MmrPager::default()),
            Self::SkillPager => Box::new(MmrPager::new(MmrConfig::skill_pager())),
            Self::FullDocument | Self::Head => Box::new(FullPager),
            Self::Chunk => Box::new(ChunkPager::new(ChunkSelection::Mmr)),
            Self::ChunkTopK => Box::new(ChunkPager::new(ChunkSelection::TopK)),
            Self::GreedyGraph => Box::new(GreedyGraphPager),
            Self::TopKDependency => Box::new(TopKDependencyPager),
        }
    }

    pub(super) fn config(self) -> String {
        match self {
            Self::Mmr | Self::SkillPager | Self::FullDocument | Self::Head => String::new(),
            Self::Chunk | Self::ChunkTopK => chunk::config(),
            Self::GreedyGraph | Self::TopKDependency => graph::config(),
        }
    }
}
