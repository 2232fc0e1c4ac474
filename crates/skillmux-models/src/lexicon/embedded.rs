//! [`Lexicons`]: the word lists of the binary.

use std::sync::LazyLock;

use rust_stemmers::Algorithm;
use skillmux::{
    model::{Language, Translated, Translator},
    text::{is_common_han, is_kana},
};
use skillmux_lexicons as lists;
use whatlang::{Detector, Lang};

use super::{
    DISCOUNT, Reading, RunLexicon, WordLexicon, Writing,
    runs::{has_chinese, is_hangul},
};

/// Bytes of all lists.
pub(crate) const N_BYTES: usize = lists::CHINESE.len()
    + lists::FRENCH.len()
    + lists::GERMAN.len()
    + lists::JAPANESE.len()
    + lists::KOREAN.len()
    + lists::PORTUGUESE.len()
    + lists::RUSSIAN.len()
    + lists::SPANISH.len();

/// Tells which of the languages with blanks a text is in.
static DETECTOR: LazyLock<Detector> = LazyLock::new(|| {
    Detector::with_allowlist(vec![Lang::Eng, Lang::Fra, Lang::Deu, Lang::Por, Lang::Spa])
});

/// The word lists of the binary; each is read when it is first needed.
pub(crate) struct Lexicons {
    japanese: LazyLock<RunLexicon>,
    korean: LazyLock<RunLexicon>,
    french: LazyLock<WordLexicon>,
    german: LazyLock<WordLexicon>,
    portuguese: LazyLock<WordLexicon>,
    russian: LazyLock<WordLexicon>,
    spanish: LazyLock<WordLexicon>,
}

impl Lexicons {
    /// Returns the lists of the binary.
    pub(crate) fn embedded() -> Self {
        Self {
            japanese: LazyLock::new(|| runs(lists::JAPANESE, Writing::Japanese)),
            korean: LazyLock::new(|| runs(lists::KOREAN, Writing::Korean)),
            french: LazyLock::new(|| words(lists::FRENCH, Algorithm::French)),
            german: LazyLock::new(|| words(lists::GERMAN, Algorithm::German)),
            portuguese: LazyLock::new(|| words(lists::PORTUGUESE, Algorithm::Portuguese)),
            russian: LazyLock::new(|| words(lists::RUSSIAN, Algorithm::Russian)),
            spanish: LazyLock::new(|| words(lists::SPANISH, Algorithm::Spanish)),
        }
    }

    /// Returns the lists of languages in Latin letters.
    fn latin(&self) -> [(Language, &WordLexicon); 4] {
        [
            (Language::French, &self.french),
            (Language::German, &self.german),
            (Language::Portuguese, &self.portuguese),
            (Language::Spanish, &self.spanish),
        ]
    }

    /// Returns what a text in a language with blanks is in English; `None` for English, and for a
    /// language without a list.
    fn read_words(&self, text: &str) -> Option<(Language, Reading)> {
        if text.contains(is_cyrillic) {
            return Some((Language::Russian, self.russian.read_text(text)));
        }
        if DETECTOR.detect_lang(text)? == Lang::Eng {
            return None;
        }
        // A few words of one language are easily taken for another one.
        let readings = self.latin().map(|(language, list)| (language, list.read_text(text)));
        let known_share = |reading: &(Language, Reading)| reading.1.known_share;
        readings.into_iter().max_by(|a, b| known_share(a).total_cmp(&known_share(b)))
    }

    /// Returns whether a word is one of another language in Latin letters.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.latin().iter().any(|(_, list)| list.has(word))
    }
}

impl Translator for Lexicons {
    fn translate(&self, text: &str) -> Option<Translated> {
        if text.contains(is_kana) {
            return self.japanese.translate(text);
        }
        if text.contains(is_hangul) {
            return self.korean.translate(text);
        }
        if text.contains(is_common_han) {
            return Chinese.translate(text);
        }
        let (language, read) = self.read_words(text)?;
        let Reading { english: text, content, .. } = read.told()?;
        Some(Translated { text, language, content, discount: DISCOUNT })
    }

    fn is_in(&self, text: &str, language: Language) -> bool {
        match language {
            Language::Japanese => text.contains(is_kana),
            Language::Korean => text.contains(is_hangul),
            Language::Russian => text.contains(is_cyrillic),
            Language::Chinese => has_chinese(text),
            _ => self
                .latin()
                .iter()
                .any(|(of, list)| *of == language && list.read_text(text).told().is_some()),
        }
    }
}

/// The Chinese list of the binary, which several models read.
static CHINESE: LazyLock<RunLexicon> = LazyLock::new(|| runs(lists::CHINESE, Writing::Chinese));

/// Says Chinese in English; the list is read when a text first has Chinese in it.
pub(crate) struct Chinese;

impl Translator for Chinese {
    fn translate(&self, text: &str) -> Option<Translated> {
        if !has_chinese(text) {
            return None;
        }
        CHINESE.translate(text)
    }
}

fn runs(lines: &'static str, writing: Writing) -> RunLexicon {
    RunLexicon::read(lines, writing).expect("a test reads the lists of the binary")
}

fn words(lines: &'static str, language: Algorithm) -> WordLexicon {
    WordLexicon::read(lines, language).expect("a test reads the lists of the binary")
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{4ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english(text: &str) -> Option<String> {
        Lexicons::embedded().translate(text).map(|said| said.text)
    }

    #[test]
    fn a_task_of_each_language_is_read_in_english() {
        for (task, words) in [
            ("Schreib mir bitte eine Zahlungserinnerung für die Rechnung", "payment invoice write"),
            (
                "Peux-tu traduire ces factures et redimensionner les photos ?",
                "translate invoice photo",
            ),
            ("Necesito limpiar la tabla de clientes con un script", "clean table customer script"),
            ("Preciso limpar a planilha e depois traduzir o relatório", "clean translate report"),
            ("Напиши регулярное выражение для номеров телефонов", "write phone number"),
            ("30分の動画に字幕を付けて翻訳してください", "video subtitle translate"),
            ("이 PDF에서 표를 추출해서 번역해줘", "PDF table extract"),
            ("把数据库的慢查询优化一下", "database slow query"),
        ] {
            let read = english(task).unwrap_or_default();
            for word in words.split(' ') {
                assert!(read.contains(word), "{task}: {read}");
            }
        }
    }

    #[test]
    fn english_is_left_alone() {
        for task in [
            "just set up nginx",
            "Fill in the attached PDF form and check every field",
            "die in a plan: table, image, port",
            "optmize my postgre querry",
            "turn this feature PRD into a technical plan, no code",
            "client says the colours don't pass contrast for AA",
            "flip a coin",
            "2 + 2",
            "",
        ] {
            assert_eq!(english(task), None, "{task}");
        }
    }

    #[test]
    fn another_language_is_left_alone() {
        for task in
            ["Kirjoita minulle maksumuistutus laskusta", "Vertaal deze brief naar het Engels"]
        {
            assert_eq!(english(task), None, "{task}");
        }
    }

    #[test]
    fn all_lists_are_well_formed_and_their_words_are_in_order() {
        let lists = [
            lists::FRENCH,
            lists::GERMAN,
            lists::JAPANESE,
            lists::KOREAN,
            lists::PORTUGUESE,
            lists::RUSSIAN,
            lists::SPANISH,
        ];
        for list in lists {
            let words: Vec<&str> = list.lines().map(|l| l.split_once('\t').unwrap().0).collect();
            assert!(words.len() > 5_000 && words.is_sorted(), "{:?}", words.first());
        }
    }
}
