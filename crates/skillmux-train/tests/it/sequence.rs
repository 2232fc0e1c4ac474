//! Training of sequence composers.

use std::{fmt::Write as _, path::Path};

use skillmux::{
    index::{Index, UpdateOptions},
    library::Library,
    route::{Router, Stages},
    skill::SkillId,
};
use skillmux_models::sequence::{SceneKind, SequenceComposer, SequenceModel};
use skillmux_train::{
    Error,
    composer::{
        SetExamples, SetTasks,
        sequence::{SequenceOptions, TrainedSequence, train_sequence},
    },
    encoder::{RunFolder, RunStart},
};

/// Asks a router over the sample library tasks of two of its skills each, which use their names.
fn examples(folder: &Path, kept: Option<&Path>) -> SetExamples {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let path = folder.join("index");
    let library = Library::open([fixtures.join("library")]).unwrap();
    Index::update(&path, &library, &UpdateOptions::default(), &mut |_| ()).unwrap();
    let router = Router::new(Index::open(&path).unwrap(), Stages::default()).unwrap();
    let ids: Vec<SkillId> = router.index().ids().map(|id| id.unwrap()).collect();
    let words = |id: &SkillId| id.as_str().replace(['/', '-'], " ");
    let mut lines = String::new();
    for (at, first) in ids.iter().enumerate() {
        for second in ids.iter().cycle().skip(at + 1).step_by(3).take(4) {
            let query = format!("help with {}, then with {}", words(first), words(second));
            let line = serde_json::json!({"query": query, "skill_ids": [first, second]});
            writeln!(lines, "{line}").unwrap();
        }
    }
    let tasks_path = folder.join("tasks.jsonl");
    std::fs::write(&tasks_path, lines).unwrap();
    let mut tasks = SetTasks::default();
    tasks.add(&tasks_path).unwrap();
    let mut examples = kept.map_or_else(SetExamples::default, SetExamples::kept_in);
    examples.ask(&tasks, &router).unwrap();
    examples
}

fn options(scene: SceneKind, n_epochs: usize) -> SequenceOptions {
    SequenceOptions {
        width: 16,
        n_layers: 1,
        n_heads: 2,
        n_epochs,
        patience: 9,
        n_warm_up: 5,
        learning_rate: 5e-3,
        ..SequenceOptions::of_scene(scene)
    }
}

fn train(
    examples: &SetExamples,
    options: &SequenceOptions,
    path: &Path,
    start: RunStart,
) -> (TrainedSequence, Vec<f32>) {
    std::fs::create_dir_all(path).unwrap();
    let mut losses = Vec::new();
    let run = RunFolder { path, start };
    let encoder = skillmux_models::encoder();
    let mut note = |line: &_| {
        let skillmux_train::composer::sequence::EpochLine { loss, .. } = line;
        losses.push(*loss);
    };
    let trained = train_sequence(examples, &encoder, options, &run, &mut note).unwrap();
    (trained, losses)
}

#[test]
fn a_run_learns_and_one_that_goes_on_ends_as_if_it_had_not_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let examples = examples(folder.path(), None);
    let run = |name: &str| folder.path().join(name);
    let options = |n_epochs| options(SceneKind::Open, n_epochs);
    let (whole, losses) = train(&examples, &options(3), &run("whole"), RunStart::Fresh);
    assert_eq!(losses.len(), 3);
    assert!(losses[2] < 0.8 * losses[0], "{losses:?}");
    train(&examples, &options(1), &run("parts"), RunStart::Fresh);
    let (parts, losses) = train(&examples, &options(3), &run("parts"), RunStart::Resume);
    assert_eq!(losses.len(), 2);
    assert!(whole.bytes == parts.bytes, "other bytes");
    let other = SequenceOptions { seed: 2, ..options(3) };
    let foreign = RunFolder { path: &run("parts"), start: RunStart::Resume };
    let encoder = skillmux_models::encoder();
    let refused = train_sequence(&examples, &encoder, &other, &foreign, &mut |_| ());
    assert!(matches!(refused, Err(Error::CheckpointForeign { .. })));
}

#[test]
fn each_ablation_trains_and_its_composer_is_compared_on_held_out_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    // The second time, what was found is read.
    examples(folder.path(), Some(&kept));
    let n_kept = std::fs::read_dir(&kept).unwrap().count();
    let examples = examples(folder.path(), Some(&kept));
    assert_eq!((n_kept, std::fs::read_dir(&kept).unwrap().count()), (1, 1));
    let closed = options(SceneKind::Closed, 1);
    let bare = SequenceOptions {
        attends: false,
        set_weight: 0.0,
        count_weight: 0.0,
        fits_prior: false,
        fits_stop: false,
        ..options(SceneKind::Open, 1)
    };
    for options in [closed, bare.clone()] {
        let run = folder.path().join("run");
        let (trained, _) = train(&examples, &options, &run, RunStart::Fresh);
        if options == bare {
            let fusion = trained.fusion;
            let all = [fusion.prior, fusion.set, fusion.stop, fusion.count];
            assert!(all.iter().all(|weight| weight.to_bits() == 0), "{fusion:?}");
        }
        let model = SequenceModel::from_bytes(&trained.bytes).unwrap();
        let encoder = std::sync::Arc::new(skillmux_models::encoder());
        let composer = SequenceComposer::new(model, encoder).unwrap();
        let groups = examples.compare(&[("one", &composer), ("again", &composer)]).unwrap();
        let [group] = groups.as_slice() else { panic!("{} groups", groups.len()) };
        assert!(group.is_several && group.scores[0].set_f1.n > 10);
        assert_eq!(group.scores[0].set_f1, group.scores[1].set_f1);
        assert!(group.scores[1].against[0].mean_difference.abs() < 1e-12);
    }
}
