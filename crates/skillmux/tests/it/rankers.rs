//! The rankings that tests run over: every retriever alone, and the ranker that ships.

use std::sync::Arc;

use skillmux::{
    model::{ChatModel, ChatRequest, Encoder, PairScorer, PairScorerIdentity},
    page::MmrPager,
    rerank::{
        FeatureWeight, FeatureWeights, JudgeConfig, JudgeReranker, KeepOrder, LinearReranker,
        PairReranker, Passage, Reranker, SkillStart,
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
        Box::new(
            PoolRetriever::new(Some(encoder()))
                .with_transformer(Arc::new(TermEncoder::new("transformer"))),
        ),
    ]
}

/// A chat model that says its name, whatever it is asked.
pub(crate) struct Parrot(pub(crate) &'static str);

impl ChatModel for Parrot {
    fn name(&self) -> &str {
        self.0
    }

    fn complete(&self, _request: &ChatRequest) -> skillmux::Result<String> {
        Ok(self.0.to_owned())
    }
}

/// Returns a reranker that puts what a chat model says before what another one ranked first.
pub(crate) fn judge(inner: Box<dyn Reranker>, says: &'static str) -> JudgeReranker {
    let config = JudgeConfig { n_shown: 8, ..JudgeConfig::default() };
    JudgeReranker::new(inner, Arc::new(Parrot(says)), config)
}

/// What a chat model may say: numbers that it was shown, one of them twice, and one that it was
/// not.
pub(crate) const CHOICE: &str = r#"{"skills": [7, 2, 7, 99, 1, 0]}"#;

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

/// A cross-encoder of a few lines: sixteen scores, drawn by what it reads, so that some are the
/// same.
struct DrawnPairs(PairScorerIdentity);

impl PairScorer for DrawnPairs {
    fn identity(&self) -> &PairScorerIdentity {
        &self.0
    }

    fn scores(&self, query: &str, texts: &[&str]) -> skillmux::Result<Vec<f32>> {
        let drawn = |text: &&str| {
            let bytes = query.bytes().chain(text.bytes());
            let hash = bytes.fold(7_u32, |hash, byte| hash.wrapping_mul(31) ^ u32::from(byte));
            (hash >> 28) as f32 - 8.0
        };
        Ok(texts.iter().map(drawn).collect())
    }
}

/// Returns rerankers by pairs over another one, which read the beginning or a page of a skill.
pub(crate) fn by_pairs(inner: impl Fn() -> Box<dyn Reranker>) -> [PairReranker; 2] {
    let passages: [Box<dyn Passage>; 2] = [
        Box::new(SkillStart::default()),
        Box::new(PagedPassage::new(Box::new(MmrPager::default()), 60)),
    ];
    passages.map(|passage| {
        let identity = PairScorerIdentity { name: "drawn".to_owned(), fingerprint: "1".to_owned() };
        let scorer = Arc::new(DrawnPairs(identity));
        PairReranker::new(inner(), scorer, passage).with_n_asked(7)
    })
}

/// Returns every ranker that asks no model: each retriever as it is, weights of both signs, and
/// those that ship.
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

/// Returns rerankers that ask a model after another one: by pairs, and a judge that chooses or does
/// not.
pub(crate) fn asking(inner: impl Fn() -> Box<dyn Reranker>) -> Vec<Box<dyn Reranker>> {
    let mut rerankers: Vec<Box<dyn Reranker>> = Vec::new();
    for pairs in by_pairs(&inner) {
        rerankers.push(Box::new(pairs));
    }
    for says in [CHOICE, "[]"] {
        rerankers.push(Box::new(judge(inner(), says)));
    }
    rerankers
}

/// Returns rankers that ask a model, over weights and over words alone.
pub(crate) fn asking_rankers() -> Vec<Ranker> {
    let linear = || -> Box<dyn Reranker> { Box::new(LinearReranker::new(mixed_weights())) };
    let pool = || Box::new(PoolRetriever::new(Some(encoder())));
    let over_weights = asking(linear).into_iter().map(|asking| Ranker::new(pool(), asking));
    let over_words = asking(|| Box::new(KeepOrder)).into_iter();
    let over_words = over_words.map(|asking| Ranker::new(Box::<Bm25Retriever>::default(), asking));
    over_weights.chain(over_words).collect()
}
