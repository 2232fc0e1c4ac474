//! [`Builder`]: makes the next generation of the skills that it is given.

use std::{collections::BTreeMap, fs, path::Path};

use rustc_hash::FxHashSet;

use super::{
    before::Before,
    options::{UpdateOptions, UpdateOutcome, UpdateReport},
    previous::Previous,
    texts::TextVectors,
    vectors::VectorBuilder,
};
use crate::{
    error::Result,
    index::{
        draft::{Draft, Kept},
        files,
        folder::{IndexFolder, WriterLock},
        layout::{self, LEXICAL},
        lexical::{FieldCaps, LexicalWriter, WriterResources},
        manifest::{FORMAT_VERSION, FileIdentity, IndexManifest},
        sketch::Sketch,
        store::{FrameAddress, Store, StoreWriter},
        table::{self, Origins, Row, Slot},
    },
    library::{ScanReport, ScannedSkill},
    skill::{ContentHash, NodeTree, Skill, risk::Risks},
};

/// Files of the lexical index that a commit may write again under the same name; they are small.
const MUTABLE_EXTENSIONS: [&str; 2] = [".json", ".del"];

/// More store files than this are rewritten as one.
const MAX_STORE_FILES: usize = 8;

/// The generation that an update makes.
pub(super) struct Builder {
    /// Before the draft, so that nothing writes into its folder any more when that is removed.
    lexical: LexicalWriter,
    draft: Draft,
    previous: Option<Previous>,
    /// A generation that is not built upon, and whose vectors are taken over all the same.
    vectors_of: Option<Previous>,
    store_files: Vec<String>,
    /// Opened when the first new text comes.
    store: Option<StoreWriter>,
    rows: Vec<Row>,
    vectors: Option<VectorBuilder>,
    text_vectors: Option<TextVectors>,
    kept_slots: FxHashSet<u32>,
    next_slot: u32,
}

impl Builder {
    /// Starts a draft with all files that can be taken over.
    pub(super) fn start(
        folder: &IndexFolder,
        lock: &WriterLock,
        previous: Option<Previous>,
        options: &UpdateOptions,
    ) -> Result<Self> {
        let draft = Draft::start(folder, lock)?;
        let lexical_path = draft.path.join(LEXICAL);
        fs::create_dir(&lexical_path).map_err(files::write_error(&lexical_path))?;
        let mut store_files = Vec::new();
        if let Some(Previous { generation, .. }) = &previous {
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
        let resources =
            WriterResources { n_threads: options.n_threads, memory_bytes: options.memory_bytes };
        let lexical = LexicalWriter::open(&lexical_path, FieldCaps::default(), resources)?;
        let next_slot = previous.as_ref().map_or(0, |previous| previous.table.n_slots());
        Ok(Self {
            draft,
            previous,
            vectors_of: None,
            lexical,
            store_files,
            store: None,
            rows: Vec::new(),
            vectors: VectorBuilder::new(options),
            text_vectors: options.transformer.clone().map(TextVectors::new),
            kept_slots: FxHashSet::default(),
            next_slot,
        })
    }

    /// Returns the builder, which takes the vectors of known texts over from a generation of the same
    /// encoder and kind of vectors: they take longest to make.
    pub(super) fn with_vectors_of(self, other: Previous) -> Self {
        Self { vectors_of: Some(other), ..self }
    }

    /// Returns the number of skills so far.
    pub(super) fn n_skills(&self) -> usize {
        self.rows.len()
    }

    /// Takes a skill over from the previous generation, or indexes it.
    pub(super) fn add(&mut self, scanned: ScannedSkill) -> Result<()> {
        let ScannedSkill { skill, background } = scanned;
        let hash = skill.content_hash();
        let source = skill.source.clone();
        let origins = Origins { source, background, copies: Vec::new() };
        let known = self.previous.as_ref().and_then(|previous| {
            let idx = previous.position(&hash)?;
            Some((previous, idx, previous.find(idx)?))
        });
        let row = match known {
            Some((previous, idx, (row, vector_row))) => {
                if let Some(vectors) = &mut self.text_vectors {
                    vectors.keep(row.slot, previous, idx);
                }
                self.kept_slots.insert(row.slot.0);
                if let (Some(vectors), Some(vector_row)) = (&mut self.vectors, vector_row) {
                    vectors.keep(row.slot, vector_row);
                }
                Row { id: skill.id, origins, ..row }
            }
            None => self.index(&skill, hash, origins)?,
        };
        self.rows.push(row);
        Ok(())
    }

    fn index(&mut self, skill: &Skill, hash: ContentHash, origins: Origins) -> Result<Row> {
        let slot = Slot(self.next_slot);
        self.next_slot += 1;
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
        let known = self.vectors_of.as_ref().and_then(|other| {
            let idx = other.position(&hash)?;
            Some((other, idx, other.find(idx)?.1))
        });
        if let (Some(vectors), Some((other, idx, _))) = (&mut self.text_vectors, &known) {
            vectors.keep(slot, other, *idx);
        }
        match (&mut self.vectors, known) {
            (Some(vectors), Some((_, _, Some(row)))) => vectors.keep(slot, row),
            (Some(vectors), _) => vectors.add(slot, skill)?,
            (None, _) => {}
        }
        let file = file_position(self.store_files.len() - 1);
        Ok(Row {
            id: skill.id.clone(),
            origins,
            slot,
            address: FrameAddress { file, offset, n_bytes },
            hash,
            sketch: Sketch::of(&skill.body),
            risks: Risks::of(&skill.name, &skill.description, &skill.body),
        })
    }

    /// Commits the draft, unless it says the same as the generation before; the account compares it
    /// with what the index held, whether or not that is built upon.
    pub(super) fn finish(
        mut self,
        scan: ScanReport,
        before: &Before,
        options: &UpdateOptions,
    ) -> Result<UpdateReport> {
        self.rows.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        self.note_copies(&scan);
        let (n_unchanged, n_removed) = before.n_unchanged_and_removed(&self.rows);
        let removed = self.removed_slots();
        let report = UpdateReport {
            scan,
            outcome: UpdateOutcome::Committed,
            generation: self.draft.generation,
            n_before: before.n_skills(),
            n_added: self.rows.len() - n_unchanged,
            n_removed,
            n_unchanged,
            n_lost: before.n_lost(&self.rows),
        };
        if let Some(generation) = self.unchanged_generation(&report, options) {
            let outcome = UpdateOutcome::Unchanged;
            return Ok(UpdateReport { outcome, generation, ..report });
        }
        for slot in removed {
            self.lexical.remove(slot);
        }
        if let Some(store) = self.store.take() {
            store.finish()?;
        }
        self.tidy_store()?;
        let inherited = self.inherited_files();
        let lexical_path = self.draft.path.join(LEXICAL);
        self.lexical.finish()?;
        remove_lock_files(&lexical_path)?;
        table::write(&self.draft.path, &self.rows, self.next_slot)?;
        let encoder = match self.vectors {
            Some(vectors) => {
                vectors.write(&self.draft.path, &self.rows)?;
                options.encoder.as_ref().map(|encoder| encoder.identity().clone())
            }
            None => None,
        };
        let transformer = match self.text_vectors {
            Some(vectors) => vectors.write(&self.draft.path, &self.rows)?,
            None => None,
        };
        let manifest = IndexManifest {
            format: FORMAT_VERSION,
            generation: report.generation,
            field_caps: FieldCaps::default(),
            encoder,
            vectors: options.vectors.unwrap_or_default(),
            transformer,
            n_skills: u32::try_from(self.rows.len()).expect("slots are 32-bit numbers"),
            n_slots: self.next_slot,
            sources: options.sources.clone(),
            origins: counted(self.rows.iter().map(|row| row.origins.background.origin)),
            risks: counted(self.rows.iter().flat_map(|row| row.risks.iter())),
            store_files: self.store_files,
            files: inherited,
        };
        self.draft.commit(manifest, Kept::Previous)?;
        Ok(report)
    }

    /// Adds the provenance of exact duplicates to the rows, which are sorted by id.
    fn note_copies(&mut self, scan: &ScanReport) {
        for merged in &scan.merged {
            if let Ok(at) = self.rows.binary_search_by(|row| row.id.cmp(&merged.kept)) {
                self.rows[at].origins.copies.push(merged.copy.clone());
            }
        }
    }

    fn removed_slots(&self) -> Vec<Slot> {
        let Some(previous) = &self.previous else { return Vec::new() };
        previous.slots().filter(|slot| !self.kept_slots.contains(&slot.0)).collect()
    }

    /// Returns the number of the previous generation if the new one would say the same.
    fn unchanged_generation(&self, report: &UpdateReport, options: &UpdateOptions) -> Option<u64> {
        let previous = self.previous.as_ref()?;
        let transformer = previous.generation.manifest.transformer.as_ref();
        let same = report.n_added == 0
            && report.n_removed == 0
            && previous.generation.manifest.sources == options.sources
            && transformer.is_none_or(|found| Some(&found.encoder) == options.transformer.as_ref())
            && previous.has_rows(&self.rows);
        same.then_some(previous.generation.manifest.generation)
    }

    /// Returns what the previous generation says of the files that were taken over unchanged.
    ///
    /// Its word counts, not their present bytes: damage must not pass for what was written. Saves
    /// hashing them again, too.
    fn inherited_files(&self) -> BTreeMap<String, FileIdentity> {
        let Some(Previous { generation, .. }) = &self.previous else { return BTreeMap::new() };
        let is_inherited = |name: &String| {
            self.store_files.contains(name) || is_lexical(name) && !is_mutable(name)
        };
        let files = generation.manifest.files.iter();
        let inherited = files.filter(|(name, _)| is_inherited(name));
        inherited.map(|(name, identity)| (name.clone(), identity.clone())).collect()
    }

    /// Rewrites the store as one file when it has grown into many.
    fn tidy_store(&mut self) -> Result<()> {
        if self.store_files.len() <= MAX_STORE_FILES {
            return Ok(());
        }
        // What was written just now is whole, so that damage came with the previous one.
        let folder = self.draft.folder().clone();
        let generation = self.previous.as_ref().map(|p| p.generation.manifest.generation);
        let failed = |error| folder.error_of(generation, error);
        let store = Store::open(&self.draft.path, &self.store_files).map_err(failed)?;
        let name = layout::whole_store_name(self.draft.generation);
        let mut merged = StoreWriter::create(self.draft.path.join(&name))?;
        for row in &mut self.rows {
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
}

/// Returns how often each thing is there.
fn counted<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, u32> {
    let mut counts = BTreeMap::new();
    for thing in all {
        *counts.entry(thing).or_default() += 1;
    }
    counts
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
