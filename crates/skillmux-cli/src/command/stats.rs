//! `skillmux stats`

use std::fmt::Write;

use serde::Serialize;
use skillmux::index::{IndexManifest, VectorKind};

use crate::{
    args::{Format, StatsArgs},
    outcome::Outcome,
    render::{paint::grouped, print_json, print_text, size},
    settings::Settings,
    source,
};

/// What `--format json` prints.
#[derive(Serialize)]
struct Stats<'a> {
    /// Its folder; `None` if that goes away with the answer.
    index: Option<String>,
    n_bytes: u64,
    verified: bool,
    #[serde(flatten)]
    manifest: &'a IndexManifest,
}

pub(crate) fn run(args: &StatsArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    // Kept whole: a temporary index is removed with it.
    let opened = source::open(&args.source, settings)?;
    if let Some(links) = &opened.links {
        links.tell();
    }
    let index = &opened.index;
    if args.verify {
        index.verify()?;
    }
    let manifest = index.manifest();
    let folder = opened.folder.is_none().then(|| index.path().display().to_string());
    match args.format {
        Format::Text => print_text(&text(manifest, folder.as_deref(), args.verify))?,
        Format::Json => print_json(&Stats {
            index: folder,
            n_bytes: n_bytes(manifest, ""),
            verified: args.verify,
            manifest,
        })?,
    }
    Ok(Outcome::Found)
}

fn text(manifest: &IndexManifest, folder: Option<&str>, verified: bool) -> String {
    let mut out = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "{name:<12}{value}");
    };
    row("index", folder.unwrap_or("made for this answer, and not kept"));
    row("skills", &grouped(manifest.n_skills));
    row("generation", &manifest.generation.to_string());
    row("format", &manifest.format.to_string());
    row("size", &size(n_bytes(manifest, "")));
    row("  texts", &size(n_bytes(manifest, "store")));
    row("  lexical", &size(n_bytes(manifest, "lexical")));
    row("  table", &size(n_bytes(manifest, "skills")));
    let encoder = manifest.encoder.as_ref();
    let kind = match manifest.vectors {
        VectorKind::Int8 => "",
        kind => &format!(", {}", kind.as_str()),
    };
    let vectors = encoder.map(|encoder| format!("{} ({}{kind})", encoder.name, encoder.dim));
    row("vectors", vectors.as_deref().unwrap_or("none"));
    let transformer = manifest.transformer.as_ref().map(|found| {
        let missing = match found.n_missing {
            0 => String::new(),
            n => format!("; {} skills not read yet", grouped(n)),
        };
        format!("{} ({}){missing}", found.encoder.name, found.encoder.dim)
    });
    row("transformer", transformer.as_deref().unwrap_or("none"));
    let counts = |counts: Vec<(String, u32)>| {
        let counts: Vec<String> =
            counts.into_iter().map(|(what, n)| format!("{} {what}", grouped(n))).collect();
        if counts.is_empty() { "none found".to_owned() } else { counts.join(", ") }
    };
    let origins = manifest.origins.iter().map(|(origin, n)| (origin.as_str().to_owned(), *n));
    row("origins", &counts(origins.collect()));
    let risks = manifest.risks.iter().map(|(risk, n)| (risk.as_str().to_owned(), *n));
    row("risks", &counts(risks.collect()));
    for source in &manifest.sources {
        row("source", source);
    }
    if verified {
        row("verified", "every byte is what was written");
    }
    out
}

/// Returns the bytes of the files whose path starts so.
fn n_bytes(manifest: &IndexManifest, prefix: &str) -> u64 {
    let files = manifest.files.iter().filter(|(name, _)| name.starts_with(prefix));
    files.map(|(_, file)| file.n_bytes).sum()
}
