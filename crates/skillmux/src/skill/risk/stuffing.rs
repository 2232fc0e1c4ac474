//! Words that are there to be found, not to be read.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Sign, mismatch::is_mostly_spaceless, pattern, terms};
use crate::text::is_stop_word;

/// Returns where a skill is stuffed with words.
///
/// The limits are set so that of 6,436 skills of public repositories about one in a thousand is
/// beyond each of them.
pub(super) fn sign(description: &str, body: &str, lines: &Lines<'_>) -> Option<Sign> {
    let is_stuffed = is_unfounded(description, body)
        || repeats_one_word(description, &IN_DESCRIPTION)
        || repeats_one_word(body, &IN_BODY);
    is_stuffed
        .then_some(Sign::Somewhere)
        .or_else(|| lines.listed())
        .or_else(|| lines.echoed(description))
}

/// Returns where a skill shows that it is there only to be found: nobody could do anything by it.
///
/// Four of 78,132 public skills do.
pub(super) fn bait(description: &str, body: &str, lines: &Lines<'_>) -> Option<Sign> {
    let is_bait = says_nothing(description, body) || lines.are_repeated();
    is_bait.then_some(Sign::Somewhere).or_else(|| lines.announced(description))
}

/// Terms from which on a description is long.
const MIN_CLAIMED_TERMS: usize = 36;

/// Least share of the terms of a long description that an honest text takes up.
const MIN_FOUNDED: f32 = 0.25;

/// Returns whether a long description names a lot that the text never speaks of. Chinese ones are
/// not judged: neighbouring characters are no words.
fn is_unfounded(description: &str, body: &str) -> bool {
    let Some(claimed) = claims(description, body, MIN_CLAIMED_TERMS) else { return false };
    let held = terms([body]);
    // A text of a few lines takes up nothing, and may still be honest.
    held.len() >= claimed.len() && share_of(&claimed, &held) < MIN_FOUNDED
}

/// Terms and bytes up to which a text says nothing.
const MAX_EMPTY_TERMS: usize = 12;
const MAX_EMPTY_BYTES: usize = 400;

/// Terms from which on a description is long for such a text, and the share of them that is too
/// little for it to hold.
const MIN_CLAIMED_OVER_NOTHING: usize = 20;
const MAX_EMPTY_FOUNDED: f32 = 0.1;

/// Returns whether a long description stands over a text of a few other words. Without any text it
/// is an entry of a list.
fn says_nothing(description: &str, body: &str) -> bool {
    // A text that names a file says what is in there.
    if body.len() > MAX_EMPTY_BYTES || body.contains(['/', '`', ']']) {
        return false;
    }
    let min_terms = MIN_CLAIMED_OVER_NOTHING;
    let Some(claimed) = claims(description, body, min_terms) else { return false };
    let held = terms([body]);
    (1..=MAX_EMPTY_TERMS).contains(&held.len()) && share_of(&claimed, &held) < MAX_EMPTY_FOUNDED
}

/// Returns the terms of a description if there are so many, and neither it nor the text is Chinese.
fn claims(description: &str, body: &str, min_terms: usize) -> Option<FxHashSet<String>> {
    // Each term has two letters or more, and something before the next one.
    let is_short = description.len() < 3 * min_terms;
    if is_short || is_mostly_spaceless(description) || is_mostly_spaceless(body) {
        return None;
    }
    let claimed = terms([description]);
    (claimed.len() >= min_terms).then_some(claimed)
}

/// How often one word may be there.
struct Repetition {
    /// From which number on.
    min_times: usize,
    /// From which share of all words on.
    min_share: f32,
}

const IN_DESCRIPTION: Repetition = Repetition { min_times: 10, min_share: 0.18 };
const IN_BODY: Repetition = Repetition { min_times: 60, min_share: 0.25 };

/// Returns whether one word is repeated over and over.
fn repeats_one_word(text: &str, limit: &Repetition) -> bool {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    let mut n_words = 0;
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if word.len() > 2 && word.starts_with(char::is_alphabetic) {
            n_words += 1;
            *counts.entry(word).or_default() += 1;
        }
    }
    let is_too_often = |word: &str, n: usize| {
        n >= limit.min_times
            && n as f32 >= limit.min_share * n_words as f32
            && !is_stop_word(&word.to_lowercase())
    };
    counts.into_iter().any(|(word, n)| is_too_often(word, n))
}

/// Words from which on a line can be a list of search words.
const MIN_LIST_WORDS: usize = 25;

/// Separators of the items of such a list.
const MIN_SEPARATORS: usize = 12;

/// Most of the words of such a list that are function words.
const MAX_STOP_SHARE: f32 = 0.08;

/// Words in such lists from which on a text is stuffed.
const MIN_LISTED_WORDS: usize = 120;

/// Requests from which on a text can be a list of them.
const MIN_REQUESTS: usize = 20;

/// Terms of these requests.
const MIN_REQUEST_TERMS: usize = 60;

/// Least share of the terms of the requests that the rest of an honest text takes up.
const MIN_ANSWERED: f32 = 0.4;

/// The same for requests under words that announce them, such as `when somebody says:`; these need
/// not be questions.
const MIN_ANNOUNCED: usize = 5;
const MIN_ANNOUNCED_TERMS: usize = 24;
const MIN_ANNOUNCED_ANSWERED: f32 = 0.15;

/// Words of a line, times that it is there, and words of all such lines from which on a text
/// repeats itself.
const MIN_LINE_WORDS: usize = 5;
const MIN_TIMES: usize = 3;
const MIN_REPEATED_WORDS: usize = 60;

/// What users say of themselves and to others; questions of checklists do not.
static OF_USERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:i|i'm|my|me|we|our|you|how|help|please)\b|我|帮|请|怎么|如何")
});

/// Words of a heading, or of a line before a list, that announce requests.
static ANNOUNCES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:says?|asks?|requests|searche[sd]|search for|prompts|triggers|phrases)\b|触发|搜索|请求|提问|用户说",
    )
});

/// The lines of a body outside of code.
pub(super) struct Lines<'t> {
    /// With their first bytes.
    prose: Vec<(usize, &'t str)>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(body: &'t str) -> Self {
        let mut prose = Vec::new();
        let (mut at, mut is_code) = (0, false);
        for line in body.split_inclusive('\n') {
            let inner = line.trim_start();
            if inner.starts_with("```") || inner.starts_with("~~~") {
                is_code = !is_code;
            } else if !is_code && !inner.is_empty() {
                prose.push((at, line));
            }
            at += line.len();
        }
        Self { prose }
    }

    /// Returns whether most of the text is the same lines over and over.
    fn are_repeated(&self) -> bool {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, line) in &self.prose {
            *counts.entry(line.trim()).or_default() += 1;
        }
        let (mut n_words, mut n_repeated) = (0, 0);
        for (line, times) in counts {
            let n = line.split_whitespace().count();
            n_words += n * times;
            let is_repeated = times >= MIN_TIMES && n >= MIN_LINE_WORDS && !line.starts_with('|');
            n_repeated += if is_repeated { n * times } else { 0 };
        }
        n_repeated >= MIN_REPEATED_WORDS && 2 * n_repeated >= n_words
    }

    /// Returns the first of many lines that are lists of words.
    fn listed(&self) -> Option<Sign> {
        let mut first = None;
        let mut n_listed = 0;
        for (at, line) in &self.prose {
            let n_words = words_of_list(line);
            if n_words > 0 {
                first.get_or_insert(*at);
                n_listed += n_words;
            }
        }
        first.filter(|_| n_listed >= MIN_LISTED_WORDS).map(Sign::At)
    }

    /// Returns the first of many requests that the rest of the skill never speaks of.
    fn echoed(&self, description: &str) -> Option<Sign> {
        let (mut requests, mut rest) = (Vec::new(), vec![description]);
        let mut first = None;
        for (at, line) in &self.prose {
            let before = requests.len();
            if is_request(line) {
                requests.push(*line);
            } else {
                split_quotations(line, &mut requests, &mut rest);
            }
            if requests.len() > before {
                first.get_or_insert(*at);
            }
        }
        let n_of_users = requests.iter().filter(|text| OF_USERS.is_match(text)).count();
        if requests.len() < MIN_REQUESTS || 3 * n_of_users < requests.len() {
            return None;
        }
        let (asked, rest) = (terms(requests), terms(rest));
        let is_echo = asked.len() >= MIN_REQUEST_TERMS && share_of(&asked, &rest) < MIN_ANSWERED;
        first.filter(|_| is_echo).map(Sign::At)
    }

    /// Returns the first of some requests that are most of the skill: a list under words such as
    /// `when somebody says:`, of which the rest never speaks.
    fn announced(&self, description: &str) -> Option<Sign> {
        let (mut requests, mut rest) = (Vec::new(), vec![description]);
        let (mut first, mut before, mut is_announced) = (None, "", false);
        for (at, line) in &self.prose {
            let is_item = is_listed(line);
            if is_item && !before.is_empty() {
                is_announced = ANNOUNCES.is_match(before);
            }
            before = if is_item { "" } else { line };
            if is_item && is_announced {
                first.get_or_insert(*at);
                requests.push(*line);
            } else {
                rest.push(*line);
            }
        }
        if requests.len() < MIN_ANNOUNCED {
            return None;
        }
        let (asked, rest) = (terms(requests), terms(rest));
        let is_echo = asked.len() >= MIN_ANNOUNCED_TERMS.max(2 * rest.len())
            && share_of(&asked, &rest) < MIN_ANNOUNCED_ANSWERED;
        first.filter(|_| is_echo).map(Sign::At)
    }
}

/// Sorts what a line has between quotation marks, four words and more, from the rest of it.
fn split_quotations<'t>(line: &'t str, quotations: &mut Vec<&'t str>, rest: &mut Vec<&'t str>) {
    for (n, part) in line.split(['"', '“', '”']).enumerate() {
        if n % 2 == 1 && part.split_whitespace().count() >= 4 {
            quotations.push(part);
        } else {
            rest.push(part);
        }
    }
}

/// Returns the words of a line if it is a list of search words, else 0. Rows of tables and lists of
/// links are none.
fn words_of_list(line: &str) -> usize {
    if line.trim_start().starts_with('|') || line.contains("](") || line.contains("://") {
        return 0;
    }
    let n_separators = line.matches([',', ';', '·', '•', '|', '、', '，']).count();
    if n_separators < MIN_SEPARATORS {
        return 0;
    }
    let (mut n_words, mut n_stop_words) = (0, 0);
    for word in
        line.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
    {
        n_words += 1;
        n_stop_words += usize::from(is_stop_word(&word.to_lowercase()));
    }
    let is_list =
        n_words >= MIN_LIST_WORDS && n_stop_words as f32 <= MAX_STOP_SHARE * n_words as f32;
    if is_list { n_words } else { 0 }
}

/// Returns whether a line is an item of a list without numbers or a row of a table: numbers are
/// those of steps.
fn is_listed(line: &str) -> bool {
    let line = line.trim_start();
    let marked = line.strip_prefix(['-', '*', '+', '•']);
    let is_item = marked.is_some_and(|text| text.starts_with(char::is_whitespace));
    (is_item || line.starts_with(['|', '>'])) && line.contains(char::is_alphabetic)
}

/// Returns whether a line, or an item of a list, is something that a user would ask.
fn is_request(line: &str) -> bool {
    let text = line.trim().trim_start_matches(['-', '*', '+', '>', ' ']);
    let text =
        text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')', ' ']);
    text.ends_with(['?', '？'])
}

/// Returns the share of the first terms that are among the second, in `[0, 1]`.
fn share_of(claimed: &FxHashSet<String>, held: &FxHashSet<String>) -> f32 {
    let n_held = claimed.iter().filter(|term| held.contains(*term)).count();
    n_held as f32 / claimed.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(description: &str, body: &str) -> Option<Sign> {
        super::sign(description, body, &Lines::of(body))
    }

    fn bait(description: &str, body: &str) -> Option<Sign> {
        super::bait(description, body, &Lines::of(body))
    }

    /// Words that no other text of these tests has.
    fn strange(range: std::ops::Range<usize>) -> Vec<String> {
        range
            .map(|n| {
                format!(
                    "w{}x",
                    "abcdefghij".repeat(2)[n % 10..n % 10 + 5].to_owned() + &n.to_string()
                )
            })
            .collect()
    }

    #[test]
    fn lines_over_and_over_are_stuffing() {
        let line = "resize crop rotate convert images photos pictures scans thumbnails banners icons logos covers posters\n\n";
        assert_eq!(bait("Works with images.", &line.repeat(6)), Some(Sign::Somewhere));
        assert_eq!(bait("Works with images.", line), None);
        let steps = (0..40)
            .map(|n| format!("{n}. Look at picture number {n} and write down what it shows.\n"))
            .collect::<Vec<_>>()
            .concat();
        assert_eq!(
            bait("Works with images.", &(line.repeat(3) + &steps)),
            None,
            "it says more than that"
        );
    }

    #[test]
    fn a_description_of_what_the_text_never_speaks_of_is_a_sign() {
        let description = strange(0..60).join(", ");
        let body = strange(100..200).join(" keeps up with a ");
        assert_eq!(sign(&description, &body), Some(Sign::Somewhere));
        let honest = format!("{body} {}", strange(0..60).join(" goes on to the "));
        assert_eq!(sign(&description, &honest), None, "{honest}");
        let short = strange(100..112).join(" keeps up with a ");
        assert_eq!(sign(&description, &short), None);
    }

    #[test]
    fn a_word_over_and_over_is_a_sign() {
        let body = "pdf merge pdf ".repeat(60);
        assert_eq!(sign("d", &body), Some(Sign::Somewhere));
        assert_eq!(sign("d", &"pdf merge pdf ".repeat(20)), None);
        let description = "PDF skill for PDF files. ".repeat(6);
        assert_eq!(sign(&description, "PDF."), Some(Sign::Somewhere));
    }

    #[test]
    fn lists_of_search_words_are_a_sign() {
        let list = strange(0..70).join(", ");
        let body = format!("# A\n\nDo it.\n\nTags: {list}\n\nMore: {list}\n");
        assert_eq!(sign("d", &body), Some(Sign::At(body.find("Tags").unwrap())));
        let code = format!("# A\n\n```\n{list}\n{list}\n```\n");
        assert_eq!(sign("d", &code), None);
        let table = format!("| a | b |\n|---|---|\n| {list} | {list} |\n");
        assert_eq!(sign("d", &table), None);
    }

    #[test]
    fn requests_that_are_not_answered_are_a_sign() {
        let asked: Vec<String> = strange(0..90)
            .chunks(3)
            .map(|words| format!("- How do I {}?\n", words.join(" ")))
            .collect();
        let body = format!("# A\n\nDo it.\n\n{}", asked.concat());
        assert_eq!(sign("d", &body), Some(Sign::At(body.find("- How").unwrap())));
        let answered = format!("{body}\n{}\n", strange(0..90).join(" is a "));
        assert_eq!(sign("d", &answered), None);
    }

    #[test]
    fn announced_requests_need_not_be_questions() {
        let listed = |words: &[String]| -> String {
            let lines: Vec<String> =
                words.chunks(5).map(|words| format!("- {}\n", words.join(" "))).collect();
            lines.concat()
        };
        let body =
            |announcement: &str| format!("# A\n\n{announcement}\n\n{}", listed(&strange(0..30)));
        let echo = body("Use it when somebody says:");
        assert_eq!(bait("d", &echo), Some(Sign::At(echo.find("- w").unwrap())));
        assert_eq!(bait("d", &body("Do this:")), None);
        let steps = body("When somebody asks:").replace("- ", "1. ");
        assert_eq!(bait("d", &steps), None, "steps are no requests");
        let answered = format!("{echo}\n{}\n", strange(0..30).join(" is a "));
        assert_eq!(bait("d", &answered), None);
    }

    #[test]
    fn a_long_claim_over_a_few_words_is_a_bait() {
        let description = strange(0..60).join(" and ");
        assert_eq!(bait(&description, "Do the task well."), Some(Sign::Somewhere));
        assert_eq!(bait(&description, ""), None, "a list of servers has descriptions only");
        assert_eq!(bait(&description, "Follow `references/guide.md`."), None);
        let chinese = "先读表格，再改格式，最后发给老板。".repeat(9);
        assert_eq!((sign(&description, &chinese), bait(&description, "读表格")), (None, None));
    }
}
