//! Prints the vectors of the embedded transformer as JSON, one text of standard input a line, as a
//! JSON string. A text has 128 tokens, or 256 with `long`: `cargo run --release -p skillmux-models
//! --example embedded_vectors -- [long] < TEXTS`

#![allow(clippy::print_stdout, reason = "a program whose output is its result")]

use std::{
    error::Error,
    io::{self, Write},
};

use skillmux::model::Encoder;

const N_TEXTS: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let long = std::env::args().nth(1).is_some_and(|word| word == "long");
    let encoder = skillmux_models::transformer();
    let mut texts: Vec<String> = Vec::new();
    for line in io::stdin().lines() {
        texts.push(serde_json::from_str(&line?)?);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for texts in texts.chunks(N_TEXTS) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors =
            if long { encoder.encode_queries(&texts)? } else { encoder.encode(&texts)? };
        for row in vectors.chunks(encoder.dim()) {
            writeln!(out, "{}", serde_json::to_string(row)?)?;
        }
    }
    Ok(())
}
