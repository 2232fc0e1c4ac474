//! [`RouteView`] and [`PageView`]: answers as they go over the wire, in any protocol.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;
use skillmux::{
    compose::{Decision, DropReason},
    explain::whole_words,
    page::{Page, PageNode},
    route::{Alternative, Correction, ExplainedSkill, Hint, Route, RouteStep},
    skill::{NodeKind, SkillId},
    text::{clipped, printable},
    trust::TrustNote,
};

/// Alternatives past the fifth cost tokens and help no one.
const MAX_ALTERNATIVES: usize = 5;

/// Longest name, source or reason, in characters. The Agent Skills specification allows a name 64;
/// what is longer is no name, and would crowd out the answer.
const MAX_LABEL_CHARS: usize = 200;

/// Longest description, in characters: what the Agent Skills specification allows.
const MAX_DESCRIPTION_CHARS: usize = 1024;

/// Most warnings of one skill: a report of a scanner may hold hundreds.
const MAX_WARNINGS: usize = 8;

/// Whether a task needs skills, and which.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RouteView {
    /// Whether to load anything.
    pub(crate) decision: Decision,
    /// Estimate from 0 to 1 that a loaded skill helps; null where none was fitted.
    pub(crate) confidence: Option<f64>,
    /// The decision in a sentence.
    pub(crate) reason: String,
    /// What was read as the request, if the rest is pasted or background.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) request: String,
    /// Words of the task that were taken for typing errors, and what they were read as.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) corrections: Vec<String>,
    /// What the task says it does not want: skills of that name were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ruled_out: Vec<String>,
    /// Skills to use, in this order; empty after `abstain`.
    pub(crate) skills: Vec<FoundSkill>,
    /// Needs that no skill serves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unserved: Vec<String>,
    /// The best skills that were left out.
    pub(crate) alternatives: Vec<LeftOut>,
    /// Other skills that may help, as `skill_id` and `name: description`, if `hints` asked for
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hints: Vec<HintView>,
    /// The parts of the skills that the task needs, if `budget_tokens` asked for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pages: Vec<PageView>,
}

/// A skill to use. Its texts are third-party material.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FoundSkill {
    /// Id by which the skill is read.
    pub(crate) skill_id: SkillId,
    /// Name, clipped if it is very long.
    pub(crate) name: String,
    /// What the skill does and when to use it, in its author's words; clipped if it is very long.
    pub(crate) description: String,
    /// Where the skill comes from.
    pub(crate) source: String,
    /// Absolute path of the folder of the skill, if it is on disk. Paths in its text, such as
    /// `scripts/run.py`, are relative to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<String>,
    /// Kind of place, how far the user trusts it, license.
    pub(crate) trust: String,
    /// What speaks against it. None does not mean safe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// Rank score; comparable within this answer only.
    pub(crate) score: f64,
    /// The needs that it serves, if needs were passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<String>,
    /// Skills whose work must come first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<SkillId>,
    /// Why it was found.
    pub(crate) why: Why,
}

/// Another skill that may help.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HintView {
    /// Id by which the skill is read.
    pub(crate) skill_id: SkillId,
    /// Name and description, in its author's words.
    pub(crate) text: String,
}

impl From<Hint> for HintView {
    fn from(hint: Hint) -> Self {
        let text = label(&format!("{}: {}", hint.name, hint.description));
        Self { skill_id: hint.id, text }
    }
}

/// Why a skill was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Why {
    /// Words of the task that occur in the skill, rarest first.
    pub(crate) matched: Vec<String>,
    /// Words of the task that do not, rarest first.
    pub(crate) missing: Vec<String>,
}

/// A skill that was left out.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LeftOut {
    /// Id by which the skill is read.
    pub(crate) skill_id: SkillId,
    /// Name.
    pub(crate) name: String,
    /// Rank score.
    pub(crate) score: f64,
    /// Why it was left out.
    pub(crate) reason: String,
}

/// The parts of one skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PageView {
    /// Id of the skill.
    pub(crate) skill_id: SkillId,
    /// Name of the skill.
    pub(crate) name: String,
    /// Absolute path of the folder of the skill, if it is on disk and not named above. Paths in its
    /// text are relative to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<String>,
    /// What speaks against the skill.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// The parts, in the order of the source; third-party text.
    pub(crate) markdown: String,
    /// What each part is and where it stands.
    pub(crate) nodes: Vec<NodeView>,
    /// Which parts of the skill these are, for `have` of the next call; parts of which only the
    /// first lines are shown are not among them.
    pub(crate) parts: String,
    /// Estimated tokens of the parts.
    pub(crate) n_tokens: u32,
    /// Estimated tokens of the whole skill.
    pub(crate) full_tokens: u32,
    /// Whether parts of the skill were left out.
    pub(crate) truncated: bool,
    /// Sections of which parts were left out, the longest first, with their tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<String>,
    /// The part that is needed most, if it did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) best_left_out: Option<String>,
    /// How likely this is all that the task needs, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sufficiency: Option<f64>,
}

/// One part of a skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NodeView {
    /// Role of the part.
    kind: NodeKind,
    /// Headings above it, outermost first.
    headings: Vec<String>,
    /// First byte in the body of the skill.
    start_byte: u32,
    /// One past the last byte.
    end_byte: u32,
    /// Estimated tokens.
    n_tokens: u32,
}

impl RouteView {
    /// Returns the answer where there are no skills.
    pub(crate) fn without_skills(needs: &[String]) -> Self {
        Self {
            decision: Decision::Abstain,
            confidence: Some(0.0),
            reason: "there are no skills".to_owned(),
            request: String::new(),
            corrections: Vec::new(),
            ruled_out: Vec::new(),
            skills: Vec::new(),
            unserved: needs.iter().map(|need| label(need)).collect(),
            alternatives: Vec::new(),
            hints: Vec::new(),
            pages: Vec::new(),
        }
    }
}

impl From<Route> for RouteView {
    fn from(route: Route) -> Self {
        let mut seen = HashSet::new();
        let left_out = route.left_out().into_iter().take(MAX_ALTERNATIVES);
        let left_out: Vec<LeftOut> = left_out.cloned().map(LeftOut::from).collect();
        let mut skills = Vec::new();
        let (mut served, mut unserved) = (Vec::new(), Vec::new());
        let is_split = route.steps.len() > 1;
        let servers: Vec<Option<SkillId>> = route.steps.iter().map(server).collect();
        for step in route.steps {
            match server(&step) {
                Some(id) if is_split => served.push((id, label(&step.subtask))),
                None if is_split => unserved.push(label(&step.subtask)),
                _ => {}
            }
            let first = |at: &u32| servers.get(usize::try_from(*at).ok()?)?.clone();
            let after: Vec<SkillId> = step.depends_on.iter().filter_map(first).collect();
            for skill in step.skills.into_iter().map(FoundSkill::from) {
                let after =
                    after.iter().filter(|first| **first != skill.skill_id).cloned().collect();
                skills.push(FoundSkill { after, ..skill });
            }
        }
        // Steps may share skills.
        skills.retain(|skill| seen.insert(skill.skill_id.clone()));
        for (id, need) in served {
            let of_id = skills.iter_mut().find(|skill| skill.skill_id == id);
            if let Some(skill) = of_id {
                skill.needs.push(need);
            }
        }
        let is_taken = |hint: &Hint| skills.iter().any(|skill| skill.skill_id == hint.id);
        let hints: Vec<Hint> = route.hints.into_iter().filter(|hint| !is_taken(hint)).collect();
        Self {
            decision: route.decision,
            confidence: route.confidence.map(rounded),
            reason: label(&route.reason),
            request: route.request.as_deref().map(label).unwrap_or_default(),
            corrections: route.corrections.iter().map(correction).collect(),
            ruled_out: route.ruled_out.iter().map(|object| label(object)).collect(),
            skills,
            unserved,
            hints: hints.into_iter().map(HintView::from).collect(),
            alternatives: left_out,
            pages: route.pages.into_iter().map(PageView::from).collect(),
        }
    }
}

/// Returns the skill that serves a step: its own first, or one of an earlier step.
fn server(step: &RouteStep) -> Option<SkillId> {
    let own = step.skills.first().map(|skill| skill.id.clone());
    let earlier =
        || step.alternatives.iter().find_map(|skill| skill.reason.server(&skill.id)).cloned();
    own.or_else(earlier)
}

impl From<ExplainedSkill> for FoundSkill {
    fn from(skill: ExplainedSkill) -> Self {
        let matched = whole_words(&skill.explanation.matched);
        let why = Why { matched, missing: skill.explanation.missing };
        Self {
            skill_id: skill.id,
            name: label(&skill.name),
            description: clipped(&printable(&skill.description), MAX_DESCRIPTION_CHARS),
            source: label(&skill.source),
            folder: skill.folder,
            trust: label(&skill.trust.to_string()),
            warnings: warnings(&skill.trust),
            score: rounded(skill.score),
            needs: Vec::new(),
            after: Vec::new(),
            why,
        }
    }
}

impl From<Alternative> for LeftOut {
    fn from(skill: Alternative) -> Self {
        Self {
            skill_id: skill.id,
            name: label(&skill.name),
            score: rounded(skill.score),
            reason: label(&in_words(&skill.reason)),
        }
    }
}

impl From<Page> for PageView {
    fn from(page: Page) -> Self {
        let markdown = printable(&page.to_markdown());
        let left_out = page.left_out_in_words().map(|words| label(&words));
        let best_left_out = page.best_left_out_in_words().map(|words| label(&words));
        let parts = page.parts().to_string();
        let truncated = u32::try_from(page.nodes.len()).is_ok_and(|n| n < page.full_nodes);
        Self {
            skill_id: page.skill_id,
            name: label(&page.name),
            folder: None,
            warnings: Vec::new(),
            markdown,
            nodes: page.nodes.into_iter().map(NodeView::from).collect(),
            parts,
            n_tokens: page.n_tokens,
            full_tokens: page.full_tokens,
            truncated,
            left_out,
            best_left_out,
            sufficiency: page.sufficiency.map(rounded),
        }
    }
}

impl From<PageNode> for NodeView {
    fn from(node: PageNode) -> Self {
        Self {
            kind: node.kind,
            headings: node.headings.iter().map(|heading| printable(heading)).collect(),
            start_byte: node.start_byte,
            end_byte: node.end_byte,
            n_tokens: node.n_tokens,
        }
    }
}

fn correction(Correction { from, to }: &Correction) -> String {
    label(&format!("{from}: {to}"))
}

/// Returns why a skill was left out, in words.
pub(crate) fn in_words(reason: &DropReason) -> String {
    match reason {
        DropReason::BelowCut => "its score is below the cut".to_owned(),
        DropReason::SameName { of } => format!("it has the name of `{of}`"),
        DropReason::NearDuplicate { of } => format!("it nearly repeats `{of}`"),
        DropReason::ServesOther => "another need has it, or a copy of it".to_owned(),
        DropReason::LoadedBefore => "another step loads it".to_owned(),
        DropReason::Substitute { of } => format!("it could take the place of `{of}`"),
        DropReason::OverLimit => "max_skills is reached".to_owned(),
        // After `abstain` the answer as a whole says why.
        _ => "it was not chosen".to_owned(),
    }
}

/// Returns what speaks against a skill, in a clause each.
pub(crate) fn warnings(trust: &TrustNote) -> Vec<String> {
    trust.warnings().iter().take(MAX_WARNINGS).map(|warning| label(warning)).collect()
}

/// Returns a short text of a skill as it goes out: without hidden characters, and not too long.
pub(crate) fn label(text: &str) -> String {
    clipped(&printable(text), MAX_LABEL_CHARS)
}

/// Returns a score or probability with four decimals, as a model wants to read it.
pub(crate) fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_of_a_skill_stay_here() {
        let node = PageNode {
            kind: NodeKind::Step,
            headings: vec!["Se\u{61c}nd".to_owned()],
            position: 0,
            marks: Vec::new(),
            is_brief: false,
            start_byte: 0,
            end_byte: 4,
            n_tokens: 1,
            text: "Fill\u{e0041} it\u{202e} in".to_owned(),
        };
        let page = Page {
            skill_id: SkillId::new("a"),
            name: "na\u{200b}me\u{1b}".to_owned(),
            nodes: vec![node],
            full_nodes: 1,
            end_marks: Vec::new(),
            left_out: Vec::new(),
            best_left_out: None,
            sufficiency: None,
            n_tokens: 1,
            full_tokens: 1,
        };
        let view = PageView::from(page);
        assert_eq!((view.name.as_str(), view.nodes[0].headings[0].as_str()), ("name", "Send"));
        assert!(view.markdown.contains("Fill it in"), "{}", view.markdown);
    }

    #[test]
    fn numbers_have_at_most_four_decimals() {
        assert_eq!(rounded(0.87).to_string(), "0.87");
        assert_eq!(rounded(12.345_678).to_string(), "12.3457");
    }
}
