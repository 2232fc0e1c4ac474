//! [`best_lines`]: how well the best line of a text matches the words of a query.

use std::collections::HashMap;

use super::super::TermSource;

/// Most words of a query that lines are searched for.
const MAX_QUERY_TERMS: usize = 256;

/// What is added to the number of words of a line, so that a line of one word is no better than a
/// sentence.
const LINE_WORDS: f32 = 3.0;

/// Returns how well the best line of each text matches the words of a query, at least 0.
///
/// A line has the sum of the weights of the words that it shares with the query, over the square
/// root of its number of words and three. A word weighs `idf · ln(1 + n_texts / df)`, as in
/// [`TermVector`](super::super::vector::TermVector).
pub(super) fn best_lines(query: &str, texts: &[&str], source: &TermSource<'_>) -> Vec<f32> {
    let query = QueryTerms::new(query, source);
    let lines_of = |text: &&str| text.lines().map(|line| query.line(line, source)).collect();
    let all: Vec<Vec<Line>> = texts.iter().map(lines_of).collect();
    let mut n_texts_with = vec![0_usize; query.idfs.len()];
    for lines in &all {
        for term in distinct(lines.iter().flat_map(|line| &line.found).copied().collect()) {
            n_texts_with[term] += 1;
        }
    }
    let rarity = |(idf, n_with): (&f32, &usize)| {
        idf * (texts.len() as f32 / (*n_with).max(1) as f32).ln_1p()
    };
    let weights: Vec<f32> = query.idfs.iter().zip(&n_texts_with).map(rarity).collect();
    let score = |line: &Line| {
        let sum: f32 = line.found.iter().map(|term| weights[*term]).sum();
        sum / (LINE_WORDS + line.n_words as f32).sqrt()
    };
    all.iter().map(|lines| lines.iter().map(score).fold(0.0, f32::max)).collect()
}

/// The distinct words of a query, numbered.
struct QueryTerms {
    numbers: HashMap<String, usize>,
    idfs: Vec<f32>,
}

/// What a line has of a query.
struct Line {
    /// Numbers of the words of the query that it has, each once.
    found: Vec<usize>,
    n_words: usize,
}

impl QueryTerms {
    fn new(query: &str, source: &TermSource<'_>) -> Self {
        let (mut numbers, mut idfs) = (HashMap::new(), Vec::new());
        (source.terms)(query, &mut |term| {
            if idfs.len() < MAX_QUERY_TERMS && !numbers.contains_key(term) {
                numbers.insert(term.to_owned(), idfs.len());
                let idf = (source.idf)(term);
                idfs.push(if idf.is_finite() { idf.max(0.0) } else { 0.0 });
            }
        });
        Self { numbers, idfs }
    }

    fn line(&self, line: &str, source: &TermSource<'_>) -> Line {
        let (mut found, mut n_words) = (Vec::new(), 0);
        (source.terms)(line, &mut |term| {
            n_words += 1;
            found.extend(self.numbers.get(term));
        });
        Line { found: distinct(found), n_words }
    }
}

fn distinct(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(query: &str, texts: &[&str], idf: f32) -> Vec<f32> {
        let source = TermSource {
            terms: &|text, visit| text.split_whitespace().for_each(visit),
            idf: &|_| idf,
        };
        best_lines(query, texts, &source)
    }

    #[test]
    fn the_best_line_counts_and_long_ones_less() {
        let found = lines("a b", &["a x\nb x\na b", "a x x x x x", "y"], 1.0);
        let weight = |n_with: f32| (3.0 / n_with).ln_1p();
        let expected = [(weight(2.0) + weight(1.0)) / 5_f32.sqrt(), weight(2.0) / 3.0, 0.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        }
    }

    #[test]
    fn unusable_weights_count_as_zero() {
        for idf in [f32::NAN, f32::INFINITY, -1.0] {
            assert_eq!(lines("a", &["a"], idf), [0.0]);
        }
    }
}
