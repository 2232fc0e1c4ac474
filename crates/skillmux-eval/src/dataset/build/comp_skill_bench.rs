//! Builds `CompSkillBench` from an awesome list of MCP servers (SkillWeaver §5, appendices C and
//! H).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use serde::{Deserialize, Serialize};
use skillmux::{
    library::{Library, ListedServer, Source},
    skill::Skill,
};

use super::draw::{Deck, Draw};
use crate::{error::Error, printable::code};

/// Our map from the headings of the list to the 24 categories: the paper does not print its own.
const HEADINGS: &str = include_str!("../../../assets/comp-skill-bench/categories.json");
/// Our verb phrases by category: the paper prints two of its own.
const PHRASES: &str = include_str!("../../../assets/comp-skill-bench/phrases.json");
/// The queries in the manner of appendix A, with category steps, written by hand.
const HUMAN: &str = include_str!("../../../assets/comp-skill-bench/human.jsonl");

/// A description of fewer characters says nothing (§5.1, step 2).
const MIN_DESCRIPTION_CHARS: usize = 15;
/// A category of fewer skills gets no query (§5.2).
const MIN_SKILLS: usize = 5;
/// Draws until a set of queries is given up; only lists that name their own phrases come near it.
const MAX_ATTEMPTS: usize = 10_000;

/// The categories and the sizes that the paper states (appendices C and H).
const CATEGORIES: [(&str, usize); 24] = [
    ("developer-tools", 357),
    ("finance", 270),
    ("integrations", 229),
    ("knowledge-management", 180),
    ("search-extraction", 140),
    ("security", 122),
    ("communication", 109),
    ("databases", 104),
    ("cloud-infrastructure", 87),
    ("code-execution", 69),
    ("productivity", 66),
    ("gaming-entertainment", 57),
    ("data-processing", 55),
    ("location-services", 55),
    ("browser-automation", 54),
    ("marketing-analytics", 49),
    ("monitoring-observability", 48),
    ("ai-ml", 45),
    ("multimedia", 35),
    ("science-research", 26),
    ("file-management", 25),
    ("e-commerce", 16),
    ("legal-compliance", 7),
    ("data-visualization", 4),
];

/// How the phrases of a query are joined, by their number; `{A}` begins a sentence.
const TEMPLATES: [(usize, &[&str]); 4] = [
    (
        2,
        &[
            "{A}, then {b}.",
            "First {a}, and after that {b}.",
            "Please {a} and then {b}.",
            "I need you to {a} and, once that is done, {b}.",
            "Can you {a} and then {b}?",
            "{A}. When you are done, {b}.",
            "We have to {a} before we {b}.",
            "Help me {a}, and {b} afterwards.",
        ],
    ),
    (
        3,
        &[
            "First {a}, then {b}, and finally {c}.",
            "{A}, {b}, and then {c}.",
            "Please {a} and {b}; once that is done, {c}.",
            "I want to {a}, after that {b}, and in the end {c}.",
            "Could you {a}, then {b}, and lastly {c}?",
            "{A}. Next, {b}. Finish up: {c}.",
            "The plan for today: {a}, {b}, and {c}.",
            "Before the day is over, {a}, {b}, and last of all {c}.",
        ],
    ),
    (
        4,
        &[
            "First {a}, then {b}, after that {c}, and finally {d}.",
            "{A} and {b}. Then {c}, and in the end {d}.",
            "I need help with four things, in this order: {a}, {b}, {c}, and {d}.",
            "Please {a}, {b}, then {c}, and when all of that is done, {d}.",
            "{A}. Next, {b} and {c}. Lastly, {d}.",
        ],
    ),
    (
        5,
        &[
            "First {a}, then {b}, after that {c}, next {d}, and finally {e}.",
            "{A} and {b}. Then {c} and {d}. In the end, {e}.",
            "There is a list to work through: {a}, {b}, {c}, {d}, and {e}.",
            "Please {a}, {b} and {c}; then {d}, and when all of that is done, {e}.",
        ],
    ),
];

/// How many skills a query takes (§5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Difficulty {
    /// Two skills of two categories.
    Easy,
    /// Three of three.
    Medium,
    /// Four or five of as many.
    Hard,
}

impl Difficulty {
    fn as_str(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }
}

/// Queries by difficulty and number of steps. Four and five steps are as frequent as makes the mean
/// of the hard ones 4.4 (appendix D).
const QUOTAS: [(Difficulty, usize, usize); 4] = [
    (Difficulty::Easy, 2, 150),
    (Difficulty::Medium, 3, 100),
    (Difficulty::Hard, 4, 30),
    (Difficulty::Hard, 5, 20),
];

/// One step of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CompStep {
    /// The verb phrase.
    pub subtask: String,
    /// Category of the skill.
    pub category: String,
    /// The skill: one of the category, drawn at random.
    pub skill_id: String,
}

/// One query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CompTask {
    /// Such as `csb-easy-001`.
    pub task_id: String,
    /// How many steps there are.
    pub difficulty: Difficulty,
    /// The phrases, joined.
    pub query: String,
    /// In the order of execution, which is that of the query.
    pub steps: Vec<CompStep>,
}

/// How many skills a category has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CategoryCount {
    /// The category.
    pub category: &'static str,
    /// Servers in the list.
    pub n_listed: usize,
    /// Those that may be the answer to a query: described, and of a name of their own.
    pub n_kept: usize,
    /// Number that the paper states.
    pub n_paper: usize,
    /// Steps of the queries.
    pub n_steps: usize,
}

/// The built benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompSkillBench {
    /// The queries.
    pub tasks: Vec<CompTask>,
    /// Category of every server of the list, by the id of its skill.
    pub categories: BTreeMap<String, String>,
    /// Sizes of the categories, in the order of the paper.
    pub counts: Vec<CategoryCount>,
    /// Servers that were read from the list (§5.1, step 1).
    pub n_extracted: usize,
    /// Those with a description (step 2).
    pub n_described: usize,
    /// Those with a name that no earlier one has (step 3).
    pub n_distinct: usize,
    /// Headings that the map does not know, with the number of their servers.
    pub unmapped: BTreeMap<String, usize>,
}

/// What the map and the phrases say.
#[derive(Deserialize)]
struct Assets {
    /// Category by heading.
    headings: BTreeMap<String, String>,
    /// Phrases by category.
    phrases: BTreeMap<String, Vec<String>>,
}

impl Assets {
    fn built_in() -> Self {
        let headings = serde_json::from_str(HEADINGS).expect("a test reads the built-in map");
        let phrases = serde_json::from_str(PHRASES).expect("a test reads the built-in phrases");
        Self { headings, phrases }
    }
}

/// A category that queries are made from.
struct Category {
    name: &'static str,
    skills: Vec<Skill>,
    phrases: Vec<String>,
    deck: Deck,
}

/// Returns the benchmark that a list of MCP servers gives; the same for the same list and seed.
///
/// The ids are those of an index of the list.
///
/// # Errors
/// [`Error::Engine`] if the list cannot be read, [`Error::TooFewCategories`] if it is too short,
/// [`Error::TooFewQueries`] if most queries would name their skills.
pub fn comp_skill_bench(readme: &Path, seed: u64) -> Result<CompSkillBench, Error> {
    build(listed(readme)?, &Assets::built_in(), seed)
}

/// Returns the servers of a list.
fn listed(readme: &Path) -> Result<Vec<Skill>, Error> {
    let mut skills = Vec::new();
    Library::new(vec![Source::mcp_list(readme)]).scan(&mut |scanned| {
        skills.push(scanned.skill);
        Ok(())
    })?;
    Ok(skills)
}

fn build(skills: Vec<Skill>, assets: &Assets, seed: u64) -> Result<CompSkillBench, Error> {
    let n_extracted = skills.len();
    let mut pool: BTreeMap<&str, Vec<Skill>> = BTreeMap::new();
    let mut categories = BTreeMap::new();
    let mut unmapped = BTreeMap::new();
    let mut n_listed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = BTreeSet::new();
    let (mut n_described, mut n_distinct) = (0, 0);
    for skill in skills {
        let Some(server) = ListedServer::of(&skill) else { continue };
        let category = assets.headings.get(server.heading);
        if let Some(category) = category {
            categories.insert(skill.id.as_str().to_owned(), category.clone());
            *n_listed.entry(category).or_default() += 1;
        } else {
            *unmapped.entry(server.heading.to_owned()).or_default() += 1;
        }
        if server.description.chars().count() < MIN_DESCRIPTION_CHARS {
            continue;
        }
        n_described += 1;
        if !names.insert(words(server.link_text).concat()) {
            continue;
        }
        n_distinct += 1;
        if let Some(category) = category {
            pool.entry(category).or_default().push(skill);
        }
    }
    let mut n_steps: BTreeMap<String, usize> = BTreeMap::new();
    let tasks = tasks(&pool, assets, seed)?;
    for step in tasks.iter().flat_map(|task| &task.steps) {
        *n_steps.entry(step.category.clone()).or_default() += 1;
    }
    let count = |(category, n_paper): (&'static str, usize)| CategoryCount {
        category,
        n_listed: n_listed.get(category).copied().unwrap_or(0),
        n_kept: pool.get(category).map_or(0, Vec::len),
        n_paper,
        n_steps: n_steps.get(category).copied().unwrap_or(0),
    };
    let counts = CATEGORIES.map(count).into();
    Ok(CompSkillBench { tasks, categories, counts, n_extracted, n_described, n_distinct, unmapped })
}

/// Draws the queries.
fn tasks(
    pool: &BTreeMap<&str, Vec<Skill>>,
    assets: &Assets,
    seed: u64,
) -> Result<Vec<CompTask>, Error> {
    let mut categories: Vec<Category> = CATEGORIES
        .iter()
        .filter_map(|(name, _)| {
            let skills = pool.get(name).filter(|skills| skills.len() >= MIN_SKILLS)?.clone();
            let phrases = assets.phrases.get(*name).filter(|list| !list.is_empty())?.clone();
            let deck = Deck::new(phrases.len());
            Some(Category { name, skills, phrases, deck })
        })
        .collect();
    let needed = QUOTAS.iter().map(|(_, n_steps, _)| *n_steps).max().unwrap_or(0);
    let found = categories.len();
    if found < needed {
        return Err(Error::TooFewCategories { found, needed, min_skills: MIN_SKILLS });
    }
    let mut draw = Draw::new(seed);
    let mut deck = Deck::new(found);
    let mut queries = BTreeSet::new();
    let mut tasks: Vec<CompTask> = Vec::new();
    let mut n_attempts = 0;
    for (difficulty, n_steps, n_queries) in QUOTAS {
        let mut n_done = 0;
        while n_done < n_queries {
            n_attempts += 1;
            if n_attempts > MAX_ATTEMPTS {
                let needed = QUOTAS.iter().map(|(_, _, n_queries)| n_queries).sum();
                return Err(Error::TooFewQueries { found: tasks.len(), needed });
            }
            let drawn = query(&mut categories, n_steps, &mut deck, &mut draw);
            let Some((query, steps)) = drawn.filter(|(query, _)| !queries.contains(query)) else {
                continue;
            };
            queries.insert(query.clone());
            let n_before = tasks.iter().filter(|task| task.difficulty == difficulty).count();
            let task_id = format!("csb-{}-{:03}", difficulty.as_str(), n_before + 1);
            tasks.push(CompTask { task_id, difficulty, query, steps });
            n_done += 1;
        }
    }
    Ok(tasks)
}

/// Draws one query, or nothing where it would name every skill that one of its steps could have.
fn query(
    categories: &mut [Category],
    n_steps: usize,
    deck: &mut Deck,
    draw: &mut Draw,
) -> Option<(String, Vec<CompStep>)> {
    let mut taken = Vec::new();
    let mut phrases = Vec::new();
    for _ in 0..n_steps {
        let at = deck.next(&taken, draw)?;
        taken.push(at);
        let category = &mut categories[at];
        let phrase = category.deck.next(&[], draw)?;
        phrases.push(category.phrases[phrase].clone());
    }
    let (_, templates) = TEMPLATES.iter().find(|(n, _)| *n == n_steps)?;
    let query = filled(draw.one(templates)?, &phrases);
    let query_words = words(&query);
    let mut steps = Vec::new();
    for (at, subtask) in taken.into_iter().zip(phrases) {
        let Category { name, skills, .. } = &categories[at];
        let unnamed: Vec<&Skill> =
            skills.iter().filter(|skill| !is_named(&skill.name, &query_words)).collect();
        let skill_id = draw.one(&unnamed)?.id.as_str().to_owned();
        steps.push(CompStep { subtask, category: (*name).to_owned(), skill_id });
    }
    Some((query, steps))
}

/// Returns the template with the phrases in their places.
fn filled(template: &str, phrases: &[String]) -> String {
    let mut text = template.to_owned();
    for (letter, phrase) in ('a'..).zip(phrases) {
        let mut chars = phrase.chars();
        let capital: String =
            chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
        text = text
            .replace(&format!("{{{letter}}}"), phrase)
            .replace(&format!("{{{}}}", letter.to_ascii_uppercase()), &capital);
    }
    text
}

/// Returns the words of a text: runs of letters and digits, lower-cased.
fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns whether the words of a name stand one after another in a text, with or without `mcp`
/// and `server`.
fn is_named(name: &str, text: &[String]) -> bool {
    let name = words(name);
    let is_kind = |word: &&String| matches!(word.as_str(), "mcp" | "server");
    let core: Vec<String> = name.iter().filter(|word| !is_kind(word)).cloned().collect();
    [name, core]
        .iter()
        .any(|name| !name.is_empty() && text.windows(name.len()).any(|part| part == &name[..]))
}

impl CompSkillBench {
    /// Returns the files of the benchmark with their names.
    pub(crate) fn files(&self) -> [(&'static str, String); 4] {
        let tasks = self.tasks.iter().flat_map(|task| [json(task), "\n".to_owned()]).collect();
        let categories = pretty_json(&self.categories) + "\n";
        [
            ("tasks.jsonl", tasks),
            ("categories.json", categories),
            ("counts.md", self.counts_table()),
            ("human.jsonl", HUMAN.to_owned()),
        ]
    }

    /// Writes the files into a folder, which is made if need be.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Write { path, source }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        for (name, text) in self.files() {
            let path = folder.join(name);
            fs::write(&path, text).map_err(failed(&path))?;
        }
        Ok(())
    }

    /// Returns our sizes beside those of the paper, as a table in Markdown.
    fn counts_table(&self) -> String {
        let mut text = format!(
            "{} servers read, {} of them described, {} of these with a name of their own.\n\n\
             | category | listed | kept | paper | steps |\n|---|---:|---:|---:|---:|\n",
            self.n_extracted, self.n_described, self.n_distinct
        );
        let mut total = [0; 4];
        for count in &self.counts {
            let CategoryCount { category, n_listed, n_kept, n_paper, n_steps } = count;
            let _ =
                writeln!(text, "| {category} | {n_listed} | {n_kept} | {n_paper} | {n_steps} |");
            for (sum, n) in total.iter_mut().zip([n_listed, n_kept, n_paper, n_steps]) {
                *sum += n;
            }
        }
        let [n_listed, n_kept, n_paper, n_steps] = total;
        let _ = writeln!(text, "| **all** | {n_listed} | {n_kept} | {n_paper} | {n_steps} |");
        for (heading, n_servers) in &self.unmapped {
            let _ = writeln!(text, "\nNo category: {} ({n_servers})", code(heading));
        }
        text
    }
}

/// Returns a task as one line of JSON.
fn json(task: &CompTask) -> String {
    serde_json::to_string(task).expect("a task has string keys only")
}

/// Returns the categories as JSON, one a line.
fn pretty_json(categories: &BTreeMap<String, String>) -> String {
    serde_json::to_string_pretty(categories).expect("a map of texts is JSON")
}

#[cfg(test)]
mod tests;
