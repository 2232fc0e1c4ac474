//! [`PageMethod`]: how a skill is paged.

use skillmux::page::{FullPager, MmrConfig, MmrPager, Pager};

use super::{
    chunk::{self, ChunkPager, ChunkSelection},
    graph::{self, GreedyGraphPager, TopKDependencyPager},
};

/// How a skill is paged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageMethod {
    /// As the router pages, Chinese said in English as well.
    Default,
    /// The engine's own by words alone, [`MmrPager`].
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
    pub(crate) const ALL: [Self; 9] = [
        Self::Default,
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
            Self::Default => "default",
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

    /// Returns the pager; `None` for that of the router.
    pub(super) fn pager(self) -> Option<Box<dyn Pager>> {
        Some(match self {
            Self::Default => return None,
            Self::Mmr => Box::new(MmrPager::default()),
            Self::SkillPager => Box::new(MmrPager::new(MmrConfig::skill_pager())),
            Self::FullDocument | Self::Head => Box::new(FullPager),
            Self::Chunk => Box::new(ChunkPager::new(ChunkSelection::Mmr)),
            Self::ChunkTopK => Box::new(ChunkPager::new(ChunkSelection::TopK)),
            Self::GreedyGraph => Box::new(GreedyGraphPager),
            Self::TopKDependency => Box::new(TopKDependencyPager),
        })
    }

    pub(super) fn config(self) -> String {
        match self {
            Self::Default | Self::Mmr | Self::SkillPager | Self::FullDocument | Self::Head => {
                String::new()
            }
            Self::Chunk | Self::ChunkTopK => chunk::config(),
            Self::GreedyGraph | Self::TopKDependency => graph::config(),
        }
    }
}
