//! [`AuditReport`]: what `skillmux audit` found, for people and for machines.

use std::{collections::HashSet, fmt::Write as _};

use serde::Serialize;
use skillmux::{
    route::Suspect,
    skill::SkillId,
    text::{clipped, one_line},
};

use super::{
    MAX_WARNINGS,
    paint::{BAD, FAINT, GOOD, STRONG, grouped, styled},
};
use crate::pins::Drift;

/// Skills that are shown unless all are asked for.
const N_SHOWN: usize = 20;

/// Characters of a line; names and ids may be longer.
const MAX_LINE_CHARS: usize = 300;

/// What is told of a library.
#[derive(Serialize)]
pub(crate) struct AuditReport {
    pub(crate) n_skills: usize,
    /// Skills that something speaks against, those that are trusted least first.
    pub(crate) suspects: Vec<Suspect>,
    /// How skills differ from what was pinned, if something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drift: Option<Drift>,
    /// Findings of scanners that belong to no skill here.
    pub(crate) n_unplaced: usize,
    /// Whether skills of other libraries are pinned, and none of this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_unpinned: bool,
    /// Where the skills were pinned just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pinned_in: Option<String>,
}

/// Shows the skills, then counts.
pub(crate) fn text(report: &AuditReport, shows_all: bool) -> String {
    let mut text = String::new();
    let n_shown = if shows_all { usize::MAX } else { N_SHOWN };
    let shown = &report.suspects[..report.suspects.len().min(n_shown)];
    for suspect in shown {
        suspect_text(&mut text, suspect);
    }
    let n_more = report.suspects.len() - shown.len();
    if n_more > 0 {
        let _ = writeln!(text, "and {} more; --all shows them\n", grouped(n_more));
    }
    if let Some(drift) = &report.drift {
        drift_text(&mut text, drift, shown, n_shown);
    }
    let n_suspects = report.suspects.len();
    let n_blocked = report.suspects.iter().filter(|suspect| suspect.is_blocked).count();
    let count = match (n_suspects, report.n_skills) {
        (0, n) => {
            let line = format!("nothing found in {} skills", grouped(n));
            format!("{}. That does not make them safe", styled(GOOD, &line))
        }
        (n, of) => {
            let line = format!("look at {} of {} skills", grouped(n), grouped(of));
            format!("{}, {} of them blocked", styled(BAD, &line), grouped(n_blocked))
        }
    };
    let _ = writeln!(text, "{count}");
    if report.n_unplaced > 0 {
        let n = grouped(report.n_unplaced);
        let line = format!(
            "{n} findings of scanners belong to no skill here: see docs/trust.md for where their files are looked for"
        );
        let _ = writeln!(text, "{}", styled(BAD, &line));
    }
    if report.is_unpinned {
        let _ = writeln!(text, "no skill of this library is pinned; --pin pins them");
    }
    if let Some(path) = &report.pinned_in {
        let n = grouped(report.n_skills);
        let _ = writeln!(text, "pinned {n} skills as they are now, in {}", one_line(path));
    }
    text
}

fn suspect_text(text: &mut String, suspect: &Suspect) {
    let blocked = if suspect.is_blocked { ", blocked" } else { "" };
    let trust = format!("{}{blocked}", suspect.trust);
    let _ = writeln!(
        text,
        "{}  {}",
        styled(STRONG, &label(suspect.id.as_str())),
        styled(FAINT, &label(&trust))
    );
    if let Some(folder) = &suspect.folder {
        let _ = writeln!(text, "    folder: {folder}");
    }
    let warnings = suspect.trust.warnings();
    for warning in warnings.iter().take(MAX_WARNINGS) {
        let _ = writeln!(text, "    {}", label(warning));
    }
    if warnings.len() > MAX_WARNINGS {
        let _ = writeln!(text, "    and {} more", grouped(warnings.len() - MAX_WARNINGS));
    }
    text.push('\n');
}

/// Shows how skills differ from their pins, below the suspects that are shown.
fn drift_text(text: &mut String, drift: &Drift, suspects: &[Suspect], n_shown: usize) {
    // A warning of the suspect tells it already.
    let told: HashSet<&SkillId> =
        suspects.iter().filter(|suspect| suspect.trust.is_changed).map(|told| &told.id).collect();
    let changed: Vec<SkillId> =
        drift.changed.iter().filter(|id| !told.contains(id)).cloned().collect();
    let start = text.len();
    let list = |text: &mut String, ids: &[SkillId], what: &str| {
        for id in ids.iter().take(n_shown) {
            let _ = writeln!(text, "{}  {what}", styled(STRONG, &label(id.as_str())));
        }
        let n_more = ids.len().saturating_sub(n_shown);
        if n_more > 0 {
            let _ = writeln!(text, "and {} more: {what}", grouped(n_more));
        }
    };
    list(text, &changed, "its text changed since it was pinned");
    list(text, &drift.changed_files, "its front matter or other files changed since it was pinned");
    list(text, &drift.unchecked, "its text is as pinned; its other files could not be checked");
    for moved in drift.moved.iter().take(n_shown) {
        let (from, to) = (label(moved.from.as_str()), label(moved.to.as_str()));
        let _ = writeln!(text, "{}  it is as pinned, but was `{from}` then", styled(STRONG, &to));
    }
    if let Some(n_more) = drift.moved.len().checked_sub(n_shown).filter(|n| *n > 0) {
        let _ = writeln!(text, "and {} more moved", grouped(n_more));
    }
    list(text, &drift.gone, "it was pinned, and is gone");
    list(text, &drift.new, "it is new: nobody pinned it");
    if text.len() > start {
        text.push('\n');
    }
    let n_changed = drift.changed.len() + drift.changed_files.len();
    let mut counts = vec![
        (drift.n_same, "as pinned"),
        (n_changed, "changed"),
        (drift.gone.len(), "gone"),
        (drift.new.len(), "not pinned"),
    ];
    if !drift.unchecked.is_empty() {
        counts.push((drift.unchecked.len(), "not checked"));
    }
    if !drift.moved.is_empty() {
        counts.push((drift.moved.len(), "moved"));
    }
    let counts: Vec<String> =
        counts.iter().map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
    let _ = writeln!(text, "pins: {}", counts.join(", "));
}

fn label(text: &str) -> String {
    clipped(&one_line(text), MAX_LINE_CHARS)
}

#[cfg(test)]
mod tests {
    use skillmux::trust::TrustNote;

    use super::*;

    #[test]
    fn a_change_is_told_once() {
        let suspect = |id: &str| Suspect {
            id: SkillId::new(id),
            name: id.to_owned(),
            source: "one".to_owned(),
            folder: None,
            trust: TrustNote { is_changed: true, ..TrustNote::default() },
            is_blocked: false,
        };
        let ids: Vec<String> = (0..=N_SHOWN).map(|n| format!("skill-{n:02}")).collect();
        let drift = Drift { changed: ids.iter().map(SkillId::new).collect(), ..Drift::default() };
        let report = AuditReport {
            n_skills: ids.len(),
            suspects: ids.iter().map(|id| suspect(id)).collect(),
            drift: Some(drift),
            n_unplaced: 0,
            is_unpinned: false,
            pinned_in: None,
        };
        let told = |shows_all| {
            let text = text(&report, shows_all);
            ids.iter().map(|id| text.matches(id.as_str()).count()).collect::<Vec<_>>()
        };
        assert_eq!((told(true), told(false)), (vec![1; 21], vec![1; 21]));
        // The last one is in no warning that is shown.
        let short = text(&report, false);
        assert_eq!(short.matches("its text changed since it was pinned").count(), 1, "{short}");
        assert!(short.contains("pins: 0 as pinned, 21 changed"), "{short}");
    }
}
