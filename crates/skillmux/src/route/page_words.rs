//! What is remembered of words while several skills are paged for one query.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::{
    index::{Index, IndexedSkill},
    page::{Page, PageRequest, Pager, TermSource},
    text::TermReader,
};

/// Splits and weighs words as the index does, and remembers their weights.
pub(super) struct PageWords<'i> {
    index: &'i Index,
    reader: RefCell<TermReader>,
    idfs: RefCell<FxHashMap<String, f32>>,
}

impl<'i> PageWords<'i> {
    pub(super) fn new(index: &'i Index) -> Self {
        Self { index, reader: RefCell::new(TermReader::new()), idfs: RefCell::default() }
    }

    pub(super) fn page(
        &self,
        pager: &dyn Pager,
        indexed: &IndexedSkill,
        query: &str,
        budget_tokens: u32,
    ) -> Page {
        pager.page(&PageRequest {
            skill: &indexed.skill,
            nodes: &indexed.nodes,
            query,
            terms: &TermSource {
                terms: &|text, visit| {
                    let mut reader = self.reader.borrow_mut();
                    let mut terms = reader.read(text);
                    while let Some(term) = terms.advance() {
                        visit(term.text);
                    }
                },
                idf: &|term| self.idf(term),
            },
            budget_tokens,
        })
    }

    fn idf(&self, term: &str) -> f32 {
        if let Some(idf) = self.idfs.borrow().get(term) {
            return *idf;
        }
        // Without the statistics of the library all words weigh the same.
        let idf = self.index.body_idf(term).unwrap_or(1.0);
        self.idfs.borrow_mut().insert(term.to_owned(), idf);
        idf
    }
}
