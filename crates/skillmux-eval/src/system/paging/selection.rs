//! [`Selection`]: nodes that fit a budget together.

use std::collections::BTreeSet;

use skillmux::{
    page::{FullPager, Page, PageRequest, Pager},
    skill::NodeTree,
};

/// A growing selection of nodes that never costs more than the budget.
pub(super) struct Selection<'r, 'a> {
    request: &'r PageRequest<'a>,
    pub(super) selected: BTreeSet<usize>,
    pub(super) page: Page,
}

impl<'r, 'a> Selection<'r, 'a> {
    pub(super) fn new(request: &'r PageRequest<'a>) -> Self {
        let page = FullPager.page(&PageRequest { budget_tokens: 0, ..*request });
        Self { request, selected: BTreeSet::new(), page }
    }

    /// Selects nodes if all of them fit, and tells whether they are selected.
    pub(super) fn select(&mut self, nodes: &[usize]) -> bool {
        let tree = self.request.nodes;
        let body = &self.request.skill.body;
        let fits = |idx: &usize| tree.nodes.get(*idx).is_some_and(|node| node.text(body).is_some());
        if !nodes.iter().all(fits) {
            return false;
        }
        let mut selected = self.selected.clone();
        selected.extend(nodes);
        let chosen = NodeTree {
            sections: tree.sections.clone(),
            nodes: selected.iter().map(|idx| tree.nodes[*idx].clone()).collect(),
        };
        // The engine's own pager tells what these nodes cost with the headings above them.
        let budget_tokens = self.request.budget_tokens;
        let page = FullPager.page(&PageRequest { nodes: &chosen, budget_tokens, ..*self.request });
        if page.nodes.len() < selected.len() {
            return false;
        }
        self.page.nodes = page.nodes;
        for (node, idx) in self.page.nodes.iter_mut().zip(&selected) {
            node.position = u32::try_from(*idx).unwrap_or(u32::MAX);
        }
        self.page.n_tokens = page.n_tokens;
        self.selected = selected;
        true
    }
}
