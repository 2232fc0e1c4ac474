//! Makes and keeps the vectors of an update.

use std::{path::Path, sync::Arc, thread};

use rustc_hash::FxHashMap;

use super::options::UpdateOptions;
use crate::{
    error::Result,
    index::{
        lexical::{Field, FieldCaps},
        table::{Row, Slot},
        vector_kind::VectorKind,
        vectors::{self, N_PARTS, VectorFile, VectorRow},
    },
    model::Encoder,
    skill::Skill,
};

/// Skills that a thread encodes at a time.
const N_ENCODED_AT_A_TIME: usize = 64;

/// Makes and keeps the vectors of an update.
pub(super) struct VectorBuilder {
    encoder: Arc<dyn Encoder>,
    kind: VectorKind,
    n_threads: usize,
    rows: FxHashMap<u32, VectorRow<N_PARTS>>,
    /// Skills that are not encoded yet, with the texts of their parts.
    waiting: Vec<(Slot, [String; N_PARTS])>,
}

impl VectorBuilder {
    pub(super) fn new(options: &UpdateOptions) -> Option<Self> {
        let encoder = options.encoder.clone()?;
        let n_threads = options.n_threads.max(1);
        let kind = options.vectors.unwrap_or_default();
        Some(Self { encoder, kind, n_threads, rows: FxHashMap::default(), waiting: Vec::new() })
    }

    pub(super) fn add(&mut self, slot: Slot, skill: &Skill) -> Result<()> {
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

    /// Encodes what is waiting, on all threads.
    fn encode_waiting(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let encoder = self.encoder.as_ref();
        let encode = |skills: &[(Slot, [String; N_PARTS])]| -> Result<Vec<Vec<f32>>> {
            let texts: Vec<&str> =
                skills.iter().flat_map(|(_, parts)| parts.iter().map(String::as_str)).collect();
            vectors::encode(encoder, &texts)
        };
        let share = waiting.len().div_ceil(self.n_threads).max(1);
        let encoded: Vec<Result<Vec<Vec<f32>>>> = thread::scope(|scope| {
            let shares: Vec<_> =
                waiting.chunks(share).map(|skills| scope.spawn(move || encode(skills))).collect();
            // A panic of the encoder goes on here.
            let joined = shares.into_iter().map(thread::ScopedJoinHandle::join);
            joined.map(|done| done.unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
        });
        for (skills, encoded) in waiting.chunks(share).zip(encoded) {
            for ((slot, _), parts) in skills.iter().zip(encoded?.chunks_exact(N_PARTS)) {
                let parts: &[Vec<f32>; N_PARTS] =
                    parts.try_into().expect("a chunk has this length");
                self.rows.insert(slot.0, VectorRow::of(self.kind, parts));
            }
        }
        Ok(())
    }

    /// Takes the vectors of a text over.
    pub(super) fn keep(&mut self, slot: Slot, row: VectorRow<N_PARTS>) {
        self.rows.insert(slot.0, row);
    }

    /// Writes the vectors in the order of the rows of the table.
    pub(super) fn write(mut self, folder: &Path, rows: &[Row]) -> Result<()> {
        self.encode_waiting()?;
        let vector_rows: Vec<&VectorRow<N_PARTS>> =
            rows.iter().filter_map(|row| self.rows.get(&row.slot.0)).collect();
        debug_assert_eq!(vector_rows.len(), rows.len());
        let file = VectorFile::of_parts(self.kind);
        vectors::write(folder, file, self.encoder.identity().dim, &vector_rows)
    }
}
