//! What `skillmux compile` made, for people.

use std::fmt::Write as _;

use skillmux::{
    library::agents::Remedy,
    text::{clipped, one_line},
};

use super::paint::{
    BAD, FAINT, NOTE, STRONG, counted, grouped, rule, styled, wrapped, wrapped_at_spaces,
};
use crate::command::compile::report::{CompileReport, ListCounts, Scores};

/// Characters of a line of the list.
const MAX_LINE_CHARS: usize = 2000;
/// Names of skills that go that are shown.
const N_NAMES: usize = 20;

/// What a row of a table is called, and its cell.
type Row<T, U> = (&'static str, fn(&T) -> U);

/// Shows the list, then what it is worth.
pub(crate) fn text(report: &CompileReport) -> String {
    let mut text = String::new();
    let title = format!("the list of {}", report.name);
    let _ = writeln!(text, "{}", styled(STRONG, &rule(&title)));
    for skill in report.skills.iter().filter(|skill| skill.kept != "hidden") {
        let chars = format!(
            "{:>9} {:>4} -> {:<4}",
            skill.kept, skill.description_chars, skill.compiled_chars
        );
        let line = clipped(&one_line(&format!("{}: {}", skill.name, skill.text)), MAX_LINE_CHARS);
        let line = if skill.text.is_empty() { line.trim_end_matches([' ', ':']) } else { &line };
        let _ = writeln!(text, "{}  {line}", styled(FAINT, &chars));
    }
    counts_text(&mut text, report);
    routing_text(&mut text, report);
    goes_text(&mut text, report);
    remedy_text(&mut text, report);
    text
}

fn counts_text(text: &mut String, report: &CompileReport) {
    let n_skills = counted(report.skills.len(), "skill", "skills");
    let title = format!("{n_skills}, at most {} characters", grouped(report.max_chars));
    let _ = writeln!(text, "\n{}", styled(STRONG, &rule(&title)));
    let _ = writeln!(text, "{:<24}{:>14}{:>14}{:>14}", "", "today", "compiled", "all whole");
    let rows: [Row<ListCounts, usize>; 5] = [
        ("characters", |it| it.n_chars),
        ("whole descriptions", |it| it.n_whole),
        ("shortened", |it| it.n_shortened),
        ("name only", |it| it.n_name_only),
        ("not listed", |it| it.n_hidden),
    ];
    for (what, n) in rows {
        let [today, compiled, whole] =
            [&report.today, &report.compiled, &report.whole].map(|counts| grouped(n(counts)));
        let _ = writeln!(text, "{what:<24}{today:>14}{compiled:>14}{whole:>14}");
    }
}

fn routing_text(text: &mut String, report: &CompileReport) {
    let Some(routing) = &report.routing else { return };
    let rows: [Row<Scores, String>; 4] = [
        ("right skill first", |it| format!("{:.3}", it.hit_at_1.mean)),
        ("  95 % interval", |it| format!("{:.2}-{:.2}", it.hit_at_1.low, it.hit_at_1.high)),
        ("among the first five", |it| format!("{:.3}", it.recall_at_5.mean)),
        ("  95 % interval", |it| format!("{:.2}-{:.2}", it.recall_at_5.low, it.recall_at_5.high)),
    ];
    for (what, score) in rows {
        let [today, compiled, whole] =
            [&routing.today, &routing.compiled, &routing.whole].map(score);
        let _ = writeln!(text, "{what:<24}{today:>14}{compiled:>14}{whole:>14}");
    }
    let n_tasks = grouped(routing.n_tasks);
    let tasks = if routing.is_proxy {
        format!(
            "Measured with {n_tasks} sentences of the skills themselves. That is a stand-in for tasks; --tasks names real ones."
        )
    } else {
        format!("Measured with {n_tasks} tasks.")
    };
    let method = "Skills are ranked by BM25 over the names and descriptions of each list.";
    let _ = writeln!(text, "{}", wrapped(&format!("{tasks} {method}"), ""));
    let n_used = report.skills.iter().filter(|skill| skill.n_uses > 0).count();
    let history = match report.history.sources.as_slice() {
        [] => "No history of use was read.".to_owned(),
        sources => {
            let sources: Vec<String> =
                sources.iter().map(|path| path.display().to_string()).collect();
            format!("{} of these skills were used, by {}.", grouped(n_used), sources.join(" and "))
        }
    };
    let _ = writeln!(text, "{}", wrapped(&history, ""));
}

/// Names the skills that are not listed.
fn goes_text(text: &mut String, report: &CompileReport) {
    if report.has_all_names {
        return;
    }
    let names: Vec<&str> = report
        .skills
        .iter()
        .filter(|skill| skill.kept == "hidden")
        .map(|skill| skill.name.as_str())
        .collect();
    let shown = names[..names.len().min(N_NAMES)].join(", ");
    let more = match names.len().saturating_sub(N_NAMES) {
        0 => String::new(),
        n => format!(" and {} more", grouped(n)),
    };
    let n_names = counted(names.len(), "skill is", "skills are");
    let headline = format!("{n_names} not in the list:");
    let _ = writeln!(text, "\n{}", styled(BAD, &headline));
    let _ = writeln!(text, "{}", wrapped(&format!("{shown}{more}"), "  "));
    let _ = writeln!(
        text,
        "{}",
        wrapped("The names of all skills do not fit. These help least, for what they take.", "  ")
    );
}

/// Says how the list is brought about.
fn remedy_text(text: &mut String, report: &CompileReport) {
    let Some(out) = &report.out else {
        if report.skills.iter().all(|skill| skill.kept == "whole") {
            let what = match &report.earlier_folder {
                Some(folder) => format!(
                    "All descriptions fit as they are. If you added lines of {} to the settings of {}, take them out, \
                     then remove the folder.",
                    folder.display(),
                    report.name
                ),
                None => "All descriptions fit as they are: nothing is to be changed, and no folder is written.".to_owned(),
            };
            let _ = writeln!(text, "\n{}", wrapped_at_spaces(&what));
            return;
        }
        let what = match report.remedy {
            Remedy::NameOverrides => "the settings that bring this list about",
            _ => "settings and copies of skills that bring this list about",
        };
        let line = format!("hint: --out DIR writes {what}. No skill is changed.");
        let _ = writeln!(text, "\n{}", styled(NOTE, &wrapped(&line, "")));
        return;
    };
    let settings = out.settings.display();
    let steps = match report.remedy {
        Remedy::NameOverrides => format!(
            "Add `skillOverrides` of {settings} to ~/.claude/settings.json. To undo it, take them out again."
        ),
        Remedy::DisabledPaths => format!(
            "{} copies are in {}. Add the lines of {settings} to ~/.codex/config.toml; they switch the originals off. \
             To undo it, remove the folder and the lines.",
            grouped(out.n_copies),
            out.folder.display()
        ),
        _ => format!(
            "{} copies are in {}. Add `skills.entries` of {settings} to ~/.openclaw/openclaw.json. To undo it, remove \
             the folder and the entries.",
            grouped(out.n_copies),
            out.folder.display()
        ),
    };
    let again = match report.earlier_folder {
        Some(_) => " If you added lines of an earlier run, take them out first.",
        None => "",
    };
    let _ = writeln!(text, "\n{}", wrapped_at_spaces(&format!("{steps}{again}")));
}
