//! Measures pages of two skills under one budget: an equal share for each, or by value over both.
//!
//! `cargo run --release -p skillmux-models --example shared_budget -- INDEX CASES.jsonl TOKENS`.
//! Each case of the file, in the format of `datasets/intra-skill-bench.jsonl`, is asked together
//! with one of another skill. A case is met if the page of its skill has all its evidence.

#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::{error::Error, fs, path::Path, sync::Arc};

use serde::Deserialize;
use skillmux::{
    index::{Index, IndexedSkill},
    page::{Page, PageRequest, Pager, PartList, TermSource, ValuePager},
    skill::SkillId,
    text::Analyzer,
};

/// A case is asked with the one so many lines further on: of another skill, as each has three.
const STEP: usize = 10;

#[derive(Deserialize)]
struct Case {
    skill_id: SkillId,
    query: String,
    evidence: Vec<[u32; 2]>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [index, cases, budget] = &arguments[..] else {
        return Err("three arguments: INDEX CASES.jsonl TOKENS".into());
    };
    let (index, budget): (Index, u32) = (Index::open(Path::new(index))?, budget.parse()?);
    let cases = fs::read_to_string(cases)?;
    let cases: Vec<Case> = cases.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let pager =
        ValuePager::new(skillmux_models::pager().texts, Arc::new(skillmux_models::encoder()));
    let terms = TermSource {
        terms: &|text, visit| Analyzer::new().for_each_term(text, visit),
        idf: &|term| index.body_idf(term).unwrap_or(1.0),
    };
    let (mut n_cases, mut n_met, mut n_both) = (0, [0; 2], [0; 2]);
    for (at, first) in cases.iter().enumerate() {
        let second = &cases[(at + STEP) % cases.len()];
        let query = format!("{}\n{}", first.query, second.query);
        let read = |case: &Case| -> skillmux::Result<IndexedSkill> {
            index.skill(index.find(&case.skill_id)?)
        };
        let skills = [read(first)?, read(second)?];
        let requests = skills.each_ref().map(|indexed| PageRequest {
            skill: &indexed.skill,
            nodes: &indexed.nodes,
            query: &query,
            terms: &terms,
            budget_tokens: budget / 2,
            had: PartList::none(),
        });
        let equal = requests.each_ref().map(|request| pager.page(request)).to_vec();
        let shared = pager.pages(&requests, budget);
        n_cases += 2;
        for (way, pages) in [equal, shared].iter().enumerate() {
            let pairs = pages.iter().zip([first, second]).zip(&skills);
            let met = pairs.filter(|((page, case), skill)| shows(page, case, skill)).count();
            n_met[way] += met;
            n_both[way] += usize::from(met == 2);
        }
    }
    for (way, name) in ["an equal share", "by value over both"].iter().enumerate() {
        let share = |n: usize, all: usize| n as f64 / all as f64;
        let (met, both) = (share(n_met[way], n_cases), share(n_both[way], n_cases / 2));
        println!("{name}: all evidence of a case {met:.3}, of both {both:.3}");
    }
    Ok(())
}

/// Returns whether a page has all parts that hold evidence.
fn shows(page: &Page, case: &Case, skill: &IndexedSkill) -> bool {
    let holds =
        |start: u32, end: u32| case.evidence.iter().any(|[from, to]| *from < end && start < *to);
    let needed = skill.nodes.nodes.iter().filter(|node| holds(node.start, node.end));
    needed.into_iter().all(|node| page.nodes.iter().any(|shown| shown.start_byte == node.start))
}
