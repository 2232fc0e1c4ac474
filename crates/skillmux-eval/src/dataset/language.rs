//! Tells Chinese from English text.

use skillmux::text::{is_han, is_latin};

/// Share of Han characters among the letters of a text from which on it counts as Chinese.
///
/// Names of tools stay Latin in a Chinese text, and one Han character says as much as several Latin
/// ones, so that the bound is low: it finds all 586 queries that are marked `zh` in the two
/// `queries-*` sets, and takes one of 50,814 queries marked `lat` for Chinese.
const MIN_HAN_SHARE: f64 = 0.1;

/// Returns `zh`, `en` for any text in mostly Latin letters, or `other`.
pub(super) fn language(text: &str) -> &'static str {
    let (mut n_han, mut n_latin, mut n_letters) = (0_u32, 0_u32, 0_u32);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        n_han += u32::from(is_han(c));
        n_latin += u32::from(is_latin(c));
        n_letters += 1;
    }
    let n_other = n_letters - n_han - n_latin;
    // Japanese has kana besides Han characters.
    if n_other > n_han && n_other > n_latin {
        "other"
    } else if n_han > 0 && f64::from(n_han) >= MIN_HAN_SHARE * f64::from(n_letters) {
        "zh"
    } else if n_latin > 0 {
        "en"
    } else {
        "other"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_with_latin_names_is_chinese() {
        assert_eq!(language("用 Prometheus 写告警规则，通知到 Slack channel"), "zh");
        assert_eq!(language("Translate the word 你好 in this long English sentence."), "en");
        assert_eq!(language("カタカナとひらがなの文です"), "other");
        assert_eq!(language("1234"), "other");
    }
}
