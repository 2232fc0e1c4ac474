//! Writes an explanation as a model reads it.

use std::fmt::Write as _;

use skillmux::{compose::Decision, text::one_line};

use super::text::words;
use crate::explanation::{AskedSkill, ExplanationView, Grounds, PartView, StepView};

/// Returns an explanation: the decision, the steps with their skills, and the skill that was asked
/// about.
pub(super) fn explanation_text(explanation: &ExplanationView) -> String {
    let decision = match explanation.decision {
        Decision::Load => "load",
        Decision::Abstain => "abstain",
    };
    let confidence = confidence(explanation.confidence);
    let reason = one_line(&explanation.reason);
    let mut text = format!("decision: {decision} ({confidence}): {reason}\n");
    for (i, step) in explanation.steps.iter().enumerate() {
        text.push_str(&step_text(i + 1, step));
    }
    if let Some(skill) = &explanation.skill {
        text.push_str(&asked_text(skill));
    }
    text
}

fn step_text(number: usize, step: &StepView) -> String {
    let confidence = confidence(step.confidence);
    let mut text = format!("\nstep {number} ({confidence}");
    for first in &step.after {
        let _ = write!(text, "; after step {first}");
    }
    let _ = writeln!(text, "): {}", one_line(&step.subtask));
    for skill in &step.skills {
        let id = one_line(skill.skill_id.as_str());
        let _ = writeln!(text, "+ {id}{}", grounds_text(&skill.grounds));
    }
    for skill in &step.left_out {
        let (id, reason) = (one_line(skill.skill_id.as_str()), one_line(&skill.reason));
        let _ = writeln!(text, "- {id} (score {}): {reason}", skill.score);
    }
    text
}

fn asked_text(skill: &AskedSkill) -> String {
    let id = one_line(skill.skill_id.as_str());
    let mut text = format!("\nasked about: {id}: {}", one_line(&skill.reason));
    let _ = write!(text, "\n  trust: {}", one_line(&skill.trust));
    for warning in &skill.warnings {
        let _ = write!(text, "\n  warning: it {}", one_line(warning));
    }
    text.push_str(&words("\n  missing: ", &skill.missing));
    if let Some(standing) = &skill.standing {
        let _ = write!(
            text,
            "\n  place {} for: {}; the best has score {}{}{}",
            standing.place,
            one_line(&standing.subtask),
            standing.best_score,
            grounds_text(&standing.grounds),
            parts_text("\n  the best has more of: ", &standing.lacks),
        );
    }
    text.push('\n');
    text
}

/// Returns what speaks for a skill, for the line that names it and those below.
fn grounds_text(grounds: &Grounds) -> String {
    format!(
        "\n  score {}{}{}{}",
        grounds.score,
        parts_text(": ", &grounds.parts),
        words("\n  matched: ", &grounds.matched),
        words("\n  missing: ", &grounds.missing),
    )
}

fn parts_text(lead: &str, parts: &[PartView]) -> String {
    let parts: Vec<String> =
        parts.iter().map(|part| format!("{} {:+.2}", part.feature, part.value)).collect();
    words(lead, &parts)
}

fn confidence(confidence: Option<f64>) -> String {
    match confidence {
        Some(confidence) => format!("confidence {confidence:.2}"),
        None => "uncalibrated".to_owned(),
    }
}
