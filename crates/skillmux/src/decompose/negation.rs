//! [`negations`]: what a task says is not to be used.

use std::{cell::LazyCell, ops::Range};

use super::{
    chinese_negation,
    foreign_negation::{Refused, refused_at},
    head,
    no_negation::{begins_with_abbreviation, is_iberian, is_no_negation, quotations},
    phrase::{begins_phrase, begins_with},
    without_ranges,
};
use crate::text::is_english;

/// Words after which a task names what it does not want, wherever they stand. Longer ones come
/// before those that they begin with.
const STARTS: [&str; 54] = [
    "can not use",
    "can't use",
    "can\u{2019}t use",
    "cannot use",
    "cant use",
    "do not use",
    "don't use",
    "don\u{2019}t use",
    "dont use",
    "do not want to use",
    "don't want to use",
    "don\u{2019}t want to use",
    "do not want",
    "don't want",
    "don\u{2019}t want",
    "do not need",
    "don't need",
    "don\u{2019}t need",
    "do not touch",
    "don't touch",
    "don\u{2019}t touch",
    "must not use",
    "mustn't use",
    "mustn\u{2019}t use",
    "never use",
    "without using",
    "instead of",
    "rather than",
    "other than",
    "anything but",
    "anything except",
    "everything but",
    "everything except",
    "i am not using",
    "i'm not using",
    "i\u{2019}m not using",
    "neither",
    "no longer need",
    "no longer use",
    "nor",
    "not going to use",
    "not have to use",
    "prefer not to use",
    "rather not use",
    "skip",
    "stay away from",
    "we are not using",
    "we're not using",
    "we\u{2019}re not using",
    "will not use",
    "with no",
    "without",
    "won't use",
    "won\u{2019}t use",
];

/// Words that do the same at the begin of a phrase: after a mark, or after `and`, `but` or
/// `please`.
const PHRASE_STARTS: [&str; 10] = [
    "ditch",
    "forget about",
    "forget",
    "never mind",
    "not using",
    "not with",
    "not in",
    "not as",
    "not",
    "no",
];

/// Words behind what they rule out, which begins a phrase: `docker is not allowed`.
const ENDINGS: [&str; 22] = [
    "are banned",
    "are forbidden",
    "are not allowed",
    "are not an option",
    "are not needed",
    "are out of the question",
    "aren't allowed",
    "aren\u{2019}t allowed",
    "is banned",
    "is forbidden",
    "is not allowed",
    "is not an option",
    "is not needed",
    "is off limits",
    "is off the table",
    "is out of the question",
    "isn't allowed",
    "isn\u{2019}t allowed",
    "isn't an option",
    "isn\u{2019}t an option",
    "isn't needed",
    "isn\u{2019}t needed",
];

/// A word that does so at the begin of a phrase, unless it says all that the task wants: `avoid
/// rerenders in React`.
const AVOID: &str = "avoid";

/// Words that end what is ruled out.
const ENDS: [&str; 21] = [
    "and", "because", "but", "create", "deploy", "for", "give", "if", "instead", "just", "make",
    "nor", "only", "please", "send", "show", "so", "thanks", "try", "use", "write",
];

/// Words that say where or what for, after what is ruled out: `without mocks in jest`.
const PLACES: [&str; 15] = [
    "as", "at", "by", "from", "in", "inside", "into", "on", "over", "to", "using", "via", "when",
    "while", "with",
];

/// Words that may end what is ruled out, and are no part of it.
const TRAILERS: [&str; 9] =
    ["again", "anymore", "anyway", "anywhere", "ever", "here", "now", "there", "today"];

/// Words that make a state of what they stand in: `no tests here`, `no idea how`, `without it
/// nothing runs`, `no such file`.
const OF_STATES: [&str; 61] = [
    "appear",
    "appears",
    "arrive",
    "arrives",
    "available",
    "clue",
    "comes",
    "configured",
    "detected",
    "doubt",
    "entry",
    "everybody",
    "everything",
    "exist",
    "existing",
    "exists",
    "found",
    "here",
    "hurry",
    "i",
    "idea",
    "it",
    "left",
    "loads",
    "longer",
    "luck",
    "match",
    "matches",
    "matching",
    "matter",
    "named",
    "needed",
    "nobody",
    "nothing",
    "one",
    "permission",
    "problem",
    "provided",
    "reason",
    "required",
    "response",
    "returned",
    "route",
    "rush",
    "show",
    "shows",
    "starts",
    "such",
    "there",
    "they",
    "time",
    "valid",
    "wait",
    "way",
    "we",
    "wonder",
    "work",
    "works",
    "worries",
    "yet",
    "you",
];

/// Words that may stand before it and are no part of it.
const ARTICLES: [&str; 8] = ["a", "an", "any", "my", "our", "the", "this", "with"];

/// Words that name nothing: `this is not allowed`.
const PRONOUNS: [&str; 7] = ["it", "one", "that", "these", "this", "those", "which"];

/// Most words of what is ruled out; more are a sentence with a condition.
const MAX_WORDS: usize = 3;

/// What a task rules out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Negation {
    /// Bytes of the task that say so, with the words that rule out.
    pub(crate) range: Range<usize>,
    /// Bytes of what is ruled out.
    pub(crate) object: Range<usize>,
}

/// Returns what a task rules out, in its order; they do not overlap.
///
/// Only what is asked for is ruled out: `do not use docker`, `no containers,`, `not with Docker`,
/// `Docker is not allowed`. A
/// state is not, as in `it does not start`, nor a condition, as in `without losing data`.
pub(crate) fn negations(task: &str) -> Vec<Negation> {
    let lower = task.to_ascii_lowercase();
    let is_english = LazyCell::new(|| is_english(&lower) && !is_iberian(&lower));
    let mut quotations = quotations(&lower).into_iter().peekable();
    let mut found: Vec<Negation> = Vec::new();
    let mut from = 0;
    for (at, _) in lower.char_indices() {
        if at < from {
            continue;
        }
        while quotations.next_if(|quotation| quotation.end <= at).is_some() {}
        if quotations.peek().is_some_and(|quotation| quotation.contains(&at)) {
            continue;
        }
        if let Some(Refused { range, object }) = refused_at(&lower, at, from) {
            let object = object.filter(|_| !begins_with_abbreviation(&task[range.clone()], task));
            from = range.end;
            found.extend(object.map(|object| Negation { range, object }));
        } else if let Some(negation) = ending_at(&lower, at, from) {
            from = negation.range.end;
            found.push(negation);
        } else if let Some(start) = start_at(&lower, at, || *is_english)
            .filter(|start| !is_no_negation(&lower, &start.range, start.is_chinese))
        {
            let object = object(&lower, &start).filter(|object| !is_aim(&lower, &start, object));
            let begin = before_conjunction(&lower[..at]);
            let end = object.as_ref().map(|object| behind_origin(&lower, &start, object.end));
            from = end.unwrap_or(start.end);
            found.extend(object.map(|object| Negation { range: begin..from, object }));
        }
    }
    found
}

/// Returns where a phrase ends that rules out: it takes with it what would be made from, as in `but
/// no tables from the PDF`. In Chinese it takes the mark of the past: 不做PPT了.
fn behind_origin(lower: &str, start: &Start, end: usize) -> usize {
    let rest = &lower[end..];
    if start.is_chinese {
        return chinese_negation::behind_change(lower, end);
    }
    if !start.is_after_but || !rest.starts_with(" from ") {
        return end;
    }
    let length = rest.find(|c: char| !c.is_alphanumeric() && !c.is_whitespace());
    end + length.unwrap_or(rest.len())
}

/// Tells whether what is to be avoided is all that a task is about: `avoid prompt injection`.
fn is_aim(lower: &str, start: &Start, object: &Range<usize>) -> bool {
    let is_silent = |text: &str| !text.contains(char::is_alphanumeric);
    let after = &lower[object.end..];
    &lower[start.range.clone()] == AVOID
        && (after.starts_with(':') || is_silent(after) && is_silent(&lower[..start.range.start]))
}

/// Returns where the `but` or `and` begins that ends a text, else where the text ends.
fn before_conjunction(lower: &str) -> usize {
    let text = lower.trim_end_matches(' ');
    let words = ["but", "and"].iter().filter_map(|word| text.strip_suffix(word));
    let mut before = words.filter(|before| !before.ends_with(char::is_alphanumeric));
    before.next().map_or(lower.len(), str::len)
}

/// Returns a task without what it rules out, which is in its order, and without the marks that
/// stood between.
pub(crate) fn without(task: &str, negations: &[Negation]) -> String {
    let rest = without_ranges(task, negations.iter().map(|negation| negation.range.clone()));
    if negations.is_empty() {
        return rest;
    }
    let rest =
        rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '，' | '、'));
    // The end of a sentence that is gone; `.env` is a name.
    let ended = [". ", "! ", "。", "！"].iter().find_map(|mark| rest.strip_prefix(mark));
    ended.unwrap_or(rest).trim_start().to_owned()
}

/// Returns what the words at these bytes rule out that begin a phrase, if there are such; it begins
/// at `from` or later.
fn ending_at(lower: &str, at: usize, from: usize) -> Option<Negation> {
    if let Some((range, object)) = chinese_negation::ending_at(lower, at, from) {
        return Some(Negation { range, object });
    }
    let before = lower[from..at].strip_suffix(' ')?;
    let words = ENDINGS.iter().find(|words| begins_with(&lower[at..], words))?;
    let word_before = |end: usize| before[..end].rfind(' ').map_or(0, |space| space + 1);
    let mut start = before.len();
    for _ in 0..MAX_WORDS {
        start = word_before(before[..start].char_indices().next_back()?.0);
        if begins_phrase(lower, from + start) {
            let object = &before[start..];
            let article = ARTICLES.iter().find_map(|article| {
                object
                    .strip_prefix(article)?
                    .strip_prefix(' ')
                    .map(|rest| object.len() - rest.len())
            });
            let object = from + start + article.unwrap_or(0)..from + before.len();
            let begin = before_conjunction(&lower[..from + start]).max(from);
            let is_named = !object.is_empty() && !PRONOUNS.contains(&&lower[object.clone()]);
            return is_named.then(|| Negation { range: begin..at + words.len(), object });
        }
    }
    None
}

/// Words that rule out.
struct Start {
    range: Range<usize>,
    end: usize,
    is_chinese: bool,
    /// Whether the whole phrase must be ruled out, up to a mark.
    is_whole: bool,
    /// Whether `but` stands before: then a place behind what is ruled out does not matter.
    is_after_but: bool,
}

/// Returns the words that rule out and begin at these bytes; `is_english` tells whether the task is.
fn start_at(lower: &str, at: usize, is_english: impl Fn() -> bool) -> Option<Start> {
    let rest = &lower[at..];
    let start = |words: &&str, is_chinese: bool, is_whole: bool| Start {
        range: at..at + words.len(),
        end: at + words.len(),
        is_chinese,
        is_whole,
        is_after_but: lower[..at].ends_with("but "),
    };
    let is_at = |words: &&&str| begins_with(rest, words);
    if let Some(words) = chinese_negation::start_at(lower, at) {
        return Some(start(&words, true, false));
    }
    // `--skip` is a flag.
    let is_inside = lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
    if !rest.starts_with(char::is_alphabetic) || is_inside {
        return None;
    }
    if let Some(words) = STARTS.iter().find(is_at) {
        return Some(start(words, false, false));
    }
    let words = PHRASE_STARTS.iter().chain([&AVOID]).find(is_at);
    // In Spanish and Portuguese `no` is another word.
    let words = words.filter(|_| begins_phrase(lower, at) && is_english())?;
    Some(start(words, false, true))
}

/// Returns the bytes of what the words rule out; `None` if nothing is named.
fn object(lower: &str, start: &Start) -> Option<Range<usize>> {
    let rest = head(&lower[start.end..]);
    if start.is_chinese {
        return chinese_negation::object(lower, start.end);
    }
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut end_of_phrase = false;
    let mut at = 0;
    for word in rest.split_inclusive(char::is_whitespace) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        // `no subtitles show up` is a state.
        if rest[at..].starts_with("show up") {
            return None;
        }
        if ENDS.contains(&bare) {
            end_of_phrase = true;
            break;
        }
        if PLACES.contains(&bare) && !words.is_empty() {
            end_of_phrase = start.is_after_but;
            break;
        }
        if !(bare.is_empty() || words.is_empty() && ARTICLES.contains(&bare)) {
            words.push((at + word.find(bare).unwrap_or(0), bare));
        }
        at += word.len();
        let is_marked = word.trim_end().ends_with(|c: char| !c.is_alphanumeric());
        let is_last = is_marked || word.ends_with('\n') && !words.is_empty();
        if is_last || words.len() > MAX_WORDS {
            end_of_phrase |= is_last;
            break;
        }
    }
    end_of_phrase |= at >= rest.len();
    // `no slides needed`, `no slides this time`.
    for trailer in [&["needed"][..], &["this", "time"]] {
        let n_left = words.len().saturating_sub(trailer.len());
        if end_of_phrase && n_left > 0 && words[n_left..].iter().map(|word| &word.1).eq(trailer) {
            words.truncate(n_left);
        }
    }
    // `without losing data` is a condition; `not working` tells a state.
    let may_tell_state = ["no", "with no", "without"].contains(&&lower[start.range.clone()]);
    while !may_tell_state
        && words.len() > 1
        && words.last().is_some_and(|(_, word)| TRAILERS.contains(word))
    {
        words.pop();
    }
    let (first, last) = (words.first()?, words.last()?);
    let is_of_state = |(_, word): &(usize, &str)| may_tell_state && OF_STATES.contains(word);
    // A name is none: `do not use csv-cleaning`.
    let may_be_name = lower[start.range.clone()].ends_with("use") && first.1.contains(['-', '_']);
    let is_gerund = first.1.ends_with("ing") && !may_be_name;
    let is_condition = is_gerund || words.iter().any(is_of_state);
    if is_condition || words.len() > MAX_WORDS || (start.is_whole && !end_of_phrase) {
        return None;
    }
    Some(start.end + first.0..start.end + last.0 + last.1.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::growth::assert_linear;

    fn objects(task: &str) -> Vec<&str> {
        negations(task).into_iter().map(|negation| &task[negation.object]).collect()
    }

    #[test]
    fn what_is_not_to_be_used_is_ruled_out() {
        for (task, expected) in [
            ("do not use docker, deploy with systemd only", vec!["docker"]),
            ("deploy it, don\u{2019}t use docker", vec!["docker"]),
            ("no docker\nand deploy it with systemd", vec!["docker"]),
            ("Deploy it, but no Kubernetes please", vec!["Kubernetes"]),
            ("Don't use the Docker Compose file but systemd", vec!["Docker Compose file"]),
            ("a report as PDF, not Word.", vec!["Word"]),
            ("Make charts without Excel and avoid pandas", vec!["Excel", "pandas"]),
            ("write tests instead of docs", vec!["docs"]),
            ("anything except docker: get the services running", vec!["docker"]),
            ("deploy it with no Docker, please", vec!["Docker"]),
            ("charts with neither Excel nor Tableau", vec!["Excel", "Tableau"]),
            ("make slides but not in powerpoint", vec!["powerpoint"]),
            ("make slides but no tables from pdf", vec!["tables"]),
            ("translate it, but not the tables in the annex", vec!["tables"]),
            ("instead of excel give me a word document", vec!["excel"]),
            ("部署服务，不要用docker，用systemd", vec!["docker"]),
            ("部署服务，不要用kubernetes", vec!["kubernetes"]),
            ("我不想用 Kubernetes，有别的办法吗", vec![" Kubernetes"]),
            ("写推广文案，别写成小红书笔记", vec!["小红书笔记"]),
            ("不要用 docker compose 改用 systemd", vec![" docker compose"]),
            ("别用Kubernetes 用 systemd 部署", vec!["Kubernetes"]),
            ("set up a queue without zookeeper in kafka", vec!["zookeeper"]),
            ("a chart with no gridlines in excel", vec!["gridlines"]),
            ("we dont use docker here, deploy it", vec!["docker"]),
            ("deploy it, not using docker", vec!["docker"]),
            ("avoid docker, deploy it with systemd", vec!["docker"]),
            ("docker is not allowed here, deploy it with systemd", vec!["docker"]),
            ("deploy it, but the docker daemon is off limits", vec!["docker daemon"]),
            ("deploy it; Kubernetes is not an option", vec!["Kubernetes"]),
            ("set up a queue, something other than kafka", vec!["kafka"]),
            ("we can't use docker, deploy it", vec!["docker"]),
            ("forget docker, deploy it with systemd", vec!["docker"]),
            ("ditch the slides, a one-page PDF will do", vec!["slides"]),
            ("write a report, no slides needed", vec!["slides"]),
            ("no slides this time, just a report", vec!["slides"]),
            ("we no longer use docker, deploy it with systemd", vec!["docker"]),
            ("I'd rather not use Excel, make a chart", vec!["Excel"]),
            ("I don't want to use Excel, make a chart", vec!["Excel"]),
            ("Docker is out of the question, deploy it with systemd", vec!["Docker"]),
            ("write a report rather than slides", vec!["slides"]),
            ("别做PPT了,写一份报告", vec!["PPT"]),
            ("写一份报告，PPT就不用了", vec!["PPT"]),
            ("PPT不用做，写一份报告", vec!["PPT"]),
            ("今天不用做PPT，写一份报告", vec!["做PPT"]),
            ("Never mind the chart. Write an invoice.", vec!["chart"]),
            ("I'm not using docker, deploy it", vec!["docker"]),
            ("a night out, but the café is off limits", vec!["café"]),
        ] {
            assert_eq!(objects(task), expected, "{task}");
        }
    }

    #[test]
    fn what_is_left_has_no_loose_ends() {
        for (task, expected) in [
            ("write an invoice, but not the expense report", "write an invoice"),
            ("do not use docker, deploy with systemd", "deploy with systemd"),
            ("sand but not paint", "sand"),
            ("Never mind the chart. Write it.", "Write it."),
            ("no docker, .env is needed", ".env is needed"),
            ("make slides but no tables from pdf files", "make slides"),
            ("in a word, and avoid slang", "in a word"),
        ] {
            assert_eq!(without(task, &negations(task)), expected);
        }
        assert_eq!(without(" as it is, ", &[]), " as it is, ");
    }

    #[test]
    fn states_conditions_and_other_words_rule_nothing_out() {
        for task in [
            "my docker container does not start",
            "migrate the table without losing data",
            "Users can't use the login, fix it",
            "users will not use the search, find out why",
            "I can't use docker on my Mac, it fails at once",
            "I don't want the invoice to be late",
            "anything but docker works, repair it",
            "there is no error message when docker fails to start the container",
            "I know nothing about skipping rope",
            "the app is not working",
            "notes about Docker",
            "no unit tests here, please write some",
            "docker compose up fails: no such service web",
            "postgres: no pg_hba.conf entry for host, and queries are slow",
            "kubectl: no endpoints available for service postgres",
            "git rebase --skip dropped my commit, help",
            "I can't do without docker compose, set up my dev environment",
            "Never deploy without kubernetes! write the manifests",
            "No subtitles show up in VLC, fix the SRT",
            "fix: ERROR: no healthy upstream, please",
            "fatal: not a git repository, help me recover it",
            "Translate \"Don't use the PDF\" into French",
            "为什么不用redis缓存?加上",
            "不要忘记写周报和PPT",
            "不得不用docker部署,帮我写docker compose",
            "不要只写周报,还要做PPT",
            "不用担心",
            "Resize SEM images",
            "No PDF, extraia as tabelas para mim",
            "No tengo currículum, escribe uno para la empresa",
            "terminal says get: command not found",
            "no tests exist for the price module, write some",
            "without docker nothing runs, fix the dockerfile",
            "no idea how to merge these",
            "avoid rerenders in react",
            "avoid prompt injection",
            "how do I avoid prompt injection",
            "which flight should I take to avoid jet lag",
            "avoid hardcoded secrets: scan the repo",
            "no wait, send the mail",
            "the server says that the method is not allowed",
            "post fails: this is not allowed",
            "never mind, send the mail",
            "users are not using the search, find out why",
            "a forget-me-not, and a rose",
            "我要不要把图片压缩一下",
            "这段代码要不要重构",
            "需不需要加索引",
            "能不能用脚本处理",
        ] {
            assert_eq!(objects(task), Vec::<&str>::new(), "{task}");
        }
    }

    #[test]
    fn a_long_task_takes_no_longer_than_its_length_asks_for() {
        for unit in ["no-", "不要", "do not use ", " ", "a", "nicht ", "a is banned ", "を使わず"]
        {
            assert_linear(unit, 60_000, |task| drop(negations(task)));
        }
        // Marks before, and much to avoid after them.
        assert_linear("-", 60_000, |marks| {
            drop(negations(&format!("{marks}{}", "avoid a, ".repeat(marks.len() / 8))));
        });
    }

    proptest! {
        #[test]
        fn negations_are_in_order_and_apart(task in r"(no|not|do not use| is banned|,| |docker|é|不要用|and){0,12}|.*") {
            let mut end = 0;
            for Negation { range, object } in negations(&task) {
                prop_assert!(range.start >= end && object.start >= range.start);
                prop_assert!(object.end <= range.end && task.get(range.clone()).is_some());
                prop_assert!(task.get(object).is_some_and(|text| !text.is_empty()));
                end = range.end;
            }
        }
    }
}
