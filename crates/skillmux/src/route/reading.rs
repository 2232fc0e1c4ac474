//! [`Reading`]: how a task is read before it is ranked.

use std::{
    borrow::Cow,
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    decompose::{negations, refusals, without},
    error::Result,
    index::{Index, name_key},
    model::Speller,
    query::{Need, Query},
    retrieve::Candidate,
    text::{Analyzer, is_english, is_kana, is_spaceless, simplified},
};

/// Longest task that is read for typing errors, in words: a long one has names and code that look
/// like errors.
const MAX_WORDS: usize = 80;

/// Longest task in bytes in which something is ruled out: a specification says `with no arguments`
/// and `never use` of what it describes.
const MAX_NEGATED_BYTES: usize = 1_200;

/// Shortest word that is taken for a typing error.
const MIN_LETTERS: usize = 4;

/// Skills of the largest library in which a word of one skill is no typing error; in a larger one,
/// skills have such errors, too.
const SMALL_LIBRARY: usize = 10_000;

/// Short forms that people type, with what they stand for. None is the end of a file name, a code
/// of a language, or a measure.
const SHORT_FORMS: [(&str, &str); 10] = [
    ("abt", "about"),
    ("cuz", "because"),
    ("gimme", "give me"),
    ("lemme", "let me"),
    ("pls", "please"),
    ("plz", "please"),
    ("thx", "thanks"),
    ("u", "you"),
    ("w/", "with"),
    ("w/o", "without"),
];

/// Short names of things, with the names by which skills know them.
const SHORT_NAMES: [(&str, &str); 5] = [
    ("k8s", "Kubernetes"),
    ("ppt", "PowerPoint"),
    ("pptx", "PowerPoint"),
    ("xls", "Excel"),
    ("xlsx", "Excel"),
];

/// A word that was read as another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Correction {
    /// As the task has it.
    pub from: String,
    /// As it was read.
    pub to: String,
}

/// A task as it is ranked: in simplified characters, without what it rules out, and with typing
/// errors mended and short forms spelled out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub(super) query: Query,
    pub(super) corrections: Vec<Correction>,
    /// The task as the user wrote it.
    written: String,
    /// What the task rules out, as the user wrote it.
    pub(super) ruled_out: Vec<String>,
    /// What it does not want.
    unwanted: Unwanted,
}

/// What the name of a skill tells that a task does not want.
#[derive(Debug, Clone, Default, PartialEq)]
struct Unwanted {
    /// Terms that the task does not ask for otherwise.
    terms: BTreeSet<String>,
    /// Names of several terms, as [`name_key`] has them: `do not use csv-cleaning` does not want
    /// that skill, though it wants a CSV file cleaned.
    names: BTreeSet<String>,
}

impl Unwanted {
    fn has(&self, name: &str) -> bool {
        self.names.contains(&name_key(name)) || !terms(name).is_disjoint(&self.terms)
    }
}

impl Reading {
    /// Reads a request: as [`Reading::of`], and without what it says is not to be done.
    pub(super) fn of_request(
        query: &Query,
        index: &Index,
        speller: Option<&dyn Speller>,
    ) -> Result<Self> {
        let Some((rest, mut refused)) = without_refusals(query.text()) else {
            return Self::of(query, index, speller);
        };
        let mut reading = Self::of(&query.with_text(rest)?, index, speller)?;
        reading.unwanted.names.extend(refused.iter().flat_map(|text| names_in(text)));
        reading.ruled_out.append(&mut refused);
        Ok(Self { written: query.text().to_owned(), ..reading })
    }

    /// Reads a task as evaluation and training do.
    pub(super) fn of(query: &Query, index: &Index, speller: Option<&dyn Speller>) -> Result<Self> {
        let task = characters(&spelled_out(query.text())).into_owned();
        let Wanted { text, objects, unwanted } = wanted(&task);
        let mut reading = Self {
            query: query.clone(),
            corrections: Vec::new(),
            written: query.text().to_owned(),
            ruled_out: Vec::new(),
            unwanted,
        };
        reading.ruled_out = objects.iter().map(|object| reading.as_written(object)).collect();
        reading.rule_out_of_needs();
        let is_known = |name: &str| Ok(n_users(name, index)? > 0);
        let (mut text, renamed) = full_names(&text.unwrap_or(task), is_known)?;
        reading.corrections = renamed;
        if let Some(speller) = speller {
            let (mended, corrections) = mended(&text, index, speller)?;
            text = mended;
            reading.corrections.extend(corrections);
        }
        if text != query.text() {
            reading.query = query.with_text(text)?;
        }
        Ok(reading)
    }

    /// Adds what the needs rule out, as far as neither the task nor another need asks for it.
    fn rule_out_of_needs(&mut self) {
        let texts = self.query.needs().iter().map(Need::text);
        let needs: Vec<(&str, Wanted)> = texts.map(|text| (text, wanted(text))).collect();
        if needs.iter().all(|(_, need)| need.objects.is_empty()) {
            return;
        }
        let task = (self.query.text(), wanted(self.query.text()));
        let asked_for: BTreeSet<String> =
            needs.iter().chain([&task]).flat_map(|(text, read)| read.asks_for(text)).collect();
        for (_, Wanted { objects, unwanted, .. }) in needs {
            self.ruled_out.extend(objects);
            self.unwanted.terms.extend(unwanted.terms.difference(&asked_for).cloned());
            self.unwanted.names.extend(unwanted.names);
        }
    }

    /// Returns a part of the task in the characters that the user wrote.
    pub(super) fn as_written(&self, part: &str) -> String {
        let start = characters(&self.written).find(part);
        start.map_or(part, |start| &self.written[start..start + part.len()]).to_owned()
    }

    /// Leaves out the skills whose name says what the task rules out.
    pub(super) fn leave_out(&self, index: &Index, candidates: &mut Vec<Candidate>) -> Result<()> {
        if self.unwanted == Unwanted::default() {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(candidates.len());
        for candidate in candidates.drain(..) {
            let name = index.headline(index.find(&candidate.skill)?)?.name;
            if !self.unwanted.has(name) {
                kept.push(candidate);
            }
        }
        *candidates = kept;
        Ok(())
    }
}

/// Returns a need as it is ranked: without what it rules out.
pub(super) fn read_need(need: &Need) -> Result<Query> {
    Query::new(wanted(need.text()).text.unwrap_or_else(|| need.text().to_owned()))
}

/// Returns the words of a text that look like names of skills, as [`name_key`] has them.
fn names_in(text: &str) -> impl Iterator<Item = String> {
    let words =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| word.contains(['-', '_'])).map(name_key)
}

fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    Analyzer::new().for_each_term(text, &mut |term| {
        terms.insert(term.to_owned());
    });
    terms
}

/// Returns a task without what it says is not to be done, and that; `None` if it says nothing of
/// the kind, or nothing else.
fn without_refusals(task: &str) -> Option<(String, Vec<String>)> {
    let refusals = if task.len() > MAX_NEGATED_BYTES { Vec::new() } else { refusals(task) };
    let rest = without(task, &refusals);
    let refused = refusals.iter().map(|refusal| task[refusal.object.clone()].to_owned()).collect();
    (!refusals.is_empty() && !terms(&rest).is_empty()).then_some((rest, refused))
}

/// What a task asks for, and what it does not want.
#[derive(Default)]
struct Wanted {
    /// The task without what it rules out; none if nothing is ruled out, or all.
    text: Option<String>,
    /// What is ruled out.
    objects: Vec<String>,
    unwanted: Unwanted,
}

impl Wanted {
    /// Returns the terms of a text that are asked for; this is what was read of it.
    fn asks_for(&self, text: &str) -> BTreeSet<String> {
        match &self.text {
            Some(rest) => terms(rest),
            None if self.objects.is_empty() => terms(text),
            None => BTreeSet::new(),
        }
    }
}

fn wanted(task: &str) -> Wanted {
    let negations = if task.len() > MAX_NEGATED_BYTES { Vec::new() } else { negations(task) };
    if negations.is_empty() {
        return Wanted::default();
    }
    let rest = without(task, &negations);
    let asked_for = terms(&rest);
    let mut found = Wanted::default();
    for negation in negations {
        let object = &task[negation.object];
        let mut unwanted = terms(object);
        for (short, full) in SHORT_NAMES {
            if unwanted.contains(short) {
                unwanted.append(&mut terms(full));
            }
        }
        unwanted.retain(|term| !asked_for.contains(term));
        let mut names: BTreeSet<String> = names_in(object).collect();
        if !names.is_empty() || !unwanted.is_empty() {
            found.objects.push(object.trim().to_owned());
            found.unwanted.terms.append(&mut unwanted);
            found.unwanted.names.append(&mut names);
        }
    }
    found.text = (!asked_for.is_empty()).then_some(rest);
    found
}

/// Returns a task with its short forms spelled out, as the encoders know the words; as it is, where
/// that would make it too long.
fn spelled_out(task: &str) -> Cow<'_, str> {
    let form = |word: &str| SHORT_FORMS.iter().find(|(short, _)| *short == word);
    let is_long = task.split_whitespace().nth(MAX_WORDS).is_some();
    if is_long || !task.split_whitespace().any(|word| form(bare(word)).is_some()) {
        return Cow::Borrowed(task);
    }
    let spelled_out = |piece: &str| match form(bare(piece)) {
        Some((short, long)) => piece.replacen(short, long, 1),
        None => piece.to_owned(),
    };
    let long: String = task.split_inclusive(char::is_whitespace).map(spelled_out).collect();
    if long.len() > Query::MAX_BYTES { Cow::Borrowed(task) } else { Cow::Owned(long) }
}

/// Returns a task with the full names of what it calls by a short name that no skill has, and which
/// these are, each once. What is a part of a file name stays, and so does what would make the task
/// too long.
fn full_names(
    task: &str,
    is_known: impl Fn(&str) -> Result<bool>,
) -> Result<(String, Vec<Correction>)> {
    let (mut text, mut renamed) = (String::with_capacity(task.len()), Vec::new());
    let is_of_name = |c: char| c.is_alphanumeric() && !is_spaceless(c) || "._-/\\:@#".contains(c);
    // Whether a skill has a short name, asked once for each.
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    let mut room = Query::MAX_BYTES.saturating_sub(task.len());
    let mut rest = task;
    while let Some(start) = rest.find(is_of_name) {
        let word = &rest[start..];
        let word = &word[..word.find(|c| !is_of_name(c)).unwrap_or(word.len())];
        let bare = word.trim_end_matches(['.', ':']);
        let full = SHORT_NAMES.iter().find(|(short, _)| bare.eq_ignore_ascii_case(short));
        text.push_str(&rest[..start]);
        let full = full.map(|(_, full)| *full).filter(|full| full.len() - bare.len() <= room);
        let is_known = match (full, known.get(bare)) {
            (None, _) => true,
            (_, Some(is_known)) => *is_known,
            (_, None) => *known.entry(bare).or_insert(is_known(bare)?),
        };
        match full {
            Some(full) if !is_known => {
                room -= full.len() - bare.len();
                text.push_str(full);
                text.push_str(&word[bare.len()..]);
                add(&mut renamed, Correction { from: bare.to_owned(), to: full.to_owned() });
            }
            _ => text.push_str(word),
        }
        rest = &rest[start + word.len()..];
    }
    text.push_str(rest);
    Ok((text, renamed))
}

/// Adds a correction that is not there yet.
fn add(corrections: &mut Vec<Correction>, correction: Correction) {
    if !corrections.contains(&correction) {
        corrections.push(correction);
    }
}

/// Returns a text in simplified characters; Japanese has characters of its own.
fn characters(text: &str) -> Cow<'_, str> {
    if text.contains(is_kana) { Cow::Borrowed(text) } else { simplified(text) }
}

/// Returns a word without the marks of a sentence behind it. Other signs belong to it: code has
/// them.
fn bare(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_whitespace() || ",.?!;:，。？！".contains(c))
}

/// Returns a task with the typing errors mended that the words of the library or of the speller
/// tell; as it is, where that would make it too long.
fn mended(task: &str, index: &Index, speller: &dyn Speller) -> Result<(String, Vec<Correction>)> {
    let mut corrections: Vec<Correction> = Vec::new();
    if task.split_whitespace().nth(MAX_WORDS).is_some() {
        return Ok((task.to_owned(), corrections));
    }
    let is_english = LazyCell::new(|| is_english(task));
    let mut mended = String::with_capacity(task.len());
    for piece in task.split_inclusive(char::is_whitespace) {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let is_plain = word.len() >= MIN_LETTERS && word.bytes().all(|c| c.is_ascii_lowercase());
        let is_unknown = is_plain && !is_familiar(word, index)?;
        let meant = if is_unknown && *is_english { meant(word, index, speller)? } else { None };
        match meant {
            Some(meant) => {
                mended.push_str(&piece.replacen(word, &meant, 1));
                add(&mut corrections, Correction { from: word.to_owned(), to: meant });
            }
            None => mended.push_str(piece),
        }
    }
    if mended.len() > Query::MAX_BYTES {
        return Ok((task.to_owned(), Vec::new()));
    }
    Ok((mended, corrections))
}

/// Returns whether a word is a stop word, or one that a library has which is small enough: then no
/// speller need be asked, whose vocabulary takes time to read.
fn is_familiar(word: &str, index: &Index) -> Result<bool> {
    let is_small = index.n_skills() <= SMALL_LIBRARY;
    Ok(terms(word).is_empty() || is_small && n_users(word, index)? > 0)
}

/// Returns what an unknown word is most likely meant for: of the nearest words of the library, that
/// of most skills; without any, two words of the library in one; else the one nearest word that the
/// speller has, if there is only one, so that the transformer can read it. A word that is spelled
/// right is at most two in one.
fn meant(word: &str, index: &Index, speller: &dyn Speller) -> Result<Option<String>> {
    let is_small = index.n_skills() <= SMALL_LIBRARY;
    let is_right = speller.is_spelled_right(word);
    if is_right && (!is_small || speller.has_whole_word(word)) {
        return Ok(None);
    }
    let library = if is_small { index.headline_words()? } else { &[] };
    if is_right {
        return Ok(two_words(word, library));
    }
    let mut best: Option<(u32, String)> = None;
    let nearest = speller.nearest(word, library);
    for candidate in &nearest {
        let n_users = n_users(candidate, index)?;
        if n_users > best.as_ref().map_or(0, |(n, _)| *n) {
            best = Some((n_users, candidate.clone()));
        }
    }
    if let Some(words) = best.map(|(_, word)| word).or_else(|| two_words(word, library)) {
        return Ok(Some(words));
    }
    let mut words = nearest.into_iter().filter(|candidate| speller.has_whole_word(candidate));
    Ok(words.next().filter(|_| words.next().is_none()))
}

/// Returns the two words of the library, which are in order, that a word is made of: `helmchart`.
/// Of several such pairs, the one with the longest first word.
fn two_words(word: &str, library: &[String]) -> Option<String> {
    let has = |part: &str| library.binary_search_by(|known| known.as_str().cmp(part)).is_ok();
    let ends = MIN_LETTERS..=word.len().saturating_sub(MIN_LETTERS);
    let mut pairs = ends.rev().filter_map(|end| word.split_at_checked(end));
    pairs
        .find(|(first, last)| has(first) && has(last))
        .map(|(first, last)| format!("{first} {last}"))
}

/// Returns how many skills have a word in one field.
fn n_users(word: &str, index: &Index) -> Result<u32> {
    let mut n_users = 0;
    for term in terms(word) {
        for postings in index.postings(&term)? {
            n_users = n_users.max(postings.n_skills);
        }
    }
    Ok(n_users)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{index::UpdateOptions, library::Library};

    #[test]
    fn a_part_is_shown_as_it_was_written() {
        let reading = Reading {
            query: Query::new("先整理干净，再寄信").unwrap(),
            corrections: Vec::new(),
            written: "先整理乾淨，再寄信".to_owned(),
            ruled_out: Vec::new(),
            unwanted: Unwanted::default(),
        };
        assert_eq!(reading.as_written("先整理干净"), "先整理乾淨");
        assert_eq!(reading.as_written("tidy up"), "tidy up");
    }

    #[test]
    fn what_a_need_rules_out_is_not_ranked_for_it() {
        let read = |task: &str, needs: &[&str]| {
            let query = Query::new(task).unwrap().with_needs(needs).unwrap();
            let texts = query.needs().iter().map(|need| read_need(need).unwrap().text().to_owned());
            let texts: Vec<String> = texts.collect();
            let mut reading = Reading {
                written: task.to_owned(),
                query,
                corrections: Vec::new(),
                ruled_out: Vec::new(),
                unwanted: Unwanted::default(),
            };
            reading.rule_out_of_needs();
            (texts, reading.ruled_out, reading.unwanted.has("docker-deploy"))
        };
        let (texts, ruled_out, is_unwanted) = read("ship the app", &["deploy without docker"]);
        assert_eq!((texts, ruled_out), (vec!["deploy".to_owned()], vec!["docker".to_owned()]));
        assert!(is_unwanted);
        let (texts, _, is_unwanted) = read("ship the app", &["no docker"]);
        assert_eq!(texts, ["no docker"]);
        assert!(is_unwanted);
        let (_, _, is_unwanted) =
            read("ship the app", &["deploy without docker", "build a docker image"]);
        assert!(!is_unwanted, "another need asks for it");
        let (_, _, is_unwanted) = read("mend the docker image", &["deploy without docker"]);
        assert!(!is_unwanted, "the task asks for it");
    }

    #[test]
    fn short_forms_are_spelled_out() {
        assert_eq!(
            spelled_out("can u fix it, pls? w/o docker\n"),
            "can you fix it, please? without docker\n"
        );
        for kept in ["u-boot, v = u/3", "`u` (u, v) u- components", "U and I", &"u ".repeat(81)] {
            assert_eq!(spelled_out(kept), kept);
        }
    }

    #[test]
    fn short_names_that_no_skill_has_are_read_in_full() {
        let read = |task: &str| full_names(task, |name| Ok(name == "xlsx")).unwrap();
        let (text, renamed) = read("最后做成PPT，再发 k8s.");
        assert_eq!(text, "最后做成PowerPoint，再发 Kubernetes.");
        let renamed: Vec<_> = renamed.iter().map(|it| (it.from.as_str(), it.to.as_str())).collect();
        assert_eq!(renamed, [("PPT", "PowerPoint"), ("k8s", "Kubernetes")]);
        for kept in ["read deck.ppt and ./xls/a", "an xlsx file", "a ppt-maker, é ppté?", ""] {
            assert_eq!(read(kept), (kept.to_owned(), Vec::new()), "{kept}");
        }
    }

    #[test]
    fn two_words_without_a_blank_are_told_apart() {
        let library = ["chart", "charts", "data", "helm", "hel", "mcharts"].map(str::to_owned);
        let mut library = library.to_vec();
        library.sort();
        let read = |word: &str| two_words(word, &library);
        assert_eq!(read("helmchart").as_deref(), Some("helm chart"));
        assert_eq!(read("helmcharts").as_deref(), Some("helm charts"));
        for word in ["helm", "helmets", "flipchart", "helcharts", "datahelmchart", "chart", ""] {
            assert_eq!(read(word), None, "{word}");
        }
    }

    #[test]
    fn a_short_name_is_told_once_and_makes_no_task_too_long() {
        let n_asked = Cell::new(0);
        let read = |task: &str| {
            let is_known = |_: &str| {
                n_asked.set(n_asked.get() + 1);
                Ok(false)
            };
            full_names(task, is_known).unwrap()
        };
        let (text, renamed) = read(&"ppt ".repeat(60_000));
        assert!(text.len() <= Query::MAX_BYTES && text.starts_with("PowerPoint PowerPoint "));
        assert!(text.len() > Query::MAX_BYTES - 7 && text.ends_with(" ppt ppt "));
        assert_eq!((renamed.len(), n_asked.get()), (1, 1));
        let (_, renamed) = read("ppt, PPT, k8s and ppt");
        let renamed: Vec<&str> = renamed.iter().map(|it| it.from.as_str()).collect();
        assert_eq!(renamed, ["ppt", "PPT", "k8s"]);
    }

    /// Knows all words but one.
    struct KnowsTables;

    impl Speller for KnowsTables {
        fn is_spelled_right(&self, word: &str) -> bool {
            word != "tabel"
        }

        fn has_whole_word(&self, _: &str) -> bool {
            true
        }

        fn nearest(&self, _: &str, _: &[String]) -> Vec<String> {
            vec!["tables".to_owned()]
        }
    }

    #[test]
    fn what_is_spelled_out_or_mended_makes_no_task_too_long() {
        let dir = tempfile::tempdir().unwrap();
        let (skills, path) = (dir.path().join("skills"), dir.path().join("index"));
        std::fs::create_dir_all(skills.join("tables")).unwrap();
        let text = "---\nname: tables\ndescription: Clean messy tables\n---\nText.\n";
        std::fs::write(skills.join("tables/SKILL.md"), text).unwrap();
        let library = Library::open([&skills]).unwrap();
        Index::update(&path, &library, &UpdateOptions::default(), &mut |_| {}).unwrap();
        let index = Index::open(&path).unwrap();
        for (start, read_as) in [
            ("pls clean up the messy file ", "please clean up the messy file "),
            ("clean up the messy tabel in the file ", "clean up the messy tables in the file "),
        ] {
            let read = |n_bytes: usize| {
                let task = format!("{start}{}", "1".repeat(n_bytes - start.len()));
                let query = Query::new(task).unwrap();
                Reading::of(&query, &index, Some(&KnowsTables)).unwrap()
            };
            assert!(read(100).query.text().starts_with(read_as), "{start}");
            let longest = read(Query::MAX_BYTES);
            assert!(longest.query.text().starts_with(start), "{start}");
            assert_eq!(longest.corrections, []);
        }
    }

    #[test]
    fn what_is_not_to_be_done_is_not_ranked() {
        let (rest, refused) = without_refusals("tidy the CSVs, but don't draw charts").unwrap();
        assert_eq!(
            (rest.as_str(), &refused[..]),
            ("tidy the CSVs", &["draw charts".to_owned()][..])
        );
        assert_eq!(without_refusals("don't draw any charts"), None);
        let specification = format!("{} Do not print a line.", "It prints a line. ".repeat(80));
        assert_eq!(without_refusals(&specification), None);
    }

    #[test]
    fn what_is_ruled_out_is_not_ranked() {
        let Wanted { text, objects, unwanted } =
            wanted("do not use docker compose, deploy with systemd only");
        assert_eq!(text.as_deref(), Some("deploy with systemd only"));
        assert_eq!(objects, ["docker compose"]);
        assert_eq!(unwanted.terms.into_iter().collect::<Vec<_>>(), ["compos", "docker"]);
        let Wanted { text, unwanted, .. } =
            wanted("compare docker and podman, but no docker swarm");
        assert!(text.is_some());
        assert_eq!(unwanted.terms.into_iter().collect::<Vec<_>>(), ["swarm"]);
        let Wanted { text, objects, unwanted } =
            wanted("clean the CSV, but do not use csv-cleaning");
        assert_eq!(
            (text.as_deref(), &objects[..]),
            (Some("clean the CSV"), &["csv-cleaning".to_owned()][..])
        );
        assert!(unwanted.has("CSV Cleaning") && !unwanted.has("csv") && !unwanted.has("cleaning"));
        let unwanted = wanted("deploy the app, do not use k8s").unwanted;
        assert!(unwanted.has("kubernetes-deploy") && unwanted.has("k8s"));
        assert_eq!(wanted("do not use docker").text, None);
        assert!(wanted("build the docker image, no docker").objects.is_empty());
        let specification =
            format!("{} It starts with no arguments.", "It prints a line. ".repeat(80));
        assert!(wanted(&specification).objects.is_empty());
    }
}
