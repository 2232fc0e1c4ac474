//! `skillmux doctor`

use skillmux::library::agents::InstalledFolders;

use crate::{
    agents::home,
    args::{DoctorArgs, Format},
    command::hook::has_confidence,
    outcome::Outcome,
    render::{
        doctor::{AgentReport, OwnIndex, Report, text},
        print_json, print_text,
    },
    settings::Settings,
    source,
    wiring::wired,
};

pub(crate) fn run(args: &DoctorArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let home = home(settings)?;
    let agents = args.agents.profiles(settings)?;
    let folders = InstalledFolders::read(agents.iter().copied(), home, settings.project.as_deref());
    let reports: Vec<AgentReport> = agents
        .into_iter()
        .map(|agent| {
            let (skillmux, settings_error) = match wired(agent, home) {
                Ok(wired) => (Some(wired), None),
                Err(error) => (None, Some(error.to_string())),
            };
            AgentReport {
                agent: &agent.id,
                name: &agent.name,
                skillmux,
                settings_error,
                listing_chars: agent.listing.as_ref().map(|listing| listing.max_chars),
                skills: folders.of(agent),
            }
        })
        .collect();
    let own_index = match settings.own_index() {
        Some(path) => {
            source::open_chosen(&path)?.map(|index| OwnIndex { n_skills: index.n_skills(), path })
        }
        None => None,
    };
    let report = Report {
        agents: reports,
        own_index,
        unread_files: settings.unread_files(),
        silent_hook: silent_hook(settings),
    };
    match args.format {
        Format::Json => print_json(&report)?,
        Format::Text => print_text(&text(&report, args.all))?,
    }
    Ok(if report.is_healthy() { Outcome::Found } else { Outcome::ProblemsFound })
}

/// Returns why the prompt hook names no skill, where that is because of the models of the settings.
fn silent_hook(settings: &Settings) -> Option<String> {
    match has_confidence(settings) {
        Ok(true) => None,
        Ok(false) => Some(
            "no calibration was fitted to the models of the settings file, so answers have no confidence; \
             `skillmux train abstention` fits one"
                .to_owned(),
        ),
        Err(error) => Some(format!("{error:#}")),
    }
}
