//! [`tfidf_cosines`]: how well the words of skills fit a task.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use skillmux::text::Analyzer;

/// Returns the cosine of the TF-IDF vectors of a task and of each text, over single terms and pairs
/// of neighbours (`SkillComposer` section 4.3).
///
/// Weights are those of scikit-learn by default, `tf · (ln((1 + n) / (1 + df)) + 1)`, over the `n`
/// texts; a term of the task that no text has counts nothing.
pub(super) fn tfidf_cosines(task: &str, texts: &[String]) -> Vec<f32> {
    let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
    let mut n_holders: Vec<u32> = Vec::new();
    let counted: Vec<BTreeMap<usize, f32>> = texts
        .iter()
        .map(|text| {
            let mut counts = BTreeMap::new();
            for term in terms(text) {
                let next = numbers.len();
                let number = *numbers.entry(term).or_insert(next);
                if number == next {
                    n_holders.push(0);
                }
                *counts.entry(number).or_insert(0.0) += 1.0;
            }
            for number in counts.keys() {
                n_holders[*number] += 1;
            }
            counts
        })
        .collect();
    let idf =
        |number: usize| ((1.0 + texts.len() as f32) / (1.0 + n_holders[number] as f32)).ln() + 1.0;
    let mut of_task: BTreeMap<usize, f32> = BTreeMap::new();
    for term in terms(task) {
        if let Some(number) = numbers.get(&term) {
            *of_task.entry(*number).or_default() += 1.0;
        }
    }
    let weights = |counts: &BTreeMap<usize, f32>| -> BTreeMap<usize, f32> {
        let weights: BTreeMap<usize, f32> =
            counts.iter().map(|(number, n)| (*number, n * idf(*number))).collect();
        let length = weights.values().map(|weight| weight * weight).sum::<f32>().sqrt();
        weights.into_iter().map(|(number, weight)| (number, weight / length.max(1e-9))).collect()
    };
    let of_task = weights(&of_task);
    let cosine = |counts: &BTreeMap<usize, f32>| {
        let of_text = weights(counts);
        of_task.iter().filter_map(|(number, weight)| Some(weight * of_text.get(number)?)).sum()
    };
    counted.iter().map(cosine).collect()
}

/// Returns the terms of a text, and its pairs of neighbours.
fn terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    Analyzer::new().for_each_term(text, &mut |term| terms.push(term.to_owned()));
    let pairs: Vec<String> = terms.windows(2).map(|pair| pair.join(" ")).collect();
    terms.extend(pairs);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cosines of `TfidfVectorizer(token_pattern=r"\w+", ngram_range=(1, 2))` of scikit-learn
    /// 1.9.1:
    ///
    /// ```python
    /// from sklearn.feature_extraction.text import TfidfVectorizer
    /// v = TfidfVectorizer(token_pattern=r"\w+", ngram_range=(1, 2))
    /// x = v.fit_transform(["zebra lion lion", "lion tiger", "tiger panda lion zebra", "koala"])
    /// print((x @ v.transform(["lion tiger panda panda unknown"]).T).toarray())
    /// ```
    #[test]
    fn cosines_are_those_of_scikit_learn() {
        let texts = ["zebra lion lion", "lion tiger", "tiger panda lion zebra", "koala"];
        let texts = texts.map(str::to_owned);
        let cosines = tfidf_cosines("lion tiger panda panda unknown", &texts);
        for (cosine, expected) in cosines.iter().zip(EXPECTED) {
            assert!((cosine - expected).abs() < 1e-5, "{cosines:?}");
        }
    }

    const EXPECTED: [f32; 4] = [0.149_058_8, 0.537_272_3, 0.639_298_4, 0.0];
}
