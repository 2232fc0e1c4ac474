//! [`Gguf`]: quantised weights of Qwen3 in a file of llama.cpp.

use std::{
    fs::{self, File},
    io::BufReader,
    panic::catch_unwind,
    path::PathBuf,
    sync::Arc,
};

use blake3::Hasher;
use candle_core::{
    Device,
    quantized::{
        GgmlDType, QTensor,
        gguf_file::{Content, Value},
    },
};

use super::{
    CheckpointError, TensorError,
    config::{Activation, Config, Family, Head},
    folder::Folder,
};
use crate::model_file::{WEIGHTS, WEIGHTS_INDEX};

/// What stands on a model that answers with labels: a row for each.
pub(super) const LABELS: &str = "cls.output.weight";

/// Parts of a layer, as llama.cpp and as `transformers` call them.
const PARTS: [(&str, &str); 11] = [
    ("attn_norm", "input_layernorm"),
    ("attn_q", "self_attn.q_proj"),
    ("attn_k", "self_attn.k_proj"),
    ("attn_v", "self_attn.v_proj"),
    ("attn_output", "self_attn.o_proj"),
    ("attn_q_norm", "self_attn.q_norm"),
    ("attn_k_norm", "self_attn.k_norm"),
    ("ffn_norm", "post_attention_layernorm"),
    ("ffn_gate", "mlp.gate_proj"),
    ("ffn_up", "mlp.up_proj"),
    ("ffn_down", "mlp.down_proj"),
];

/// A file whose header was read.
pub(super) struct Gguf {
    folder: Folder,
    name: String,
    content: Content,
}

impl Gguf {
    /// Reads the header of the GGUF file of a folder; `None` if there is none, or if there are
    /// weights as safetensors.
    pub(super) fn find(folder: &Folder) -> Result<Option<Self>, CheckpointError> {
        if [WEIGHTS, WEIGHTS_INDEX].iter().any(|file| folder.path().join(file).exists()) {
            return Ok(None);
        }
        let path = folder.path().to_owned();
        let unreadable = |source| CheckpointError::Read { path: path.clone(), source };
        let mut names = Vec::new();
        for entry in fs::read_dir(folder.path()).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|kind| kind == "gguf") {
                names.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
            }
        }
        names.sort_unstable();
        let name = match &names[..] {
            [] => return Ok(None),
            [name] => name.clone(),
            [first, second, ..] => {
                return Err(folder.form(second, format!("there is another one, `{first}`")));
            }
        };
        let file = open(folder, &name)?;
        // The reader divides by `general.alignment`, which may be 0 in a file.
        let content = catch_unwind(|| Content::read(&mut BufReader::new(file)))
            .map_err(|_| folder.form(&name, "its header cannot be read"))?
            .map_err(|error| folder.form(&name, problem(error)))?;
        Ok(Some(Self { folder: folder.clone(), name, content }))
    }

    /// Returns the form of the network, as the header says it.
    pub(super) fn config(&self) -> Result<Config, CheckpointError> {
        let family = match self.content.metadata.get("general.architecture") {
            Some(Value::String(name)) => name.clone(),
            _ => "none".to_owned(),
        };
        if family != "qwen3" {
            let (folder, architecture) = (self.folder.path().to_owned(), family);
            return Err(CheckpointError::ArchitectureUnknown { folder, architecture });
        }
        let (n_heads, width) =
            (self.count("attention.head_count")?, self.count("embedding_length")?);
        let table = self.content.tensor_infos.get("token_embd.weight");
        let n_vocab = table.and_then(|table| table.shape.dims().first().copied());
        // Of the kinds of pooling, 3 is that of the last token.
        let is_pooled = self.count("pooling_type").is_ok_and(|kind| kind == 3);
        let (architecture, head) = if is_pooled {
            ("Qwen3Model", Head::None)
        } else {
            ("Qwen3ForCausalLM", Head::LanguageModel)
        };
        let config = Config {
            architecture: architecture.to_owned(),
            family: Family::Qwen3,
            head,
            n_vocab: n_vocab.unwrap_or(0),
            width,
            n_layers: self.count("block_count")?,
            n_heads,
            n_key_heads: self.count("attention.head_count_kv").unwrap_or(n_heads),
            head_width: self
                .count("attention.key_length")
                .unwrap_or_else(|_| width / n_heads.max(1)),
            inner_width: self.count("feed_forward_length")?,
            n_positions: self.count("context_length")?,
            n_types: 1,
            n_labels: 2,
            pad_token: 0,
            activation: Activation::Gelu,
            norm_epsilon: self.number("attention.layer_norm_rms_epsilon").unwrap_or(1e-6),
            rope_theta: self.number("rope.freq_base").unwrap_or(10_000.0),
        };
        config.check(&self.folder, &self.name)?;
        Ok(config)
    }

    /// Returns the row of [`LABELS`] that says yes, and the one that says no.
    pub(super) fn answers(&self) -> (u32, u32) {
        let labels = self.content.metadata.get("qwen3.classifier.output_labels");
        match labels.and_then(|labels| labels.to_vec().ok()).and_then(|labels| labels.first()) {
            Some(Value::String(first)) if first == "no" => (1, 0),
            _ => (0, 1),
        }
    }

    /// Reads all tensors, by their names in `transformers`, and adds all bytes to the hash.
    pub(super) fn tensors(
        &self,
        hasher: &mut Hasher,
    ) -> Result<Vec<(String, Arc<QTensor>)>, CheckpointError> {
        let unreadable = |source| CheckpointError::Read { path: self.path(), source };
        hasher.update_reader(open(&self.folder, &self.name)?).map_err(unreadable)?;
        let mut reader = BufReader::new(open(&self.folder, &self.name)?);
        let mut tensors = Vec::new();
        let mut infos: Vec<_> = self.content.tensor_infos.iter().collect();
        infos.sort_unstable_by_key(|(name, info)| (info.offset, *name));
        for (name, _) in infos {
            let tensor = self.content.tensor(&mut reader, name, &Device::Cpu);
            let tensor = tensor.map_err(|error| self.folder.form(&self.name, problem(error)))?;
            tensors.push((name_in_transformers(name), Arc::new(tensor)));
        }
        Ok(tensors)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Returns a size of the header.
    fn count(&self, key: &str) -> Result<usize, CheckpointError> {
        let value = self.content.metadata.get(&format!("qwen3.{key}"));
        let count = value.and_then(|value| value.to_u64().ok());
        let count = count.and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| self.folder.form(&self.name, format!("it has no `qwen3.{key}`")))
    }

    /// Returns a number of the header.
    fn number(&self, key: &str) -> Option<f64> {
        match self.content.metadata.get(&format!("qwen3.{key}"))? {
            Value::F32(number) => Some(f64::from(*number)),
            Value::F64(number) => Some(*number),
            value => value.to_u64().ok().map(|number| number as f64),
        }
    }
}

/// Returns whether a type of tensors is that of plain fractions.
pub(super) fn is_plain(dtype: GgmlDType) -> bool {
    matches!(dtype, GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16)
}

fn open(folder: &Folder, name: &str) -> Result<File, CheckpointError> {
    let path = folder.path().join(name);
    File::open(&path).map_err(|source| CheckpointError::Read { path, source })
}

fn name_in_transformers(name: &str) -> String {
    let of_layer = || {
        let (layer, rest) = name.strip_prefix("blk.")?.split_once('.')?;
        let part = rest.strip_suffix(".weight")?;
        let (_, part) = PARTS.iter().find(|(known, _)| *known == part)?;
        Some(format!("layers.{layer}.{part}.weight"))
    };
    match name {
        "token_embd.weight" => "embed_tokens.weight".to_owned(),
        "output_norm.weight" => "norm.weight".to_owned(),
        "output.weight" => "lm_head.weight".to_owned(),
        _ => of_layer().unwrap_or_else(|| name.to_owned()),
    }
}

/// Says what is wrong with a file.
fn problem(error: candle_core::Error) -> String {
    format!("it is no whole GGUF file ({})", TensorError(error))
}
