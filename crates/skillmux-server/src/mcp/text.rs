//! Writes answers as a model reads them; every untrusted text stays on its line or in its element.

use std::fmt::Write as _;

use skillmux::{
    compose::Decision,
    text::{clipped, one_line},
};

use super::markup::enclose;
use crate::view::{PageView, RouteView};

/// Longest description, in characters; models that choose need no more.
const MAX_DESCRIPTION_CHARS: usize = 400;

/// Returns a route: the decision, the skills, what was left out, and the pages.
pub(super) fn route_text(route: &RouteView) -> String {
    let decision = match route.decision {
        Decision::Load => "load",
        Decision::Abstain => "abstain",
    };
    let confidence = match route.confidence {
        Some(confidence) => format!("confidence {confidence:.2}"),
        None => "uncalibrated".to_owned(),
    };
    let mut text = format!("decision: {decision} ({confidence}): {}\n", one_line(&route.reason));
    if !route.request.is_empty() {
        let request = one_line(&route.request);
        let _ = writeln!(text, "asked: {request} (the rest of the task counts less)");
    }
    if !route.corrections.is_empty() {
        text.push_str(&words("read as: ", &route.corrections));
        text.push('\n');
    }
    if !route.ruled_out.is_empty() {
        text.push_str(&words("not wanted: ", &route.ruled_out));
        text.push('\n');
    }
    for (i, skill) in route.skills.iter().enumerate() {
        let number = i + 1;
        let (id, name) = (one_line(skill.skill_id.as_str()), one_line(&skill.name));
        let description = clipped(&one_line(&skill.description), MAX_DESCRIPTION_CHARS);
        let source = one_line(&skill.source);
        let after: Vec<String> = skill.after.iter().map(|id| id.as_str().to_owned()).collect();
        let _ = write!(
            text,
            "\n{number}. skill_id: {id}\n   name: {name}\n   description: {description}\n   \
             source: {source}\n{}   trust: {}\n{}   score: {}{}{}{}{}\n",
            folder_line("   ", skill.folder.as_deref()),
            one_line(&skill.trust),
            warning_lines("   ", &skill.warnings),
            skill.score,
            words("; for: ", &skill.needs),
            words("; after: ", &after),
            words("; matched: ", &skill.why.matched),
            words("; missing: ", &skill.why.missing),
        );
    }
    for need in &route.unserved {
        let _ = writeln!(text, "\nno skill for: {}", one_line(need));
    }
    if !route.alternatives.is_empty() {
        text.push_str("\nleft out:\n");
    }
    for skill in &route.alternatives {
        let (id, reason) = (one_line(skill.skill_id.as_str()), one_line(&skill.reason));
        let _ = writeln!(text, "- {id} (score {}): {reason}", skill.score);
    }
    if !route.hints.is_empty() {
        text.push_str("\nother skills that may help:\n");
    }
    for hint in &route.hints {
        let (id, line) = (one_line(hint.skill_id.as_str()), one_line(&hint.text));
        let _ = writeln!(text, "- {id}  {line}");
    }
    for page in &route.pages {
        let _ = write!(text, "\n{}\n", page_text(page));
    }
    text
}

/// Returns the parts of a skill, marked as its text.
pub(super) fn page_text(page: &PageView) -> String {
    let (name, shown, full) = (one_line(&page.name), page.n_tokens, page.full_tokens);
    let extent = if page.truncated {
        format!("{shown} of {full} tokens, parts {}", page.parts)
    } else {
        format!("whole, {shown} tokens")
    };
    // Headings are text of the skill, too.
    let mut content = page.markdown.clone();
    if let Some(words) = &page.left_out {
        let _ = write!(content, "\n[left out: {words}]\n");
    }
    if let Some(words) = &page.best_left_out {
        let _ = write!(content, "\n[needed most, but too long for the budget: {words}]\n");
    }
    let content = enclose(page.skill_id.as_str(), &content);
    let folder = folder_line("", page.folder.as_deref());
    let warnings = warning_lines("", &page.warnings);
    format!("skill: {name} ({extent})\n{folder}{warnings}{content}")
}

/// Returns the line that says where a skill lies, or nothing where it does not.
fn folder_line(indent: &str, folder: Option<&str>) -> String {
    folder.map(|folder| format!("{indent}folder: {folder}\n")).unwrap_or_default()
}

/// Returns a line for each thing that speaks against a skill.
fn warning_lines(indent: &str, warnings: &[String]) -> String {
    let lines =
        warnings.iter().map(|warning| format!("{indent}warning: it {}\n", one_line(warning)));
    lines.collect::<Vec<_>>().concat()
}

/// Returns `lead` and the words, or nothing where there are no words.
pub(super) fn words(lead: &str, words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!("{lead}{}", one_line(&words.join(", "))) }
}
