//! `skillmux index`

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Context;
use serde::Serialize;
use skillmux::{
    Error,
    index::{Index, UpdateMode, UpdateOptions, UpdateOutcome, UpdateReport, VectorKind},
    library::{Finding, Library, ScanReport},
    skill::SkillId,
    text::{clipped, one_line},
};

use crate::{
    args::{Format, IndexArgs, TransformerChoice},
    error::{CliError, shell_word},
    kept::{self, InUse},
    links::Links,
    outcome::Outcome,
    render::{
        paint::{FAINT, GOOD, NOTE, STRONG, grouped, styled},
        print_json, print_text,
    },
    settings::Settings,
    source,
};

/// Characters of a line of the report; names and paths may be longer.
const MAX_LINE_CHARS: usize = 400;

/// Lines of each kind in a report that is not verbose.
const N_SHOWN: usize = 8;

/// Skills that the transformer reads in a minute on two cores: beside other work, and with nothing
/// else to do.
const N_READ_IN_A_MINUTE: (usize, usize) = (3_000, 10_800);

pub(crate) fn run(args: &IndexArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    if args.restore {
        return restore(&present_index(args, settings)?, args.format);
    }
    update(args, settings).map_err(|error| match error.downcast_ref() {
        // Here it is to be written, and not only to be read.
        Some(Error::IndexForeign { path }) => CliError::IndexPlace { path: path.clone() }.into(),
        _ => error,
    })
}

fn update(args: &IndexArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let Target { path, library, sources } = target(args, settings)?;
    let replaces_agents = args.index.is_none() && !args.sources.is_empty();
    let path = path.as_path();
    let mode = if args.rebuild { UpdateMode::Rebuild } else { UpdateMode::Incremental };
    let vectors = args.vectors.map(VectorKind::from);
    let mut options = UpdateOptions { mode, vectors, ..source::update_options(sources, settings)? };
    if args.transformer == TransformerChoice::Never {
        options.transformer = None;
    }
    let is_kept = settings.cache.as_ref().is_some_and(|cache| kept::is_kept(path, cache));
    let folders = source::folders_of(&options.sources, &library, settings);
    let _in_use = is_kept.then(|| InUse::mark(path, &folders));
    let started = Instant::now();
    let update = if is_kept { source::update_kept } else { source::update };
    let report = source::when_free(|| update(path, &library, &options));
    if let Err(Error::LibraryEmpty { report, .. }) = &report {
        eprint_text(&findings(report, args.verbose));
    }
    let report = report?;
    if args.format == Format::Text {
        print_text(&text(&report, path, started.elapsed().as_secs_f32(), args.verbose))?;
    }
    let folder = shell_word(path);
    let remedy = format!(
        "if a source was emptied by mistake, `skillmux index --restore --index {folder}` goes back"
    );
    source::tell_shrunk(&report, &remedy);
    let links = Links::of(&report.scan);
    links.tell();
    if is_kept {
        links.keep(path);
        if report.outcome == UpdateOutcome::Committed {
            kept::prune(path);
        }
    }
    let encoded = encode(path, args.transformer)?;
    match args.format {
        Format::Text => print_text(&encoded.text())?,
        Format::Json => print_json(&Summary::of(&report, path, encoded))?,
    }
    if replaces_agents {
        anstream::eprintln!(
            "{} without --index and --library, skillmux now answers from this index, and no longer from the skills of \
             your agents. Remove `{}` to go back; next time, name a folder with --index",
            styled(NOTE, "note:"),
            path.display(),
        );
    }
    Ok(Outcome::Found)
}

/// Lets the transformer read what it has not read, if that is wanted.
fn encode(path: &Path, choice: TransformerChoice) -> anyhow::Result<Reading> {
    let started = Instant::now();
    let mut index = Index::open(path)?;
    let is_wanted = match choice {
        TransformerChoice::Auto => source::n_waiting(&index) > 0,
        TransformerChoice::Always => true,
        TransformerChoice::Never => false,
    };
    let mut n_read = 0;
    if is_wanted {
        tell_wait(&index);
        n_read = source::when_free(|| source::encode(path))?.n_encoded;
        // It is another generation now.
        index = Index::open(path)?;
    }
    let n_missing = match &index.manifest().transformer {
        Some(found) => found.n_missing as usize,
        None => index.n_skills(),
    };
    let generation = index.manifest().generation;
    Ok(Reading { n_read, n_missing, generation, time: started.elapsed() })
}

/// Says that nobody need wait for the transformer, if it reads for minutes.
fn tell_wait(index: &Index) {
    let n_unread = source::n_unread(index);
    let (slow, fast) = N_READ_IN_A_MINUTE;
    if n_unread < fast {
        return;
    }
    anstream::eprintln!(
        "{} the index can be used now. The transformer reads {} skills, which takes some {} to {} minutes. You can stop it: \
         what it has read is kept, and the same command goes on",
        styled(NOTE, "note:"),
        grouped(n_unread),
        n_unread / fast,
        n_unread.div_ceil(slow),
    );
}

/// What the transformer has read.
#[derive(Serialize)]
struct Reading {
    #[serde(rename = "n_encoded")]
    n_read: usize,
    n_missing: usize,
    /// The generation that has it.
    #[serde(skip)]
    generation: u64,
    #[serde(skip)]
    time: Duration,
}

impl Reading {
    fn text(&self) -> String {
        if self.n_read == 0 {
            return String::new();
        }
        let (n_read, n_seconds) = (skills(self.n_read), self.time.as_secs_f32());
        let generation = self.generation;
        format!("\nthe transformer read {n_read} (generation {generation}, {n_seconds:.1} s)\n")
    }
}

fn skills(n: usize) -> String {
    format!("{} {}", grouped(n), if n == 1 { "skill" } else { "skills" })
}

/// What is indexed, and where.
struct Target {
    path: PathBuf,
    library: Library,
    sources: Vec<String>,
}

/// Returns the sources that were named; or those that the present index was made of; or the
/// skills of the installed agents, in the index that `route` uses for them.
fn target(args: &IndexArgs, settings: &Settings) -> anyhow::Result<Target> {
    if !args.sources.is_empty() {
        let own = settings.own_index();
        let path = args.index.clone().or(own).context("the home folder is not known")?;
        let library = Library::open(&args.sources)?;
        return Ok(Target { path, library, sources: source::absolute(&args.sources) });
    }
    let path = present_index(args, settings)?;
    let sources = match Index::open(&path) {
        Ok(index) => index.manifest().sources.clone(),
        Err(Error::IndexMissing { .. }) => Vec::new(),
        Err(error) if source::is_made_again(&error) && is_of_agents(&path, settings) => Vec::new(),
        // What it was made of cannot be told.
        Err(error) => return Err(error.into()),
    };
    if sources.is_empty() || sources == [source::INSTALLED] {
        let library = source::installed(settings)?;
        return Ok(Target { path, library, sources: vec![source::INSTALLED.to_owned()] });
    }
    Ok(Target { path, library: Library::open(&sources)?, sources })
}

/// Returns whether this is where the index of the installed agents' skills is kept.
fn is_of_agents(path: &Path, settings: &Settings) -> bool {
    let library = source::installed(settings).ok();
    library
        .and_then(|library| source::installed_index(settings, &library))
        .is_some_and(|it| it == path)
}

/// Returns the folder of the index that is named; or of the one that commands without arguments
/// answer from: the user's own, if one was made, or that of the installed agents' skills.
fn present_index(args: &IndexArgs, settings: &Settings) -> anyhow::Result<PathBuf> {
    if let Some(path) = &args.index {
        return Ok(path.clone());
    }
    let own = settings.own_index().context("the home folder is not known")?;
    if source::open_chosen(&own)?.is_some() {
        return Ok(own);
    }
    Ok(source::installed_index(settings, &source::installed(settings)?).unwrap_or(own))
}

fn restore(path: &Path, format: Format) -> anyhow::Result<Outcome> {
    let restored = source::when_free(|| Index::restore(path))?;
    let generation = restored.ok_or_else(|| {
        let path = path.to_owned();
        match Index::open(&path) {
            Ok(_) => CliError::NothingEarlier { path },
            Err(_) => CliError::NothingWhole { path },
        }
    })?;
    let index = path.display().to_string();
    match format {
        Format::Text => {
            print_text(&format!("The index at {index} is at generation {generation} again.\n"))?;
        }
        Format::Json => print_json(&Restored { index, generation })?,
    }
    Ok(Outcome::Found)
}

fn eprint_text(text: &str) {
    anstream::eprint!("{text}");
}

/// What `--restore --format json` prints.
#[derive(Serialize)]
struct Restored {
    index: String,
    generation: u64,
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    index: String,
    generation: u64,
    n_added: usize,
    n_removed: usize,
    n_unchanged: usize,
    #[serde(rename = "transformer")]
    encoded: Reading,
    #[serde(flatten)]
    scan: &'a ScanReport,
}

impl<'a> Summary<'a> {
    fn of(report: &'a UpdateReport, path: &Path, encoded: Reading) -> Self {
        Self {
            index: path.display().to_string(),
            generation: encoded.generation,
            n_added: report.n_added,
            n_removed: report.n_removed,
            n_unchanged: report.n_unchanged,
            encoded,
            scan: &report.scan,
        }
    }
}

fn text(report: &UpdateReport, path: &Path, n_seconds: f32, verbose: bool) -> String {
    let UpdateReport { scan, generation, n_added, n_removed, n_unchanged, outcome, .. } = report;
    let mut out = String::new();
    let done = if *outcome == UpdateOutcome::Unchanged { "up to date" } else { "indexed" };
    let _ = writeln!(
        out,
        "{} {} {} in {} (generation {generation}, {n_seconds:.1} s)\n",
        styled(GOOD, done),
        grouped(scan.n_kept),
        if scan.n_kept == 1 { "skill" } else { "skills" },
        path.display(),
    );
    let mut row = |name: &str, n: usize, note: &str| {
        let line = format!("  {name:<9}{:>9}  {note}", grouped(n));
        let _ = writeln!(out, "{}", line.trim_end());
    };
    row("read", scan.n_read, "");
    let changes = format!(
        "{} new, {} unchanged; {} gone",
        grouped(*n_added),
        grouped(*n_unchanged),
        grouped(*n_removed)
    );
    row("kept", scan.n_kept, &changes);
    row("merged", scan.n_merged, "exact duplicates of a kept skill");
    row("skipped", scan.n_skipped, "");
    if scan.n_for_user_only > 0 {
        row("left out", scan.n_for_user_only, "not for the model: `disable-model-invocation`");
    }
    row("noted", scan.noted.len(), "findings in kept skills");
    row("collide", scan.collisions.len(), "names that several kept skills share");
    out.push_str(&findings(scan, verbose));
    out
}

/// Lists what was skipped, left out, noted, merged, and which names collide.
fn findings(scan: &ScanReport, verbose: bool) -> String {
    let of_finding = |finding: &Finding| format!("{}: {}", finding.location, finding.issue);
    let merged = scan.merged.iter().map(|merged| format!("{} = {}", merged.copy.id, merged.kept));
    let collisions = scan.collisions.iter().map(|collision| {
        let ids: Vec<&str> = collision.ids.iter().take(4).map(SkillId::as_str).collect();
        let more = match collision.ids.len().saturating_sub(ids.len()) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("{}: {}{more}", collision.name, ids.join(", "))
    });
    let mut out = String::new();
    list(&mut out, "skipped", scan.skipped.iter().map(of_finding), verbose);
    list(&mut out, "not for the model", scan.for_user_only.iter().cloned(), verbose);
    list(&mut out, "noted", scan.noted.iter().map(of_finding), verbose);
    list(&mut out, "merged", merged, verbose);
    list(&mut out, "collide", collisions, verbose);
    out
}

fn list(out: &mut String, title: &str, lines: impl Iterator<Item = String>, verbose: bool) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let n_shown = if verbose { lines.len() } else { N_SHOWN.min(lines.len()) };
    let _ = writeln!(out, "\n{}", styled(STRONG, title));
    for line in &lines[..n_shown] {
        let _ = writeln!(out, "  {}", clipped(&one_line(line), MAX_LINE_CHARS));
    }
    if n_shown < lines.len() {
        let n_more = grouped(lines.len() - n_shown);
        let more = format!("  and {n_more} more (--verbose lists all)");
        let _ = writeln!(out, "{}", styled(FAINT, &more));
    }
}
