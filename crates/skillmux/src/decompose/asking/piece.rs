//! [`pieces`]: the pieces of a task, and what is seen of each.

use std::ops::Range;

use crate::{
    decompose::{
        boilerplate::is_work,
        clause::clauses,
        request::{requests, says_enough},
    },
    text::{feature_place, is_spaceless, simplified},
};

/// Number of features of a piece.
pub const N_ASKING_FEATURES: usize = 8_192;

/// Beginning of a piece in bytes whose words are features.
const WORDS_BYTES: usize = 400;

/// Parts of a task by which the place of a piece is told.
const N_PLACES: usize = 10;

/// What a task may ask for by itself: a clause, or one of the requests that a clause joins.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Bytes of the task.
    pub range: Range<usize>,
    /// Weight of its clause, in `(0, 1]`: conditions, formats and paths weigh less.
    pub weight: f32,
    /// What is seen of it, as ascending numbers below [`N_ASKING_FEATURES`], each once: its words
    /// and pairs of them, its first words, its place in the task, how many pieces there are, its
    /// length, its shape; and 0, which all have.
    pub features: Vec<u16>,
}

/// Returns the pieces of a task in their order; they do not overlap, and each has some letters.
/// Linear in the length of the task.
pub fn pieces(task: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for clause in clauses(task) {
        let text = &task[clause.range.clone()];
        for request in requests(text) {
            let range = clause.range.start + request.start..clause.range.start + request.end;
            if says_enough(&task[range.clone()]) {
                found.push((range, clause.weight, clause.is_heading));
            }
        }
    }
    let n_pieces = found.len();
    let piece = |(number, (range, weight, is_heading)): (usize, (Range<usize>, f32, bool))| {
        let text = &task[range.clone()];
        let mark = task[..range.start].trim_end_matches([' ', '\t']);
        let before = mark.trim_end_matches([' ', '\t', '"', '*', '_']);
        let mut seen = Seen { features: vec![0] };
        seen.add_words(text);
        seen.add_number(b'P', range.start * N_PLACES / task.len());
        seen.add_number(b'N', log2(n_pieces));
        seen.add_number(b'L', log2(text.len()));
        for (group, holds) in [
            (b'1', number == 0),
            (b'9', number + 1 == n_pieces),
            (b'h', is_heading),
            (b'w', !is_work(weight)),
            (b'i', mark.ends_with(['-', '*', '•', ')', '.']) && is_item(mark)),
            (b'p', before.is_empty() || before.ends_with("\n\n")),
            (b':', text.trim_end().ends_with([':', '：'])),
        ] {
            seen.add_number(group, usize::from(holds));
        }
        Piece { range, weight, features: seen.into_sorted() }
    };
    found.into_iter().enumerate().map(piece).collect()
}

/// Returns whether a text ends with the mark of an item: a short one at the beginning of a line.
fn is_item(before: &str) -> bool {
    const MAX_MARK: usize = 4;
    let start = before.ceil_char_boundary(before.len().saturating_sub(MAX_MARK + 1));
    let line = before[start..].rsplit_once('\n').map(|(_, line)| line);
    let mark = line.or_else(|| (start == 0).then_some(before));
    mark.is_some_and(|mark| mark.trim().len() <= MAX_MARK)
}

fn log2(number: usize) -> usize {
    number.checked_ilog2().unwrap_or(0).min(9) as usize
}

/// Features of a piece, as they come.
struct Seen {
    features: Vec<u16>,
}

impl Seen {
    fn add(&mut self, group: u8, words: &[&str]) {
        let bytes = words.iter().flat_map(|word| word.bytes().chain([b' ']));
        self.features.push(feature_place(group, bytes, N_ASKING_FEATURES));
    }

    fn add_number(&mut self, group: u8, number: usize) {
        let byte = u8::try_from(number).unwrap_or(u8::MAX);
        self.features.push(feature_place(b'#', [group, byte], N_ASKING_FEATURES));
    }

    fn add_words(&mut self, text: &str) {
        let text = simplified(&text[..text.floor_char_boundary(WORDS_BYTES)]).to_lowercase();
        let words: Vec<&str> = words(&text);
        for word in &words {
            self.add(b'u', &[word]);
        }
        for pair in words.windows(2) {
            self.add(b'b', pair);
        }
        self.add(b'f', &words[..words.len().min(1)]);
        self.add(b's', &words[..words.len().min(2)]);
    }

    fn into_sorted(mut self) -> Vec<u16> {
        self.features.sort_unstable();
        self.features.dedup();
        self.features
    }
}

/// Returns the words of a text: Chinese, Japanese and Korean characters one by one, all numbers as
/// `0`, and question marks.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = None;
    let end_word = |start: &mut Option<usize>, end: usize, words: &mut Vec<_>| {
        if let Some(start) = start.take() {
            let word = &text[start..end];
            words.push(if word.starts_with(|c: char| c.is_ascii_digit()) { "0" } else { word });
        }
    };
    for (at, c) in text.char_indices() {
        let is_word = c.is_alphanumeric() && !is_spaceless(c) || matches!(c, '\'' | '’');
        if is_word {
            start = start.or(Some(at).filter(|_| c.is_alphanumeric()));
            continue;
        }
        end_word(&mut start, at, &mut words);
        match c {
            '?' | '？' => words.push("?"),
            _ if is_spaceless(c) => words.push(&text[at..at + c.len_utf8()]),
            _ => {}
        }
    }
    end_word(&mut start, text.len(), &mut words);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    #[test]
    fn words_are_told_apart() {
        assert_eq!(words("i'd like 12 charts, ok?"), ["i'd", "like", "0", "charts", "ok", "?"]);
        assert_eq!(words("帮我merge文件"), ["帮", "我", "merge", "文", "件"]);
    }

    #[test]
    fn pieces_are_in_order_and_apart() {
        let task = "# Report\n\nIt rained. Merge the files, then draw a chart of them.\n- 1.\n- send it to Ann";
        let pieces = pieces(task);
        let texts: Vec<&str> =
            pieces.iter().map(|piece| task[piece.range.clone()].trim()).collect();
        assert_eq!(
            texts,
            [
                "Report",
                "It rained.",
                "Merge the files,",
                "then draw a chart of them.",
                "send it to Ann"
            ]
        );
        assert!(pieces.windows(2).all(|two| two[0].range.end <= two[1].range.start));
        for Piece { features, .. } in &pieces {
            assert!(features.is_sorted() && features[0] == 0);
            assert!(features.iter().all(|at| usize::from(*at) < N_ASKING_FEATURES));
        }
    }

    #[test]
    fn traditional_characters_are_seen_as_simplified_ones() {
        assert_eq!(
            pieces("請幫我整理這個報告")[0].features,
            pieces("请帮我整理这个报告")[0].features
        );
    }

    #[test]
    fn pieces_are_found_in_linear_time() {
        for unit in ["a b c. ", "\n\n", "- x\n", "帮我整理。"] {
            assert_linear(unit, 64_000, |task| drop(pieces(task)));
        }
    }
}
