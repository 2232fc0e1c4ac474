//! Near-duplicate clusters: copies and forks of one skill, so that finding any of them counts.
//!
//! ```
//! use skillmux_eval::{Gold, answer::Answer, cluster::Clusters};
//!
//! let clusters = Clusters::of([vec!["anna/pdf".to_owned(), "mirror/anna-pdf".to_owned()]]);
//! let gold: Gold = ["anna/pdf"].into_iter().collect();
//! let answer = Answer::of_ranking([("mirror/anna-pdf".to_owned(), 2.0), ("x/pdf".to_owned(), 1.0)]);
//!
//! let credited = clusters.credit(&answer, &gold);
//! assert_eq!(credited.ranked().iter().map(|skill| &*skill.skill_id).collect::<Vec<_>>(), ["anna/pdf", "x/pdf"]);
//! ```

mod fingerprint;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use skillmux::index::{Index, SkillIdx};

use self::fingerprint::Fingerprint;
use crate::{
    answer::Answer,
    error::Error,
    fault::{Fault, Place},
    file,
    task::Gold,
};

/// Version of the file.
const FORMAT: u32 = 1;

/// Skills of one name, or one description, that are all compared with each other; of more, each is
/// compared with those that follow it in the order of their fingerprints.
const MAX_BLOCK: usize = if cfg!(test) { 200 } else { 2_000 };
const N_NEIGHBORS: usize = 50;

/// A description of fewer different words is a placeholder, and says nothing about the skill.
const MIN_DESCRIPTION_WORDS: usize = 8;

/// How alike the bodies of two skills must be: the estimated share of four-word sequences that they
/// have in common.
///
/// Alike bodies alone do not make a copy: whole families of skills are written from one template,
/// with 95 % of the body in common, for different things. `docs/datasets.md` says how the defaults
/// were found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusterThresholds {
    /// For skills of the same name; letter case, blanks and punctuation aside.
    pub same_name: f32,
    /// For skills of the same description whose names have a word in common.
    pub same_description: f32,
}

impl Default for ClusterThresholds {
    fn default() -> Self {
        Self { same_name: 0.4, same_description: 0.8 }
    }
}

/// Groups of skills that are copies or forks of one another.
///
/// Every member is a near-duplicate of the first one, so that a chain of small changes does not
/// join skills that differ.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clusters {
    thresholds: ClusterThresholds,
    n_skills: usize,
    /// The skill that all others are like, then the others by id.
    members: Vec<Vec<String>>,
    position: FxHashMap<String, usize>,
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    #[serde(flatten)]
    thresholds: ClusterThresholds,
    n_skills: usize,
}

impl Clusters {
    /// Returns clusters of the given members; an id that recurs stays where it was first.
    pub fn of(members: impl IntoIterator<Item = Vec<String>>) -> Self {
        let mut clusters = Self::default();
        for members in members {
            let at = clusters.members.len();
            for id in &members {
                clusters.position.entry(id.clone()).or_insert(at);
            }
            clusters.members.push(members);
        }
        clusters
    }

    /// Returns the near-duplicates in an index: the same for the same index and thresholds.
    ///
    /// Exact duplicates, of which the index keeps one, are members too. `on_read` is called with
    /// the number of skills read so far, from any thread.
    ///
    /// # Errors
    /// That of the index if it is corrupt.
    pub fn build(
        index: &Index,
        thresholds: ClusterThresholds,
        on_read: &(dyn Fn(usize) + Sync),
    ) -> Result<Self, Error> {
        let skills: Vec<SkillIdx> = index.skills().collect();
        let n_read = AtomicUsize::new(0);
        let mut entries = skills
            .into_par_iter()
            .map(|idx| {
                let entry = Entry::read(index, idx)?;
                on_read(n_read.fetch_add(1, Ordering::Relaxed) + 1);
                Ok(entry)
            })
            .collect::<Result<Vec<Entry>, Error>>()?;
        // The order of an index depends on its history.
        entries.par_sort_unstable_by(|a, b| a.ids.cmp(&b.ids));
        let mut clusters = Self::of(members(&entries, thresholds));
        clusters.thresholds = thresholds;
        clusters.n_skills = entries.len();
        Ok(clusters)
    }

    /// Returns the thresholds that the clusters were made with.
    pub fn thresholds(&self) -> ClusterThresholds {
        self.thresholds
    }

    /// Returns the number of skills that were compared.
    pub fn n_skills(&self) -> usize {
        self.n_skills
    }

    /// Returns the clusters: two ids or more each.
    pub fn iter(&self) -> impl Iterator<Item = &[String]> {
        self.members.iter().map(Vec::as_slice)
    }

    /// Returns the ids of a skill's cluster, its own among them; none if it is like no other.
    pub(crate) fn members(&self, skill_id: &str) -> &[String] {
        self.position.get(skill_id).map_or(&[], |at| &self.members[*at])
    }

    /// Returns the ids together with those of their clusters, but for right ones: what to drop from
    /// a ranking where [`Task::ignored`](crate::task::Task::ignored) is dropped with all copies.
    pub fn with_copies(&self, ids: &BTreeSet<String>, gold: &Gold) -> BTreeSet<String> {
        let copies = ids.iter().flat_map(|id| self.members(id));
        copies.chain(ids).filter(|id| !gold.contains(id)).cloned().collect()
    }

    /// Returns the answer with a skill of a gold skill's cluster counted as that gold skill.
    ///
    /// Rank by rank, a gold skill that was not yet counted stays. Another skill whose cluster has a
    /// gold skill that was not yet counted becomes it: of several, the one of the highest grade,
    /// and then the first by id. All other skills stay, further copies too: each takes its rank,
    /// and helps no more. So does a gold skill whose copy was counted for it; it becomes an id of
    /// its own that no skill has. The ranking, the loaded skills, and the ranking of each step are
    /// gone through separately; pages stay as they are.
    #[must_use]
    pub fn credit(&self, answer: &Answer, gold: &Gold) -> Answer {
        let mut wanted: BTreeMap<usize, Vec<(Reverse<u32>, &str)>> = BTreeMap::new();
        for (id, grade) in gold.iter() {
            if let Some(at) = self.position.get(id) {
                wanted.entry(*at).or_default().push((Reverse(grade), id));
            }
        }
        for golds in wanted.values_mut() {
            golds.sort_unstable();
        }
        let mut answer = answer.clone();
        let ranked = answer.ranking.iter_mut().flatten();
        self.credit_ids(ranked.map(|skill| &mut skill.skill_id), gold, &wanted);
        self.credit_ids(answer.loaded.iter_mut().flatten(), gold, &wanted);
        for step in &mut answer.steps {
            self.credit_ids(step.ranking.iter_mut(), gold, &wanted);
        }
        answer
    }

    fn credit_ids<'a>(
        &self,
        ids: impl Iterator<Item = &'a mut String>,
        gold: &Gold,
        wanted: &BTreeMap<usize, Vec<(Reverse<u32>, &str)>>,
    ) {
        let mut credited: BTreeSet<&str> = BTreeSet::new();
        for (rank, id) in (1_usize..).zip(ids) {
            let own = gold.iter().map(|(gold_id, _)| gold_id).find(|gold_id| gold_id == id);
            if own.is_some_and(|own| credited.insert(own)) {
                continue;
            }
            let golds = self.position.get(id.as_str()).and_then(|at| wanted.get(at));
            let mut golds = golds.into_iter().flatten().map(|(_, gold_id)| *gold_id);
            match golds.find(|gold_id| !credited.contains(gold_id)) {
                Some(gold_id) => {
                    credited.insert(gold_id);
                    gold_id.clone_into(id);
                }
                // Ids hold no control characters: this is none, and no other one of the answer.
                None if own.is_some() => *id = format!("\0{rank}"),
                None => {}
            }
        }
    }

    /// Returns the clusters as JSON Lines: what they were made with, then one list of ids a
    /// cluster.
    fn to_json_lines(&self) -> String {
        let Self { thresholds, n_skills, members, .. } = self;
        let head = Head { format: FORMAT, thresholds: *thresholds, n_skills: *n_skills };
        let mut text = serde_json::to_string(&head).expect("a head has string keys only");
        text.push('\n');
        for members in members {
            text.push_str(&serde_json::to_string(members).expect("a list of texts is JSON"));
            text.push('\n');
        }
        text
    }

    /// Writes the clusters to a file; one whose name ends in `.zst` is packed.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        /// Slow to write, small to keep: the file is committed.
        const LEVEL: i32 = 19;
        let failed = |source| Error::Write { path: path.to_owned(), source };
        let text = self.to_json_lines();
        let is_packed = path.extension().is_some_and(|ending| ending == "zst");
        let bytes = if is_packed {
            zstd::encode_all(text.as_bytes(), LEVEL).map_err(failed)?
        } else {
            text.into_bytes()
        };
        fs::write(path, bytes).map_err(failed)
    }

    /// Reads clusters from a file of [`Clusters::write`].
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Json`] and [`Error::Malformed`] name the file and the line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut head: Option<Head> = None;
        let mut members: Vec<Vec<String>> = Vec::new();
        let mut seen = BTreeSet::new();
        file::for_each_line(path, &mut |line, text| {
            let fault = |fault| Error::Malformed {
                place: Place::Line { path: path.to_owned(), line },
                fault,
            };
            if head.is_none() {
                let found: Head = file::parse_line(path, line, text)?;
                if found.format != FORMAT {
                    return Err(fault(Fault::FieldKind { field: "format", expected: "1" }));
                }
                head = Some(found);
                return Ok(true);
            }
            let ids: Vec<String> = file::parse_line(path, line, text)?;
            if let Some(id) = ids.iter().find(|id| !seen.insert((*id).clone())) {
                return Err(fault(Fault::SkillRepeated { id: id.clone() }));
            }
            members.push(ids);
            Ok(true)
        })?;
        let mut clusters = Self::of(members);
        let head = head.ok_or_else(|| Error::Malformed {
            place: Place::File { path: path.to_owned() },
            fault: Fault::FieldMissing { field: "format" },
        })?;
        clusters.thresholds = head.thresholds;
        clusters.n_skills = head.n_skills;
        Ok(clusters)
    }
}

/// What is compared of a skill.
struct Entry {
    /// Its id, and those of its exact duplicates.
    ids: Vec<String>,
    /// The letters and digits of the name, lower-cased.
    name: String,
    /// Words of the name that say something.
    name_words: BTreeSet<String>,
    /// The words of the description; empty if it has too few.
    description: String,
    body: Fingerprint,
}

impl Entry {
    fn read(index: &Index, idx: SkillIdx) -> Result<Self, Error> {
        let found = index.skill(idx)?;
        let skill = found.skill;
        let copies = found.copies.into_iter().map(|copy| copy.id);
        let ids = std::iter::once(skill.id).chain(copies).map(|id| id.as_str().to_owned());
        let description = words(&skill.description);
        let n_different = description.iter().collect::<BTreeSet<_>>().len();
        let name_words = words(&skill.name);
        Ok(Self {
            ids: ids.collect(),
            name: name_words.concat(),
            name_words: name_words
                .into_iter()
                .filter(|word| word.chars().count() > 2 || !word.is_ascii())
                .collect(),
            description: if n_different < MIN_DESCRIPTION_WORDS {
                String::new()
            } else {
                description.join(" ")
            },
            body: Fingerprint::of(&skill.body),
        })
    }

    /// Returns whether two skills are copies or forks of one another.
    fn is_like(&self, other: &Self, thresholds: ClusterThresholds) -> bool {
        let ClusterThresholds { same_name, same_description } = thresholds;
        let min_similarity = if self.name == other.name {
            same_name
        } else if self.description == other.description
            && !self.name_words.is_disjoint(&other.name_words)
        {
            same_description
        } else {
            return false;
        };
        self.body.similarity(&other.body) >= min_similarity
    }
}

/// Returns the words of a text, lower-cased; each letter of a script without blanks is one.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        // Han, kana and Hangul, and what lies between them.
        let is_spaceless = matches!(u32::from(c), 0x2e80..=0xdfff | 0xf900..=0xfaff | 0x20000..);
        if c.is_alphanumeric() && !is_spaceless {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns the clusters of entries that are ordered by id.
fn members(entries: &[Entry], thresholds: ClusterThresholds) -> Vec<Vec<String>> {
    let mut like: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
    for (a, b) in like_pairs(entries, thresholds) {
        like[a].push(b);
        like[b].push(a);
    }
    // The skill that most others are like gathers them, then the next one what is left: every
    // member is like the first (star clustering, Aslam, Pelekhov and Rus 2004).
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|at| (Reverse(like[*at].len()), *at));
    let mut is_taken = vec![false; entries.len()];
    let mut clusters = Vec::new();
    for first in order {
        if is_taken[first] {
            continue;
        }
        is_taken[first] = true;
        let mut ids = entries[first].ids.clone();
        let mut others = Vec::new();
        for other in &like[first] {
            if !std::mem::replace(&mut is_taken[*other], true) {
                others.extend(entries[*other].ids.iter().cloned());
            }
        }
        others.extend(ids.drain(1..));
        others.sort_unstable();
        if !others.is_empty() {
            clusters.push(ids.into_iter().chain(others).collect());
        }
    }
    clusters.sort_unstable();
    clusters
}

/// Returns the pairs of entries that are like each other, each once.
fn like_pairs(entries: &[Entry], thresholds: ClusterThresholds) -> BTreeSet<(usize, usize)> {
    let keys: [fn(&Entry) -> &str; 2] = [|entry| &entry.name, |entry| &entry.description];
    let mut pairs = BTreeSet::new();
    for key in keys {
        let mut order: Vec<usize> =
            (0..entries.len()).filter(|at| !key(&entries[*at]).is_empty()).collect();
        order.par_sort_by(|a, b| {
            let (a, b) = (&entries[*a], &entries[*b]);
            key(a).cmp(key(b)).then_with(|| a.body.cmp(&b.body))
        });
        let blocks: Vec<&[usize]> =
            order.chunk_by(|a, b| key(&entries[*a]) == key(&entries[*b])).collect();
        let found: Vec<(usize, usize)> = blocks
            .into_par_iter()
            .flat_map(|block| {
                let n_after = if block.len() > MAX_BLOCK { N_NEIGHBORS } else { block.len() };
                (0..block.len()).into_par_iter().flat_map_iter(move |at| {
                    let others = block[at + 1..].iter().take(n_after);
                    others
                        .map(move |other| (block[at], *other))
                        .filter(move |(a, b)| entries[*a].is_like(&entries[*b], thresholds))
                })
            })
            .collect();
        pairs.extend(found.into_iter().map(|(a, b)| (a.min(b), a.max(b))));
    }
    pairs
}

#[cfg(test)]
mod tests;
