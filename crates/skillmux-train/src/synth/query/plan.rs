//! [`Plan`]: which queries are asked for, in which order.

use std::collections::HashSet;

use skillmux::{
    index::{Index, SkillIdx},
    query::Query,
    skill::Skill,
};

use super::{
    assignment::QueryAssignment,
    options::{QueryOptions, TaskKind},
};
use crate::{
    error::Result,
    lexical::find_by_words,
    synth::{
        name::Names,
        prompt,
        sample::{MAX_SIMILARITY, Sampler, chance, chosen, key, unit},
        text::Language,
        work::{Assignments, WorkOptions},
    },
};

/// Queries of one skill, of one kind.
const MAX_ROUNDS: usize = 20;

/// Skills that a query of several may choose from besides the first one: some like it, and any.
const N_RELATED: usize = 5;
const N_ANY: usize = 2;

/// Ranks from which related skills are drawn; before them are the first skill and versions of it.
const RELATED_RANKS: std::ops::Range<usize> = 3..40;

/// The queries to ask for: one of each skill, then one more of each, and so on.
pub(super) struct Plan<'i> {
    index: &'i Index,
    sampler: Sampler<'i>,
    options: QueryOptions,
    seed: u64,
    model_name: String,
    round: usize,
    /// Among the skills that were sampled; after the first round.
    position: usize,
}

impl<'i> Plan<'i> {
    pub(super) fn new(
        index: &'i Index,
        options: QueryOptions,
        work_options: &WorkOptions<'_>,
    ) -> Result<Self> {
        Ok(Self {
            index,
            sampler: Sampler::new(index, work_options.seed)?,
            options,
            seed: work_options.seed,
            model_name: work_options.model_name.to_owned(),
            round: 0,
            position: 0,
        })
    }

    fn next_skill(&mut self) -> Result<Option<Skill>> {
        if self.round == 0 {
            if let Some(skill) = self.sampler.next()? {
                return Ok(Some(skill));
            }
            self.round = 1;
        }
        while self.round < MAX_ROUNDS {
            if let Some(skill) = self.sampler.given(self.position)? {
                self.position += 1;
                return Ok(Some(skill));
            }
            if self.position == 0 {
                break;
            }
            (self.round, self.position) = (self.round + 1, 0);
        }
        Ok(None)
    }

    /// Returns skills that may be needed together with one.
    fn others(&self, skill: &Skill, round: &str) -> Result<Vec<Skill>> {
        let id = skill.id.as_str();
        let Ok(query) = Query::new(format!("{}\n{}", skill.name, skill.description)) else {
            return Ok(Vec::new());
        };
        let found = find_by_words(self.index, &query, RELATED_RANKS.end)?;
        let related = found.into_iter().skip(RELATED_RANKS.start);
        let mut drawn: Vec<SkillIdx> = related.map(|hit| hit.skill).collect();
        drawn.sort_by_cached_key(|idx| {
            chance(self.seed, &["related", id, round, &idx.0.to_string()])
        });
        drawn.truncate(N_RELATED);
        let n_skills = self.index.n_skills().max(1) as u64;
        for n in 0..N_ANY {
            let at = chance(self.seed, &["any", id, round, &n.to_string()]) % n_skills;
            drawn.push(SkillIdx(u32::try_from(at).expect("an index counts skills in 32 bits")));
        }
        let first = self.index.find(&skill.id)?;
        let mut seen = HashSet::from([first]);
        let mut others = Vec::new();
        for idx in drawn {
            if seen.insert(idx) && self.index.similarity(first, idx)? <= MAX_SIMILARITY {
                others.push(self.index.skill(idx)?.skill);
            }
        }
        Ok(others)
    }
}

impl Assignments for Plan<'_> {
    type Item = QueryAssignment;

    fn next(&mut self) -> Result<Option<QueryAssignment>> {
        let QueryOptions { kind, share_zh } = self.options;
        while let Some(skill) = self.next_skill()? {
            let (id, round) = (skill.id.as_str().to_owned(), self.round.to_string());
            let is_zh = unit(self.seed, &["language", &id, &round]) < share_zh;
            let language = if is_zh { Language::Zh } else { Language::En };
            let mut skills = vec![skill];
            if kind == TaskKind::Multi {
                skills.extend(self.others(&skills[0], &round)?);
                if skills.len() == 1 {
                    continue;
                }
            }
            let parts = [kind.as_str(), language.as_str(), &id, &round];
            return Ok(Some(QueryAssignment {
                query_id: format!("{}-{}-{}", kind.as_str(), language.as_str(), key(&parts)),
                kind,
                language,
                asker: chosen(&prompt::ASKERS, self.seed, &["asker", &id, &round]),
                names: skills.iter().map(Names::of).collect(),
                skills,
                model_name: self.model_name.clone(),
            }));
        }
        Ok(None)
    }

    fn n_passed_over(&self) -> (usize, usize) {
        self.sampler.n_passed_over()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::super::{
        fixture::{index_of, skill, words, work_options},
        work::Assignment,
    };
    use super::*;

    fn plan(n_skills: usize, options: QueryOptions) -> Vec<QueryAssignment> {
        let body = |n: usize| words(&format!("word{n}"), 40);
        let skill = |n: usize| skill(&format!("s{n:02}"), "Sorts ledgers", &body(n));
        let (_folder, index) = index_of(&(0..n_skills).map(skill).collect::<Vec<_>>());
        let mut plan = Plan::new(&index, options, &work_options(1, Path::new("t.jsonl"))).unwrap();
        std::iter::from_fn(|| plan.next().unwrap()).collect()
    }

    #[test]
    fn each_skill_comes_once_in_each_round_and_no_query_twice() {
        let found = plan(8, QueryOptions { kind: TaskKind::Short, share_zh: 0.0 });
        assert_eq!(found.len(), 8 * MAX_ROUNDS);
        for round in found.chunks(8) {
            let ids: HashSet<_> = round.iter().map(|query| &query.skills[0].id).collect();
            assert_eq!(ids.len(), 8);
        }
        let keys: HashSet<_> = found.iter().map(Assignment::key).collect();
        assert_eq!(keys.len(), found.len());
        let askers: HashSet<_> = found.iter().map(|query| query.asker).collect();
        assert!(askers.len() > 8);
    }

    #[test]
    fn chinese_has_the_share_that_was_asked_for() {
        for (share_zh, expected) in [(0.0, 0..=0), (0.3, 30..=66), (1.0, 160..=160)] {
            let found = plan(8, QueryOptions { kind: TaskKind::Long, share_zh });
            let n_zh = found.iter().filter(|query| query.language == Language::Zh).count();
            assert!(expected.contains(&n_zh), "{share_zh}: {n_zh}");
        }
    }

    #[test]
    fn queries_of_several_choose_from_others_without_the_first() {
        let found = plan(12, QueryOptions { kind: TaskKind::Multi, share_zh: 0.0 });
        assert!(!found.is_empty());
        for query in &found {
            let ids: HashSet<_> = query.skills.iter().map(|skill| &skill.id).collect();
            assert_eq!(ids.len(), query.skills.len());
            assert!((2..=1 + N_RELATED + N_ANY).contains(&query.skills.len()));
        }
        // There is no other one.
        let alone = QueryOptions { kind: TaskKind::Multi, share_zh: 0.0 };
        assert!(plan(1, alone).is_empty());
    }

    #[test]
    fn an_index_without_usable_skills_ends() {
        assert!(plan(0, QueryOptions { kind: TaskKind::Short, share_zh: 0.0 }).is_empty());
    }
}
