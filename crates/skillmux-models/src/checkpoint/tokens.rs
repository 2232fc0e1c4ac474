//! Texts to tokens.

use blake3::Hasher;
use rayon::prelude::*;
use tokenizers::{
    EncodeInput, Encoding, Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy,
};

use super::{CheckpointError, folder::Folder};
use crate::model_file::TOKENIZER;

/// Bytes of a text that are looked at for each token that counts: words are shorter, and a text of
/// megabytes is not split to its end for its beginning.
const BYTES_PER_TOKEN: usize = 64;

/// The tokens of one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) tokens: Vec<u32>,
    /// 0 for the first text of a pair and 1 for the second.
    pub(super) types: Vec<u32>,
}

/// A tokenizer that cuts at a length and never fills up.
#[derive(Clone)]
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    max_tokens: usize,
}

/// Whether tokens that structure an input, as `[CLS]`, are put around a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// As the tokenizer's file says.
    OfTokenizer,
    /// None: the caller puts them.
    Bare,
}

impl Tokens {
    /// Reads a tokenizer, and adds its bytes to the hash; the truncation and the padding of its
    /// file do not count.
    pub(super) fn read(
        folder: &Folder,
        max_tokens: usize,
        hasher: &mut Hasher,
    ) -> Result<Self, CheckpointError> {
        let bytes = folder.bytes(TOKENIZER)?.ok_or_else(|| folder.missing(TOKENIZER))?;
        hasher.update(&bytes);
        let tokenizer = Tokenizer::from_bytes(&bytes)
            .map_err(|error| folder.form(TOKENIZER, error.to_string()))?;
        Self::cut(tokenizer, max_tokens).map_err(|error| folder.form(TOKENIZER, error.to_string()))
    }

    fn cut(mut tokenizer: Tokenizer, max_tokens: usize) -> tokenizers::Result<Self> {
        tokenizer.with_padding(None);
        tokenizer.with_truncation(Some(TruncationParams {
            direction: TruncationDirection::Right,
            max_length: max_tokens,
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
        }))?;
        // A text that writes `[SEP]` or `<|im_end|>` means these characters: who wrote a skill must
        // not decide where the input ends.
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { tokenizer, max_tokens })
    }

    /// Returns a tokenizer with the same vocabulary and another limit.
    pub(super) fn cut_at(self, max_tokens: usize) -> tokenizers::Result<Self> {
        Self::cut(self.tokenizer, max_tokens)
    }

    pub(super) fn id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// Returns one more than the highest number of a token: the numbers may have gaps.
    pub(super) fn n_ids(&self) -> usize {
        self.n_ids_with(true)
    }

    /// Returns the same without the tokens that were added to the vocabulary, such as `<think>`:
    /// a checkpoint may have no rows for them.
    pub(super) fn n_own_ids(&self) -> usize {
        self.n_ids_with(false)
    }

    fn n_ids_with(&self, added: bool) -> usize {
        let vocabulary = self.tokenizer.get_vocab(added);
        vocabulary.values().max().map_or(0, |id| *id as usize + 1)
    }

    /// Returns the median length of a token, in whole characters.
    pub(super) fn median_chars(&self) -> usize {
        let vocabulary = self.tokenizer.get_vocab(true);
        let mut lengths: Vec<usize> =
            vocabulary.keys().map(|token| token.chars().count()).collect();
        lengths.sort_unstable();
        match lengths.len() {
            0 => 0,
            n => usize::midpoint(lengths[(n - 1) / 2], lengths[n / 2]),
        }
    }

    /// Returns the tokens of a text of ours, in which special tokens mean themselves; all of them.
    pub(super) fn of_template(&self, text: &str) -> tokenizers::Result<Vec<u32>> {
        let mut tokenizer = self.tokenizer.clone();
        tokenizer.set_encode_special_tokens(false);
        tokenizer.with_truncation(None)?;
        Ok(tokenizer.encode(text, false)?.get_ids().to_vec())
    }

    /// Returns the tokens of each text.
    pub(super) fn of_texts(
        &self,
        texts: &[String],
        frame: Frame,
    ) -> tokenizers::Result<Vec<Sequence>> {
        let one = |text: &String| self.encode(self.beginning(text).into(), frame);
        texts.par_iter().map(one).collect()
    }

    /// Returns the tokens of a query with each text.
    pub(super) fn of_pairs(
        &self,
        query: &str,
        texts: &[&str],
    ) -> tokenizers::Result<Vec<Sequence>> {
        let query = self.beginning(query);
        let one =
            |text: &&str| self.encode((query, self.beginning(text)).into(), Frame::OfTokenizer);
        texts.par_iter().map(one).collect()
    }

    fn encode(&self, input: EncodeInput<'_>, frame: Frame) -> tokenizers::Result<Sequence> {
        let encoding: Encoding = self.tokenizer.encode_fast(input, frame == Frame::OfTokenizer)?;
        let (tokens, types) = (encoding.get_ids().to_vec(), encoding.get_type_ids().to_vec());
        Ok(Sequence { tokens, types })
    }

    /// Returns as much of a text as the limit on tokens can need.
    fn beginning<'t>(&self, text: &'t str) -> &'t str {
        &text[..text.floor_char_boundary(self.max_tokens.saturating_mul(BYTES_PER_TOKEN))]
    }
}
