//! The table of the skills of a generation, sorted by id.
//!
//! `skills.bin` is a header (`magic [8] | n_skills u32 | n_slots u32`), one row of
//! [`ROW_BYTES`] a skill, and a heap with the ids and origins that the rows point to; all
//! numbers are little-endian. A [`SkillIdx`] is the number of a row.

use std::path::Path;

use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use super::{
    damage::{Damage, PartError},
    files,
    layout::TABLE,
    sketch::{SKETCH_BYTES, Sketch},
    store::FrameAddress,
};
use crate::{
    error::Result,
    library::{Background, Provenance},
    skill::{ContentHash, SkillId, risk::Risks},
};

const MAGIC: [u8; 8] = *b"smxtabl1";
const HEADER_BYTES: usize = 16;
const ROW_BYTES: usize = 40 + 16 + SKETCH_BYTES;

/// Position of a skill in an index: its rank among the ids in byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillIdx(pub u32);

/// Number that stays with a content for as long as it is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) u32);

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) id: SkillId,
    pub(crate) origins: Origins,
    pub(crate) slot: Slot,
    pub(crate) address: FrameAddress,
    pub(crate) hash: ContentHash,
    pub(crate) sketch: Sketch,
    pub(crate) risks: Risks,
}

/// Where a skill was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origins {
    /// [`Skill::source`](crate::skill::Skill::source) of the skill that was kept.
    pub(crate) source: String,
    #[serde(flatten)]
    pub(crate) background: Background,
    /// Exact duplicates that were merged into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) copies: Vec<Provenance>,
}

/// Writes the table of the generation in `folder`; the rows must be sorted by id.
pub(crate) fn write(folder: &Path, rows: &[Row], n_slots: u32) -> Result<()> {
    debug_assert!(rows.is_sorted_by(|a, b| a.id < b.id));
    let mut table = Vec::with_capacity(HEADER_BYTES + rows.len() * (ROW_BYTES + 128));
    table.extend_from_slice(&MAGIC);
    table.extend_from_slice(&narrow(rows.len()).to_le_bytes());
    table.extend_from_slice(&n_slots.to_le_bytes());
    let mut heap = Vec::with_capacity(rows.len() * 128);
    for row in rows {
        let origins = serde_json::to_vec(&row.origins).expect("strings always serialise");
        table.extend_from_slice(&(heap.len() as u64).to_le_bytes());
        table.extend_from_slice(&narrow(row.id.as_str().len()).to_le_bytes());
        table.extend_from_slice(&narrow(origins.len()).to_le_bytes());
        table.extend_from_slice(&row.slot.0.to_le_bytes());
        table.extend_from_slice(&u32::from(row.address.file).to_le_bytes());
        table.extend_from_slice(&row.address.offset.to_le_bytes());
        table.extend_from_slice(&row.address.n_bytes.to_le_bytes());
        table.extend_from_slice(&row.risks.to_bits().to_le_bytes());
        table.extend_from_slice(row.hash.as_bytes());
        table.extend_from_slice(&row.sketch.to_bytes());
        heap.extend_from_slice(row.id.as_str().as_bytes());
        heap.extend_from_slice(&origins);
    }
    table.extend_from_slice(&heap);
    files::replace(&folder.join(TABLE), &table)
}

/// Reads the table of a generation.
pub(crate) struct SkillTable {
    bytes: Mmap,
    n_skills: u32,
    n_slots: u32,
}

impl SkillTable {
    /// Maps the table of the generation in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, PartError> {
        let bytes = files::map(folder, TABLE)?;
        let number = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
        };
        let (Some(n_skills), Some(n_slots)) = (number(8), number(12)) else {
            return Err(Damage::new(TABLE, "has no header").into());
        };
        if bytes[..8] != MAGIC || bytes.len() < HEADER_BYTES + n_skills as usize * ROW_BYTES {
            return Err(Damage::new(TABLE, "is cut short").into());
        }
        Ok(Self { bytes, n_skills, n_slots })
    }

    pub(crate) fn n_skills(&self) -> u32 {
        self.n_skills
    }

    pub(crate) fn skills(&self) -> impl DoubleEndedIterator<Item = SkillIdx> + use<> {
        (0..self.n_skills).map(SkillIdx)
    }

    pub(crate) fn n_slots(&self) -> u32 {
        self.n_slots
    }

    /// Returns that a row is damaged, or out of range.
    pub(crate) fn bad_row(idx: SkillIdx) -> Damage {
        Damage::new(TABLE, format!("does not decode at row {}", idx.0))
    }

    /// Returns the whole row, or `None` if it is damaged or out of range.
    pub(crate) fn row(&self, idx: SkillIdx) -> Option<Row> {
        let (id, origins) = self.heap_of(idx)?;
        let row = self.raw(idx)?;
        Some(Row {
            id: SkillId::new(std::str::from_utf8(id).ok()?),
            origins: serde_json::from_slice(origins).ok()?,
            slot: Slot(u32_at(row, 16)?),
            address: self.address(idx)?,
            hash: self.hash(idx)?,
            sketch: self.sketch(idx)?,
            risks: self.risks(idx)?,
        })
    }

    /// Returns where the texts of a skill lie.
    pub(crate) fn address(&self, idx: SkillIdx) -> Option<FrameAddress> {
        let row = self.raw(idx)?;
        Some(FrameAddress {
            file: u16::try_from(u32_at(row, 20)?).ok()?,
            offset: u64_at(row, 24)?,
            n_bytes: u32_at(row, 32)?,
        })
    }

    /// Returns the slot of a skill.
    pub(crate) fn slot(&self, idx: SkillIdx) -> Option<Slot> {
        u32_at(self.raw(idx)?, 16).map(Slot)
    }

    /// Returns the hash of a skill's content.
    pub(crate) fn hash(&self, idx: SkillIdx) -> Option<ContentHash> {
        Some(ContentHash::from_bytes(self.raw(idx)?.get(40..56)?.try_into().ok()?))
    }

    /// Returns what speaks against a skill.
    pub(crate) fn risks(&self, idx: SkillIdx) -> Option<Risks> {
        u32_at(self.raw(idx)?, 36).map(Risks::from_bits)
    }

    /// Returns where a skill was found.
    pub(crate) fn origins(&self, idx: SkillIdx) -> Option<Origins> {
        serde_json::from_slice(self.heap_of(idx)?.1).ok()
    }

    /// Returns the id of a skill.
    pub(crate) fn id(&self, idx: SkillIdx) -> Option<&str> {
        std::str::from_utf8(self.heap_of(idx)?.0).ok()
    }

    /// Returns the sketch of a skill's body.
    pub(crate) fn sketch(&self, idx: SkillIdx) -> Option<Sketch> {
        Some(Sketch::from_bytes(self.raw(idx)?.get(56..ROW_BYTES)?.try_into().ok()?))
    }

    /// Returns the position of a skill, or else where it would be, in `O(log n)`.
    pub(crate) fn search(&self, id: &str) -> Result<Result<SkillIdx, SkillIdx>, Damage> {
        let (mut low, mut high) = (0, self.n_skills);
        while low < high {
            let middle = SkillIdx(low.midpoint(high));
            match self.id(middle).ok_or_else(|| Self::bad_row(middle))?.cmp(id) {
                std::cmp::Ordering::Less => low = middle.0 + 1,
                std::cmp::Ordering::Greater => high = middle.0,
                std::cmp::Ordering::Equal => return Ok(Ok(middle)),
            }
        }
        Ok(Err(SkillIdx(low)))
    }

    /// Returns the ids and origins of a row.
    fn heap_of(&self, idx: SkillIdx) -> Option<(&[u8], &[u8])> {
        let row = self.raw(idx)?;
        let heap = &self.bytes[HEADER_BYTES + self.n_skills as usize * ROW_BYTES..];
        let start = usize::try_from(u64_at(row, 0)?).ok()?;
        let id_end = start.checked_add(u32_at(row, 8)? as usize)?;
        let end = id_end.checked_add(u32_at(row, 12)? as usize)?;
        Some((heap.get(start..id_end)?, heap.get(id_end..end)?))
    }

    fn raw(&self, idx: SkillIdx) -> Option<&[u8]> {
        if idx.0 >= self.n_skills {
            return None;
        }
        let start = HEADER_BYTES + idx.0 as usize * ROW_BYTES;
        self.bytes.get(start..start + ROW_BYTES)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).expect("a library has fewer than 2^32 skills, with ids far below 4 GiB")
}
