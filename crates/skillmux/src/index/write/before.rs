//! [`Before`]: what an index held before an update, for the account of the update.

use rustc_hash::{FxHashMap, FxHashSet};

use super::previous::Previous;
use crate::{index::table::Row, skill::ContentHash};

/// What an index held before an update, for the account of the update.
#[derive(Default)]
pub(super) struct Before {
    /// The id of each text.
    ids: FxHashMap<ContentHash, Box<str>>,
    /// Whether an update of it gives what a rebuild gives.
    can_be_built_upon: bool,
}

impl Before {
    pub(super) fn of(previous: &Previous, can_be_built_upon: bool) -> Self {
        let rows = previous
            .table
            .skills()
            .filter_map(|idx| Some((previous.table.hash(idx)?, previous.table.id(idx)?.into())));
        Self { ids: rows.collect(), can_be_built_upon }
    }

    /// Returns how many skills it held.
    pub(super) fn n_skills(&self) -> usize {
        self.ids.len()
    }

    /// Returns how many of these texts it held, as they would be indexed now, and how many texts it
    /// held that are not among these.
    pub(super) fn n_unchanged_and_removed(&self, rows: &[Row]) -> (usize, usize) {
        if !self.can_be_built_upon {
            return (0, 0);
        }
        let n_unchanged = rows.iter().filter(|row| self.ids.contains_key(&row.hash)).count();
        (n_unchanged, self.ids.len() - n_unchanged)
    }

    /// Returns how many skills it held of which neither the text nor the id is among these rows,
    /// which are sorted by id.
    pub(super) fn n_lost(&self, rows: &[Row]) -> usize {
        let texts: FxHashSet<ContentHash> = rows.iter().map(|row| row.hash).collect();
        let has_id = |id: &str| rows.binary_search_by(|row| row.id.as_str().cmp(id)).is_ok();
        self.ids.iter().filter(|(text, id)| !texts.contains(text) && !has_id(id)).count()
    }
}
