//! [`AbstentionExamples`]: questions with what routers made of them.

use rayon::prelude::*;
use skillmux::{
    compose::{Calibration, Evidence},
    retrieve::RankingIdentity,
    route::Router,
};
use skillmux_eval::metric::abstention::Judged;

use super::{
    calibration::{CalibrationExample, fit_calibration, fit_verifier},
    question::{Question, QuestionKind, Questions, Scope},
};
use crate::error::Result;

/// Share of spaceless characters above which a question counts as written without spaces.
const MIN_CHARACTER_SHARE: f32 = 0.5;

/// One question, asked of one index.
#[derive(Debug, Clone)]
pub struct AbstentionExample {
    /// What the question is to the index.
    pub kind: QuestionKind,
    /// Name of the query.
    pub query_id: String,
    /// Skills of the index.
    pub n_skills: usize,
    /// Whether it is kept for the scores.
    pub is_held_out: bool,
    /// `None` where nothing was found.
    pub evidence: Option<Evidence>,
    /// Who ranked; `None` where nothing was found.
    pub ranking: Option<RankingIdentity>,
    /// How much the index counts beside the others.
    pub library_weight: f64,
    /// Whether the best skill is one of those that the query comes with.
    pub is_best_known: bool,
}

impl AbstentionExample {
    fn of(
        kind: QuestionKind,
        question: &Question,
        router: &Router,
        library_weight: f64,
    ) -> Result<Self> {
        let Question { query_id, query, skill_ids, is_held_out } = question;
        let found = router.evidence(query)?;
        Ok(Self {
            kind,
            query_id: query_id.clone(),
            n_skills: router.n_skills(),
            is_held_out: *is_held_out,
            is_best_known: found.as_ref().is_some_and(|f| skill_ids.contains(&f.best.skill)),
            evidence: found.as_ref().map(|found| found.evidence),
            ranking: found.map(|found| found.ranking),
            library_weight,
        })
    }

    /// Returns how sure a calibration is that the best skill helps; 0 where nothing was found.
    pub fn confidence(&self, calibration: &Calibration) -> f32 {
        self.evidence.map_or(0.0, |evidence| calibration.confidence(&evidence))
    }

    /// Returns whether the question is in Chinese, kana or Hangul.
    pub fn is_spaceless(&self) -> bool {
        self.evidence
            .is_some_and(|evidence| evidence.features.character_share > MIN_CHARACTER_SHARE)
    }

    pub(super) fn judged(&self, calibration: &Calibration) -> Judged {
        Judged { confidence: self.confidence(calibration), answerable: self.kind.is_answerable() }
    }

    fn to_fit(&self) -> Option<CalibrationExample> {
        Some(CalibrationExample {
            evidence: self.evidence?,
            is_answerable: self.kind.is_answerable(),
            is_near: self.kind == QuestionKind::Near,
            importance: self.kind.importance()?,
            library_weight: self.library_weight,
        })
    }
}

/// What routers of one ranking made of questions, over several indexes.
#[derive(Debug, Clone, Default)]
pub struct AbstentionExamples {
    examples: Vec<AbstentionExample>,
    /// Who ranked, once a router was asked.
    ranking: Option<RankingIdentity>,
    /// Which verifier that router asked.
    verifier: Option<String>,
}

impl AbstentionExamples {
    /// Asks a router on all cores; the examples come in the order of the questions. Those that
    /// another ranking answers, as where a transformer cannot read the question, are left out.
    ///
    /// Answerable queries that do not say which skills answer them are asked of the first router
    /// alone. In the fit, the index counts `library_weight` times as much as one of weight 1.
    ///
    /// # Errors
    /// What the index says.
    pub fn ask(
        &mut self,
        questions: &Questions,
        router: &Router,
        library_weight: f64,
    ) -> Result<()> {
        let scope = if self.ranking.is_none() { Scope::First } else { Scope::Further };
        let asked = questions
            .of(&router.index(), scope)
            .into_par_iter()
            .map(|(kind, question)| AbstentionExample::of(kind, question, router, library_weight))
            .collect::<Result<Vec<_>>>()?;
        let ranker = &router.stages().ranker;
        if scope == Scope::First {
            self.verifier = ranker.verifier().map(|verifier| verifier.identity().short());
        }
        let ranking = self.ranking.get_or_insert_with(|| ranker.identity());
        let is_ranked = |example: &AbstentionExample| {
            example.ranking.as_ref().is_none_or(|of_example| of_example == ranking)
        };
        self.examples.extend(asked.into_iter().filter(is_ranked));
        Ok(())
    }

    /// Fits a calibration of the first router's ranking to the examples that are not held out;
    /// `None` if no router was asked.
    pub fn fit(&self) -> Option<Calibration> {
        Some(fit_calibration(self.ranking.clone()?, self.verifier.clone(), &self.train()))
    }

    /// Returns a calibration with what it makes of the verifier fitted to the examples that are not
    /// held out.
    #[must_use]
    pub fn fit_verifier(&self, calibration: &Calibration) -> Calibration {
        fit_verifier(calibration, self.verifier.clone(), &self.train())
    }

    /// Returns who ranked; `None` if no router was asked.
    pub fn ranking(&self) -> Option<&RankingIdentity> {
        self.ranking.as_ref()
    }

    fn train(&self) -> Vec<CalibrationExample> {
        let train = self.examples.iter().filter(|example| !example.is_held_out);
        train.filter_map(AbstentionExample::to_fit).collect()
    }

    /// Returns the number of examples that are fitted to or measured only, and not held out.
    pub fn n_train(&self) -> usize {
        self.examples.len() - self.held_out().count()
    }

    /// Returns the examples that are held out, in the order in which they were asked.
    pub fn held_out(&self) -> impl Iterator<Item = &AbstentionExample> {
        self.examples.iter().filter(|example| example.is_held_out)
    }

    /// Returns the sizes of the indexes that were asked, the largest first.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.examples.iter().map(|example| example.n_skills).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.dedup();
        sizes
    }
}
