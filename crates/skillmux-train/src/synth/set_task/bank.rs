//! [`QueryBank`]: queries about one skill each, to be joined.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use rustc_hash::FxHashMap;
use skillmux::{
    index::{Index, SkillIdx},
    skill::Skill,
};

use super::options::QueryCounts;
use crate::{
    error::{Error, Result},
    file::read_queries,
    gold::idx_of_ids,
    synth::{
        answer::{check_no_placeholder, check_size, clean},
        name::Names,
        refusal::Refusal,
        task::check_not_given_away,
        text::Language,
    },
};

/// Sizes of a query that is joined to others.
const MAX_WORDS: (usize, usize) = (4, 60);
const MAX_CHARACTERS: (usize, usize) = (6, 120);

/// First words of what names a thing and asks for nothing.
const ARTICLES: [&str; 3] = ["a ", "an ", "the "];

/// Queries of skills, by language.
pub(super) struct QueryBank {
    queries: FxHashMap<SkillIdx, [Vec<String>; 2]>,
    pub(super) counts: QueryCounts,
}

impl QueryBank {
    /// Reads files of queries, and keeps those about skills of an index that can be joined, each
    /// once.
    ///
    /// # Errors
    /// [`Error::NoTasks`] if none is about a skill of the index, and those of the files.
    pub(super) fn read(paths: &[PathBuf], index: &Index) -> Result<Self> {
        let idx_of = idx_of_ids(index)?;
        let mut of_skill: BTreeMap<SkillIdx, Vec<String>> = BTreeMap::new();
        let (mut counts, mut read) = (QueryCounts::default(), BTreeSet::new());
        for path in paths {
            for (query, id) in read_queries(path)? {
                if let Some(idx) = idx_of.get(&id) {
                    counts.n_read += 1;
                    of_skill.entry(*idx).or_default().push(query.clone());
                }
                read.insert(query);
            }
        }
        if counts.n_read == 0 {
            return Err(Error::NoTasks { n_read: read.len() });
        }
        let mut bank = Self { queries: FxHashMap::default(), counts };
        for (idx, queries) in of_skill {
            let skill = index.skill(idx)?.skill;
            let names = Names::of(&skill);
            for query in queries {
                match usable(&query, &skill, &names) {
                    Ok((query, language)) => bank.add(idx, query, language),
                    Err(refusal) => *bank.counts.refusals.entry(refusal.reason()).or_default() += 1,
                }
            }
        }
        bank.counts.n_skills = bank.queries.len();
        Ok(bank)
    }

    fn add(&mut self, idx: SkillIdx, query: String, language: Language) {
        let of_language = &mut self.queries.entry(idx).or_default()[place_of(language)];
        if !of_language.contains(&query) {
            of_language.push(query);
            self.counts.n_usable += 1;
        }
    }

    /// Returns the queries of a skill in a language, in the order of the files.
    pub(super) fn of(&self, idx: SkillIdx, language: Language) -> &[String] {
        self.queries.get(&idx).map_or(&[], |queries| &queries[place_of(language)])
    }

    /// Returns whether there is a query of a skill.
    pub(super) fn holds(&self, idx: SkillIdx) -> bool {
        self.queries.contains_key(&idx)
    }
}

fn place_of(language: Language) -> usize {
    match language {
        Language::En => 0,
        Language::Zh => 1,
    }
}

/// Returns a query as it can be joined, on one line, with its language.
fn usable(query: &str, skill: &Skill, names: &Names) -> Result<(String, Language), Refusal> {
    let query = clean(query)?.split_whitespace().collect::<Vec<_>>().join(" ");
    let language = Language::of(&query);
    let bounds = match language {
        Language::En => MAX_WORDS,
        Language::Zh => MAX_CHARACTERS,
    };
    check_size("query", &query, language, bounds)?;
    check_no_placeholder(&query)?;
    // Templates have them as well, where a prompt of a chat model has square ones.
    if query.contains(['<', '{', '[']) {
        return Err(Refusal::Placeholder { text: query });
    }
    let lower = query.to_lowercase();
    if ARTICLES.iter().any(|article| lower.starts_with(article)) {
        return Err(Refusal::NoRequest);
    }
    check_not_given_away(&query, skill, names)?;
    Ok((query, language))
}

#[cfg(test)]
mod tests {
    use skillmux::skill::SkillId;

    use super::super::super::fixture::{index_of, skill, words};
    use super::*;

    #[test]
    fn queries_that_can_be_joined_are_kept_by_language_and_others_counted() {
        let body = words("w", 40);
        let (folder, index) = index_of(&[
            skill("office/mail-merge", "Sends letters", &body),
            skill("office/pivot-maker", "Sums tables", &words("v", 40)),
        ]);
        let line = |id: &str, query: &str| {
            format!("{}\n", serde_json::json!({ "query": query, "skill_id": id }))
        };
        let path = folder.path().join("queries.jsonl");
        let lines = [
            line("office/mail-merge", "Send a letter to\n each customer of the list"),
            line("office/mail-merge", "Send a letter to each customer of the list"),
            line("office/mail-merge", "给名单上的每个客户寄一封信"),
            line("office/mail-merge", "Run mail merge for the whole list"),
            line("office/mail-merge", "Send <name> a letter about the fair"),
            line("office/mail-merge", "A letter that goes to customers."),
            line("office/mail-merge", "Use this skill to send all letters"),
            line("office/pivot-maker", "Sum it"),
            line("not/there", "Sum the sales of each month"),
            "{\"query\": \"Sum the sales of May\", \"skill_id\": \"office/pivot-maker\", \"relevant\": false}\n"
                .to_owned(),
        ];
        std::fs::write(&path, lines.concat()).unwrap();
        let bank = QueryBank::read(&[path], &index).unwrap();
        let idx = index.find(&SkillId::new("office/mail-merge")).unwrap();
        assert_eq!(bank.of(idx, Language::En), ["Send a letter to each customer of the list"]);
        assert_eq!(bank.of(idx, Language::Zh), ["给名单上的每个客户寄一封信"]);
        let other = index.find(&SkillId::new("office/pivot-maker")).unwrap();
        assert!(bank.holds(idx) && !bank.holds(other));
        let QueryCounts { n_read, n_usable, n_skills, refusals } = bank.counts;
        assert_eq!((n_read, n_usable, n_skills), (8, 2, 1));
        let refusals: Vec<(&str, usize)> = refusals.into_iter().collect();
        assert_eq!(
            refusals,
            [
                ("asks for nothing", 1),
                ("has a placeholder", 1),
                ("says the skill's name", 1),
                ("speaks of skills", 1),
                ("too short or too long", 1),
            ]
        );
    }
}
