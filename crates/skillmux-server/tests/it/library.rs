//! An index of `fixtures/library`; the only file that knows how an index is written.

use std::path::{Path, PathBuf};

use skillmux::{
    index::{Index, UpdateOptions},
    library::Library,
    route::Router,
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

    /// Opens a router on the index.
    pub(crate) fn router(&self) -> Router {
        Router::open(self.dir.path()).unwrap()
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

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/library")
}
