//! `skillmux eval`

use std::fmt::Write;

use serde::Serialize;
use skillmux_eval::{
    Qrels, Run,
    metric::{hit_at, mean, mrr_at, recall_at},
};

use super::{print_json, print_text};
use crate::{
    Outcome,
    args::{EvalArgs, Format},
};

/// What `--format json` prints.
#[derive(Serialize)]
struct Scores {
    n_queries: usize,
    hit_at_1: f64,
    hit_at_10: f64,
    recall_at_10: f64,
    recall_at_50: f64,
    mrr_at_10: f64,
}

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<Outcome> {
    let run = Run::read(&args.run)?;
    let qrels = Qrels::read(&args.qrels)?;
    let scores = Scores {
        n_queries: qrels.n_queries(),
        hit_at_1: mean(&run, &qrels, |ranking, gold| hit_at(1, ranking, gold)),
        hit_at_10: mean(&run, &qrels, |ranking, gold| hit_at(10, ranking, gold)),
        recall_at_10: mean(&run, &qrels, |ranking, gold| recall_at(10, ranking, gold)),
        recall_at_50: mean(&run, &qrels, |ranking, gold| recall_at(50, ranking, gold)),
        mrr_at_10: mean(&run, &qrels, |ranking, gold| mrr_at(10, ranking, gold)),
    };
    match args.format {
        Format::Json => print_json(&scores)?,
        Format::Text => {
            let rows = [
                ("Hit@1", scores.hit_at_1),
                ("Hit@10", scores.hit_at_10),
                ("Recall@10", scores.recall_at_10),
                ("Recall@50", scores.recall_at_50),
                ("MRR@10", scores.mrr_at_10),
            ];
            let mut text = format!("{:<10} {:>7}\n", "queries", scores.n_queries);
            for (name, value) in rows {
                let _ = writeln!(text, "{name:<10} {value:>7.4}");
            }
            print_text(&text)?;
        }
    }
    Ok(if scores.hit_at_10 > 0.0 { Outcome::Found } else { Outcome::NothingFound })
}
