//! [`distinct`]: one candidate for each group of near-copies; [`copies_of`]: those of one skill; [`CopyReader`]: whether one skill
//! passes for another.

use std::{hash::BuildHasher, rc::Rc, sync::LazyLock};

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use unicode_security::skeleton;

use crate::{
    error::Result,
    index::{Headline, Index, SkillIdx},
    retrieve::Candidate,
    skill::SkillId,
};

/// Least similarity of the bodies of two copies that have one name.
const SAME_NAME: f32 = 0.4;

/// Least similarity of the bodies of two copies that have one description: whole families of skills
/// are written from one template, for different things.
const SAME_DESCRIPTION: f32 = 0.8;

/// Least similarity of the bodies of a skill and of one that is trusted more: what a plan takes for
/// a repetition.
const ANY_NAME: f32 = 0.6;

/// Shorter lines, such as headings, say nothing of where a text comes from.
const MIN_LINE_CHARS: usize = 16;

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
    let mut found: Vec<(Text<'_>, Distinct)> = Vec::new();
    for candidate in candidates {
        let text = Text::read(index, &candidate.skill)?;
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
    let text = Text::read(index, id)?;
    let mut copies = exact_copies(index, id)?;
    for other in others.filter(|other| *other != id) {
        if Text::read(index, other)?.is_copy_of(&text, index)? {
            copies.push(other.clone());
            copies.extend(exact_copies(index, other)?);
        }
    }
    Ok(copies)
}

/// Tells whether a skill passes for another one, and remembers the texts that it has read.
pub(super) struct CopyReader<'i> {
    index: &'i Index,
    read: FxHashMap<SkillIdx, Text<'i>>,
    lines: FxHashMap<SkillIdx, Rc<Lines>>,
}

impl<'i> CopyReader<'i> {
    pub(super) fn new(index: &'i Index) -> Self {
        let (read, lines) = <_>::default();
        Self { index, read, lines }
    }

    /// Returns the name of a skill.
    pub(super) fn name(&mut self, idx: SkillIdx) -> Result<&str> {
        self.remember(idx)?;
        Ok(self.read[&idx].headline.name)
    }

    fn remember(&mut self, idx: SkillIdx) -> Result<()> {
        if !self.read.contains_key(&idx) {
            self.read.insert(idx, Text::of(idx, self.index.headline(idx)?));
        }
        Ok(())
    }

    /// Returns how a skill passes for another one. `is_trusted_more`: the other one is.
    pub(super) fn likeness(
        &mut self,
        copy: SkillIdx,
        of: SkillIdx,
        is_trusted_more: bool,
    ) -> Result<Likeness> {
        self.remember(copy)?;
        self.remember(of)?;
        let (copy_text, of_text) = (&self.read[&copy], &self.read[&of]);
        let has_name = copy_text.name == of_text.name;
        let is_copy = has_name && copy_text.description() == of_text.description()
            || copy_text.is_copy_of(of_text, self.index)?
            || is_trusted_more && self.index.similarity(copy, of)? >= ANY_NAME
            || has_name && self.shares_lines(copy, of)?;
        Ok(match (is_copy, has_name && is_trusted_more) {
            (true, _) => Likeness::Copy,
            (false, true) => Likeness::Namesake,
            (false, false) => Likeness::None,
        })
    }

    /// Returns whether most lines of one text are in the other one: a copy may hold much more, or
    /// leave lines out.
    fn shares_lines(&mut self, a: SkillIdx, b: SkillIdx) -> Result<bool> {
        let (a, b) = (self.lines(a)?, self.lines(b)?);
        let n_shared = a.intersection(&b).count();
        Ok(n_shared > 0 && 2 * n_shared >= a.len().min(b.len()))
    }

    fn lines(&mut self, idx: SkillIdx) -> Result<Rc<Lines>> {
        if let Some(known) = self.lines.get(&idx) {
            return Ok(Rc::clone(known));
        }
        let read = Rc::new(lines(&self.index.skill(idx)?.skill.body));
        self.lines.insert(idx, Rc::clone(&read));
        Ok(read)
    }
}

/// How one skill passes for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It does not.
    None,
    /// It has the name of one that is trusted more, and another text.
    Namesake,
    /// It has its text, or name and description.
    Copy,
}

/// Hashes of lines.
type Lines = FxHashSet<u64>;

/// Returns the lines of a text that say something, as they look.
fn lines(text: &str) -> Lines {
    let folded = text.lines().map(folded).filter(|line| line.chars().count() >= MIN_LINE_CHARS);
    folded.map(|line| FxBuildHasher.hash_one(line)).collect()
}

/// Returns letters and digits of a text, small, each as the letter that it looks like: `рdf` in
/// Cyrillic letters is `pdf`.
fn folded(text: &str) -> String {
    /// What each ASCII character looks like: most texts have no others.
    static ASCII: LazyLock<Vec<String>> =
        LazyLock::new(|| (0..128_u8).map(|byte| look(&char::from(byte).to_string())).collect());
    if text.is_ascii() {
        return text.bytes().map(|byte| ASCII[usize::from(byte)].as_str()).collect();
    }
    look(text)
}

/// Does what [`folded`] does, without the table.
fn look(text: &str) -> String {
    let plain: String = skeleton(&text.to_lowercase()).collect();
    plain.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the ids of the skills whose texts are the same: the index keeps one of them.
pub(super) fn exact_copies(index: &Index, id: &SkillId) -> Result<Vec<SkillId>> {
    let all = index.all_ids(index.find(id)?)?;
    Ok(all.into_iter().filter(|same| same != id).collect())
}

/// What tells copies of a skill from others.
struct Text<'i> {
    idx: SkillIdx,
    /// The name as it looks.
    name: String,
    headline: Headline<'i>,
}

impl<'i> Text<'i> {
    fn read(index: &'i Index, id: &SkillId) -> Result<Self> {
        let idx = index.find(id)?;
        Ok(Self::of(idx, index.headline(idx)?))
    }

    fn of(idx: SkillIdx, headline: Headline<'i>) -> Self {
        Self { idx, name: folded(headline.name), headline }
    }

    fn description(&self) -> &str {
        self.headline.description.trim()
    }

    fn is_copy_of(&self, other: &Text<'_>, index: &Index) -> Result<bool> {
        let description = self.description();
        let has_description = !description.is_empty() && description == other.description();
        let least = match (self.name == other.name, has_description) {
            (true, _) => SAME_NAME,
            (false, true) => SAME_DESCRIPTION,
            (false, false) => return Ok(false),
        };
        Ok(index.similarity(self.idx, other.idx)? >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_one() {
        for name in ["pdf-forms", "PDF Forms", "\u{440}df-f\u{43e}rms", "ｐｄｆ_forms"] {
            assert_eq!(folded(name), folded("pdf_forms"), "{name}");
        }
        assert_ne!(folded("pdf-form"), folded("pdf-forms"));
        assert_eq!(folded("文档"), "文档");
    }

    #[test]
    fn an_ascii_text_is_folded_as_any_other() {
        let all: String = (0..128_u8).map(char::from).collect();
        assert_eq!(folded(&all), look(&all));
        assert_eq!(folded("Merge 10 PDFs!"), look("Merge 10 PDFs!"));
    }
}
