//! [`RunLexicon`]: a word list of a language that is written without blanks between all words.

use rustc_hash::FxHashMap;
use skillmux::{
    model::{Language, Translated, Translator},
    text::{is_common_han, is_hiragana, is_kana, simplified},
};

use super::DISCOUNT;

/// What the log-odds of a skill lose that the Chinese list found. What was chosen on, and what it
/// costs Chinese skills with an English twin, is in `docs/ranking.md`.
const CHINESE_DISCOUNT: f32 = 3.0;

/// What a character costs that is no word: more than any word.
const UNKNOWN_COST: f32 = 15.0;

/// A word of grammar is at least as frequent as this.
const MIN_COUNT: f32 = 20.0;

/// A writing without blanks between all words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// Traditional characters are read as their simplified forms.
    Chinese,
    /// Characters and kana.
    Japanese,
    /// Hangul: endings follow their word without a blank.
    Korean,
}

impl Writing {
    /// Returns whether words have the character.
    fn has(self, c: char) -> bool {
        match self {
            Self::Chinese => is_common_han(c),
            Self::Japanese => is_common_han(c) || is_kana(c) || c == '々',
            Self::Korean => is_hangul(c),
        }
    }

    fn language(self) -> Language {
        match self {
            Self::Chinese => Language::Chinese,
            Self::Japanese => Language::Japanese,
            Self::Korean => Language::Korean,
        }
    }

    /// Returns what the log-odds of a skill lose that a list of this writing found.
    fn discount(self) -> f32 {
        match self {
            Self::Chinese => CHINESE_DISCOUNT,
            Self::Japanese | Self::Korean => DISCOUNT,
        }
    }
}

/// Says the words of one language in English, word by word.
///
/// A run of characters is cut into words of the list so that the product of their frequencies is
/// highest, with the first of equal ways: words of equal frequency are cut as long as possible.
#[derive(Debug)]
pub struct RunLexicon {
    words: FxHashMap<&'static str, Entry>,
    writing: Writing,
    /// Characters of the longest word.
    max_chars: usize,
}

#[derive(Debug)]
struct Entry {
    /// Minus the logarithm of its frequency.
    cost: f32,
    /// English words, none for a word of grammar.
    english: &'static str,
}

impl RunLexicon {
    /// Reads lines of a word, its count if there is one, and its English words, with tabs between;
    /// `None` if a line has another form.
    pub fn read(lines: &'static str, writing: Writing) -> Option<Self> {
        let mut counted = Vec::new();
        for line in lines.lines() {
            let (word, rest) = line.split_once('\t')?;
            let (count, english) = rest.split_once('\t').unwrap_or(("1", rest));
            let count: f32 = count.parse().ok().filter(|count| *count > 0.0)?;
            counted.push((word, f32::max(count, MIN_COUNT), english));
        }
        let total: f32 = counted.iter().map(|(_, count, _)| count).sum();
        let max_chars = counted.iter().map(|(word, ..)| word.chars().count()).max().unwrap_or(0);
        let entry =
            |(word, count, english)| (word, Entry { cost: -f32::ln(count / total), english });
        Some(Self { words: counted.into_iter().map(entry).collect(), writing, max_chars })
    }

    /// Appends the English words of a run of characters of the writing, and the run without its
    /// words of grammar.
    fn translate_run(&self, run: &str, out: &mut Vec<&str>, content: &mut String) {
        let ends: Vec<usize> = run.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        // The least cost of the characters up to each, and where the last word begins.
        let mut best: Vec<(f32, usize)> = vec![(0.0, 0)];
        let start_of = |char: usize| if char == 0 { 0 } else { ends[char - 1] };
        for end in 1..=ends.len() {
            let mut least = (best[end - 1].0 + UNKNOWN_COST, end - 1);
            for start in end.saturating_sub(self.max_chars)..end {
                if let Some(entry) = self.words.get(&run[start_of(start)..ends[end - 1]]) {
                    let cost = best[start].0 + entry.cost;
                    if cost < least.0 {
                        least = (cost, start);
                    }
                }
            }
            best.push(least);
        }
        let mut cuts = Vec::new();
        let mut end = ends.len();
        while end > 0 {
            let start = best[end].1;
            cuts.push(start_of(start)..ends[end - 1]);
            end = start;
        }
        for word in cuts.into_iter().rev() {
            let word = &run[word];
            match self.words.get(word) {
                Some(Entry { english: "", .. }) => content.push(' '),
                Some(entry) => {
                    out.push(entry.english);
                    content.push_str(word);
                }
                // What the list lacks and kanji do not write is mostly grammar.
                None if word.chars().all(is_hiragana) => content.push(' '),
                None => content.push_str(word),
            }
        }
    }

    /// Returns what a text is in English, word by word, and the text without its words of grammar;
    /// `None` if the list has none of its words. What is in another writing stays.
    fn read_text(&self, text: &str) -> Option<(String, String)> {
        let is_chinese = self.writing == Writing::Chinese;
        if is_chinese && !has_chinese(text) {
            return None;
        }
        let simple = is_chinese.then(|| simplified(text));
        let text = simple.as_deref().unwrap_or(text);
        let mut words: Vec<&str> = Vec::new();
        let mut content = String::with_capacity(text.len());
        let mut n_translated = 0;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_same = |c: char| self.writing.has(c) == self.writing.has(first);
            let end = rest.find(|c: char| !is_same(c)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            if self.writing.has(first) {
                let n_before = words.len();
                self.translate_run(run, &mut words, &mut content);
                n_translated += words.len() - n_before;
            } else {
                content.push_str(run);
                words.extend(Some(run.trim()).filter(|run| !run.is_empty()));
            }
            rest = after;
        }
        let content = content.split_whitespace().collect::<Vec<_>>().join(" ");
        (n_translated > 0).then(|| (words.join(" "), content))
    }
}

impl Translator for RunLexicon {
    fn translate(&self, text: &str) -> Option<Translated> {
        let (text, content) = self.read_text(text)?;
        let language = self.writing.language();
        Some(Translated { text, language, content, discount: self.writing.discount() })
    }
}

/// Returns whether a text has Chinese in it. Japanese has other characters as well.
pub(super) fn has_chinese(text: &str) -> bool {
    text.contains(is_common_han) && !text.contains(is_kana)
}

/// Returns whether the character is a syllable of Hangul.
pub(super) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "数据库\t300\tdatabase\n数据\t900\tdata\n库\t40\tlibrary\n慢\t90\tslow\n查询\t200\tquery\n的\t1\t\n";

    #[test]
    fn words_are_cut_so_that_they_are_likely() {
        let lexicon = RunLexicon::read(LINES, Writing::Chinese).unwrap();
        let translate = |text: &str| lexicon.read_text(text).map(|(english, _)| english);
        assert_eq!(translate("数据库的慢查询").as_deref(), Some("database slow query"));
        assert_eq!(
            translate("用 Postgres 的数据，慢！").as_deref(),
            Some("Postgres data ， slow ！")
        );
        assert_eq!(translate("鑫数据鑫").as_deref(), Some("data"));
        assert_eq!(translate("數據庫的慢查詢"), translate("数据库的慢查询"));
        assert_eq!(translate("why is 数据 empty").as_deref(), Some("why is data empty"));
        for text in ["", "的", "鑫鑫鑫", "slow query", "データ", "数据を整理"] {
            assert_eq!(translate(text), None, "{text}");
        }
    }

    #[test]
    fn words_of_grammar_are_no_content() {
        let lines = "契約\tcontract\n要約\tsummarize\nを\t\n";
        let lexicon = RunLexicon::read(lines, Writing::Japanese).unwrap();
        let content = |text: &str| lexicon.read_text(text).map(|(_, content)| content);
        assert_eq!(content("契約書を要約して PDF で").as_deref(), Some("契約書 要約 PDF"));
        assert_eq!(content("して"), None);
    }

    #[test]
    fn a_line_of_another_form_is_refused() {
        for lines in ["数据", "数据\tx\tdata", "数据\t0\tdata"] {
            assert!(RunLexicon::read(lines, Writing::Chinese).is_none(), "{lines}");
        }
    }

    #[test]
    fn a_long_text_takes_no_longer_than_its_length_asks_for() {
        let lexicon = RunLexicon::read(LINES, Writing::Chinese).unwrap();
        let text = "慢查询鑫".repeat(50_000);
        assert_eq!(lexicon.read_text(&text).unwrap().0.split(' ').count(), 100_000);
    }
}
