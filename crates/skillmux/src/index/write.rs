//! Brings an index up to date with a library, in one atomic commit.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Index, files,
    folder::{Draft, Generation, IndexFolder, WriterLock},
    lexical::{Field, FieldCaps, LexicalWriter, WriterResources},
    manifest::{FORMAT_VERSION, FileIdentity, IndexManifest},
    sketch::Sketch,
    store::{FrameAddress, Store, StoreWriter},
    table::{self, Origins, Row, SkillIdx, SkillTable, Slot},
    vectors::{self, Part, Quantised, VectorRow, Vectors},
};
use crate::skill::NodeTree;
use crate::{
    error::{Error, Result},
    library::{Library, ScanReport},
    model::Encoder,
    skill::{ContentHash, Skill},
};

pub(super) const TABLE: &str = "skills.bin";
pub(super) const LEXICAL: &str = "lexical";
const VECTORS: &str = "vectors.bin";

/// Files of the lexical index that a commit may write again under the same name.
const MUTABLE_EXTENSIONS: [&str; 2] = [".json", ".del"];

/// Skills that a thread encodes at a time.
const N_ENCODED_AT_A_TIME: usize = 64;

/// More store files than this are rewritten as one.
const MAX_STORE_FILES: usize = 8;

/// An index with more freed slots than this times its skills is rebuilt from scratch.
const MAX_SLOTS_PER_SKILL: u64 = 4;

/// What to do with the generation that is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateMode {
    /// Keep what has not changed; the result equals a full rebuild.
    #[default]
    Incremental,
    /// Read nothing of it; also replaces an index of another format.
    Rebuild,
}

/// How an index is updated.
#[derive(Debug, Clone)]
pub struct UpdateOptions {
    /// What to do with the generation that is there.
    pub mode: UpdateMode,
    /// Names of the sources, for the manifest.
    pub sources: Vec<String>,
    /// Threads that index text, beside the one that reads it.
    pub n_threads: usize,
    /// Memory for postings before they are written out, in bytes, over all threads.
    pub memory_bytes: usize,
    /// Makes the vectors of skills; without one the index holds none. An index of another encoder
    /// is made anew.
    pub encoder: Option<Arc<dyn Encoder>>,
}

impl Default for UpdateOptions {
    fn default() -> Self {
        Self {
            mode: UpdateMode::default(),
            sources: Vec::new(),
            n_threads: 2,
            memory_bytes: 400 << 20,
            encoder: None,
        }
    }
}

/// How far an update is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// So many distinct skills were read.
    Read {
        /// Skills read so far.
        n_skills: usize,
    },
    /// Everything was read; the generation is being merged and made durable.
    Commit,
}

/// Whether an update made a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateOutcome {
    /// A new generation was committed.
    Committed,
    /// The current generation says the same as the new one would, and stays.
    Unchanged,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateReport {
    /// What the sources held.
    pub scan: ScanReport,
    /// Whether the generation is new.
    pub outcome: UpdateOutcome,
    /// The current generation.
    pub generation: u64,
    /// Skills whose text was not in the index before.
    pub n_added: usize,
    /// Skills whose text is no longer in the index.
    pub n_removed: usize,
    /// Skills taken over from the previous generation.
    pub n_unchanged: usize,
}

impl Index {
    /// Makes the index at `path` hold exactly the skills of a library.
    ///
    /// The new generation becomes visible in one step, or not at all; readers are never blocked.
    /// If nothing changed, the current generation stays.
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
        let lock = folder.lock()?;
        let previous = match options.mode {
            UpdateMode::Incremental => Previous::open(&folder)?,
            UpdateMode::Rebuild => None,
        };
        let previous = previous.filter(|previous| previous.can_be_built_upon(options));
        let mut builder = Builder::start(&folder, &lock, previous, options)?;
        let scan = library.scan(&mut |skill| {
            builder.add(&skill)?;
            progress(Progress::Read { n_skills: builder.rows.len() });
            Ok(())
        })?;
        if builder.rows.is_empty() {
            return Err(Error::LibraryEmpty {
                n_sources: library.sources().len(),
                report: Box::new(scan),
            });
        }
        progress(Progress::Commit);
        builder.finish(scan, options)
    }
}

/// Maps the table of a generation; `Err(detail)` inside says what is wrong with it.
///
/// A table too large to be hashed when it is opened could claim any counts; what is allocated for
/// them is bounded by those of the manifest, which is always hashed.
pub(super) fn open_table(generation: &Generation) -> Result<Result<SkillTable, String>> {
    let table = match SkillTable::open(&generation.path.join(TABLE))? {
        Ok(table) => table,
        Err(detail) => return Ok(Err(detail)),
    };
    let found = (table.n_skills(), table.n_slots());
    let IndexManifest { n_skills, n_slots, .. } = generation.manifest;
    if found != (n_skills, n_slots) {
        return Ok(Err(format!(
            "{TABLE} has {} skills and {} slots, but the manifest {n_skills} and {n_slots}",
            found.0, found.1
        )));
    }
    Ok(Ok(table))
}

/// Maps the vectors of a generation, if it has any; `Err(detail)` inside says what is wrong.
pub(super) fn open_vectors(generation: &Generation) -> Result<Result<Option<Vectors>, String>> {
    let IndexManifest { n_skills, encoder, .. } = &generation.manifest;
    let Some(encoder) = encoder else { return Ok(Ok(None)) };
    let vectors = Vectors::open(&generation.path.join(VECTORS), *n_skills, encoder.dim)?;
    Ok(vectors.map(Some))
}

/// The generation that an update builds upon.
struct Previous {
    generation: Generation,
    table: SkillTable,
    vectors: Option<Vectors>,
    by_hash: FxHashMap<ContentHash, SkillIdx>,
}

impl Previous {
    fn open(folder: &IndexFolder) -> Result<Option<Self>> {
        if folder.current()?.is_none() {
            return Ok(None);
        }
        let opened = folder.open_current(|generation| {
            if let Err(detail) = generation.check() {
                return Ok(Err(detail));
            }
            let table = match open_table(generation)? {
                Ok(table) => table,
                Err(detail) => return Ok(Err(detail)),
            };
            let vectors = match open_vectors(generation)? {
                Ok(vectors) => vectors,
                Err(detail) => return Ok(Err(detail)),
            };
            let mut by_hash = FxHashMap::default();
            for idx in (0..table.n_skills()).map(SkillIdx) {
                let Some(hash) = table.hash(idx) else {
                    return Ok(Err(format!("row {} of {TABLE} does not decode", idx.0)));
                };
                by_hash.insert(hash, idx);
            }
            Ok(Ok(Self { generation: generation.clone(), table, vectors, by_hash }))
        });
        opened.map(Some)
    }

    /// Returns whether an update of it gives what a rebuild gives, and is not too large.
    fn can_be_built_upon(&self, options: &UpdateOptions) -> bool {
        let IndexManifest { field_caps, encoder, .. } = &self.generation.manifest;
        let given = options.encoder.as_ref().map(|encoder| encoder.identity());
        // Texts that were indexed under other caps, or encoded otherwise, would stay as they are.
        !self.is_worn_out() && *field_caps == FieldCaps::default() && encoder.as_ref() == given
    }

    fn is_worn_out(&self) -> bool {
        let allowed = u64::from(self.table.n_skills()) * MAX_SLOTS_PER_SKILL + 1000;
        u64::from(self.table.n_slots()) > allowed
    }
}

struct Builder {
    /// Before the draft, so that nothing writes into its folder any more when that is removed.
    lexical: LexicalWriter,
    draft: Draft,
    previous: Option<Previous>,
    store_files: Vec<String>,
    /// Opened when the first new text comes.
    store: Option<StoreWriter>,
    rows: Vec<Row>,
    vectors: Option<VectorBuilder>,
    kept_slots: FxHashSet<u32>,
    next_slot: u32,
}

impl Builder {
    fn start(
        folder: &IndexFolder,
        lock: &WriterLock,
        previous: Option<Previous>,
        options: &UpdateOptions,
    ) -> Result<Self> {
        let draft = folder.draft(lock)?;
        let lexical_path = draft.path.join(LEXICAL);
        fs::create_dir(&lexical_path).map_err(files::write_error(&lexical_path))?;
        let mut store_files = Vec::new();
        if let Some(Previous { generation, .. }) = &previous {
            // Files of a generation never change, so that a second name for them is a copy. The
            // two that tantivy replaces are small, and replaced by renaming.
            for name in generation.manifest.files.keys() {
                let is_store = generation.manifest.store_files.contains(name);
                if is_store || name.starts_with(LEXICAL) {
                    files::link_or_copy(&generation.path.join(name), &draft.path.join(name))?;
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
            lexical,
            store_files,
            store: None,
            rows: Vec::new(),
            vectors: VectorBuilder::new(options),
            kept_slots: FxHashSet::default(),
            next_slot,
        })
    }

    /// Takes a skill over from the previous generation, or indexes it.
    fn add(&mut self, skill: &Skill) -> Result<()> {
        let hash = skill.content_hash();
        let origins = Origins { source: skill.source.clone(), copies: Vec::new() };
        let known = self.previous.as_ref().and_then(|previous| {
            let idx = previous.by_hash.get(&hash)?;
            let vector_row = match &previous.vectors {
                Some(vectors) => Some(vectors.row(*idx)?),
                None => None,
            };
            Some((previous.table.row(*idx)?, vector_row))
        });
        let row = match known {
            Some((row, vector_row)) => {
                self.kept_slots.insert(row.slot.0);
                if let (Some(vectors), Some(vector_row)) = (&mut self.vectors, vector_row) {
                    vectors.rows.insert(row.slot.0, vector_row);
                }
                Row { id: skill.id.clone(), origins, ..row }
            }
            None => self.index(skill, hash, origins)?,
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
            let name = format!("store-{:06}.bin", self.draft.generation);
            let store = StoreWriter::create(self.draft.path.join(&name))?;
            self.store_files.push(name);
            self.store.insert(store)
        };
        let (offset, n_bytes) =
            store.append(&skill.name, &skill.description, &skill.body, &nodes)?;
        self.lexical.add(slot, &skill.name, &skill.description, &skill.body)?;
        if let Some(vectors) = &mut self.vectors {
            vectors.add(slot, skill)?;
        }
        let file = file_position(self.store_files.len() - 1);
        Ok(Row {
            id: skill.id.clone(),
            origins,
            slot,
            address: FrameAddress { file, offset, n_bytes },
            hash,
            sketch: Sketch::of(&skill.body),
        })
    }

    fn finish(mut self, scan: ScanReport, options: &UpdateOptions) -> Result<UpdateReport> {
        self.rows.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        self.note_copies(&scan);
        let n_unchanged = self.kept_slots.len();
        let n_added = self.rows.len() - n_unchanged;
        let removed = self.removed_slots();
        let report = UpdateReport {
            scan,
            outcome: UpdateOutcome::Committed,
            generation: self.draft.generation,
            n_added,
            n_removed: removed.len(),
            n_unchanged,
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
        table::write(&self.draft.path.join(TABLE), &self.rows, self.next_slot)?;
        let encoder = match self.vectors {
            Some(vectors) => {
                vectors.write(&self.draft.path.join(VECTORS), &self.rows)?;
                options.encoder.as_ref().map(|encoder| encoder.identity().clone())
            }
            None => None,
        };
        self.draft.commit(IndexManifest {
            format: FORMAT_VERSION,
            generation: report.generation,
            field_caps: FieldCaps::default(),
            encoder,
            n_skills: u32::try_from(self.rows.len()).expect("slots are 32-bit numbers"),
            n_slots: self.next_slot,
            sources: options.sources.clone(),
            store_files: self.store_files,
            files: inherited,
        })?;
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
        (0..previous.table.n_skills())
            .filter_map(|idx| previous.table.slot(SkillIdx(idx)))
            .filter(|slot| !self.kept_slots.contains(&slot.0))
            .collect()
    }

    /// Returns the number of the previous generation if the new one would say the same.
    fn unchanged_generation(&self, report: &UpdateReport, options: &UpdateOptions) -> Option<u64> {
        let previous = self.previous.as_ref()?;
        let same = report.n_added == 0
            && report.n_removed == 0
            && previous.generation.manifest.sources == options.sources
            && (0..)
                .map(SkillIdx)
                .zip(&self.rows)
                .all(|(idx, row)| previous.table.row(idx).is_some_and(|old| old == *row));
        same.then_some(previous.generation.manifest.generation)
    }

    /// Returns what the previous generation says of the files that were taken over unchanged.
    ///
    /// Its word counts, not their present bytes: damage must not pass for what was written. Saves
    /// hashing them again, too.
    fn inherited_files(&self) -> BTreeMap<String, FileIdentity> {
        let Some(Previous { generation, .. }) = &self.previous else { return BTreeMap::new() };
        let is_inherited = |name: &String| {
            self.store_files.contains(name)
                || name.starts_with(LEXICAL)
                    && !MUTABLE_EXTENSIONS.iter().any(|extension| name.ends_with(extension))
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
        let paths: Vec<PathBuf> =
            self.store_files.iter().map(|name| self.draft.path.join(name)).collect();
        let store = Store::open(&paths)?;
        let name = format!("store-{:06}-all.bin", self.draft.generation);
        let mut merged = StoreWriter::create(self.draft.path.join(&name))?;
        for row in &mut self.rows {
            // What was written just now is whole, so that the damage came with the previous one.
            let generation = self.previous.as_ref().map(|p| p.generation.manifest.generation);
            let frame = store
                .frame(row.address)
                .map_err(|detail| self.draft.folder().corrupt(generation, detail))?;
            let (offset, n_bytes) = merged.append_frame(frame)?;
            row.address = FrameAddress { file: 0, offset, n_bytes };
        }
        merged.finish()?;
        drop(store);
        for path in paths {
            fs::remove_file(&path).map_err(files::write_error(&path))?;
        }
        self.store_files = vec![name];
        Ok(())
    }
}

/// Makes and keeps the vectors of an update.
struct VectorBuilder {
    encoder: Arc<dyn Encoder>,
    n_threads: usize,
    rows: FxHashMap<u32, VectorRow>,
    /// Skills that are not encoded yet, with the texts of their parts.
    waiting: Vec<(Slot, [String; Part::ALL.len()])>,
}

impl VectorBuilder {
    fn new(options: &UpdateOptions) -> Option<Self> {
        let encoder = options.encoder.clone()?;
        let n_threads = options.n_threads.max(1);
        Some(Self { encoder, n_threads, rows: FxHashMap::default(), waiting: Vec::new() })
    }

    fn add(&mut self, slot: Slot, skill: &Skill) -> Result<()> {
        let caps = FieldCaps::default();
        let name = caps.capped(Field::Name, &skill.name);
        let description = caps.capped(Field::Description, &skill.description);
        let body = caps.capped(Field::Body, &skill.body);
        self.waiting.push((slot, [format!("{name}\n{description}"), body.to_owned()]));
        if self.waiting.len() >= self.n_threads * N_ENCODED_AT_A_TIME {
            self.encode_waiting()?;
        }
        Ok(())
    }

    fn encode_waiting(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let encoder = self.encoder.as_ref();
        let encode = |skills: &[(Slot, [String; Part::ALL.len()])]| -> Result<Vec<Quantised>> {
            let texts: Vec<&str> =
                skills.iter().flat_map(|(_, parts)| parts.iter().map(String::as_str)).collect();
            vectors::encode(encoder, &texts)
        };
        let share = waiting.len().div_ceil(self.n_threads).max(1);
        let encoded: Vec<Result<Vec<Quantised>>> = thread::scope(|scope| {
            let shares: Vec<_> =
                waiting.chunks(share).map(|skills| scope.spawn(move || encode(skills))).collect();
            // A panic of the encoder goes on here.
            let joined = shares.into_iter().map(thread::ScopedJoinHandle::join);
            joined.map(|done| done.unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
        });
        for (skills, encoded) in waiting.chunks(share).zip(encoded) {
            for ((slot, _), parts) in skills.iter().zip(encoded?.chunks_exact(Part::ALL.len())) {
                let parts: &[Quantised; Part::ALL.len()] =
                    parts.try_into().expect("a chunk has this length");
                self.rows.insert(slot.0, VectorRow::of(parts));
            }
        }
        Ok(())
    }

    /// Writes the vectors in the order of the rows of the table.
    fn write(mut self, path: &Path, rows: &[Row]) -> Result<()> {
        self.encode_waiting()?;
        let vector_rows: Vec<&VectorRow> =
            rows.iter().filter_map(|row| self.rows.get(&row.slot.0)).collect();
        debug_assert_eq!(vector_rows.len(), rows.len());
        vectors::write(path, self.encoder.identity().dim, &vector_rows)
    }
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
