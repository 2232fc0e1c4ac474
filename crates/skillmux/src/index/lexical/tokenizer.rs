//! Lets tantivy cut texts into our terms.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::text::{TermReader, Terms};

/// Lets tantivy cut texts into our terms.
#[derive(Clone)]
pub(super) struct TantivyTokenizer {
    pub(super) reader: TermReader,
}

pub(super) struct TantivyTerms<'a> {
    terms: Terms<'a>,
    token: Token,
}

impl Tokenizer for TantivyTokenizer {
    type TokenStream<'a> = TantivyTerms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TantivyTerms<'a> {
        TantivyTerms { terms: self.reader.read(text), token: Token::default() }
    }
}

impl TokenStream for TantivyTerms<'_> {
    fn advance(&mut self) -> bool {
        let Some(term) = self.terms.advance() else { return false };
        self.token.text.clear();
        self.token.text.push_str(term.text);
        self.token.offset_from = term.source.start;
        self.token.offset_to = term.source.end;
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
