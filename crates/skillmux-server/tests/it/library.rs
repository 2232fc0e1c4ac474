//! An index of `fixtures/library`; the only file that knows how an index is written.

use std::path::{Path, PathBuf};

use skillmux::{
    compose::{Calibration, Calibrations, Features},
    index::{Index, UpdateOptions},
    library::Library,
    route::{Ranker, Router, Stages},
    trust::TrustPolicy,
};
use tempfile::TempDir;

/// An index in a folder that goes away with it.
pub(crate) struct SampleIndex {
    dir: TempDir,
}

impl SampleIndex {
    /// Indexes the fixture library.
    pub(crate) fn new() -> Self {
        // In memory where there is such a place: an update waits for the disk several times.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let index = Self { dir };
        index.write(&fixtures());
        index
    }

    /// Opens a router that abstains where no skill fits.
    pub(crate) fn router(&self) -> Router {
        let stages = Stages::default();
        let calibrations = Calibrations::new([calibration(&stages)]);
        let index = Index::open(self.dir.path()).unwrap();
        Router::new(index, Stages { calibrations, ..stages }).unwrap()
    }

    /// Opens a router with the default stages, which nobody calibrated.
    pub(crate) fn uncalibrated_router(&self) -> Router {
        Router::open(self.dir.path()).unwrap()
    }

    /// Opens a router that trusts whom a policy says.
    pub(crate) fn router_with(&self, trust: TrustPolicy) -> Router {
        let stages = Stages { ranker: Ranker::default().with_trust(trust), ..Stages::default() };
        Router::new(Index::open(self.dir.path()).unwrap(), stages).unwrap()
    }

    /// Commits a generation that holds the skills below `root`, and no others.
    pub(crate) fn write(&self, root: &Path) {
        let library = Library::open([root]).unwrap();
        let options = UpdateOptions { memory_bytes: 40 << 20, ..UpdateOptions::default() };
        Index::update(self.dir.path(), &library, &options, &mut |_| {}).unwrap();
    }

    /// Makes the newest generation unreadable.
    pub(crate) fn corrupt(&self) {
        std::fs::write(self.dir.path().join("CURRENT"), "not a generation").unwrap();
    }
}

/// Returns a calibration near the one that skillmux ships for words alone.
fn calibration(stages: &Stages) -> Calibration {
    let weights = Features {
        score_mass: 6.6,
        clause_mass: 2.2,
        matched_words: 0.7,
        headline_share: 13.8,
        character_share: 1.1,
        term_density: 2.6,
        body_length: -3.3,
        library_size: -0.14,
        ..Features::default()
    };
    Calibration {
        ranking: stages.ranker.identity(),
        bias: -0.83,
        weights,
        verifier: None,
        threshold: 0.34,
        large_threshold: None,
    }
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/library")
}
