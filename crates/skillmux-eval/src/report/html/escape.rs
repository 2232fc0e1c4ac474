//! [`Harmless`]: how the templates of a page escape.

use std::fmt;

use askama::filters::Escaper;

use crate::printable::one_line;

/// Makes any text that of an element or of a quoted attribute: markup becomes text, and what would
/// mislead a reader is marked, as [`one_line`] does.
///
/// `askama.toml` names it for all templates of HTML.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Harmless;

impl Escaper for Harmless {
    fn write_escaped_str<W: fmt::Write>(&self, mut out: W, text: &str) -> fmt::Result {
        for c in one_line(text).chars() {
            match c {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                c => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_of_others_is_text() {
        let mut escaped = String::new();
        Harmless.write_escaped_str(&mut escaped, "<img src=x onerror='a'>&\"\u{202e}\n").unwrap();
        assert_eq!(escaped, "&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;\u{fffd} ");
    }
}
