//! Brings an index up to date with a library, in one atomic commit.

use std::path::Path;

use super::{
    before::Before,
    builder::Builder,
    options::{Progress, UpdateMode, UpdateOptions, UpdateReport},
    previous::Previous,
};
use crate::{
    error::{Error, Result},
    index::{folder::IndexFolder, read::Index},
    library::Library,
};

impl Index {
    /// Makes the index at `path` hold exactly the skills of a library.
    ///
    /// The new generation becomes visible in one step, or not at all; readers are never blocked.
    /// If nothing changed, the current generation stays. Then the folder need not be writable.
    ///
    /// # Errors
    /// [`Error::IndexLocked`] while another process writes, [`Error::IndexForeign`] if the folder
    /// holds something else, [`Error::IndexFormat`] and [`Error::IndexCorrupt`] if the present
    /// generation cannot be built upon, [`Error::LibraryEmpty`], and errors of reading or writing.
    pub fn update(
        path: &Path,
        library: &Library,
        options: &UpdateOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<UpdateReport> {
        let folder = IndexFolder::new(path);
        let lock = folder.lock_to_compare()?;
        let previous = match options.mode {
            UpdateMode::Incremental => Previous::open(&folder)?,
            // What it held is only counted: one that cannot be read is replaced all the same.
            UpdateMode::Rebuild => Previous::open(&folder).ok().flatten(),
        };
        let is_incremental = options.mode == UpdateMode::Incremental;
        let found = previous.as_ref().filter(|_| is_incremental);
        let found = found.map(|previous| previous.generation.manifest.vectors);
        let vectors = options.vectors.or(found);
        let options = &UpdateOptions { vectors, ..options.clone() };
        let can_be_built_upon =
            |previous: &Previous| is_incremental && previous.can_be_built_upon(options);
        let before = previous.as_ref().map(|it| Before::of(it, can_be_built_upon(it)));
        let before = before.unwrap_or_default();
        let previous = previous.filter(can_be_built_upon);
        // What was freed takes room; what it holds now counts as unchanged all the same.
        let (worn_out, previous) = match previous {
            Some(previous) if previous.is_worn_out() => (Some(previous), None),
            previous => (None, previous),
        };
        let mut builder = Builder::new(&folder, &lock, previous, options);
        if let Some(worn_out) = worn_out {
            builder = builder.with_vectors_of(worn_out);
        }
        let scan = library.scan(&mut |scanned| {
            builder.add(scanned)?;
            progress(Progress::Read { n_skills: builder.n_skills() });
            Ok(())
        })?;
        if builder.n_skills() == 0 {
            return Err(Error::LibraryEmpty {
                n_sources: library.sources().len(),
                report: Box::new(scan),
            });
        }
        progress(Progress::Commit);
        builder.finish(scan, &before, options)
    }
}
