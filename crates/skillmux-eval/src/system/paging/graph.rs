//! Pagers that walk the graph of a skill's nodes, the graph baselines of `SkillPager` §4.3.

use std::collections::BTreeSet;

use skillmux::{
    model::Encoder,
    page::{Edge, Page, PageRequest, Pager, semantic_edges, text_edges},
    skill::Node,
};

use super::{selection::Selection, vector::NodeVectors};

/// Weight of relevance against repetition, λ of `SkillPager` §3.2, Eq. 2.
const LAMBDA: f32 = 0.7;

/// Lowest gain for which the greedy walk goes on.
///
/// The paper gives none. With its embeddings all cosines are well above 0; with TF-IDF most are 0,
/// and the walk must not end at the first node that shares a word with the last one.
const MIN_GAIN: f32 = -0.1;

/// Nodes that are selected by cosine; the paper gives no number, but 14.8 nodes with predecessors.
const TOP_K: usize = 10;

/// Most nodes of a page, for a body of up to 100 nodes and for a larger one (`SkillPager` Eq. 4).
const MAX_NODES: [usize; 2] = [20, 60];

/// Most nodes of a body that is not large.
const LARGE_NODES: usize = 100;

/// Nodes of a body that are looked at, from its top.
const MAX_COMPARED: usize = 2048;

/// Part of the headings above a node that is compared with the query.
const MAX_HEADING_BYTES: usize = 1024;

/// Nodes in a row that do not fit, after which a pager gives up.
const MAX_MISFITS: usize = 32;

/// Starts at the node that is most like the query, and goes on along the edges of the graph to the
/// neighbour that gains most, until none gains enough: topology-guided local traversal.
///
/// The gain of a node is its MMR score (Eq. 2), so that nothing but the topology tells this from a
/// global selection. Edges are walked in both directions. The graph has the four types of the
/// paper, as [`text_edges`] and [`semantic_edges`] have them, and one more: from the first node of
/// a section to that of each section in it. Without it the walk is worse (docs/pages.md).
#[derive(Clone, Copy, Default)]
pub(crate) struct GreedyGraphPager<'a> {
    encoder: Option<&'a dyn Encoder>,
}

/// Selects the ten nodes that are most like the query, and with each its predecessors in the graph
/// of [`GreedyGraphPager`]: global access with dependency completion.
///
/// Predecessors that do not fit the budget are left out.
#[derive(Clone, Copy, Default)]
pub(crate) struct TopKDependencyPager<'a> {
    encoder: Option<&'a dyn Encoder>,
}

/// Returns the constants as text, and the encoder.
pub(super) fn config(encoder: Option<&dyn Encoder>) -> String {
    let encoder = encoder.map_or_else(|| "none".to_owned(), |of| of.identity().to_string());
    format!(
        "lambda={LAMBDA} min_gain={MIN_GAIN} top_k={TOP_K} max_nodes={MAX_NODES:?} edges=text,semantic,sections \
         encoder={encoder}"
    )
}

impl<'a> GreedyGraphPager<'a> {
    /// Returns a pager with the semantic edges of this encoder; without any where there is none, or
    /// it fails.
    pub(crate) fn new(encoder: Option<&'a dyn Encoder>) -> Self {
        Self { encoder }
    }
}

impl<'a> TopKDependencyPager<'a> {
    /// Returns a pager with the semantic edges of this encoder; without any where there is none, or
    /// it fails.
    pub(crate) fn new(encoder: Option<&'a dyn Encoder>) -> Self {
        Self { encoder }
    }
}

impl Pager for GreedyGraphPager<'_> {
    fn identity(&self) -> String {
        "greedy-graph".to_owned()
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let graph = Graph::new(request, self.encoder);
        let mut selection = Selection::new(request);
        let Some(entry) = graph.by_cosine().into_iter().next() else { return selection.page };
        let mut frontier = BTreeSet::from([entry]);
        let mut seen = frontier.clone();
        let mut repetition = vec![0.0_f32; graph.n_nodes];
        let mut n_misfits = 0;
        while selection.selected.len() < graph.max_nodes() && n_misfits < MAX_MISFITS {
            let gain =
                |node: usize| LAMBDA * graph.relevance[node] - (1.0 - LAMBDA) * repetition[node];
            // Of equal gains the first in the source stays.
            let scored = frontier.iter().map(|node| (*node, gain(*node)));
            let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
            let Some((best, _)) = best.filter(|(_, gain)| *gain >= MIN_GAIN) else { break };
            frontier.remove(&best);
            if !selection.select(&[best]) {
                n_misfits += 1;
                continue;
            }
            for (node, repetition) in repetition.iter_mut().enumerate() {
                let cosine = graph.vectors.between(best, node);
                *repetition = repetition.max(cosine * cosine);
            }
            let neighbours = graph.successors[best].iter().chain(&graph.predecessors[best]);
            frontier.extend(neighbours.filter(|node| seen.insert(**node)));
        }
        selection.page
    }
}

impl Pager for TopKDependencyPager<'_> {
    fn identity(&self) -> String {
        "topk-dep".to_owned()
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let graph = Graph::new(request, self.encoder);
        let mut selection = Selection::new(request);
        let (mut n_top, mut n_misfits) = (0, 0);
        for node in graph.by_cosine() {
            if n_top == TOP_K || n_misfits == MAX_MISFITS {
                break;
            }
            if !selection.select(&[node]) {
                n_misfits += 1;
                continue;
            }
            n_top += 1;
            for predecessor in &graph.predecessors[node] {
                selection.select(&[*predecessor]);
            }
        }
        selection.page
    }
}

/// The nodes of a body, how they hang together, and how they compare to the query.
struct Graph {
    n_nodes: usize,
    successors: Vec<BTreeSet<usize>>,
    predecessors: Vec<BTreeSet<usize>>,
    /// Texts of the nodes.
    vectors: NodeVectors,
    /// Cosine of the query with a node and the headings above it, as a share of the largest.
    relevance: Vec<f32>,
}

impl Graph {
    fn new(request: &PageRequest<'_>, encoder: Option<&dyn Encoder>) -> Self {
        let body = &request.skill.body;
        let n_nodes = request.nodes.nodes.len().min(MAX_COMPARED);
        let nodes = &request.nodes.nodes[..n_nodes];
        let with_headings = |node: &Node| {
            let tree = request.nodes;
            let headings: Vec<&str> =
                tree.sections_of(node).map(|section| tree.sections[section].title(body)).collect();
            // A heading of many nodes is no reason to read all of it each time.
            let mut text = headings.join("\n");
            text.truncate(text.floor_char_boundary(MAX_HEADING_BYTES));
            format!("{text}\n{}", node.text(body).unwrap_or(""))
        };
        let texts: Vec<String> = nodes.iter().map(with_headings).collect();
        let cosines = NodeVectors::new(&texts, request.query, request.terms).with_query();
        // Headings are no repetition, though nodes of a section share them.
        let texts: Vec<&str> = nodes.iter().map(|node| node.text(body).unwrap_or("")).collect();
        let vectors = NodeVectors::new(&texts, "", request.terms);
        let largest = cosines.iter().copied().fold(f32::EPSILON, f32::max);
        let mut graph = Self {
            n_nodes,
            successors: vec![BTreeSet::new(); n_nodes],
            predecessors: vec![BTreeSet::new(); n_nodes],
            vectors,
            relevance: cosines.into_iter().map(|cosine| cosine / largest).collect(),
        };
        graph.link(request, encoder);
        graph
    }

    fn link(&mut self, request: &PageRequest<'_>, encoder: Option<&dyn Encoder>) {
        let (body, tree) = (&request.skill.body, request.nodes);
        // A pager gives no errors: an encoder that fails counts as none, as for the default pager.
        let semantic = encoder.and_then(|encoder| semantic_edges(body, tree, encoder).ok());
        let semantic = semantic.unwrap_or_default();
        for Edge { from, to, .. } in text_edges(body, tree).into_iter().chain(semantic) {
            self.add_edge(from as usize, to as usize);
        }
        let first_in = tree.first_nodes(self.n_nodes);
        for (section, first) in tree.sections.iter().zip(&first_in) {
            let parent = section.parent.and_then(|parent| *first_in.get(parent as usize)?);
            if let (Some(parent), Some(first)) = (parent, first) {
                self.add_edge(parent, *first);
            }
        }
    }

    fn add_edge(&mut self, from: usize, to: usize) {
        if from != to && from.max(to) < self.n_nodes {
            self.successors[from].insert(to);
            self.predecessors[to].insert(from);
        }
    }

    /// Returns the nodes by falling cosine with the query, and then in the order of the source.
    fn by_cosine(&self) -> Vec<usize> {
        let mut nodes: Vec<usize> = (0..self.n_nodes).collect();
        nodes.sort_by(|a, b| self.relevance[*b].total_cmp(&self.relevance[*a]));
        nodes
    }

    fn max_nodes(&self) -> usize {
        MAX_NODES[usize::from(self.n_nodes > LARGE_NODES)]
    }
}
