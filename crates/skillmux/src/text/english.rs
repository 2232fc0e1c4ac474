//! [`is_english`]: whether a text may be in English.

/// Returns whether a text is not surely in another language: words of German are no typing errors
/// of English ones.
pub(crate) fn is_english(text: &str) -> bool {
    let found = whatlang::detect(text);
    found.is_none_or(|found| {
        let is_latin = found.script() == whatlang::Script::Latin;
        !is_latin || found.lang() == whatlang::Lang::Eng || !found.is_reliable()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_languages_are_told_from_errors() {
        for english in [
            "gett all prodcut naems and prises of this websiet evry page into a tabel",
            "merge pdfs",
            "帮我 review 这个 PR",
        ] {
            assert!(is_english(english), "{english}");
        }
        assert!(!is_english("Schreib mir bitte eine freundliche Mahnung, aber nicht zu nett"));
        assert!(!is_english(
            "Mi tabla de clientes tiene fechas en tres formatos y nombres repetidos"
        ));
    }
}
