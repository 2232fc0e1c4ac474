//! The words of published models, by the name of a preset.

use serde_json::{Value, json};
use skillmux::model::{Encoder, PairScorer};
use skillmux_models::checkpoint::{CheckpointEncoder, CheckpointError, CheckpointUse, Preset};

use crate::reference::{Reference, Written};

/// Opens an encoder with a `skillmux.json`.
fn with_own(written: &Written, own: &Value) -> CheckpointEncoder {
    written.write("skillmux.json", own);
    written.open().encoder().unwrap()
}

fn with_preset(written: &Written, preset: Preset) -> CheckpointEncoder {
    let checkpoint = written.open().with_preset(preset, CheckpointUse::Encoder).unwrap();
    checkpoint.encoder().unwrap()
}

#[test]
fn a_preset_says_what_stands_before_a_query() {
    let reference = Reference::read();
    let texts = reference.texts();
    let written = reference.write_named("qwen3 encoder");
    let found = with_preset(&written, Preset::SkillRet);
    let prefix = "Instruct: Given a skill search query, retrieve relevant skills that match the \
                  query\nQuery: ";
    let expected = with_own(&written, &json!({"query_prefix": prefix}));
    assert_eq!(found.encode_queries(&texts).unwrap(), expected.encode_queries(&texts).unwrap());
    assert_eq!(found.encode(&texts).unwrap(), expected.encode(&texts).unwrap());
    assert_ne!(found.encode_queries(&texts).unwrap(), found.encode(&texts).unwrap());
}

#[test]
fn a_preset_is_named_by_the_folder_or_by_the_caller() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 encoder");
    let bare = written.open().encoder().unwrap().identity().clone();
    for preset in [Preset::SkillRouter, Preset::SkillRet, Preset::R3] {
        let by_caller = with_preset(&written, preset);
        let by_folder = with_own(&written, &json!({"preset": preset.name()}));
        assert_eq!(by_caller.identity(), by_folder.identity());
        assert_ne!(by_caller.identity(), &bare);
        // The caller's goes before the folder's.
        let r3 = with_preset(&written, Preset::R3);
        assert_eq!(r3.identity() == by_folder.identity(), preset == Preset::R3);
        written.write("skillmux.json", &json!({}));
    }
}

#[test]
fn the_words_of_the_folder_go_before_those_of_a_preset() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 encoder");
    let own = json!({"query_prefix": "fill", "text_prefix": "no ", "max_tokens": 12});
    written.write("skillmux.json", &own);
    let mixed = with_preset(&written, Preset::R3);
    let plain = written.open().encoder().unwrap();
    assert_eq!(mixed.identity(), plain.identity());
}

#[test]
fn a_query_is_cut_and_a_skill_is_not() {
    let reference = Reference::read();
    let written = reference.write_named("bert encoder");
    let encoder = with_own(&written, &json!({"query_chars": 4}));
    let queries = encoder.encode_queries(&["form of a pdf", "form", "fo"]).unwrap();
    let [long, short, part]: [&[f32]; 3] =
        queries.chunks(encoder.dim()).collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(long, short);
    assert_ne!(short, part);
    let skills = encoder.encode(&["form of a pdf", "form"]).unwrap();
    assert_ne!(skills[..encoder.dim()], skills[encoder.dim()..]);
}

#[test]
fn skillrouter_cuts_a_query_at_2000_characters() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 encoder");
    let encoder = with_preset(&written, Preset::SkillRouter);
    // Blanks are no tokens: only what stands after the cut can make a difference.
    let query = |n_blanks: usize| format!("merge{}query", " ".repeat(n_blanks));
    let vector = |text: &str| encoder.encode_queries(&[text]).unwrap();
    assert_eq!(vector(&query(1995)), vector("merge"));
    assert_ne!(vector(&query(1990)), vector("merge"));
}

#[test]
fn skillweaver_takes_the_mean_of_all_tokens() {
    let reference = Reference::read();
    let written = reference.write_named("xlm-roberta encoder");
    let found = with_preset(&written, Preset::SkillWeaver);
    let expected = with_own(&written, &json!({"pooling": "mean", "max_tokens": 256}));
    assert_eq!(found.identity(), expected.identity());
    let qwen3 = reference.write_named("qwen3 encoder");
    let checkpoint = qwen3.open().with_preset(Preset::SkillWeaver, CheckpointUse::Encoder).unwrap();
    assert!(matches!(checkpoint.encoder(), Err(CheckpointError::Unsupported { .. })));
}

#[test]
fn a_preset_says_what_a_reranker_is_told() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 reranker");
    let scores = |own: &Value| {
        written.write("skillmux.json", own);
        let scorer = written.open().pair_scorer().unwrap();
        scorer.scores(&reference.query, &reference.texts()).unwrap()
    };
    let instruction = "Given a user request, retrieve the agent skill that solves it.";
    let preset = scores(&json!({"preset": "r3"}));
    assert_eq!(preset, scores(&json!({"instruction": instruction, "max_tokens": 4096})));
    assert_ne!(preset, scores(&json!({"preset": "skillret"})));
    // The instruction of SkillRouter is that of a folder that says nothing.
    assert_eq!(scores(&json!({"preset": "skillrouter"})), scores(&json!({"max_tokens": 4096})));
}

#[test]
fn both_models_of_a_preset_may_be_language_models() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 reranker");
    let open = |purpose| written.open().with_preset(Preset::SkillRouter, purpose).unwrap();
    assert!(open(CheckpointUse::Encoder).encoder().is_ok());
    assert!(open(CheckpointUse::PairScorer).pair_scorer().is_ok());
    // What is a classifier stays one.
    let classifier = reference.write_named("bert reranker");
    let asked = classifier.open().with_preset(Preset::SkillRouter, CheckpointUse::Encoder).unwrap();
    assert!(matches!(asked.encoder(), Err(CheckpointError::OtherUse { .. })));
}

#[test]
fn an_unknown_preset_is_refused() {
    let reference = Reference::read();
    let written = reference.write_named("bert encoder");
    written.write("skillmux.json", &json!({"preset": "skillruter"}));
    let error = skillmux_models::checkpoint::Checkpoint::open(written.path()).unwrap_err();
    assert!(error.to_string().contains("unknown variant `skillruter`"), "{error}");
}
