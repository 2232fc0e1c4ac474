//! Measures whether the sections of a Chinese skill find those of its English parallel by the
//! cosine of the embedded encoder.
//!
//! `cargo run --release -p skillmux-train --example align_sections -- INDEX BILINGUAL.jsonl`
//!
//! Takes the pairs that are kept for scores (`skillmux_eval::dataset::split`) and whose bodies have
//! the same levels of headings in the same order, three at least: the n-th section of one is taken
//! for the parallel of the n-th of the other.

#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::{env, error::Error, fs, path::Path};

use serde::Deserialize;
use skillmux::{
    index::{Index, IndexedSkill},
    model::Encoder,
    skill::SkillId,
};
use skillmux_eval::dataset::split;

/// Fewer sections than this are aligned by chance.
const MIN_SECTIONS: usize = 3;

#[derive(Deserialize)]
struct Pair {
    zh: SkillId,
    en: SkillId,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [index, pairs] = args.as_slice() else {
        return Err("usage: align_sections INDEX BILINGUAL.jsonl".into());
    };
    let index = Index::open(Path::new(index))?;
    let encoder = skillmux_models::encoder();
    let (mut n_pairs, mut n_sections, mut n_nearest, mut chance) = (0, 0, [0; 2], 0.0);
    for line in fs::read_to_string(pairs)?.lines() {
        let Pair { zh, en } = serde_json::from_str(line)?;
        if !split::is_scored(en.as_str()) {
            continue;
        }
        let [zh, en] = [index.skill(index.find(&zh)?)?, index.skill(index.find(&en)?)?];
        let n = zh.nodes.sections.len();
        if n < MIN_SECTIONS || levels(&zh) != levels(&en) {
            continue;
        }
        n_pairs += 1;
        n_sections += n;
        chance += 1.0;
        let [zh, en] = [vectors(&zh, &encoder)?, vectors(&en, &encoder)?];
        for at in 0..n {
            n_nearest[0] += usize::from(nearest(&zh[at], &en) == at);
            n_nearest[1] += usize::from(nearest(&en[at], &zh) == at);
        }
    }
    let share = |n: usize| n as f64 / f64::max(n_sections as f64, 1.0);
    println!("{n_pairs} pairs, {n_sections} sections each side");
    println!(
        "the nearest is the parallel one: zh to en {:.3}, en to zh {:.3}",
        share(n_nearest[0]),
        share(n_nearest[1])
    );
    println!("by chance {:.3}", chance / f64::max(n_sections as f64, 1.0));
    Ok(())
}

fn levels(skill: &IndexedSkill) -> Vec<u8> {
    skill.nodes.sections.iter().map(|section| section.level).collect()
}

/// Returns the vectors of the sections, each from its heading to the next.
fn vectors(skill: &IndexedSkill, encoder: &dyn Encoder) -> Result<Vec<Vec<f32>>, skillmux::Error> {
    let body = &skill.skill.body;
    let starts: Vec<usize> =
        skill.nodes.sections.iter().map(|section| section.start as usize).collect();
    let ends = starts.iter().skip(1).copied().chain([body.len()]);
    let texts: Vec<&str> = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| body.get(*start..end).unwrap_or_default())
        .collect();
    let numbers = encoder.encode(&texts)?;
    Ok(numbers.chunks(encoder.dim()).map(<[f32]>::to_vec).collect())
}

fn nearest(vector: &[f32], others: &[Vec<f32>]) -> usize {
    let cosine = |other: &Vec<f32>| vector.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
    let best = others.iter().enumerate().max_by(|a, b| cosine(a.1).total_cmp(&cosine(b.1)));
    best.map_or(0, |(at, _)| at)
}
