//! Quantised weights against the same weights in single precision.

use std::{collections::BTreeMap, fs::File};

use candle_core::{
    Device, Tensor,
    quantized::{
        GgmlDType, QTensor,
        gguf_file::{self, Value},
    },
};
use serde_json::json;
use skillmux::model::{Encoder, PairScorer};
use skillmux_models::checkpoint::{Checkpoint, CheckpointError, Precision, Tunable, TuneOptions};

use crate::reference::{Reference, Written, weight};

/// The forms of tiny networks: width, inner width, layers. Blocks of `Q8_0` have 32 numbers, those
/// of `Q4_K` 256.
const NARROW: [usize; 3] = [32, 48, 2];
const WIDE: [usize; 3] = [256, 512, 1];

const N_VOCAB: usize = 18;
const N_HEADS: usize = 4;
const N_KEY_HEADS: usize = 2;

/// A network with its weights in a GGUF file, and the same weights as safetensors.
struct Pair {
    quantised: Written,
    plain: Written,
}

/// Returns the tensors of a network, by their names in GGUF and in `transformers`, with their
/// shapes.
fn tensors([width, inner, n_layers]: [usize; 3]) -> Vec<(String, String, Vec<usize>)> {
    let head = width / N_HEADS;
    let mut all = vec![
        ("token_embd".to_owned(), "embed_tokens".to_owned(), vec![N_VOCAB, width]),
        ("output_norm".to_owned(), "norm".to_owned(), vec![width]),
    ];
    for layer in 0..n_layers {
        for (short, long, shape) in [
            ("attn_norm", "input_layernorm", vec![width]),
            ("attn_q", "self_attn.q_proj", vec![N_HEADS * head, width]),
            ("attn_k", "self_attn.k_proj", vec![N_KEY_HEADS * head, width]),
            ("attn_v", "self_attn.v_proj", vec![N_KEY_HEADS * head, width]),
            ("attn_output", "self_attn.o_proj", vec![width, N_HEADS * head]),
            ("attn_q_norm", "self_attn.q_norm", vec![head]),
            ("attn_k_norm", "self_attn.k_norm", vec![head]),
            ("ffn_norm", "post_attention_layernorm", vec![width]),
            ("ffn_gate", "mlp.gate_proj", vec![inner, width]),
            ("ffn_up", "mlp.up_proj", vec![inner, width]),
            ("ffn_down", "mlp.down_proj", vec![width, inner]),
        ] {
            all.push((format!("blk.{layer}.{short}"), format!("layers.{layer}.{long}"), shape));
        }
    }
    let with_end = |name: String| format!("{name}.weight");
    all.into_iter().map(|(short, long, shape)| (with_end(short), with_end(long), shape)).collect()
}

/// Writes a network twice; `pooling` is that of GGUF: 3 is of the last token, 4 of a reranker.
fn write(form: [usize; 3], dtype: GgmlDType, pooling: u32, labels: Option<[&str; 2]>) -> Pair {
    let reference = Reference::read();
    let name = if pooling == 3 { "qwen3 encoder" } else { "qwen3 reranker" };
    let [quantised, plain] = [(); 2].map(|()| reference.write_named(name));
    let mut stored = Vec::new();
    let mut widened = BTreeMap::new();
    for (short, long, shape) in tensors(form) {
        let tensor = numbers(&long, &shape);
        // llama.cpp leaves vectors, and what does not fill its blocks, as it is.
        let is_block = shape.len() == 2 && shape[1].is_multiple_of(dtype.block_size());
        let dtype = if is_block { dtype } else { GgmlDType::F32 };
        let tensor = QTensor::quantize(&tensor, dtype).unwrap();
        widened.insert(long, tensor.dequantize(&Device::Cpu).unwrap());
        stored.push((short, tensor));
    }
    let mut metadata = metadata(form, pooling);
    if let Some(labels) = labels {
        let of_label = |label: &str| match label {
            "yes" => numbers("answer yes", &[1, form[0]]),
            _ => numbers("answer no", &[1, form[0]]),
        };
        let rows = Tensor::cat(&labels.map(of_label), 0).unwrap();
        stored.push((
            "cls.output.weight".to_owned(),
            QTensor::quantize(&rows, GgmlDType::F32).unwrap(),
        ));
        let labels = labels.map(|label| Value::String(label.to_owned())).to_vec();
        metadata.push(("qwen3.classifier.output_labels".to_owned(), Value::Array(labels)));
    }
    let mut file = File::create(quantised.file("model.gguf")).unwrap();
    let metadata: Vec<_> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let stored: Vec<_> = stored.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    gguf_file::write(&mut file, &metadata, &stored).unwrap();
    for file in ["model.safetensors", "config.json"] {
        std::fs::remove_file(quantised.file(file)).unwrap();
    }
    candle_core::safetensors::save(&widened.into_iter().collect(), plain.file("model.safetensors"))
        .unwrap();
    plain.write("config.json", &config(form, pooling));
    Pair { quantised, plain }
}

fn numbers(name: &str, shape: &[usize]) -> Tensor {
    let numbers = weight(name, shape.iter().product());
    Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap()
}

fn config([width, inner, n_layers]: [usize; 3], pooling: u32) -> serde_json::Value {
    let architecture = if pooling == 3 { "Qwen3Model" } else { "Qwen3ForCausalLM" };
    json!({
        "architectures": [architecture], "model_type": "qwen3", "vocab_size": N_VOCAB,
        "hidden_size": width, "intermediate_size": inner, "num_hidden_layers": n_layers,
        "num_attention_heads": N_HEADS, "num_key_value_heads": N_KEY_HEADS,
        "head_dim": width / N_HEADS, "max_position_embeddings": 256, "rope_theta": 1_000_000.0,
        "rms_norm_eps": 1e-6,
    })
}

fn metadata([width, inner, n_layers]: [usize; 3], pooling: u32) -> Vec<(String, Value)> {
    let size = |n: usize| Value::U32(u32::try_from(n).unwrap());
    let mut all = vec![
        ("general.architecture".to_owned(), Value::String("qwen3".to_owned())),
        ("qwen3.pooling_type".to_owned(), Value::U32(pooling)),
        ("qwen3.rope.freq_base".to_owned(), Value::F32(1_000_000.0)),
        ("qwen3.attention.layer_norm_rms_epsilon".to_owned(), Value::F32(1e-6)),
    ];
    for (key, n) in [
        ("embedding_length", width),
        ("feed_forward_length", inner),
        ("block_count", n_layers),
        ("context_length", 256),
        ("attention.head_count", N_HEADS),
        ("attention.head_count_kv", N_KEY_HEADS),
        ("attention.key_length", width / N_HEADS),
    ] {
        all.push((format!("qwen3.{key}"), size(n)));
    }
    all
}

fn cosines(a: &[f32], b: &[f32], dim: usize) -> Vec<f32> {
    let rows = a.chunks(dim).zip(b.chunks(dim));
    rows.map(|(a, b)| a.iter().zip(b).map(|(x, y)| x * y).sum()).collect()
}

#[test]
fn an_encoder_of_quantised_weights_gives_nearly_the_same_vectors() {
    let reference = Reference::read();
    for (form, dtype, least) in [(NARROW, GgmlDType::Q8_0, 0.999), (WIDE, GgmlDType::Q4K, 0.999)] {
        let Pair { quantised, plain } = write(form, dtype, 3, None);
        let [quantised, plain] =
            [quantised, plain].map(|written| written.open().encoder().unwrap());
        assert_eq!(quantised.identity().name, plain.identity().name);
        assert_ne!(quantised.identity().fingerprint, plain.identity().fingerprint);
        let vectors = |encoder: &dyn Encoder| encoder.encode_queries(&reference.texts()).unwrap();
        let cosines = cosines(&vectors(&quantised), &vectors(&plain), form[0]);
        assert!(cosines.iter().all(|cosine| *cosine > least), "{dtype:?}: {cosines:?}");
        assert!(cosines.iter().any(|cosine| *cosine < 0.999_999_9), "{dtype:?} is not used");
    }
}

#[test]
fn numbers_that_are_not_quantised_give_the_same_vectors() {
    let reference = Reference::read();
    let Pair { quantised, plain } = write(NARROW, GgmlDType::F32, 3, None);
    let vectors =
        |written: &Written| written.open().encoder().unwrap().encode(&reference.texts()).unwrap();
    assert_eq!(vectors(&quantised), vectors(&plain));
}

#[test]
fn a_reranker_of_quantised_weights_gives_nearly_the_same_scores() {
    let reference = Reference::read();
    let Pair { quantised, plain } = write(NARROW, GgmlDType::Q8_0, 4, None);
    let scores = |written: &Written| {
        let scorer = written.open().pair_scorer().unwrap();
        scorer.scores(&reference.query, &reference.texts()).unwrap()
    };
    let (quantised, plain) = (scores(&quantised), scores(&plain));
    let far = quantised.iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    // The states of these networks are some six long, and the direction of yes is two.
    assert!(far < 0.1, "{quantised:?} is not {plain:?}");
    assert_ne!(quantised, plain);
}

#[test]
fn a_reranker_answers_with_its_labels_in_either_order() {
    let reference = Reference::read();
    let scores = |labels| {
        let written = write(NARROW, GgmlDType::Q8_0, 4, labels).quantised;
        let scorer = written.open().pair_scorer().unwrap();
        scorer.scores(&reference.query, &reference.texts()).unwrap()
    };
    let found = scores(Some(["yes", "no"]));
    assert_eq!(found, scores(Some(["no", "yes"])));
    assert_ne!(found, scores(None));
}

#[test]
fn a_configuration_goes_before_the_header() {
    let reference = Reference::read();
    let Pair { quantised, .. } = write(NARROW, GgmlDType::Q8_0, 3, None);
    let vectors =
        |written: &Written| written.open().encoder().unwrap().encode(&reference.texts()).unwrap();
    let by_header = vectors(&quantised);
    quantised.write("config.json", &config(NARROW, 3));
    assert_eq!(vectors(&quantised), by_header);
    let mut other = config(NARROW, 3);
    other["rope_theta"] = json!(100.0);
    quantised.write("config.json", &other);
    assert_ne!(vectors(&quantised), by_header);
}

#[test]
fn weights_as_safetensors_go_before_a_gguf_file() {
    let Pair { quantised, plain } = write(NARROW, GgmlDType::Q8_0, 3, None);
    let identity = |written: &Written| written.open().encoder().unwrap().identity().clone();
    let alone = identity(&plain);
    std::fs::copy(quantised.file("model.gguf"), plain.file("model.gguf")).unwrap();
    assert_eq!(identity(&plain), alone);
}

#[test]
fn a_gguf_file_that_cannot_be_read_is_told() {
    let Pair { quantised, .. } = write(NARROW, GgmlDType::Q8_0, 3, None);
    let folder = quantised.path().display().to_string();
    let refused = |written: &Written| {
        let checkpoint = Checkpoint::open(written.path());
        let error = checkpoint.and_then(|checkpoint| checkpoint.encoder().map(drop)).unwrap_err();
        error.to_string().replace(&folder, "DIR")
    };
    let options = TuneOptions {
        device: Device::Cpu,
        precision: Precision::Single,
        max_query_tokens: 8,
        max_text_tokens: 8,
    };
    let error = Tunable::open(&quantised.open(), &options).err().unwrap();
    assert!(matches!(error, CheckpointError::FileMissing { .. }), "{error}");

    let bytes = std::fs::read(quantised.file("model.gguf")).unwrap();
    for n_left in [0, 3, 50, bytes.len() / 2] {
        std::fs::write(quantised.file("model.gguf"), &bytes[..n_left]).unwrap();
        let message = refused(&quantised);
        assert!(message.starts_with("cannot use `DIR/model.gguf`: "), "{message}");
    }
    let mut file = File::create(quantised.file("model.gguf")).unwrap();
    gguf_file::write(&mut file, &[("general.alignment", &Value::U32(0))], &[]).unwrap();
    let message = "cannot use `DIR/model.gguf`: its header cannot be read";
    assert_eq!(refused(&quantised), message);
    std::fs::write(quantised.file("other.gguf"), &bytes).unwrap();
    let message = "cannot use `DIR/other.gguf`: there is another one, `model.gguf`";
    assert_eq!(refused(&quantised), message);
    std::fs::remove_file(quantised.file("model.gguf")).unwrap();
    quantised.write("config.json", &config([64, 48, 2], 3));
    let message = refused(&quantised);
    assert!(message.contains("have the shape [18, 32] and not [18, 64]"), "{message}");
}
