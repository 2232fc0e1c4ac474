//! [`PageMethod`]: how a skill is paged.

use std::fmt;

use skillmux::{
    model::Encoder,
    page::{FullPager, MmrConfig, MmrPager, Pager},
};

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
    /// The method of `SkillPager` §3.2: [`MmrConfig::skill_pager`], but for what is set.
    SkillPager(PaperKnobs),
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

/// What the sweeps of `SkillPager` Tables 6 and 7 turn; what is not set is as in the paper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PaperKnobs {
    /// Weight of relevance against diversity, in hundredths from 0 to 100.
    pub(crate) lambda_percent: Option<u8>,
    /// Most nodes of a page, of whatever body; at least 1.
    pub(crate) k: Option<usize>,
}

impl PaperKnobs {
    const PAPER: Self = Self { lambda_percent: None, k: None };

    fn config(self) -> MmrConfig {
        let mut config = MmrConfig::skill_pager();
        if let Some(percent) = self.lambda_percent {
            config.lambda = f32::from(percent) / 100.0;
        }
        if let Some(k) = self.k {
            (config.max_nodes, config.max_nodes_large) = (k, k);
        }
        config
    }
}

impl PageMethod {
    pub(crate) const ALL: [Self; 9] = [
        Self::Default,
        Self::Mmr,
        Self::SkillPager(PaperKnobs::PAPER),
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
            Self::SkillPager(_) => "skill-pager",
            Self::FullDocument => "full-document",
            Self::Head => "head",
            Self::Chunk => "chunk",
            Self::ChunkTopK => "chunk-topk",
            Self::GreedyGraph => "greedy-graph",
            Self::TopKDependency => "topk-dep",
        }
    }

    /// Returns the pager; `None` for that of the router. An encoder makes the semantic edges of
    /// graphs.
    pub(super) fn pager<'a>(self, encoder: Option<&'a dyn Encoder>) -> Option<Box<dyn Pager + 'a>> {
        Some(match self {
            Self::Default => return None,
            Self::Mmr => Box::new(MmrPager::default()),
            Self::SkillPager(knobs) => Box::new(MmrPager::new(knobs.config())),
            Self::FullDocument | Self::Head => Box::new(FullPager),
            Self::Chunk => Box::new(ChunkPager::new(ChunkSelection::Mmr)),
            Self::ChunkTopK => Box::new(ChunkPager::new(ChunkSelection::TopK)),
            Self::GreedyGraph => Box::new(GreedyGraphPager::new(encoder)),
            Self::TopKDependency => Box::new(TopKDependencyPager::new(encoder)),
        })
    }

    pub(super) fn config(self, encoder: Option<&dyn Encoder>) -> String {
        match self {
            Self::Default | Self::Mmr | Self::SkillPager(_) | Self::FullDocument | Self::Head => {
                String::new()
            }
            Self::Chunk | Self::ChunkTopK => chunk::config(),
            Self::GreedyGraph | Self::TopKDependency => graph::config(encoder),
        }
    }
}

impl fmt::Display for PageMethod {
    /// Writes the name, and what is set: `skill-pager/lambda=0.5/k=10`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        let Self::SkillPager(PaperKnobs { lambda_percent, k }) = self else { return Ok(()) };
        if let Some(percent) = lambda_percent {
            write!(f, "/lambda={}", f32::from(*percent) / 100.0)?;
        }
        k.map_or(Ok(()), |k| write!(f, "/k={k}"))
    }
}
