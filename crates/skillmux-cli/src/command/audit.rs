//! `skillmux audit`

use anyhow::Context as _;
use skillmux::{
    route::{Ranker, Router, Stages},
    trust::Tier,
};

use crate::{
    args::{AuditArgs, Format},
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
    let opened = source::open(&args.source, settings)?;
    let trust = settings.trust.clone().with_reports(&args.sarif);
    // Pinned anew, nothing has changed.
    let counted = if args.pin { &Pins::default() } else { &pins };
    let Trust { policy, n_unplaced } =
        trust.policy(&opened.places, Some(&opened.index), counted)?;
    let stages = Stages { ranker: Ranker::default().with_trust(policy), ..Stages::default() };
    let router = Router::new(opened.index, stages)?.with_places(opened.places);
    let (suspects, present) = (router.audit()?, router.present()?);
    let mut report =
        AuditReport { n_skills: present.len(), suspects, drift: None, n_unplaced, pinned_in: None };
    if args.pin {
        Pins::change(&path, |pins| pins.with(&present, router.places()))?;
        report.pinned_in = Some(path.display().to_string());
    } else if !pins.is_empty() {
        report.drift = Some(pins.drift(&present, router.places()));
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
