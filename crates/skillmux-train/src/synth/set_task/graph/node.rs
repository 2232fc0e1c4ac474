//! [`Node`]: what the graph knows of a skill.

use std::hash::{Hash, Hasher};

use rayon::prelude::*;
use rustc_hash::FxHasher;
use skillmux::{
    compose::SkillProfile,
    index::{Index, SkillIdx},
    skill::{Skill, SkillId},
    text::Analyzer,
};

use crate::{
    error::Result,
    split::{Fold, RankerShare, key_of_name},
    synth::{sample::MIN_SKILL_UNITS, text::units},
};

/// A skill of the graph.
pub(in super::super) struct Node {
    pub(in super::super) idx: SkillIdx,
    pub(in super::super) id: SkillId,
    /// Of its name without case and joints; no two of one set have the same.
    pub(in super::super) name_key: u64,
    /// Whether the ranker is measured with it.
    pub(in super::super) is_held_out: bool,
    /// Things that it makes and takes.
    makes: Vec<&'static str>,
    takes: Vec<&'static str>,
    /// The folder that it lies in.
    pub(super) folder: String,
    /// Hash of its name as bodies say it; `None` for a single word.
    pub(super) mention: Option<u64>,
    /// Hashes of the words joined by hyphens in its body, each once.
    pub(super) mentions: Vec<u64>,
    /// Hashes of the terms of its name and description, each once.
    pub(super) terms: Vec<u64>,
}

impl Node {
    fn of(idx: SkillIdx, skill: Skill) -> Self {
        let profile = SkillProfile::of(&skill);
        let name_key = key_of_name(&skill.name);
        let mut terms = Vec::new();
        Analyzer::new().for_each_term_of(&[&skill.name, &skill.description], &mut |_, term| {
            terms.push(hash_of(term));
        });
        sort(&mut terms);
        let mut mentions = Vec::new();
        for_each_joined(&skill.body, &mut |word| mentions.push(hash_of(word)));
        sort(&mut mentions);
        let mut mention = None;
        let name = skill.name.trim().replace(' ', "-");
        for_each_joined(&name, &mut |word| mention = Some(hash_of(word)));
        let folder = skill.id.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        Self {
            idx,
            name_key,
            is_held_out: RankerShare::of_name(name_key).fold == Fold::HeldOut,
            makes: profile.makes().collect(),
            takes: profile.takes().collect(),
            folder: folder.to_owned(),
            mention,
            mentions,
            terms,
            id: skill.id,
        }
    }

    /// Returns the first thing that this one makes and another one takes.
    pub(super) fn passes_to(&self, next: &Self) -> Option<&'static str> {
        self.makes.iter().copied().find(|thing| next.takes.contains(thing))
    }
}

/// Returns the skills that say enough and that a function keeps, in the order of the index, and the
/// number of those that say too little.
pub(super) fn read_nodes(
    index: &Index,
    keeps: &(dyn Fn(SkillIdx) -> bool + Sync),
) -> Result<(Vec<Node>, usize)> {
    let all: Vec<SkillIdx> = index.skills().filter(|idx| keeps(*idx)).collect();
    let read = |idx: &SkillIdx| -> Result<Option<Node>> {
        let skill = index.skill(*idx)?.skill;
        let n_units = units(&skill.description).len() + units(&skill.body).len();
        Ok((n_units >= MIN_SKILL_UNITS).then(|| Node::of(*idx, skill)))
    };
    let nodes = all.par_iter().map(read).collect::<Result<Vec<_>>>()?;
    let n_all = nodes.len();
    let nodes: Vec<Node> = nodes.into_iter().flatten().collect();
    let n_thin = n_all - nodes.len();
    Ok((nodes, n_thin))
}

/// Calls `f` with each run of Latin letters and digits joined by hyphens or underscores, two parts
/// at least, in lower case with hyphens: the form that names of skills have.
fn for_each_joined(text: &str, f: &mut dyn FnMut(&str)) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut name = String::new();
    for run in text.split(|c: char| !is_part(c)) {
        let run = run.trim_matches(['-', '_']);
        if run.contains(['-', '_']) {
            name.clear();
            name.extend(run.chars().map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }));
            f(&name);
        }
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}

fn sort(hashes: &mut Vec<u64>) {
    hashes.sort_unstable();
    hashes.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_two_words_are_found_in_a_text_however_they_are_joined() {
        let mut found = Vec::new();
        let text = "Use `PDF_Forms` or office:mail-merge, not docker -- or -x-.";
        for_each_joined(text, &mut |word| found.push(word.to_owned()));
        assert_eq!(found, ["pdf-forms", "mail-merge"]);
    }
}
