//! Joins the stages: one query in, one [`Route`] out.
//!
//! ```
//! use skillmux::{compose::Decision, index::{Index, UpdateOptions}, library::Library, retrieve::Query, route::{RouteOptions, Router}};
//!
//! # let dir = tempfile::tempdir()?;
//! # let (skills, index) = (dir.path().join("skills"), dir.path().join("index"));
//! # std::fs::create_dir_all(skills.join("pdf-forms"))?;
//! # std::fs::write(skills.join("pdf-forms/SKILL.md"),
//! #     "---\nname: pdf-forms\ndescription: Fill in PDF forms\n---\nList the fields first.\n")?;
//! let library = Library::open([&skills])?;
//! Index::update(&index, &library, &UpdateOptions::default(), &mut |_| {})?;
//!
//! let router = Router::open(&index)?;
//! let route = router.route(&Query::new("fill in this PDF form")?, &RouteOptions::default())?;
//!
//! assert_eq!(route.decision, Decision::Load);
//! assert_eq!(route.steps[0].skills[0].name, "pdf-forms");
//! assert_eq!(route.pages[0].nodes[0].text, "List the fields first.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{cell::RefCell, path::Path, sync::Arc, time::Duration};

use rustc_hash::FxHashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    compose::{
        Calibration, Calibrations, ComposeRequest, Composer, Decision, Evidence, Plan, PlanStep,
        PlannedSkill, ScoreCut, ScoreCutConfig, ScoreScale, TopK,
    },
    error::Result,
    index::{Index, IndexedSkill},
    model::Encoder,
    page::{FullPager, MmrPager, Page, PageRequest, Pager, TermSource},
    rerank::{Ranker, RankerWeights},
    retrieve::{
        Bm25Config, Bm25Retriever, Candidate, DenseRetriever, HybridConfig, HybridRetriever, Query,
        Ranking, Retriever,
    },
    skill::{Skill, SkillId},
    text::TermReader,
};

/// The whole answer to a query.
///
/// The same index and query give the same route, but for [`StageTrace::time_us`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    /// Identifier of the query in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_id: Option<String>,
    /// Load or abstain.
    pub decision: Decision,
    /// Calibrated estimate in `[0, 1]` that the best skill helps.
    pub confidence: f32,
    /// The decision in a sentence.
    pub reason: String,
    /// The plan, in execution order.
    pub steps: Vec<PlanStep>,
    /// The parts of the planned skills that the query needs, in plan order.
    pub pages: Vec<Page>,
    /// What each stage did.
    pub trace: Vec<StageTrace>,
}

/// What one stage did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageTrace {
    /// Name of the stage: `retrieve`, `compose` or `page`.
    pub stage: String,
    /// Wall-clock time in microseconds.
    pub time_us: u64,
    /// Number of inputs: skills in the index, candidates, or nodes of the planned skills.
    pub n_in: usize,
    /// Number of outputs: candidates, planned skills, or selected nodes.
    pub n_out: usize,
}

/// Which implementation of each stage a router uses.
#[derive(Debug, Clone)]
pub struct RouterConfig {
    /// Retrieval by words, which every router can do.
    pub bm25: Bm25Config,
    /// Retrieval of a router that has an encoder.
    pub retriever: RetrieverKind,
    /// Weights by which candidates are ranked again; then words, and vectors where there is an
    /// encoder, find the candidates, whatever the retriever is.
    pub ranker: Option<Arc<RankerWeights>>,
    /// Composition.
    pub composer: ComposerKind,
    /// Confidence, and when to abstain.
    pub calibrations: Calibrations,
    /// Paging.
    pub pager: PagerKind,
    /// Returns the time since some fixed moment, for the trace; the engine itself reads no clock.
    pub clock: fn() -> Duration,
}

impl Default for RouterConfig {
    /// The default of each stage, and a clock that stands still.
    fn default() -> Self {
        Self {
            bm25: Bm25Config::default(),
            retriever: RetrieverKind::default(),
            ranker: None,
            composer: ComposerKind::default(),
            calibrations: Calibrations::default(),
            pager: PagerKind::default(),
            clock: || Duration::ZERO,
        }
    }
}

/// Which retriever a router with an encoder uses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum RetrieverKind {
    /// [`Bm25Retriever`], as without an encoder.
    #[default]
    Lexical,
    /// [`DenseRetriever`].
    Dense,
    /// [`HybridRetriever`].
    Hybrid(HybridConfig),
}

/// Which composer a router uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ComposerKind {
    /// [`ScoreCut`].
    #[default]
    ScoreCut,
    /// [`TopK`].
    TopK,
}

/// Which pager a router uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PagerKind {
    /// [`MmrPager`].
    #[default]
    Mmr,
    /// [`FullPager`].
    Full,
}

/// Limits of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteOptions {
    /// Most skills to load.
    pub max_skills: usize,
    /// Most tokens over all pages; 0 for no pages.
    pub budget_tokens: u32,
}

impl Default for RouteOptions {
    /// Three skills, which give the best Set F1 on the sample tasks, and 4,000 tokens, less than
    /// one body of the length that the Agent Skills specification allows.
    fn default() -> Self {
        Self { max_skills: 3, budget_tokens: 4000 }
    }
}

/// Candidates that are looked at beyond those that a plan may hold, for alternatives.
const N_SPARE_CANDIDATES: usize = 10;

/// Routes queries over one index.
pub struct Router {
    index: Index,
    config: RouterConfig,
    encoder: Option<Arc<dyn Encoder>>,
}

impl Router {
    /// Opens the index in a folder with the default stages.
    ///
    /// # Errors
    /// As for [`Index::open`].
    pub fn open(index_path: &Path) -> Result<Self> {
        Ok(Self::new(Index::open(index_path)?, RouterConfig::default()))
    }

    /// Returns a router over an open index.
    pub fn new(index: Index, config: RouterConfig) -> Self {
        Self { index, config, encoder: None }
    }

    /// Returns the router with an encoder, by which it can retrieve ([`RouterConfig::retriever`]).
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`](crate::Error::EncoderMismatch) unless the vectors of the index are
    /// of this encoder.
    pub fn with_encoder(self, encoder: Arc<dyn Encoder>) -> Result<Self> {
        self.index.vectors_of(encoder.as_ref())?;
        Ok(Self { encoder: Some(encoder), ..self })
    }

    /// Returns the index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns what the router was made with.
    pub fn config(&self) -> &RouterConfig {
        &self.config
    }

    /// Returns the number of skills in the index.
    pub fn n_skills(&self) -> usize {
        self.index.n_skills()
    }

    /// Opens the newest generation of the index, and returns whether there was a newer one.
    ///
    /// # Errors
    /// As for [`Index::open`]; the router then keeps the generation that it has.
    pub fn refresh(&mut self) -> Result<bool> {
        if self.index.is_current()? {
            return Ok(false);
        }
        let index = Index::open(self.index.path())?;
        if let Some(encoder) = &self.encoder {
            index.vectors_of(encoder.as_ref())?;
        }
        self.index = index;
        Ok(true)
    }

    /// Returns the best `k` skills, without a plan.
    ///
    /// # Errors
    /// [`Error::Lexical`](crate::Error::Lexical).
    pub fn search(&self, query: &Query, k: usize) -> Result<Ranking> {
        self.retriever()?.retrieve(query, k)
    }

    /// Returns the best `k` skills with their texts and the reasons for their places.
    ///
    /// # Errors
    /// As for [`Router::search`], and [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn search_explained(&self, query: &Query, k: usize) -> Result<Vec<PlannedSkill>> {
        let retriever = self.retriever()?;
        let found = self.read(&retriever.retrieve(query, k)?)?;
        explained(&*retriever, query, &found)
    }

    /// Returns what speaks for and against loading the best skill; `None` if nothing was found.
    ///
    /// # Errors
    /// As for [`Router::search_explained`].
    pub fn evidence(&self, query: &Query) -> Result<Option<Evidence>> {
        let found = self.search_explained(query, 1)?;
        Ok(Evidence::of(query.text(), self.n_skills(), &found))
    }

    /// Answers a query.
    ///
    /// # Errors
    /// As for [`Router::search_explained`].
    pub fn route(&self, query: &Query, options: &RouteOptions) -> Result<Route> {
        let mut trace = Vec::new();

        let started = (self.config.clock)();
        let n_candidates = options.max_skills.saturating_add(N_SPARE_CANDIDATES);
        let retriever = self.retriever()?;
        let found = self.read(&retriever.retrieve(query, n_candidates)?)?;
        trace.push(self.stage_trace("retrieve", started, self.n_skills(), found.len()));

        let started = (self.config.clock)();
        let planned = explained(&*retriever, query, &found)?;
        let similarity =
            |a: usize, b: usize| self.index.similarity(found[a].0.skill, found[b].0.skill);
        let plan = self.composer().compose(&ComposeRequest {
            task: query.text(),
            found: &planned,
            scale: match self.config.ranker {
                Some(_) => ScoreScale::LogOdds,
                None => ScoreScale::Proportional,
            },
            n_skills: self.n_skills(),
            // A damaged row repeats nothing; reading its skill has already failed.
            similarity: &|a, b| similarity(a, b).unwrap_or(0.0),
            max_skills: options.max_skills,
        });
        let Plan { decision, confidence, reason, steps } = plan;
        let loaded: Vec<&SkillId> =
            steps.iter().flat_map(|step| &step.skills).map(|skill| &skill.id).collect();
        trace.push(self.stage_trace("compose", started, planned.len(), loaded.len()));

        let started = (self.config.clock)();
        let skills: Vec<&IndexedSkill> = loaded
            .iter()
            .filter_map(|id| found.iter().map(|(_, skill)| skill).find(|s| s.skill.id == **id))
            .collect();
        let pages = self.pages(query, &skills, options.budget_tokens);
        let n_nodes = skills.iter().map(|skill| skill.nodes.nodes.len()).sum();
        let n_selected = pages.iter().map(|page| page.nodes.len()).sum();
        trace.push(self.stage_trace("page", started, n_nodes, n_selected));

        Ok(Route { query_id: None, decision, confidence, reason, steps, pages, trace })
    }

    /// Returns the parts of one skill that a query needs; without a query, its beginning.
    ///
    /// # Errors
    /// [`Error::SkillUnknown`](crate::Error::SkillUnknown) with ids that look alike, and
    /// [`Error::IndexCorrupt`](crate::Error::IndexCorrupt).
    pub fn page(&self, id: &SkillId, query: Option<&Query>, budget_tokens: u32) -> Result<Page> {
        let skill = self.index.skill(self.index.find(id)?)?;
        let pager: Box<dyn Pager> = match query {
            Some(_) => self.pager(),
            None => Box::new(FullPager),
        };
        let query = query.map_or("", Query::text);
        Ok(Words::new(&self.index).page(pager.as_ref(), &skill, query, budget_tokens))
    }

    /// Pages the skills of a plan; what one leaves of its share goes to the next.
    fn pages(&self, query: &Query, skills: &[&IndexedSkill], budget_tokens: u32) -> Vec<Page> {
        if budget_tokens == 0 {
            return Vec::new();
        }
        let pager = self.pager();
        let words = Words::new(&self.index);
        let mut left = budget_tokens;
        let mut pages = Vec::with_capacity(skills.len());
        for (skill, n_left) in skills.iter().zip((1..=skills.len()).rev()) {
            let share = left / u32::try_from(n_left).unwrap_or(u32::MAX);
            let page = words.page(pager.as_ref(), skill, query.text(), share);
            left -= page.n_tokens.min(left);
            pages.push(page);
        }
        pages
    }

    fn read(&self, ranking: &Ranking) -> Result<Vec<(Candidate, IndexedSkill)>> {
        let read = |candidate: &Candidate| Ok((*candidate, self.index.skill(candidate.skill)?));
        ranking.candidates().iter().map(read).collect()
    }

    fn retriever(&self) -> Result<Box<dyn Retriever + '_>> {
        if let Some(weights) = &self.config.ranker {
            let encoder = self.encoder.as_deref();
            return Ok(Box::new(Ranker::new(&self.index, encoder, weights)?));
        }
        let Some(encoder) = &self.encoder else {
            return Ok(Box::new(Bm25Retriever::new(&self.index, self.config.bm25)));
        };
        Ok(match self.config.retriever {
            RetrieverKind::Lexical => Box::new(Bm25Retriever::new(&self.index, self.config.bm25)),
            RetrieverKind::Dense => Box::new(DenseRetriever::new(&self.index, encoder.as_ref())?),
            RetrieverKind::Hybrid(config) => {
                Box::new(HybridRetriever::new(&self.index, encoder.as_ref(), config)?)
            }
        })
    }

    /// Returns the calibration for the way in which the router ranks.
    pub fn calibration(&self) -> &Calibration {
        let Calibrations { with_vectors, without_vectors } = &self.config.calibrations;
        match (&self.config.ranker, &self.encoder) {
            (Some(_), Some(_)) => with_vectors,
            _ => without_vectors,
        }
    }

    fn composer(&self) -> Box<dyn Composer> {
        let calibration = *self.calibration();
        match self.config.composer {
            ComposerKind::ScoreCut => {
                Box::new(ScoreCut::new(ScoreCutConfig::default(), calibration))
            }
            ComposerKind::TopK => Box::new(TopK::new(calibration)),
        }
    }

    fn pager(&self) -> Box<dyn Pager> {
        match self.config.pager {
            PagerKind::Mmr => Box::new(MmrPager::default()),
            PagerKind::Full => Box::new(FullPager),
        }
    }

    fn stage_trace(&self, stage: &str, started: Duration, n_in: usize, n_out: usize) -> StageTrace {
        let elapsed = (self.config.clock)().saturating_sub(started);
        let time_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        StageTrace { stage: stage.to_owned(), time_us, n_in, n_out }
    }
}

/// Returns the skills with the reasons for their places.
fn explained(
    retriever: &dyn Retriever,
    query: &Query,
    found: &[(Candidate, IndexedSkill)],
) -> Result<Vec<PlannedSkill>> {
    let skills: Vec<(Candidate, &Skill)> =
        found.iter().map(|(candidate, indexed)| (*candidate, &indexed.skill)).collect();
    let explanations = retriever.explain(query, &skills)?;
    let planned =
        skills.iter().zip(explanations).map(|((candidate, skill), explanation)| PlannedSkill {
            id: skill.id.clone(),
            name: skill.name.clone(),
            description: skill.description.clone(),
            source: skill.source.clone(),
            score: candidate.score,
            explanation,
        });
    Ok(planned.collect())
}

/// What is remembered of words while several skills are paged for one query.
struct Words<'i> {
    index: &'i Index,
    reader: RefCell<TermReader>,
    idfs: RefCell<FxHashMap<String, f32>>,
}

impl<'i> Words<'i> {
    fn new(index: &'i Index) -> Self {
        Self { index, reader: RefCell::new(TermReader::new()), idfs: RefCell::default() }
    }

    fn page(
        &self,
        pager: &dyn Pager,
        indexed: &IndexedSkill,
        query: &str,
        budget_tokens: u32,
    ) -> Page {
        pager.page(&PageRequest {
            skill: &indexed.skill,
            nodes: &indexed.nodes,
            query,
            terms: &TermSource {
                terms: &|text, visit| {
                    let mut reader = self.reader.borrow_mut();
                    let mut terms = reader.read(text);
                    while let Some(term) = terms.advance() {
                        visit(term.text);
                    }
                },
                idf: &|term| self.idf(term),
            },
            budget_tokens,
        })
    }

    fn idf(&self, term: &str) -> f32 {
        if let Some(idf) = self.idfs.borrow().get(term) {
            return *idf;
        }
        // Without the statistics of the library all words weigh the same.
        let idf = self.index.body_idf(term).unwrap_or(1.0);
        self.idfs.borrow_mut().insert(term.to_owned(), idf);
        idf
    }
}
