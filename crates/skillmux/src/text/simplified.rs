//! [`simplified`]: Chinese in traditional characters, read as in simplified ones.

use std::{borrow::Cow, sync::LazyLock};

use ferrous_opencc::{OpenCC, config::BuiltinConfig};
use rustc_hash::FxHashMap;

use super::script::is_common_han;

/// The simplified form of each common character that has another one, by the table of `OpenCC`.
static SIMPLIFIED: LazyLock<FxHashMap<char, char>> = LazyLock::new(|| {
    let Ok(table) = OpenCC::from_config(BuiltinConfig::T2s) else { return FxHashMap::default() };
    let characters = || ('\u{4e00}'..='\u{9fff}').filter(|c| is_common_han(*c));
    let lines: String = characters().flat_map(|c| [c, '\n']).collect();
    let pairs = |(from, line): (char, &str)| {
        let mut to = line.chars();
        let pair = (from, to.next()?);
        let is_other = pair.0 != pair.1 && to.next().is_none();
        (is_other && pair.0.len_utf8() == pair.1.len_utf8()).then_some(pair)
    };
    characters().zip(table.convert(&lines).lines()).filter_map(pairs).collect()
});

/// Returns a text with each traditional Chinese character in its simplified form, byte for byte at
/// the same place. Characters are looked at one by one, so a word of Taiwan or Hong Kong stays that
/// word.
pub fn simplified(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(|c| of(c).is_some()) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| of(c).unwrap_or(c)).collect()
}

fn of(c: char) -> Option<char> {
    is_common_han(c).then(|| SIMPLIFIED.get(&c).copied()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traditional_characters_become_simplified_ones_of_the_same_length() {
        for (text, expected) in [
            ("幫我把資料庫的慢查詢找出來", "帮我把资料库的慢查询找出来"),
            ("PDF 檔案，後天要", "PDF 档案，后天要"),
            ("数据库的慢查询", "数据库的慢查询"),
            ("slow query", "slow query"),
            ("データを整理", "データを整理"),
        ] {
            assert_eq!(simplified(text), expected);
            assert_eq!(simplified(text).len(), text.len());
        }
    }
}
