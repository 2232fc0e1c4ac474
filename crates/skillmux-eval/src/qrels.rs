//! [`Qrels`]: which skills are right for a query, in the format of TREC.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::error::Error;

/// The skills that are right for a query.
pub type Gold = BTreeSet<String>;

/// Relevance judgements, by query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Qrels {
    gold: BTreeMap<String, Gold>,
}

impl Qrels {
    /// Reads judgements from a file.
    ///
    /// # Errors
    /// [`Error::Read`], and as for [`Qrels::parse`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path)
            .map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Self::parse(&text)
    }

    /// Reads lines `query_id 0 document_id relevance`; a relevance above 0 is right.
    ///
    /// A query without a right document is left out: nothing can be found for it.
    ///
    /// # Errors
    /// [`Error::Columns`] and [`Error::NotANumber`] name the line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut gold: BTreeMap<String, Gold> = BTreeMap::new();
        for (line, text) in (1..).zip(text.lines()) {
            let columns: Vec<&str> = text.split_whitespace().collect();
            let [query_id, _, document_id, relevance] = columns[..] else {
                if columns.is_empty() {
                    continue;
                }
                let format = "qrels";
                return Err(Error::Columns { line, found: columns.len(), expected: 4, format });
            };
            let Ok(grade) = relevance.parse::<i64>() else {
                let value = relevance.to_owned();
                return Err(Error::NotANumber { line, column: "relevance", value });
            };
            if grade > 0 {
                gold.entry(query_id.to_owned()).or_default().insert(document_id.to_owned());
            }
        }
        Ok(Self { gold })
    }

    /// Returns the number of queries with a right document.
    pub fn n_queries(&self) -> usize {
        self.gold.len()
    }

    /// Returns the queries and what is right for them, by query id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Gold)> {
        self.gold.iter().map(|(query_id, gold)| (query_id.as_str(), gold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_grades_above_zero_are_right() {
        let qrels = Qrels::parse("q1 0 a 2\nq1 0 b 0\nq2 0 c -1\n").unwrap();
        let found: Vec<_> = qrels.iter().collect();
        assert_eq!(found, [("q1", &Gold::from(["a".to_owned()]))]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let message = |text| Qrels::parse(text).unwrap_err().to_string();
        assert_eq!(message("q1 a 1"), "line 1 has 3 columns, but qrels has 4");
        assert_eq!(message("\nq1 0 a yes"), "line 2: relevance is `yes`, which is not a number");
    }
}
