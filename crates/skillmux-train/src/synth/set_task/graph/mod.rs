//! [`SkillGraph`]: which skills of an index work together, and in which order (`SkillComposer` appendix B.1).

mod node;
mod pairs;

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use skillmux::{
    index::{Index, SkillIdx},
    skill::SkillId,
};

use self::{
    node::{Node, read_nodes},
    pairs::{in_one_folder, in_one_task, naming_each_other, near_by_words},
};
use crate::{error::Result, gold::idx_of_ids, synth::sample::MAX_SIMILARITY};

/// Why two skills are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EdgeKind {
    /// The second takes what the first makes.
    Dependency,
    /// Both are used in one piece of work.
    Workflow,
}

impl EdgeKind {
    pub(super) const ALL: [Self; 2] = [Self::Dependency, Self::Workflow];
}

/// Where it is known from that two skills are used together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ground {
    /// A task of the user needs both.
    Task,
    /// One of them names the other.
    Mention,
    /// Both lie in one folder of a few.
    Folder,
    /// Their names and descriptions share rare words.
    Words,
}

/// Two skills that work together, by their places among the nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    /// What comes first, where an order is known.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: EdgeKind,
    pub(super) ground: Ground,
    /// What is passed on, for a dependency.
    pub(super) thing: Option<&'static str>,
}

impl Edge {
    /// Returns whether it says which of the two comes first.
    pub(super) fn is_ordered(&self) -> bool {
        self.kind == EdgeKind::Dependency || self.ground == Ground::Task
    }

    /// Returns the other end.
    pub(super) fn other(&self, node: usize) -> usize {
        if self.from == node { self.to } else { self.from }
    }
}

/// Size of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct GraphSize {
    /// Skills that say enough, with edges or without.
    pub n_skills: usize,
    /// Pairs of which one takes what the other makes.
    pub n_dependency: usize,
    /// Other pairs that are used together.
    pub n_workflow: usize,
    /// Edges by where they are known from: `task`, `mention`, `folder` and `words`.
    pub n_by_ground: BTreeMap<&'static str, usize>,
}

/// Skills, and which of them work together.
pub(super) struct SkillGraph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// Places of the edges of each node, in their order.
    of_node: Vec<Vec<usize>>,
    /// Skills that say too little.
    pub(super) n_thin: usize,
}

impl SkillGraph {
    /// Reads the skills of an index, or those of them that a function keeps, and joins them.
    ///
    /// A pair is a dependency if it is near (below), and one makes something that the other takes,
    /// and not the other way round as well: then the order would not follow. Pairs are near that a
    /// task, a body or a folder joins, and those whose names and descriptions share rare words. The
    /// paper joins all pairs whose types overlap, in a library of 196 skills; with the few words
    /// for things that we read, that would join nearly all of a large one. Near pairs without a
    /// dependency are workflow edges, but for those that words alone make near.
    ///
    /// No edge joins skills of one name, near-duplicates, or a skill that is held out from the
    /// ranker with one that is not.
    pub(super) fn of(
        index: &Index,
        tasks: &[Vec<SkillId>],
        keeps: &(dyn Fn(SkillIdx) -> bool + Sync),
    ) -> Result<Self> {
        let (nodes, n_thin) = read_nodes(index, keeps)?;
        let of_tasks = if tasks.is_empty() {
            Vec::new()
        } else {
            let idx_of = idx_of_ids(index)?;
            let place_of: FxHashMap<SkillIdx, usize> =
                nodes.iter().enumerate().map(|(at, node)| (node.idx, at)).collect();
            in_one_task(tasks, |id| idx_of.get(id).and_then(|idx| place_of.get(idx)).copied())
        };
        let mut edges: FxHashMap<(usize, usize), Edge> = FxHashMap::default();
        for (ground, pairs) in [
            (Ground::Task, of_tasks),
            (Ground::Mention, naming_each_other(&nodes)),
            (Ground::Folder, in_one_folder(&nodes)),
            (Ground::Words, near_by_words(&nodes)),
        ] {
            for (first, second) in pairs {
                let key = (first.min(second), first.max(second));
                if let Some(edge) = edge(&nodes, ground, first, second) {
                    edges.entry(key).or_insert(edge);
                }
            }
        }
        let mut edges: Vec<Edge> = edges.into_values().collect();
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
        let differs = |edge: Edge| -> Result<Option<Edge>> {
            let similarity = index.similarity(nodes[edge.from].idx, nodes[edge.to].idx)?;
            Ok((similarity <= MAX_SIMILARITY).then_some(edge))
        };
        let edges = edges.into_par_iter().map(differs).collect::<Result<Vec<_>>>()?;
        Ok(Self::with_edges(nodes, edges.into_iter().flatten().collect(), n_thin))
    }

    fn with_edges(nodes: Vec<Node>, edges: Vec<Edge>, n_thin: usize) -> Self {
        let mut of_node = vec![Vec::new(); nodes.len()];
        for (at, edge) in edges.iter().enumerate() {
            of_node[edge.from].push(at);
            of_node[edge.to].push(at);
        }
        Self { nodes, edges, of_node, n_thin }
    }

    /// Returns the places of the edges of a node.
    pub(super) fn edges_of(&self, node: usize) -> &[usize] {
        &self.of_node[node]
    }

    /// Returns the number of skills and of edges.
    pub(super) fn size(&self) -> GraphSize {
        let n = |kind| self.edges.iter().filter(|edge| edge.kind == kind).count();
        let mut n_by_ground = BTreeMap::new();
        for edge in &self.edges {
            let ground = match edge.ground {
                Ground::Task => "task",
                Ground::Mention => "mention",
                Ground::Folder => "folder",
                Ground::Words => "words",
            };
            *n_by_ground.entry(ground).or_insert(0) += 1;
        }
        GraphSize {
            n_skills: self.nodes.len(),
            n_dependency: n(EdgeKind::Dependency),
            n_workflow: n(EdgeKind::Workflow),
            n_by_ground,
        }
    }
}

/// Returns the edge of a pair, if it is one; the order is that of the data, else that of the pair.
fn edge(nodes: &[Node], ground: Ground, first: usize, second: usize) -> Option<Edge> {
    let (a, b) = (&nodes[first], &nodes[second]);
    if first == second || a.name_key == b.name_key || a.is_held_out != b.is_held_out {
        return None;
    }
    let dependency =
        |from, to, thing| Edge { from, to, kind: EdgeKind::Dependency, ground, thing: Some(thing) };
    match (a.passes_to(b), b.passes_to(a)) {
        (Some(thing), None) => Some(dependency(first, second, thing)),
        // What a task says of the order is better known than what the words of the skills say.
        (None, Some(thing)) if ground != Ground::Task => Some(dependency(second, first, thing)),
        _ if ground == Ground::Words => None,
        _ => Some(Edge { from: first, to: second, kind: EdgeKind::Workflow, ground, thing: None }),
    }
}

#[cfg(test)]
mod tests {
    use skillmux::skill::Skill;

    use super::super::super::fixture::{index_of, name_on_side, skill, words};
    use super::*;

    fn graph(skills: &[Skill], tasks: &[&[&str]]) -> SkillGraph {
        let (_folder, index) = index_of(skills);
        let tasks: Vec<Vec<SkillId>> =
            tasks.iter().map(|ids| ids.iter().map(|id| SkillId::new(*id)).collect()).collect();
        SkillGraph::of(&index, &tasks, &|_| true).unwrap()
    }

    /// Returns the edges by ids.
    fn edges(graph: &SkillGraph) -> Vec<(&str, &str, EdgeKind, Ground)> {
        let id = |at: usize| graph.nodes[at].id.as_str();
        graph.edges.iter().map(|e| (id(e.from), id(e.to), e.kind, e.ground)).collect()
    }

    fn body(n: usize) -> String {
        words(&format!("body{n}"), 40)
    }

    /// Returns an id in a folder whose name is not held out.
    fn id(folder: &str, begin: &str) -> String {
        format!("{folder}/{}", name_on_side(begin, false))
    }

    #[test]
    fn a_dependency_goes_from_what_makes_to_what_takes() {
        let (chart, ledger) = (id("x/one", "chart-painter"), id("y/two", "ledger-maker"));
        let skills = [
            skill(&chart, "Reads a csv of quarterly revenue", &body(1)),
            skill(&ledger, "Creates a spreadsheet of quarterly revenue", &body(2)),
        ];
        let graph = graph(&skills, &[]);
        let expected = (ledger.as_str(), chart.as_str(), EdgeKind::Dependency, Ground::Words);
        assert_eq!(edges(&graph), [expected]);
        assert_eq!(graph.edges[0].thing, Some("table"));
        assert!(graph.edges[0].is_ordered());
    }

    #[test]
    fn what_goes_both_ways_is_no_dependency() {
        let both = "Reads a csv and creates an xlsx of quarterly revenue";
        let (alpha, beta) = (id("x/one", "alpha-tool"), id("y/two", "beta-tool"));
        let skills = [skill(&alpha, both, &body(1)), skill(&beta, both, &body(2))];
        assert_eq!(edges(&graph(&skills, &[])), []);
        let of_task = graph(&skills, &[&[&beta, &alpha]]);
        let expected = (beta.as_str(), alpha.as_str(), EdgeKind::Workflow, Ground::Task);
        assert_eq!(edges(&of_task), [expected]);
    }

    #[test]
    fn folders_mentions_and_tasks_join_skills_that_share_no_words() {
        let (one, two) = (id("x/kit", "one-thing"), id("x/kit", "two-thing"));
        let (three, four) = (id("y", "three-thing"), id("z/a", "four-thing"));
        let five = id("w", "five-thing");
        let four_as_said = four["z/a/".len()..].replace('-', "_");
        let skills = [
            skill(&one, "Alpha", &body(1)),
            skill(&two, "Beta", &body(2)),
            skill(&three, "Gamma", &format!("{} then use {four_as_said}.", body(3))),
            skill(&four, "Delta", &body(4)),
            skill(&five, "Epsilon", &body(5)),
        ];
        let graph = graph(&skills, &[&[&five, &four, "not/there"]]);
        let mut found = edges(&graph);
        found.sort_unstable_by_key(|(_, _, _, ground)| *ground);
        let workflow = |from, to, ground| (from, to, EdgeKind::Workflow, ground);
        assert_eq!(
            found,
            [
                workflow(five.as_str(), four.as_str(), Ground::Task),
                workflow(&three, &four, Ground::Mention),
                workflow(&one, &two, Ground::Folder),
            ]
        );
        let size = graph.size();
        assert_eq!((size.n_skills, size.n_dependency, size.n_workflow), (5, 0, 3));
        assert_eq!(size.n_by_ground["mention"], 1);
    }

    #[test]
    fn copies_and_skills_on_two_sides_of_the_split_are_not_joined() {
        let names: Vec<String> =
            (0..6).map(|n| name_on_side(&format!("tool-{n}"), n >= 4)).collect();
        let named = |n: usize| skill(&format!("x/kit/{}", names[n]), "A tool", &body(n));
        let mut skills: Vec<Skill> = (0..6).map(named).collect();
        // The one has the body of another, and the other its name.
        skills.push(skill(&id("x/kit", "copied"), "A tool", &body(0)));
        let mut renamed = skill(&id("x/kit", "renamed"), "A tool", &body(99));
        renamed.name = names[1].replace('-', " ").to_uppercase();
        skills.push(renamed);
        let graph = graph(&skills, &[]);
        let n_of_copy = |n: usize| {
            let place = graph.nodes.iter().position(|node| node.id == skills[n].id).unwrap();
            graph.edges_of(place).len()
        };
        // Four of one side and two copies, each beside all of its side but what it is a copy of.
        assert_eq!([2, 3].map(n_of_copy), [5, 5]);
        assert_eq!([0, 1, 6, 7].map(n_of_copy), [4; 4]);
        assert_eq!([4, 5].map(n_of_copy), [1, 1]);
        let sides =
            |edge: &Edge| (graph.nodes[edge.from].is_held_out, graph.nodes[edge.to].is_held_out);
        assert!(graph.edges.iter().map(sides).all(|(a, b)| a == b));
    }
}
