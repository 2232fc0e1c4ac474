//! [`terms`]: what a text says, as the index has it.

use std::collections::BTreeSet;

use crate::text::Analyzer;

/// Returns the terms of a text, each once; none of stop words.
pub(super) fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    Analyzer::new().for_each_term(text, &mut |term| {
        terms.insert(term.to_owned());
    });
    terms
}
