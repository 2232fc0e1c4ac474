//! [`KindPager`]: another pager, with the kinds that a classifier tells.

use std::sync::Arc;

use super::{Page, PageRequest, Pager};
use crate::skill::{KindClassifier, NodeTree};

/// Pages as another pager does, with the kinds that a [`KindClassifier`] tells in place of those of
/// the index.
pub struct KindPager {
    kinds: Arc<dyn KindClassifier>,
    pager: Box<dyn Pager>,
}

impl KindPager {
    /// Returns a pager that tells the kinds of nodes before another one selects some.
    pub fn new(kinds: Arc<dyn KindClassifier>, pager: Box<dyn Pager>) -> Self {
        Self { kinds, pager }
    }

    fn classified(&self, request: &PageRequest<'_>) -> NodeTree {
        classified(&*self.kinds, &request.skill.body, request.nodes)
    }
}

/// Returns a tree with the kinds that a classifier tells.
pub fn classified(kinds: &dyn KindClassifier, body: &str, tree: &NodeTree) -> NodeTree {
    let mut classified = tree.clone();
    for (node, kind) in classified.nodes.iter_mut().zip(kinds.kinds(body, tree)) {
        node.kind = kind;
    }
    classified
}

impl Pager for KindPager {
    fn identity(&self) -> String {
        format!("{} kinds={}", self.pager.identity(), self.kinds.identity())
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        self.pager.page(&PageRequest { nodes: &self.classified(request), ..*request })
    }

    fn pages(&self, requests: &[PageRequest<'_>], budget_tokens: u32) -> Vec<Page> {
        let trees: Vec<NodeTree> =
            requests.iter().map(|request| self.classified(request)).collect();
        let requests = requests.iter().zip(&trees);
        let requests: Vec<PageRequest<'_>> =
            requests.map(|(request, nodes)| PageRequest { nodes, ..*request }).collect();
        self.pager.pages(&requests, budget_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FullPager, tests::page_of};
    use super::*;
    use crate::skill::{KindRules, NodeKind};

    /// Calls everything an example.
    struct Examples;

    impl KindClassifier for Examples {
        fn identity(&self) -> String {
            "examples".to_owned()
        }

        fn kinds(&self, _body: &str, tree: &NodeTree) -> Vec<NodeKind> {
            vec![NodeKind::Example; tree.nodes.len()]
        }
    }

    #[test]
    fn pages_have_the_kinds_of_the_classifier() {
        let page = |kinds: Arc<dyn KindClassifier>| {
            let pager = KindPager::new(kinds, Box::new(FullPager));
            page_of(&pager, "Words.\n\n1. Run it.\n", "", 100)
        };
        let kinds = |page: &Page| page.nodes.iter().map(|node| node.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&page(Arc::new(Examples))), [NodeKind::Example; 2]);
        let by_rules = page(Arc::new(KindRules));
        assert_eq!(kinds(&by_rules), [NodeKind::Concept, NodeKind::Step]);
        assert_eq!(by_rules, page_of(&FullPager, "Words.\n\n1. Run it.\n", "", 100));
    }
}
