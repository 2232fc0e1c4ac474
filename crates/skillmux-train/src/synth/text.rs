//! What two texts have in common, and which language one is in.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};
use skillmux::text::{is_han, is_latin, is_spaceless};

/// Units of the sequences from which a shared run grows.
const SEED_UNITS: usize = 3;

/// Share of Han characters among the letters from which on a text is Chinese. Of the 289 Chinese
/// ones among our long tasks, which name many tools in Latin letters, none has less.
const MIN_HAN_SHARE: f64 = 0.2;

/// Largest share of letters of other scripts in an English text, which may quote them.
const MAX_FOREIGN_SHARE: f64 = 0.1;

/// A language that a text is asked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// English.
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// Returns the code, such as `en`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Returns the name in English.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "Chinese",
        }
    }

    /// Returns what a text is counted in.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::En => "words",
            Self::Zh => "characters",
        }
    }

    /// Returns whether a text is in this language. Latin letters of any language pass for English.
    pub(super) fn holds(self, text: &str) -> bool {
        let (mut n_han, mut n_latin, mut n_letters) = (0_u32, 0_u32, 0_u32);
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            n_letters += 1;
            n_han += u32::from(is_han(c));
            n_latin += u32::from(is_latin(c));
        }
        let share = |n: u32| f64::from(n) / f64::from(n_letters.max(1));
        match self {
            Self::En => n_latin > 0 && 1.0 - share(n_latin) <= MAX_FOREIGN_SHARE,
            // Japanese has Han characters as well, and kana besides.
            Self::Zh => {
                share(n_han) >= MIN_HAN_SHARE
                    && share(n_letters - n_han - n_latin) <= MAX_FOREIGN_SHARE
            }
        }
    }

    /// Returns the language that a skill's text is answered in.
    pub(super) fn of(text: &str) -> Self {
        if Self::Zh.holds(text) { Self::Zh } else { Self::En }
    }
}

/// Returns the units of a text: words of letters and digits in lower case, and each character of a
/// script without blanks. What stands between them does not count.
pub(super) fn units(text: &str) -> Vec<String> {
    let mut units = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() && !is_spaceless(c) {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            units.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            units.push(c.to_string());
        }
    }
    if !word.is_empty() {
        units.push(word);
    }
    units
}

/// Returns whether a unit is one character of a script without blanks.
pub(super) fn is_spaceless_unit(unit: &str) -> bool {
    unit.chars().next().is_some_and(is_spaceless)
}

/// Returns the longest run of units of `a` that stands in `b`, empty below three units.
pub(super) fn longest_shared_run<'a>(a: &'a [String], b: &[String]) -> &'a [String] {
    let mut places: FxHashMap<&[String], Vec<usize>> = FxHashMap::default();
    for (at, seed) in b.windows(SEED_UNITS).enumerate() {
        places.entry(seed).or_default().push(at);
    }
    let mut longest: &[String] = &[];
    for (start, seed) in a.windows(SEED_UNITS).enumerate() {
        for place in places.get(seed).into_iter().flatten() {
            let n_shared = a[start..].iter().zip(&b[*place..]).take_while(|(a, b)| a == b).count();
            if n_shared > longest.len() {
                longest = &a[start..start + n_shared];
            }
        }
    }
    longest
}

/// The distinct sequences of a few units in a text, as hashes in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shingles(Vec<u64>);

impl Shingles {
    /// Returns those of `n_units` units; a shorter text is one sequence.
    pub(super) fn of(units: &[String], n_units: usize) -> Self {
        let hash = |sequence: &[String]| {
            let mut hasher = FxHasher::default();
            for unit in sequence {
                hasher.write(unit.as_bytes());
                hasher.write_u8(0);
            }
            hasher.finish()
        };
        let mut hashes: Vec<u64> = match units.len() {
            0 => Vec::new(),
            n if n < n_units => vec![hash(units)],
            _ => units.windows(n_units).map(hash).collect(),
        };
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }

    /// Returns the Jaccard similarity of two sets, in `[0, 1]`; 0 if both are empty.
    pub(super) fn similarity(&self, other: &Self) -> f64 {
        let n_shared = self.n_shared(other);
        let n_all = self.0.len() + other.0.len() - n_shared;
        n_shared as f64 / n_all.max(1) as f64
    }

    /// Returns the share of this set that is in another one, in `[0, 1]`.
    pub(super) fn share_in(&self, other: &Self) -> f64 {
        self.n_shared(other) as f64 / self.0.len().max(1) as f64
    }

    fn n_shared(&self, other: &Self) -> usize {
        let (mut a, mut b) = (self.0.as_slice(), other.0.as_slice());
        let mut n_shared = 0;
        while let ([first_a, rest_a @ ..], [first_b, rest_b @ ..]) = (a, b) {
            n_shared += usize::from(first_a == first_b);
            if first_a <= first_b {
                a = rest_a;
            }
            if first_b <= first_a {
                b = rest_b;
            }
        }
        n_shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_words_and_chinese_characters() {
        assert_eq!(
            units("Fill A2_b, Überblick: 表格v2!"),
            ["fill", "a2", "b", "überblick", "表", "格", "v2"]
        );
        assert!(units(" —\n").is_empty());
    }

    #[test]
    fn the_longest_run_is_found_wherever_it_stands() {
        let run = |a: &str, b: &str| longest_shared_run(&units(a), &units(b)).join(" ");
        let skill = "Read the log. Then sort by date and drop what is older than a week.";
        assert_eq!(run("please sort BY date, and drop the rest", skill), "sort by date and drop");
        assert_eq!(run("read the mail", skill), "");
        assert_eq!(run("把合同里的付款条款列出来", "提取合同里的付款日期"), "合 同 里 的 付 款");
    }

    #[test]
    fn similarity_is_that_of_jaccard() {
        let of = |text: &str| Shingles::of(&units(text), 2);
        // ab bc cd of the one, bc cd de of the other: two of four.
        assert!((of("a b c d").similarity(&of("b c d e")) - 0.5).abs() < 1e-9);
        assert!((of("a b c d").share_in(&of("b c d e")) - 2.0 / 3.0).abs() < 1e-9);
        assert!((of("one").similarity(&of("ONE!")) - 1.0).abs() < 1e-9);
        assert!(of("").similarity(&of("")).abs() < 1e-9);
    }

    #[test]
    fn languages_are_told_apart() {
        for (text, en, zh) in [
            ("Write alert rules for Prometheus", true, false),
            ("用 Prometheus 写告警规则，通知到 Slack channel", false, true),
            ("Translate 你好 in this rather long English sentence.", true, false),
            ("これはカタカナとひらがなの文です", false, false),
            ("Напиши правила", false, false),
            ("1234", false, false),
        ] {
            assert_eq!((Language::En.holds(text), Language::Zh.holds(text)), (en, zh), "{text}");
        }
    }
}
