//! [`Tokens`]: `WordPiece`, as BERT has it (Devlin et al. 2019).

use std::{borrow::Cow, ops::Range};

use ahash::AHashMap;
use tokenizers::{
    Model, NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString,
    PreTokenizer, models::wordpiece::WordPiece, normalizers::BertNormalizer,
    pre_tokenizers::bert::BertPreTokenizer,
};

use super::damaged;
use crate::error::Result;

/// Bytes that are read of a text for each token that is wanted; longer words are rare.
const BYTES_A_TOKEN: usize = 24;

/// Marks and words between the clauses of a text.
const BETWEEN_CLAUSES: [&str; 9] = [".", "?", "!", ";", ":", ",", "and", "then", "also"];

/// Fewest tokens of a clause; a shorter one goes on.
const MIN_CLAUSE: usize = 3;

/// Cuts texts into the tokens of a vocabulary.
pub(super) struct Tokens {
    pieces: WordPiece,
    normalizer: BertNormalizer,
    n_known: usize,
    unknown: u32,
    opening: u32,
    closing: u32,
    /// Those of [`BETWEEN_CLAUSES`] that are in the vocabulary.
    between_clauses: Vec<u32>,
}

impl Tokens {
    /// Reads a vocabulary of one token a line.
    pub(super) fn new(vocabulary: &str) -> Result<Self> {
        let numbered = vocabulary.lines().zip(0_u32..).map(|(token, id)| (token.to_owned(), id));
        let n_known = vocabulary.lines().count();
        let pieces = WordPiece::builder()
            .vocab(numbered.collect::<AHashMap<_, _>>())
            .unk_token("[UNK]".to_owned())
            .max_input_chars_per_word(100)
            .build()
            .map_err(|_| damaged("has no vocabulary"))?;
        let id = |token: &str| {
            pieces.token_to_id(token).ok_or_else(|| damaged(format!("has no token `{token}`")))
        };
        let (unknown, opening, closing) = (id("[UNK]")?, id("[CLS]")?, id("[SEP]")?);
        let normalizer = BertNormalizer::new(true, true, None, true);
        let between_clauses =
            BETWEEN_CLAUSES.iter().filter_map(|token| pieces.token_to_id(token)).collect();
        Ok(Self { pieces, normalizer, n_known, unknown, opening, closing, between_clauses })
    }

    /// Returns the clauses of a text with these tokens, as ranges of them: what stands between
    /// marks and words that join.
    pub(super) fn clauses(&self, tokens: &[u32]) -> Vec<Range<usize>> {
        let is_between = |at: usize| self.between_clauses.contains(&tokens[at]);
        let mut clauses: Vec<Range<usize>> = Vec::new();
        for at in (0..tokens.len()).filter(|at| !is_between(*at)) {
            match clauses.last_mut() {
                Some(last) if last.end == at || last.len() < MIN_CLAUSE => last.end = at + 1,
                _ => clauses.push(at..at + 1),
            }
        }
        if let [.., before, last] = &mut clauses[..]
            && last.len() < MIN_CLAUSE
        {
            before.end = last.end;
            clauses.pop();
        }
        clauses
    }

    /// Returns the number of tokens.
    pub(super) fn n_known(&self) -> usize {
        self.n_known
    }

    /// Returns the token of what is not in the vocabulary.
    pub(super) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Returns the tokens of a text, at most so many, with the opening and the closing one. A
    /// pictograph that the vocabulary lacks has none.
    pub(super) fn of(&self, text: &str, max_tokens: usize) -> Vec<u32> {
        let text = &text[..text.floor_char_boundary(max_tokens * BYTES_A_TOKEN)];
        let mut ids = vec![self.opening];
        let mut normal = NormalizedString::from(&*apart(text));
        let mut words = PreTokenizedString::from("");
        if self.normalizer.normalize(&mut normal).is_ok() {
            words = PreTokenizedString::from(normal);
        }
        // Neither can fail: both only cut.
        if BertPreTokenizer.pre_tokenize(&mut words).is_ok() {
            for (word, _, _) in words.get_splits(OffsetReferential::Normalized, OffsetType::Byte) {
                if ids.len() + 1 >= max_tokens {
                    break;
                }
                match self.pieces.tokenize(word) {
                    Ok(found) => ids.extend(found.iter().map(|token| token.id)),
                    Err(_) => ids.push(self.unknown),
                }
                if word.chars().all(is_pictograph) && ids.last() == Some(&self.unknown) {
                    ids.pop();
                }
            }
        }
        ids.truncate(max_tokens.saturating_sub(1));
        ids.push(self.closing);
        ids
    }
}

/// Returns a text with blanks about its pictographs, which would be one word with the letters
/// beside them.
fn apart(text: &str) -> Cow<'_, str> {
    if !text.contains(is_pictograph) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_pictograph(c) {
            out.extend([' ', c, ' ']);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns whether a character is an emoji, a sign of the kind, or what joins and colours them.
fn is_pictograph(c: char) -> bool {
    matches!(u32::from(c), 0x200d | 0x2190..=0x2bff | 0xfe00..=0xfe0f | 0x1f000..=0x1faff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> Tokens {
        Tokens::new("[UNK]\n[CLS]\n[SEP]\nmerge\npdf\n##s\n,\ncafe\n").unwrap()
    }

    #[test]
    fn words_are_cut_into_the_longest_pieces() {
        assert_eq!(tokens().of("Merge PDFs, café 合 zebra", 16), [1, 3, 4, 5, 6, 7, 0, 0, 2]);
        assert_eq!(tokens().of("", 16), [1, 2]);
    }

    #[test]
    fn a_pictograph_hides_no_word() {
        assert_eq!(tokens().of("🚀Merge pdf✨ 👩\u{200d}💻", 16), [1, 3, 4, 2]);
        let known = Tokens::new("[UNK]\n[CLS]\n[SEP]\nmerge\n→\n").unwrap();
        assert_eq!(known.of("merge→merge", 16), [1, 3, 4, 3, 2]);
    }

    #[test]
    fn a_text_is_cut_before_the_closing_token() {
        assert_eq!(tokens().of(&"pdfs ".repeat(900), 6), [1, 4, 5, 4, 5, 2]);
        assert_eq!(tokens().of(&"é".repeat(900), 3), [1, 0, 2]);
    }

    #[test]
    fn clauses_stand_between_marks() {
        let tokens = tokens();
        let clauses = |text: &str| {
            let ids = tokens.of(text, 64);
            tokens.clauses(&ids[1..ids.len() - 1])
        };
        assert_eq!(clauses("merge pdf cafe, merge pdf cafe"), [0..3, 4..7]);
        // Short ones go on, or belong to the one before.
        assert_eq!(clauses("pdf, merge cafe pdf, cafe"), [Range { start: 0, end: 7 }]);
        assert!(clauses(",,").is_empty());
    }

    #[test]
    fn a_vocabulary_without_special_tokens_is_refused() {
        assert!(Tokens::new("[UNK]\n[CLS]\nmerge\n").is_err());
    }
}
