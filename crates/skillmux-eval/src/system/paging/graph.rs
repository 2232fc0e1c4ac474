//! Pagers that walk the graph of a skill's nodes, the graph baselines of `SkillPager` §4.3.

use std::collections::BTreeSet;

use skillmux::{
    page::{Page, PageRequest, Pager},
    skill::{Node, NodeKind},
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

/// Sections whose titles are looked for in other nodes.
const MAX_TITLES: usize = 256;

/// Part of the headings above a node that is compared with the query.
const MAX_HEADING_BYTES: usize = 1024;

/// Shortest title that counts as named where it occurs, in bytes.
const MIN_TITLE_BYTES: usize = 6;

/// Nodes in a row that do not fit, after which a pager gives up.
const MAX_MISFITS: usize = 32;

/// Starts at the node that is most like the query, and goes on along the edges of the graph to the
/// neighbour that gains most, until none gains enough: topology-guided local traversal.
///
/// The gain of a node is its MMR score (Eq. 2), so that nothing but the topology tells this from
/// a global selection. Edges are walked in both directions. The graph has the edges of the paper
/// that need no language model: from each node to the next one (sequence), from the first node of
/// a section to that of each section in it, from a node to the section whose title it names
/// (reference), and from a precondition to the next step (condition). Of its semantic edges, above
/// a cosine of 0.85, TF-IDF vectors would have copies only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GreedyGraphPager;

/// Selects the ten nodes that are most like the query, and with each its predecessors in the graph
/// of [`GreedyGraphPager`]: global access with dependency completion.
///
/// Predecessors that do not fit the budget are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TopKDependencyPager;

/// Returns the constants as text.
pub(super) fn config() -> String {
    format!("lambda={LAMBDA} min_gain={MIN_GAIN} top_k={TOP_K} max_nodes={MAX_NODES:?}")
}

impl Pager for GreedyGraphPager {
    fn identity(&self) -> String {
        "greedy-graph".to_owned()
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let graph = Graph::new(request);
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

impl Pager for TopKDependencyPager {
    fn identity(&self) -> String {
        "topk-dep".to_owned()
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let graph = Graph::new(request);
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
    fn new(request: &PageRequest<'_>) -> Self {
        let body = &request.skill.body;
        let n_nodes = request.nodes.nodes.len().min(MAX_COMPARED);
        let nodes = &request.nodes.nodes[..n_nodes];
        let with_headings = |node: &Node| {
            let headings: Vec<&str> = sections_of(request, node)
                .map(|section| request.nodes.sections[section].title(body))
                .collect();
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
        graph.link(request, nodes);
        graph
    }

    fn link(&mut self, request: &PageRequest<'_>, nodes: &[Node]) {
        for node in 1..self.n_nodes {
            self.add_edge(node - 1, node);
        }
        let first_in = first_nodes(request, nodes);
        for (section, first) in request.nodes.sections.iter().zip(&first_in) {
            let parent = section.parent.and_then(|parent| *first_in.get(parent as usize)?);
            if let (Some(parent), Some(first)) = (parent, first) {
                self.add_edge(parent, *first);
            }
        }
        for (node, _) in (0..).zip(nodes).filter(|(_, node)| node.kind == NodeKind::Precondition) {
            let next = (node + 1..self.n_nodes).find(|next| nodes[*next].kind == NodeKind::Step);
            if let Some(step) = next {
                self.add_edge(node, step);
            }
        }
        let body = &request.skill.body;
        let lower_case: Vec<String> =
            nodes.iter().map(|node| node.text(body).unwrap_or("").to_lowercase()).collect();
        for (section, first) in request.nodes.sections.iter().zip(&first_in).take(MAX_TITLES) {
            let title = section.title(body).to_lowercase();
            let Some(first) = first.filter(|_| title.len() >= MIN_TITLE_BYTES) else { continue };
            for (node, text) in lower_case.iter().enumerate() {
                if text.contains(&title) {
                    self.add_edge(node, first);
                }
            }
        }
    }

    fn add_edge(&mut self, from: usize, to: usize) {
        if from != to {
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

/// Returns the first node of each section, those of the sections in it included.
fn first_nodes(request: &PageRequest<'_>, nodes: &[Node]) -> Vec<Option<usize>> {
    let mut first_in = vec![None; request.nodes.sections.len()];
    for (position, node) in nodes.iter().enumerate() {
        for section in sections_of(request, node) {
            // What lies above a section that has a node has one, too.
            if first_in[section].is_some() {
                break;
            }
            first_in[section] = Some(position);
        }
    }
    first_in
}

/// Returns the sections around a node, innermost first.
fn sections_of<'a>(
    request: &PageRequest<'a>,
    node: &Node,
) -> impl Iterator<Item = usize> + use<'a> {
    let sections = &request.nodes.sections;
    // A parent lies before its section, so the walk ends even in a tree that breaks the rule.
    let parent = |idx: &u32| sections.get(*idx as usize)?.parent.filter(|parent| parent < idx);
    std::iter::successors(node.section, parent)
        .map(|idx| idx as usize)
        .take_while(|idx| *idx < sections.len())
}
