//! `skillmux audit`

use std::io;

use anyhow::Context as _;
use skillmux::{
    route::{Ranker, Router, Stages},
    trust::Tier,
};

use crate::{
    args::{AuditArgs, Format},
    error::CliError,
    outcome::Outcome,
    pins::{Drift, Pins},
    render::{
        audit::{AuditReport, text},
        print_json, print_text,
    },
    settings::Settings,
    source,
    trust::Trust,
};

pub(crate) fn run(args: &AuditArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let path = args.pins.clone().or_else(|| settings.pins.clone());
    let path = path.context("no folder for pins is known: name a file with --pins")?;
    let pins = Pins::read(&path)?;
    if args.pins.is_some() && !args.pin && !path.exists() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        return Err(CliError::Unreadable { path, source }.into());
    }
    let opened = source::open(&args.source, settings)?;
    let trust = settings.trust.clone().with_reports(&args.sarif);
    // Pinned anew, nothing has changed.
    let counted = if args.pin { &Pins::default() } else { &pins };
    let Trust { policy, n_unplaced } =
        trust.policy(&opened.places, Some(&opened.index), counted)?;
    let stages = Stages { ranker: Ranker::default().with_trust(policy), ..Stages::default() };
    let router = Router::new(opened.index, stages)?.with_places(opened.places);
    let (suspects, present) = (router.audit()?, router.present()?);
    let mut report = AuditReport {
        n_skills: present.len(),
        suspects,
        drift: None,
        n_unplaced,
        is_unpinned: false,
        pinned_in: None,
    };
    if args.pin {
        Pins::change(&path, |pins| pins.with(&present, router.places()))?;
        report.pinned_in = Some(path.display().to_string());
    } else if !pins.is_empty() {
        let drift = pins.drift(&present, router.places());
        // Pins of other libraries say nothing of this one, unless the user named the file.
        report.is_unpinned = args.pins.is_none() && drift.is_of_others();
        report.drift = Some(drift).filter(|_| !report.is_unpinned);
    }
    match args.format {
        Format::Json => print_json(&report)?,
        Format::Text => print_text(&text(&report, args.all))?,
    }
    let has_drift = report.drift.as_ref().is_some_and(Drift::is_some);
    let is_fine = report.suspects.iter().all(|suspect| suspect.trust.tier == Tier::Trusted);
    Ok(if is_fine && !has_drift && n_unplaced == 0 {
        Outcome::Found
    } else {
        Outcome::ProblemsFound
    })
}
