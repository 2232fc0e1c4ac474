//! [`Reading`]: how a task is read before it is ranked.

use std::{borrow::Cow, collections::BTreeSet, ops::Range};

use super::{
    spelling::{Correction, SHORT_NAMES, full_names, mended, n_users, spelled_out},
    terms::terms,
};
use crate::{
    decompose::{
        AskingWeights, formalities, has_many_words, judged, likely_asks, negations, pasted,
        refusals, without, without_chinese_stop, without_courtesies, without_lead, without_ranges,
    },
    error::Result,
    index::{Index, name_key},
    model::Speller,
    query::{Need, Query},
    retrieve::Candidate,
    text::{first_words, is_kana, simplified},
};

/// Longest task in bytes in which something is ruled out: a specification says `with no arguments`
/// and `never use` of what it describes.
const MAX_NEGATED_BYTES: usize = 1_200;

/// Words of the pasted material in the main ranking: `fix this` says nothing alone, and a whole log
/// would hide the request. Chosen with a look at `pasted-fit.jsonl` and `pasted-tasks.jsonl` of
/// `datasets/`, as the next one.
const N_CONTEXT_WORDS: usize = 25;

/// Words of it in the longer one of the other two rankings.
const N_MORE_CONTEXT_WORDS: usize = 200;

/// Words at the beginning of a long task that say what it is about. Chosen with a look at the tasks
/// of SWE-Skills-Bench.
const N_BEGINNING_WORDS: usize = 60;

/// Fewest terms of a task without its formalities; else it is read with them.
const MIN_TERMS_LEFT: usize = 6;

/// Terms of a request that names no work: `please fix this`, `怎么办`.
const BARE_TERMS: [&str; 30] = [
    "broken", "check", "error", "explain", "fail", "fix", "go", "happen", "help", "idea", "issu",
    "look", "pleas", "problem", "repair", "solv", "thank", "think", "wrong", "一下", "什么",
    "为什", "么办", "帮帮", "帮我", "怎么", "我看", "看看", "看一", "谢谢",
];

/// A task as it is ranked: in simplified characters, without what it rules out, and with typing
/// errors mended and short forms spelled out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    /// What is asked.
    pub(super) query: Query,
    /// What is known if something is pasted with it.
    context: Option<Context>,
    /// The first words of a long task with which nothing is pasted.
    beginning: Option<String>,
    /// Its pieces that ask for something, where that is known and they are not much of it.
    asked: Option<String>,
    /// What of a long task is left out of it, as the user wrote it.
    pub(super) formalities: Vec<String>,
    pub(super) corrections: Vec<Correction>,
    /// The task as the user wrote it.
    written: String,
    /// What the task rules out, as the user wrote it.
    pub(super) ruled_out: Vec<String>,
    /// What it does not want.
    unwanted: Unwanted,
}

/// A request with something pasted, all as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Context {
    /// What is asked.
    request: String,
    /// The first words of what is pasted: [`N_CONTEXT_WORDS`] and [`N_MORE_CONTEXT_WORDS`].
    short: String,
    long: String,
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
    /// Reads a task that somebody gives: as [`Reading::of`], without what it says is not to be done,
    /// and apart from what is pasted with it.
    pub(super) fn of_request(
        query: &Query,
        index: &Index,
        speller: Option<&dyn Speller>,
        asking: Option<&AskingWeights>,
    ) -> Result<Self> {
        let task = query.text();
        let (rest, formalities) = match without_formalities(task) {
            Some((rest, formalities)) => (Cow::Owned(rest), formalities),
            None => (Cow::Borrowed(task), Vec::new()),
        };
        let written = task.to_owned();
        let Some(pasted) = pasted(&rest) else {
            let reading = Self::of_asked(&query.with_text(rest.into_owned())?, index, speller)?;
            let text = reading.query.text();
            let beginning = beginning_of_long(text).map(str::to_owned);
            let asked = asking.and_then(|asking| asked_of(text, asking));
            return Ok(Self { beginning, asked, formalities, written, ..reading });
        };
        let beginning = |n_words| pasted.beginning_of_material(&rest, n_words);
        let context = Context {
            request: pasted.request_of(&rest),
            short: beginning(N_CONTEXT_WORDS),
            long: beginning(N_MORE_CONTEXT_WORDS),
        };
        let asked = query.with_text(context.request.clone())?;
        let reading = Self::of_asked(&asked, index, speller)?;
        Ok(Self { context: Some(context), formalities, written, ..reading })
    }

    /// Reads a request with nothing beside it.
    fn of_asked(query: &Query, index: &Index, speller: Option<&dyn Speller>) -> Result<Self> {
        let asked = without_courtesies(query.text());
        // A model reads how the sentences of a long task begin.
        let asked =
            if has_many_words(asked) { asked } else { without_chinese_stop(without_lead(asked)) };
        let (rest, mut refused) =
            without_refusals(asked).unwrap_or_else(|| (asked.to_owned(), Vec::new()));
        let mut reading = Self::of(&query.with_text(rest)?, index, speller)?;
        reading.unwanted.names.extend(refused.iter().flat_map(|text| names_in(text)));
        reading.ruled_out.append(&mut refused);
        Ok(Self { written: query.text().to_owned(), ..reading })
    }

    /// Reads a task as evaluation and training do.
    pub(super) fn of(query: &Query, index: &Index, speller: Option<&dyn Speller>) -> Result<Self> {
        let task = characters(&spelled_out(query.text())).into_owned();
        let Wanted { text, objects, unwanted } = wanted(&task);
        let mut reading = Self { unwanted, ..Self::unread(query) };
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

    /// Returns a query of which nothing was read yet.
    fn unread(query: &Query) -> Self {
        Self {
            query: query.clone(),
            context: None,
            beginning: None,
            asked: None,
            formalities: Vec::new(),
            corrections: Vec::new(),
            written: query.text().to_owned(),
            ruled_out: Vec::new(),
            unwanted: Unwanted::default(),
        }
    }

    /// Returns what was read as the request, as the user wrote it, if something is pasted with it.
    /// Of a long task, the pieces that ask for something, a line each.
    pub(super) fn request(&self) -> Option<String> {
        let pasted = self.context.as_ref().map(|context| context.request.clone());
        let pieces = |asked: &String| asked.lines().map(|piece| self.as_written(piece)).collect();
        pasted
            .or_else(|| self.asked.as_ref().map(pieces).map(|lines: Vec<String>| lines.join("\n")))
    }

    /// Returns whether the request names no work, so that only what is pasted tells it.
    pub(super) fn is_bare(&self) -> bool {
        is_bare(self.query.text())
    }

    /// Returns what the task as a whole is ranked by: the request, with the first 25 words of what
    /// is pasted with it.
    pub(super) fn whole(&self) -> Result<Query> {
        match &self.context {
            Some(context) => self.query_in(&context.short),
            None => Ok(self.query.clone()),
        }
    }

    /// Returns, in this order, the request alone, and with the first 200 words of what is pasted;
    /// `None` if nothing is.
    pub(super) fn others(&self) -> Result<Option<[Query; 2]>> {
        let Some(context) = &self.context else { return Ok(None) };
        Ok(Some([self.query.clone(), self.query_in(&context.long)?]))
    }

    /// Returns the first words of a long task with which nothing is pasted.
    pub(super) fn beginning(&self) -> Result<Option<Query>> {
        self.beginning.as_ref().map(|beginning| self.query.with_text(beginning.clone())).transpose()
    }

    /// Returns the pieces that ask for something in a long task with which nothing is pasted, a line
    /// each, where they are not much of it.
    pub(super) fn asked(&self) -> Result<Option<Query>> {
        self.asked.as_ref().map(|asked| self.query.with_text(asked.clone())).transpose()
    }

    fn query_in(&self, context: &str) -> Result<Query> {
        self.query.with_text(format!("{}\n\n{context}", self.query.text()))
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

/// Returns the first 60 words of a task of more than 180 words.
fn beginning_of_long(task: &str) -> Option<&str> {
    has_many_words(task).then(|| first_words(task, N_BEGINNING_WORDS))
}

/// Returns what likely asks for something in a long task of which most is background, a line each,
/// without what it rules out; `None` if that names no work.
fn asked_of(task: &str, weights: &AskingWeights) -> Option<String> {
    let judged = judged(task, weights)?;
    let asking = judged.iter().filter(|(_, asks)| likely_asks(*asks));
    let texts: Vec<String> =
        asking.map(|(piece, _)| as_wanted(task[piece.range.clone()].trim())).collect();
    let asked = texts.join("\n");
    (!is_bare(&asked)).then_some(asked)
}

/// Returns whether a text names no work.
fn is_bare(text: &str) -> bool {
    terms(text).iter().all(|term| BARE_TERMS.contains(&term.as_str()))
}

/// Returns a long task without its formalities, and these; `None` if it has none, or little else.
fn without_formalities(task: &str) -> Option<(String, Vec<String>)> {
    let ranges = if has_many_words(task) { formalities(task) } else { Vec::new() };
    let rest = without_ranges(task, ranges.iter().cloned());
    let rest = rest.trim();
    let meet =
        |range: &Range<usize>, next: &Range<usize>| task[range.end..next.start].trim().is_empty();
    let text = |ranges: &[Range<usize>]| {
        let end = ranges.last().map_or(0, |range| range.end);
        task[ranges[0].start..end].trim().to_owned()
    };
    let formalities: Vec<String> = ranges.chunk_by(meet).map(text).collect();
    let is_told = !formalities.is_empty() && terms(rest).len() >= MIN_TERMS_LEFT;
    is_told.then(|| (rest.to_owned(), formalities))
}

/// Returns a need as it is ranked: without what it rules out.
pub(super) fn read_need(need: &Need) -> Result<Query> {
    Query::new(as_wanted(need.text()))
}

/// Returns a text without what it rules out.
fn as_wanted(text: &str) -> String {
    wanted(text).text.unwrap_or_else(|| text.to_owned())
}

/// Returns the words of a text that look like names of skills, as [`name_key`] has them.
fn names_in(text: &str) -> impl Iterator<Item = String> {
    let words =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| word.contains(['-', '_'])).map(name_key)
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

/// Returns a text in simplified characters; Japanese has characters of its own.
fn characters(text: &str) -> Cow<'_, str> {
    if text.contains(is_kana) { Cow::Borrowed(text) } else { simplified(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_names_no_work_is_bare() {
        let is_bare = |text: &str| {
            let query = Query::new(text).unwrap();
            Reading::unread(&query).is_bare()
        };
        for text in ["fix", "please help me", "why?", "what is wrong here", "怎么办", "帮我看看"]
        {
            assert!(is_bare(text), "{text}");
        }
        for text in ["fix the login", "what does line 3 mean?", "帮我翻译"] {
            assert!(!is_bare(text), "{text}");
        }
    }

    #[test]
    fn a_long_task_has_a_beginning() {
        let words = |n: usize| (0..n).map(|i| format!("w{i}")).collect::<Vec<String>>().join(" ");
        assert_eq!(beginning_of_long(&words(180)), None);
        assert_eq!(beginning_of_long(&words(181)).unwrap().trim_end(), words(60));
        assert_eq!(beginning_of_long(&"帮我".repeat(181)).unwrap(), "帮我".repeat(60));
    }

    #[test]
    fn a_part_is_shown_as_it_was_written() {
        let query = Query::new("先整理干净，再寄信").unwrap();
        let written = "先整理乾淨，再寄信".to_owned();
        let reading = Reading { written, ..Reading::unread(&query) };
        assert_eq!(reading.as_written("先整理干净"), "先整理乾淨");
        assert_eq!(reading.as_written("tidy up"), "tidy up");
    }

    #[test]
    fn what_a_need_rules_out_is_not_ranked_for_it() {
        let read = |task: &str, needs: &[&str]| {
            let query = Query::new(task).unwrap().with_needs(needs).unwrap();
            let texts = query.needs().iter().map(|need| read_need(need).unwrap().text().to_owned());
            let texts: Vec<String> = texts.collect();
            let mut reading = Reading::unread(&query);
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
