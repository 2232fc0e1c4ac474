//! [`Run`]: the rankings of a system, in the format of TREC.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    fs,
    path::Path,
};

use crate::error::Error;

/// One line of a run: `query_id Q0 document_id rank score tag`.
///
/// Columns are divided by blanks, so that blanks in an id are written `%20` and `%` as `%25`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLine {
    /// Identifier of the query.
    pub query_id: String,
    /// Identifier of the skill.
    pub document_id: String,
    /// Rank, from 1.
    pub rank: usize,
    /// Score; higher is better.
    pub score: f32,
    /// Name of the system.
    pub tag: String,
}

impl fmt::Display for RunLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { query_id, document_id, rank, score, tag } = self;
        let (query_id, document_id) = (escape(query_id), escape(document_id));
        write!(f, "{query_id} Q0 {document_id} {rank} {score} {tag}")
    }
}

/// Writes an id as one column.
fn escape(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for c in id.chars() {
        if c == '%' || c.is_whitespace() {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The rankings of a system, by query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    rankings: BTreeMap<String, Vec<String>>,
}

impl Run {
    /// Reads a run from a file.
    ///
    /// # Errors
    /// [`Error::Read`], and as for [`Run::parse`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path)
            .map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Self::parse(&text)
    }

    /// Reads a run; ids stay as they are written, escapes included.
    ///
    /// As in `trec_eval`, documents are ordered by falling score and ties by falling id; the rank
    /// column is not looked at.
    ///
    /// # Errors
    /// [`Error::Columns`], [`Error::NotANumber`] and [`Error::Repeated`] name the line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut scored: BTreeMap<String, Vec<(f32, String)>> = BTreeMap::new();
        let mut seen = std::collections::HashSet::new();
        for (line, text) in (1..).zip(text.lines()) {
            let columns: Vec<&str> = text.split_whitespace().collect();
            let [query_id, _, document_id, _, score, _] = columns[..] else {
                if columns.is_empty() {
                    continue;
                }
                let format = "a TREC run";
                return Err(Error::Columns { line, found: columns.len(), expected: 6, format });
            };
            let number: Option<f32> = score.parse().ok().filter(|score: &f32| !score.is_nan());
            let Some(score) = number else {
                let value = score.to_owned();
                return Err(Error::NotANumber { line, column: "score", value });
            };
            if !seen.insert((query_id, document_id)) {
                let (query_id, document_id) = (query_id.to_owned(), document_id.to_owned());
                return Err(Error::Repeated { line, query_id, document_id });
            }
            let ranking = scored.entry(query_id.to_owned()).or_default();
            ranking.push((score, document_id.to_owned()));
        }
        let rankings = scored.into_iter().map(|(query_id, mut ranking)| {
            ranking.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)));
            (query_id, ranking.into_iter().map(|(_, id)| id).collect())
        });
        Ok(Self { rankings: rankings.collect() })
    }

    /// Returns the documents found for a query, best first; none if the run does not answer it.
    pub fn ranking(&self, query_id: &str) -> &[String] {
        self.rankings.get(query_id).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_with_blanks_stay_one_column() {
        let line = RunLine {
            query_id: "q 1".into(),
            document_id: "a b/100%\u{3000}c".into(),
            rank: 1,
            score: 2.5,
            tag: "t".into(),
        };
        assert_eq!(line.to_string(), "q%201 Q0 a%20b/100%25%E3%80%80c 1 2.5 t");
    }

    #[test]
    fn order_is_by_score_then_by_falling_id_whatever_the_ranks_say() {
        let run = Run::parse("q Q0 a 1 1.0 t\nq Q0 b 2 1.0 t\nq Q0 c 3 4.0 t\n").unwrap();
        assert_eq!(run.ranking("q"), ["c", "b", "a"]);
        assert!(run.ranking("other").is_empty());
    }

    #[test]
    fn a_bad_line_is_named() {
        let message = |text| Run::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("q Q0 a 1 1.0 t\nq Q0 b\n"),
            "line 2 has 3 columns, but a TREC run has 6"
        );
        assert_eq!(message("q Q0 a 1 x t"), "line 1: score is `x`, which is not a number");
        assert_eq!(message("q Q0 a 1 NaN t"), "line 1: score is `NaN`, which is not a number");
        assert_eq!(
            message("q Q0 a 1 1 t\n\nq Q0 a 2 0 t"),
            "line 3: `a` occurs again for query `q`"
        );
    }
}
