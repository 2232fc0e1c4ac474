//! `skillmux train work`

use anyhow::bail;
use skillmux::model::Encoder;
use skillmux_train::work::{WorkExamples, WorkOptions, WorkScores};

use crate::{
    args::TrainWorkArgs,
    folder::write_file,
    networks::transformer,
    outcome::Outcome,
    own_model,
    render::{paint::grouped, print_text, progress::progress},
    settings::Settings,
};

/// Requests of either kind, at least: fewer teach nothing, and take as long.
const MIN_REQUESTS: usize = 20;

pub(super) fn run(args: &TrainWorkArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let examples = WorkExamples::read(&args.work, &args.talk)?;
    let [n_work, n_talk] = examples.n();
    if n_work < MIN_REQUESTS || n_talk < MIN_REQUESTS {
        let (option, n) =
            if n_work < MIN_REQUESTS { ("--work", n_work) } else { ("--talk", n_talk) };
        bail!(
            "{option} has {n} requests, and {MIN_REQUESTS} are needed; each line of a file is one: \
             {{\"query\": \"...\"}}"
        );
    }
    // One for each encoder by which the default ranking may read a query.
    let encoders = [transformer(), own_model::encoder(settings)?];
    let mut weights = Vec::new();
    let mut text = format!(
        "{} requests for work, {} others; written to {}\n",
        grouped(n_work),
        grouped(n_talk),
        args.out.display()
    );
    let bar = progress(encoders.len(), "networks fitted");
    for encoder in encoders {
        let (fitted, scores) = examples.fit(&*encoder, WorkOptions::default())?;
        text.push_str(&report(&*encoder, scores));
        weights.push(fitted);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let json = serde_json::to_string(&weights)?;
    write_file(&args.out, format!("{json}\n").as_bytes())?;
    print_text(&text)?;
    Ok(Outcome::Found)
}

fn report(encoder: &dyn Encoder, scores: WorkScores) -> String {
    let WorkScores { n: [n_work, n_talk], auroc, accuracy: [of_work, of_talk] } = scores;
    if n_work == 0 || n_talk == 0 {
        let name = &encoder.identity().name;
        return format!("{name}: too few requests to hold some out and measure\n");
    }
    format!(
        "{}: of {n_work} held-out requests for work {of_work:.3} are told rightly, of {n_talk} others \
         {of_talk:.3}; AUROC {auroc:.3}\n",
        encoder.identity().name
    )
}
