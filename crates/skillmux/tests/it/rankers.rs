//! The rankings that tests run over: every retriever alone, and the ranker that ships.

use std::sync::Arc;

use skillmux::{
    model::Encoder,
    rerank::{FeatureWeight, FeatureWeights, KeepOrder, LinearReranker},
    retrieve::{
        Bm25Config, Bm25Retriever, DenseRetriever, Feature, HybridConfig, HybridRetriever,
        PoolRetriever, Retriever,
    },
    route::Ranker,
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
        Box::new(
            PoolRetriever::new(Some(encoder()))
                .with_transformer(Arc::new(TermEncoder::new("transformer"))),
        ),
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
            library: 0.5,
            ..FeatureWeight::default()
        };
        (feature.as_str().to_owned(), weight)
    };
    FeatureWeights::new(Feature::ALL.iter().enumerate().map(weight)).unwrap()
}

/// Returns every ranker: each retriever as it is, weights of both signs, and those that ship.
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
    rankers
}
