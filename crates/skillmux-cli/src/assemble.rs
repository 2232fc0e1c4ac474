//! Puts routers together: the one place that knows which models and stages there are, by name.

use std::{fs, path::Path, sync::Arc};

use skillmux::{
    compose::{Calibrations, Composer, ScoreCut, TopK},
    decompose::{ByClause, Decomposer, WholeTask},
    index::Index,
    model::{ChatModel, Encoder},
    page::{FullPager, MmrPager, Pager},
    rerank::{JudgeConfig, JudgeReranker, KeepOrder, LinearReranker, RankerWeights},
    retrieve::{
        Bm25Config, Bm25Retriever, DenseRetriever, HybridConfig, HybridRetriever, PoolRetriever,
    },
    route::{Ranker, Router, Stages},
};
use skillmux_eval::{
    Error as EvalError,
    system::{Assembly, RankingForm},
};
use skillmux_models::StaticEncoder;

use crate::{
    args::{ComposerChoice, DecomposerChoice, PagerChoice, RetrieverChoice, StageArgs},
    clock::since_start,
    error::CliError,
    settings::Settings,
};

/// Name of the default ranking, which takes weights from a file after a colon.
const RANKED: &str = "ranked";

/// The models of this run: those of files that the user names, else those inside the program.
pub(crate) struct Models {
    encoder: Arc<dyn Encoder>,
    ranker: RankerWeights,
    calibrations: Calibrations,
    judge: Option<Arc<dyn ChatModel>>,
}

impl Models {
    /// Reads the files that the settings name.
    pub(crate) fn load(settings: &Settings) -> anyhow::Result<Self> {
        let paths = &settings.models;
        Ok(Self {
            encoder: encoder(settings)?,
            ranker: match &paths.ranker {
                Some(path) => read_json(path, "the weights of a ranker")?,
                None => skillmux_models::ranker(),
            },
            calibrations: match &paths.abstention {
                Some(path) => read_json(path, "calibrations")?,
                None => skillmux_models::abstention(),
            },
            judge: None,
        })
    }

    /// Returns the models with a chat model that chooses from the rankings of routers.
    pub(crate) fn with_judge(self, judge: Option<Arc<dyn ChatModel>>) -> Self {
        Self { judge, ..self }
    }

    /// Returns the encoder.
    pub(crate) fn encoder(&self) -> Arc<dyn Encoder> {
        Arc::clone(&self.encoder)
    }

    /// Returns a router with the stages that the arguments choose.
    pub(crate) fn router(&self, index: Index, choice: StageArgs) -> anyhow::Result<Router> {
        let decomposer: Box<dyn Decomposer> = match choice.decomposer {
            DecomposerChoice::Whole => Box::new(WholeTask),
            DecomposerChoice::Clauses => Box::new(ByClause),
        };
        let composer: Box<dyn Composer> = match choice.composer {
            ComposerChoice::ScoreCut => Box::new(ScoreCut::default()),
            ComposerChoice::TopK => Box::new(TopK),
        };
        let pager: Box<dyn Pager> = match choice.pager {
            PagerChoice::Mmr => Box::new(MmrPager::default()),
            PagerChoice::Full => Box::new(FullPager),
        };
        let mut ranker = self.ranker(choice.retriever, &self.ranker, has_vectors(&index));
        if let Some(model) = self.judge.clone() {
            let judge = |inner| JudgeReranker::new(inner, model, JudgeConfig::default());
            ranker = ranker.with_reranker(|inner| Box::new(judge(inner)));
        }
        let stages = Stages {
            decomposer,
            ranker,
            composer,
            pager,
            calibrations: self.calibrations.clone(),
            clock: since_start,
        };
        Ok(Router::new(index, stages)?)
    }

    /// Returns a router that ranks as the default one does, with vectors or by words alone.
    pub(crate) fn ranked_router(&self, index: Index, with_vectors: bool) -> anyhow::Result<Router> {
        let ranker = self.ranker(RetrieverChoice::Ranked, &self.ranker, with_vectors);
        Ok(Router::new(index, Stages { ranker, ..Stages::default() })?)
    }

    /// Returns what finds and orders skills. An index that another program made may hold no vectors:
    /// the default ranks by words alone then.
    fn ranker(
        &self,
        choice: RetrieverChoice,
        weights: &RankerWeights,
        with_vectors: bool,
    ) -> Ranker {
        let as_found = |retriever| Ranker::new(retriever, Box::new(KeepOrder));
        match choice {
            RetrieverChoice::Ranked => {
                let (encoder, weights) = if with_vectors {
                    (Some(self.encoder()), &weights.with_vectors)
                } else {
                    (None, &weights.without_vectors)
                };
                let linear = LinearReranker::new(weights.clone());
                Ranker::new(Box::new(PoolRetriever::new(encoder)), Box::new(linear))
            }
            RetrieverChoice::Fielded => as_found(Box::<Bm25Retriever>::default()),
            RetrieverChoice::Joined => {
                let config = Bm25Config::joined_text();
                as_found(Box::new(Bm25Retriever::new(config))).with_words(config)
            }
            RetrieverChoice::Dense => as_found(Box::new(DenseRetriever::new(self.encoder()))),
            RetrieverChoice::Hybrid => {
                let config = HybridConfig::default();
                as_found(Box::new(HybridRetriever::new(self.encoder(), config)))
            }
        }
    }
}

impl Assembly for Models {
    fn rankings(&self) -> Vec<RankingForm> {
        let mut forms: Vec<RankingForm> = RetrieverChoice::named()
            .into_iter()
            .map(|(name, help)| RankingForm { form: name, help })
            .collect();
        let help = "the default with the weights of a file that `skillmux train ranker` wrote";
        forms.push(RankingForm { form: format!("{RANKED}:FILE"), help: help.to_owned() });
        forms
    }

    fn ranker(&self, name: &str, index: &Index) -> Result<Option<Ranker>, EvalError> {
        let with_vectors = has_vectors(index);
        if let Some(path) = name.strip_prefix(RANKED).and_then(|rest| rest.strip_prefix(':')) {
            let path = Path::new(path.trim());
            let text = fs::read_to_string(path)
                .map_err(|source| EvalError::Read { path: path.to_owned(), source })?;
            let weights = serde_json::from_str(&text).map_err(|source: serde_json::Error| {
                EvalError::Weights { path: path.to_owned(), source: Box::new(source) }
            })?;
            return Ok(Some(self.ranker(RetrieverChoice::Ranked, &weights, with_vectors)));
        }
        let choice = RetrieverChoice::by_name(name);
        Ok(choice.map(|choice| self.ranker(choice, &self.ranker, with_vectors)))
    }
}

/// Returns the encoder of a file that the settings name, else the one inside the program.
pub(crate) fn encoder(settings: &Settings) -> anyhow::Result<Arc<dyn Encoder>> {
    Ok(match &settings.models.encoder {
        Some(path) => Arc::new(read_encoder(path)?),
        None => Arc::new(skillmux_models::encoder()),
    })
}

fn has_vectors(index: &Index) -> bool {
    index.manifest().encoder.is_some()
}

fn read_encoder(path: &Path) -> anyhow::Result<StaticEncoder> {
    let bytes =
        fs::read(path).map_err(|source| CliError::Model { path: path.to_owned(), source })?;
    Ok(StaticEncoder::from_bytes(bytes).map_err(|error| CliError::ModelForm {
        path: path.to_owned(),
        detail: error.to_string(),
    })?)
}

/// Reads a model that is plain numbers.
fn read_json<T: serde::de::DeserializeOwned>(path: &Path, what: &str) -> anyhow::Result<T> {
    let text = fs::read_to_string(path)
        .map_err(|source| CliError::Model { path: path.to_owned(), source })?;
    Ok(serde_json::from_str(&text).map_err(|error| CliError::ModelForm {
        path: path.to_owned(),
        detail: format!("it does not hold {what}: {error}"),
    })?)
}
