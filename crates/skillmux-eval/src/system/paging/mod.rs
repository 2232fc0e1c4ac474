//! Pages the skill of a task, as `IntraSkill-Bench` asks (`SkillPager` §4): our pager and the
//! baselines of its §4.3.
//!
//! All methods get the same budget of tokens, where the paper counts nodes, but for the full
//! document. Where it has embeddings, these have TF-IDF vectors over the terms of the index.

pub(super) mod budget;
mod chunk;
mod graph;
pub(super) mod method;
mod selection;
pub(super) mod spans;
pub(super) mod system;
mod vector;

#[cfg(test)]
mod tests;
