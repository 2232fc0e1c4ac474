//! `skillmux eval run DATASET`

use std::sync::Arc;

use skillmux::{
    route::{NeedsWriter, RouteOptions},
    text::escaped_json,
    trust::TrustPolicy,
};
use skillmux_eval::{
    dataset::Dataset,
    evaluate::{EvaluateOptions, Evaluation, apply_cut, evaluate},
    report::{
        Report, ReportOptions, Results, SNAPSHOT_MEASURES, Setting, Snapshot, TaskScores, Times,
        View,
    },
    system::{SystemContext, SystemSpec},
};

use super::{
    asked::{self, Asked, stages},
    credit::credited,
    out::OutFolder,
    said,
    trec::note_runs,
};
use crate::{
    args::{DecomposerChoice, EvalRunArgs, KindChoice, ReportFormat},
    assemble::Models,
    chat::{Kinds, used_chat},
    clock::since_start,
    error::CliError,
    outcome::Outcome,
    render::{
        paint::{NOTE, grouped, styled},
        print_text,
        progress::progress,
        width,
    },
    settings::Settings,
};

pub(super) fn run(args: &EvalRunArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let models = Models::load(settings)?;
    let specs: Vec<SystemSpec> =
        args.systems.iter().map(|spec| SystemSpec::parse(spec)).collect::<Result<_, _>>()?;
    specs.iter().try_for_each(|spec| spec.check(&models))?;
    let says_needs = args.stages.decomposer == DecomposerChoice::Chat;
    let asks_chat = says_needs
        || args.stages.kinds == KindChoice::Chat
        || specs.iter().any(SystemSpec::asks_chat);
    let chat = used_chat(&args.ask.endpoint, settings, asks_chat)?.map(Arc::new);
    if says_needs && chat.is_none() {
        return Err(CliError::NoChat.into());
    }
    let Asked { mut dataset, opened, clusters, mut setting } =
        asked::read(&args.dataset, &args.ask, args.clusters.as_deref(), settings)?;
    let kinds = Kinds::new(args.stages.kinds, chat.clone().map(|chat| chat as _))?;
    let models = models.with_kinds(kinds.classifier.clone());
    let router =
        models.router(opened.index, stages(args.stages, &specs), TrustPolicy::default())?;
    models.tell_uncalibrated(&router, args.stages.retriever);
    let encoder = models.encoder();
    let index = router.index();
    let mut context = SystemContext::new(&router, &index);
    context.assembly = &models;
    context.options = RouteOptions {
        max_skills: args.k.map(usize::from),
        budget_tokens: args.budget,
        ..RouteOptions::default()
    };
    context.encoder = Some(encoder.as_ref());
    context.chat = chat.as_deref().map(|chat| chat as _);

    let out = args.out.as_deref().map(OutFolder::open).transpose()?;
    if let Some(model) = chat.as_ref().filter(|_| says_needs) {
        let writer = NeedsWriter::new(Arc::clone(model) as _, args.passes.config());
        let folder = out.as_ref().map(OutFolder::path);
        setting.needs = Some(said::say(&mut dataset.tasks, &writer, &router, folder)?);
    }
    let mut earlier = Vec::new();
    if let Some(out) = &out {
        if args.fresh {
            forget(out, &specs)?;
        } else {
            earlier = out.earlier(&dataset, &setting)?;
        }
    }
    let run = Run {
        depth: args.ask.depth.into(),
        dataset: &dataset,
        setting: &setting,
        out: out.as_ref(),
    };
    let mut evaluations = run.answers(&specs, &context, &earlier)?;
    if let Err(error) = kinds.check() {
        // What was answered with other kinds must not be taken up by the next run.
        out.as_ref().map_or(Ok(()), |out| forget(out, &specs))?;
        return Err(error.into());
    }
    add_others(&mut evaluations, earlier);

    let credit = clusters.as_ref().map(credited);
    let results = Results { dataset, evaluations, setting };
    let scores = TaskScores::new(
        &results.dataset,
        &results.evaluations,
        credit.as_ref().map(|credit| credit as _),
    )?
    .within(results.setting.depth);
    let bootstrap = args.ask.bootstrap();
    let setting = Some(&results.setting);
    let options = ReportOptions { bootstrap, setting, ..ReportOptions::default() };
    let report = Report::new(&scores, &options)?;
    let snapshot = Snapshot::new(&scores, View::ById, &SNAPSHOT_MEASURES);
    let times = Times::new(&results.evaluations);
    if let Some(out) = &out {
        results.write(out.path(), &report, &snapshot)?;
        forget(out, &specs)?;
        out.tidy();
    }
    match args.format {
        ReportFormat::Text => {
            print_text(&format!("{}\n{}", report.to_text(width()), times.to_text()))?;
        }
        ReportFormat::Json => print_text(&escaped_json(&report.to_json()))?,
        ReportFormat::Markdown => print_text(&report.to_markdown())?,
        ReportFormat::Html => print_text(&report.to_html(Some(&times)))?,
        ReportFormat::Csv => print_text(&snapshot.to_csv())?,
    }
    Ok(Outcome::Found)
}

/// What all systems of a run have in common.
pub(super) struct Run<'a> {
    pub(super) depth: usize,
    pub(super) dataset: &'a Dataset,
    pub(super) setting: &'a Setting,
    pub(super) out: Option<&'a OutFolder>,
}

impl Run<'_> {
    /// Returns what the systems answer, cut as their specs say; what they answered before with the
    /// same configuration is not asked again.
    pub(super) fn answers(
        &self,
        specs: &[SystemSpec],
        context: &SystemContext<'_>,
        earlier: &[Evaluation],
    ) -> anyhow::Result<Vec<Evaluation>> {
        note_runs(specs, &self.dataset.tasks)?;
        let mut whole: Vec<(String, Evaluation)> = Vec::new();
        let mut evaluations: Vec<Evaluation> = Vec::new();
        for spec in specs {
            let uncut = spec.without_cut();
            let name = uncut.to_string();
            if !whole.iter().any(|(known, _)| *known == name) {
                whole.push((name.clone(), self.answer(&uncut, context, earlier)?));
            }
            let (_, found) =
                whole.iter().find(|(known, _)| *known == name).expect("was just asked");
            let evaluation = match spec.cut() {
                Some(cut) => apply_cut(found, &self.dataset.tasks, cut),
                None => found.clone(),
            };
            if !evaluations.iter().any(|known| known.system == evaluation.system) {
                evaluations.push(evaluation);
            }
        }
        Ok(evaluations)
    }

    fn answer(
        &self,
        spec: &SystemSpec,
        context: &SystemContext<'_>,
        earlier: &[Evaluation],
    ) -> anyhow::Result<Evaluation> {
        let system = spec.open(context)?;
        let (name, config) = (system.name(), system.config());
        if let Some(known) =
            earlier.iter().find(|known| known.system == name && known.config == config)
        {
            return Ok(known.clone());
        }
        let library = self.setting.library.as_ref().map_or("", |library| library.hash.as_str());
        let library = format!("{library} {}", self.setting.program);
        let bar = progress(self.dataset.tasks.len(), &format!("tasks of {name}"));
        let journal = self.out.map(|out| out.journal(&spec.to_string())).transpose()?;
        let found = evaluate(
            system.as_ref(),
            self.dataset,
            &EvaluateOptions {
                depth: self.depth,
                library: &library,
                journal: journal.as_deref(),
                clock: since_start,
                on_done: &|n_done| bar.set_position(n_done as u64),
            },
        );
        bar.finish_and_clear();
        Ok(found?)
    }
}

/// Removes the answers so far of these systems.
fn forget(out: &OutFolder, specs: &[SystemSpec]) -> anyhow::Result<()> {
    specs.iter().try_for_each(|spec| out.forget(&spec.without_cut().to_string()))
}

/// Adds the systems that only the folder has.
fn add_others(evaluations: &mut Vec<Evaluation>, earlier: Vec<Evaluation>) {
    let is_named = |other: &Evaluation| evaluations.iter().any(|own| own.system == other.system);
    let others: Vec<Evaluation> = earlier.into_iter().filter(|other| !is_named(other)).collect();
    if !others.is_empty() {
        anstream::eprintln!(
            "{} the folder has {} other systems, which the report shows, too",
            styled(NOTE, "note:"),
            grouped(others.len())
        );
    }
    evaluations.extend(others);
}
