//! [`compile`]: chooses what a list says of each skill.

use std::{cmp::Ordering, collections::BinaryHeap};

use rustc_hash::FxHashSet;

use super::{
    CompileError, CompiledList, Freedom, Kept, ListSkill, fragment::Fragments, line, worth::Worth,
};
use crate::library::agents::profile::Listing;

/// Worth of the words of a skill at which about two thirds of the use of its line is reached.
const SCALE: f64 = 25.0;
/// What a character is worth that no word is gained by: it fills the list up, and decides nothing else.
const FILL: f64 = 1e-9;

/// Returns the list that helps most to tell the skills apart, within the limit of the agent.
///
/// A skill is worth `weight * (1 - exp(-words / 25))`. `words` is the sum of the inverse document frequencies of the
/// distinct words of its line, and `weight` says how much it is used, and how much it differs from the others. The
/// sum over all skills is made large step by step: next comes the name or the clause with the most gain a character.
/// If there is room for all names, all are listed; if there is room for all, all is listed.
///
/// Of a description, whole clauses are left out; what stays is there word for word, in its order.
///
/// # Errors
/// If skills that are always listed take more than the limit.
pub fn compile(listing: &Listing, skills: &[ListSkill<'_>]) -> Result<CompiledList, CompileError> {
    let mut draft = Draft::new(listing, skills);
    draft.list_fixed()?;
    if !draft.is_all_listed_whole() {
        draft.list_names();
        draft.fill();
    }
    let kept = (0..skills.len()).map(|at| draft.kept(at)).collect();
    Ok(CompiledList { kept, n_chars: listing.head_chars + draft.n_chars })
}

struct Draft<'a> {
    listing: &'a Listing,
    worth: Worth,
    lines: Vec<DraftLine<'a>>,
    n_listed: usize,
    n_chars: usize,
}

/// The line of a skill as it grows.
struct DraftLine<'a> {
    freedom: Freedom,
    name_terms: Vec<u32>,
    fragments: Fragments<'a>,
    fragment_terms: Vec<Vec<u32>>,
    /// Characters with the whole description.
    whole_chars: usize,
    /// Characters beside the description, of the skill or of its copy.
    bare_chars: usize,
    is_listed: bool,
    is_chosen: Vec<bool>,
    there: FxHashSet<u32>,
    words: f64,
    n_chars: usize,
    /// Counts changes.
    version: usize,
}

impl DraftLine<'_> {
    fn is_whole(&self) -> bool {
        self.is_chosen.iter().all(|chosen| *chosen)
    }

    /// Returns the characters of the line with these clauses.
    fn chars_with(&self, is_chosen: &[bool]) -> usize {
        if is_chosen.iter().all(|chosen| *chosen) {
            self.whole_chars
        } else if is_chosen.iter().any(|chosen| *chosen) {
            self.bare_chars + self.fragments.joined(is_chosen).chars().count()
        } else {
            // A copy must have a description; one character is enough.
            self.bare_chars + usize::from(matches!(self.freedom, Freedom::Copy { .. }))
        }
    }
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The skill with its name, and with all where it has nothing else.
    List,
    /// A clause.
    Clause(usize),
}

struct Offer {
    density: f64,
    skill: usize,
    step: Step,
    version: usize,
}

impl Offer {
    fn rank(&self) -> (usize, usize) {
        let step = match self.step {
            Step::List => 0,
            Step::Clause(at) => at + 1,
        };
        (self.skill, step)
    }
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        // Among equals the strongest skill and the first clause.
        self.density.total_cmp(&other.density).then_with(|| other.rank().cmp(&self.rank()))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

impl<'a> Draft<'a> {
    fn new(listing: &'a Listing, skills: &[ListSkill<'a>]) -> Self {
        let worth = Worth::new(skills);
        let draft_line = |skill: &ListSkill<'a>| {
            let own = line(skill);
            let fragments = Fragments::new(skill.description);
            let fragment_terms: Vec<Vec<u32>> = match skill.freedom {
                Freedom::Copy { .. } => {
                    (0..fragments.len()).map(|at| worth.terms(fragments.get(at))).collect()
                }
                // All or nothing is one clause.
                _ => vec![worth.terms(skill.description)],
            };
            let path_chars = match skill.freedom {
                Freedom::Copy { path_chars } => path_chars,
                _ => own.path_chars,
            };
            DraftLine {
                freedom: skill.freedom,
                name_terms: worth.terms(skill.name),
                is_chosen: vec![false; fragment_terms.len()],
                fragments,
                fragment_terms,
                whole_chars: listing.bare_chars(own.name_chars, own.path_chars)
                    + listing.capped(own.description_chars),
                bare_chars: listing.bare_chars(own.name_chars, path_chars),
                is_listed: false,
                there: FxHashSet::default(),
                words: 0.0,
                n_chars: 0,
                version: 0,
            }
        };
        let lines = skills.iter().map(draft_line).collect();
        Self { listing, worth, lines, n_listed: 0, n_chars: 0 }
    }

    fn max_chars(&self) -> usize {
        self.listing.chars_for_lines()
    }

    fn max_skills(&self) -> usize {
        self.listing.max_skills.unwrap_or(usize::MAX)
    }

    fn list_fixed(&mut self) -> Result<(), CompileError> {
        for at in 0..self.lines.len() {
            if self.lines[at].freedom == Freedom::Always {
                self.take(at, Step::List);
            }
        }
        if self.n_chars > self.max_chars() || self.n_listed > self.max_skills() {
            return Err(CompileError::FixedTooLong {
                n_skills: self.n_listed,
                n_chars: self.listing.head_chars + self.n_chars,
                max_chars: self.listing.max_chars,
            });
        }
        Ok(())
    }

    /// Lists everything if there is room, and returns whether there was.
    fn is_all_listed_whole(&mut self) -> bool {
        let n_chars: usize = self.lines.iter().map(|line| line.whole_chars).sum();
        let has_room = n_chars <= self.max_chars() && self.lines.len() <= self.max_skills();
        if has_room {
            for line in &mut self.lines {
                line.is_listed = true;
                line.is_chosen.fill(true);
            }
            self.n_chars = n_chars;
        }
        has_room
    }

    /// Lists all names if there is room.
    fn list_names(&mut self) {
        let others = || (0..self.lines.len()).filter(|&at| !self.lines[at].is_listed);
        let n_chars: usize = others().map(|at| self.cost(at, Step::List)).sum();
        if self.n_chars + n_chars <= self.max_chars() && self.lines.len() <= self.max_skills() {
            for at in others().collect::<Vec<_>>() {
                self.take(at, Step::List);
            }
        }
    }

    fn fill(&mut self) {
        let mut offers = BinaryHeap::new();
        for at in 0..self.lines.len() {
            if self.lines[at].is_listed {
                self.offer_clauses(at, &mut offers);
            } else {
                offers.push(self.offer(at, Step::List));
            }
        }
        while let Some(offer) = offers.pop() {
            let (at, step) = (offer.skill, offer.step);
            if offer.version != self.lines[at].version {
                offers.push(self.offer(at, step));
                continue;
            }
            let is_one_too_many = step == Step::List && self.n_listed >= self.max_skills();
            let after = (self.n_chars + self.cost(at, step)).saturating_sub(self.lines[at].n_chars);
            if after > self.max_chars() || is_one_too_many {
                continue;
            }
            self.take(at, step);
            if step == Step::List {
                self.offer_clauses(at, &mut offers);
            }
        }
    }

    fn offer_clauses(&self, at: usize, offers: &mut BinaryHeap<Offer>) {
        let line = &self.lines[at];
        for clause in (0..line.is_chosen.len()).filter(|&clause| !line.is_chosen[clause]) {
            offers.push(self.offer(at, Step::Clause(clause)));
        }
    }

    fn offer(&self, skill: usize, step: Step) -> Offer {
        let line = &self.lines[skill];
        let n_more = self.cost(skill, step).saturating_sub(line.n_chars).max(1);
        let use_of = |words: f64| 1.0 - (-words / SCALE).exp();
        let gain = use_of(line.words + self.new_words(skill, step)) - use_of(line.words);
        let density = self.worth.weight(skill) * gain / n_more as f64 + FILL;
        Offer { density, skill, step, version: line.version }
    }

    /// Returns the characters of the line after a step.
    fn cost(&self, at: usize, step: Step) -> usize {
        let line = &self.lines[at];
        match (step, line.freedom) {
            (Step::List, Freedom::Always | Freedom::Off) => line.whole_chars,
            (Step::List, _) => line.chars_with(&line.is_chosen),
            (Step::Clause(clause), _) => {
                let mut is_chosen = line.is_chosen.clone();
                is_chosen[clause] = true;
                line.chars_with(&is_chosen)
            }
        }
    }

    /// Returns the worth of the words that a step adds.
    fn new_words(&self, at: usize, step: Step) -> f64 {
        let line = &self.lines[at];
        match step {
            Step::List => {
                let name = self.worth.of_new(&line.name_terms, &line.there);
                match line.freedom {
                    // That some words are in both is no matter here.
                    Freedom::Always | Freedom::Off => {
                        name + self.worth.of_new(&line.fragment_terms[0], &line.there)
                    }
                    _ => name,
                }
            }
            // Words of what a skill is not for lead to it wrongly.
            Step::Clause(clause)
                if line.fragment_terms.len() > 1 && line.fragments.is_negated(clause) =>
            {
                0.0
            }
            Step::Clause(clause) => self.worth.of_new(&line.fragment_terms[clause], &line.there),
        }
    }

    fn take(&mut self, at: usize, step: Step) {
        let n_chars = self.cost(at, step);
        let new_words = self.new_words(at, step);
        let line = &mut self.lines[at];
        match step {
            Step::List => {
                line.is_listed = true;
                self.n_listed += 1;
                line.there.extend(&line.name_terms);
                if matches!(line.freedom, Freedom::Always | Freedom::Off) {
                    line.is_chosen.fill(true);
                }
            }
            Step::Clause(clause) => {
                line.is_chosen[clause] = true;
                line.there.extend(&line.fragment_terms[clause]);
            }
        }
        line.words += new_words;
        self.n_chars = self.n_chars + n_chars - line.n_chars;
        line.n_chars = n_chars;
        line.version += 1;
    }

    fn kept(&self, at: usize) -> Kept {
        let line = &self.lines[at];
        if !line.is_listed {
            Kept::Hidden
        } else if line.is_whole() {
            Kept::Whole
        } else if line.is_chosen.iter().any(|chosen| *chosen) {
            Kept::Shortened(line.fragments.joined(&line.is_chosen))
        } else {
            Kept::Name
        }
    }
}
