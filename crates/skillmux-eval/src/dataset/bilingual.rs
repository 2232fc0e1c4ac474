//! Bilingual pairs: a skill's description must find its twin in the other language.

use std::{collections::BTreeMap, path::Path};

use skillmux::skill::Skill;

use super::{
    aliases::Lookup,
    contents::Dataset,
    record::{self, Record},
    split,
    task_list::{TaskList, slice},
};
use crate::{error::Error, fault::Fault, task::Task};

/// Which pairs are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BilingualSplit {
    /// The fifth that no model was trained on, by [`split::is_scored`].
    #[default]
    HeldOut,
    /// All.
    All,
}

/// Reads a file of pairs: up to four tasks a pair.
pub(super) fn read(
    path: &Path,
    pairs: BilingualSplit,
    lookup: Option<&Lookup<'_>>,
) -> Result<Dataset, Error> {
    let lookup = lookup.ok_or_else(|| Error::LookupMissing { path: path.to_owned() })?;
    let mut tasks = TaskList::default();
    let (mut n_unscored, mut n_left_out) = (0, 0);
    record::for_each_record(path, &mut |record| {
        let (zh_id, en_id) = (record.id("zh")?, record.id("en")?);
        if pairs == BilingualSplit::HeldOut && !split::is_scored(&en_id) {
            n_left_out += 1;
            return Ok(());
        }
        let zh = Side { language: "zh", skill: find(lookup, &record, &zh_id)?, id: zh_id };
        let en = Side { language: "en", skill: find(lookup, &record, &en_id)?, id: en_id };
        for (from, to) in [(&zh, &en), (&en, &zh), (&zh, &zh), (&en, &en)] {
            let Some(query) = query(from, to) else {
                n_unscored += 1;
                continue;
            };
            // What is not looked for is neither right nor wrong: in the direction of the other
            // language the skill that asks, in its own language the twin.
            let other = if to.id == zh.id { &en.id } else { &zh.id };
            let direction = format!("{}->{}", from.language, to.language);
            let task = Task {
                id: format!("{direction} {}", from.id),
                query,
                gold: [to.id.as_str()].into_iter().collect(),
                ignored: [other.clone()].into(),
                slices: [slice("direction", direction)].into(),
                ..Task::default()
            };
            tasks.push(&record.place, task)?;
        }
        Ok(())
    })?;
    if tasks.tasks.is_empty() && n_left_out > 0 {
        return Err(Error::NoneHeldOut { path: path.to_owned(), n_left_out });
    }
    Ok(Dataset {
        name: "bilingual".to_owned(),
        tasks: tasks.finish(path)?,
        n_unscored,
        n_unasked: 0,
        categories: BTreeMap::new(),
        library: None,
    })
}

/// One skill of a pair.
struct Side {
    language: &'static str,
    id: String,
    skill: Skill,
}

fn find(lookup: &Lookup<'_>, record: &Record, id: &str) -> Result<Skill, Error> {
    let unknown = || record.fault(Fault::SkillUnknown { id: id.to_owned() });
    lookup(id)?.ok_or_else(unknown)
}

/// Returns what is asked: the whole description for the twin, its first sentence for the skill
/// itself.
///
/// Nothing is asked where the description is empty.
fn query(from: &Side, to: &Side) -> Option<String> {
    let description = from.skill.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let query = if from.id == to.id { first_sentence(&description) } else { &description };
    (!query.is_empty()).then(|| query.to_owned())
}

/// Returns the text up to the first mark that ends a sentence: `。`, `！`, `？`, `；`, or one of
/// `.!?` before a blank.
fn first_sentence(text: &str) -> &str {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            return &text[..at + c.len_utf8()];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_at_its_mark() {
        assert_eq!(first_sentence("Reads v1.2 files. Then more."), "Reads v1.2 files.");
        assert_eq!(first_sentence("整理账单。再导出。"), "整理账单。");
        assert_eq!(first_sentence("no mark"), "no mark");
    }
}
