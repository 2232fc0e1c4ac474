//! [`Scene`]: how the parts of a body compare to a query by their words.

use super::{
    PageRequest,
    outline::Outline,
    vector::{TermCounts, TermVector},
};

/// Most nodes, and most sections, of a body that are compared with the query, from its top; more
/// than any body that people write.
pub(super) const MAX_COMPARED: usize = 4096;

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

/// Tells whether at least half of the lines are links into the same document.
fn is_contents(text: &str) -> bool {
    let n_links = text.matches("](#").count();
    n_links >= 2 && 2 * n_links >= text.lines().count()
}
