//! [`Meaning`]: how near the nodes of a body are to a query, by an encoder.

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    super::{PageRequest, outline::Outline, scene::MAX_COMPARED},
    numbers::shares,
};
use crate::{
    model::{Encoder, TokenEncoder, TokenVectors},
    skill::Node,
};

/// Most bytes of a node that the encoder reads.
const MAX_ENCODED_BYTES: usize = 1500;

/// Most nodes that are read token by token, which takes milliseconds each.
const MAX_TOKEN_NODES: usize = 256;

/// Least weight of a token of the query: that of one which nearly all nodes have.
const MIN_TOKEN_WEIGHT: f32 = 0.05;

/// Most tokens of bodies that are kept for the next page of the same skill; 25 MB of a model with
/// 384 dimensions.
const MAX_KEPT_TOKENS: usize = 1 << 14;

/// The tokens of the bodies that were read last, for an agent reads one skill page by page.
#[derive(Debug, Default)]
pub(super) struct LastBodies(Mutex<VecDeque<Arc<ReadBody>>>);

#[derive(Debug)]
struct ReadBody {
    texts: Vec<String>,
    tokens: Vec<TokenVectors>,
}

impl ReadBody {
    fn n_tokens(&self) -> usize {
        self.tokens.iter().map(|of| of.tokens.len()).sum()
    }
}

impl LastBodies {
    /// Returns the tokens of the texts of a body; `None` if the encoder fails, or does not give a
    /// vector for each token of each text.
    fn read(&self, texts: Vec<String>, encoder: &dyn TokenEncoder) -> Option<Arc<ReadBody>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(body) = kept().iter().find(|body| body.texts == texts) {
            return Some(Arc::clone(body));
        }
        let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tokens = encoder.encode_tokens(&borrowed).ok()?;
        if tokens.len() != texts.len() || !tokens.iter().all(|of| of.has_dim(encoder.dim())) {
            return None;
        }
        let body = Arc::new(ReadBody { texts, tokens });
        if body.n_tokens() > MAX_KEPT_TOKENS {
            return Some(body);
        }
        let mut kept = kept();
        kept.push_front(Arc::clone(&body));
        let mut n_tokens = 0;
        kept.retain(|body| {
            n_tokens += body.n_tokens();
            n_tokens <= MAX_KEPT_TOKENS
        });
        Some(body)
    }
}

/// How near the nodes are, as [`NodeFeatures`](super::NodeFeatures) has it.
pub(super) struct Meaning {
    /// By node, in `[-1, 1]`.
    pub(super) of_nodes: Vec<f32>,
    /// By section; empty where the headings are read with the nodes below them.
    pub(super) of_headings: Vec<f32>,
    /// By node; empty without a token encoder.
    pub(super) token_shares: Vec<f32>,
    /// For each clause of the query, by node, `[clauses, nodes]`; empty without a token encoder.
    pub(super) of_clauses: Vec<Vec<f32>>,
}

impl Meaning {
    /// Compares the vectors of whole texts. An encoder that fails says nothing, so that words
    /// decide.
    pub(super) fn of_texts(
        request: &PageRequest<'_>,
        outline: &Outline<'_>,
        encoder: &dyn Encoder,
    ) -> Self {
        let n_nodes = request.nodes.nodes.len().min(MAX_COMPARED);
        let n_sections = request.nodes.sections.len().min(MAX_COMPARED);
        let paths: Vec<String> = (0..n_sections).map(|idx| below_title(outline, idx)).collect();
        let of_nodes = (0..n_nodes).map(|idx| clipped(outline.text(idx).unwrap_or("")));
        let texts: Vec<&str> = of_nodes.chain(paths.iter().map(String::as_str)).collect();
        let mut cosines = cosines(encoder, request.query, &texts);
        let of_headings = cosines.split_off(n_nodes);
        let (token_shares, of_clauses) = <_>::default();
        Self { of_nodes: cosines, of_headings, token_shares, of_clauses }
    }

    /// Compares the tokens of the query with those of each node and of the headings above it.
    /// `None` if there are too many nodes, if the query says nothing to the encoder, or if it
    /// fails.
    pub(super) fn of_tokens(
        request: &PageRequest<'_>,
        outline: &Outline<'_>,
        encoder: &dyn TokenEncoder,
        last: &LastBodies,
    ) -> Option<Self> {
        let nodes = &request.nodes.nodes;
        if nodes.len() > MAX_TOKEN_NODES {
            return None;
        }
        let query = encoder.encode_query_tokens(request.query).ok()?;
        if query.tokens.is_empty() || !query.has_dim(encoder.dim()) {
            return None;
        }
        let text = |(idx, node): (usize, &Node)| {
            let path = node.section.map(|section| below_title(outline, section as usize));
            let text = format!("{}\n{}", path.unwrap_or_default(), outline.text(idx).unwrap_or(""));
            clipped(&text).to_owned()
        };
        let body = last.read(nodes.iter().enumerate().map(text).collect(), encoder)?;
        let cosines: Vec<Vec<f32>> =
            body.tokens.iter().map(|node| query.best_cosines(node, encoder.dim())).collect();
        let weights = token_weights(&query, &body.tokens);
        let of_nodes = cosines.iter().map(|of_node| mean(of_node, &weights)).collect();
        let of_clause = |clause: Range<usize>| {
            let mean =
                |of_node: &Vec<f32>| mean(&of_node[clause.clone()], &weights[clause.clone()]);
            cosines.iter().map(mean).collect()
        };
        let clauses = encoder.clauses(&query.tokens).into_iter();
        let is_sound =
            |clause: &Range<usize>| !clause.is_empty() && clause.end <= query.tokens.len();
        let of_clauses = clauses.filter(is_sound).map(of_clause).collect();
        let token_shares = token_shares(&cosines, &weights);
        Some(Self { of_nodes, of_headings: Vec::new(), token_shares, of_clauses })
    }
}

/// Returns what each token of the query weighs: more if fewer nodes have it.
fn token_weights(query: &TokenVectors, nodes: &[TokenVectors]) -> Vec<f32> {
    let mut n_nodes_of: HashMap<u32, f32> = HashMap::new();
    for node in nodes {
        let mut tokens = node.tokens.clone();
        tokens.sort_unstable();
        tokens.dedup();
        for token in tokens {
            *n_nodes_of.entry(token).or_default() += 1.0;
        }
    }
    let n_nodes = nodes.len() as f32;
    let weight = |token: &u32| {
        let n_with = n_nodes_of.get(token).copied().unwrap_or(0.0);
        ((n_nodes + 1.0) / (n_with + 0.5)).ln().max(MIN_TOKEN_WEIGHT)
    };
    query.tokens.iter().map(weight).collect()
}

/// Returns the weighed mean of the numbers.
fn mean(numbers: &[f32], weights: &[f32]) -> f32 {
    let sum: f32 = numbers.iter().zip(weights).map(|(number, weight)| number * weight).sum();
    sum / weights.iter().sum::<f32>()
}

/// Shares out each token of the query among the nodes by its cosines with them, and returns the
/// mean share of each node.
fn token_shares(cosines: &[Vec<f32>], weights: &[f32]) -> Vec<f32> {
    let mut of_nodes: Vec<Vec<f32>> = vec![Vec::with_capacity(weights.len()); cosines.len()];
    for token in 0..weights.len() {
        let of_token: Vec<f32> = cosines.iter().map(|of_node| of_node[token]).collect();
        for (of_node, share) in of_nodes.iter_mut().zip(shares(&of_token)) {
            of_node.push(share);
        }
    }
    of_nodes.iter().map(|of_node| mean(of_node, weights)).collect()
}

/// Returns the headings of a section without the title of the body, which all have in common.
fn below_title(outline: &Outline<'_>, section_idx: usize) -> String {
    let path = outline.heading_path(section_idx);
    let below = if path.len() > 1 { &path[1..] } else { &path[..] };
    below.join(" > ")
}

fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ENCODED_BYTES)]
}

/// Returns the cosine of the query with each text; zeros if the encoder fails, or does not give a
/// vector for each.
fn cosines(encoder: &dyn Encoder, query: &str, texts: &[&str]) -> Vec<f32> {
    let vectors = encoder.encode_queries(&[query]).and_then(|query| {
        let texts = encoder.encode(texts)?;
        Ok((query, texts))
    });
    let dim = encoder.dim();
    let is_sound = |(query, vectors): &(Vec<f32>, Vec<f32>)| {
        query.len() == dim
            && texts.len().checked_mul(dim) == Some(vectors.len())
            && query.iter().chain(vectors).all(|x| x.is_finite())
    };
    let Some((query, vectors)) = vectors.ok().filter(is_sound).filter(|_| dim > 0) else {
        return vec![0.0; texts.len()];
    };
    let cosine = |text: &[f32]| {
        let product: f32 = text.iter().zip(&query).map(|(a, b)| a * b).sum();
        product.clamp(-1.0, 1.0)
    };
    vectors.chunks(dim).map(cosine).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{error::Result, model::EncoderIdentity};

    /// Each letter is a token, in a direction of its own.
    pub(in crate::page) struct Letters {
        identity: EncoderIdentity,
        n_read: AtomicUsize,
    }

    impl Default for Letters {
        fn default() -> Self {
            let identity =
                EncoderIdentity { name: "letters".into(), dim: 26, fingerprint: "1".into() };
            Self { identity, n_read: AtomicUsize::new(0) }
        }
    }

    impl Encoder for Letters {
        fn identity(&self) -> &EncoderIdentity {
            &self.identity
        }

        fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
            Ok(vec![0.0; 26 * texts.len()])
        }
    }

    impl Letters {
        /// Returns how many texts were read token by token.
        pub(in crate::page) fn n_read(&self) -> usize {
            self.n_read.load(Ordering::Relaxed)
        }
    }

    impl TokenEncoder for Letters {
        fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<TokenVectors>> {
            self.n_read.fetch_add(texts.len(), Ordering::Relaxed);
            texts.iter().map(|text| self.encode_query_tokens(text)).collect()
        }

        fn encode_query_tokens(&self, query: &str) -> Result<TokenVectors> {
            let letters = query.bytes().filter(u8::is_ascii_alphabetic);
            let tokens: Vec<u32> =
                letters.map(|letter| u32::from(letter.to_ascii_lowercase() - b'a')).collect();
            let row = |token: u32| (0..26).map(move |at| f32::from(u8::from(at == token)));
            Ok(TokenVectors { vectors: tokens.iter().copied().flat_map(row).collect(), tokens })
        }
    }

    #[test]
    fn a_body_is_read_once_while_it_is_among_the_last() {
        let (last, encoder) = (LastBodies::default(), Letters::default());
        let read = |text: &str| last.read(vec![text.to_owned()], &encoder).unwrap();
        let n_read = || encoder.n_read();
        assert_eq!(read("ab").tokens[0].tokens, [0, 1]);
        assert!(read("ab").tokens[0].tokens.len() == 2 && n_read() == 1);
        assert!(read("abc").n_tokens() == 3 && n_read() == 2);
        assert!(read("ab").n_tokens() == 2 && n_read() == 2);
        // A body of so many tokens is not kept, and takes no room from others.
        let long = "x".repeat(MAX_KEPT_TOKENS + 1);
        read(&long);
        read(&long);
        assert_eq!(n_read(), 4);
        read("ab");
        assert_eq!(n_read(), 4);
    }

    /// Gives so many numbers for each batch of texts, and so many tokens for each text.
    struct Wrong {
        identity: EncoderIdentity,
        n_numbers: usize,
        n_texts: usize,
    }

    impl Encoder for Wrong {
        fn identity(&self) -> &EncoderIdentity {
            &self.identity
        }

        fn encode(&self, _texts: &[&str]) -> Result<Vec<f32>> {
            Ok(vec![0.5; self.n_numbers])
        }
    }

    impl TokenEncoder for Wrong {
        fn encode_tokens(&self, _texts: &[&str]) -> Result<Vec<TokenVectors>> {
            (0..self.n_texts).map(|_| self.encode_query_tokens("")).collect()
        }

        fn encode_query_tokens(&self, _query: &str) -> Result<TokenVectors> {
            Ok(TokenVectors { tokens: vec![1, 2], vectors: vec![0.5; self.n_numbers] })
        }
    }

    #[test]
    fn an_encoder_that_gives_too_much_or_too_little_says_nothing() {
        let last = LastBodies::default();
        for dim in [0, 2] {
            for n_numbers in 0..8 {
                for n_texts in 0..3 {
                    let (name, fingerprint) = ("wrong".into(), "1".into());
                    let identity = EncoderIdentity { name, dim, fingerprint };
                    let wrong = Wrong { identity, n_numbers, n_texts };
                    assert_eq!(cosines(&wrong, "q", &["a", "b"]), [0.0, 0.0]);
                    let texts = vec![format!("{dim} {n_numbers} {n_texts}")];
                    let is_sound = n_texts == 1 && n_numbers == 4 && dim == 2;
                    assert_eq!(last.read(texts, &wrong).is_some(), is_sound);
                }
            }
        }
    }

    #[test]
    fn a_token_that_few_nodes_have_weighs_more() {
        let of = |tokens: &[u32]| TokenVectors { tokens: tokens.to_vec(), vectors: Vec::new() };
        let weights = token_weights(&of(&[1, 2, 3]), &[of(&[1, 1, 2]), of(&[1]), of(&[1])]);
        let expected = [(4.0_f32 / 3.5).ln(), (4.0_f32 / 1.5).ln(), 8.0_f32.ln()];
        assert!(weights.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{weights:?}");
        // All nodes have it.
        assert_eq!(token_weights(&of(&[1]), &vec![of(&[1]); 40]), [MIN_TOKEN_WEIGHT]);
    }

    #[test]
    fn each_token_goes_to_the_nodes_that_are_nearest() {
        let shares = token_shares(&[vec![0.9, 0.2], vec![0.1, 0.8], vec![0.1, 0.8]], &[3.0, 1.0]);
        assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!((shares[0] - 0.75).abs() < 1e-3, "{shares:?}");
        assert!(shares[1..].iter().all(|share| (share - 0.125).abs() < 1e-3), "{shares:?}");
    }
}
