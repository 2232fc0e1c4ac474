//! Carries out the plans of answers with mock executors: `SkillWeaver` appendix I, with retries and
//! substitutes.
//!
//! Nothing of a skill is run. A mock executor stands for each skill; it succeeds as often as the
//! rate of its category says. So the pilot tells what a plan, a retry or a substitute is worth if
//! tools fail as often as that.
//!
//! The paper calls what was routed, right or not. [`Pilot`] has these numbers (SES, CCR), and
//! beside them how much of the task is done: a call counts there only if the skill is one that the
//! task needs.

mod executor;
mod pilot;
mod report;

pub use pilot::{Pilot, PilotConfig, PolicyScores, execute};
