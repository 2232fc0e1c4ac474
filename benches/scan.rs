//! Scans vectors on one thread with the products of the engine, for `scan.py`, which builds this file and asks it.
//!
//! usage: scan DIR N_VECTORS DIM
//!
//! DIR holds `int8.bin`, `f16.bin`, `f32.bin`, `scales.bin` (f32, a vector of bytes each) and `queries.bin` (f32). A line `KIND QUERY` on
//! standard input is answered with the microseconds that the 100 best took and with their numbers; `read KIND` with
//! the microseconds that it takes to add up the same bytes.

use std::{
    fs,
    io::{self, BufRead, Write},
    path::Path,
    time::Instant,
};

#[path = "../crates/skillmux/src/index/dot.rs"]
mod dot;

const N_BEST: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, dir, n, dim] = &arguments[..] else { panic!("usage: scan DIR N_VECTORS DIM") };
    let (n, dim): (usize, usize) = (n.parse().unwrap(), dim.parse().unwrap());
    let read = |name: &str| fs::read(Path::new(dir).join(name)).unwrap();
    let [bytes, halves, singles] = ["int8.bin", "f16.bin", "f32.bin"].map(read);
    assert_eq!([bytes.len(), halves.len(), singles.len()], [n * dim, 2 * n * dim, 4 * n * dim]);
    let (scales, queries) = (floats(&read("scales.bin")), floats(&read("queries.bin")));
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let started = Instant::now();
        let best = match words[..] {
            ["read", kind] => {
                let vectors = if kind == "int8" {
                    &bytes
                } else if kind == "f16" {
                    &halves
                } else {
                    &singles
                };
                vec![sum(vectors) as u32]
            }
            [kind, query] => {
                let query = &queries[query.parse::<usize>().unwrap() * dim..][..dim];
                best(&match kind {
                    "int8" => {
                        let most = query.iter().fold(0.0_f32, |most, x| most.max(x.abs())) / 127.0;
                        let steps: Vec<i16> =
                            query.iter().map(|x| (x / most).round() as i16).collect();
                        let dots = dot::of_bytes(bytes.chunks_exact(dim), &steps);
                        dots.iter()
                            .zip(&scales)
                            .map(|(dot, scale)| *dot as f32 * (scale * most))
                            .collect()
                    }
                    "f16" => dot::of_halves(halves.chunks_exact(2 * dim), query),
                    _ => dot::of_singles(singles.chunks_exact(4 * dim), query),
                })
            }
            _ => panic!("`{line}` is neither a scan nor a read"),
        };
        let micros = started.elapsed().as_secs_f64() * 1e6;
        let best: Vec<String> = best.iter().map(u32::to_string).collect();
        println!("{micros:.1} {}", best.join(" "));
        io::stdout().flush().unwrap();
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Returns the vectors with the highest products, best first, ties by number.
fn best(dots: &[f32]) -> Vec<u32> {
    let order = |a: &u32, b: &u32| dots[*b as usize].total_cmp(&dots[*a as usize]).then(a.cmp(b));
    let mut best = Vec::with_capacity(4 * N_BEST);
    let mut least = f32::NEG_INFINITY;
    for (at, dot) in dots.iter().enumerate() {
        if *dot < least {
            continue;
        }
        best.push(at as u32);
        if best.len() == 4 * N_BEST {
            best.select_nth_unstable_by(N_BEST - 1, order);
            best.truncate(N_BEST);
            least = dots[best[N_BEST - 1] as usize];
        }
    }
    best.sort_unstable_by(order);
    best.truncate(N_BEST);
    best
}

/// Reads all bytes with the widest instructions there are.
fn sum(bytes: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions, as was just asked.
        return unsafe { sum_by_avx512(bytes) };
    }
    sum_portably(bytes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn sum_by_avx512(bytes: &[u8]) -> u64 {
    sum_portably(bytes)
}

#[inline(always)]
fn sum_portably(bytes: &[u8]) -> u64 {
    let mut sums = [0_u64; 64];
    for chunk in bytes.as_chunks::<512>().0 {
        dot::prefetch(chunk);
        for (sum, bytes) in sums.iter_mut().zip(chunk.as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*bytes));
        }
    }
    sums.iter().fold(0, |total, sum| total.wrapping_add(*sum))
}
