//! [`Run`]: the rankings of a system, in the format of TREC.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::Path,
};

use crate::{
    error::Error,
    file,
    trec::{TrecFormat, escape, unescape},
};

/// One line of a run: `query_id Q0 document_id rank score tag`.
///
/// Columns are divided by blanks, so that blanks in an id are written `%20` and `%` as `%25`;
/// [`Run::parse`] and [`Qrels::parse`](crate::Qrels::parse) undo that.
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

/// Returns scores as a run has them: one that does not fall is the next lower number, because
/// readers sort by score and break ties in their own way.
pub fn falling(scores: impl IntoIterator<Item = f32>) -> impl Iterator<Item = f32> {
    scores.into_iter().scan(f32::INFINITY, |last, score| {
        *last = score.min(last.next_down());
        Some(*last)
    })
}

impl fmt::Display for RunLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { query_id, document_id, rank, score, tag } = self;
        let (query_id, document_id, tag) = (escape(query_id), escape(document_id), escape(tag));
        write!(f, "{query_id} Q0 {document_id} {rank} {score} {tag}")
    }
}

/// The rankings of a system, by query.
///
/// ```
/// use skillmux_eval::{Qrels, Run, metric};
///
/// let run = Run::parse("q1 Q0 pdf-merge 1 9.5 demo\nq1 Q0 pdf-forms 2 7.0 demo\n")?;
/// let qrels = Qrels::parse("q1 0 pdf-forms 1\n")?;
///
/// let (_, gold) = qrels.iter().next().expect("there is a judgement");
/// assert!((metric::mrr_at(10, run.ranking("q1"), gold) - 0.5).abs() < 1e-12);
/// # Ok::<(), skillmux_eval::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    rankings: BTreeMap<String, Vec<String>>,
    /// Scores in the order of the rankings.
    scores: BTreeMap<String, Vec<f32>>,
}

impl Run {
    /// Reads a run from a file, which may be packed with gzip or zstd.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::NotAFile`], [`Error::TooLarge`], and [`Error::InFile`] with an
    /// error of [`Run::parse`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&file::read_text(path)?)
            .map_err(|source| Error::InFile { path: path.to_owned(), source: Box::new(source) })
    }

    /// Reads a run; `%20` and the like in an id stand for the characters that [`RunLine`] escapes.
    ///
    /// As in `trec_eval`, documents are ordered by falling score and ties by falling id; the rank
    /// column is not looked at.
    ///
    /// # Errors
    /// [`Error::Columns`], [`Error::NotANumber`] and [`Error::Repeated`] name the line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut scored: BTreeMap<String, Vec<(f32, String)>> = BTreeMap::new();
        let mut seen = HashSet::new();
        for (line, text) in (1..).zip(text.lines()) {
            let columns: Vec<&str> = text.split_whitespace().collect();
            let [query_id, _, document_id, _, score, _] = columns[..] else {
                if columns.is_empty() {
                    continue;
                }
                let (found, format) = (columns.len(), TrecFormat::Run);
                return Err(Error::Columns { line, found, format });
            };
            let number: Option<f32> = score.parse().ok().filter(|score: &f32| score.is_finite());
            let Some(score) = number else {
                let value = score.to_owned();
                return Err(Error::NotANumber { line, column: "score", value });
            };
            let (query_id, document_id) = (unescape(query_id), unescape(document_id));
            if !seen.insert((query_id.clone(), document_id.clone())) {
                let (query_id, document_id) = (query_id.into_owned(), document_id.into_owned());
                return Err(Error::Repeated { line, query_id, document_id });
            }
            let ranking = scored.entry(query_id.into_owned()).or_default();
            ranking.push((score, document_id.into_owned()));
        }
        let mut run = Self::default();
        for (query_id, mut ranking) in scored {
            ranking.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)));
            let (scores, ids) = ranking.into_iter().unzip();
            run.scores.insert(query_id.clone(), scores);
            run.rankings.insert(query_id, ids);
        }
        Ok(run)
    }

    /// Returns the run with documents named anew; of several with one name the best stays.
    pub(crate) fn with_ids(self, name_of: impl Fn(&str) -> String) -> Self {
        let mut run = Self::default();
        for (query_id, ranking) in self.rankings {
            let scores = self.scores.get(&query_id).map_or(&[][..], Vec::as_slice);
            let mut seen = HashSet::new();
            let renamed = ranking.iter().map(|id| name_of(id)).zip(scores.iter().copied());
            let (ids, scores) = renamed.filter(|(id, _)| seen.insert(id.clone())).unzip();
            run.rankings.insert(query_id.clone(), ids);
            run.scores.insert(query_id, scores);
        }
        run
    }

    /// Returns a number that differs where a ranking or a score does.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        for (query_id, ranking) in &self.rankings {
            hasher.update(query_id.as_bytes()).update(&[0]);
            for (id, score) in ranking.iter().zip(self.scores(query_id)) {
                hasher.update(id.as_bytes()).update(&[0]).update(&score.to_le_bytes());
            }
        }
        let mut head = [0; 8];
        head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        u64::from_le_bytes(head)
    }

    /// Returns the scores of [`ranking`](Self::ranking), in its order.
    pub fn scores(&self, query_id: &str) -> &[f32] {
        self.scores.get(query_id).map_or(&[], Vec::as_slice)
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
    fn ids_come_back_as_they_were() {
        for id in ["a b/100%\u{3000}c", "50%", "%2", "%zz", "a%20b", "plain", "%E3%80"] {
            let line = RunLine {
                query_id: id.into(),
                document_id: id.into(),
                rank: 1,
                score: 2.5,
                tag: "my tag".into(),
            };
            let run = Run::parse(&line.to_string()).unwrap();
            assert_eq!(run.ranking(id), [id]);
        }
    }

    #[test]
    fn two_spellings_of_one_id_are_one() {
        let repeated = Run::parse("q Q0 a%2fb 1 2 t\nq Q0 a/b 2 1 t").unwrap_err();
        assert_eq!(repeated.to_string(), "line 2: `a/b` occurs again for query `q`");
    }

    #[test]
    fn a_file_that_does_not_parse_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bm25.trec");
        std::fs::write(&path, "q Q0\n").unwrap();
        let error = Run::read(&path).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot use `{}`", path.display()));
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(cause, "line 1 has 2 columns, but a TREC run has 6");
    }

    #[test]
    fn order_is_by_score_then_by_falling_id_whatever_the_ranks_say() {
        let run = Run::parse("q Q0 a 1 1.0 t\nq Q0 b 2 1.0 t\nq Q0 c 3 4.0 t\n").unwrap();
        assert_eq!(run.ranking("q"), ["c", "b", "a"]);
        assert!(run.ranking("other").is_empty());
    }

    #[test]
    fn a_bad_line_is_named() {
        let message = |text: &str| Run::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("q Q0 a 1 1.0 t\nq Q0 b\n"),
            "line 2 has 3 columns, but a TREC run has 6"
        );
        assert_eq!(message("q Q0 a 1 x t"), "line 1: score is `x`, which is not a number");
        for score in ["NaN", "inf", "-inf", "1e99"] {
            let expected = format!("line 1: score is `{score}`, which is not a number");
            assert_eq!(message(&format!("q Q0 a 1 {score} t")), expected);
        }
        assert_eq!(
            message("q Q0 a 1 1 t\n\nq Q0 a 2 0 t"),
            "line 3: `a` occurs again for query `q`"
        );
    }
}
