//! [`distinct`]: one candidate for each group of near-copies; [`copies_of`]: those of one skill; [`CopyReader`]: whether one skill
//! passes for another.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::{
    error::Result,
    index::{Headline, HeadlineReader, Index, SkillIdx},
    retrieve::Candidate,
    skill::SkillId,
};

/// Least similarity of the bodies of two copies that have one name.
const SAME_NAME: f32 = 0.4;

/// Least similarity of the bodies of two copies that have one description: whole families of skills are written from one
/// template, for different things.
const SAME_DESCRIPTION: f32 = 0.8;

/// A candidate, and those behind it.
pub(super) struct Distinct {
    pub(super) candidate: Candidate,
    /// Near-copies and exact copies, best first.
    pub(super) copies: Vec<SkillId>,
}

/// Returns the first `k` candidates that are no near-copies of a better one, each with its copies.
pub(super) fn distinct(
    index: &Index,
    candidates: Vec<Candidate>,
    k: usize,
) -> Result<Vec<Distinct>> {
    let mut headlines = index.headlines()?;
    let mut found: Vec<(Text, Distinct)> = Vec::new();
    for candidate in candidates {
        let text = Text::read(index, &mut headlines, &candidate.skill)?;
        let mut first = None;
        for (at, (other, _)) in found.iter().enumerate() {
            if text.is_copy_of(other, index)? {
                first = Some(at);
                break;
            }
        }
        let same = exact_copies(index, &candidate.skill)?;
        match first {
            Some(at) => {
                let copies = &mut found[at].1.copies;
                copies.push(candidate.skill.clone());
                copies.extend(same);
            }
            None if found.len() < k => {
                found.push((text, Distinct { candidate, copies: same }));
            }
            None => {}
        }
    }
    Ok(found.into_iter().map(|(_, distinct)| distinct).collect())
}

/// Returns the copies of a skill: exact ones, and those among other skills.
pub(super) fn copies_of<'a>(
    index: &Index,
    id: &SkillId,
    others: impl Iterator<Item = &'a SkillId>,
) -> Result<Vec<SkillId>> {
    let mut headlines = index.headlines()?;
    let text = Text::read(index, &mut headlines, id)?;
    let mut copies = exact_copies(index, id)?;
    for other in others.filter(|other| *other != id) {
        if Text::read(index, &mut headlines, other)?.is_copy_of(&text, index)? {
            copies.push(other.clone());
            copies.extend(exact_copies(index, other)?);
        }
    }
    Ok(copies)
}

/// Tells whether a skill passes for another one, and remembers the texts that it has read.
pub(super) struct CopyReader<'i> {
    index: &'i Index,
    headlines: HeadlineReader<'i>,
    read: FxHashMap<u32, Headline>,
}

impl<'i> CopyReader<'i> {
    pub(super) fn new(index: &'i Index) -> Result<Self> {
        Ok(Self { index, headlines: index.headlines()?, read: FxHashMap::default() })
    }

    /// Returns the name and the description of a skill.
    pub(super) fn read(&mut self, idx: SkillIdx) -> Result<&Headline> {
        Ok(match self.read.entry(idx.0) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(self.headlines.read(idx)?),
        })
    }

    /// Returns whether a skill is a copy of another one, or has its name and its description.
    pub(super) fn is_copy(&mut self, copy: SkillIdx, of: SkillIdx) -> Result<bool> {
        let texts = [copy, of].map(|idx| self.read(idx).map(|headline| Text::of(idx, headline)));
        let [copy, of] = texts;
        let (copy, of) = (copy?, of?);
        let has_both = copy.name == of.name && copy.description == of.description;
        Ok(has_both || copy.is_copy_of(&of, self.index)?)
    }
}

/// Returns the ids of the skills whose texts are the same: the index keeps one of them.
pub(super) fn exact_copies(index: &Index, id: &SkillId) -> Result<Vec<SkillId>> {
    let all = index.all_ids(index.find(id)?)?;
    Ok(all.into_iter().filter(|same| same != id).collect())
}

/// What tells copies of a skill from others.
struct Text {
    idx: SkillIdx,
    /// Letters and digits of the name, small.
    name: String,
    description: String,
}

impl Text {
    fn read(index: &Index, headlines: &mut HeadlineReader<'_>, id: &SkillId) -> Result<Self> {
        let idx = index.find(id)?;
        Ok(Self::of(idx, &headlines.read(idx)?))
    }

    fn of(idx: SkillIdx, headline: &Headline) -> Self {
        let name = headline.name.chars().filter(|c| c.is_alphanumeric());
        let name = name.flat_map(char::to_lowercase).collect();
        Self { idx, name, description: headline.description.trim().to_owned() }
    }

    fn is_copy_of(&self, other: &Self, index: &Index) -> Result<bool> {
        let has_description = !self.description.is_empty() && self.description == other.description;
        let least = match (self.name == other.name, has_description) {
            (true, _) => SAME_NAME,
            (false, true) => SAME_DESCRIPTION,
            (false, false) => return Ok(false),
        };
        Ok(index.similarity(self.idx, other.idx)? >= least)
    }
}
