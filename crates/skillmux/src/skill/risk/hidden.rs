//! Characters that a reader does not see.

use super::Sign;

/// The flags of England, Scotland and Wales are this and tags.
const BLACK_FLAG: char = '\u{1f3f4}';

/// Tags of the longest such flag, with the one that ends it.
const MAX_FLAG_TAGS: usize = 6;

/// Returns where a text of a skill hides something. The body is the last one.
pub(super) fn sign(texts: [&str; 3]) -> Option<Sign> {
    let [name, description, body] = texts.map(first);
    let above = name.or(description).map(|_| Sign::Somewhere);
    above.or(body.map(Sign::At))
}

/// Returns the first byte of a character that writes unseen text or turns the direction of writing.
///
/// Zero-width spaces and the like come into honest texts when they are copied from web pages: they count for nothing.
fn first(text: &str) -> Option<usize> {
    if text.is_ascii() {
        return None;
    }
    let mut flag_tags = 0;
    for (at, c) in text.char_indices() {
        match c {
            BLACK_FLAG => flag_tags = MAX_FLAG_TAGS,
            '\u{e0020}'..='\u{e007f}' if flag_tags > 0 => flag_tags -= 1,
            '\u{e0000}'..='\u{e007f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                return Some(at);
            }
            _ => flag_tags = 0,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseen_text_is_a_sign() {
        assert_eq!(sign(["a", "b", "c\u{e0041}"]), Some(Sign::At(1)));
        assert_eq!(sign(["a", "b\u{202e}", "c"]), Some(Sign::Somewhere));
    }

    #[test]
    fn what_honest_texts_have_is_none() {
        let scotland = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        assert_eq!(sign(["\u{feff}a", "b\u{200b}\u{ad}", scotland]), None);
        let more = format!("{scotland}\u{e0041}");
        assert_eq!(sign(["", "", &more]), Some(Sign::At(scotland.len())));
    }
}
