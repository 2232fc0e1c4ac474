//! [`Worth`]: how much the words of a list help to tell its skills apart.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ListSkill;
use crate::text::TermReader;

/// Words that praise, or that speak of skills as such.
const PRAISE: &str = "comprehensive powerful expert expertise professional advanced complete ultimate best seamless \
    production grade ready robust guide guidance modern skill skills user users agent request requests task tasks \
    help helps asks ask wants want needs need mentions trigger triggers use using used provides enables 全面 强大 \
    专业 一站式 完整 高级 技能 用户 使用 适用 适用于 触发";

/// Part of the words that two skills share from which on they count as much alike.
const ALIKE: f64 = 0.5;
/// Weight of a skill that says what another one says.
const LEAST_WEIGHT: f64 = 0.1;

/// What the words of some skills are worth.
pub(super) struct Worth {
    ids: FxHashMap<String, u32>,
    /// By term.
    values: Vec<f64>,
    /// By skill.
    weights: Vec<f64>,
}

impl Worth {
    /// Measures the names and descriptions.
    ///
    /// A term is worth its inverse document frequency, as in BM25. A skill weighs `1 + ln(1 +
    /// uses)`, and less if one that is used as much or more, or is stronger, has most of its words.
    pub(super) fn new(skills: &[ListSkill<'_>]) -> Self {
        let mut ids = FxHashMap::default();
        let terms: Vec<Vec<u32>> = skills
            .iter()
            .map(|skill| {
                let mut terms = Vec::new();
                for text in [skill.name, skill.description] {
                    for_each_term(text, &mut |term| {
                        let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
                        terms.push(*ids.entry(term.to_owned()).or_insert(next));
                    });
                }
                terms.sort_unstable();
                terms.dedup();
                terms
            })
            .collect();
        let mut n_skills = vec![0_usize; ids.len()];
        for &term in terms.iter().flatten() {
            n_skills[term as usize] += 1;
        }
        let all = skills.len() as f64;
        let idf = |&n: &usize| (1.0 + (all - n as f64 + 0.5) / (n as f64 + 0.5)).ln();
        let mut values: Vec<f64> = n_skills.iter().map(idf).collect();
        for_each_term(PRAISE, &mut |term| {
            if let Some(&id) = ids.get(term) {
                values[id as usize] = 0.0;
            }
        });
        let weights = weights(skills, &terms, &values);
        Self { ids, values, weights }
    }

    /// Returns the weight of a skill.
    pub(super) fn weight(&self, skill: usize) -> f64 {
        self.weights[skill]
    }

    /// Returns the distinct terms of a part of some skill, rising.
    pub(super) fn terms(&self, text: &str) -> Vec<u32> {
        let mut terms = Vec::new();
        for_each_term(text, &mut |term| terms.extend(self.ids.get(term)));
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// Returns what the terms are worth that are not there yet.
    pub(super) fn of_new(&self, terms: &[u32], there: &FxHashSet<u32>) -> f64 {
        terms
            .iter()
            .filter(|term| !there.contains(term))
            .map(|&term| self.values[term as usize])
            .sum()
    }
}

fn for_each_term(text: &str, f: &mut dyn FnMut(&str)) {
    let mut reader = TermReader::new();
    let mut terms = reader.read(text);
    while let Some(term) = terms.advance() {
        f(term.text);
    }
}

fn weights(skills: &[ListSkill<'_>], terms: &[Vec<u32>], values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..skills.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(skills[at].n_uses));
    let worth = |terms: &[u32]| -> f64 { terms.iter().map(|&term| values[term as usize]).sum() };
    let mut holders: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let mut shared = vec![0.0; skills.len()];
    let mut weights = vec![0.0; skills.len()];
    for at in order {
        shared.fill(0.0);
        for term in &terms[at] {
            for &other in holders.get(term).into_iter().flatten() {
                shared[other] += values[*term as usize];
            }
        }
        let own = worth(&terms[at]).max(f64::MIN_POSITIVE);
        let nearest = shared.iter().copied().fold(0.0, f64::max) / own;
        let distinct = 1.0 - ((nearest - ALIKE) / (1.0 - ALIKE)).max(0.0);
        let used = 1.0 + (skills[at].n_uses as f64).ln_1p();
        weights[at] = used * distinct.max(LEAST_WEIGHT);
        for &term in &terms[at] {
            holders.entry(term).or_default().push(at);
        }
    }
    weights
}
