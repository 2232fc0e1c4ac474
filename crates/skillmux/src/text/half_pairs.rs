//! [`without_half_pairs`]: JSON that a parser can read.

use std::borrow::Cow;

/// Returns JSON in which `\ufffd` stands for each half of a surrogate pair that stands alone:
/// JavaScript writes one where it cuts an emoji, and JSON parsers refuse it.
pub fn without_half_pairs(json: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json[at..].find('\\') {
        at += found;
        let Some(unit) = code_unit(json, at) else {
            // An escaped character, which may be a backslash.
            at = json[at + 1..].chars().next().map_or(json.len(), |c| at + 1 + c.len_utf8());
            continue;
        };
        let is_low = |unit: u32| (0xdc00..0xe000).contains(&unit);
        let is_pair =
            (0xd800..0xdc00).contains(&unit) && code_unit(json, at + 6).is_some_and(is_low);
        if !is_pair && (0xd800..0xe000).contains(&unit) {
            mended.push_str(&json[copied..at]);
            mended.push_str("\\ufffd");
            copied = at + 6;
        }
        at += if is_pair { 12 } else { 6 };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[copied..]);
    Cow::Owned(mended)
}

/// Returns the number that an escape such as `\ud83d` at a place means.
fn code_unit(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced() {
        for (json, expected) in [
            (r#""a \ud83d b""#, r#""a \ufffd b""#),
            (r#""\uDE00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
        ] {
            assert_eq!(without_half_pairs(json), expected);
            assert!(serde_json::from_str::<String>(expected).is_ok());
        }
        for json in
            [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""é \u00e9""#, "\\u12", "\\", "\\ud8", ""]
        {
            assert!(matches!(without_half_pairs(json), Cow::Borrowed(_)), "{json}");
        }
    }
}
