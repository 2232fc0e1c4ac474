//! What the files of a checkpoint say of its network.

use serde::Deserialize;

use super::{CheckpointError, CheckpointUse, folder::Folder};
use crate::model_file::CONFIG;

/// The form of a network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    /// Name of the architecture in the configuration.
    pub(super) architecture: String,
    pub(super) family: Family,
    pub(super) head: Head,
    pub(super) n_vocab: usize,
    pub(super) width: usize,
    pub(super) n_layers: usize,
    pub(super) n_heads: usize,
    pub(super) n_key_heads: usize,
    pub(super) head_width: usize,
    pub(super) inner_width: usize,
    pub(super) n_positions: usize,
    pub(super) n_types: usize,
    /// Of a classifier.
    pub(super) n_labels: usize,
    /// Token that fills up, after which `RoBERTa` counts positions.
    pub(super) pad_token: usize,
    pub(super) activation: Activation,
    pub(super) norm_epsilon: f64,
    pub(super) rope_theta: f64,
}

/// Which network reads the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Bert,
    /// As BERT; positions are counted from the token that fills up, and the classifier has another
    /// form.
    Roberta,
    Qwen3,
}

/// What stands on top of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    None,
    Classifier,
    LanguageModel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// By the error function.
    Gelu,
    /// By the hyperbolic tangent.
    GeluTanh,
    Relu,
}

/// `config.json`.
#[derive(Deserialize)]
struct ConfigFile {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    type_vocab_size: Option<usize>,
    pad_token_id: Option<usize>,
    hidden_act: Option<String>,
    layer_norm_eps: Option<f64>,
    rms_norm_eps: Option<f64>,
    rope_theta: Option<f64>,
    rope_parameters: Option<Rope>,
    rope_scaling: Option<Rope>,
    #[serde(default)]
    use_sliding_window: bool,
    #[serde(default)]
    attention_bias: bool,
    position_embedding_type: Option<String>,
    num_labels: Option<usize>,
    id2label: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Deserialize)]
struct Rope {
    #[serde(alias = "type")]
    rope_type: Option<String>,
    rope_theta: Option<f64>,
}

/// Returns whether the configuration of a folder is that of a static model.
pub(super) fn is_static(folder: &Folder) -> Result<bool, CheckpointError> {
    Ok(folder.json::<Named>(CONFIG)?.is_some_and(|named| named.is_static()))
}

impl Config {
    /// Reads the configuration of a folder; `None` if it has no file of that name.
    pub(super) fn read(folder: &Folder) -> Result<Option<Self>, CheckpointError> {
        let Some(bytes) = folder.bytes(CONFIG)? else { return Ok(None) };
        let form = |error: serde_json::Error| folder.form(CONFIG, error.to_string());
        // The architecture first: another one lacks numbers that ours have.
        let names: Named = serde_json::from_slice(&bytes).map_err(form)?;
        let (architecture, family, head) = names.resolve(folder)?;
        let file: ConfigFile = serde_json::from_slice(&bytes).map_err(form)?;
        let config = file.resolve(folder, architecture, family, head)?;
        config.check(folder, CONFIG)?;
        Ok(Some(config))
    }

    /// Returns the name of models of this form, such as `bert-6x384`: a folder may be renamed
    /// without becoming another model.
    pub(super) fn name(&self) -> String {
        let family = match self.family {
            Family::Bert => "bert",
            Family::Roberta => "roberta",
            Family::Qwen3 => "qwen3",
        };
        format!("{family}-{}x{}", self.n_layers, self.width)
    }

    /// Returns what a head is for; a language model is an encoder where its folder says how to pool
    /// it.
    pub(super) fn use_of_head(&self, is_pooled: bool) -> CheckpointUse {
        match self.head {
            Head::None => CheckpointUse::Encoder,
            Head::LanguageModel if is_pooled => CheckpointUse::Encoder,
            Head::Classifier | Head::LanguageModel => CheckpointUse::PairScorer,
        }
    }

    /// Returns the most tokens that there are positions for.
    pub(super) fn max_tokens(&self) -> usize {
        match self.family {
            Family::Bert | Family::Qwen3 => self.n_positions,
            Family::Roberta => self.n_positions.saturating_sub(self.pad_token + 1),
        }
    }

    /// Checks what no published model gets wrong, but what would end in a panic or in no memory;
    /// `file` said it.
    pub(super) fn check(&self, folder: &Folder, file: &str) -> Result<(), CheckpointError> {
        let wrong = |detail: &str| Err(folder.form(file, detail));
        let sizes = [
            self.n_vocab,
            self.width,
            self.n_layers,
            self.n_heads,
            self.n_key_heads,
            self.head_width,
            self.inner_width,
            self.n_types,
        ];
        if sizes.iter().any(|size| !(1..1 << 24).contains(size)) || self.max_tokens() < 8 {
            return wrong("a size in it is none");
        }
        if self.family != Family::Qwen3 && self.n_heads * self.head_width != self.width {
            return wrong("the heads do not fill the width");
        }
        if !self.n_heads.is_multiple_of(self.n_key_heads) || !self.head_width.is_multiple_of(2) {
            return wrong("the heads cannot be grouped");
        }
        Ok(())
    }
}

/// The part of `config.json` that says what the others mean.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    architectures: Vec<String>,
    model_type: Option<String>,
}

impl Named {
    fn is_static(&self) -> bool {
        self.model_type.as_deref() == Some("model2vec")
            || self.architectures.first().is_some_and(|name| name == "StaticModel")
    }

    fn resolve(self, folder: &Folder) -> Result<(String, Family, Head), CheckpointError> {
        if self.is_static() {
            return Err(CheckpointError::Static { folder: folder.path().to_owned() });
        }
        let architecture = match self.architectures.into_iter().next() {
            Some(architecture) => architecture,
            None => match self.model_type.as_deref() {
                Some("bert") => "BertModel".to_owned(),
                Some("roberta") => "RobertaModel".to_owned(),
                Some("xlm-roberta") => "XLMRobertaModel".to_owned(),
                Some("qwen3") => "Qwen3Model".to_owned(),
                other => other.unwrap_or("none").to_owned(),
            },
        };
        let known = match architecture.as_str() {
            "BertModel" | "BertForMaskedLM" => (Family::Bert, Head::None),
            "BertForSequenceClassification" => (Family::Bert, Head::Classifier),
            "RobertaModel" | "RobertaForMaskedLM" | "XLMRobertaModel" | "XLMRobertaForMaskedLM" => {
                (Family::Roberta, Head::None)
            }
            "RobertaForSequenceClassification" | "XLMRobertaForSequenceClassification" => {
                (Family::Roberta, Head::Classifier)
            }
            "Qwen3Model" => (Family::Qwen3, Head::None),
            "Qwen3ForCausalLM" => (Family::Qwen3, Head::LanguageModel),
            "Qwen3ForSequenceClassification" => (Family::Qwen3, Head::Classifier),
            _ => {
                let folder = folder.path().to_owned();
                return Err(CheckpointError::ArchitectureUnknown { folder, architecture });
            }
        };
        Ok((architecture, known.0, known.1))
    }
}

impl ConfigFile {
    fn resolve(
        self,
        folder: &Folder,
        architecture: String,
        family: Family,
        head: Head,
    ) -> Result<Config, CheckpointError> {
        let unsupported = |what: String| Err(folder.unsupported(what));
        let activation = match (family, self.hidden_act.as_deref()) {
            // The gate of Qwen3 has none but its own, whatever stands here.
            (Family::Bert | Family::Roberta, None | Some("gelu"))
            | (Family::Qwen3, None | Some("silu")) => Activation::Gelu,
            (Family::Bert | Family::Roberta, Some("gelu_new" | "gelu_pytorch_tanh")) => {
                Activation::GeluTanh
            }
            (Family::Bert | Family::Roberta, Some("relu")) => Activation::Relu,
            (_, Some(other)) => return unsupported(format!("the activation `{other}`")),
        };
        match self.position_embedding_type.as_deref() {
            None | Some("absolute") => {}
            Some(other) => return unsupported(format!("positions of the kind `{other}`")),
        }
        let ropes = [&self.rope_parameters, &self.rope_scaling];
        let rope_type = ropes.into_iter().flatten().find_map(|rope| rope.rope_type.as_deref());
        if let Some(other) = rope_type.filter(|name| *name != "default") {
            return unsupported(format!("rotary positions of the kind `{other}`"));
        }
        if self.use_sliding_window {
            return unsupported("attention in a sliding window".to_owned());
        }
        if family == Family::Qwen3 && self.attention_bias {
            return unsupported("attention with a bias".to_owned());
        }
        let rope_theta = self.rope_parameters.and_then(|rope| rope.rope_theta).or(self.rope_theta);
        let norm_epsilon = match family {
            Family::Bert | Family::Roberta => self.layer_norm_eps.unwrap_or(1e-12),
            Family::Qwen3 => self.rms_norm_eps.unwrap_or(1e-6),
        };
        // Written out, there is one name a label; not written out, there are two.
        let n_labels = self.id2label.as_ref().map(serde_json::Map::len).or(self.num_labels);
        let head_width = self.head_dim.filter(|_| family == Family::Qwen3);
        Ok(Config {
            architecture,
            family,
            head,
            n_vocab: self.vocab_size,
            width: self.hidden_size,
            n_layers: self.num_hidden_layers,
            n_heads: self.num_attention_heads,
            n_key_heads: match family {
                Family::Bert | Family::Roberta => self.num_attention_heads,
                Family::Qwen3 => self.num_key_value_heads.unwrap_or(self.num_attention_heads),
            },
            head_width: head_width.unwrap_or(self.hidden_size / self.num_attention_heads.max(1)),
            inner_width: self.intermediate_size,
            n_positions: self.max_position_embeddings,
            n_types: self.type_vocab_size.unwrap_or(2),
            n_labels: n_labels.unwrap_or(2),
            pad_token: self.pad_token_id.unwrap_or(usize::from(family == Family::Roberta)),
            activation,
            norm_epsilon,
            rope_theta: rope_theta.unwrap_or(10_000.0),
        })
    }
}
