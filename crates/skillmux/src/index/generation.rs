//! [`Generation`]: one immutable state of an index, and the parts that it consists of.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    current::Current,
    damage::{Damage, PartError},
    layout::{self, MANIFEST, TABLE},
    manifest::{Check, FORMAT_VERSION, IndexManifest},
    store::Store,
    table::SkillTable,
    vectors::{N_PARTS, TEXTS_FILE, VectorFile, Vectors},
};
use crate::error::Error;

/// A generation whose manifest was read.
#[derive(Debug, Clone)]
pub(crate) struct Generation {
    pub(crate) path: PathBuf,
    pub(crate) manifest: IndexManifest,
    /// How `CURRENT` names it.
    name: Current,
}

impl Generation {
    /// Reads the manifest of the generation of an index that `current` names.
    pub(crate) fn open(index: &Path, current: &Current) -> Result<Self, PartError> {
        let (path, bytes) = read_manifest(index, current.generation)?;
        if Current::of(current.generation, &bytes) != *current {
            return Err(Damage::new(MANIFEST, "is not what was written").into());
        }
        Self::parse(index, path, &bytes, current.clone())
    }

    /// Reads the manifest of a generation of an index, whether or not it was ever current.
    pub(crate) fn find(index: &Path, generation: u64) -> Result<Self, PartError> {
        let (path, bytes) = read_manifest(index, generation)?;
        Self::parse(index, path, &bytes, Current::of(generation, &bytes))
    }

    fn parse(index: &Path, path: PathBuf, bytes: &[u8], name: Current) -> Result<Self, PartError> {
        #[derive(serde::Deserialize)]
        struct FormatOnly {
            format: u32,
        }
        let Ok(FormatOnly { format: found }) = serde_json::from_slice(bytes) else {
            return Err(Damage::new(MANIFEST, "has no format version").into());
        };
        if found != FORMAT_VERSION {
            let path = index.to_owned();
            return Err(Error::IndexFormat { path, found, expected: FORMAT_VERSION }.into());
        }
        let manifest = serde_json::from_slice(bytes)
            .map_err(|e| Damage::new(MANIFEST, format!("does not decode: {e}")))?;
        Ok(Self { path, manifest, name })
    }

    /// Returns how `CURRENT` names this generation.
    pub(crate) fn name(&self) -> &Current {
        &self.name
    }

    /// Compares the files with the manifest.
    pub(crate) fn check(&self, check: Check) -> Result<(), PartError> {
        self.manifest.check_files(&self.path, check)
    }

    /// Maps the table of the skills.
    ///
    /// A table too large to be hashed when it is opened could claim any counts; what is allocated
    /// for them is bounded by those of the manifest, which is always hashed.
    pub(crate) fn table(&self) -> Result<SkillTable, PartError> {
        let table = SkillTable::open(&self.path)?;
        let found = (table.n_skills(), table.n_slots());
        let IndexManifest { n_skills, n_slots, .. } = self.manifest;
        if found != (n_skills, n_slots) {
            let what = format!(
                "has {} skills and {} slots, but the manifest {n_skills} and {n_slots}",
                found.0, found.1
            );
            return Err(Damage::new(TABLE, what).into());
        }
        Ok(table)
    }

    /// Maps the vectors of the skills, if there are any.
    pub(crate) fn vectors(&self) -> Result<Option<Vectors<N_PARTS>>, PartError> {
        let IndexManifest { n_skills, encoder, vectors, .. } = &self.manifest;
        let file = VectorFile::of_parts(*vectors);
        let open = |dim| Vectors::open(&self.path, file, *n_skills, dim);
        encoder.as_ref().map(|encoder| open(encoder.dim)).transpose()
    }

    /// Maps the vectors of whole texts, if there are any.
    pub(crate) fn text_vectors(&self) -> Result<Option<Vectors<1>>, PartError> {
        let IndexManifest { n_skills, transformer, .. } = &self.manifest;
        let open = |dim| Vectors::open(&self.path, TEXTS_FILE, *n_skills, dim);
        transformer.as_ref().map(|found| open(found.encoder.dim)).transpose()
    }

    /// Maps the texts of the skills.
    pub(crate) fn store(&self) -> Result<Store, PartError> {
        Store::open(&self.path, &self.manifest.store_files)
    }
}

fn read_manifest(index: &Path, generation: u64) -> Result<(PathBuf, Vec<u8>), PartError> {
    let path = index.join(layout::generation_name(generation));
    let file = path.join(MANIFEST);
    let bytes = fs::read(&file).map_err(|source| PartError::of_io(MANIFEST, &file, source))?;
    Ok((path, bytes))
}
