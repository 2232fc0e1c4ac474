//! `skillmux eval gate`

use std::{path::Path, slice};

use skillmux::{route::RouteOptions, text::escaped_json, trust::TrustPolicy};
use skillmux_eval::{
    cluster::Clusters,
    report::{Gate, GateDataset, GateOptions, Pair, Results, TaskScores, View},
    system::{SystemContext, SystemSpec},
};

use super::{
    asked::{self, Asked},
    credit::credited,
    run::Run,
};
use crate::{
    args::{EvalGateArgs, Format, StageArgs},
    assemble::Models,
    chat::used_chat,
    error::CliError,
    outcome::Outcome,
    render::{print_text, width},
    settings::Settings,
};

pub(super) fn run(args: &EvalGateArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let clusters = args.clusters.as_deref().map(Clusters::read).transpose()?;
    let view = if clusters.is_some() { View::NearDuplicates } else { View::ById };
    let bootstrap = args.ask.bootstrap();
    let options = GateOptions { bootstrap, view, min_tasks: args.min_tasks as usize };
    let n_each = if args.datasets.is_empty() { args.old.len() } else { 1 };
    if args.old.len() != n_each || args.new.len() != n_each {
        let (n_old, n_new) = (args.old.len(), args.new.len());
        return Err(CliError::Unpaired { n_old, n_new, n_each }.into());
    }
    let credit = clusters.as_ref().map(credited);
    let judged = |name: &str, results: &Results| {
        let credit = credit.as_ref().map(|credit| credit as _);
        let scores = TaskScores::new(&results.dataset, &results.evaluations, credit)?;
        GateDataset::new(name, &scores, results.setting.clone(), &options)
    };
    let mut datasets = Vec::new();
    if args.datasets.is_empty() {
        for (old, new) in args.old.iter().zip(&args.new) {
            let (old, new) = (Path::new(old), Path::new(new));
            let results = stored(old, new)?;
            let folder = Results::folder_of(new).unwrap_or(new);
            datasets.push(judged(&folder.display().to_string(), &results)?);
        }
    } else {
        let models = Models::load(settings)?;
        let specs = [SystemSpec::parse(&args.old[0])?, SystemSpec::parse(&args.new[0])?];
        specs.iter().try_for_each(|spec| spec.check(&models))?;
        for path in &args.datasets {
            let results = asked(path, &specs, &models, args, settings)?;
            datasets.push(judged(&path.display().to_string(), &results)?);
        }
    }
    let gate = Gate::new(datasets, &options);
    match args.format {
        Format::Text => print_text(&gate.to_text(width()))?,
        Format::Json => print_text(&escaped_json(&gate.to_json()))?,
    }
    Ok(if gate.is_promoted { Outcome::Found } else { Outcome::NotPromoted })
}

/// Reads what an old and a new ranking answered to the same dataset.
fn stored(old: &Path, new: &Path) -> anyhow::Result<Results> {
    for path in [old, new] {
        if Results::folder_of(path).is_none() {
            return Err(CliError::NoResults { path: path.to_owned() }.into());
        }
    }
    let pair = Results::open_pair(old, new)?;
    pair.check_same()?;
    let Pair { results, other_setting, .. } = pair;
    // The program of the new ranking is the one that is to be judged.
    Ok(Results { setting: other_setting, ..results })
}

/// Asks an old and a new ranking the tasks of a dataset.
fn asked(
    path: &Path,
    [old, new]: &[SystemSpec; 2],
    models: &Models,
    args: &EvalGateArgs,
    settings: &Settings,
) -> anyhow::Result<Results> {
    let asks_chat = old.asks_chat() || new.asks_chat();
    let chat = used_chat(&args.ask.endpoint, settings, asks_chat)?;
    let Asked { dataset, opened, setting, .. } =
        asked::read(path, &args.ask, args.clusters.as_deref(), settings)?;
    let router = models.router(opened.index, StageArgs::default(), TrustPolicy::default())?;
    let encoder = models.encoder();
    let index = router.index();
    let mut context = SystemContext::new(&router, &index);
    context.assembly = models;
    // A gate judges rankings: what `default` would show does not matter.
    context.options = RouteOptions { budget_tokens: 0, ..RouteOptions::default() };
    context.encoder = Some(encoder.as_ref());
    context.chat = chat.as_ref().map(|chat| chat as _);
    let run = Run { depth: args.ask.depth.into(), dataset: &dataset, setting: &setting, out: None };
    let mut evaluations = run.answers(slice::from_ref(old), &context, &[])?;
    // The same ranking is not asked again.
    for mut of_new in run.answers(slice::from_ref(new), &context, &evaluations)? {
        if evaluations.iter().any(|of_old| of_old.system == of_new.system) {
            of_new.system.push_str(" (again)");
        }
        evaluations.push(of_new);
    }
    Ok(Results { dataset, evaluations, setting })
}
