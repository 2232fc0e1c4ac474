//! Measures the edges between the nodes of skills: how many there are, and how long they take.
//!
//! `cargo run --release -p skillmux-models --example node_edges -- INDEX N_SKILLS`. The skills are
//! spread evenly over the index, those with a body. Times are of one thread, the median of three
//! runs for each skill.

#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::{error::Error, path::Path, time::Instant};

use skillmux::{
    index::Index,
    page::{Edge, EdgeKind, semantic_edges, text_edges},
    skill::{NodeTree, SkillId},
};

const KINDS: [EdgeKind; 4] =
    [EdgeKind::Sequence, EdgeKind::Reference, EdgeKind::Condition, EdgeKind::Semantic];

/// Runs for each time.
const N_RUNS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [index, n_skills] = &arguments[..] else {
        return Err("two arguments: INDEX N_SKILLS".into());
    };
    let (index, n_skills): (Index, usize) = (Index::open(Path::new(index))?, n_skills.parse()?);
    let encoder = skillmux_models::encoder();
    let ids: Vec<SkillId> = index.ids().collect::<Result<_, _>>()?;
    let mut times: [Vec<f64>; 4] = Default::default();
    let mut counts: [Vec<usize>; 5] = Default::default();
    for at in 0..n_skills {
        let idx = index.find(&ids[at * ids.len() / n_skills])?;
        let read = || index.skill(idx);
        let skill = read()?;
        let (body, tree) = (&skill.skill.body, &skill.nodes);
        if tree.nodes.is_empty() {
            continue;
        }
        let text = || text_edges(body, tree);
        let mut edges: Vec<Edge> = text();
        edges.extend(semantic_edges(body, tree, &encoder)?);
        counts[0].push(tree.nodes.len());
        for (counts, kind) in counts[1..].iter_mut().zip(KINDS) {
            counts.push(edges.iter().filter(|edge| edge.kind == kind).count());
        }
        times[0].push(microseconds(|| drop(read())));
        times[1].push(microseconds(|| drop(NodeTree::parse(body))));
        times[2].push(microseconds(|| drop(text())));
        times[3].push(microseconds(|| drop(semantic_edges(body, tree, &encoder))));
    }
    println!("{} skills with a body", counts[0].len());
    let names = ["read from the index", "parsed", "sequence, reference, condition", "semantic"];
    for (name, times) in names.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!("{name}: median {:.0} us, p99 {:.0} us", at(50), at(99));
    }
    for (name, counts) in
        ["nodes", "sequence", "reference", "condition", "semantic"].iter().zip(&counts)
    {
        let n_with = counts.iter().filter(|count| **count > 0).count();
        let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
        println!(
            "{name}: {mean:.1} a skill, {:.0} % of skills have some",
            100.0 * n_with as f64 / counts.len() as f64
        );
    }
    Ok(())
}

/// Returns the microseconds that a call takes, the median of some.
fn microseconds(call: impl Fn()) -> f64 {
    let mut times: Vec<f64> = (0..N_RUNS)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[N_RUNS / 2]
}
