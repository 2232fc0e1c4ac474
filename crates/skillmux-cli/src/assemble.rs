//! Puts routers together: the one place that knows which models and stages there are, by name.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Once},
};

use skillmux::{
    compose::{Calibrations, Chain, Composer, ScoreCut, SetHead, SetWeights, TopK},
    decompose::{AskingWeights, ByClause, Decomposer, WholeTask},
    index::Index,
    model::{ChatModel, Encoder, PairScorer, Speller, SubjectWords, Translator},
    page::{FullPager, KindPager, MmrPager, Pager, PagerWeights, ValuePager},
    rerank::{
        JudgeConfig, JudgeReranker, KeepOrder, LinearReranker, PairReranker, Passage,
        RankerWeights, Reranker, SkillStart,
    },
    retrieve::{
        Bm25Config, Bm25Retriever, DenseRetriever, HybridConfig, HybridRetriever, PoolRetriever,
        WorkWeights,
    },
    route::{PagedPassage, Ranker, Router, Stages},
    skill::KindClassifier,
    text::printable,
    trust::TrustPolicy,
};
use skillmux_eval::{
    Error as EvalError,
    system::{Assembly, RankingForm},
};
use skillmux_models::sequence::{SequenceComposer, SequenceModel};

use crate::{
    args::{
        ComposerChoice, DecomposerChoice, PagerChoice, PassageChoice, RetrieverChoice, StageArgs,
    },
    clock::since_start,
    error::CliError,
    model_option::ModelOption,
    networks::{VerifierWhenAsked, WhenAsked, transformer},
    own_model::{self, embedded_encoder},
    render::paint::{NOTE, styled},
    settings::Settings,
};

/// What chooses the parts of several skills at once, unless the user says otherwise: an answer is to
/// take some milliseconds.
const ROUTE_PAGER: PagerChoice = PagerChoice::Value;

/// Names of the rankings that take weights from a file after a colon.
const WEIGHED: [&str; 2] = ["transformer", "ranked"];

/// Skills of the largest library that the transformer reads without being asked to.
pub(crate) const MAX_SKILLS_READ_UNASKED: usize = 100_000;

/// Which vectors the default ranking uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VectorUse {
    /// None: an index that another program made may hold none.
    Words,
    /// Those of the static encoder.
    Static,
    /// Those of the transformer as well.
    Transformer,
}

impl VectorUse {
    /// Returns what an index has.
    fn of(index: &Index) -> Self {
        let manifest = index.manifest();
        if manifest.encoder.is_none() {
            return Self::Words;
        }
        let may_be_encoded = manifest.transformer.as_ref().is_some_and(|t| t.n_missing == 0);
        if may_be_encoded && index.is_encoded_by(transformer().identity()) {
            Self::Transformer
        } else {
            Self::Static
        }
    }
}

/// Tokens of a page that a cross-encoder reads.
const PASSAGE_TOKENS: u32 = 300;

/// The models of this run: those of files that the user names, else those inside the program.
pub(crate) struct Models {
    encoder: Arc<dyn Encoder>,
    ranker: RankerWeights,
    work: Arc<[WorkWeights]>,
    calibrations: Calibrations,
    /// Where they are from, if not from inside the program.
    calibration_file: Option<PathBuf>,
    asking: Arc<AskingWeights>,
    composer: Arc<SetWeights>,
    sequence: Option<PathBuf>,
    pager: PagerWeights,
    speller: Arc<dyn Speller>,
    subjects: Arc<dyn SubjectWords>,
    translator: Arc<dyn Translator>,
    reranker: Option<Arc<dyn PairScorer>>,
    passage: PassageChoice,
    judge: Option<Arc<dyn ChatModel>>,
    kinds: Option<Arc<dyn KindClassifier>>,
    /// Whether the user named one that scores depend on.
    has_own_scores: bool,
}

impl Models {
    /// Reads the files that the settings name.
    pub(crate) fn load(settings: &Settings) -> anyhow::Result<Self> {
        let paths = &settings.models;
        Ok(Self {
            encoder: own_model::encoder(settings)?,
            ranker: match &paths.ranker {
                Some(path) => read_json(path, ModelOption::Ranker, "the weights of a ranker")?,
                None => skillmux_models::ranker(),
            },
            work: match &paths.work {
                Some(path) => read_work(path)?,
                None => skillmux_models::work(),
            }
            .into(),
            calibrations: match &paths.abstention {
                Some(path) => read_json(path, ModelOption::Abstention, "calibrations")?,
                None => skillmux_models::abstention(),
            },
            calibration_file: paths.abstention.clone(),
            asking: match &paths.asking {
                Some(path) => read_asking(path)?,
                None => skillmux_models::asking().into(),
            },
            composer: match &paths.composer {
                Some(path) if !is_sequence(path) => {
                    Arc::new(read_json(path, ModelOption::Composer, "the weights of a composer")?)
                }
                _ => Arc::new(skillmux_models::composer()),
            },
            sequence: paths.composer.clone().filter(|path| is_sequence(path)),
            pager: pager_weights(settings.models.pager.as_deref())?,
            speller: Arc::new(skillmux_models::speller()),
            subjects: Arc::new(skillmux_models::subject_words()),
            translator: Arc::new(skillmux_models::translator()),
            reranker: own_model::pair_scorer(settings)?,
            passage: paths.reranker_reads.unwrap_or_default(),
            judge: None,
            kinds: None,
            has_own_scores: paths.encoder.is_some()
                || paths.transformer.is_some()
                || paths.ranker.is_some(),
        })
    }

    /// Returns the models with a chat model that chooses from the rankings of routers.
    pub(crate) fn with_judge(self, judge: Option<Arc<dyn ChatModel>>) -> Self {
        Self { judge, ..self }
    }

    /// Returns the models with what tells the kinds of parts in the pages of routers.
    pub(crate) fn with_kinds(self, kinds: Option<Arc<dyn KindClassifier>>) -> Self {
        Self { kinds, ..self }
    }

    /// Says on standard error if a router has no calibration because of the models that the user
    /// named.
    pub(crate) fn tell_uncalibrated(&self, router: &Router, retriever: RetrieverChoice) {
        static TOLD: Once = Once::new();
        // The others have none with any model.
        let may_have_one =
            matches!(retriever, RetrieverChoice::Transformer | RetrieverChoice::Ranked)
                && self.judge.is_none();
        if !may_have_one || router.calibration().is_some() {
            return;
        }
        let why = match &self.calibration_file {
            Some(path) => self.of_another_ranking(path, router),
            None if self.has_own_scores => {
                "no calibration was fitted to the models that you named".to_owned()
            }
            None => return,
        };
        TOLD.call_once(|| {
            anstream::eprintln!(
                "{} {}, so answers have no confidence, and no skill is refused; \
                 `skillmux train abstention` fits one, and --abstention names it",
                styled(NOTE, "note:"),
                printable(&why)
            );
        });
    }

    /// Says whose calibrations a file holds, in place of that of a router.
    fn of_another_ranking(&self, path: &Path, router: &Router) -> String {
        let path = path.display();
        let mut rankings = self.calibrations.iter().map(|calibration| calibration.ranking.as_str());
        let Some(first) = rankings.next() else { return format!("`{path}` holds no calibration") };
        let more = match rankings.count() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let needed = router.stages().ranker.identity();
        format!(
            "`{path}` is for another ranking: it has a calibration for `{first}`{more}, but `{needed}` is in use"
        )
    }

    /// Returns the encoder.
    pub(crate) fn encoder(&self) -> Arc<dyn Encoder> {
        Arc::clone(&self.encoder)
    }

    /// Returns a router with the stages that the arguments choose.
    pub(crate) fn router(
        &self,
        index: Index,
        choice: StageArgs,
        trust: TrustPolicy,
    ) -> anyhow::Result<Router> {
        let vectors = VectorUse::of(&index);
        self.router_with(index, choice, vectors, trust)
    }

    /// Returns a router of the default stages that uses the transformer as soon as it has read the
    /// whole library.
    pub(crate) fn lasting_router(
        &self,
        index: Index,
        trust: TrustPolicy,
    ) -> anyhow::Result<Router> {
        let vectors = match VectorUse::of(&index) {
            VectorUse::Static => VectorUse::Transformer,
            vectors => vectors,
        };
        let choice = StageArgs { pager: Some(PagerChoice::Transformer), ..StageArgs::default() };
        self.router_with(index, choice, vectors, trust)
    }

    fn router_with(
        &self,
        index: Index,
        choice: StageArgs,
        vectors: VectorUse,
        trust: TrustPolicy,
    ) -> anyhow::Result<Router> {
        let ranker = self.ranker(choice.retriever, &self.ranker, vectors).with_trust(trust);
        self.router_of(index, choice, ranker)
    }

    fn router_of(&self, index: Index, choice: StageArgs, ranker: Ranker) -> anyhow::Result<Router> {
        let by_clause = ByClause::with_asking(Arc::clone(&self.asking));
        let decomposer: Box<dyn Decomposer> = match choice.decomposer {
            DecomposerChoice::Whole => Box::new(WholeTask),
            // Where the chat model says nothing, the task is split without it.
            DecomposerChoice::Clauses | DecomposerChoice::Chat => Box::new(by_clause),
        };
        let composer: Box<dyn Composer> = match choice.composer {
            ComposerChoice::SetHead => Box::new(SetHead::new(self.composer.clone())),
            ComposerChoice::ScoreCut => Box::new(ScoreCut::default()),
            ComposerChoice::Sequence => Box::new(self.sequence()?),
            ComposerChoice::TopK => Box::new(TopK),
            ComposerChoice::Chain => {
                Box::new(choice.chain_alpha.map_or_else(Chain::default, Chain::new))
            }
        };
        let stages = Stages {
            decomposer,
            ranker,
            composer,
            pager: pager(
                choice.pager.unwrap_or(ROUTE_PAGER),
                self.pager.clone(),
                self.kinds.clone(),
            ),
            calibrations: self.calibrations.clone(),
            clock: since_start,
        };
        Ok(Router::new(index, stages)?)
    }

    /// Returns the sequence composer of the settings, with the encoder that it was trained with.
    fn sequence(&self) -> anyhow::Result<SequenceComposer> {
        let path = self.sequence.as_deref().ok_or(CliError::NoSequence)?;
        let option = ModelOption::Composer;
        let refused = |error: skillmux_models::Error| option.refused(path, error.to_string());
        let model = SequenceModel::from_bytes(&option.read(path)?).map_err(refused)?;
        let reads = &model.network.config().encoder.name;
        let is_transformer = reads == skillmux_models::TRANSFORMER_NAME;
        let encoder = if is_transformer { transformer() } else { self.encoder() };
        Ok(SequenceComposer::new(model, encoder).map_err(refused)?)
    }

    /// Reads what tells what a task asks for from another file, if one is given.
    pub(crate) fn with_asking(self, path: Option<&Path>) -> anyhow::Result<Self> {
        let asking = path.map_or(Ok(Arc::clone(&self.asking)), read_asking)?;
        Ok(Self { asking, ..self })
    }

    /// Returns a router of the default stages that translates nothing and trusts all alike: what
    /// weights are fitted to.
    pub(crate) fn untranslated_router(&self, index: Index) -> anyhow::Result<Router> {
        let ranker =
            self.untranslated(RetrieverChoice::Transformer, &self.ranker, VectorUse::of(&index));
        let ranker = ranker.with_asking(Arc::clone(&self.asking));
        self.router_of(index, StageArgs::default(), ranker)
    }

    /// Returns a router that ranks as the default one does where an index has these vectors, but
    /// translates nothing: what a calibration is fitted to.
    pub(crate) fn ranked_router(&self, index: Index, vectors: VectorUse) -> anyhow::Result<Router> {
        let ranker = self.untranslated(RetrieverChoice::Transformer, &self.ranker, vectors);
        Ok(Router::new(index, Stages { ranker, ..Stages::default() })?)
    }

    /// Returns what finds and orders skills, with the models that are asked about the first of
    /// them.
    fn ranker(
        &self,
        choice: RetrieverChoice,
        weights: &RankerWeights,
        vectors: VectorUse,
    ) -> Ranker {
        let ranker = self.untranslated(choice, weights, vectors);
        ranker
            .with_asking(Arc::clone(&self.asking))
            .with_translator(Arc::clone(&self.translator))
            .with_trust(TrustPolicy::default())
    }

    fn untranslated(
        &self,
        choice: RetrieverChoice,
        weights: &RankerWeights,
        vectors: VectorUse,
    ) -> Ranker {
        let ranker = self.weighed(choice, weights, vectors);
        let ranker = ranker.with_speller(Arc::clone(&self.speller)).without_trust();
        let ranker = ranker.with_subjects(Arc::clone(&self.subjects));
        ranker.with_reranker(|inner| self.with_asked_models(inner))
    }

    /// Returns what finds and orders skills without asking a model about each. The default uses the
    /// vectors that there are, and weights for.
    fn weighed(
        &self,
        choice: RetrieverChoice,
        weights: &RankerWeights,
        vectors: VectorUse,
    ) -> Ranker {
        let as_found = |retriever| Ranker::new(retriever, Box::new(KeepOrder));
        match choice {
            RetrieverChoice::Transformer | RetrieverChoice::Ranked => {
                let (encoder, of_words) = match vectors {
                    VectorUse::Words => (None, &weights.without_vectors),
                    _ => (Some(self.encoder()), &weights.with_vectors),
                };
                let retriever = PoolRetriever::new(encoder).with_work(Arc::clone(&self.work));
                let linear = LinearReranker::new(of_words.clone());
                let has_transformer = choice != RetrieverChoice::Ranked
                    && vectors == VectorUse::Transformer
                    && !weights.with_transformer.is_zero();
                if !has_transformer {
                    return Ranker::new(Box::new(retriever), Box::new(linear));
                }
                let linear = linear.with_transformer(weights.with_transformer.clone());
                let retriever = retriever.with_transformer(transformer());
                Ranker::new(Box::new(retriever), Box::new(linear))
                    .with_verifier(Arc::new(VerifierWhenAsked))
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

    /// Returns a reranker that asks the cross-encoder and then the judge after another one, as far
    /// as there are such.
    fn with_asked_models(&self, inner: Box<dyn Reranker>) -> Box<dyn Reranker> {
        let mut reranker = inner;
        if let Some(scorer) = &self.reranker {
            let passage: Box<dyn Passage> = match self.passage {
                PassageChoice::Start => Box::new(SkillStart::default()),
                PassageChoice::Page => Box::new(PagedPassage::new(
                    pager(PagerChoice::Value, self.pager.clone(), None),
                    PASSAGE_TOKENS,
                )),
            };
            reranker = Box::new(PairReranker::new(reranker, Arc::clone(scorer), passage));
        }
        if let Some(model) = &self.judge {
            let config = JudgeConfig::default();
            reranker = Box::new(JudgeReranker::new(reranker, Arc::clone(model), config));
        }
        reranker
    }
}

impl Assembly for Models {
    fn rankings(&self) -> Vec<RankingForm> {
        let mut forms: Vec<RankingForm> = RetrieverChoice::named()
            .into_iter()
            .map(|(name, help)| RankingForm { form: name, help })
            .collect();
        for name in WEIGHED {
            let help = "the same with the weights of a file that `skillmux train ranker` wrote";
            forms.push(RankingForm { form: format!("{name}:FILE"), help: help.to_owned() });
        }
        forms
    }

    fn ranker(&self, name: &str, index: &Index) -> Result<Option<Ranker>, EvalError> {
        let vectors = VectorUse::of(index);
        let weighed = name.split_once(':').filter(|(name, _)| WEIGHED.contains(name));
        if let Some((name, path)) = weighed {
            let choice = RetrieverChoice::by_name(name);
            if choice == Some(RetrieverChoice::Transformer) && vectors != VectorUse::Transformer {
                // A name with weights says what is measured: nothing else takes its place.
                let (system, index) = (name.to_owned(), index.path().to_owned());
                return Err(EvalError::Unencoded { system, index });
            }
            let path = Path::new(path.trim());
            let text = fs::read_to_string(path)
                .map_err(|source| EvalError::Read { path: path.to_owned(), source })?;
            let weights = serde_json::from_str(&text).map_err(|source: serde_json::Error| {
                EvalError::Weights { path: path.to_owned(), source: Box::new(source) }
            })?;
            return Ok(choice.map(|choice| self.ranker(choice, &weights, vectors)));
        }
        let choice = RetrieverChoice::by_name(name);
        Ok(choice.map(|choice| self.ranker(choice, &self.ranker, vectors)))
    }
}

/// Returns what chooses the parts of skills, with the kinds of the index unless something else
/// tells them.
pub(crate) fn pager(
    choice: PagerChoice,
    weights: PagerWeights,
    kinds: Option<Arc<dyn KindClassifier>>,
) -> Box<dyn Pager> {
    let pager: Box<dyn Pager> = match choice {
        PagerChoice::Transformer | PagerChoice::Value => Box::new(value_pager(choice, weights)),
        PagerChoice::Mmr => Box::new(MmrPager::default()),
        PagerChoice::Full => Box::new(FullPager),
    };
    of_kinds(pager, kinds)
}

/// Returns a pager, with the kinds of the index unless something else tells them.
pub(crate) fn of_kinds(
    pager: Box<dyn Pager>,
    kinds: Option<Arc<dyn KindClassifier>>,
) -> Box<dyn Pager> {
    match kinds {
        Some(kinds) => Box::new(KindPager::new(kinds, pager)),
        None => pager,
    }
}

/// Returns the pager that chooses by learned weights; the transformer reads for it if the choice
/// says so.
pub(crate) fn value_pager(choice: PagerChoice, weights: PagerWeights) -> ValuePager {
    let pager = ValuePager::new(weights.texts, embedded_encoder());
    if choice == PagerChoice::Transformer {
        pager.with_tokens(weights.tokens, Arc::new(WhenAsked))
    } else {
        pager
    }
}

/// Returns the weights of the pager: those that the user names, else those inside the program.
pub(crate) fn pager_weights(path: Option<&Path>) -> anyhow::Result<PagerWeights> {
    let Some(path) = path else { return Ok(skillmux_models::pager()) };
    let weights: PagerWeights = read_json(path, ModelOption::Pager, "the weights of a pager")?;
    if !weights.is_finite() {
        let detail = "a weight of the pager is too large for a number";
        return Err(ModelOption::Pager.refused(path, detail).into());
    }
    Ok(weights)
}

/// Returns whether a file of composer weights is that of a sequence composer, by its name.
fn is_sequence(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "safetensors")
}

/// Reads the weights that tell what a task asks for.
fn read_asking(path: &Path) -> anyhow::Result<Arc<AskingWeights>> {
    read_json::<AskingWeights>(path, ModelOption::Asking, "weights of asking").map(Arc::new)
}

/// Reads the networks that tell work from talk, one for each encoder.
fn read_work(path: &Path) -> anyhow::Result<Vec<WorkWeights>> {
    let what = "weights that tell work from talk";
    let networks: Vec<WorkWeights> = read_json(path, ModelOption::Work, what)?;
    if networks.is_empty() {
        return Err(ModelOption::Work.refused(path, format!("it holds no {what}")).into());
    }
    Ok(networks)
}

/// Reads a model that is plain numbers.
fn read_json<T: serde::de::DeserializeOwned>(
    path: &Path,
    option: ModelOption,
    what: &str,
) -> anyhow::Result<T> {
    let refused = |error| option.refused(path, format!("it does not hold {what}: {error}"));
    Ok(serde_json::from_slice(&option.read(path)?).map_err(refused)?)
}
