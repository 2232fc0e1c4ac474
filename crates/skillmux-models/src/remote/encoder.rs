//! [`EncoderEndpoint`]: an encoder behind the protocols of `OpenAI` and of TEI.

use serde::Deserialize;
use serde_json::json;
use skillmux::{
    Error, Result,
    model::{Encoder, EncoderIdentity},
};

use super::{
    batch::{BatchLimits, Batches, by_index},
    endpoint::{Endpoint, EndpointConfig},
    error::RemoteError,
    single,
};

/// What is encoded to learn the number of dimensions.
const PROBE: &str = "skill";

/// An encoder at an endpoint.
///
/// Rows have length 1, whatever the endpoint gives; a blank text is not sent, and its row is zero.
/// What the endpoint promises of equal texts is all that can be promised here: mostly not the same
/// bits.
pub struct EncoderEndpoint {
    endpoint: Endpoint,
    model: String,
    options: EncoderOptions,
    batches: Batches,
    identity: EncoderIdentity,
}

/// How an encoder at an endpoint is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncoderOptions {
    /// What the endpoint speaks.
    pub protocol: EncoderProtocol,
    /// Number of dimensions, if it is known. Else one request tells it.
    pub dim: Option<u32>,
    /// Put before each query, as the card of the model says; mostly an instruction.
    pub query_prefix: String,
    /// Put before each part of a skill.
    pub text_prefix: String,
    /// How texts are shared out over requests.
    pub batches: BatchLimits,
}

/// What an endpoint of an encoder speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EncoderProtocol {
    /// `POST BASE/embeddings`, as most vendors, vLLM, llama.cpp and Ollama have it. The base URL
    /// mostly ends in `/v1`.
    #[default]
    OpenAi,
    /// `POST BASE/embed` of Hugging Face's text-embeddings-inference. It serves one model, and is
    /// not told its name.
    Tei,
}

impl EncoderProtocol {
    fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "embeddings",
            Self::Tei => "embed",
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "OpenAI",
            Self::Tei => "TEI",
        }
    }
}

/// An answer of the protocol of `OpenAI`.
#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

impl EncoderEndpoint {
    /// Returns the encoder. If the options do not say how many dimensions it has, it encodes a
    /// word.
    ///
    /// # Errors
    /// [`RemoteError::BaseUrl`] and [`RemoteError::ApiKey`]; those of a request if one is sent.
    pub fn open(config: EndpointConfig, options: EncoderOptions) -> Result<Self, RemoteError> {
        let protocol = options.protocol;
        let endpoint = Endpoint::new(&config, protocol.path(), protocol.as_str())?;
        let identity = EncoderIdentity {
            name: format!("{} at {}", config.model, endpoint.host()),
            dim: options.dim.unwrap_or_default(),
            fingerprint: fingerprint(&options),
        };
        let (model, batches) = (config.model, Batches::new(options.batches));
        let mut encoder = Self { endpoint, model, options, batches, identity };
        if encoder.identity.dim == 0 {
            let n_numbers = encoder.vectors(&[PROBE])?.remove(0).len();
            let problem = || encoder.endpoint.protocol_error("a vector without numbers".to_owned());
            encoder.identity.dim =
                u32::try_from(n_numbers).ok().filter(|dim| *dim > 0).ok_or_else(problem)?;
        }
        Ok(encoder)
    }

    /// Returns the rows of texts that begin with a prefix.
    fn rows(&self, texts: &[&str], prefix: &str) -> Result<Vec<f32>, RemoteError> {
        let is_said = |text: &&&str| !text.trim().is_empty();
        let prefixed = |text: &&str| format!("{prefix}{}", self.batches.clipped(text));
        let said: Vec<String> = texts.iter().filter(is_said).map(prefixed).collect();
        let mut vectors =
            self.batches.ask(&said, 0, |batch| self.checked(self.vectors(batch)?))?.into_iter();
        let blank = || vec![0.0; self.dim()];
        let row = |text: &&str| is_said(&text).then(|| vectors.next()).flatten();
        let rows: Vec<Option<Vec<f32>>> = texts.iter().map(row).collect();
        Ok(rows.into_iter().flat_map(|row| row.unwrap_or_else(blank)).collect())
    }

    /// Sends one request, and returns as many vectors as there are texts.
    fn vectors(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Vec<f32>>, RemoteError> {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let vectors = match self.options.protocol {
            EncoderProtocol::OpenAi => {
                let body = json!({
                    "model": self.model,
                    "input": texts,
                    "encoding_format": "float",
                });
                let Embeddings { data } = self.endpoint.read(self.endpoint.post(&body)?)?;
                by_index(texts.len(), data.into_iter().map(|one| (one.index, one.embedding)))
            }
            EncoderProtocol::Tei => {
                let body = json!({ "inputs": texts, "truncate": true, "normalize": true });
                let vectors: Vec<Vec<f32>> = self.endpoint.read(self.endpoint.post(&body)?)?;
                let n_answers = vectors.len();
                let is_whole = n_answers == texts.len();
                let problem = || format!("{n_answers} answers for {} texts", texts.len());
                if is_whole { Ok(vectors) } else { Err(problem()) }
            }
        };
        vectors.map_err(|problem| self.endpoint.protocol_error(problem))
    }

    /// Returns vectors in length 1, after a check of their dimensions and numbers.
    fn checked(&self, mut vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, RemoteError> {
        for vector in &mut vectors {
            let (found, expected) = (vector.len(), self.dim());
            if found != expected {
                let url = self.endpoint.url().to_owned();
                return Err(RemoteError::Dimension { url, found, expected });
            }
            if !vector.iter().all(|x| x.is_finite()) {
                let problem = "a vector with a number that is not finite".to_owned();
                return Err(self.endpoint.protocol_error(problem));
            }
            normalise(vector);
        }
        Ok(vectors)
    }

    fn encode_after(&self, texts: &[&str], prefix: &str) -> Result<Vec<f32>> {
        self.rows(texts, prefix).map_err(|error| Error::Encoder {
            name: self.identity.name.clone(),
            hint: error.hint(),
            source: Box::new(error),
        })
    }
}

impl Encoder for EncoderEndpoint {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
        self.encode_after(texts, &self.options.text_prefix)
    }

    fn encode_queries(&self, texts: &[&str]) -> Result<Vec<f32>> {
        self.encode_after(texts, &self.options.query_prefix)
    }
}

/// Returns a hash of what is done to texts before they are sent: the weights are not to be seen.
fn fingerprint(options: &EncoderOptions) -> String {
    let EncoderOptions { protocol, query_prefix, text_prefix, batches, .. } = options;
    let max_text_chars = batches.max_text_chars;
    let parts = json!([protocol.as_str(), query_prefix, text_prefix, max_text_chars]);
    blake3::hash(parts.to_string().as_bytes()).to_hex()[..16].to_owned()
}

/// Scales a vector to length 1; one of zeros stays.
fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        for x in vector {
            *x = single(f64::from(*x) / length);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error as _, fs, path::Path, sync::Arc};

    use serde_json::Value;
    use skillmux::{
        index::{Index, UpdateOptions},
        library::Library,
        retrieve::{DenseRetriever, Retriever},
    };

    use super::{super::test_server::Server, *};

    /// Returns a vector that tells texts apart: that of a text of `n` characters is `[n, 1]`.
    fn vector(text: &Value) -> Value {
        json!([text.as_str().unwrap().chars().count(), 1])
    }

    /// A server of the protocol of `OpenAI` that gives the vectors in reverse.
    fn open_ai() -> Server {
        Server::answering(|_, body| {
            let inputs = body["input"].as_array().unwrap().iter().enumerate();
            let one = |(at, text)| json!({ "index": at, "embedding": vector(text) });
            (200, json!({ "data": inputs.map(one).rev().collect::<Vec<_>>() }).to_string())
        })
    }

    fn tei() -> Server {
        Server::answering(|_, body| {
            let inputs = body["inputs"].as_array().unwrap().iter();
            (200, inputs.map(vector).collect::<Value>().to_string())
        })
    }

    fn open(server: &Server, options: EncoderOptions) -> EncoderEndpoint {
        EncoderEndpoint::open(server.config(Some("k-secret")), options).unwrap()
    }

    fn of_dim(dim: u32, protocol: EncoderProtocol) -> EncoderOptions {
        EncoderOptions { protocol, dim: Some(dim), ..EncoderOptions::default() }
    }

    /// Returns the row of a text of so many characters.
    fn row(n_chars: f32) -> [f32; 2] {
        let length = (n_chars * n_chars + 1.0).sqrt();
        [n_chars / length, 1.0 / length]
    }

    fn assert_near(found: &[f32], expected: &[[f32; 2]]) {
        assert_eq!(found.len(), expected.as_flattened().len());
        for (found, expected) in found.iter().zip(expected.as_flattened()) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn both_protocols_keep_the_order_and_give_length_1() {
        for (server, protocol) in
            [(open_ai(), EncoderProtocol::OpenAi), (tei(), EncoderProtocol::Tei)]
        {
            let batches = BatchLimits { max_texts: 2, max_text_chars: 4, ..BatchLimits::default() };
            let encoder =
                open(&server, EncoderOptions { protocol, batches, ..EncoderOptions::default() });
            let texts = ["a", "四个汉字", " \n", "abc", "too long", "ab"];
            let found = encoder.encode(&texts).unwrap();
            let expected = [row(1.0), row(4.0), [0.0, 0.0], row(3.0), row(4.0), row(2.0)];
            assert_near(&found, &expected);
            // The probe, and three requests of at most two texts.
            assert_eq!(server.requests().len(), 4);
            let one_by_one = texts.iter().flat_map(|text| encoder.encode(&[text]).unwrap());
            assert_near(&one_by_one.collect::<Vec<_>>(), &expected);
            assert_eq!(encoder.encode(&[]).unwrap(), [0.0; 0]);
            assert_eq!(encoder.encode(&["", " "]).unwrap(), [0.0; 4]);
        }
    }

    #[test]
    fn requests_are_those_of_the_protocols() {
        let server = open_ai();
        let prefixes = |protocol| EncoderOptions {
            query_prefix: "query: ".to_owned(),
            text_prefix: "passage: ".to_owned(),
            ..of_dim(2, protocol)
        };
        let encoder = open(&server, prefixes(EncoderProtocol::OpenAi));
        assert!(server.requests().is_empty());
        encoder.encode_queries(&["a"]).unwrap();
        encoder.encode(&["b"]).unwrap();
        let sent = &server.requests()[0];
        assert_eq!((sent.method_str(), sent.uri().path()), ("POST", "/v1/embeddings"));
        assert_eq!(sent.headers()["authorization"], "Bearer k-secret");
        let body = |text| json!({ "model": "small", "input": [text], "encoding_format": "float" });
        assert_eq!(server.bodies(), [body("query: a"), body("passage: b")]);

        let server = tei();
        let encoder = open(&server, prefixes(EncoderProtocol::Tei));
        encoder.encode_queries(&["a"]).unwrap();
        assert_eq!(server.requests()[0].uri().path(), "/v1/embed");
        let body = json!({ "inputs": ["query: a"], "truncate": true, "normalize": true });
        assert_eq!(server.bodies(), [body]);
    }

    #[test]
    fn a_busy_server_is_asked_again() {
        let good = "[[3, 4]]";
        let server = Server::start([(429, "{}"), (503, ""), (200, good)]);
        let encoder = open(&server, of_dim(2, EncoderProtocol::Tei));
        assert_near(&encoder.encode(&["a"]).unwrap(), &[[0.6, 0.8]]);
        assert_eq!(server.requests().len(), 3);
    }

    #[test]
    fn the_identity_names_model_host_and_what_is_done_to_texts() {
        let server = open_ai();
        let encoder = open(&server, EncoderOptions::default());
        let host = server.base_url.trim_start_matches("http://").trim_end_matches("/v1");
        assert_eq!(encoder.identity().name, format!("small at {host}"));
        assert_eq!(encoder.dim(), 2);
        let again = open(&server, of_dim(2, EncoderProtocol::OpenAi));
        assert_eq!(again.identity(), encoder.identity());
        let query_prefix = "query: ".to_owned();
        let other = open(&server, EncoderOptions { query_prefix, ..EncoderOptions::default() });
        assert_ne!(other.identity(), encoder.identity());
        assert!(!format!("{:?}", other.identity()).contains("secret"));
    }

    /// Returns the message of the cause.
    fn cause(result: Result<Vec<f32>>) -> String {
        result.unwrap_err().source().unwrap().to_string()
    }

    #[test]
    fn answers_that_are_no_vectors_are_refused() {
        for (answer, problem) in [
            (r#"{"data":[{"index":0,"embedding":[1,0]}]}"#, "1 answers for 2 texts"),
            (
                r#"{"data":[{"index":1,"embedding":[1,0]},{"index":1,"embedding":[1,0]}]}"#,
                "two answers for index 1",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,0]},{"index":2,"embedding":[1,0]}]}"#,
                "an answer for index 2 of 2 texts",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1e39,0]}]}"#,
                "a vector with a number that is not finite",
            ),
            (r#"{"data":[{"index":0,"embedding":[null]}]}"#, "expected f32"),
            (r#"{"vectors":[]}"#, "missing field `data`"),
        ] {
            let server = Server::start([(200, answer)]);
            let encoder = open(&server, of_dim(2, EncoderProtocol::OpenAi));
            let cause = cause(encoder.encode(&["a", "b"]));
            assert!(cause.contains("OpenAI protocol") && cause.contains(problem), "{cause}");
        }
        let server = Server::start([(200, "[[1, 0]]")]);
        let encoder = open(&server, of_dim(2, EncoderProtocol::Tei));
        let cause = cause(encoder.encode(&["a", "b"]));
        assert!(cause.ends_with("TEI protocol: 1 answers for 2 texts"), "{cause}");
        let server = Server::start([(200, "[[]]")]);
        let options = EncoderOptions { dim: None, ..of_dim(2, EncoderProtocol::Tei) };
        let refused = EncoderEndpoint::open(server.config(None), options).err().unwrap();
        assert!(refused.to_string().ends_with("a vector without numbers"), "{refused}");
    }

    #[test]
    fn another_dimension_than_at_first_is_refused() {
        let server = Server::start([(200, "[[1, 0]]"), (200, "[[1, 0, 0]]")]);
        let options = EncoderOptions { dim: None, ..of_dim(2, EncoderProtocol::Tei) };
        let encoder = open(&server, options);
        let cause = cause(encoder.encode(&["a"]));
        assert!(cause.ends_with("a vector of 3 dimensions, but 2 were expected"), "{cause}");
    }

    #[test]
    fn a_key_that_a_server_repeats_is_masked() {
        let server = Server::start([(403, r#"{"error":"bad key k-secret"}"#)]);
        let encoder = open(&server, of_dim(2, EncoderProtocol::OpenAi));
        let error = encoder.encode(&["a"]).unwrap_err();
        assert!(!format!("{error:?}").contains("k-secret"));
        assert!(error.source().unwrap().to_string().ends_with("bad key (key)"));
    }

    /// Makes an index of two skills with an encoder.
    fn index(folder: &Path, encoder: Arc<dyn Encoder>) -> Index {
        for name in ["pdf-forms", "sql-tuning"] {
            fs::create_dir_all(folder.join("skills").join(name)).unwrap();
            let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\nOpen it.\n");
            fs::write(folder.join("skills").join(name).join("SKILL.md"), text).unwrap();
        }
        let library = Library::open([folder.join("skills")]).unwrap();
        let options = UpdateOptions { encoder: Some(encoder), ..UpdateOptions::default() };
        Index::update(&folder.join("index"), &library, &options, &mut |_| {}).unwrap();
        Index::open(&folder.join("index")).unwrap()
    }

    #[test]
    fn an_index_of_another_model_or_dimension_is_refused() {
        let server = open_ai();
        let folder = tempfile::tempdir().unwrap();
        let index = index(folder.path(), Arc::new(open(&server, EncoderOptions::default())));
        let check = |model: &str, dim| {
            let mut config = server.config(None);
            config.model = model.to_owned();
            let options = of_dim(dim, EncoderProtocol::OpenAi);
            let encoder = EncoderEndpoint::open(config, options).unwrap();
            DenseRetriever::new(Arc::new(encoder)).check(&index)
        };
        assert!(check("small", 2).is_ok());
        for (model, dim) in [("large", 2), ("small", 3)] {
            assert!(matches!(check(model, dim), Err(Error::EncoderMismatch { .. })), "{model}");
        }
    }
}
