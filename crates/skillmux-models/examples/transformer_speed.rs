//! Measures the embedded transformer: how long it takes to be read, skills a second, and the time
//! of a short and of a long task.
//!
//! `cargo run --release -p skillmux-models --example transformer_speed`, with `RAYON_NUM_THREADS=1`
//! for one core.

#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::{
    error::Error,
    fs,
    time::{Duration, Instant},
};

use skillmux::model::Encoder;

const N_TEXTS: usize = 128;
const N_RUNS: usize = 5;
const SHORT: &str = "four of us went to Lisbon, who owes whom now";

fn main() -> Result<(), Box<dyn Error>> {
    let tasks = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../datasets/long-tasks.jsonl"
    ))?;
    let words: Vec<&str> = tasks.split_ascii_whitespace().filter(|word| word.is_ascii()).collect();
    // More words than it reads tokens.
    let text =
        |at: usize| words.iter().cycle().skip(at * 257).take(300).copied().collect::<Vec<_>>();
    let texts: Vec<String> = (0..N_TEXTS).map(|at| text(at).join(" ")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();

    let started = Instant::now();
    let transformer = skillmux_models::transformer();
    println!("read in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    let of_skills = median(|| transformer.encode(&texts).map(drop))?;
    println!("{:.0} skills of 128 tokens a second", N_TEXTS as f64 / of_skills.as_secs_f64());
    for (name, task) in [("short", SHORT), ("256-token", texts[0])] {
        let of_task = median(|| transformer.encode_queries(&[task]).map(drop))?;
        println!("a {name} task in {:.1} ms", of_task.as_secs_f64() * 1e3);
    }
    Ok(())
}

/// Returns the median time of some runs after a first one.
fn median(run: impl Fn() -> skillmux::Result<()>) -> skillmux::Result<Duration> {
    run()?;
    let mut times = Vec::new();
    for _ in 0..N_RUNS {
        let started = Instant::now();
        run()?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(times[N_RUNS / 2])
}
