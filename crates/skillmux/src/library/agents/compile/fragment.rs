//! [`Fragments`]: the clauses of a description, each of which can be left out.

use std::ops::Range;

/// What no clause may be torn from: the words after it would say the opposite alone.
const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "don't",
    "don’t",
    "doesn't",
    "isn't",
    "cannot",
    "can't",
    "without",
    "except",
    "unless",
    "avoid",
    "exclude",
    "excludes",
    "excluding",
    "instead",
    "rather",
    "neither",
    "nor",
];
const NEGATIONS_ZH: &[&str] = &["不", "非", "勿", "别", "除", "无", "禁止", "避免", "没有", "而是"];
/// Words with a full stop that ends no sentence.
const ABBREVIATIONS: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "incl", "approx"];
/// Words that tie a clause to the one before it, and say nothing without it.
const CONNECTIVES: &[&str] = &[
    "and ",
    "or ",
    "but ",
    "as well as ",
    "plus ",
    "以及",
    "和",
    "或者",
    "或",
    "并且",
    "并",
    "及",
];

/// Most clauses of a description; what follows is part of the last one.
const MAX_CLAUSES: usize = 256;

/// The clauses of a description, in order; together they are all of it.
///
/// A clause ends at a mark between clauses or sentences, English or Chinese. Brackets and
/// quotations are never torn. A clause with a negation goes on to the end of its sentence, and one
/// that opens a list to the end of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fragments<'a> {
    text: &'a str,
    ranges: Vec<Range<usize>>,
    is_negated: Vec<bool>,
}

/// How a piece of a text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Clause,
    Sentence,
    Line,
}

impl<'a> Fragments<'a> {
    /// Splits a description.
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.trim();
        let mut ranges = Vec::new();
        let mut from = 0;
        let mut is_negated = false;
        for (end, kind) in ends(text) {
            if ranges.len() + 1 == MAX_CLAUSES {
                break;
            }
            is_negated = is_negated || negates(&text[from..end]);
            if is_negated {
                let opens_list = kind == End::Line || text[..end].trim_end().ends_with([':', '：']);
                if opens_list {
                    break;
                }
                if kind != End::Sentence {
                    continue;
                }
            }
            push(text, from..end, &mut ranges);
            from = end;
            is_negated = false;
        }
        push(text, from..text.len(), &mut ranges);
        let is_negated = ranges.iter().map(|range| negates(&text[range.clone()])).collect();
        Self { text, ranges, is_negated }
    }

    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    pub(super) fn get(&self, at: usize) -> &'a str {
        &self.text[self.ranges[at].clone()]
    }

    /// Returns whether the clause rules something out.
    pub(super) fn is_negated(&self, at: usize) -> bool {
        self.is_negated[at]
    }

    /// Returns the chosen clauses as one text: where some between are left out, a full stop stays,
    /// and another mark becomes a semicolon.
    pub(super) fn joined(&self, is_chosen: &[bool]) -> String {
        let mut joined = String::new();
        let mut last: Option<usize> = None;
        for at in (0..self.len()).filter(|&at| is_chosen[at]) {
            let range = self.ranges[at].clone();
            let mut piece = &self.text[range.clone()];
            match last {
                Some(last) if last + 1 == at => {
                    joined.push_str(&self.text[self.ranges[last].end..range.start]);
                }
                _ => {
                    piece = without_connective(piece);
                    if !joined.is_empty() {
                        close(&mut joined);
                    }
                }
            }
            joined.push_str(piece);
            last = Some(at);
        }
        if last.is_some_and(|last| last + 1 < self.len()) {
            joined.truncate(joined.trim_end_matches(is_open_mark).len());
        }
        joined
    }
}

/// Ends a text, so that something that stood elsewhere can follow.
fn close(text: &mut String) {
    text.truncate(text.trim_end_matches(is_open_mark).len());
    let is_wide = |c: char| ('\u{2e80}'..='\u{ffef}').contains(&c);
    match text.chars().next_back() {
        Some('。' | '！' | '？' | '；') => {}
        Some('.' | '!' | '?') => text.push(' '),
        Some(last) if is_wide(last) => text.push('；'),
        _ => text.push_str("; "),
    }
}

fn is_open_mark(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, ',' | ';' | ':' | '，' | '；' | '：' | '、' | '-' | '–' | '—' | '|' | '·')
}

fn without_connective(piece: &str) -> &str {
    let opens = |word: &&&str| {
        piece.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    CONNECTIVES.iter().find(opens).map_or(piece, |word| piece[word.len()..].trim_start())
}

fn push(text: &str, range: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    let piece = &text[range.clone()];
    let start = range.end - piece.trim_start().len();
    let trimmed = piece.trim();
    // A piece without a word goes with the one before.
    if trimmed.chars().any(char::is_alphanumeric) {
        ranges.push(start..start + trimmed.len());
    } else if let Some(last) = ranges.last_mut().filter(|_| !trimmed.is_empty()) {
        last.end = start + trimmed.len();
    }
}

/// Returns where pieces end, rising, without the end of the text.
fn ends(text: &str) -> Vec<(usize, End)> {
    let mut ends = Vec::new();
    let mut brackets: Vec<char> = Vec::new();
    let mut closings = Closings::default();
    let mut quote = None;
    let mut last_char = None;
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        let rest = &text[after..];
        let char_before = last_char;
        last_char = Some(c).filter(|c| !c.is_whitespace()).or(last_char);
        if let Some(open) = quote {
            let is_closed = c == open || c == '\n';
            quote = (!is_closed).then_some(open);
            if c != '\n' {
                continue;
            }
        }
        let closing = match c {
            '(' => Some(')'),
            '[' => Some(']'),
            '（' => Some('）'),
            '【' => Some('】'),
            '「' => Some('」'),
            '“' => Some('”'),
            _ => None,
        };
        if let Some(closing) = closing {
            // A bracket that is not closed is a mark like any other.
            if let Some(Closing { is_at_end, .. }) = closings.next(text, after, closing) {
                // One within a clause is needed to read it.
                if brackets.is_empty() && matches!(c, '(' | '（') && is_at_end {
                    ends.push((at, End::Clause));
                }
                brackets.push(closing);
            }
            continue;
        }
        if brackets.last() == Some(&c) {
            brackets.pop();
            continue;
        }
        if !brackets.is_empty() {
            continue;
        }
        let is_followed = rest.is_empty() || rest.starts_with(char::is_whitespace);
        let end = match c {
            '"' | '`' if rest.contains(c) => {
                quote = Some(c);
                None
            }
            '\n' => Some(End::Line),
            '。' | '！' | '？' => Some(End::Sentence),
            '.' | '!' | '?' if is_followed && ends_sentence(text, at, c) => Some(End::Sentence),
            '，' | '；' | '：' | '、' => Some(End::Clause),
            ',' | ';' | ':' if is_followed => Some(End::Clause),
            '-' | '–' | '—' | '|' | '·' if is_followed && text[..at].ends_with(' ') => {
                Some(End::Clause)
            }
            _ => None,
        };
        // A sentence ends with the line that it closes.
        if let Some(end) = end.filter(|_| after < text.len()) {
            let is_closed = end == End::Line
                && matches!(char_before, Some('.' | '!' | '?' | '。' | '！' | '？'));
            ends.push((after, if is_closed { End::Sentence } else { end }));
        }
    }
    ends
}

/// The next closing bracket of each kind: those that are open may share it.
#[derive(Default)]
struct Closings(Vec<(char, Option<Closing>)>);

/// A closing bracket of a text.
#[derive(Debug, Clone, Copy)]
struct Closing {
    at: usize,
    /// Whether a mark follows, or nothing.
    is_at_end: bool,
}

impl Closings {
    /// Returns the first such bracket from a byte on, which does not fall from call to call.
    fn next(&mut self, text: &str, from: usize, bracket: char) -> Option<Closing> {
        let known = self.0.iter().position(|(known, _)| *known == bracket);
        if let Some(at) = known
            && self.0[at].1.is_none_or(|closing| closing.at >= from)
        {
            return self.0[at].1;
        }
        let closing = text[from..].find(bracket).map(|n| {
            let after = text[from + n + bracket.len_utf8()..].trim_start();
            Closing { at: from + n, is_at_end: after.chars().next().is_none_or(is_end_mark) }
        });
        match known {
            Some(at) => self.0[at].1 = closing,
            None => self.0.push((bracket, closing)),
        }
        closing
    }
}

fn is_end_mark(c: char) -> bool {
    c.is_ascii_punctuation() || is_open_mark(c) || c == '。'
}

fn ends_sentence(text: &str, at: usize, mark: char) -> bool {
    let word =
        text[..at].rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let is_abbreviation =
        mark == '.' && ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word));
    let next = text[at + 1..].trim_start().chars().next();
    !is_abbreviation && !next.is_some_and(char::is_lowercase)
}

fn negates(piece: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut words = piece.split(|c: char| !is_part(c));
    words.any(|word| NEGATIONS.iter().any(|known| known.eq_ignore_ascii_case(word)))
        || NEGATIONS_ZH.iter().any(|known| piece.contains(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::{Growing, assert_linear, assert_linear_in};

    fn pieces(text: &str) -> Vec<&str> {
        let fragments = Fragments::new(text);
        (0..fragments.len()).map(|at| fragments.get(at)).collect()
    }

    fn joined(text: &str, chosen: &[usize]) -> String {
        let fragments = Fragments::new(text);
        let is_chosen: Vec<bool> = (0..fragments.len()).map(|at| chosen.contains(&at)).collect();
        fragments.joined(&is_chosen)
    }

    #[test]
    fn clauses_and_sentences_are_split_and_brackets_and_quotations_are_not() {
        assert_eq!(
            pieces(
                "Fill in PDF (Acrobat) forms (text, radio), e.g. tax forms. Use when \"fill, please\" is said, or v1.2, too."
            ),
            [
                "Fill in PDF (Acrobat) forms",
                "(text, radio),",
                "e.g. tax forms.",
                "Use when \"fill, please\" is said,",
                "or v1.2,",
                "too."
            ]
        );
        assert_eq!(
            pieces("填写表格，合并文件。当用户提到发票、收据时使用"),
            ["填写表格，", "合并文件。", "当用户提到发票、", "收据时使用"]
        );
    }

    #[test]
    fn what_is_ruled_out_stays_with_its_negation() {
        let text = "Builds images, not for servers, clusters or phones. Runs them, too";
        let expected =
            ["Builds images,", "not for servers, clusters or phones.", "Runs them,", "too"];
        assert_eq!(pieces(text), expected);
        assert_eq!(
            pieces("Makes tea. Do not use for:\n- coffee\n- milk, hot"),
            ["Makes tea.", "Do not use for:\n- coffee\n- milk, hot"]
        );
        assert_eq!(pieces("做茶。不适用于咖啡、牛奶。"), ["做茶。", "不适用于咖啡、牛奶。"]);
    }

    #[test]
    fn chosen_clauses_are_joined_word_for_word() {
        let text = "Reads tables, lists, and figures. Use when: scans, or photos come.";
        assert_eq!(joined(text, &[0, 1, 2, 3, 4, 5]), text);
        assert_eq!(joined(text, &[0, 2, 5]), "Reads tables; figures. photos come.");
        assert_eq!(joined(text, &[0, 1]), "Reads tables, lists");
        assert_eq!(joined("填写表格，合并文件，拆分。", &[0, 2]), "填写表格；拆分。");
        assert_eq!(joined(text, &[]), "");
    }

    #[test]
    fn odd_texts_are_split_without_a_panic() {
        for text in [
            "",
            " ",
            "...",
            "(((",
            "a) b, c",
            "\"open, not closed",
            "- - -",
            "，，",
            "a\n\n\nb",
            "“x，y",
        ] {
            let fragments = Fragments::new(text);
            let all = vec![true; fragments.len()];
            assert!(fragments.joined(&all).len() <= text.len(), "{text}");
        }
        assert_eq!(pieces("..."), Vec::<&str>::new());
    }

    #[test]
    fn the_last_of_many_clauses_is_all_that_follows() {
        let text = "a, ".repeat(MAX_CLAUSES + 9);
        let fragments = Fragments::new(&text);
        assert_eq!(fragments.len(), MAX_CLAUSES);
        assert_eq!(fragments.get(MAX_CLAUSES - 1), "a, ".repeat(10).trim());
        assert_eq!(fragments.joined(&[true; MAX_CLAUSES]), text.trim());
    }

    #[test]
    fn hostile_descriptions_take_linear_time() {
        for (head, unit, tail) in [
            ("not ", "a, ", "b"),
            ("a", "(", ""),
            ("a", "(", ") b"),
            ("a", "()", ""),
            ("a", "「（", ""),
            ("a", "\n", "b"),
            ("a", "\"`", ""),
            ("a", "? ", "b"),
        ] {
            let growing = Growing { head, unit, tail };
            assert_linear_in(growing, 60_000, |text| drop(Fragments::new(text)));
        }
        // Brackets that one mark closes, and many blanks after it.
        assert_linear("(", 60_000, |open| {
            drop(Fragments::new(&format!("{open}){}b", " ".repeat(open.len()))));
        });
    }
}
