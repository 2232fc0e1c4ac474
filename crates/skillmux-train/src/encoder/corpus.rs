//! [`Corpus`]: the skills of an index as numbered terms.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use skillmux::{
    index::{Field, Index, IndexedSkill, SkillIdx},
    retrieve::{Bm25Config, FieldWeights},
    text::{Analyzer, is_common_han},
};

use crate::{error::Result, split::key_of_name};

/// Distinct terms of a text, sorted, each with `1 + ln(count)`.
pub(super) type Bag = Vec<(u32, f32)>;

/// Number of a term that is not in the vocabulary.
const UNKNOWN: u32 = u32::MAX;

/// Skills that are read and analysed at a time.
const N_SKILLS_AT_A_TIME: usize = 2000;

/// The skills of an index as numbered terms.
pub(super) struct Corpus {
    /// The vocabulary, the terms of most skills first.
    pub(super) terms: Vec<String>,
    /// Inverse document frequency of each term.
    pub(super) rarities: Vec<f32>,
    /// Name and description of each skill.
    pub(super) intros: Vec<Bag>,
    pub(super) descriptions: Vec<Bag>,
    pub(super) bodies: Vec<Bag>,
    /// What each term adds to the BM25 score of a skill, by field.
    pub(super) lexical: [Vec<Bag>; 3],
    /// Hash of each name without case and joints.
    pub(super) name_keys: Vec<u64>,
    /// Terms of all segments, in order.
    numbers: Vec<u32>,
    /// Where each segment ends: name, description, then heading and text of every section.
    segment_ends: Vec<usize>,
    /// Where the segments of each skill end.
    skill_ends: Vec<usize>,
    row_of: FxHashMap<String, u32>,
}

impl Corpus {
    /// Reads all skills; the vocabulary are the `n_terms` terms that most skills hold.
    pub(super) fn read(index: &Index, n_terms: usize) -> Result<Self> {
        let mut words = Words::default();
        let mut corpus = Self {
            terms: Vec::new(),
            rarities: Vec::new(),
            intros: Vec::new(),
            descriptions: Vec::new(),
            bodies: Vec::new(),
            lexical: [const { Vec::new() }; 3],
            name_keys: Vec::new(),
            numbers: Vec::new(),
            segment_ends: Vec::new(),
            skill_ends: Vec::new(),
            row_of: FxHashMap::default(),
        };
        let positions: Vec<u32> = (0..).take(index.n_skills()).collect();
        for positions in positions.chunks(N_SKILLS_AT_A_TIME) {
            let read = |position: &u32| Ok(Segments::of(&index.skill(SkillIdx(*position))?));
            let skills = positions.par_iter().map(read).collect::<Result<Vec<Segments>>>()?;
            for Segments { name_key, segments } in skills {
                let start = corpus.numbers.len();
                for segment in segments {
                    let numbers = segment.into_iter().map(|term| words.number(term));
                    corpus.numbers.extend(numbers);
                    corpus.segment_ends.push(corpus.numbers.len());
                }
                words.count(&corpus.numbers[start..]);
                corpus.skill_ends.push(corpus.segment_ends.len());
                corpus.name_keys.push(name_key);
            }
        }
        corpus.choose_terms(words, n_terms);
        corpus.make_bags();
        Ok(corpus)
    }

    pub(super) fn n_skills(&self) -> usize {
        self.skill_ends.len()
    }

    /// Returns the segments of a skill: name, description, then heading and text of every section.
    pub(super) fn segments(&self, skill: usize) -> Range<usize> {
        let start = skill.checked_sub(1).map_or(0, |before| self.skill_ends[before]);
        start..self.skill_ends[skill]
    }

    /// Returns the known terms of a segment.
    pub(super) fn segment(&self, segment: usize) -> impl Iterator<Item = u32> + '_ {
        let start = segment.checked_sub(1).map_or(0, |before| self.segment_ends[before]);
        let numbers = &self.numbers[start..self.segment_ends[segment]];
        numbers.iter().copied().filter(|number| *number != UNKNOWN)
    }

    /// Returns the bag of a text.
    pub(super) fn bag_of_text(&self, text: &str) -> Bag {
        let mut numbers = Vec::new();
        Analyzer::new()
            .for_each_term(text, &mut |term| numbers.extend(self.row_of.get(term).copied()));
        bag(numbers)
    }

    /// Returns the share of Chinese among the distinct terms of a skill's body and description.
    pub(super) fn chinese_share(&self, skill: usize) -> f32 {
        let is_chinese = |term: &str| term.starts_with(is_common_han);
        let share = |bag: &Bag| {
            let n = bag.iter().filter(|(term, _)| is_chinese(&self.terms[*term as usize])).count();
            n as f32 / bag.len().max(1) as f32
        };
        f32::midpoint(share(&self.bodies[skill]), share(&self.descriptions[skill]))
    }

    /// Returns the most that the terms of a query can add up to in [`Self::lexical`].
    pub(super) fn attainable(&self, query: &[(u32, f32)]) -> f32 {
        let weights: f32 = Bm25Config::default().fields.iter().map(|field| field.weight).sum();
        let rarity: f32 = query.iter().map(|(term, w)| w * self.rarities[*term as usize]).sum();
        (weights * rarity).max(f32::MIN_POSITIVE)
    }

    /// Keeps the most frequent terms, and numbers them from the most frequent on.
    fn choose_terms(&mut self, words: Words, n_terms: usize) {
        let Words { terms, n_skills_with, .. } = words;
        let mut order: Vec<u32> = (0..).take(terms.len()).collect();
        order.sort_unstable_by_key(|number| {
            (std::cmp::Reverse(n_skills_with[*number as usize]), *number)
        });
        // What a single skill says is no knowledge about language.
        let is_shared = |number: &u32| n_skills_with[*number as usize] > 1;
        order.truncate(n_terms);
        order.retain(is_shared);
        let mut renumbered = vec![UNKNOWN; terms.len()];
        for (row, number) in (0..).zip(&order) {
            renumbered[*number as usize] = row;
        }
        self.numbers.par_iter_mut().for_each(|number| *number = renumbered[*number as usize]);
        let n = self.n_skills() as f32;
        let rarity = |number: &u32| {
            let with = n_skills_with[*number as usize] as f32;
            (1.0 + (n - with + 0.5) / (with + 0.5)).ln()
        };
        self.rarities = order.iter().map(rarity).collect();
        self.terms = order.iter().map(|number| terms[*number as usize].clone()).collect();
        self.row_of = (0..).zip(&self.terms).map(|(row, term)| (term.clone(), row)).collect();
    }

    fn make_bags(&mut self) {
        let bags = |first: usize, n: usize| -> Vec<Bag> {
            let bag_of = |skill: usize| {
                let segments = self.segments(skill).skip(first).take(n);
                bag(segments.flat_map(|segment| self.segment(segment)).collect())
            };
            (0..self.n_skills()).into_par_iter().map(bag_of).collect()
        };
        let (names, descriptions) = (bags(0, 1), bags(1, 1));
        let (intros, bodies) = (bags(0, 2), bags(2, usize::MAX));
        self.lexical = Field::ALL.map(|field| {
            let bags = [&names, &descriptions, &bodies][field.position()];
            saturated(bags, Bm25Config::default().fields[field.position()], &self.rarities)
        });
        (self.descriptions, self.intros, self.bodies) = (descriptions, intros, bodies);
    }
}

/// Returns what each term adds to the BM25 score of each text.
fn saturated(bags: &[Bag], weights: FieldWeights, rarities: &[f32]) -> Vec<Bag> {
    let FieldWeights { weight, k1, b } = weights;
    let count = |weight: f32| (weight - 1.0).exp();
    let length = |bag: &Bag| bag.iter().map(|(_, weight)| count(*weight)).sum::<f32>();
    let mean = bags.iter().map(length).sum::<f32>() / bags.len().max(1) as f32;
    let scored = |bag: &Bag| -> Bag {
        let norm = k1 * (1.0 - b + b * length(bag) / mean.max(1.0));
        let score = |term: u32, count: f32| {
            (term, weight * rarities[term as usize] * count / (count + norm))
        };
        bag.iter().map(|(term, weight)| score(*term, count(*weight))).collect()
    };
    bags.par_iter().map(scored).collect()
}

/// Returns the bag of numbered terms.
pub(super) fn bag(mut numbers: Vec<u32>) -> Bag {
    numbers.sort_unstable();
    let same = numbers.chunk_by(|a, b| a == b);
    same.map(|same| (same[0], 1.0 + (same.len() as f32).ln())).collect()
}

/// The terms of one skill.
struct Segments {
    name_key: u64,
    segments: Vec<Vec<String>>,
}

impl Segments {
    fn of(indexed: &IndexedSkill) -> Self {
        let IndexedSkill { skill, nodes, .. } = indexed;
        let mut texts = vec![skill.name.as_str(), &skill.description, ""];
        let mut start = 0;
        for section in &nodes.sections {
            texts.push(skill.body.get(start..section.start as usize).unwrap_or(""));
            texts.push(section.title(&skill.body));
            start = section.end as usize;
        }
        texts.push(skill.body.get(start..).unwrap_or(""));
        let mut segments = vec![Vec::new(); texts.len()];
        Analyzer::new().for_each_term_of(&texts, &mut |position, term| {
            segments[position].push(term.to_owned());
        });
        Self { name_key: key_of_name(&skill.name), segments }
    }
}

/// All terms of the corpus, before a vocabulary is chosen.
#[derive(Default)]
struct Words {
    number_of: FxHashMap<String, u32>,
    terms: Vec<String>,
    n_skills_with: Vec<u32>,
}

impl Words {
    fn number(&mut self, term: String) -> u32 {
        if let Some(number) = self.number_of.get(&term) {
            return *number;
        }
        let number = u32::try_from(self.terms.len()).expect("a corpus has fewer terms than 2^32");
        self.terms.push(term.clone());
        self.n_skills_with.push(0);
        self.number_of.insert(term, number);
        number
    }

    /// Counts the distinct terms of a skill.
    fn count(&mut self, numbers: &[u32]) {
        let mut distinct = numbers.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        for number in distinct {
            self.n_skills_with[number as usize] += 1;
        }
    }
}
