//! [`Qrels`]: which skills are right for a query, in the format of TREC.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

use crate::{
    error::Error,
    file,
    task::{Gold, Task},
    trec::{TrecFormat, escape, unescape},
};

/// Relevance judgements, by query.
///
/// Written with `Display`, they are the lines that [`Qrels::parse`] reads, by query and skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Qrels {
    gold: BTreeMap<String, Gold>,
    rejected: BTreeMap<String, BTreeSet<String>>,
}

impl Qrels {
    /// Reads judgements from a file, which may be packed with gzip or zstd.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::NotAFile`], [`Error::TooLarge`], and [`Error::InFile`] with an
    /// error of [`Qrels::parse`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&file::read_text(path)?)
            .map_err(|source| Error::InFile { path: path.to_owned(), source: Box::new(source) })
    }

    /// Returns the judgements of tasks: right skills with their grades, partial ones too, and those
    /// that are known to be wrong with 0.
    pub(crate) fn of_tasks<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Self {
        let mut qrels = Self::default();
        for task in tasks {
            let gold = task.graded();
            if !gold.is_empty() {
                qrels.gold.insert(task.id.clone(), gold);
            }
            if !task.rejected.is_empty() {
                qrels.rejected.insert(task.id.clone(), task.rejected.clone());
            }
        }
        qrels
    }

    /// Reads lines `query_id 0 document_id relevance`; a relevance above 0 is right.
    ///
    /// Escapes such as `%20` in an id are undone as in a run. A query without a right document is
    /// left out of [`Qrels::iter`]: nothing can be found for it.
    ///
    /// # Errors
    /// [`Error::Columns`] and [`Error::NotANumber`] name the line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut qrels = Self::default();
        for (line, text) in (1..).zip(text.lines()) {
            let columns: Vec<&str> = text.split_whitespace().collect();
            let [query_id, _, document_id, relevance] = columns[..] else {
                if columns.is_empty() {
                    continue;
                }
                let (found, format) = (columns.len(), TrecFormat::Qrels);
                return Err(Error::Columns { line, found, format });
            };
            let Ok(grade) = relevance.parse::<i64>() else {
                let value = relevance.to_owned();
                return Err(Error::NotANumber { line, column: "relevance", value });
            };
            let (query_id, document_id) = (unescape(query_id), unescape(document_id));
            let is_known = qrels.gold(&query_id).is_some_and(|gold| gold.contains(&document_id))
                || qrels.rejected(&query_id).is_some_and(|wrong| wrong.contains(&*document_id));
            let (query_id, document_id) = (query_id.into_owned(), document_id.into_owned());
            if is_known {
                return Err(Error::Repeated { line, query_id, document_id });
            }
            match u32::try_from(grade) {
                Ok(grade @ 1..) => {
                    qrels.gold.entry(query_id).or_default().insert(document_id, grade);
                }
                _ => {
                    qrels.rejected.entry(query_id).or_default().insert(document_id);
                }
            }
        }
        Ok(qrels)
    }

    /// Returns what is right for a query, if anything is.
    pub(crate) fn gold(&self, query_id: &str) -> Option<&Gold> {
        self.gold.get(query_id)
    }

    /// Returns the documents that are judged not to be right for a query, if there are any.
    pub fn rejected(&self, query_id: &str) -> Option<&BTreeSet<String>> {
        self.rejected.get(query_id)
    }

    /// Returns the number of queries with a right document.
    pub fn n_queries(&self) -> usize {
        self.gold.len()
    }

    /// Returns the queries with a judged document, right or wrong, by query id.
    pub(crate) fn query_ids(&self) -> impl Iterator<Item = &str> {
        let judged = self.gold.keys().chain(self.rejected.keys()).map(String::as_str);
        judged.collect::<BTreeSet<&str>>().into_iter()
    }

    /// Returns the queries and what is right for them, by query id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Gold)> {
        self.gold.iter().map(|(query_id, gold)| (query_id.as_str(), gold))
    }
}

impl fmt::Display for Qrels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for query_id in self.query_ids() {
            let right = self.gold(query_id).into_iter().flat_map(Gold::iter);
            let wrong = self.rejected(query_id).into_iter().flatten();
            let judged: BTreeMap<&str, u32> =
                right.chain(wrong.map(|id| (id.as_str(), 0))).collect();
            let query_id = escape(query_id);
            for (document_id, grade) in judged {
                writeln!(f, "{query_id} 0 {} {grade}", escape(document_id))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_grades_above_zero_are_right() {
        let qrels = Qrels::parse("q1 0 a 2\nq1 0 b 0\nq2 0 c -1\n").unwrap();
        let found: Vec<_> = qrels.iter().collect();
        let mut expected = Gold::default();
        expected.insert("a", 2);
        assert_eq!(found, [("q1", &expected)]);
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let text = "q%201 0 a%20b 2\nq%201 0 c%25 0\nq2 0 d 1\nq3 0 e 0\n";
        let qrels = Qrels::parse(text).unwrap();
        assert!(qrels.gold("q 1").unwrap().contains("a b"));
        assert!(qrels.rejected("q 1").unwrap().contains("c%"));
        assert_eq!(qrels.to_string(), text);
        assert_eq!(qrels.n_queries(), 2);
    }

    #[test]
    fn tasks_become_judgements() {
        let mut task =
            Task { id: "t".into(), gold: ["a"].into_iter().collect(), ..Task::default() };
        task.partial.insert("b", 2);
        task.rejected.insert("c".into());
        assert_eq!(Qrels::of_tasks([&task]).to_string(), "t 0 a 1\nt 0 b 2\nt 0 c 0\n");
    }

    #[test]
    fn a_bad_line_is_named() {
        let message = |text| Qrels::parse(text).unwrap_err().to_string();
        assert_eq!(message("q1 a 1"), "line 1 has 3 columns, but qrels has 4");
        assert_eq!(message("\nq1 0 a yes"), "line 2: relevance is `yes`, which is not a number");
        assert_eq!(message("q 0 a 0\nq 0 a 1"), "line 2: `a` occurs again for query `q`");
    }
}
