//! [`clauses`]: the sentences, items and headings of a task.

use std::ops::Range;

use super::{
    boilerplate::{self, CODE_WEIGHT, CONDITION_WEIGHT},
    head,
};

/// A part of a task that may ask for a skill of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// Bytes of the task.
    pub range: Range<usize>,
    /// How much it is about the work itself, in `(0, 1]`: conditions, formats and paths weigh less.
    pub weight: f32,
    /// Whether it is a heading: a line with its mark, a short one that ends with a colon, or a
    /// short one between two blank lines that ends with no mark.
    pub is_heading: bool,
}

/// Words after a comma or a dash that begin another piece of work.
const TURNS: [&str; 38] = [
    "after that",
    "afterwards",
    "and finally",
    "and then",
    "finally",
    "lastly",
    "next,",
    "plus ",
    "then ",
    "then,",
    "之后",
    "再",
    "同时",
    "并",
    "接着",
    "最后",
    "然后",
    "还要",
    "顺便",
    "顺手",
    "anschließend",
    "danach",
    "dann ",
    "depois",
    "después",
    "e depois",
    "ensuite",
    "et ensuite",
    "et puis",
    "luego ",
    "puis ",
    "und danach",
    "und dann",
    "y después",
    "y luego",
    "затем",
    "и потом",
    "потом",
];

/// Short forms that a full stop follows within a sentence.
const SHORT_FORMS: [&str; 12] =
    ["approx", "ca", "cf", "etc", "fig", "incl", "max", "min", "no", "resp", "vol", "vs"];

/// Titles and the like, which end no sentence whatever follows.
const TITLES: [&str; 10] = ["Dr", "Fig", "Mr", "Mrs", "Ms", "Mt", "Prof", "St", "ch", "pp"];

/// Pairs of marks within which no sentence ends.
const PAIRS: [(char, char); 5] = [('(', ')'), ('（', '）'), ('“', '”'), ('「', '」'), ('《', '》')];

/// Letters of the items of a list, with their mark.
const LETTERS: [&str; 8] = ["a)", "b)", "c)", "d)", "e)", "f)", "g)", "h)"];

/// The same in Chinese.
const NUMERALS: [&str; 8] = ["一、", "二、", "三、", "四、", "五、", "六、", "七、", "八、"];

/// Chinese writes whole sentences between commas; shorter pieces stay with what follows.
const MIN_COMMA_CHARS: usize = 14;

/// Longest heading without a mark of its own, in words.
const MAX_HEADING_WORDS: usize = 5;

/// Longest one in characters, for texts without blanks.
const MAX_HEADING_CHARS: usize = 40;

/// Returns the clauses of a task in their order; they do not overlap, and none is blank.
///
/// A clause is a heading, an item of a list, a sentence, or a part of one after a comma that a word
/// such as `then` follows. Headings that introduce conditions (`Acceptance criteria`) are no
/// clauses, and make those under them weigh less. Linear in the length of the task.
pub fn clauses(task: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut section_weight = 1.0;
    let mut is_code = false;
    let mut is_after_blank = true;
    let mut start = 0;
    for line in task.split_inclusive('\n') {
        let line_start = start;
        start += line.len();
        let begins_paragraph = is_after_blank;
        is_after_blank = line.trim().is_empty();
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let Line { range, is_heading, number } = Line::of(line);
        let text = &line[range.clone()];
        let offset = line_start + range.start;
        if is_heading && !is_code {
            let is_condition = boilerplate::is_condition_heading(text);
            section_weight = if is_condition { CONDITION_WEIGHT } else { 1.0 };
            if is_condition {
                continue;
            }
        }
        let line_weight = if is_code { CODE_WEIGHT } else { section_weight };
        let is_heading =
            !is_code && (is_heading || begins_paragraph && is_title(text, &task[start..]));
        for sentence in sentences(text, number + 1) {
            let weight = line_weight * boilerplate::weight(&text[sentence.clone()]);
            let range = offset + sentence.start..offset + sentence.end;
            clauses.push(Clause { range, weight, is_heading });
        }
    }
    clauses
}

/// Returns the clauses of a task with the terms in each, rising and each once; the sources of a
/// term, numbered by the caller, are the bytes at which the task says it.
pub(crate) fn clauses_with_terms(
    task: &str,
    sources: impl Iterator<Item = (usize, usize)>,
) -> Vec<(Clause, Vec<usize>)> {
    let mut sources: Vec<(usize, usize)> = sources.collect();
    sources.sort_unstable();
    let with_terms = |clause: Clause| {
        let first = sources.partition_point(|(start, _)| *start < clause.range.start);
        let last = sources.partition_point(|(start, _)| *start < clause.range.end);
        let mut terms: Vec<usize> = sources[first..last].iter().map(|(_, term)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        (clause, terms)
    };
    clauses(task).into_iter().map(with_terms).collect()
}

/// Returns whether a line is short, ends with no mark, and stands above a blank line.
fn is_title(line: &str, after: &str) -> bool {
    let is_short = line.split_whitespace().take(MAX_HEADING_WORDS + 1).count() <= MAX_HEADING_WORDS
        && line.chars().take(MAX_HEADING_CHARS + 1).count() <= MAX_HEADING_CHARS;
    is_short
        && line.ends_with(|c: char| c.is_alphanumeric() || c == ')')
        && after.lines().next().is_some_and(|next| next.trim().is_empty())
}

/// What a line holds without its marks.
struct Line {
    range: Range<usize>,
    is_heading: bool,
    /// 1 if it is the first item of a list, else 0.
    number: usize,
}

impl Line {
    fn of(line: &str) -> Self {
        let is_mark = |c: char| {
            c.is_whitespace() || matches!(c, '#' | '>' | '*' | '-' | '•' | '+' | '·' | '|')
        };
        let inner = line.trim_start_matches(is_mark);
        let marked = inner;
        let inner = without_number(inner);
        let mark = &marked[..marked.len() - inner.len()];
        let mut marked = mark.chars().filter(|c| c.is_alphanumeric());
        let is_first = matches!((marked.next(), marked.next()), (Some('1' | 'a' | '一'), None));
        let number = usize::from(is_first);
        let start = line.len() - inner.len();
        let inner = inner.trim_end_matches(|c: char| c.is_whitespace() || c == '*' || c == '|');
        let has_mark = line.trim_start().starts_with('#');
        let ends_open = inner.ends_with([':', '：']);
        let is_short = inner.split_whitespace().count() <= MAX_HEADING_WORDS;
        let is_heading = has_mark || ends_open && is_short;
        Self { range: start..start + inner.len(), is_heading, number }
    }
}

/// Returns what follows the number or letter of an item, such as `2.`, `(a)` or `三、`.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(['(', '（']);
    let after =
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || "一二三四五六七八九十".contains(c));
    let after = if after.len() == rest.len() {
        let mut chars = rest.chars();
        match chars.next() {
            Some(c) if c.is_ascii_alphabetic() => chars.as_str(),
            _ => return line,
        }
    } else {
        after
    };
    match after.chars().next() {
        Some(c @ ('.' | ')' | '）' | '、' | '．')) => {
            let text = &after[c.len_utf8()..];
            // `3.5` is a number of its own, and `e.g.` no item.
            if text.starts_with(|c: char| c.is_whitespace() || !c.is_ascii()) {
                text.trim_start()
            } else {
                line
            }
        }
        _ => line,
    }
}

/// Returns the sentences of a line, without the blanks around them; a number as in `1) this 2)
/// that` begins one, from the next number of a list on.
fn sentences(line: &str, mut next_number: usize) -> Vec<Range<usize>> {
    let is_item = next_number > 1;
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut n_chars = 0;
    let mut closing = None;
    for (at, c) in line.char_indices() {
        if at < start {
            continue;
        }
        n_chars += 1;
        let end = at + c.len_utf8();
        let rest = &line[end..];
        let is_mark = |c: char| c.is_whitespace() || "：；，。".contains(c);
        let is_start = at == 0 || line[..at].ends_with(is_mark);
        // `plan b)` is a name.
        let is_named = || !is_item && c.is_ascii_alphabetic() && !is_apart(&line[..at]);
        if is_start
            && let Some(length) = number_in_line(&line[at..], next_number).filter(|_| !is_named())
        {
            push_trimmed(line, start..at, &mut ranges);
            (start, n_chars, next_number) = (at + length, 0, next_number + 1);
            continue;
        }
        if closing == Some(c) {
            closing = None;
        } else if closing.is_none()
            && let Some((_, close)) = PAIRS.iter().find(|(open, _)| *open == c)
        {
            closing = head(rest).contains(*close).then_some(*close);
        }
        if closing.is_some() {
            continue;
        }
        let is_end = match c {
            '。' | '！' | '？' | '；' | ';' => true,
            '!' | '?' => rest.starts_with(char::is_whitespace),
            '.' => ends_sentence(&line[start..at], rest),
            ',' | '，' | '–' | '—' => turns(c, n_chars, rest),
            _ => false,
        };
        if is_end {
            push_trimmed(line, start..end, &mut ranges);
            start = end;
            n_chars = 0;
        }
    }
    push_trimmed(line, start..line.len(), &mut ranges);
    ranges
}

/// Returns whether the letter of an item may stand behind this: a mark, `and` or `or`.
fn is_apart(before: &str) -> bool {
    before.trim_end().ends_with(|c: char| ",;:.?!，；：。".contains(c))
        || [" and ", " or "].iter().any(|word| before.ends_with(word))
}

/// Returns the bytes of a mark such as `2)`, `(2)`, `2.`, `2、`, `(b)` or `二、` with this number that
/// a text begins with. The first one with a full stop, a letter or a Chinese number is a mark if
/// the second one follows: `we are 1. in the league` is no list.
fn number_in_line(text: &str, number: usize) -> Option<usize> {
    let inner = text.strip_prefix(['(', '（']).unwrap_or(text);
    let rest = after_digits(inner, number).or_else(|| after_letter(inner, number))?;
    Some(text.len() - rest.len())
}

/// Returns what stands behind a number in digits and its mark.
fn after_digits(text: &str, number: usize) -> Option<&str> {
    let after = text.strip_prefix(&number.to_string())?;
    let rest = after.strip_prefix([')', '）', '、', '.', '．'])?;
    let is_apart = rest.starts_with(char::is_whitespace);
    let is_mark = match after.chars().next() {
        Some(')') => is_apart,
        Some('.') => is_apart && (number > 1 || head(rest).contains(" 2. ")),
        _ => true,
    };
    is_mark.then_some(rest)
}

/// Returns what stands behind a letter or a Chinese number and its mark.
fn after_letter(text: &str, number: usize) -> Option<&str> {
    let mark_of = |number: usize| Some((LETTERS.get(number - 1)?, NUMERALS.get(number - 1)?));
    let (letter, numeral) = mark_of(number)?;
    let (rest, next) = match text.strip_prefix(letter) {
        Some(rest) => (rest.strip_prefix(' ')?, mark_of(number + 1).map(|(letter, _)| letter)),
        None => (text.strip_prefix(numeral)?, mark_of(number + 1).map(|(_, numeral)| numeral)),
    };
    (number > 1 || next.is_some_and(|next| head(rest).contains(next))).then_some(rest)
}

/// Returns whether a full stop ends a sentence: not in `e.g. this`, `v1.2` or `file.txt`, but after
/// the name of a file.
fn ends_sentence(before: &str, rest: &str) -> bool {
    // Without this look first, each mark of `1.5,2.5` looks back as far as the last blank.
    if !rest.starts_with(char::is_whitespace) {
        return false;
    }
    let next = rest.trim_start().chars().next();
    let last_word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let short = last_word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_apart = |(_, last): (&str, &str)| last.chars().count() > 1;
    last_word.chars().count() > 1
        && last_word.rsplit_once('.').is_none_or(is_apart)
        && !TITLES.contains(&short)
        && (next.is_some_and(|c| !c.is_lowercase()) || !SHORT_FORMS.contains(&short))
}

/// Returns whether another piece of work begins after a comma or a dash.
fn turns(mark: char, n_chars: usize, rest: &str) -> bool {
    let rest = rest.trim_start();
    let starts =
        |turn: &&str| rest.get(..turn.len()).is_some_and(|head| head.eq_ignore_ascii_case(turn));
    match mark {
        '，' => n_chars >= MIN_COMMA_CHARS || TURNS.iter().any(&starts),
        _ => TURNS.iter().any(starts),
    }
}

fn push_trimmed(line: &str, range: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    let text = &line[range.clone()];
    let start = range.start + text.len() - text.trim_start().len();
    let end = range.start + text.trim_end().len();
    if line.get(start..end).is_some_and(|text| text.contains(char::is_alphanumeric)) {
        ranges.push(start..end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::growth::{Growing, assert_linear, assert_linear_in};

    fn texts(task: &str) -> Vec<&str> {
        clauses(task).into_iter().map(|clause| &task[clause.range]).collect()
    }

    #[test]
    fn lines_of_code_begin_no_section() {
        let weights = |task: &str| -> Vec<f32> {
            clauses(task).into_iter().map(|clause| clause.weight).collect()
        };
        let task = "Fix it.\n```yaml\nfiles:\n  docker: true\n```\nThen write a test.";
        assert!(weights(task).last().is_some_and(|weight| (weight - 1.0).abs() < f32::EPSILON));
        let task = "# Constraints\n```\n# load\n```\nIt takes an hour.";
        assert!(weights(task).last().is_some_and(|weight| (weight - 0.5).abs() < f32::EPSILON));
    }

    #[test]
    fn items_sentences_and_turns_are_clauses() {
        assert_eq!(
            texts(
                "1. Merge the files.\n(2) Translate v1.2 of notes.txt, then send it! OK?\n- 3.5 kg"
            ),
            ["Merge the files.", "Translate v1.2 of notes.txt,", "then send it!", "OK?", "3.5 kg"]
        );
    }

    #[test]
    fn numbers_within_a_line_begin_clauses() {
        assert_eq!(
            texts("Outage: 1) read the logs, (2) write it up. 3) 2) mail"),
            ["Outage:", "read the logs,", "write it up.", "2) mail"]
        );
        assert_eq!(
            texts("1. merge them 2. translate the file 3. send it"),
            ["merge them", "translate the file", "send it"]
        );
        assert_eq!(
            texts("Do 1. a merge 2. a translation; we are 1. in the league"),
            ["Do", "a merge", "a translation;", "we are 1. in the league"]
        );
        assert_eq!(
            texts("Could we have (a) a script for it, (b) a test, and c) what starts (a) at noon?"),
            ["Could we have", "a script for it,", "a test, and", "what starts (a) at noon?"]
        );
        assert_eq!(texts("想请你：一、查资料；二、写稿"), ["想请你：", "查资料；", "写稿"]);
        assert_eq!(
            texts("a) write a release, b) translate it. c) mail"),
            ["write a release,", "translate it.", "mail"]
        );
        assert_eq!(texts("a) clean it b) draw a chart"), ["clean it", "draw a chart"]);
        assert_eq!(texts("一、查资料；二、写稿"), ["查资料；", "写稿"]);
        for one in [
            "(see a) the map",
            "plan (b) is better",
            "星期一、星期二、都行",
            "Write tests for plan a) and plan b) of our page",
        ] {
            assert_eq!(texts(one), [one]);
        }
        assert_eq!(texts("move to Python 3. then 2. mail"), ["move to Python 3. then 2. mail"]);
        assert_eq!(
            texts("it weighs 1.9 GB. get that down? ok"),
            ["it weighs 1.9 GB.", "get that down?", "ok"]
        );
    }

    #[test]
    fn abbreviations_do_not_end_a_clause() {
        assert_eq!(texts("Read a.csv. Then mail it."), ["Read a.csv.", "Then mail it."]);
        assert_eq!(
            texts("Use a parser, e.g. Serde, vs. others, for it."),
            ["Use a parser, e.g. Serde, vs. others, for it."]
        );
    }

    #[test]
    fn chinese_is_split_at_its_marks() {
        assert_eq!(
            texts("把两份合同合并成一个文件，然后翻译成英文。最后发给客户！"),
            ["把两份合同合并成一个文件，", "然后翻译成英文。", "最后发给客户！"]
        );
    }

    #[test]
    fn other_languages_turn_at_their_words() {
        for (task, expected) in [
            ("Räum die Tabelle auf, und dann mach Folien daraus", "und dann mach Folien daraus"),
            ("Nettoie le tableau, puis fais des diapos", "puis fais des diapos"),
            ("Limpia la tabla, y luego haz una presentación", "y luego haz una presentación"),
            ("Приведи таблицу в порядок, потом сделай слайды", "потом сделай слайды"),
        ] {
            assert_eq!(texts(task).last(), Some(&expected));
        }
    }

    #[test]
    fn what_stands_under_conditions_weighs_less() {
        let task = "Constraints:\n- The table stays sorted\n# Report\nDraw a chart";
        let weights: Vec<_> = clauses(task).into_iter().map(|clause| clause.weight).collect();
        assert_eq!(weights, [CONDITION_WEIGHT, 1.0, 1.0]);
    }

    #[test]
    fn text_without_blanks_and_blanks_without_text_take_linear_time() {
        for unit in ["[1.5,-2.25],", "a.", "a. ", "1) ", "(a) ", ", ", "，", "\n"] {
            assert_linear(unit, 100_000, |task| drop(clauses(task)));
        }
        let growing = Growing { head: "a", unit: " ", tail: "b" };
        assert_linear_in(growing, 100_000, |task| drop(clauses(task)));
    }

    proptest! {
        #[test]
        fn clauses_are_in_order_apart_and_not_blank(task in r"[a-z，。.#\n\-`: 1合]{0,60}|.*") {
            let mut end = 0;
            for clause in clauses(&task) {
                prop_assert!(clause.range.start >= end);
                end = clause.range.end;
                prop_assert!(task[clause.range].contains(char::is_alphanumeric));
                prop_assert!(clause.weight > 0.0 && clause.weight <= 1.0);
            }
        }
    }
}
