//! What a generation holds, and how to tell that it is whole.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use serde::{Deserialize, Serialize};

use super::{
    damage::{Damage, PartError},
    files,
    layout::MANIFEST,
    lexical::FieldCaps,
    vector_kind::VectorKind,
};
use crate::{error::Result, library::Origin, model::EncoderIdentity, skill::risk::Risk};

/// Version of the layout on disk.
///
/// A change to any file of a generation raises it. So does a change to the rules from text to
/// terms, because an index and its queries must agree on them, to the rules from bodies to nodes,
/// and to those that find risks: an index holds both.
pub const FORMAT_VERSION: u32 = 10;

/// Files up to this size are hashed whenever a generation is opened; larger ones when it is
/// verified.
const HASHED_ON_OPEN_BYTES: u64 = 64 << 20;

/// Contents of `manifest.json`: what a generation was made with and which files it consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexManifest {
    /// [`FORMAT_VERSION`] of the writer.
    pub format: u32,
    /// Number of the generation; rises by one with every commit.
    pub generation: u64,
    /// How much of each field is indexed.
    pub field_caps: FieldCaps,
    /// Encoder of the vectors; `None` if the index holds none.
    pub encoder: Option<EncoderIdentity>,
    /// What numbers the vectors of the encoder are stored as.
    #[serde(default, skip_serializing_if = "VectorKind::is_default")]
    pub vectors: VectorKind,
    /// Vectors of whole texts by a transformer; `None` if the index holds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transformer: Option<TransformerVectors>,
    /// Number of skills.
    pub n_skills: u32,
    /// Number of slots ever given to skills, including freed ones.
    pub n_slots: u32,
    /// What was indexed, as the user wrote it.
    pub sources: Vec<String>,
    /// Number of skills by where they were found.
    #[serde(default)]
    pub origins: BTreeMap<Origin, u32>,
    /// Number of skills by what speaks against them.
    #[serde(default)]
    pub risks: BTreeMap<Risk, u32>,
    /// Store files, in the order that frame addresses count them.
    pub store_files: Vec<String>,
    /// Every file of the generation but the manifest, by its path relative to the generation.
    pub files: BTreeMap<String, FileIdentity>,
}

/// What an index knows of the vectors of whole texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransformerVectors {
    /// The transformer that made them.
    pub encoder: EncoderIdentity,
    /// Skills that have none yet; while there are some, queries go by words and the other vectors.
    pub n_missing: u32,
}

/// Size and hash of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Size in bytes.
    pub n_bytes: u64,
    /// BLAKE3 hash in hexadecimal.
    pub blake3: String,
}

/// How thoroughly files are compared with the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// All sizes, and the hashes of files that are not huge.
    Open,
    /// All sizes and all hashes.
    Full,
}

impl IndexManifest {
    /// Compares the files in `folder` with the manifest.
    pub(crate) fn check_files(&self, folder: &Path, check: Check) -> Result<(), PartError> {
        self.check_names()?;
        for (name, identity) in &self.files {
            let path = folder.join(name);
            let failed = |source| PartError::of_io(name, &path, source);
            let n_bytes = path.metadata().map_err(failed)?.len();
            if n_bytes != identity.n_bytes {
                let what = format!("has {n_bytes} bytes, but {} were written", identity.n_bytes);
                return Err(Damage::new(name, what).into());
            }
            // Frames of the store check themselves when they are read.
            let is_store = self.store_files.contains(name);
            let hashed = check == Check::Full || !is_store && n_bytes <= HASHED_ON_OPEN_BYTES;
            if hashed && files::hash(&path).map_err(failed)?.1 != identity.blake3 {
                return Err(Damage::new(name, "is not what was written").into());
            }
        }
        Ok(())
    }

    /// Checks that no file name leads out of the generation, so that joining one to its folder
    /// stays inside.
    fn check_names(&self) -> Result<(), Damage> {
        let mut names = self.files.keys().chain(&self.store_files);
        match names.find(|name| !is_inside(name)) {
            Some(name) => {
                Err(Damage::new(MANIFEST, format!("names `{name}`, which is not a file of it")))
            }
            None => Ok(()),
        }
    }
}

/// Tells whether a relative path consists of names alone.
fn is_inside(name: &str) -> bool {
    let is_name = |component| matches!(component, Component::Normal(_));
    !name.is_empty() && Path::new(name).components().all(is_name)
}

impl FileIdentity {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let (n_bytes, blake3) = files::hash(path).map_err(files::read_error(path))?;
        Ok(Self { n_bytes, blake3 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(file: &str, store_file: &str) -> IndexManifest {
        let identity = FileIdentity { n_bytes: 0, blake3: blake3::hash(&[]).to_hex().to_string() };
        IndexManifest {
            format: FORMAT_VERSION,
            generation: 1,
            field_caps: FieldCaps::default(),
            encoder: None,
            vectors: VectorKind::default(),
            transformer: None,
            n_skills: 0,
            n_slots: 0,
            sources: Vec::new(),
            origins: BTreeMap::new(),
            risks: BTreeMap::new(),
            store_files: vec![store_file.to_owned()],
            files: BTreeMap::from([(file.to_owned(), identity)]),
        }
    }

    #[test]
    fn names_that_lead_out_of_the_generation_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("outside"), []).unwrap();
        let folder = dir.path().join("generation");
        std::fs::create_dir_all(folder.join("lexical")).unwrap();
        std::fs::write(folder.join("lexical/a"), []).unwrap();
        let absolute = dir.path().join("outside").to_str().unwrap().to_owned();
        for name in ["../outside", "lexical/../../outside", "./lexical/a", "", &absolute] {
            for manifest in [manifest(name, "store"), manifest("lexical/a", name)] {
                let error = manifest.check_files(&folder, Check::Open).unwrap_err();
                let PartError::Damaged(damage) = error else { panic!("{error:?}") };
                let expected = format!("manifest.json names `{name}`, which is not a file of it");
                assert_eq!(damage.to_string(), expected);
            }
        }
        manifest("lexical/a", "store").check_files(&folder, Check::Full).unwrap();
    }
}
