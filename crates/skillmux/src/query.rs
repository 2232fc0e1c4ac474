//! What the router is asked: a [`Query`], a task that was checked, and its [`Need`]s.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::{
    error::{Error, NeedProblem, Result},
    text::{Term, TermReader},
};

/// A task in plain words, and its needs where the caller knows them.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    text: String,
    needs: Vec<Need>,
}

/// A short phrase for one capability that a task asks for, or the task as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    text: String,
    /// How likely it asks for something, where a model told.
    asks: Option<f32>,
}

impl Need {
    /// Returns the need that these words say.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), asks: None }
    }

    /// Returns the need of a part of a task, of which a model tells how likely it asks for something,
    /// in `[0, 1]`.
    pub fn part(text: impl Into<String>, asks: f32) -> Self {
        Self { text: text.into(), asks: Some(asks) }
    }

    /// Returns how likely it asks for something, in `[0, 1]`, where a model told.
    pub fn asks(&self) -> Option<f32> {
        self.asks
    }

    /// Returns the words.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// How much a part of an identifier counts, compared with a word of its own.
///
/// A long task is full of paths and names of code, whose parts (`get`, `file`, `test`) are
/// everywhere. Half is worth 0.004 in MRR@10 on `queries-train` and on our long tasks alike.
const PART_WEIGHT: f32 = 0.5;

/// A distinct term of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    /// Normalised text.
    pub(crate) text: String,
    /// How often the query says it; above 0.
    pub(crate) frequency: f32,
    /// Bytes of the query that say it.
    pub(crate) sources: Vec<Range<usize>>,
}

impl Query {
    /// Longest task in bytes. A request of 700 words has 5 KB; more than this is an attachment.
    pub const MAX_BYTES: usize = 256 << 10;

    /// Most needs of a task.
    pub const MAX_NEEDS: usize = 16;

    /// Longest need in bytes: a phrase, not a paragraph.
    pub const MAX_NEED_BYTES: usize = 400;

    /// Checks a task.
    ///
    /// # Errors
    /// [`Error::TaskEmpty`] if it is blank, [`Error::TaskTooLong`] above
    /// [`Query::MAX_BYTES`].
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        if text.len() > Self::MAX_BYTES {
            return Err(Error::TaskTooLong { n_bytes: text.len(), max_bytes: Self::MAX_BYTES });
        }
        if text.trim().is_empty() {
            return Err(Error::TaskEmpty);
        }
        Ok(Self { text, needs: Vec::new() })
    }

    /// Returns the query with the needs that the caller knows: short phrases, one for each
    /// capability that the task asks for, in the order of use. Blanks around them are taken off,
    /// and repetitions left out.
    ///
    /// # Errors
    /// [`Error::NeedRefused`] for a need without a letter or digit, for one above
    /// [`Query::MAX_NEED_BYTES`], and for more than [`Query::MAX_NEEDS`].
    pub fn with_needs<S: AsRef<str>>(self, needs: impl IntoIterator<Item = S>) -> Result<Self> {
        Ok(Self { needs: checked_needs(needs)?, ..self })
    }

    /// Returns the query of a caller that tells its needs and no task: they are the text, a line
    /// each.
    ///
    /// # Errors
    /// As for [`Query::with_needs`], and [`Error::TaskEmpty`] without a need.
    pub fn of_needs<S: AsRef<str>>(needs: impl IntoIterator<Item = S>) -> Result<Self> {
        let needs = checked_needs(needs)?;
        let texts: Vec<&str> = needs.iter().map(Need::text).collect();
        Self::new(texts.join("\n"))
    }

    /// Returns the query with another text, and its needs.
    pub(crate) fn with_text(&self, text: String) -> Result<Self> {
        Ok(Self { needs: self.needs.clone(), ..Self::new(text)? })
    }

    /// Returns the needs that the caller gave; none where they are for the router to find.
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// Returns the task as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the distinct terms in the order in which they first occur.
    pub(crate) fn terms(&self) -> Vec<QueryTerm> {
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut position_of: FxHashMap<String, usize> = FxHashMap::default();
        let mut reader = TermReader::new();
        let mut stream = reader.read(&self.text);
        while let Some(Term { text: term, source, is_part }) = stream.advance() {
            if term == "go" && is_going(&self.text, &source) {
                continue;
            }
            let count = if is_part { PART_WEIGHT } else { 1.0 };
            if let Some(position) = position_of.get(term) {
                let known = &mut terms[*position];
                known.frequency += count;
                known.sources.push(source);
            } else {
                position_of.insert(term.to_owned(), terms.len());
                let sources = vec![source];
                terms.push(QueryTerm { text: term.to_owned(), frequency: count, sources });
            }
        }
        terms
    }
}

/// Returns needs without the blanks around them and without repetitions.
fn checked_needs<S: AsRef<str>>(needs: impl IntoIterator<Item = S>) -> Result<Vec<Need>> {
    let mut checked: Vec<Need> = Vec::new();
    for (number, need) in (1..).zip(needs) {
        let text = need.as_ref().trim();
        if checked.iter().any(|known| known.text.eq_ignore_ascii_case(text)) {
            continue;
        }
        let problem = if !text.contains(char::is_alphanumeric) {
            Some(NeedProblem::NoWord)
        } else if text.len() > Query::MAX_NEED_BYTES {
            Some(NeedProblem::TooLong { max_bytes: Query::MAX_NEED_BYTES })
        } else if checked.len() == Query::MAX_NEEDS {
            Some(NeedProblem::TooMany { max: Query::MAX_NEEDS })
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(Error::NeedRefused { number, problem });
        }
        checked.push(Need::new(text));
    }
    Ok(checked)
}

/// Words after which `go` is a verb, and not the language.
const AFTER_GO: [&str; 13] = [
    "about", "ahead", "away", "back", "down", "home", "into", "live", "out", "over", "through",
    "to", "wrong",
];

/// Words before which it is the language all the same.
const BEFORE_GO: [&str; 12] =
    ["a", "as", "for", "from", "in", "my", "of", "our", "the", "to", "using", "with"];

/// Returns whether the word at these bytes, `go`, is the verb: `go through the logs`. Whoever has a
/// Go skill installed asks for it seldom so.
fn is_going(text: &str, source: &Range<usize>) -> bool {
    let is_letter = |c: char| c.is_alphanumeric();
    let after = text[source.end..].trim_start_matches(' ');
    let next = &after[..after.find(|c| !is_letter(c)).unwrap_or(after.len())];
    let before = text[..source.start].trim_end_matches(' ');
    let last = before.rsplit(|c| !is_letter(c)).next().unwrap_or_default();
    &text[source.clone()] == "go" && AFTER_GO.contains(&next) && !BEFORE_GO.contains(&last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_task_is_refused() {
        for text in ["", "  \n\t"] {
            assert!(matches!(Query::new(text), Err(Error::TaskEmpty)), "{text:?}");
        }
        assert!(Query::new("🙂").is_ok());
        assert!(Query::new("表").is_ok());
    }

    #[test]
    fn a_task_is_refused_above_the_limit_only() {
        assert!(Query::new("a".repeat(Query::MAX_BYTES)).is_ok());
        let error = Query::new("a".repeat(Query::MAX_BYTES + 1)).unwrap_err();
        assert_eq!(error.to_string(), "the task is 262145 bytes, but the limit is 262144");
    }

    #[test]
    fn needs_are_phrases_without_repetitions() {
        let query = || Query::new("make a report").unwrap();
        let needs = |needs: &[&str]| query().with_needs(needs);
        let texts: Vec<String> = needs(&[" read CSV ", "draw a chart", "Read csv"])
            .unwrap()
            .needs()
            .iter()
            .map(|need| need.text().to_owned())
            .collect();
        assert_eq!(texts, ["read CSV", "draw a chart"]);
        assert!(query().needs().is_empty());
        assert_eq!(needs(&["read CSV"; 17]).unwrap().needs().len(), 1);
        for (refused, message) in [
            (vec!["read CSV".to_owned(), " - ".to_owned()], "need 2 has no letter or digit"),
            (vec!["a".repeat(401)], "need 1 is longer than 400 bytes"),
            ((0..17).map(|n| n.to_string()).collect(), "need 17 is too many: at most 16 are taken"),
        ] {
            assert_eq!(query().with_needs(&refused).unwrap_err().to_string(), message);
            assert_eq!(Query::of_needs(&refused).unwrap_err().to_string(), message);
        }
        assert_eq!(Query::of_needs([" read CSV ", "draw"]).unwrap().text(), "read CSV\ndraw");
        assert!(matches!(Query::of_needs::<&str>([]), Err(Error::TaskEmpty)));
    }

    #[test]
    fn a_verb_is_no_language() {
        let has_go =
            |text: &str| Query::new(text).unwrap().terms().iter().any(|term| term.text == "go");
        for task in ["go through the logs", "Then go over it", "so we go live", "let us go"] {
            assert_eq!(has_go(task), task == "let us go", "{task}");
        }
        for task in ["Go through", "port it from go to Rust", "a go service", "go: to do"] {
            assert!(has_go(task), "{task}");
        }
    }

    #[test]
    fn terms_are_counted_and_keep_their_places() {
        let query = Query::new("Merging tables: merge the Tables").unwrap();
        let terms = query.terms();
        let words = |term: &QueryTerm| -> Vec<&str> {
            term.sources.iter().map(|source| &query.text()[source.clone()]).collect()
        };
        let seen: Vec<_> = terms.iter().map(|t| (t.text.as_str(), t.frequency, words(t))).collect();
        assert_eq!(
            seen,
            [("merg", 2.0, vec!["Merging", "merge"]), ("tabl", 2.0, vec!["tables", "Tables"])]
        );
    }

    #[test]
    fn parts_of_identifiers_count_half() {
        let terms = Query::new("table-tools for a table").unwrap().terms();
        let frequency = |text: &str| terms.iter().find(|t| t.text == text).unwrap().frequency;
        assert!((frequency("tabl") - 1.5).abs() < f32::EPSILON);
        assert!((frequency("tabletool") - 1.0).abs() < f32::EPSILON);
    }
}
