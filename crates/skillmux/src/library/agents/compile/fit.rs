//! [`compile`]: chooses what a list says of each skill.

use std::{cmp::Ordering, collections::BinaryHeap};

use rustc_hash::FxHashSet;

use super::{
    CompileError, CompiledList, Freedom, Kept, ListSkill, fragment::Fragments, line, worth::Worth,
};
use crate::library::agents::profile::Listing;

/// Worth of the words of a skill at which about two thirds of the use of its line is reached.
const SCALE: f64 = 25.0;
/// How much more the first clause of a description counts. It says what the skill is: who reads the
/// list needs that more than a search by words does. On the tasks of `fixtures/user-tasks.jsonl`
/// this changes nothing that can be told.
const HEAD: f64 = 1.5;
/// What a character is worth that no word is gained by: it fills the list up, and decides nothing
/// else.
const FILL: f64 = 1e-9;

/// Returns the list that helps most to tell the skills apart, within the limit of the agent.
///
/// A skill is worth `weight * (1 - exp(-words / 25))`. `words` is the sum of the inverse document
/// frequencies of the distinct words of its line, and `weight` says how much it is used, and how
/// much it differs from the others. The sum over all skills is made large step by step: next comes
/// the name or the clause with the most gain a character. If there is room for all names, all are
/// listed; if there is room for all, all is listed.
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
            if after > self.max_chars() || is_one_too_many || self.would_be_cut(at, step) {
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
        let head = if step == Step::Clause(0) { HEAD } else { 1.0 };
        let density = head * self.worth.weight(skill) * gain / n_more as f64 + FILL;
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

    /// Returns whether the agent would cut the chosen clauses.
    fn would_be_cut(&self, at: usize, step: Step) -> bool {
        if step == Step::List {
            return false;
        }
        let line = &self.lines[at];
        let n_chosen = line.is_chosen.iter().filter(|chosen| **chosen).count();
        let is_whole = n_chosen + 1 == line.is_chosen.len();
        let description_chars = self.cost(at, step).saturating_sub(line.bare_chars);
        !is_whole && self.listing.capped(description_chars) < description_chars
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        growth::assert_linear,
        library::agents::{Remedy, Trim, listed_today},
    };

    fn listing(max_chars: usize) -> Listing {
        Listing {
            max_chars,
            head_chars: 3,
            line_chars: 4,
            description_line_chars: 1,
            has_paths: true,
            max_description_chars: Some(60),
            max_skills: Some(9),
            trim: Trim::AllDescriptions,
            remedy: Remedy::StrongerCopies,
        }
    }

    fn skill<'a>(name: &'a str, description: &'a str, freedom: Freedom) -> ListSkill<'a> {
        ListSkill { name, description, path: "/a/b", freedom, n_uses: 0 }
    }

    const COPY: Freedom = Freedom::Copy { path_chars: 2 };

    #[test]
    fn everything_is_whole_if_there_is_room() {
        let skills =
            [skill("tea", "Brews tea, hot.", COPY), skill("mug", "Washes mugs.", Freedom::Off)];
        // 3, and a line of 4 characters, name, path and description each.
        let list = compile(&listing(3 + 4 + 3 + 4 + 15 + 4 + 3 + 4 + 12), &skills).unwrap();
        assert_eq!((list.kept, list.n_chars), (vec![Kept::Whole, Kept::Whole], 52));
        assert!(
            compile(&listing(51), &skills)
                .unwrap()
                .kept
                .contains(&Kept::Shortened("hot.".to_owned()))
        );
    }

    #[test]
    fn what_others_say_too_goes_first() {
        let both = "Works with files of the team, and reads";
        let (pdf, csv) = (format!("{both} invoices in PDF."), format!("{both} tables in CSV."));
        let skills = [skill("a", &pdf, COPY), skill("b", &csv, COPY)];
        let list = compile(&listing(3 + 2 * 40), &skills).unwrap();
        let expected = ["reads invoices in PDF.", "reads tables in CSV."]
            .map(str::to_owned)
            .map(Kept::Shortened);
        assert_eq!(list.kept, expected);
    }

    #[test]
    fn a_skill_that_is_used_keeps_its_description_and_a_copy_of_another_loses_it() {
        let text = "Brews green tea at the right temperature.";
        let other = "Washes porcelain mugs by hand and dries them.";
        let mut skills = [
            skill("x", text, Freedom::Name),
            skill("y", other, Freedom::Name),
            skill("z", text, Freedom::Name),
        ];
        let described = |skills: &[ListSkill<'_>]| {
            let list = compile(&listing(3 + 3 * 9 + 50), skills).unwrap();
            list.kept.iter().position(|kept| *kept == Kept::Whole).unwrap()
        };
        assert_ne!(described(&skills), 2);
        skills[2].n_uses = 20;
        assert_eq!(described(&skills), 2);
    }

    #[test]
    fn what_is_always_listed_must_fit() {
        let skills = [
            skill("tea", "Brews tea.", Freedom::Always),
            skill("mug", "Washes mugs.", Freedom::Name),
        ];
        let error = compile(&listing(23), &skills).unwrap_err();
        assert_eq!(error, CompileError::FixedTooLong { n_skills: 1, n_chars: 24, max_chars: 23 });
        assert_eq!(compile(&listing(24), &skills).unwrap().kept, [Kept::Whole, Kept::Hidden]);
    }

    #[test]
    fn a_description_of_many_clauses_takes_linear_time() {
        let listing = Listing { max_description_chars: None, ..listing(8_000) };
        for unit in ["ab, ", "a (b) c. ", "not, "] {
            assert_linear(unit, 60_000, |text| {
                drop(compile(&listing, &[skill("tea", text, COPY)]).unwrap());
            });
        }
    }

    fn freedoms() -> impl Strategy<Value = Freedom> {
        prop_oneof![
            Just(Freedom::Off),
            Just(Freedom::Name),
            (0..9_usize).prop_map(|path_chars| Freedom::Copy { path_chars }),
        ]
    }

    proptest! {
        #[test]
        fn a_list_never_exceeds_its_limit_and_says_nothing_of_its_own(
            max_chars in 0..400_usize,
            rows in prop::collection::vec(("[a-c]{1,4}", "[a-d茶壶 ,.。，;:()\"`-]{0,90}", freedoms(), 0..3_u64), 0..12),
        ) {
            let skills: Vec<ListSkill<'_>> = rows
                .iter()
                .map(|(name, description, freedom, n_uses)| ListSkill {
                    n_uses: *n_uses,
                    ..skill(name, description, *freedom)
                })
                .collect();
            let listing = listing(max_chars.max(3));
            let list = compile(&listing, &skills).unwrap();
            prop_assert!(list.n_chars <= listing.max_chars);
            prop_assert!(list.kept.iter().filter(|kept| **kept != Kept::Hidden).count() <= 9);
            prop_assert_eq!(&list, &compile(&listing, &skills).unwrap());
            for (kept, skill) in list.kept.iter().zip(&skills) {
                if let Kept::Shortened(text) = kept {
                    let has_copy = matches!(skill.freedom, Freedom::Copy { .. });
                    prop_assert!(has_copy);
                    let mut rest = skill.description;
                    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                        let at = rest.find(word);
                        prop_assert!(at.is_some(), "{text} of {}", skill.description);
                        rest = &rest[at.unwrap() + word.len()..];
                    }
                }
            }
            // The agent itself would leave it as it is.
            let listed: Vec<ListSkill<'_>> = list
                .kept
                .iter()
                .zip(&skills)
                .filter(|(kept, _)| **kept != Kept::Hidden)
                .map(|(kept, skill)| {
                    let path = match (kept, skill.freedom) {
                        (Kept::Whole, _) | (_, Freedom::Name | Freedom::Off) => skill.path,
                        (_, Freedom::Copy { path_chars }) => &"/////////"[..path_chars],
                        (_, Freedom::Always) => unreachable!(),
                    };
                    let description = match kept {
                        Kept::Name if matches!(skill.freedom, Freedom::Copy { .. }) => "-",
                        kept => kept.text(skill.description, &listing),
                    };
                    ListSkill { description, path, ..*skill }
                })
                .collect();
            let shown = listed_today(&listing, &listed);
            prop_assert!(shown.kept.iter().all(|kept| *kept == Kept::Whole));
            prop_assert_eq!(shown.n_chars, list.n_chars);
        }
    }
}
