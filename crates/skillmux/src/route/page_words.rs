//! What is remembered of words while several skills are paged for one query.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::{
    index::{Index, IndexedSkill},
    page::{Page, PageRequest, Pager, PartList, TermSource},
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
        had: &PartList,
    ) -> Page {
        self.with_terms(|terms| {
            let request = request(indexed, query, terms, budget_tokens);
            pager.page(&PageRequest { had, ..request })
        })
    }

    /// Returns the pages of several skills, each with its query, under one budget.
    pub(super) fn pages(
        &self,
        pager: &dyn Pager,
        skills: &[(&IndexedSkill, &str)],
        budget_tokens: u32,
    ) -> Vec<Page> {
        self.with_terms(|terms| {
            let requests = skills.iter().map(|(indexed, query)| request(indexed, query, terms, 0));
            let requests: Vec<PageRequest<'_>> = requests.collect();
            pager.pages(&requests, budget_tokens)
        })
    }

    /// Calls `f` with what splits and weighs words.
    pub(super) fn with_terms<T>(&self, f: impl FnOnce(&TermSource<'_>) -> T) -> T {
        f(&TermSource {
            terms: &|text, visit| {
                let mut reader = self.reader.borrow_mut();
                let mut terms = reader.read(text);
                while let Some(term) = terms.advance() {
                    visit(term.text);
                }
            },
            idf: &|term| self.idf(term),
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

/// Returns the request for a page.
pub(super) fn request<'a>(
    indexed: &'a IndexedSkill,
    query: &'a str,
    terms: &'a TermSource<'a>,
    budget_tokens: u32,
) -> PageRequest<'a> {
    PageRequest {
        skill: &indexed.skill,
        nodes: &indexed.nodes,
        query,
        terms,
        budget_tokens,
        had: PartList::none(),
    }
}
