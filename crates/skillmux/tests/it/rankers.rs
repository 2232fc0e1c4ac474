//! The rankings that tests run over: every retriever alone, and the ranker that ships.

use std::sync::Arc;

use skillmux::{
    model::{Encoder, PairScorer, PairScorerIdentity},
    page::MmrPager,
    rerank::{
        FeatureWeight, FeatureWeights, KeepOrder, LinearReranker, PairReranker, Passage, Reranker,
        SkillStart,
    },
    retrieve::{
        Bm25Config, Bm25Retriever, DenseRetriever, Feature, HybridConfig, HybridRetriever,
        PoolRetriever, Retriever,
    },
    route::{PagedPassage, Ranker},
};

use crate::term_encoder::TermEncoder;

/// Returns the encoder of the test indexes.
pub(crate) fn encoder() -> Arc<dyn Encoder> {
    Arc::new(TermEncoder::new("1"))
}

/// Returns every retriever.
pub(crate) fn retrievers() -> Vec<Box<dyn Retriever>> {
    vec![
        Box::new(Bm25Retriever::new(Bm25Config::default())),
        Box::new(Bm25Retriever::new(Bm25Config::joined_text())),
        Box::new(DenseRetriever::new(encoder())),
        Box::new(HybridRetriever::new(encoder(), HybridConfig::default())),
        Box::new(PoolRetriever::new(Some(encoder()))),
        Box::new(PoolRetriever::new(None)),
    ]
}

/// Returns the ranker that ships, with vectors and without, over the encoder of the tests.
pub(crate) fn shipped() -> [Ranker; 2] {
    let weights = skillmux_models::ranker();
    let linear = |encoder, weights| {
        Ranker::new(Box::new(PoolRetriever::new(encoder)), Box::new(LinearReranker::new(weights)))
    };
    [linear(Some(encoder()), weights.with_vectors), linear(None, weights.without_vectors)]
}

/// Returns weights by which every feature counts, some of them for and some against a skill.
fn mixed_weights() -> FeatureWeights {
    let weight = |(at, feature): (usize, &Feature)| {
        let weight = FeatureWeight {
            base: 1.0 - (at % 3) as f32,
            length: 0.5 - (at % 2) as f32,
            spaceless: 0.25,
        };
        (feature.as_str().to_owned(), weight)
    };
    FeatureWeights::new(Feature::ALL.iter().enumerate().map(weight)).unwrap()
}

/// A cross-encoder of a few lines: the cosine of both texts, as if it were log-odds, and for some texts
/// the same answer.
struct CosinePairs(PairScorerIdentity);

impl PairScorer for CosinePairs {
    fn identity(&self) -> &PairScorerIdentity {
        &self.0
    }

    fn scores(&self, query: &str, texts: &[&str]) -> skillmux::Result<Vec<f32>> {
        let encoder = encoder();
        let (query, rows) = (encoder.encode(&[query])?, encoder.encode(texts)?);
        let cosine = |row: &[f32]| row.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
        Ok(rows.chunks(encoder.dim()).map(|row| (20.0 * cosine(row)).round() / 2.0).collect())
    }
}

/// Returns rerankers by pairs over another one, which read the beginning or a page of a skill.
pub(crate) fn by_pairs(inner: impl Fn() -> Box<dyn Reranker>) -> [PairReranker; 2] {
    let passages: [Box<dyn Passage>; 2] = [
        Box::new(SkillStart::default()),
        Box::new(PagedPassage::new(Box::new(MmrPager::default()), 60)),
    ];
    passages.map(|passage| {
        let identity =
            PairScorerIdentity { name: "cosine".to_owned(), fingerprint: "1".to_owned() };
        let scorer = Arc::new(CosinePairs(identity));
        PairReranker::new(inner(), scorer, passage).with_n_asked(7)
    })
}

/// Returns every ranker: each retriever as it is, weights of both signs, those that ship, and pairs.
pub(crate) fn rankers() -> Vec<Ranker> {
    let alone = |retriever| Ranker::new(retriever, Box::new(KeepOrder));
    let mut rankers: Vec<Ranker> = retrievers().into_iter().map(alone).collect();
    // Reasons weigh words as the ranking does.
    let joined = Bm25Config::joined_text();
    rankers[1] = alone(Box::new(Bm25Retriever::new(joined))).with_words(joined);
    for encoder in [Some(encoder()), None] {
        let linear = LinearReranker::new(mixed_weights());
        rankers.push(Ranker::new(Box::new(PoolRetriever::new(encoder)), Box::new(linear)));
    }
    rankers.extend(shipped());
    let linear = || -> Box<dyn Reranker> { Box::new(LinearReranker::new(mixed_weights())) };
    for pairs in by_pairs(linear) {
        let pool = PoolRetriever::new(Some(encoder()));
        rankers.push(Ranker::new(Box::new(pool), Box::new(pairs)));
    }
    for pairs in by_pairs(|| Box::new(KeepOrder)) {
        rankers.push(Ranker::new(Box::<Bm25Retriever>::default(), Box::new(pairs)));
    }
    rankers
}
