//! `skillmux train encoder`

use std::{fmt::Write as _, fs};

use anyhow::Context;
use skillmux::index::Index;
use skillmux_train::encoder::{
    EncoderData, EncoderOptions, LogLine, RunFolder, RunStart, TrainedEncoder, ValidationScores,
    train_encoder,
};

use super::options::changed;
use crate::{
    args::TrainEncoderArgs,
    folder::write_file,
    outcome::Outcome,
    render::{paint::grouped, print_text, size},
};

pub(super) fn run(args: &TrainEncoderArgs) -> anyhow::Result<Outcome> {
    let default = EncoderOptions { seed: args.seed, ..EncoderOptions::default() };
    let options = changed(&default, args.options.as_deref())?;
    let index = Index::open(&args.index)?;
    let mut data = EncoderData::default();
    for path in &args.queries {
        data.add_queries(path)?;
    }
    for path in &args.translations {
        data.add_translations(path)?;
    }
    let folder = &args.run;
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let start = if args.resume { RunStart::Resume } else { RunStart::Fresh };
    let run = RunFolder { path: folder, start };
    let trained = train_encoder(&index, &data, &options, &run, &mut |line| {
        anstream::eprintln!("{}", progress(line));
    })?;
    write_file(&args.out, &trained.bytes)?;
    print_text(&report(&trained, args))?;
    Ok(Outcome::Found)
}

fn progress(line: &LogLine) -> String {
    let LogLine { round, step, losses, scores, negatives, .. } = line;
    let n_removed = negatives.n_same_name + negatives.n_similar_body + negatives.n_similar_vector;
    let share = n_removed as f32 / negatives.n_drawn.max(1) as f32;
    let mut text = format!("round {round} step {step} loss");
    for loss in losses {
        let _ = write!(text, " {loss:.2}");
    }
    let ValidationScores {
        recall_at_10,
        recall_at_50,
        hit_at_1,
        dense_recall_at_10,
        zh_to_en,
        en_to_zh,
        ..
    } = scores;
    let _ = write!(
        text,
        " | held out: R@10 {recall_at_10:.3} R@50 {recall_at_50:.3} Hit@1 {hit_at_1:.3}, alone R@10 \
         {dense_recall_at_10:.3}, zh-en {zh_to_en:.3}, en-zh {en_to_zh:.3} | false negatives {share:.3}",
    );
    text
}

fn report(trained: &TrainedEncoder, args: &TrainEncoderArgs) -> String {
    let TrainedEncoder { bytes, best, n_train, n_held_out } = trained;
    let ValidationScores { recall_at_10, hit_at_1, lexical_recall_at_10, lexical_hit_at_1, .. } =
        best.scores;
    let (n_train, n_held_out) = (grouped(*n_train), grouped(*n_held_out));
    let n_bytes = size(bytes.len() as u64);
    format!(
        "{n_train} queries to train on, {n_held_out} held out\n\
         best round {}: R@10 {recall_at_10:.3} (BM25 {lexical_recall_at_10:.3}), \
         Hit@1 {hit_at_1:.3} (BM25 {lexical_hit_at_1:.3})\n\
         {n_bytes} written to {}\n",
        best.round,
        args.out.display(),
    )
}
