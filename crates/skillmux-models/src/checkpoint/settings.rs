//! How texts become inputs, and states of tokens become a vector.

use std::{collections::BTreeMap, num::NonZeroUsize};

use serde::Deserialize;

use super::{
    CheckpointError, CheckpointUse, InferencePrecision,
    config::{Config, Family, Head},
    folder::Folder,
    pooling::Pooling,
    preset::{Preset, SKILLROUTER_INSTRUCTION, Words},
};

/// The file by which users complete or correct what a checkpoint says.
pub(super) const OWN_FILE: &str = "skillmux.json";

/// Longest input where no file names one: a cross-encoder of skills was trained with so many tokens
/// (`SkillRouter`'s published configuration), and more make attention dear.
const MAX_TOKENS: usize = 4096;

/// What the folder says beside the network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) purpose: CheckpointUse,
    pub(super) pooling: Pooling,
    pub(super) max_tokens: usize,
    pub(super) query_prefix: String,
    pub(super) text_prefix: String,
    /// Characters of a query that an encoder reads; all of them if it is `None`.
    pub(super) query_chars: Option<usize>,
    pub(super) instruction: String,
    /// As `skillmux.json` has it.
    pub(super) precision: InferencePrecision,
}

/// A preset that a caller names, for what it asks the checkpoint to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) preset: Preset,
    pub(super) purpose: CheckpointUse,
}

/// [`OWN_FILE`].
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnFile {
    #[serde(rename = "use")]
    purpose: Option<CheckpointUse>,
    preset: Option<Preset>,
    pooling: Option<Pooling>,
    max_tokens: Option<usize>,
    query_prefix: Option<String>,
    text_prefix: Option<String>,
    query_chars: Option<NonZeroUsize>,
    instruction: Option<String>,
    precision: Option<InferencePrecision>,
}

/// An entry of `modules.json` of sentence-transformers.
#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    path: String,
    r#type: String,
}

/// `config.json` of the pooling of sentence-transformers: one mode by name, or flags of which one
/// is set.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the fields are those of the file")]
struct PoolingFile {
    pooling_mode: Option<String>,
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_lasttoken: bool,
}

#[derive(Deserialize)]
struct SentenceFile {
    max_seq_length: Option<usize>,
}

#[derive(Default, Deserialize)]
struct PromptsFile {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    default_prompt_name: Option<String>,
}

#[derive(Deserialize)]
struct TokenizerFile {
    /// A huge number where there is no limit.
    model_max_length: Option<f64>,
}

impl Settings {
    /// Reads the files of a folder that say how a network is used. `skillmux.json` goes before a
    /// preset, the preset that is asked for before the one of that file, and a preset before all
    /// other files.
    pub(super) fn read(
        folder: &Folder,
        config: &Config,
        asked: Option<Asked>,
    ) -> Result<Self, CheckpointError> {
        let own: OwnFile = folder.json(OWN_FILE)?.unwrap_or_default();
        let preset = asked.map(|asked| asked.preset).or(own.preset).map(Preset::words);
        let Words { query_chars, pooling: preset_pooling, max_tokens: preset_tokens, .. } =
            preset.unwrap_or_default();
        let pooling = pooling(folder, config.head)?;
        let by_head = match asked {
            // Both models of a preset may be language models: what it is asked for tells which one
            // this is.
            Some(asked) if config.head == Head::LanguageModel => asked.purpose,
            _ => config.use_of_head(pooling.is_some()),
        };
        let by_family = match config.family {
            Family::Bert | Family::Roberta => Pooling::Mean,
            Family::Qwen3 => Pooling::Last,
        };
        let prompts: PromptsFile =
            folder.json("config_sentence_transformers.json")?.unwrap_or_default();
        let prompt = |names: &[&str]| {
            let named = names.iter().find_map(|name| prompts.prompts.get(*name));
            let default = prompts.default_prompt_name.as_ref();
            let prompt = named.or_else(|| prompts.prompts.get(default?));
            prompt.cloned().unwrap_or_default()
        };
        let words = |of: fn(&Words) -> &'static str, names: &[&str]| match &preset {
            Some(preset) => of(preset).to_owned(),
            None => prompt(names),
        };
        let instruction =
            || preset.and_then(|words| words.instruction).unwrap_or(SKILLROUTER_INSTRUCTION);
        Ok(Self {
            purpose: own.purpose.unwrap_or(by_head),
            pooling: own.pooling.or(preset_pooling).or(pooling).unwrap_or(by_family),
            max_tokens: own
                .max_tokens
                .or(preset_tokens)
                .map_or_else(|| max_tokens(folder), |max| Ok(Some(max)))?
                .unwrap_or(MAX_TOKENS)
                .clamp(8, config.max_tokens()),
            query_prefix: own.query_prefix.unwrap_or_else(|| words(|w| w.query_prefix, &["query"])),
            text_prefix: own
                .text_prefix
                .unwrap_or_else(|| words(|w| w.text_prefix, &["document", "passage", "corpus"])),
            query_chars: own.query_chars.map(NonZeroUsize::get).or(query_chars),
            instruction: own.instruction.unwrap_or_else(|| instruction().to_owned()),
            precision: own.precision.unwrap_or_default(),
        })
    }
}

/// Returns how the modules of sentence-transformers pool; `None` if they do not say, or end in a
/// head.
fn pooling(folder: &Folder, head: Head) -> Result<Option<Pooling>, CheckpointError> {
    let modules: Vec<Module> = folder.json("modules.json")?.unwrap_or_default();
    let mut path = "1_Pooling";
    for module in &modules {
        match module.r#type.rsplit('.').next().unwrap_or_default() {
            // Vectors have length 1 here in any case.
            "Transformer" | "Normalize" => {}
            "Pooling" => path = module.path.trim_end_matches('/'),
            _ if head != Head::None => return Ok(None),
            other => return Err(folder.unsupported(format!("the module `{other}`"))),
        }
    }
    if path.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..") {
        return Err(folder.form("modules.json", format!("it names the folder `{path}`")));
    }
    let file = format!("{path}/config.json");
    let Some(found) = folder.json::<PoolingFile>(&file)? else { return Ok(None) };
    let flags = [
        (found.pooling_mode_cls_token, "cls"),
        (found.pooling_mode_mean_tokens, "mean"),
        (found.pooling_mode_lasttoken, "lasttoken"),
    ];
    let mut set = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name);
    let mode = found.pooling_mode.as_deref().or_else(|| set.next());
    match (mode, set.next()) {
        (Some("cls"), None) => Ok(Some(Pooling::First)),
        (Some("mean"), None) => Ok(Some(Pooling::Mean)),
        (Some("lasttoken"), None) => Ok(Some(Pooling::Last)),
        (Some(other), None) => Err(folder.unsupported(format!("the pooling `{other}`"))),
        _ => Err(folder.unsupported(format!("the pooling of `{file}`"))),
    }
}

/// Returns the longest input that a file names. `sentence_bert_config.json` comes first: the
/// truncation of `tokenizer.json` is that of the last export, and `all-MiniLM-L6-v2` has half of it
/// there.
fn max_tokens(folder: &Folder) -> Result<Option<usize>, CheckpointError> {
    let sentence: Option<SentenceFile> = folder.json("sentence_bert_config.json")?;
    if let Some(max_tokens) = sentence.and_then(|file| file.max_seq_length) {
        return Ok(Some(max_tokens));
    }
    let tokenizer: Option<TokenizerFile> = folder.json("tokenizer_config.json")?;
    let length = tokenizer.and_then(|file| file.model_max_length);
    Ok(length.filter(|length| (1.0..=MAX_TOKENS as f64).contains(length)).map(whole))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 4096")]
fn whole(length: f64) -> usize {
    length as usize
}
