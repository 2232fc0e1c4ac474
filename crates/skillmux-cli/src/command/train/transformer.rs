//! `skillmux train transformer`

use std::{fs, path::Path, time::Duration};

use skillmux::index::Index;
use skillmux_models::checkpoint::{Checkpoint, Device, Precision};
use skillmux_train::{
    encoder::{RunFolder, RunStart},
    transformer::{
        TrainedTransformer, TransformerData, TransformerEvent, TransformerJob, TransformerLogLine,
        TransformerOptions, TransformerScores, train_transformer,
    },
};

use super::options::changed;
use crate::{
    args::{PrecisionChoice, TrainTransformerArgs},
    clock::since_start,
    error::CliError,
    folder::make_folder,
    outcome::Outcome,
    render::{paint::grouped, print_text},
};

/// Steps between two lines of progress.
const N_STEPS_A_LINE: usize = 10;

pub(super) fn run(args: &TrainTransformerArgs) -> anyhow::Result<Outcome> {
    check_out(&args.out)?;
    let base = Checkpoint::open(&args.base)?;
    let options = options(args, &base)?;
    let index = Index::open(&args.index)?;
    let mut data = TransformerData::default();
    for path in &args.queries {
        data.add_queries(path)?;
    }
    for path in &args.translations {
        data.add_translations(path)?;
    }
    make_folder(&args.run)?;
    let start = if args.resume { RunStart::Resume } else { RunStart::Fresh };
    let run = RunFolder { path: &args.run, start };
    // Without the feature `cuda` there is none available.
    let job = TransformerJob { index: &index, base: &base, device: Device::cuda_if_available(0)? };
    let mut clock = Clock::start();
    let trained = train_transformer(&job, &data, &options, &run, &mut |event| clock.tell(&event))?;
    make_folder(&args.out)?;
    trained.save(&args.out)?;
    print_text(&report(&trained, &args.out))?;
    Ok(Outcome::Found)
}

fn options(args: &TrainTransformerArgs, base: &Checkpoint) -> anyhow::Result<TransformerOptions> {
    let default = TransformerOptions::of_use(base.purpose());
    let precision = match args.precision {
        PrecisionChoice::F32 => Precision::Single,
        PrecisionChoice::Bf16 => Precision::Half,
    };
    let n_steps = args.steps.unwrap_or(default.n_steps);
    let default = TransformerOptions { seed: args.seed, precision, n_steps, ..default };
    changed(&default, args.options.as_deref())
}

/// Refuses a folder that holds something: hours later it would be too late.
fn check_out(out: &Path) -> Result<(), CliError> {
    let is_free = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !out.exists(),
    };
    if is_free { Ok(()) } else { Err(CliError::OutExists { path: out.to_owned() }) }
}

/// Tells how far the training is, and how fast it goes.
struct Clock {
    since: Duration,
    n_steps: usize,
}

impl Clock {
    fn start() -> Self {
        Self { since: since_start(), n_steps: 0 }
    }

    fn tell(&mut self, event: &TransformerEvent<'_>) {
        match event {
            TransformerEvent::Step { step, n_steps, loss } => {
                self.n_steps += 1;
                if step.is_multiple_of(N_STEPS_A_LINE) {
                    let took = since_start().saturating_sub(self.since);
                    let rate = self.n_steps as f64 / took.as_secs_f64();
                    anstream::eprintln!(
                        "step {step} of {n_steps}, loss {loss:.3}, {rate:.2} steps a second"
                    );
                    *self = Self::start();
                }
            }
            TransformerEvent::Round(line) => {
                let TransformerLogLine { round, step, scores, .. } = line;
                anstream::eprintln!("round {round}, step {step}: held out {}", shown(*scores));
                // What scoring took is no part of the steps.
                *self = Self::start();
            }
            _ => {}
        }
    }
}

fn shown(scores: TransformerScores) -> String {
    let TransformerScores { hit_at_1, recall_at_10 } = scores;
    format!("Hit@1 {hit_at_1:.3}, Recall@10 {recall_at_10:.3}")
}

fn report(trained: &TrainedTransformer, out: &Path) -> String {
    let TrainedTransformer { best, base, n_train, n_held_out, .. } = trained;
    let (n_train, n_held_out) = (grouped(*n_train), grouped(*n_held_out));
    format!(
        "{n_train} queries to train on, {n_held_out} held out\n\
         base: {}\n\
         best, after step {}: {}\n\
         written to {}\n",
        shown(base.scores),
        best.step,
        shown(best.scores),
        out.display(),
    )
}
