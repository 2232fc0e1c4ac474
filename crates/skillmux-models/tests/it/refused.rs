//! What cannot work ends in one sentence that says what to do.

use std::fs;

use serde_json::{Value, json};
use skillmux::ErrorKind;
use skillmux_models::checkpoint::{Checkpoint, CheckpointError};

use crate::reference::{Reference, Written};

/// Reads a checkpoint for what it says that it is for.
fn read(written: &Written) -> Result<(), CheckpointError> {
    let checkpoint = Checkpoint::open(written.path())?;
    match checkpoint.encoder() {
        Err(CheckpointError::OtherUse { .. }) => checkpoint.pair_scorer().map(drop),
        other => other.map(drop),
    }
}

/// Returns the message of a checkpoint that cannot be read, without its folder, and the begin of
/// the hint.
fn refusal(written: &Written) -> (String, String) {
    let error = read(written).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    let folder = written.path().display().to_string();
    (error.to_string().replace(&folder, "DIR"), error.hint().unwrap())
}

fn assert_refused(written: &Written, message: &str, hint: &str) {
    let (found, found_hint) = refusal(written);
    assert_eq!(found, message);
    assert!(found_hint.starts_with(hint), "{found_hint}");
    assert!(!found.contains('\n') && !found.ends_with('.'));
}

#[test]
fn a_missing_checkpoint_is_to_be_downloaded() {
    let error = Checkpoint::open("BAAI/bge-m3".as_ref()).unwrap_err();
    assert_eq!(error.to_string(), "`BAAI/bge-m3` is no folder with a model");
    let hint = error.hint().unwrap();
    assert!(
        hint.starts_with("download a model first, as with: hf download BAAI/bge-m3 "),
        "{hint}"
    );
    assert!(hint.contains("for a reranker: hf download BAAI/bge-reranker-v2-m3 "), "{hint}");
}

#[test]
fn missing_files_are_named() {
    let reference = Reference::read();
    for (file, hint) in [
        ("config.json", "fetch the whole folder again"),
        ("tokenizer.json", "fetch it from where the weights are from"),
        ("model.safetensors", "fetch the weights as safetensors"),
    ] {
        let written = reference.write_named("bert encoder");
        fs::remove_file(written.file(file)).unwrap();
        assert_refused(&written, &format!("`DIR` has no `{file}`"), hint);
    }
}

#[test]
fn an_encoder_is_no_reranker_and_a_reranker_is_no_encoder() {
    let reference = Reference::read();
    let encoder = reference.write_named("bert encoder");
    let error = encoder.open().pair_scorer().err().unwrap();
    let folder = encoder.path().display();
    let expected = format!("`{folder}` is an encoder (`BertModel`), not a reranker");
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().unwrap().starts_with("name it as the encoder"));

    for (name, architecture) in
        [("bert reranker", "BertForSequenceClassification"), ("qwen3 reranker", "Qwen3ForCausalLM")]
    {
        let reranker = reference.write_named(name);
        let error = reranker.open().encoder().err().unwrap();
        let folder = reranker.path().display();
        let expected = format!("`{folder}` is a reranker (`{architecture}`), not an encoder");
        assert_eq!(error.to_string(), expected);
        assert!(error.hint().unwrap().starts_with("name it as the reranker"));
    }
}

#[test]
fn a_language_model_can_be_declared_an_encoder() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 reranker");
    written.write("skillmux.json", &json!({"use": "encoder"}));
    assert!(written.open().encoder().is_ok());
}

#[test]
fn weights_that_are_cut_short_are_told() {
    let reference = Reference::read();
    let written = reference.write_named("bert encoder");
    let whole = fs::read(written.file("model.safetensors")).unwrap();
    let n = whole.len();
    for n_left in [n - 1, n / 2] {
        fs::write(written.file("model.safetensors"), &whole[..n_left]).unwrap();
        let message =
            format!("`DIR/model.safetensors` has {n_left} bytes, but its header says {n}");
        assert_refused(&written, &message, "the download was cut short");
    }
    for n_left in [0, 5, 8, 9, 100] {
        fs::write(written.file("model.safetensors"), &whole[..n_left]).unwrap();
        assert!(
            refusal(&written).0.starts_with("`DIR/") || refusal(&written).0.starts_with("cannot")
        );
    }
    let page = "<!doctype html><html>not found</html>";
    fs::write(written.file("model.safetensors"), page).unwrap();
    let message = "cannot use `DIR/model.safetensors`: it is no safetensors file";
    assert_refused(&written, message, "fetch the files again");
}

/// Returns a tiny checkpoint with another value in its configuration.
fn with_config(name: &str, key: &str, value: Value) -> Written {
    let reference = Reference::read();
    let written = reference.write_named(name);
    let mut config = reference.cases(name).next().unwrap().config.clone();
    config[key] = value;
    written.write("config.json", &config);
    written
}

#[test]
fn what_is_not_computed_is_told() {
    for (name, key, value, message) in [
        (
            "bert encoder",
            "architectures",
            json!(["T5EncoderModel"]),
            "`DIR` has the architecture `T5EncoderModel`, which skillmux does not run",
        ),
        (
            "bert encoder",
            "hidden_act",
            json!("mish"),
            "`DIR` needs the activation `mish`, which skillmux does not compute",
        ),
        (
            "qwen3 encoder",
            "rope_scaling",
            json!({"rope_type": "yarn", "factor": 4.0}),
            "`DIR` needs rotary positions of the kind `yarn`, which skillmux does not compute",
        ),
        (
            "bert reranker",
            "id2label",
            json!({"0": "a", "1": "b", "2": "c"}),
            "`DIR` needs a head of 3 labels, which skillmux does not compute",
        ),
        (
            "bert encoder",
            "hidden_size",
            json!(64),
            "the weights in `DIR` have the shape [18, 32] and not [18, 64] for \
             `embeddings.word_embeddings.weight`",
        ),
        (
            "bert encoder",
            "num_hidden_layers",
            json!(3),
            "the weights in `DIR` have no tensor `encoder.layer.2.attention.self.query.bias`",
        ),
        (
            "bert encoder",
            "num_attention_heads",
            json!(0),
            "cannot use `DIR/config.json`: a size in it is none",
        ),
    ] {
        assert_eq!(refusal(&with_config(name, key, value)).0, message);
    }
}

#[test]
fn files_that_do_not_parse_are_named() {
    let reference = Reference::read();
    for file in ["config.json", "tokenizer.json", "modules.json", "skillmux.json"] {
        let written = reference.write_named("bert encoder");
        fs::write(written.file(file), "{\"vers").unwrap();
        let (message, _) = refusal(&written);
        assert!(message.starts_with(&format!("cannot use `DIR/{file}`: ")), "{message}");
    }
    let written = reference.write_named("bert encoder");
    for (own, detail) in [
        (json!({"poolng": "mean"}), "unknown field `poolng`"),
        (json!({"query_chars": 0}), "integer `0`, expected a nonzero"),
    ] {
        written.write("skillmux.json", &own);
        let (message, hint) = refusal(&written);
        assert!(message.contains(detail), "{message}");
        assert!(hint.starts_with("correct or remove skillmux.json"), "{hint}");
    }
    written.write("skillmux.json", &json!({"query_chars": 1}));
    assert!(read(&written).is_ok());
}

#[test]
fn a_tokenizer_with_more_tokens_than_the_weights_is_told() {
    let reference = Reference::read();
    for name in ["bert encoder", "qwen3 reranker"] {
        let written = reference.write_named(name);
        let text = fs::read_to_string(written.file("tokenizer.json")).unwrap();
        // The tokens are those of the fixture but for the number of one.
        fs::write(written.file("tokenizer.json"), text.replace("\"of\":17", "\"of\":107")).unwrap();
        assert_refused(
            &written,
            "the tokenizer in `DIR` numbers 108 tokens, but the weights have rows for 18",
            "fetch the files again, all of them from one version",
        );
    }
}

#[test]
fn modules_and_poolings_that_are_not_computed_are_told() {
    let reference = Reference::read();
    let written = reference.write_named("bert encoder");
    written.write("1_Pooling/config.json", &json!({"pooling_mode_max_tokens": true}));
    assert!(refusal(&written).0.starts_with("`DIR` needs the pooling of `1_Pooling/config.json`"));
    written.write("modules.json", &json!([{"type": "sentence_transformers.models.Dense"}]));
    assert!(refusal(&written).0.starts_with("`DIR` needs the module `Dense`"));
    written.write("modules.json", &json!([{"type": "x.Pooling", "path": "../../etc"}]));
    assert!(refusal(&written).0.starts_with("cannot use `DIR/modules.json`"));
}

#[test]
fn a_reranker_without_its_answers_is_told() {
    let reference = Reference::read();
    let written = reference.write_named("qwen3 reranker");
    let text = fs::read_to_string(written.file("tokenizer.json")).unwrap();
    fs::write(written.file("tokenizer.json"), text.replace("\"yes\"", "\"yep\"")).unwrap();
    assert_refused(
        &written,
        "the tokenizer in `DIR` has no token `yes`",
        "a reranker answers with `yes` or `no`",
    );
}
