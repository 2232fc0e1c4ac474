//! [`Written`]: the files of a generation that is being made.

use std::{collections::BTreeMap, fs, path::Path};

use super::previous::Previous;
use crate::{
    error::Result,
    index::{
        draft::Draft,
        files,
        folder::{IndexFolder, WriterLock},
        layout::{self, LEXICAL},
        lexical::{FieldCaps, LexicalWriter, WriterResources},
        manifest::FileIdentity,
        store::{FrameAddress, Store, StoreWriter},
        table::{Row, Slot},
    },
    skill::{NodeTree, Skill},
};

/// Files of the lexical index that a commit may write again under the same name; they are small.
const MUTABLE_EXTENSIONS: [&str; 2] = [".json", ".del"];

/// More store files than this are rewritten as one.
const MAX_STORE_FILES: usize = 8;

/// The files of a generation that is being made.
pub(super) struct Written {
    /// These two before the draft, so that nothing writes into its folder any more when that is
    /// removed.
    pub(super) lexical: LexicalWriter,
    /// Opened when the first new text comes.
    store: Option<StoreWriter>,
    draft: Draft,
    pub(super) store_files: Vec<String>,
}

impl Written {
    /// Starts a draft with all files that can be taken over.
    pub(super) fn start(
        folder: &IndexFolder,
        lock: &WriterLock,
        previous: Option<&Previous>,
        resources: WriterResources,
    ) -> Result<Self> {
        let draft = Draft::start(folder, lock)?;
        let lexical_path = draft.path.join(LEXICAL);
        fs::create_dir(&lexical_path).map_err(files::write_error(&lexical_path))?;
        let mut store_files = Vec::new();
        if let Some(Previous { generation, .. }) = previous {
            for name in generation.manifest.files.keys() {
                let (from, to) = (generation.path.join(name), draft.path.join(name));
                if is_mutable(name) {
                    files::copy(&from, &to)?;
                } else if is_lexical(name) || generation.manifest.store_files.contains(name) {
                    // It never changes, so that a second name for it is a copy.
                    files::link_or_copy(&from, &to)?;
                }
            }
            store_files.clone_from(&generation.manifest.store_files);
        }
        let lexical = LexicalWriter::open(&lexical_path, FieldCaps::default(), resources)?;
        Ok(Self { lexical, draft, store_files, store: None })
    }

    /// Adds a text to the store and to the lexical index; returns where the store has it.
    pub(super) fn add(&mut self, slot: Slot, skill: &Skill) -> Result<FrameAddress> {
        let nodes = NodeTree::parse(&skill.body);
        let store = if let Some(store) = &mut self.store {
            store
        } else {
            let name = layout::store_name(self.draft.generation);
            let store = StoreWriter::create(self.draft.path.join(&name))?;
            self.store_files.push(name);
            self.store.insert(store)
        };
        let (offset, n_bytes) =
            store.append(&skill.name, &skill.description, &skill.body, &nodes)?;
        self.lexical.add(slot, &skill.name, &skill.description, &skill.body)?;
        let file = file_position(self.store_files.len() - 1);
        Ok(FrameAddress { file, offset, n_bytes })
    }

    /// Completes the store; rewrites it as one file when it has grown into many.
    pub(super) fn finish_store(
        &mut self,
        rows: &mut [Row],
        previous: Option<&Previous>,
    ) -> Result<()> {
        if let Some(store) = self.store.take() {
            store.finish()?;
        }
        if self.store_files.len() <= MAX_STORE_FILES {
            return Ok(());
        }
        // What was written just now is whole, so that damage came with the previous one.
        let folder = self.draft.folder().clone();
        let generation = previous.map(|p| p.generation.manifest.generation);
        let failed = |error| folder.error_of(generation, error);
        let store = Store::open(&self.draft.path, &self.store_files).map_err(failed)?;
        let name = layout::whole_store_name(self.draft.generation);
        let mut merged = StoreWriter::create(self.draft.path.join(&name))?;
        for row in rows {
            let frame = store.frame(row.address).map_err(|damage| failed(damage.into()))?;
            let (offset, n_bytes) = merged.append_frame(frame)?;
            row.address = FrameAddress { file: 0, offset, n_bytes };
        }
        merged.finish()?;
        drop(store);
        for name in &self.store_files {
            let path = self.draft.path.join(name);
            fs::remove_file(&path).map_err(files::write_error(&path))?;
        }
        self.store_files = vec![name];
        Ok(())
    }

    /// Returns what the previous generation says of the files that were taken over unchanged.
    ///
    /// Its word counts, not their present bytes: damage must not pass for what was written. Saves
    /// hashing them again, too.
    pub(super) fn inherited(&self, previous: Option<&Previous>) -> BTreeMap<String, FileIdentity> {
        let Some(Previous { generation, .. }) = previous else { return BTreeMap::new() };
        let is_inherited = |name: &String| {
            self.store_files.contains(name) || is_lexical(name) && !is_mutable(name)
        };
        let files = generation.manifest.files.iter();
        let inherited = files.filter(|(name, _)| is_inherited(name));
        inherited.map(|(name, identity)| (name.clone(), identity.clone())).collect()
    }

    /// Completes the lexical index, and returns the draft.
    pub(super) fn finish_lexical(self) -> Result<Draft> {
        self.lexical.finish()?;
        remove_lock_files(&self.draft.path.join(LEXICAL))?;
        Ok(self.draft)
    }
}

fn is_lexical(name: &str) -> bool {
    Path::new(name).starts_with(LEXICAL)
}

fn is_mutable(name: &str) -> bool {
    is_lexical(name) && MUTABLE_EXTENSIONS.iter().any(|extension| name.ends_with(extension))
}

/// Removes the lock files that tantivy leaves, which are no part of a generation.
fn remove_lock_files(path: &Path) -> Result<()> {
    for name in files::list(path)? {
        if Path::new(&name).extension().is_some_and(|extension| extension == "lock") {
            let file = path.join(name);
            fs::remove_file(&file).map_err(files::write_error(&file))?;
        }
    }
    Ok(())
}

fn file_position(position: usize) -> u16 {
    u16::try_from(position).expect("the store is tidied before it has many files")
}
