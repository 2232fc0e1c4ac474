//! [`TextVectors`]: the vectors of whole texts that an update takes over.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::previous::Previous;
use crate::{
    error::Result,
    index::{
        manifest::TransformerVectors,
        table::{Row, SkillIdx, Slot},
        vectors::{self, TEXTS_FILE, VectorRow},
    },
    model::EncoderIdentity,
};

/// Characters that a transformer is given of a skill: more than it reads.
const MAX_CHARS: usize = 1500;

/// Returns what a transformer reads of a skill: the name in words, the description, and the body.
pub(crate) fn whole_text(name: &str, description: &str, body: &str) -> String {
    let is_joint = |c: char| c == '-' || c == '_';
    let name: Vec<&str> = name.split(is_joint).filter(|part| !part.is_empty()).collect();
    let body = &body[..body.char_indices().nth(MAX_CHARS).map_or(body.len(), |(at, _)| at)];
    let text =
        format!("{}: {}\n{}", name.join(" ").trim(), one_spaced(description), one_spaced(body));
    text.chars().take(MAX_CHARS).collect()
}

fn one_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The vectors of whole texts that are there, by slot.
pub(super) struct TextVectors {
    transformer: EncoderIdentity,
    rows: FxHashMap<u32, VectorRow<1>>,
}

impl TextVectors {
    pub(super) fn new(transformer: EncoderIdentity) -> Self {
        Self { transformer, rows: FxHashMap::default() }
    }

    /// Takes the vector of a text over, if there is one.
    pub(super) fn keep(&mut self, slot: Slot, previous: &Previous, idx: SkillIdx) {
        if let Some(row) = previous.text_vector(idx, &self.transformer) {
            self.rows.insert(slot.0, row);
        }
    }

    /// Adds the vector of a text.
    pub(super) fn add(&mut self, slot: Slot, row: VectorRow<1>) {
        self.rows.insert(slot.0, row);
    }

    /// Writes the vectors in the order of the rows of the table; nothing if there are none.
    pub(super) fn write(&self, folder: &Path, rows: &[Row]) -> Result<Option<TransformerVectors>> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        let slots: Vec<Slot> = rows.iter().map(|row| row.slot).collect();
        self.write_slots(folder, &slots).map(Some)
    }

    /// Writes the vectors in the order of these slots.
    pub(super) fn write_slots(&self, folder: &Path, slots: &[Slot]) -> Result<TransformerVectors> {
        let missing = VectorRow::missing(self.transformer.dim);
        let found = slots.iter().map(|slot| self.rows.get(&slot.0).unwrap_or(&missing));
        let rows: Vec<&VectorRow<1>> = found.collect();
        vectors::write(folder, TEXTS_FILE, self.transformer.dim, &rows)?;
        let n_missing = rows.iter().filter(|row| row.is_missing()).count();
        Ok(TransformerVectors {
            encoder: self.transformer.clone(),
            n_missing: u32::try_from(n_missing).expect("slots are 32-bit numbers"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_text_is_the_name_in_words_the_description_and_the_body() {
        let text = whole_text("pdf_forms--v2", "Fill in\n  forms", "# Forms\n\nList  them.\n");
        assert_eq!(text, "pdf forms v2: Fill in forms\n# Forms List them.");
        assert_eq!(whole_text("a", "b", &"é".repeat(9000)).chars().count(), MAX_CHARS);
    }
}
