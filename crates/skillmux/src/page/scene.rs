//! [`Scene`]: how the parts of a body compare to a query by their words.

use super::{
    PageRequest,
    outline::Outline,
    vector::{TermCounts, TermVector},
};

/// Most nodes, and most sections, of a body that are compared with the query, from its top; more
/// than any body that people write.
pub(super) const MAX_COMPARED: usize = 4096;

/// Most selected nodes that others may repeat: the first ones, so that a page of thousands of nodes
/// takes no minutes.
const MAX_REPEATED: usize = 512;

/// How the nodes and the headings above them compare to the query.
pub(super) struct Scene {
    /// What each of the first [`MAX_COMPARED`] nodes says.
    pub(super) nodes: Vec<TermVector>,
    /// Cosine of the query with each node.
    pub(super) text_cosines: Vec<f32>,
    /// Cosine of the query with the headings of each section and of those around it.
    pub(super) heading_cosines: Vec<f32>,
}

impl Scene {
    pub(super) fn new(request: &PageRequest<'_>, outline: &Outline<'_>) -> Self {
        let mut counts = TermCounts::new(request.terms);
        for idx in 0..request.nodes.nodes.len().min(MAX_COMPARED) {
            let text = outline.text(idx).unwrap_or("");
            // A table of contents has the words of every heading and says nothing.
            counts.add(if is_contents(text) { "" } else { text });
        }
        let (nodes, query) = counts.into_vectors(request.query);
        let text_cosines = query.cosines(&nodes);
        // Among paths, the title is what all have in common, and weighs little for it.
        let mut counts = TermCounts::new(request.terms);
        for section_idx in 0..request.nodes.sections.len().min(MAX_COMPARED) {
            counts.add(&outline.heading_path(section_idx).join("\n"));
        }
        let (paths, query) = counts.into_vectors(request.query);
        Self { nodes, text_cosines, heading_cosines: query.cosines(&paths) }
    }
}

/// How much the nodes of a body repeat those that are selected.
pub(super) struct Repeats {
    /// By node, in `[0, 1]`: the largest squared cosine with a selected one. Nodes on the topic of
    /// the query share its words, which alone is no repetition; the square is small for them.
    pub(super) of_nodes: Vec<f32>,
    n_selected: usize,
}

impl Repeats {
    /// Returns what nodes repeat while none is selected.
    pub(super) fn new(n_nodes: usize) -> Self {
        Self { of_nodes: vec![0.0; n_nodes], n_selected: 0 }
    }

    /// Counts a node as selected.
    pub(super) fn add(&mut self, scene: &Scene, node_idx: usize) {
        self.n_selected += 1;
        let Some(selected) = scene.nodes.get(node_idx).filter(|_| self.n_selected <= MAX_REPEATED)
        else {
            return;
        };
        for (repeats, cosine) in self.of_nodes.iter_mut().zip(selected.cosines(&scene.nodes)) {
            *repeats = repeats.max(cosine * cosine);
        }
    }
}

/// Tells whether at least half of the lines are links into the same document.
pub(super) fn is_contents(text: &str) -> bool {
    let n_links = text.matches("](#").count();
    n_links >= 2 && 2 * n_links >= text.lines().count()
}
