//! The networks of this run, the transformer and the verifier: they are read when they are asked for.

use std::{
    ops::Range,
    sync::{Arc, LazyLock, OnceLock},
    thread,
};

use skillmux::model::{
    Encoder, EncoderIdentity, PairScorer, PairScorerIdentity, TokenEncoder, TokenVectors,
};
use skillmux_models::{TransformerEncoder, TransformerParts};

use crate::{
    args::{Command, PagerChoice, RetrieverChoice},
    model_option::ModelOption,
    settings::Settings,
};

/// The transformer of this run.
static TRANSFORMER: OnceLock<Arc<dyn TokenEncoder>> = OnceLock::new();

/// Returns the transformer of this run: the one inside the program, which is read when it is first
/// asked for, unless [`read_transformer`] has read another.
pub(crate) fn transformer() -> Arc<dyn TokenEncoder> {
    Arc::clone(present())
}

fn present() -> &'static Arc<dyn TokenEncoder> {
    TRANSFORMER.get_or_init(|| Arc::new(skillmux_models::transformer()))
}

/// The transformer of this run, which is read when it has something to read.
pub(crate) struct WhenAsked;

impl Encoder for WhenAsked {
    fn identity(&self) -> &EncoderIdentity {
        present().identity()
    }

    fn encode(&self, texts: &[&str]) -> skillmux::Result<Vec<f32>> {
        present().encode(texts)
    }

    fn encode_queries(&self, texts: &[&str]) -> skillmux::Result<Vec<f32>> {
        present().encode_queries(texts)
    }

    fn read_share(&self, query: &str) -> f32 {
        present().read_share(query)
    }
}

impl TokenEncoder for WhenAsked {
    fn encode_tokens(&self, texts: &[&str]) -> skillmux::Result<Vec<TokenVectors>> {
        present().encode_tokens(texts)
    }

    fn encode_query_tokens(&self, query: &str) -> skillmux::Result<TokenVectors> {
        present().encode_query_tokens(query)
    }

    fn clauses(&self, tokens: &[u32]) -> Vec<Range<usize>> {
        present().clauses(tokens)
    }
}

/// The verifier of the program, which is read when it is first asked.
pub(crate) struct VerifierWhenAsked;

impl PairScorer for VerifierWhenAsked {
    fn identity(&self) -> &PairScorerIdentity {
        verifier().identity()
    }

    fn scores(&self, query: &str, texts: &[&str]) -> skillmux::Result<Vec<f32>> {
        verifier().scores(query, texts)
    }
}

fn verifier() -> &'static dyn PairScorer {
    static VERIFIER: LazyLock<Box<dyn PairScorer>> =
        LazyLock::new(|| Box::new(skillmux_models::verifier()));
    VERIFIER.as_ref()
}

/// The networks inside the program that an answer needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Networks {
    /// The transformer and the verifier.
    OfRankings,
    /// The transformer.
    OfPages,
}

impl Networks {
    /// Returns those that a command most likely needs, if it gives one answer.
    pub(crate) fn of(command: &Command) -> Option<Self> {
        let of_rankings = |choice: RetrieverChoice| {
            (choice == RetrieverChoice::Transformer).then_some(Self::OfRankings)
        };
        match command {
            Command::Route(args) => of_rankings(args.stages.retriever),
            Command::Search(args) => of_rankings(args.retriever),
            Command::Hook(_) => Some(Self::OfRankings),
            Command::Page(args) => {
                let is_read = args.query.is_some() && args.pager == PagerChoice::Transformer;
                is_read.then_some(Self::OfPages)
            }
            _ => None,
        }
    }

    /// Begins to read them, on another thread: before they are needed, skills are looked for.
    /// Without a thread they are read when they are asked for.
    pub(crate) fn read_ahead(self) {
        let read = move || {
            // What it is read from stays in memory.
            drop(skillmux_models::transformer());
            if self == Self::OfRankings {
                verifier();
            }
        };
        let _ = thread::Builder::new().spawn(read);
    }
}

/// The files of a folder of a transformer.
pub(crate) const TRANSFORMER_FILES: [&str; 3] =
    ["vocabulary.txt", "embeddings.safetensors", "layers.safetensors"];

/// Reads the transformer that the settings name, if they name one.
pub(crate) fn read_transformer(settings: &Settings) -> anyhow::Result<()> {
    let Some(folder) = &settings.models.transformer else { return Ok(()) };
    let option = ModelOption::Transformer;
    let read = |name: &str| option.read(&folder.join(name));
    let [vocabulary, embeddings, layers] = TRANSFORMER_FILES;
    let vocabulary = String::from_utf8(read(vocabulary)?)
        .map_err(|_| option.refused(folder, "its vocabulary is no text"))?;
    // A model is needed until the program ends.
    let embeddings: &'static [u8] = Vec::leak(read(embeddings)?);
    let layers: &'static [u8] = Vec::leak(read(layers)?);
    let parts = TransformerParts {
        name: skillmux_models::TRANSFORMER_NAME,
        vocabulary: &vocabulary,
        tensors: &[embeddings, layers],
    };
    let transformer = TransformerEncoder::new(&parts)
        .map_err(|error| option.refused(folder, error.to_string()))?;
    TRANSFORMER.get_or_init(|| Arc::new(transformer));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Args;

    #[test]
    fn a_command_has_the_networks_that_its_answer_needs() {
        let of = |line: &str| {
            let args = Args::try_parse_from(format!("skillmux {line}").split(' ')).unwrap();
            Networks::of(&args.command)
        };
        for line in ["route merge", "search merge", "hook claude-code"] {
            assert_eq!(of(line), Some(Networks::OfRankings), "{line}");
        }
        assert_eq!(of("page pdf merge"), Some(Networks::OfPages));
        let without =
            ["page pdf", "page pdf merge --pager value", "search merge --retriever fielded"];
        for line in without.into_iter().chain(["route merge --retriever ranked", "stats"]) {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
