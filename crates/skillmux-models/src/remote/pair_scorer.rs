//! [`PairScorerEndpoint`]: a cross-encoder behind the protocols of TEI and of Cohere.

use serde::Deserialize;
use serde_json::json;
use skillmux::{
    Error, Result,
    model::{PairScorer, PairScorerIdentity},
};

use super::{
    batch::{BatchLimits, Batches, by_index},
    endpoint::{Endpoint, EndpointConfig},
    error::RemoteError,
    single,
};

/// Probabilities nearer to 0 and 1 are no more than rounding, and the log-odds of 0 and 1 no
/// numbers.
const MIN_PROBABILITY: f64 = 1e-7;

/// A cross-encoder at an endpoint.
///
/// A blank text is not sent: it scores as what the model is sure of that it does not help. What the
/// endpoint promises of equal texts is all that can be promised here.
pub struct PairScorerEndpoint {
    endpoint: Endpoint,
    model: String,
    options: PairScorerOptions,
    batches: Batches,
    identity: PairScorerIdentity,
}

/// How a cross-encoder at an endpoint is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairScorerOptions {
    /// What the endpoint speaks.
    pub protocol: PairScorerProtocol,
    /// How texts are shared out over requests; each also carries the query.
    pub batches: BatchLimits,
}

/// What an endpoint of a cross-encoder speaks: `POST BASE/rerank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairScorerProtocol {
    /// That of Hugging Face's text-embeddings-inference. It serves one model, and is not told its
    /// name.
    Tei,
    /// That of Cohere, whose base URL is `https://api.cohere.com/v2`; also Jina, vLLM and
    /// llama.cpp, with a base URL in `/v1` or `/v2`.
    Cohere(RelevanceScale),
}

/// What the `relevance_score` of the protocol of Cohere is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RelevanceScale {
    /// A probability, as of Cohere, Jina and vLLM; it is turned into log-odds.
    #[default]
    Probability,
    /// Log-odds, as of llama.cpp.
    LogOdds,
}

impl PairScorerProtocol {
    fn as_str(self) -> &'static str {
        match self {
            Self::Tei => "TEI",
            Self::Cohere(_) => "Cohere",
        }
    }
}

/// One line of an answer of TEI.
#[derive(Deserialize)]
struct Scored {
    index: usize,
    score: f64,
}

/// An answer of the protocol of Cohere.
#[derive(Deserialize)]
struct Reranked {
    results: Vec<Relevance>,
}

#[derive(Deserialize)]
struct Relevance {
    index: usize,
    relevance_score: f64,
}

impl PairScorerEndpoint {
    /// Returns the cross-encoder; nothing is sent yet.
    ///
    /// # Errors
    /// [`RemoteError::BaseUrl`] and [`RemoteError::ApiKey`].
    pub fn new(config: EndpointConfig, options: PairScorerOptions) -> Result<Self, RemoteError> {
        let endpoint = Endpoint::new(&config, "rerank", options.protocol.as_str())?;
        let name = format!("{} at {}", config.model, endpoint.host());
        let identity = PairScorerIdentity { name, fingerprint: String::new() };
        let (model, batches) = (config.model, Batches::new(options.batches));
        Ok(Self { endpoint, model, options, batches, identity })
    }

    /// Returns the log-odds of all texts.
    fn log_odds(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RemoteError> {
        let query = self.batches.clipped(query);
        let is_said = |text: &&str| !text.trim().is_empty();
        let said: Vec<&str> =
            texts.iter().copied().filter(is_said).map(|text| self.batches.clipped(text)).collect();
        let n_chars_beside = query.chars().count();
        let mut scores =
            self.batches.ask(&said, n_chars_beside, |batch| self.ask(query, batch))?.into_iter();
        let score = |text| if is_said(text) { scores.next() } else { None };
        let scores: Vec<Option<f32>> = texts.iter().map(score).collect();
        let blank = single(log_odds_of(0.0));
        Ok(scores.into_iter().map(|score| score.unwrap_or(blank)).collect())
    }

    /// Sends one request.
    fn ask(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RemoteError> {
        let scores: Vec<(usize, f64)> = match self.options.protocol {
            PairScorerProtocol::Tei => {
                let body = json!({
                    "query": query,
                    "texts": texts,
                    "raw_scores": true,
                    "return_text": false,
                    "truncate": true,
                });
                let scored: Vec<Scored> = self.endpoint.read(self.endpoint.post(&body)?)?;
                scored.into_iter().map(|one| (one.index, one.score)).collect()
            }
            PairScorerProtocol::Cohere(scale) => {
                let body = json!({
                    "model": self.model,
                    "query": query,
                    "documents": texts,
                    "top_n": texts.len(),
                });
                let reranked: Reranked = self.endpoint.read(self.endpoint.post(&body)?)?;
                let scored = |one: Relevance| Ok((one.index, self.of(scale, one.relevance_score)?));
                reranked.results.into_iter().map(scored).collect::<Result<_, RemoteError>>()?
            }
        };
        let scores = by_index(texts.len(), scores)
            .map_err(|problem| self.endpoint.protocol_error(problem))?;
        let number = |score: f64| {
            let score = single(score);
            let problem = || self.endpoint.protocol_error("a score that is not finite".to_owned());
            score.is_finite().then_some(score).ok_or_else(problem)
        };
        scores.into_iter().map(number).collect()
    }

    /// Returns the log-odds that a relevance stands for.
    fn of(&self, scale: RelevanceScale, relevance: f64) -> Result<f64, RemoteError> {
        match scale {
            RelevanceScale::LogOdds => Ok(relevance),
            RelevanceScale::Probability if (0.0..=1.0).contains(&relevance) => {
                Ok(log_odds_of(relevance))
            }
            RelevanceScale::Probability => {
                let problem = format!("a relevance of {relevance}, which is no probability");
                Err(self.endpoint.protocol_error(problem))
            }
        }
    }
}

impl PairScorer for PairScorerEndpoint {
    fn identity(&self) -> &PairScorerIdentity {
        &self.identity
    }

    fn scores(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        self.log_odds(query, texts).map_err(|error| Error::PairScorer {
            name: self.identity.name.clone(),
            hint: error.hint(),
            source: Box::new(error),
        })
    }
}

fn log_odds_of(probability: f64) -> f64 {
    let probability = probability.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY);
    (probability / (1.0 - probability)).ln()
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use serde_json::Value;

    use super::{super::test_server::Server, *};

    const COHERE: PairScorerProtocol = PairScorerProtocol::Cohere(RelevanceScale::Probability);

    /// Returns the texts, the best first: those with more characters are better.
    fn best_first(texts: &Value) -> Vec<(usize, f64)> {
        let lengths = texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap().len());
        let mut scores: Vec<(usize, f64)> = lengths.map(|n| n as f64).enumerate().collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        scores
    }

    fn tei() -> Server {
        Server::answering(|_, body| {
            let scored = best_first(&body["texts"]).into_iter();
            let lines = scored.map(|(index, score)| json!({ "index": index, "score": score }));
            (200, lines.collect::<Value>().to_string())
        })
    }

    fn cohere() -> Server {
        Server::answering(|_, body| {
            let scored = best_first(&body["documents"]).into_iter();
            let lines = scored.map(
                |(index, score)| json!({ "index": index, "relevance_score": score / (1.0 + score) }),
            );
            (200, json!({ "results": lines.collect::<Vec<_>>() }).to_string())
        })
    }

    fn scorer(server: &Server, protocol: PairScorerProtocol) -> PairScorerEndpoint {
        let batches = BatchLimits { max_texts: 2, max_text_chars: 8, ..BatchLimits::default() };
        let options = PairScorerOptions { protocol, batches };
        PairScorerEndpoint::new(server.config(Some("k-secret")), options).unwrap()
    }

    #[test]
    fn scores_come_in_the_order_of_the_texts() {
        let texts = ["a", "abcd", "ab", "", "longer than 8"];
        let lengths = [1.0_f32, 4.0, 2.0, 0.0, 8.0];
        for (server, protocol) in [(tei(), PairScorerProtocol::Tei), (cohere(), COHERE)] {
            let scorer = scorer(&server, protocol);
            let scores = scorer.scores("query", &texts).unwrap();
            assert_eq!(server.requests().len(), 2);
            let one_by_one = texts.iter().flat_map(|text| scorer.scores("query", &[text]).unwrap());
            assert_eq!(one_by_one.collect::<Vec<_>>(), scores);
            let is_tei = protocol == PairScorerProtocol::Tei;
            for (score, length) in scores.into_iter().zip(lengths) {
                // The odds of the server's share n / (1 + n) are n.
                let expected = if is_tei { length } else { length.ln() };
                let expected = if length > 0.0 { expected } else { -16.118_095 };
                assert!((score - expected).abs() < 1e-5, "{score} {expected}");
            }
            assert_eq!(scorer.scores("query", &[]).unwrap(), [0.0; 0]);
        }
    }

    #[test]
    fn requests_are_those_of_the_protocols() {
        let server = tei();
        let tei = scorer(&server, PairScorerProtocol::Tei);
        tei.scores("a query that is too long", &["a"]).unwrap();
        let sent = &server.requests()[0];
        assert_eq!((sent.method_str(), sent.uri().path()), ("POST", "/v1/rerank"));
        assert_eq!(sent.headers()["authorization"], "Bearer k-secret");
        let body = json!({
            "query": "a query ",
            "texts": ["a"],
            "raw_scores": true,
            "return_text": false,
            "truncate": true,
        });
        assert_eq!(server.bodies(), [body]);
        let host = server.base_url.trim_start_matches("http://").trim_end_matches("/v1");
        assert_eq!(tei.identity().name, format!("small at {host}"));
        assert!(tei.identity().fingerprint.is_empty());

        let server = cohere();
        scorer(&server, COHERE).scores("query", &["a"]).unwrap();
        let body = json!({ "model": "small", "query": "query", "documents": ["a"], "top_n": 1 });
        assert_eq!(server.bodies(), [body]);
    }

    #[test]
    fn scores_of_llama_cpp_are_taken_as_they_are() {
        let answer = r#"{"results":[{"index":0,"relevance_score":-7.5}]}"#;
        let server = Server::start([(200, answer)]);
        let scorer = scorer(&server, PairScorerProtocol::Cohere(RelevanceScale::LogOdds));
        assert_eq!(scorer.scores("query", &["a"]).unwrap(), [-7.5]);
    }

    #[test]
    fn answers_that_are_no_scores_are_refused() {
        for (protocol, answer, problem) in [
            (PairScorerProtocol::Tei, r#"[{"index":0,"score":1}]"#, "1 answers for 2 texts"),
            (
                PairScorerProtocol::Tei,
                r#"[{"index":0,"score":1},{"index":0,"score":1}]"#,
                "two answers for index 0",
            ),
            (
                PairScorerProtocol::Tei,
                r#"[{"index":0,"score":1},{"index":1,"score":1e300}]"#,
                "a score that is not finite",
            ),
            (PairScorerProtocol::Tei, r#"[{"index":0,"score":null}]"#, "invalid type: null"),
            (
                COHERE,
                r#"{"results":[{"index":0,"relevance_score":1.5}]}"#,
                "a relevance of 1.5, which is no probability",
            ),
            (COHERE, r#"{"data":[]}"#, "missing field `results`"),
        ] {
            let server = Server::start([(200, answer)]);
            let error = scorer(&server, protocol).scores("query", &["a", "b"]).unwrap_err();
            assert!(error.to_string().starts_with("the reranker `small at 127.0.0.1:"), "{error}");
            let cause = error.source().unwrap().to_string();
            assert!(cause.contains(protocol.as_str()) && cause.contains(problem), "{cause}");
        }
    }

    #[test]
    fn a_busy_server_is_asked_again_and_a_refusal_is_final() {
        let good = r#"[{"index":0,"score":2}]"#;
        let server = Server::start([(429, "{}"), (500, ""), (200, good)]);
        let found = scorer(&server, PairScorerProtocol::Tei).scores("query", &["a"]).unwrap();
        assert_eq!(found, [2.0]);
        let server = Server::start([(413, r#"{"error":"too large for k-secret"}"#)]);
        let error = scorer(&server, PairScorerProtocol::Tei).scores("query", &["a"]).unwrap_err();
        let cause = error.source().unwrap().to_string();
        assert!(cause.ends_with("answered 413, asked 1 time: too large for (key)"), "{cause}");
    }
}
