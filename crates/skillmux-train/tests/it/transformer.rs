//! Tuning tiny checkpoints on a library of words that they know.

use std::{fs, path::Path};

use skillmux::{
    index::{Index, UpdateOptions},
    library::Library,
    model::Encoder,
};
use skillmux_models::checkpoint::{Checkpoint, CheckpointUse, Device};
use skillmux_train::{
    Error,
    encoder::{FalseNegativeFilter, LOG, RunFolder, RunStart},
    transformer::{
        TrainedTransformer, TransformerData, TransformerEvent, TransformerJob, TransformerLogLine,
        TransformerOptions, train_transformer,
    },
};
use tempfile::TempDir;

use crate::reference::{Reference, Written};

const WORDS: [&str; 8] = ["fill", "pdf", "form", "merge", "two", "tables", "slow", "query"];

/// Three words of a skill.
fn words(number: usize) -> [&'static str; 3] {
    [number % 8, number / 8 + number % 8 + 1, 3 * number + 2].map(|at| WORDS[at % 8])
}

/// A library, its index, and queries for its skills.
struct Fixture {
    dir: TempDir,
    index: Index,
    data: TransformerData,
    base: Written,
}

impl Fixture {
    fn new(base: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut queries = String::new();
        for number in 0..32 {
            let [a, b, c] = words(number);
            let folder = dir.path().join(format!("library/{a}-{b}-{c}-{number}"));
            fs::create_dir_all(&folder).unwrap();
            let text = format!(
                "---\nname: {a}-{b}-{c}-{number}\ndescription: {a} the {b} of a {c}\n---\n{c} {b}\n"
            );
            fs::write(folder.join("SKILL.md"), text).unwrap();
            for query in [format!("{b} {a} no {number}"), format!("a {c} in the {b} {number}")] {
                let id = format!("{a}-{b}-{c}-{number}");
                let line = serde_json::json!({ "query": query, "skill_id": id }).to_string();
                queries.extend([line.as_str(), "\n"]);
            }
        }
        let path = dir.path().join("index");
        let library = Library::open([dir.path().join("library")]).unwrap();
        Index::update(&path, &library, &UpdateOptions::default(), &mut |_| {}).unwrap();
        let file = dir.path().join("queries.jsonl");
        fs::write(&file, queries).unwrap();
        let mut data = TransformerData::default();
        data.add_queries(&file).unwrap();
        let base = Reference::read().write_named(base);
        Self { index: Index::open(&path).unwrap(), data, base, dir }
    }

    fn folder(&self, name: &str) -> std::path::PathBuf {
        let folder = self.dir.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn train(
        &self,
        options: &TransformerOptions,
        run: &RunFolder<'_>,
        report: &mut dyn FnMut(&TransformerLogLine),
    ) -> Result<TrainedTransformer, Error> {
        let base = self.base.open();
        let job = TransformerJob { index: &self.index, base: &base, device: Device::Cpu };
        train_transformer(&job, &self.data, options, run, &mut |event| {
            if let TransformerEvent::Round(line) = event {
                report(line);
            }
        })
    }

    /// Trains in a folder, and returns the weights and the lines of the log that were told.
    fn weights(
        &self,
        options: &TransformerOptions,
        run: &Path,
        start: RunStart,
    ) -> (Vec<u8>, Vec<TransformerLogLine>) {
        let mut lines = Vec::new();
        let run = RunFolder { path: run, start };
        let trained = self.train(options, &run, &mut |line| lines.push(line.clone())).unwrap();
        let out = tempfile::tempdir().unwrap();
        trained.save(out.path()).unwrap();
        (fs::read(out.path().join("model.safetensors")).unwrap(), lines)
    }
}

fn options(purpose: CheckpointUse) -> TransformerOptions {
    TransformerOptions {
        n_steps: 6,
        n_steps_a_round: 2,
        n_pairs: 4,
        n_micro_pairs: 2,
        n_negatives: 1,
        n_held_out: 2,
        n_distractors: 1,
        // To a network that was never trained, all texts are alike.
        filter: FalseNegativeFilter { max_cosine: 2.0, ..FalseNegativeFilter::default() },
        ..TransformerOptions::of_use(purpose)
    }
}

#[test]
fn tuning_makes_the_loss_fall() {
    for (base, purpose) in
        [("bert encoder", CheckpointUse::Encoder), ("bert reranker", CheckpointUse::PairScorer)]
    {
        let fixture = Fixture::new(base);
        let run = fixture.folder("run");
        let options = TransformerOptions {
            n_steps: 24,
            n_steps_a_round: 8,
            learning_rate: 2e-3,
            ..options(purpose)
        };
        let (_, lines) = fixture.weights(&options, &run, RunStart::Fresh);
        let losses: Vec<f32> = lines.iter().map(|line| line.loss).collect();
        assert_eq!(lines.iter().map(|line| line.step).collect::<Vec<_>>(), [0, 8, 16, 24]);
        assert!(losses[3] < losses[1], "{base}: {losses:?}");
        let log = fs::read_to_string(run.join(LOG)).unwrap();
        let read = log.lines().map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(read.collect::<Vec<TransformerLogLine>>(), lines);
    }
}

#[test]
fn a_tuned_encoder_is_read_as_one() {
    let fixture = Fixture::new("bert encoder");
    let run = RunFolder { path: &fixture.folder("run"), start: RunStart::Fresh };
    let trained = fixture.train(&options(CheckpointUse::Encoder), &run, &mut |_| ()).unwrap();
    assert!(trained.n_train >= 10 && trained.n_held_out > 0);
    let out = fixture.folder("out");
    trained.save(&out).unwrap();
    let [base, tuned] = [fixture.base.path(), &out]
        .map(|folder| Checkpoint::open(folder).unwrap().encoder().unwrap());
    assert_eq!(base.identity().name, tuned.identity().name);
    let is_moved = trained.best.round > 0;
    assert_eq!(base.encode(&["fill"]).unwrap() != tuned.encode(&["fill"]).unwrap(), is_moved);
}

#[test]
fn a_resumed_run_gives_the_bytes_of_a_run_at_once() {
    for (base, purpose) in [
        ("xlm-roberta encoder", CheckpointUse::Encoder),
        ("bert reranker", CheckpointUse::PairScorer),
    ] {
        let options = options(purpose);
        let fixture = Fixture::new(base);
        let [whole, parts] = ["whole", "parts"].map(|name| fixture.folder(name));
        let (expected, lines) = fixture.weights(&options, &whole, RunStart::Fresh);
        let run = RunFolder { path: &parts, start: RunStart::Fresh };
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            fixture.train(&options, &run, &mut |line| assert!(line.round < 2, "killed"))
        }));
        assert!(killed.is_err());
        let (resumed, rest) = fixture.weights(&options, &parts, RunStart::Resume);
        assert!(resumed == expected, "{base}");
        assert_eq!(rest, lines[3..], "{base}");
        let [a, b] = [&whole, &parts].map(|run| fs::read(run.join("checkpoint.safetensors")));
        assert!(a.unwrap() == b.unwrap(), "{base}");
    }
}

#[test]
fn a_run_with_other_options_or_another_base_is_not_resumed() {
    let fixture = Fixture::new("bert encoder");
    let folder = fixture.folder("run");
    let mut options = options(CheckpointUse::Encoder);
    options.n_steps = 1;
    fixture.weights(&options, &folder, RunStart::Fresh);
    let run = RunFolder { path: &folder, start: RunStart::Resume };
    let other = TransformerOptions { temperature: 0.1, ..options.clone() };
    let error = fixture.train(&other, &run, &mut |_| ()).err().unwrap();
    assert!(matches!(error, Error::CheckpointForeign { .. }), "{error}");
    fs::write(folder.join("checkpoint.safetensors"), "no weights").unwrap();
    let error = fixture.train(&options, &run, &mut |_| ()).err().unwrap();
    assert!(matches!(error, Error::CheckpointForeign { .. }), "{error}");
}

#[test]
fn a_loss_that_is_no_number_ends_the_run() {
    let fixture = Fixture::new("bert encoder");
    let run = RunFolder { path: &fixture.folder("run"), start: RunStart::Fresh };
    let options = TransformerOptions { learning_rate: f64::MAX, ..options(CheckpointUse::Encoder) };
    let error = fixture.train(&options, &run, &mut |_| ()).err().unwrap();
    assert!(matches!(error, Error::LossNotFinite { step: 2 }), "{error}");
}

#[test]
fn data_about_other_skills_trains_nothing() {
    let fixture = Fixture { data: TransformerData::default(), ..Fixture::new("bert encoder") };
    let run = RunFolder { path: &fixture.folder("run"), start: RunStart::Fresh };
    let error = fixture.train(&options(CheckpointUse::Encoder), &run, &mut |_| ()).err().unwrap();
    assert!(matches!(error, Error::TooFewPairs { n_pairs: 0, .. }), "{error}");
}
