//! Compares the estimate of tokens with real tokenizers, over the bodies of skills and over pages
//! of 800 tokens.
//!
//! `cargo run --release -p skillmux-models --example token_error -- INDEX [SKILLS]`. Skills are
//! taken in the order of a hash of their ids, until each group has a third of SKILLS (2,000):
//! English prose, Chinese (a fifth of the characters or more), and code (half of the bytes or more
//! lie in blocks of code). A page is made for the description of its skill, where the skill does
//! not fit.

#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::{
    error::Error,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    sync::Arc,
};

use skillmux::{
    index::{Index, IndexedSkill},
    page::{PageRequest, Pager, PartList, TermSource, ValuePager},
    skill::SkillId,
    text::{Analyzer, estimate_tokens, is_common_han},
};
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

const GROUPS: [&str; 3] = ["English", "Chinese", "code"];

/// Tokens of a page.
const BUDGET: u32 = 800;

/// Skills of fewer tokens are left out: a token more or less is much of them, and no page is cut
/// from them.
const FEWEST_TOKENS: u32 = 100;

/// Longer bodies are left out: the tokenizers are slow on them.
const MOST_BYTES: usize = 200_000;

/// What was counted of one group by one tokenizer.
#[derive(Default)]
struct Counted {
    /// The estimate over the count, less 1, of each body.
    errors: Vec<f64>,
    /// Tokens of each page.
    pages: Vec<usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (index, n_skills) = match &arguments[..] {
        [index] => (index, 2_000),
        [index, n_skills] => (index, n_skills.parse()?),
        _ => return Err("one or two arguments: INDEX [SKILLS]".into()),
    };
    let index = Index::open(Path::new(index))?;
    let pager =
        ValuePager::new(skillmux_models::pager().texts, Arc::new(skillmux_models::encoder()));
    let terms = TermSource {
        terms: &|text, visit| Analyzer::new().for_each_term(text, visit),
        idf: &|term| index.body_idf(term).unwrap_or(1.0),
    };
    let tokenizers: [(&str, &CoreBPE); 2] =
        [("o200k_base", o200k_base_singleton()), ("cl100k_base", cl100k_base_singleton())];
    let mut counted: [[Counted; GROUPS.len()]; 2] = Default::default();
    let mut ids: Vec<SkillId> = index.ids().collect::<Result<_, _>>()?;
    ids.sort_by_cached_key(hash_of);
    for id in &ids {
        let indexed = index.skill(index.find(id)?)?;
        let body = indexed.skill.body.as_str();
        let estimate = estimate_tokens(body);
        let group = group_of(&indexed);
        let n_of_group = counted[0][group].errors.len();
        if estimate < FEWEST_TOKENS || body.len() > MOST_BYTES || n_of_group * 3 >= n_skills {
            continue;
        }
        let page = (estimate > BUDGET).then(|| {
            let page = pager.page(&PageRequest {
                skill: &indexed.skill,
                nodes: &indexed.nodes,
                query: &indexed.skill.description,
                terms: &terms,
                budget_tokens: BUDGET,
                had: PartList::none(),
            });
            // Marks do not count against the budget.
            page.to_markdown().replace("[...]", "")
        });
        for ((_, tokenizer), counted) in tokenizers.iter().zip(&mut counted) {
            let counted = &mut counted[group];
            let n_tokens = tokenizer.count_ordinary(body);
            counted.errors.push(f64::from(estimate) / n_tokens as f64 - 1.0);
            counted.pages.extend(page.as_ref().map(|page| tokenizer.count_ordinary(page)));
        }
        if counted[0].iter().all(|counted| counted.errors.len() * 3 >= n_skills) {
            break;
        }
    }
    println!(
        "| tokenizer | skills | bodies | mean | mean distance | 5 % to 95 % | pages | above {BUDGET} | 95 % below |"
    );
    println!("|---|---|---:|---:|---:|---|---:|---:|---:|");
    for ((tokenizer, _), groups) in tokenizers.iter().zip(counted) {
        for (group, counted) in GROUPS.iter().zip(groups) {
            println!("| {tokenizer} | {group} | {} |", row(counted));
        }
    }
    Ok(())
}

/// Returns the cells of a row.
fn row(Counted { mut errors, mut pages }: Counted) -> String {
    let percent = |share: f64| format!("{:+.1} %", share * 100.0);
    let n_bodies = errors.len().max(1) as f64;
    let mean = errors.iter().sum::<f64>() / n_bodies;
    let distance = errors.iter().map(|error| error.abs()).sum::<f64>() / n_bodies;
    errors.sort_by(f64::total_cmp);
    pages.sort_unstable();
    let n_above = pages.iter().filter(|n_tokens| **n_tokens > BUDGET as usize).count();
    let at = |n: usize, percent: usize| (n * percent / 100).min(n.saturating_sub(1));
    let error = |percent: usize| errors.get(at(errors.len(), percent)).copied().unwrap_or(0.0);
    format!(
        "{} | {} | {:.1} % | {} to {} | {} | {:.1} % | {}",
        errors.len(),
        percent(mean),
        distance * 100.0,
        percent(error(5)),
        percent(error(95)),
        pages.len(),
        100.0 * n_above as f64 / pages.len().max(1) as f64,
        pages.get(at(pages.len(), 95)).unwrap_or(&0),
    )
}

/// Returns the position of a skill's group in [`GROUPS`].
fn group_of(indexed: &IndexedSkill) -> usize {
    let body = indexed.skill.body.as_str();
    let code = indexed.nodes.nodes.iter().filter_map(|node| node.text(body));
    let code: usize = code.map(code_bytes).sum();
    let n_chinese = body.chars().filter(|c| is_common_han(*c)).count();
    if code * 2 >= body.len() {
        return 2;
    }
    usize::from(n_chinese * 5 >= body.chars().count())
}

/// Returns the bytes of a part from its first fence on.
fn code_bytes(text: &str) -> usize {
    text.find("```").map_or(0, |start| text.len() - start)
}

fn hash_of(id: &SkillId) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.as_str().hash(&mut hasher);
    hasher.finish()
}
