//! [`Draws`]: which sets of skills tasks are written for.

use std::collections::HashSet;

use skillmux::index::Index;

use super::graph::{Edge, EdgeKind, SkillGraph};
use crate::{
    error::Result,
    synth::{
        sample::{MAX_SIMILARITY, chance, chosen, key, unit},
        text::Language,
    },
};

/// Shares of the sets of two, three, four and five skills among those of several. The paper has two
/// to five and does not say how many of each; these are about those of our `set-tasks.jsonl`, with
/// more long ones, which the paper found to be missing.
const SIZES: [(usize, f64); 4] = [(2, 0.45), (3, 0.35), (4, 0.13), (5, 0.07)];

/// Skills that a set of a size is begun with until one can be grown.
const MAX_STARTS: u64 = 30;

/// Tasks of one skill, as for queries.
const MAX_ROUNDS: u64 = 20;

/// Sets in a row that were drawn before, after which another size is drawn.
const MAX_REPEATS: usize = 30;

/// Sets in a row that cannot be drawn, after which there are no more.
const MAX_FAILURES: usize = 50;

/// How sets are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawOptions {
    pub(super) seed: u64,
    /// Share of the sets of one skill, in `[0, 1]`.
    pub(super) share_single: f64,
    /// Share of the dependencies among the edges that sets are grown along, in `[0, 1]`.
    pub(super) share_dependency: f64,
    /// Share of the Chinese tasks, in `[0, 1]`.
    pub(super) share_zh: f64,
}

/// Skills that one task needs, by their places in the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DrawnSet {
    /// The same in every run: from the language, the skills and the round.
    pub(super) key: String,
    pub(super) language: Language,
    /// Each once, those that must come first before the others.
    pub(super) nodes: Vec<usize>,
    /// Places of the edges that it was grown along.
    pub(super) grown: Vec<usize>,
    /// Pairs of skills one of which takes what the other makes, `[first, second]`, that the order
    /// keeps.
    pub(super) constraints: Vec<(usize, usize)>,
    /// How often its first skill was begun with before; decides what else is drawn.
    pub(super) round: u64,
}

/// Draws sets of skills from a graph, as the seed decides.
pub(super) struct Draws<'g> {
    graph: &'g SkillGraph,
    index: &'g Index,
    options: DrawOptions,
    /// Skills to begin with for each language: any, those with a dependency, those with a workflow
    /// edge.
    starts: [[Starts; 3]; 2],
    /// For each language, whether a task for a skill can be written in it.
    is_usable: [Vec<bool>; 2],
    number: u64,
    drawn: HashSet<Vec<usize>>,
    /// Edges that sets were grown along, by kind.
    pub(super) n_grown: [usize; 2],
    /// Sets that were drawn before.
    pub(super) n_repeated: usize,
}

/// Skills in an order that the seed decides, over and over.
struct Starts {
    nodes: Vec<usize>,
    n_given: u64,
}

impl Starts {
    fn next(&mut self) -> Option<(usize, u64)> {
        let n = self.nodes.len() as u64;
        let (round, at) = (self.n_given.checked_div(n)?, self.n_given.checked_rem(n)?);
        self.n_given += 1;
        let at = usize::try_from(at).expect("it is below a count");
        Some((self.nodes[at], round))
    }
}

fn place_of(language: Language) -> usize {
    match language {
        Language::En => 0,
        Language::Zh => 1,
    }
}

impl<'g> Draws<'g> {
    /// Returns draws from the skills for which tasks can be written in English and in Chinese.
    pub(super) fn new(
        graph: &'g SkillGraph,
        index: &'g Index,
        is_usable: [Vec<bool>; 2],
        options: DrawOptions,
    ) -> Self {
        let mut order: Vec<usize> = (0..graph.nodes.len()).collect();
        order.sort_by_cached_key(|at| {
            chance(options.seed, &["set order", graph.nodes[*at].id.as_str()])
        });
        let starts = |usable: &Vec<bool>| {
            let with = |kind: Option<EdgeKind>| {
                let has_kind = |at: usize| {
                    kind.is_none_or(|kind| {
                        graph
                            .edges_of(at)
                            .iter()
                            .map(|edge| &graph.edges[*edge])
                            .any(|edge| edge.kind == kind && usable[edge.other(at)])
                    })
                };
                let nodes = order.iter().copied().filter(|at| usable[*at] && has_kind(*at));
                Starts { nodes: nodes.collect(), n_given: 0 }
            };
            let [dependency, workflow] = EdgeKind::ALL;
            [with(None), with(Some(dependency)), with(Some(workflow))]
        };
        Self {
            starts: [starts(&is_usable[0]), starts(&is_usable[1])],
            graph,
            index,
            options,
            is_usable,
            number: 0,
            drawn: HashSet::new(),
            n_grown: [0; 2],
            n_repeated: 0,
        }
    }

    /// Returns the next set, none twice but single skills; `None` if there are no more.
    pub(super) fn next(&mut self) -> Result<Option<DrawnSet>> {
        for _ in 0..MAX_FAILURES {
            let number = self.number.to_string();
            self.number += 1;
            let is_drawn =
                |what: &str, share: f64| unit(self.options.seed, &[what, &number]) < share;
            let is_zh = is_drawn("set language", self.options.share_zh);
            let language = if is_zh { Language::Zh } else { Language::En };
            let drawn = if is_drawn("set single", self.options.share_single) {
                let start = self.starts[place_of(language)][0].next();
                let start = start.filter(|(_, round)| *round < MAX_ROUNDS);
                start.map(|(node, round)| self.set(language, vec![node], Vec::new(), round))
            } else {
                self.new_set(language, &number)?
            };
            if let Some(set) = drawn {
                for edge in &set.grown {
                    self.n_grown[kind_place(self.graph.edges[*edge].kind)] += 1;
                }
                return Ok(Some(set));
            }
        }
        Ok(None)
    }

    /// Draws sets of several skills until one was not drawn before.
    fn new_set(&mut self, language: Language, number: &str) -> Result<Option<DrawnSet>> {
        for _ in 0..MAX_REPEATS {
            let Some(set) = self.several(language, number)? else { return Ok(None) };
            let mut members = set.nodes.clone();
            members.sort_unstable();
            if self.drawn.insert(members) {
                return Ok(Some(set));
            }
            self.n_repeated += 1;
        }
        Ok(None)
    }

    /// Draws a size and a kind for each edge, then begins with one skill after the other until such
    /// a set can be grown: so the shares of the kinds are those that were asked for, whatever the
    /// graph has more of. Where none can, a smaller one is tried.
    fn several(&mut self, language: Language, number: &str) -> Result<Option<DrawnSet>> {
        let seed = self.options.seed;
        let mut left = unit(seed, &["set size", number]);
        let size = SIZES.into_iter().find(|(_, share)| {
            left -= share;
            left < 0.0
        });
        let n_edges = size.map_or(1, |(n_skills, _)| n_skills - 1);
        let kind = |at: usize| {
            let drawn = unit(seed, &["set edge", number, &at.to_string()]);
            EdgeKind::ALL[usize::from(drawn >= self.options.share_dependency)]
        };
        let kinds: Vec<EdgeKind> = (0..n_edges).map(kind).collect();
        for n_edges in (1..=kinds.len()).rev() {
            for attempt in 0..MAX_STARTS {
                let starts = &mut self.starts[place_of(language)][1 + kind_place(kinds[0])];
                let Some((start, round)) = starts.next() else { return Ok(None) };
                let draws = [number, &attempt.to_string()];
                if let Some((nodes, grown)) =
                    self.grow(start, &kinds[..n_edges], language, draws)?
                {
                    return Ok(Some(self.set(language, nodes, grown, round)));
                }
            }
        }
        Ok(None)
    }

    /// Returns the skills and edges of a set that grows from a skill along an edge of each kind, if
    /// it can.
    fn grow(
        &self,
        start: usize,
        kinds: &[EdgeKind],
        language: Language,
        [number, attempt]: [&str; 2],
    ) -> Result<Option<(Vec<usize>, Vec<usize>)>> {
        let (mut nodes, mut grown) = (vec![start], Vec::new());
        for (at, kind) in kinds.iter().enumerate() {
            let mut next: Vec<(usize, usize)> = Vec::new();
            for node in &nodes {
                for place in self.graph.edges_of(*node) {
                    let edge = &self.graph.edges[*place];
                    let other = edge.other(*node);
                    if edge.kind == *kind
                        && self.is_usable[place_of(language)][other]
                        && self.fits(&nodes, other)?
                    {
                        next.push((*place, other));
                    }
                }
            }
            if next.is_empty() {
                return Ok(None);
            }
            let parts = ["set next", number, attempt, &at.to_string()];
            let (edge, other) = chosen(&next, self.options.seed, &parts);
            nodes.push(other);
            grown.push(edge);
        }
        Ok(Some((nodes, grown)))
    }

    /// Returns whether a skill is another one than those of a set.
    fn fits(&self, nodes: &[usize], other: usize) -> Result<bool> {
        let new = &self.graph.nodes[other];
        for node in nodes {
            let present = &self.graph.nodes[*node];
            let repeats = *node == other
                || present.name_key == new.name_key
                || self.index.similarity(present.idx, new.idx)? > MAX_SIMILARITY;
            if repeats {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn set(
        &self,
        language: Language,
        nodes: Vec<usize>,
        grown: Vec<usize>,
        round: u64,
    ) -> DrawnSet {
        let (nodes, constraints) = ordered(self.graph, nodes, &grown);
        let mut ids: Vec<&str> =
            nodes.iter().map(|node| self.graph.nodes[*node].id.as_str()).collect();
        ids.sort_unstable();
        let round_text = round.to_string();
        // A set comes once, a single skill once a round.
        let last = if ids.len() > 1 { "" } else { round_text.as_str() };
        ids.extend([language.as_str(), last]);
        DrawnSet { key: key(&ids), language, nodes, grown, constraints, round }
    }
}

fn kind_place(kind: EdgeKind) -> usize {
    match kind {
        EdgeKind::Dependency => 0,
        EdgeKind::Workflow => 1,
    }
}

/// Returns skills in an order that keeps the ordered edges between them, and the dependencies that
/// it keeps. Edges that the set was grown along are kept before others; of others that would close
/// a circle, the later ones are not.
fn ordered(
    graph: &SkillGraph,
    nodes: Vec<usize>,
    grown: &[usize],
) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut between: Vec<usize> = grown.to_vec();
    for node in &nodes {
        let of_node = graph.edges_of(*node).iter();
        between.extend(of_node.filter(|place| nodes.contains(&graph.edges[**place].other(*node))));
    }
    let mut kept: Vec<&Edge> = Vec::new();
    for edge in between.into_iter().map(|place| &graph.edges[place]) {
        let is_new = edge.is_ordered() && !kept.contains(&edge);
        if is_new && !leads(&kept, edge.to, edge.from) {
            kept.push(edge);
        }
    }
    let mut left = nodes;
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free =
            |node: &usize| !kept.iter().any(|edge| edge.to == *node && left.contains(&edge.from));
        let next = left.iter().position(is_free).expect("kept edges close no circle");
        order.push(left.remove(next));
    }
    let dependencies = kept.into_iter().filter(|edge| edge.kind == EdgeKind::Dependency);
    (order, dependencies.map(|edge| (edge.from, edge.to)).collect())
}

/// Returns whether edges lead from a node to another one.
fn leads(edges: &[&Edge], from: usize, to: usize) -> bool {
    let mut reached = vec![from];
    let mut at = 0;
    while let Some(node) = reached.get(at).copied() {
        if node == to {
            return true;
        }
        for edge in edges.iter().filter(|edge| edge.from == node) {
            if !reached.contains(&edge.to) {
                reached.push(edge.to);
            }
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use skillmux::skill::{Skill, SkillId};

    use super::super::super::fixture::{index_of, name_on_side, skill, words};
    use super::*;

    /// Skills of folders of four, of which the first makes tables that the second takes.
    fn index(n_folders: usize) -> (tempfile::TempDir, Index) {
        let mut skills: Vec<Skill> = Vec::new();
        for folder in 0..n_folders {
            for at in 0..4 {
                let description = match at {
                    0 => "Creates a spreadsheet",
                    1 => "Reads a csv",
                    _ => "Helps with it",
                };
                let name = name_on_side(&format!("tool-{folder}-{at}"), folder % 5 == 0);
                let id = format!("kit{folder}/{name}");
                skills.push(skill(&id, description, &words(&format!("w{folder}at{at}n"), 40)));
            }
        }
        index_of(&skills)
    }

    const OPTIONS: DrawOptions =
        DrawOptions { seed: 1, share_single: 0.3, share_dependency: 0.65, share_zh: 0.2 };

    fn draw(
        graph: &SkillGraph,
        index: &Index,
        options: DrawOptions,
        n: usize,
    ) -> (Vec<DrawnSet>, [usize; 2]) {
        let all = vec![true; graph.nodes.len()];
        let mut draws = Draws::new(graph, index, [all.clone(), all], options);
        let sets: Vec<DrawnSet> = std::iter::from_fn(|| draws.next().unwrap()).take(n).collect();
        (sets, draws.n_grown)
    }

    #[test]
    fn shares_of_kinds_sizes_and_languages_are_those_asked_for() {
        let (_folder, index) = index(250);
        let graph = SkillGraph::of(&index, &[], &|_| true).unwrap();
        let size = graph.size();
        // The graph has far more workflow edges than are drawn.
        assert!(size.n_workflow > 2 * size.n_dependency, "{size:?}");
        for seed in 1..=2 {
            let options = DrawOptions { seed, ..OPTIONS };
            let (sets, n_grown) = draw(&graph, &index, options, 500);
            let share = |n: usize, of: usize| n as f64 / of as f64;
            let n = |is: &dyn Fn(&DrawnSet) -> bool| sets.iter().filter(|set| is(set)).count();
            let n_single = n(&|set| set.nodes.len() == 1);
            assert!((share(n_single, sets.len()) - 0.3).abs() < 0.06, "{n_single}");
            let n_zh = n(&|set| set.language == Language::Zh);
            assert!((share(n_zh, sets.len()) - 0.2).abs() < 0.06, "{n_zh}");
            let of_dependencies = share(n_grown[0], n_grown[0] + n_grown[1]);
            assert!((of_dependencies - 0.65).abs() < 0.12, "{of_dependencies}");
            assert!(n(&|set| set.nodes.len() == 2) > n(&|set| set.nodes.len() == 4));
            assert!(sets.iter().all(|set| (1..=5).contains(&set.nodes.len())));
        }
        for (share_dependency, none) in [(1.0, 1), (0.0, 0)] {
            let options = DrawOptions { share_dependency, ..OPTIONS };
            assert_eq!(draw(&graph, &index, options, 100).1[none], 0);
        }
    }

    #[test]
    fn no_set_comes_twice_and_each_keeps_its_order() {
        let (_folder, index) = index(12);
        let graph = SkillGraph::of(&index, &[], &|_| true).unwrap();
        let options = DrawOptions { share_single: 0.0, share_zh: 0.0, ..OPTIONS };
        // More than there are: it ends.
        let (sets, _) = draw(&graph, &index, options, 1_000);
        let mut seen = HashSet::new();
        for set in &sets {
            let mut members = set.nodes.clone();
            members.sort_unstable();
            members.dedup();
            assert_eq!(members.len(), set.nodes.len());
            assert!(seen.insert(members));
            let place = |node| set.nodes.iter().position(|other| *other == node).unwrap();
            for (first, second) in &set.constraints {
                assert!(place(*first) < place(*second));
            }
            assert_eq!(set.grown.len() + 1, set.nodes.len());
            let has_dependency =
                set.grown.iter().any(|edge| graph.edges[*edge].kind == EdgeKind::Dependency);
            assert!(!has_dependency || !set.constraints.is_empty());
        }
        let keys: HashSet<&str> = sets.iter().map(|set| set.key.as_str()).collect();
        assert_eq!(keys.len(), sets.len());
        assert!(sets.len() > 12);
    }

    #[test]
    fn the_seed_decides_and_only_usable_skills_are_drawn() {
        let (_folder, index) = index(20);
        let graph = SkillGraph::of(&index, &[], &|_| true).unwrap();
        let (first, _) = draw(&graph, &index, OPTIONS, 30);
        assert_eq!(first, draw(&graph, &index, OPTIONS, 30).0);
        assert_ne!(first, draw(&graph, &index, DrawOptions { seed: 2, ..OPTIONS }, 30).0);

        let usable: Vec<bool> = (0..graph.nodes.len()).map(|at| at % 4 < 2).collect();
        let none = vec![false; graph.nodes.len()];
        let mut draws = Draws::new(&graph, &index, [usable.clone(), none], OPTIONS);
        let sets: Vec<DrawnSet> = std::iter::from_fn(|| draws.next().unwrap()).take(30).collect();
        assert!(!sets.is_empty());
        for set in sets {
            assert!(set.nodes.iter().all(|node| usable[*node]) && set.language == Language::En);
        }
    }

    #[test]
    fn a_circle_of_edges_is_cut_where_the_set_was_not_grown() {
        let id_of = |begin: &str| format!("x/{}", name_on_side(begin, false));
        let ids = ["a-one", "b-two", "c-three"].map(id_of);
        let (_folder, index) = index_of(&[
            skill(&ids[0], "Creates a spreadsheet from images", &words("a", 40)),
            skill(&ids[1], "Creates slides from a csv", &words("b", 40)),
            skill(&ids[2], "Creates images from a deck", &words("c", 40)),
        ]);
        let graph = SkillGraph::of(&index, &[], &|_| true).unwrap();
        let id = |at: usize| graph.nodes[at].id.clone();
        assert_eq!(graph.edges.iter().filter(|edge| edge.is_ordered()).count(), 3);
        let grown: Vec<usize> = graph
            .edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| edge.from != 0)
            .map(|(at, _)| at)
            .collect();
        let (order, constraints) = ordered(&graph, vec![0, 1, 2], &grown);
        let found: Vec<SkillId> = order.into_iter().map(id).collect();
        assert_eq!(found, [&ids[1], &ids[2], &ids[0]].map(SkillId::new));
        assert_eq!(constraints.len(), 2);
    }
}
