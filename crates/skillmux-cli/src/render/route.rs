//! A route, and a ranked skill, as text.

use std::fmt::Write as _;

use skillmux::{
    compose::{Decision, DropReason},
    explain::whole_words,
    page::PartList,
    retrieve::{Contribution, Feature, FeatureGroup},
    route::{Alternative, Correction, ExplainedSkill, Hint, Route, RouteStep},
    skill::SkillId,
    text::{clipped, one_line, printable},
};

use super::{
    page_text,
    paint::{BAD, FAINT, GOOD, STRONG, grouped, styled, wrapped},
    trust_text,
};

/// Alternatives in the text answer; JSON has all.
const N_ALTERNATIVES: usize = 5;

/// What a text calls the parts of a score that come from shared words, and those that come from
/// vectors; JSON has each part.
const WORDS: &str = "words";
const MEANING: &str = "meaning";

/// Characters of a name in the text answer: what the Agent Skills specification allows.
const MAX_NAME_CHARS: usize = 64;

/// Words in each list of the text answer; JSON has all.
const N_WORDS: usize = 12;

/// Copies of a skill that a text names; JSON has all.
const MAX_COPIES: usize = 3;

/// What a text shows of formalities that were not read: how many, and characters of each. JSON has
/// all.
const N_FORMALITIES: usize = 3;
const MAX_FORMALITY_CHARS: usize = 40;

/// Characters of a subtask above its skills.
const MAX_SUBTASK_CHARS: usize = 160;

/// Shows the whole answer.
pub(crate) fn text(route: &Route, n_skills: usize) -> String {
    let mut out = String::new();
    let loaded = || route.steps.iter().flat_map(|step| &step.skills);
    let decision = match route.decision {
        Decision::Load => {
            let n = loaded().count();
            let noun = if n == 1 { "skill" } else { "skills" };
            format!("{} {n} {noun} of {}", styled(GOOD, "load"), grouped(n_skills))
        }
        Decision::Abstain => {
            format!("{}: none of {} skills fits", styled(BAD, "abstain"), grouped(n_skills))
        }
    };
    let n_us: u64 = route.trace.iter().map(|stage| stage.time_us).sum();
    let confidence = match route.confidence {
        Some(confidence) => format!("confidence {confidence:.2}"),
        None => "uncalibrated".to_owned(),
    };
    let note = format!("{confidence}, {:.1} ms", n_us as f64 / 1000.0);
    let _ = writeln!(out, "{decision}  {}", styled(FAINT, &note));
    let _ = writeln!(out, "{}", wrapped(&route.reason, ""));
    if let Some(request) = &route.request {
        let request = clipped(&one_line(request), MAX_SUBTASK_CHARS);
        let line = format!("asked: {request} (the rest of the task counts less)");
        let _ = writeln!(out, "{}", wrapped(&line, ""));
    }
    if !route.formalities.is_empty() {
        let of_one = |text: &String| clipped(&one_line(text), MAX_FORMALITY_CHARS);
        let mut shown: Vec<String> =
            route.formalities.iter().take(N_FORMALITIES).map(of_one).collect();
        match route.formalities.len().saturating_sub(N_FORMALITIES) {
            0 => {}
            n => shown.push(format!("{n} more")),
        }
        let line = format!("not read: {}", shown.join("; "));
        let _ = writeln!(out, "{}", wrapped(&line, ""));
    }
    if !route.corrections.is_empty() {
        let _ = writeln!(out, "{}", wrapped(&corrections(&route.corrections), ""));
    }
    if !route.ruled_out.is_empty() {
        let line = printable(&format!("not wanted: {}", route.ruled_out.join(", ")));
        let _ = writeln!(out, "{}", wrapped(&line, ""));
    }
    if let Some(last) = route.passes.last() {
        let n = route.passes.len();
        let noun = if n == 1 { "pass" } else { "passes" };
        let line = printable(&format!("needs ({n} {noun}): {}", last.needs.join("; ")));
        let _ = writeln!(out, "{}", wrapped(&line, ""));
    }
    out.push('\n');
    let mut number = 1..;
    for (step, place) in route.steps.iter().zip(1..) {
        if route.steps.len() > 1 {
            let subtask = clipped(&one_line(&step.subtask), MAX_SUBTASK_CHARS);
            let subtask = format!("step {place}{}: {subtask}", order(step));
            let _ = writeln!(out, "{}", styled(STRONG, &wrapped(&subtask, "")));
            if step.skills.is_empty() {
                let _ = writeln!(out, "    {}\n", why_empty(step));
            }
        }
        for (skill, number) in step.skills.iter().zip(number.by_ref()) {
            out.push_str(&skill_text(number, skill));
        }
    }
    let alternatives = route.left_out();
    let name_of = |id: &SkillId| {
        let other = || alternatives.iter().find(|other| other.id == *id).map(|other| &other.name);
        let name = loaded().find(|skill| skill.id == *id).map(|skill| &skill.name).or_else(other);
        name.map_or_else(|| id.to_string(), |name| called(id, name))
    };
    if !alternatives.is_empty() {
        let _ = writeln!(out, "{}", styled(STRONG, "left out"));
        for alternative in alternatives.iter().take(N_ALTERNATIVES) {
            let Alternative { id, name, score, reason } = alternative;
            let (skill, reason) = (called(id, name), drop_reason(reason, &name_of));
            let line = printable(&format!("{skill} ({score:.1}) {reason}"));
            let _ = writeln!(out, "{}", wrapped(&line, "   "));
        }
        out.push('\n');
    }
    if !route.hints.is_empty() {
        let _ = writeln!(out, "{}", styled(STRONG, "hints"));
        for Hint { id, name, description } in &route.hints {
            let line = printable(&format!("{id}  {name}: {description}"));
            let _ = writeln!(out, "{}", wrapped(&line, "   "));
        }
        out.push('\n');
    }
    for page in &route.pages {
        let _ = writeln!(out, "{}", page_text(page, None, None, PartList::none()));
    }
    out
}

/// Says which steps must come first.
fn order(step: &RouteStep) -> String {
    let first: Vec<String> = step.depends_on.iter().map(|first| (first + 1).to_string()).collect();
    match first.as_slice() {
        [] => String::new(),
        first => format!(", after {}", first.join(" and ")),
    }
}

/// Returns why a step loads nothing.
fn why_empty(step: &RouteStep) -> String {
    let of_reason = |skill: &Alternative| match skill.reason.server(&skill.id) {
        Some(server) => Some(format!("{server} serves this, too")),
        None if skill.reason == DropReason::OverLimit => {
            Some("the other steps load as many skills as -k lets through".to_owned())
        }
        None => None,
    };
    let reason = step.alternatives.iter().find_map(of_reason);
    printable(&reason.unwrap_or_else(|| "no skill for this step".to_owned()))
}

/// Says which words were read as others.
fn corrections(all: &[Correction]) -> String {
    let read = |Correction { from, to }: &Correction| format!("`{from}` as `{to}`");
    let read: Vec<String> = all.iter().map(read).collect();
    printable(&format!("read {}", read.join(", ")))
}

/// Shows a skill with the reasons for its place.
pub(crate) fn skill_text(number: usize, skill: &ExplainedSkill) -> String {
    let mut out = String::new();
    let name = clipped(&one_line(&skill.name), MAX_NAME_CHARS);
    let name = styled(STRONG, &name);
    let _ = writeln!(out, "{number:>2}  {name}  {}", styled(FAINT, &printable(skill.id.as_str())));
    // Before all words of the author, and they stand further in: no text of a skill can pass for
    // these lines.
    out.push_str(&trust_text(&skill.trust, "    "));
    let description = clipped(&skill.description, 240);
    if !description.trim().is_empty() {
        let _ = writeln!(out, "{}", wrapped(&description, "      "));
    }
    if let Some(folder) = &skill.folder {
        let _ = writeln!(out, "    folder: {folder}");
    }
    if let Some(copies) = copies(&skill.copies) {
        let _ = writeln!(out, "{}", wrapped(&copies, "    "));
    }
    let parts = score_parts(&skill.explanation.contributions);
    let score = format!("score {:.1}: {parts}", skill.score);
    let _ = writeln!(out, "{}", styled(FAINT, &wrapped(&score, "    ")));
    let has = whole_words(&skill.explanation.matched);
    for (label, words) in [("has", &has), ("lacks", &skill.explanation.missing)] {
        if !words.is_empty() {
            let line = format!("{label}: {}", word_list(words));
            let _ = writeln!(out, "{}", styled(FAINT, &wrapped(&line, "    ")));
        }
    }
    out.push('\n');
    out
}

/// Says which copies stand behind a skill.
fn copies(ids: &[SkillId]) -> Option<String> {
    let noun = match ids.len() {
        0 => return None,
        1 => "copy",
        _ => "copies",
    };
    let shown: Vec<&str> = ids.iter().take(MAX_COPIES).map(SkillId::as_str).collect();
    let more = if ids.len() > MAX_COPIES { ", ..." } else { "" };
    Some(printable(&format!("and {} {noun}: {}{more}", ids.len(), shown.join(", "))))
}

/// Says what words and meaning add to a score, and what else changes it.
fn score_parts(contributions: &[Contribution]) -> String {
    let mut sums = vec![(WORDS, 0.0), (MEANING, 0.0)];
    for Contribution { feature, value } in contributions {
        let source = source(feature);
        match sums.iter_mut().find(|(known, _)| *known == source) {
            Some((_, sum)) => *sum += value,
            None => sums.push((source, *value)),
        }
    }
    let parts = sums.iter().map(|(source, sum)| (source, format!("{sum:.1}")));
    let parts = parts.filter(|(_, sum)| !matches!(sum.as_str(), "0.0" | "-0.0"));
    parts.map(|(source, sum)| format!("{source} {sum}")).collect::<Vec<String>>().join(", ")
}

/// Returns whether a part of a score comes from words or from meaning; its own name if from
/// neither.
fn source(feature: &str) -> &str {
    let known = Feature::ALL.into_iter().find(|known| known.as_str() == feature);
    match known.map(Feature::group) {
        None if feature == "task" => "the whole task",
        None => feature,
        Some(
            FeatureGroup::Dense
            | FeatureGroup::DenseClauses
            | FeatureGroup::Crossing
            | FeatureGroup::Transformer,
        ) => MEANING,
        Some(_) => WORDS,
    }
}

fn word_list(words: &[String]) -> String {
    let shown = words[..words.len().min(N_WORDS)].join(", ");
    match words.len().saturating_sub(N_WORDS) {
        0 => shown,
        n => format!("{shown} and {n} more"),
    }
}

fn drop_reason(reason: &DropReason, name_of: &dyn Fn(&SkillId) -> String) -> String {
    match reason {
        DropReason::Abstained => "the plan abstains".to_owned(),
        DropReason::BelowCut => "below the cut".to_owned(),
        DropReason::SameName { of } => format!("has the name of {}", name_of(of)),
        DropReason::NearDuplicate { of } => format!("nearly repeats {}", name_of(of)),
        DropReason::Substitute { of } => format!("could take the place of {}", name_of(of)),
        DropReason::ServesOther => "another need has it, or a copy of it".to_owned(),
        DropReason::LoadedBefore => "another step loads it".to_owned(),
        DropReason::OverLimit => "over the limit of -k".to_owned(),
        _ => "left out".to_owned(),
    }
}

/// Returns the id of a skill, with its name before it where the id does not end with that.
fn called(id: &SkillId, name: &str) -> String {
    let is_named = id.as_str().rsplit('/').next() == Some(name);
    let name = clipped(&one_line(name), MAX_SUBTASK_CHARS);
    if is_named { id.to_string() } else { format!("{name} [{id}]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_called_by_its_name_unless_its_id_says_it() {
        assert_eq!(called(&SkillId::new("office/csv-tidy"), "csv-tidy"), "office/csv-tidy");
        assert_eq!(called(&SkillId::new("s1191"), "CSV\ntidy"), "CSV tidy [s1191]");
    }

    #[test]
    fn a_score_is_told_by_words_and_meaning_and_by_what_else_changes_it() {
        let of = |parts: &[(&str, f32)]| {
            let parts = parts.iter().map(|(feature, value)| Contribution {
                feature: (*feature).to_owned(),
                value: *value,
            });
            score_parts(&parts.collect::<Vec<_>>())
        };
        let parts = [
            ("transformer", 2.5),
            ("bm25", 1.0),
            ("trust", -1.5),
            ("coverage", 0.25),
            ("dense", 0.5),
        ];
        assert_eq!(of(&parts), "words 1.2, meaning 3.0, trust -1.5");
        assert_eq!(of(&[("bm25", 2.0), ("transformer", 0.04)]), "words 2.0");
        assert_eq!(of(&[]), "");
    }
}
