//! A description that promises what the text does not hold.

use rustc_hash::FxHashSet;

use super::{Sign, terms};
use crate::text::{TermReader, is_spaceless};

/// Fewer terms in a description tell nothing.
const MIN_DESCRIPTION_TERMS: usize = 8;

/// Fewer terms in a body tell nothing.
const MIN_BODY_TERMS: usize = 60;

/// At most so many percent of a description's terms are in a body that speaks of something else.
const MAX_PERCENT: usize = 8;

/// Least share of characters without spaces for a text to count as Chinese or Japanese.
const SPACELESS: f32 = 0.2;

/// Returns whether the text does not speak of what the description says.
///
/// A text in another writing than its description is not compared.
pub(super) fn sign(name: &str, description: &str, body: &str) -> Option<Sign> {
    if is_mostly_spaceless(description) != is_mostly_spaceless(body) {
        return None;
    }
    let said = terms([name, description]);
    if said.len() < MIN_DESCRIPTION_TERMS {
        return None;
    }
    // Most texts take up the description in their first lines.
    let enough = said.len() * MAX_PERCENT / 100 + 1;
    let mut held: FxHashSet<&str> = FxHashSet::default();
    let mut reader = TermReader::new();
    let (mut stream, mut n_terms) = (reader.read(body), 0);
    while let Some(term) = stream.advance() {
        n_terms += 1;
        held.extend(said.get(term.text).map(String::as_str));
        if held.len() >= enough {
            return None;
        }
    }
    (n_terms >= MIN_BODY_TERMS).then_some(Sign::Somewhere)
}

/// Returns whether a text is Chinese, Japanese or Korean for the most part.
pub(super) fn is_mostly_spaceless(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (n_letters, n_spaceless) = letters.fold((0_usize, 0_usize), |(n, spaceless), c| {
        (n + 1, spaceless + usize::from(is_spaceless(c)))
    });
    n_spaceless as f32 > SPACELESS * n_letters as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIPTION: &str =
        "Extracts tables from invoices and receipts, checks totals, currencies, suppliers, dates";

    fn body(sentence: &str) -> String {
        // Enough different words for a judgement.
        let words = (0..80).map(|n| {
            format!("word{}", char::from(b'a' + n % 26).to_string().repeat(usize::from(n / 26) + 1))
        });
        format!("{sentence} {}", words.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_text_about_something_else_is_a_sign() {
        assert_eq!(sign("invoices", DESCRIPTION, &body("Mine coins.")), Some(Sign::Somewhere));
        assert_eq!(
            sign("invoices", DESCRIPTION, &body("Read the invoices and check totals.")),
            None
        );
    }

    #[test]
    fn too_little_text_or_another_writing_is_none() {
        assert_eq!(sign("invoices", DESCRIPTION, "Mine coins."), None);
        assert_eq!(sign("invoices", "Reads invoices.", &body("Mine coins.")), None);
        assert_eq!(
            sign(
                "invoices",
                "从发票和收据中提取表格并检查总额和货币以及供应商和日期",
                &body("Mine coins.")
            ),
            None
        );
    }
}
