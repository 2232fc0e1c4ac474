//! Training a small encoder on the fixture library.

use std::path::{Path, PathBuf};

use skillmux::{
    index::{Index, UpdateOptions},
    library::Library,
    model::Encoder,
};
use skillmux_models::StaticEncoder;
use skillmux_train::{
    Error,
    encoder::{
        EncoderData, EncoderOptions, LOG, LogLine, PLOT, RunFolder, RunStart, TrainedEncoder,
        train_encoder,
    },
};
use tempfile::TempDir;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn index() -> (TempDir, Index) {
    let dir = tempfile::tempdir().unwrap();
    let library = Library::open([fixtures().join("library")]).unwrap();
    Index::update(dir.path(), &library, &UpdateOptions::default(), &mut |_| {}).unwrap();
    let index = Index::open(dir.path()).unwrap();
    (dir, index)
}

/// Returns the tasks of the fixtures with the skills that answer them.
fn data() -> EncoderData {
    data_with(&[])
}

/// Returns the same with the answer of task `t02` for some tasks.
fn data_with(wrong: &[&str]) -> EncoderData {
    let read = |name: &str| std::fs::read_to_string(fixtures().join(name)).unwrap();
    let qrels = read("qrels.trec");
    let answers = |query_id: &str| -> Vec<&str> {
        let rows = qrels.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|row| row[0] == query_id && row[3] != "0").map(|row| row[2]).collect()
    };
    let lines = read("tasks.jsonl").lines().fold(String::new(), |lines, line| {
        let task: serde_json::Value = serde_json::from_str(line).unwrap();
        let query_id = task["query_id"].as_str().unwrap();
        let skill_ids = answers(if wrong.contains(&query_id) { "t02" } else { query_id });
        let line = serde_json::json!({ "query": task["query"], "skill_ids": skill_ids });
        format!("{lines}{line}\n")
    });
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("queries.jsonl");
    std::fs::write(&file, lines).unwrap();
    let mut data = EncoderData::default();
    data.add_queries(&file).unwrap();
    data
}

fn options() -> EncoderOptions {
    EncoderOptions {
        n_terms: 3000,
        dim: 16,
        n_steps: 24,
        n_rounds: 3,
        patience: 9,
        n_pairs: 12,
        n_negatives: 3,
        ..EncoderOptions::default()
    }
}

/// Trains in a folder, and returns the log, too.
fn train(
    options: &EncoderOptions,
    folder: &Path,
    start: RunStart,
) -> (TrainedEncoder, Vec<LogLine>) {
    let (_dir, index) = index();
    let mut lines = Vec::new();
    let run = RunFolder { path: folder, start };
    let trained =
        train_encoder(&index, &data(), options, &run, &mut |line| lines.push(line.clone()));
    (trained.unwrap(), lines)
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let [a, b, c] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let (first, lines) = train(&options(), a.path(), RunStart::Fresh);
    let (second, _) = train(&options(), b.path(), RunStart::Fresh);
    assert_eq!(first, second);
    let other = EncoderOptions { seed: 2, ..options() };
    assert_ne!(train(&other, c.path(), RunStart::Fresh).0.bytes, first.bytes);

    assert_eq!(lines.len(), 3);
    let encoder = StaticEncoder::from_bytes(first.bytes).unwrap();
    assert_eq!(encoder.dim(), 16);
    let log = std::fs::read_to_string(a.path().join(LOG)).unwrap();
    assert_eq!(log.lines().count(), 3);
    assert!(a.path().join(PLOT).exists());
}

/// With mined negatives, which get harder each round, the loss of a round may rise.
#[test]
fn the_loss_falls_with_the_rounds() {
    let dir = tempfile::tempdir().unwrap();
    let options = EncoderOptions { n_steps: 120, n_negatives: 0, ..options() };
    let (_, lines) = train(&options, dir.path(), RunStart::Fresh);
    let losses: Vec<f32> = lines.iter().map(|line| line.losses[0]).collect();
    assert!(losses[2] < losses[0] / 2.0, "{losses:?}");
}

#[test]
fn a_finished_run_is_not_trained_again_and_another_one_is_not_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, _) = train(&options(), dir.path(), RunStart::Fresh);
    let (again, lines) = train(&options(), dir.path(), RunStart::Resume);
    assert_eq!(whole, again);
    assert!(lines.is_empty());

    let (_dir, index) = index();
    let run = RunFolder { path: dir.path(), start: RunStart::Resume };
    let other = EncoderOptions { dim: 8, ..options() };
    let error = train_encoder(&index, &data(), &other, &run, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::CheckpointForeign { .. }), "{error}");
    for task in ["t01", "t03", "t04", "t06"] {
        let other = data_with(&[task]);
        let error = train_encoder(&index, &other, &options(), &run, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::CheckpointForeign { .. }), "{task}: {error}");
    }
}

#[test]
fn a_checkpoint_that_is_cut_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    train(&options(), dir.path(), RunStart::Fresh);
    let path = dir.path().join("checkpoint.bin");
    let bytes = std::fs::read(&path).unwrap();
    let n_header_bytes = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let (_dir, index) = index();
    let run = RunFolder { path: dir.path(), start: RunStart::Resume };
    for n_kept in [0, n_header_bytes, n_header_bytes + 1, n_header_bytes + 10, bytes.len() - 4] {
        std::fs::write(&path, &bytes[..n_kept]).unwrap();
        let error = train_encoder(&index, &data(), &options(), &run, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::CheckpointForeign { .. }), "{n_kept}: {error}");
    }
}

#[test]
fn a_resumed_run_gives_what_a_run_at_once_gives() {
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (expected, _) = train(&options(), whole.path(), RunStart::Fresh);
    let (_dir, index) = index();
    let run = RunFolder { path: parts.path(), start: RunStart::Fresh };
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        train_encoder(&index, &data(), &options(), &run, &mut |line| {
            assert!(line.round < 2, "killed in the second round");
        })
    }));
    assert!(killed.is_err());
    let (resumed, lines) = train(&options(), parts.path(), RunStart::Resume);
    assert_eq!(lines.iter().map(|line| line.round).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(resumed, expected);
}

#[test]
fn a_loss_that_is_no_number_ends_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let (_dir, index) = index();
    let run = RunFolder { path: dir.path(), start: RunStart::Fresh };
    let options = EncoderOptions { learning_rate: f32::MAX, ..options() };
    let error = train_encoder(&index, &data(), &options, &run, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::LossNotFinite { .. }), "{error}");
}

#[test]
fn an_option_that_cannot_be_trained_with_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (_dir, index) = index();
    let run = RunFolder { path: dir.path(), start: RunStart::Fresh };
    let options = EncoderOptions { dim: 0, ..options() };
    let error = train_encoder(&index, &data(), &options, &run, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::BadOption { name: "dim", .. }), "{error}");
}

#[test]
fn data_about_other_skills_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("queries.jsonl");
    std::fs::write(&file, "{\"query\": \"merge\", \"skill_id\": \"no/such\"}\n").unwrap();
    let mut data = EncoderData::default();
    data.add_queries(&file).unwrap();
    let (_dir, index) = index();
    let run = RunFolder { path: dir.path(), start: RunStart::Fresh };
    let error = train_encoder(&index, &data, &options(), &run, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::TooFewPairs { n_pairs: 0, .. }), "{error}");

    std::fs::write(&file, "{\"query\": \"merge\"}\n[]\n").unwrap();
    let error = data.add_queries(&file).unwrap_err();
    assert!(matches!(error, Error::TrainingData { line: 2, .. }), "{error}");
}
