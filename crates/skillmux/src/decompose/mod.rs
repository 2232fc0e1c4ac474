//! Splits a task into needs, and into clauses that say how much each is about the work itself.
//!
//! ```
//! use skillmux::decompose::clauses;
//!
//! let task = "# Quarterly report\n- Merge the PDF files. Then translate the summary.\n\
//!             ## Acceptance criteria\n- Must not change `src/main.rs`";
//! let found: Vec<_> = clauses(task).into_iter().map(|c| (&task[c.range], c.weight)).collect();
//! assert_eq!(
//!     found,
//!     [
//!         ("Quarterly report", 1.0),
//!         ("Merge the PDF files.", 1.0),
//!         ("Then translate the summary.", 1.0),
//!         ("Must not change `src/main.rs`", 0.25),
//!     ]
//! );
//! ```

use std::ops::Range;

use crate::text::first_words;

mod asking;
mod boilerplate;
mod chinese_negation;
mod clause;
mod courtesy;
mod decomposer;
mod foreign_negation;
mod formalities;
mod negation;
mod no_negation;
mod order;
mod pasted;
mod phrase;
mod refusal;
mod request;
mod request_start;
mod request_words;
mod verbs;

pub use asking::{AskingWeights, N_ASKING_FEATURES, Piece, pieces};
pub(crate) use asking::{judged, likely_asks};
pub(crate) use clause::clauses_with_terms;
pub use clause::{Clause, clauses};
pub use decomposer::{ByClause, Decomposer, WholeTask};
pub use pasted::{Pasted, pasted};

pub(crate) use courtesy::{without_chinese_stop, without_courtesies, without_lead};
pub(crate) use formalities::formalities;
pub(crate) use negation::{negations, without};
pub(crate) use order::dependencies;
pub(crate) use refusal::refusals;
pub(crate) use request_start::{asks_anywhere, is_request};

/// Returns whether a task has more than 180 words, about as many as the transformer
/// reads. Two Chinese, Japanese or Korean characters count as one word.
pub(crate) fn has_many_words(task: &str) -> bool {
    const MAX_WORDS_OF_SHORT: usize = 180;
    first_words(task, MAX_WORDS_OF_SHORT).len() < task.len()
}

/// Returns a text without these parts of it, which are in its order.
pub(crate) fn without_ranges(text: &str, ranges: impl IntoIterator<Item = Range<usize>>) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        rest.push_str(&text[from..range.start]);
        from = range.end;
    }
    rest.push_str(&text[from..]);
    rest
}

/// Returns the beginning of a text: enough to see what begins there. So a long task takes no longer
/// than its length asks for.
fn head(text: &str) -> &str {
    const MAX_BYTES: usize = 200;
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

/// Returns the end of a text, for the same reason.
fn tail(text: &str) -> &str {
    const MAX_BYTES: usize = 500;
    &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES))..]
}
