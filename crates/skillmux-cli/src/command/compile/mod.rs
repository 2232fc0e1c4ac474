//! `skillmux compile`

mod history;
mod lines;
mod measure;
mod out;
mod place;
pub(crate) mod report;

use skillmux::library::agents::{
    CompiledList, Freedom, InstalledFolders, InstalledSkill, Kept, ListSkill, Listing, Remedy,
    compile, listed_today, profiles,
};

use crate::{
    agents::home,
    args::{CompileArgs, Format},
    error::CliError,
    outcome::Outcome,
    render::{compile::text, print_json, print_text},
    settings::Settings,
};
use history::History;
use out::write;
use place::Copies;
use report::{CompileReport, CompiledSkill, ListCounts};

pub(crate) fn run(args: &CompileArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let home = home(settings)?;
    let agent = profiles().iter().find(|agent| agent.id == args.agent);
    let agent = agent.filter(|agent| agent.is_installed(home)).ok_or_else(|| {
        let names = vec![args.agent.clone()];
        CliError::NoAgentInstalled { home: home.to_owned(), names }
    })?;
    let mut listing = agent.listing.clone().ok_or(CliError::NoListLimit { name: &agent.name })?;
    if let Some(chars) = args.chars {
        listing.max_chars = chars as usize;
    }
    let project = settings.project.as_deref();
    let folders = InstalledFolders::read([agent], home, project);
    let installed = folders.listed(agent);
    if installed.is_empty() {
        print_text(&format!("{} has no skill to list\n", agent.name))?;
        return Ok(Outcome::NothingFound);
    }
    let history = History::read(args.history.as_deref(), home)?;
    let copies =
        Copies::new(agent, listing.remedy, args.out.as_deref(), home, project, &installed)?;
    let skills: Vec<ListSkill<'_>> = installed
        .iter()
        .enumerate()
        .map(|(at, skill)| ListSkill {
            name: &skill.name,
            description: &skill.description,
            path: &skill.path,
            freedom: freedom(skill, at, &copies),
            n_uses: history.n_uses(&skill.name),
        })
        .collect();
    let today = listed_today(&listing, &skills);
    let compiled = compile(&listing, &skills)?;
    let endless = Listing { max_chars: usize::MAX, max_skills: None, ..listing.clone() };
    let whole = listed_today(&endless, &skills);
    let texts = |list: &CompiledList| -> Vec<Option<String>> {
        let of = |(kept, skill): (&Kept, &ListSkill<'_>)| {
            (*kept != Kept::Hidden).then(|| kept.text(skill.description, &listing).to_owned())
        };
        list.kept.iter().zip(&skills).map(of).collect()
    };
    let (today_texts, texts_compiled) = (texts(&today), texts(&compiled));
    let lists = [&today_texts[..], &texts_compiled, &texts(&whole)];
    let routing = measure::measure(&installed, lists, args.tasks.as_deref())?;
    let (out, is_again) = match args.out {
        Some(_) => {
            let written = write(&agent.id, &copies, &installed, &compiled.kept)?;
            (written.out, written.is_again)
        }
        None => (None, false),
    };
    let earlier_folder = is_again.then(|| copies.folder.clone());
    let rows = installed.iter().enumerate().map(|(at, skill)| {
        let text = texts_compiled[at].clone().unwrap_or_default();
        CompiledSkill {
            name: skill.name.clone(),
            path: skill.path.clone(),
            kept: word(&compiled.kept[at]),
            kept_today: word(&today.kept[at]),
            n_uses: skills[at].n_uses,
            description_chars: skill.description.chars().count(),
            today_chars: today_texts[at].as_deref().unwrap_or_default().chars().count(),
            compiled_chars: text.chars().count(),
            text,
        }
    });
    let report = CompileReport {
        agent: &agent.id,
        name: &agent.name,
        remedy: listing.remedy,
        max_chars: listing.max_chars,
        has_all_names: !compiled.kept.contains(&Kept::Hidden),
        today: counts(&today),
        compiled: counts(&compiled),
        whole: counts(&whole),
        routing,
        skills: rows.collect(),
        history,
        out,
        earlier_folder,
    };
    match args.format {
        Format::Json => print_json(&report)?,
        Format::Text => print_text(&text(&report))?,
    }
    Ok(Outcome::Found)
}

/// Returns what can be said of a skill.
fn freedom(skill: &InstalledSkill, at: usize, copies: &Copies) -> Freedom {
    match copies.remedy {
        Remedy::NameOverrides if skill.is_of_plugin => Freedom::Always,
        Remedy::NameOverrides => Freedom::Name,
        _ => match copies.path_of(at) {
            Some(path) => Freedom::Copy { path_chars: path.display().to_string().chars().count() },
            None => Freedom::Off,
        },
    }
}

fn word(kept: &Kept) -> &'static str {
    match kept {
        Kept::Whole => "whole",
        Kept::Shortened(_) => "shortened",
        Kept::Name => "name",
        Kept::Hidden => "hidden",
    }
}

fn counts(list: &CompiledList) -> ListCounts {
    let n = |meant: &str| list.kept.iter().filter(|kept| word(kept) == meant).count();
    ListCounts {
        n_chars: list.n_chars,
        n_whole: n("whole"),
        n_shortened: n("shortened"),
        n_name_only: n("name"),
        n_hidden: n("hidden"),
    }
}
