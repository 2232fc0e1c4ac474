//! Pairs of skills that are near each other: by a task, a body, a folder, or rare words.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use skillmux::skill::SkillId;

use super::node::Node;

/// Skills of the largest folder that joins what lies in it. Larger ones are collections, where
/// nothing follows from it.
const MAX_FOLDER: usize = 12;

/// Skills of the most frequent name that a mention may mean.
const MAX_NAMED: usize = 3;

/// Bodies that hold the most frequent mention; more frequent ones are common words.
const MAX_MENTIONING: usize = 20;

/// Skills of the most frequent term that makes two of them near.
const MAX_WITH_TERM: usize = 100;

/// Terms that two near skills share at least.
const MIN_SHARED_TERMS: u32 = 2;

/// Share of terms in common from which on two skills do the same, rather than one after the other
/// (Jaccard).
const MAX_SHARED_TERMS: f32 = 0.5;

/// Skills that are near one by its words, the nearest ones.
const MAX_NEAR: usize = 8;

/// Returns the pairs of skills of one task, in the order of the task.
pub(super) fn in_one_task(
    tasks: &[Vec<SkillId>],
    place: impl Fn(&SkillId) -> Option<usize>,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for skills in tasks {
        let places: Vec<usize> = skills.iter().filter_map(&place).collect();
        for (at, first) in places.iter().enumerate() {
            pairs.extend(places[at + 1..].iter().map(|second| (*first, *second)));
        }
    }
    pairs
}

/// Returns the pairs of skills of one small folder, in the order of the index.
pub(super) fn in_one_folder(nodes: &[Node]) -> Vec<(usize, usize)> {
    let mut folders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate().filter(|(_, node)| !node.folder.is_empty()) {
        folders.entry(&node.folder).or_default().push(at);
    }
    let mut pairs = Vec::new();
    for places in folders.values().filter(|places| places.len() <= MAX_FOLDER) {
        for (at, first) in places.iter().enumerate() {
            pairs.extend(places[at + 1..].iter().map(|second| (*first, *second)));
        }
    }
    pairs
}

/// Returns the pairs of which the first names the second one. Of several skills of a name, those
/// that share the longest begin of the id are meant.
pub(super) fn naming_each_other(nodes: &[Node]) -> Vec<(usize, usize)> {
    let mut named: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        if let Some(mention) = node.mention {
            named.entry(mention).or_default().push(at);
        }
    }
    let mut n_mentioning: FxHashMap<u64, usize> = FxHashMap::default();
    for mention in nodes.iter().flat_map(|node| &node.mentions) {
        if named.contains_key(mention) {
            *n_mentioning.entry(*mention).or_default() += 1;
        }
    }
    let mut pairs = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        for mention in &node.mentions {
            let Some(places) = named.get(mention) else { continue };
            if places.len() > MAX_NAMED || n_mentioning[mention] > MAX_MENTIONING {
                continue;
            }
            let shared = |to: &usize| n_shared_bytes(node.id.as_str(), nodes[*to].id.as_str());
            let nearest = places.iter().map(shared).max().unwrap_or(0);
            let meant = places.iter().filter(|to| **to != at && shared(to) == nearest);
            pairs.extend(meant.map(|to| (at, *to)));
        }
    }
    pairs
}

fn n_shared_bytes(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Returns the pairs of each skill with those nearest to it by rare terms (the sum of the squared
/// inverse document frequencies of the shared ones over the number of terms of both) that pass
/// something on to it or take something of it.
pub(super) fn near_by_words(nodes: &[Node]) -> Vec<(usize, usize)> {
    let mut with_term: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    for (at, node) in (0..).zip(nodes) {
        for term in &node.terms {
            with_term.entry(*term).or_default().push(at);
        }
    }
    let n_skills = nodes.len() as f32;
    let near = |at: usize| {
        let node = &nodes[at];
        let mut shared: FxHashMap<u32, (f32, u32)> = FxHashMap::default();
        for term in &node.terms {
            let others = &with_term[term];
            if others.len() > MAX_WITH_TERM {
                continue;
            }
            let weight = (1.0 + n_skills / others.len() as f32).ln();
            for other in others.iter().filter(|other| **other as usize != at) {
                let (sum, n) = shared.entry(*other).or_default();
                *sum += weight * weight;
                *n += 1;
            }
        }
        let measure = |(other, (sum, n_shared)): (u32, (f32, u32))| {
            let other = other as usize;
            let next = &nodes[other];
            let passes = node.passes_to(next).is_some() != next.passes_to(node).is_some();
            let is_near =
                n_shared >= MIN_SHARED_TERMS && passes && !is_alike(&node.terms, &next.terms);
            is_near.then(|| (sum / (node.terms.len() + next.terms.len()) as f32, other))
        };
        let mut near: Vec<(f32, usize)> = shared.into_iter().filter_map(measure).collect();
        near.sort_unstable_by(|(a, at_a), (b, at_b)| b.total_cmp(a).then(at_a.cmp(at_b)));
        near.truncate(MAX_NEAR);
        near.into_iter().map(|(_, other)| (at, other)).collect::<Vec<_>>()
    };
    (0..nodes.len()).into_par_iter().flat_map_iter(near).collect()
}

/// Returns whether two sorted lists of terms have so much in common that their skills do the same.
fn is_alike(a: &[u64], b: &[u64]) -> bool {
    let n_shared = a.iter().filter(|term| b.binary_search(term).is_ok()).count();
    n_shared as f32 > MAX_SHARED_TERMS * (a.len() + b.len() - n_shared) as f32
}
