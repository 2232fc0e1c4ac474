//! Which skills of an index answer the queries of the data.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use skillmux::{
    index::{Index, SkillIdx},
    skill::SkillId,
};

use crate::error::Result;

/// Returns the positions of the skills of an index by all of their ids.
pub(crate) fn idx_of_ids(index: &Index) -> Result<FxHashMap<SkillId, SkillIdx>> {
    let mut idx_of = FxHashMap::default();
    for idx in index.skills() {
        idx_of.extend(index.all_ids(idx)?.into_iter().map(|id| (id, idx)));
    }
    Ok(idx_of)
}

/// Returns the skills that answer each query, as far as there are any, in the order of the queries'
/// texts.
pub(crate) fn gold_of_queries<'q>(
    queries: &'q [(String, SkillId)],
    idx_of: &FxHashMap<SkillId, SkillIdx>,
) -> BTreeMap<&'q str, Vec<SkillIdx>> {
    let mut gold_of: BTreeMap<&str, Vec<SkillIdx>> = BTreeMap::new();
    for (query, id) in queries {
        if let Some(idx) = idx_of.get(id) {
            let gold = gold_of.entry(query).or_default();
            if !gold.contains(idx) {
                gold.push(*idx);
            }
        }
    }
    gold_of
}
