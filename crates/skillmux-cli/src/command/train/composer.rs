//! `skillmux train composer`

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use skillmux::{
    compose::{Chain, Composer, ScoreCut, SetHead},
    index::Index,
};
use skillmux_eval::stats::{Interval, PairedTest};
use skillmux_models::sequence::{SceneKind, SequenceComposer, SequenceModel};
use skillmux_train::{
    composer::{
        FitOptions, PlanGroup, PlanScores, SetExamples, SetTasks,
        sequence::{EpochLine, SequenceOptions, TrainedSequence, train_sequence},
    },
    encoder::{RunFolder, RunStart},
};

use super::options::changed;
use crate::{
    args::{ComposerKind, SceneChoice, TextEncoderChoice, TrainComposerArgs},
    assemble::Models,
    folder::{make_folder, write_file},
    networks::transformer,
    outcome::Outcome,
    render::{
        paint::{STRONG, grouped, styled},
        print_text,
    },
    settings::Settings,
};

pub(super) fn run(args: &TrainComposerArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let threshold = match args.threshold[..] {
        [least, most] if 0.0 <= least && least <= most && most <= 1.0 => [least, most],
        _ => bail!("the threshold is two probabilities from 0 to 1, the lower one first"),
    };
    if !(args.rejected_weight.is_finite() && args.rejected_weight >= 0.0) {
        bail!("the weight of rejected skills is 0 or more, and not {}", args.rejected_weight);
    }
    let sequence = match args.kind {
        ComposerKind::SetHead => None,
        ComposerKind::Sequence => Some(sequence_options(args)?),
    };
    let mut tasks = SetTasks::default();
    for path in &args.tasks {
        tasks.add(path)?;
    }
    let models = Models::load(settings)?.with_asking(args.asking_weights.as_deref())?;
    let mut examples = match &args.examples {
        Some(folder) => SetExamples::kept_in(folder),
        None => SetExamples::default(),
    };
    for path in &args.index {
        let router = models.untranslated_router(Index::open(path)?)?;
        examples.ask(&tasks, &router)?;
    }
    if examples.n_train() == 0 {
        bail!("no index has all skills of a task; name indexes that hold the skills of --tasks");
    }
    let text = match &sequence {
        None => train_set_head(args, &examples, threshold)?,
        Some(options) => train_one_sequence(args, options, &models, &examples)?,
    };
    print_text(&text)?;
    Ok(Outcome::Found)
}

fn train_set_head(
    args: &TrainComposerArgs,
    examples: &SetExamples,
    threshold: [f32; 2],
) -> anyhow::Result<String> {
    let weights = examples.fit(&FitOptions { threshold, rejected_weight: args.rejected_weight });
    let json = serde_json::to_string(&weights).context("weights are numbers")?;
    write_file(&args.out, format!("{json}\n").as_bytes())?;
    let mut text = format!(
        "{} tasks to fit, over all indexes; written to {}\n",
        grouped(examples.n_train()),
        args.out.display()
    );
    let title = format!(
        "{:>9} {:>8} {:>6} {:>7} {:>10}",
        "skills", "right", "tasks", "Set F1", "best alone"
    );
    writeln!(text, "\nheld out\n{}", styled(STRONG, &title))?;
    for scores in examples.scores(&weights) {
        for (group, right) in ["one", "several"].into_iter().enumerate() {
            let skills = grouped(scores.n_skills);
            let [n, f1, first] = [
                scores.n_tasks[group].to_string(),
                format!("{:.3}", scores.set_f1[group]),
                format!("{:.3}", scores.set_f1_of_first[group]),
            ];
            writeln!(text, "{skills:>9} {right:>8} {n:>6} {f1:>7} {first:>10}")?;
        }
    }
    Ok(text)
}

/// Returns the options of a sequence composer, checked: indexes are asked for long before they are
/// used.
fn sequence_options(args: &TrainComposerArgs) -> anyhow::Result<SequenceOptions> {
    let scene = match args.scene {
        SceneChoice::Open => SceneKind::Open,
        SceneChoice::Closed => SceneKind::Closed,
    };
    let default = SequenceOptions { seed: args.seed, ..SequenceOptions::of_scene(scene) };
    let options: SequenceOptions = changed(&default, args.options.as_deref())?;
    options.check()?;
    Ok(options)
}

fn train_one_sequence(
    args: &TrainComposerArgs,
    options: &SequenceOptions,
    models: &Models,
    examples: &SetExamples,
) -> anyhow::Result<String> {
    let encoder = match args.text_encoder {
        TextEncoderChoice::Static => models.encoder(),
        TextEncoderChoice::Transformer => transformer(),
    };
    let folder = args.run.as_deref().context("--run names the folder of the run")?;
    make_folder(folder)?;
    let start = if args.resume { RunStart::Resume } else { RunStart::Fresh };
    let run = RunFolder { path: folder, start };
    let mut tell = |line: &EpochLine| {
        let EpochLine { epoch, loss, set_f1 } = line;
        anstream::eprintln!("epoch {epoch}, loss {loss:.3}: validation Set F1 {set_f1:.3}");
    };
    let trained = train_sequence(examples, encoder.as_ref(), options, &run, &mut tell)?;
    write_file(&args.out, &trained.bytes)?;
    let sequence = SequenceComposer::new(SequenceModel::from_bytes(&trained.bytes)?, encoder)?;
    let shipped = SetHead::new(skillmux_models::composer());
    let refitted =
        SetHead::new(examples.fit(&FitOptions::new(skillmux_models::composer().threshold)));
    let (greedy, cut) = (Chain::default(), ScoreCut::default());
    let composers: [(&str, &dyn Composer); 5] = [
        ("set-head", &shipped),
        ("set-head, fitted to these tasks", &refitted),
        ("chain (greedy)", &greedy),
        ("score-cut (greedy)", &cut),
        ("sequence", &sequence),
    ];
    let mut text = report(&trained, args);
    for group in examples.compare(&composers)? {
        table(&mut text, &group)?;
    }
    Ok(text)
}

fn report(trained: &TrainedSequence, args: &TrainComposerArgs) -> String {
    let TrainedSequence { best, set_f1, fusion, n_weights, n_tasks, bytes } = trained;
    let [n_train, n_validation] = n_tasks.map(grouped);
    format!(
        "{n_train} tasks to train on, {n_validation} to stop by, over all indexes\n\
         {} numbers, {} bytes, written to {}\n\
         best epoch {}: validation Set F1 {:.3}; with the weights of Eq. 4.4 fitted, {set_f1:.3}\n\
         prior {:.2}, set {:.2}, stop {:.2}, count {:.2}\n",
        grouped(*n_weights),
        grouped(bytes.len()),
        args.out.display(),
        best.epoch,
        best.set_f1,
        fusion.prior,
        fusion.set,
        fusion.stop,
        fusion.count,
    )
}

/// Adds the table of a group, in Markdown.
fn table(text: &mut String, group: &PlanGroup) -> anyhow::Result<()> {
    let right = if group.is_several { "several" } else { "one" };
    let n = group.scores.first().map_or(0, |scores| scores.set_f1.n);
    let title = format!("held out: {} skills, {right} right, {n} tasks", group.sizes);
    writeln!(text, "\n{}\n", styled(STRONG, &title))?;
    let head = "| composer | Set F1 | exact | Kendall | count off | within one | Set F1 against the first, p | against the second, p |";
    writeln!(text, "{head}\n|---|---|---|---|---|---|---|---|")?;
    for scores in &group.scores {
        let PlanScores { composer, set_f1, exact, order, count_error, within_one, against } =
            scores;
        let means = [set_f1, exact, order, count_error, within_one].map(shown).join(" | ");
        let against: Vec<String> = against.iter().map(shown_test).collect();
        writeln!(text, "| {composer} | {means} | {} |", against.join(" | "))?;
    }
    Ok(())
}

fn shown_test(test: &PairedTest) -> String {
    let PairedTest { mean_difference, low, high, p_bootstrap, .. } = test;
    format!("{mean_difference:+.3} ({low:+.3} to {high:+.3}), {p_bootstrap:.4}")
}

fn shown(interval: &Interval) -> String {
    let Interval { mean, low, high, n } = interval;
    if *n == 0 {
        return "-".to_owned();
    }
    format!("{mean:.3} ({low:.3} to {high:.3})")
}
