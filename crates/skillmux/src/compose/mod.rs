//! Turns rankings into a plan: whether to load anything, which skills, how many, and in what order.
//!
//! ```
//! use skillmux::{
//!     compose::{ComposeRequest, Composer, Considered, Decision, Judgement, ScoreCut, Split, StepCandidates, Verdict},
//!     query::Need,
//!     retrieve::{Candidate, ScoreScale},
//!     skill::SkillId,
//! };
//!
//! let considered = |name: &str, score| Considered {
//!     candidate: Candidate::new(SkillId::new(name), score),
//!     name: name.to_owned(),
//! };
//! let step = StepCandidates {
//!     need: Need::new("fill the form and append the annex"),
//!     candidates: vec![
//!         considered("pdf-forms", 30.0),
//!         considered("pdf-merge", 28.0),
//!         considered("excel", 6.0),
//!     ],
//!     judgement: Judgement { confidence: Some(0.9), verdict: Verdict::Helps },
//! };
//! let plan = ScoreCut::default().compose(&ComposeRequest {
//!     task: "fill the form and append the annex",
//!     steps: &[step],
//!     split: Split::Whole,
//!     scale: ScoreScale::Points,
//!     similarity: &|_, _| 0.0,
//!     compatibility: &|_, _| 0.0,
//!     headline: &|_| None,
//!     library: &Vec::new,
//!     max_skills: 5,
//!     n_skills: 3,
//! })?;
//!
//! assert_eq!(plan.decision, Decision::Load);
//! assert_eq!(plan.steps[0].skills.len(), 2);
//! assert_eq!(plan.steps[0].left_out[0].skill.as_str(), "excel");
//! # Ok::<(), skillmux::Error>(())
//! ```

mod abstain;
mod assignment;
mod chain;
mod compatibility;
mod composer;
mod plan;
mod reason;
mod repetition;
mod score_cut;
mod set_head;
mod set_plan;
mod top_k;

pub use abstain::{Calibration, Calibrations, Evidence, Features, Judgement, Verdict};
pub use chain::Chain;
pub use compatibility::SkillProfile;
pub use composer::{ComposeRequest, Composer, Considered, Split, StepCandidates};
pub use plan::{Decision, DropReason, LeftOut, Plan, PlanStep};
pub use score_cut::{ScoreCut, ScoreCutConfig};
pub use set_head::{SetFeatures, SetHead, SetTable, SetWeights};
pub use set_plan::{first_skill, plan_of_sequence};
pub use top_k::TopK;

pub(crate) use abstain::{is_small_talk, judge};
