//! Prints the vectors of a checkpoint as JSON, one text of standard input a line, and how long they
//! took: `cargo run --release -p skillmux-models --features checkpoint --example checkpoint_vectors
//! -- DIR [int8] < TEXTS`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints what it measures")]

use std::{
    error::Error,
    io::{self, Write},
    path::PathBuf,
    time::Instant,
};

use skillmux_models::checkpoint::{InferencePrecision, ModelOptions, open_encoder};

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("name a folder")?.into();
    let precision = match std::env::args().nth(2).as_deref() {
        None => None,
        Some("int8") => Some(InferencePrecision::Int8),
        Some(other) => return Err(format!("`{other}` is no precision").into()),
    };
    let encoder = open_encoder(&folder, ModelOptions { precision, ..ModelOptions::default() })?;
    let text = io::read_to_string(io::stdin())?;
    let lines: Vec<&str> = text.lines().collect();
    let started = Instant::now();
    let vectors = encoder.encode(&lines)?;
    eprintln!("{} texts in {:.2} s", lines.len(), started.elapsed().as_secs_f64());
    let mut out = io::BufWriter::new(io::stdout().lock());
    for row in vectors.chunks(encoder.dim()) {
        writeln!(out, "{}", serde_json::to_string(row)?)?;
    }
    Ok(())
}
