//! Measures how many texts of 100 words the embedded encoder encodes in a second on one core.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release -p skillmux-models --example encode_speed`

#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::{error::Error, fs, time::Instant};

use skillmux::model::Encoder;

const N_TEXTS: usize = 20_000;
const N_WORDS: usize = 100;
const N_RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let tasks = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../datasets/long-tasks.jsonl"
    ))?;
    let words: Vec<&str> = tasks.split_whitespace().collect();
    let text = |at: usize| -> String {
        let some: Vec<&str> =
            words.iter().cycle().skip(at * 11 % words.len()).take(N_WORDS).copied().collect();
        some.join(" ")
    };
    let texts: Vec<String> = (0..N_TEXTS).map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let encoder = skillmux_models::encoder();
    let mut rates = Vec::new();
    for _ in 0..N_RUNS {
        let started = Instant::now();
        let vectors = encoder.encode(&texts)?;
        rates.push(N_TEXTS as f64 / started.elapsed().as_secs_f64());
        assert_eq!(vectors.len(), N_TEXTS * encoder.dim());
    }
    rates.sort_by(f64::total_cmp);
    println!(
        "{N_TEXTS} texts of {N_WORDS} words: {:.0} a second (median of {N_RUNS} runs)",
        rates[N_RUNS / 2]
    );
    Ok(())
}
