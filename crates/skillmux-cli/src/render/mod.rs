//! Answers as text for people.

pub(crate) mod audit;
pub(crate) mod compile;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod edges;
pub(crate) mod graph;
pub(crate) mod hook;
pub(crate) mod paint;
pub(crate) mod progress;
pub(crate) mod route;
pub(crate) mod why;

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use serde::Serialize;
use skillmux::{
    page::{Page, PartList},
    text::{escaped_json, one_line, printable},
    trust::TrustNote,
};

use paint::grouped;

/// Warnings of one skill: a report of a scanner may hold hundreds.
pub(crate) const MAX_WARNINGS: usize = 8;

/// Shows a page under a headline that says how much of the skill it is, and the folder of the
/// skill; `had` are the parts that the user has from earlier pages.
pub(crate) fn page_text(
    page: &Page,
    folder: Option<&str>,
    trust: Option<&TrustNote>,
    had: &PartList,
) -> String {
    let (n_tokens, full_tokens) = (grouped(page.n_tokens), grouped(page.full_tokens));
    let title = format!("{} · {n_tokens} of {full_tokens} tokens", page.skill_id);
    let title = paint::styled(paint::STRONG, &paint::rule(&title));
    let folder = folder.map(|folder| format!("folder: {folder}\n")).unwrap_or_default();
    let trust = trust.map(|trust| trust_text(trust, "")).unwrap_or_default();
    let blank = if folder.is_empty() && trust.is_empty() { "" } else { "\n" };
    let mut text = format!("{title}\n{folder}{trust}{blank}{}", printable(&page.to_markdown()));
    if page.full_nodes == 0 {
        text.push_str("This skill has no text but its headings.\n");
        return text;
    }
    if page.nodes.is_empty() {
        let is_all_had = page.left_out.is_empty();
        text.push_str(if is_all_had {
            "You have all parts.\n"
        } else {
            "No part fits this budget.\n"
        });
    }
    let notes = page_notes(page, had);
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let _ = writeln!(text, "{}", paint::styled(paint::NOTE, &one_line(&note)));
    }
    text
}

/// Returns what a page says of itself: what it leaves out, and whether it is likely to suffice.
fn page_notes(page: &Page, had: &PartList) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(left_out) = page.left_out_in_words() {
        let all = page.full_tokens;
        notes.push(format!("left out: {left_out}. A budget of {all} tokens shows all of it."));
    }
    if let Some(best) = page.best_left_out_in_words() {
        notes.push(format!("The part that is needed most does not fit this budget: {best}."));
    }
    if page.left_out.is_empty() || page.nodes.is_empty() {
        return notes;
    }
    let (what, have) = if had.is_empty() {
        ("This page has", "Parts shown")
    } else {
        ("With what you have, this page has", "Parts that you have now")
    };
    if let Some(sufficiency) = page.sufficiency {
        let percent = 100.0 * sufficiency;
        notes.push(format!("{what} all that the task needs of this skill: {percent:.0} % likely."));
    }
    let last = page.full_nodes.saturating_sub(1);
    notes.push(format!("{have}: {} (of 0-{last}).", page.parts().with(had)));
    notes
}

/// Prints text for people, in colour on a terminal.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Says where a skill comes from, and what speaks against it, in a line each.
pub(crate) fn trust_text(trust: &TrustNote, indent: &str) -> String {
    let origin = paint::wrapped(&format!("from: {}", one_line(&trust.to_string())), indent);
    let mut text = format!("{}\n", paint::styled(paint::FAINT, &origin));
    let warnings = trust.warnings();
    for warning in warnings.iter().take(MAX_WARNINGS) {
        let warning = paint::wrapped(&format!("warning: it {}", one_line(warning)), indent);
        let _ = writeln!(text, "{}", paint::styled(paint::BAD, &warning));
    }
    if warnings.len() > MAX_WARNINGS {
        let _ = writeln!(text, "{indent}and {} more warnings", warnings.len() - MAX_WARNINGS);
    }
    text
}

/// Prints a value as indented JSON.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let json = escaped_json(&serde_json::to_string_pretty(value)?);
    writeln!(io::stdout().lock(), "{json}")?;
    Ok(())
}

/// Returns a size in the unit that suits it.
pub(crate) fn size(n_bytes: u64) -> String {
    indicatif::BinaryBytes(n_bytes).to_string()
}

/// Columns of the terminal; 80 if there is none.
pub(crate) fn width() -> usize {
    textwrap::termwidth()
}
