//! [`KindScores`]: how a calibration does on held-out questions.

use skillmux::compose::Calibration;
use skillmux_eval::metric::abstention::{
    Judged, OperatingPoint, at_coverage, auroc, balanced_calibration_error,
};

use super::{
    calibration::COVERAGE,
    example::{AbstentionExample, AbstentionExamples},
    question::QuestionKind,
};

/// How a calibration does on the held-out questions of one kind, over the indexes of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KindScores {
    /// What the questions are.
    pub kind: QuestionKind,
    /// Whether only those in Chinese, kana or Hangul are counted.
    pub is_spaceless: bool,
    /// Questions, at least 1.
    pub n: usize,
    /// Those that load at the threshold that the calibration has for this size.
    pub n_loaded: usize,
    /// Those of them whose first skill is the one that the query comes with.
    pub n_known_loaded: usize,
    /// How they are told from the answerable ones; `None` for those that are answerable.
    pub rejection: Option<RejectionScores>,
}

/// How unanswerable questions of one kind are told from the answerable ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RejectionScores {
    /// Chance that an answerable question is the more confident one.
    pub auroc: f64,
    /// Balanced calibration error over both, which count half each.
    pub calibration_error: f64,
    /// Those that load at the threshold that covers [`COVERAGE`] of the answerable ones.
    pub n_loaded_at_coverage: usize,
}

impl AbstentionExamples {
    /// Returns the scores of each kind of question over the indexes of one size, of all questions
    /// and of those in Chinese, kana or Hangul; without kinds of which none is held out.
    pub fn scores(&self, n_skills: usize, calibration: &Calibration) -> Vec<KindScores> {
        let of_size: Vec<&AbstentionExample> =
            self.held_out().filter(|example| example.n_skills == n_skills).collect();
        let parts = QuestionKind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
        parts
            .filter_map(|(kind, is_spaceless)| {
                let is_in = |example: &&&AbstentionExample| !is_spaceless || example.is_spaceless();
                let part: Vec<_> = of_size.iter().filter(is_in).copied().collect();
                let scores = KindScores::of(kind, &part, calibration)?;
                Some(KindScores { is_spaceless, ..scores })
            })
            .collect()
    }

    /// Returns the trade between answerable questions that load and others that do, over the
    /// indexes of one size, at some coverages.
    pub fn operating_points(
        &self,
        n_skills: usize,
        calibration: &Calibration,
        coverages: &[f64],
    ) -> Vec<OperatingPoint> {
        let is_in = |example: &&AbstentionExample| {
            let kinds = [QuestionKind::Answerable, QuestionKind::Unanswerable];
            example.n_skills == n_skills && kinds.contains(&example.kind)
        };
        let judged: Vec<Judged> =
            self.held_out().filter(is_in).map(|example| example.judged(calibration)).collect();
        coverages.iter().map(|coverage| at_coverage(&judged, *coverage)).collect()
    }
}

impl KindScores {
    fn of(
        kind: QuestionKind,
        part: &[&AbstentionExample],
        calibration: &Calibration,
    ) -> Option<Self> {
        let of = |kind: QuestionKind| part.iter().filter(move |example| example.kind == kind);
        let judged = |kind: QuestionKind| -> Vec<Judged> {
            of(kind).map(|example| example.judged(calibration)).collect()
        };
        let own = judged(kind);
        let n_skills = part.first().map_or(0, |example| example.n_skills);
        let threshold = calibration.threshold_of(n_skills);
        let n_above = |threshold: f32| own.iter().filter(|one| one.confidence >= threshold).count();
        let is_loaded =
            |example: &&&AbstentionExample| example.confidence(calibration) >= threshold;
        let rejection = (!kind.is_answerable()).then(|| {
            let mut both = judged(QuestionKind::Answerable);
            both.extend(&own);
            RejectionScores {
                auroc: auroc(&both),
                calibration_error: balanced_calibration_error(&both),
                n_loaded_at_coverage: n_above(at_coverage(&both, COVERAGE).threshold),
            }
        });
        (!own.is_empty()).then(|| Self {
            kind,
            is_spaceless: false,
            n: own.len(),
            n_loaded: n_above(threshold),
            n_known_loaded: of(kind).filter(is_loaded).filter(|one| one.is_best_known).count(),
            rejection,
        })
    }
}
