//! `skillmux doctor`

use std::path::Path;

use skillmux::library::{
    SkillPlaces,
    agents::{AgentProfile, InstalledFolders},
};

use crate::{
    agents::home,
    args::{DoctorArgs, Format},
    command::hook::has_confidence,
    error::{CliError, engine_error, engine_hint},
    outcome::Outcome,
    render::{
        doctor::{AgentReport, OwnIndex, Report, text},
        print_json, print_text,
    },
    settings::Settings,
    source,
    wiring::{AgentPlan, Records, Wired, Wiring, program, wired},
};

pub(crate) fn run(args: &DoctorArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let home = home(settings)?;
    let agents = args.agents.profiles(settings)?;
    let folders = InstalledFolders::read(agents.iter().copied(), home, settings.project.as_deref());
    let calls = Calls::read(settings);
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
                other_program: calls
                    .as_ref()
                    .and_then(|it| it.other_program(agent, home, skillmux?)),
                skillmux,
                settings_error,
                listing_chars: agent.listing.as_ref().map(|listing| listing.max_chars),
                skills: folders.of(agent),
            }
        })
        .collect();
    let (own_index, own_index_error) = match settings.own_index() {
        Some(path) => match source::open_chosen(&path) {
            Ok(index) => (index.map(|it| OwnIndex { n_skills: it.n_skills(), path }), None),
            Err(error) => (None, Some(in_words(&error.into()))),
        },
        None => (None, None),
    };
    let report = Report {
        agents: reports,
        own_index,
        own_index_error,
        unread_files: settings.unread_files(),
        trust_error: trust_error(settings),
        silent_hook: silent_hook(settings),
    };
    match args.format {
        Format::Json => print_json(&report)?,
        Format::Text => print_text(&text(&report, args.all))?,
    }
    Ok(if report.is_healthy() { Outcome::Found } else { Outcome::ProblemsFound })
}

/// Returns an error with its causes and what to do.
fn in_words(error: &anyhow::Error) -> String {
    let of_cli = || error.downcast_ref().map(CliError::hint);
    let hint = engine_error(error).and_then(engine_hint).or_else(of_cli);
    format!("{error:#}{}", hint.map(|hint| format!("; {hint}")).unwrap_or_default())
}

/// How agents are to call this program, and how they were told to.
struct Calls {
    program: String,
    records: Records,
}

impl Calls {
    /// Returns these; `None` where they cannot be told, which `init` says.
    fn read(settings: &Settings) -> Option<Self> {
        let records = Records::open(settings.state.as_ref()?, settings.home.as_ref()?).ok()?;
        Some(Self { program: program(settings.search_path.as_deref()).ok()?, records })
    }

    /// Returns what stands in the settings of an agent for this program, and may be another one.
    fn other_program(&self, agent: &AgentProfile, home: &Path, wired: Wired) -> Option<String> {
        let wiring = Wiring { home, program: &self.program, records: &self.records };
        let AgentPlan { changes, kept, .. } = wiring.plan(agent).ok()?;
        let is_wired = wired.mcp && wired.hook != Some(false);
        if is_wired && !changes.is_empty() {
            return Some(
                "it calls another program than this; `skillmux init` mends that".to_owned(),
            );
        }
        (!kept.is_empty()).then(|| format!("not written by this program: {}", kept.join(", ")))
    }
}

/// Returns why it cannot be told whom the user trusts: no command answers then, and the prompt hook
/// says nothing.
fn trust_error(settings: &Settings) -> Option<String> {
    // Why an index cannot be opened is told elsewhere.
    let places = source::open_present(settings)
        .map_or_else(|_| SkillPlaces::default(), |present| present.places);
    settings.trust_policy(&places, None).err().map(|error| in_words(&error))
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
