//! `skillmux eval sweep DATASET`

use skillmux::trust::TrustPolicy;
use skillmux_eval::{
    report::{Sweep, TaskScores},
    system::{SpecSeries, SystemContext, SystemSpec},
};

use super::{
    asked::{self, Asked, stages},
    run::Run,
};
use crate::{
    args::EvalSweepArgs, assemble::Models, chat::Kinds, folder::write_file, outcome::Outcome,
    render::print_text, settings::Settings,
};

pub(super) fn run(args: &EvalSweepArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let models = Models::load(settings)?;
    let series: Vec<SpecSeries> =
        args.systems.iter().map(|text| SpecSeries::parse(text)).collect::<Result<_, _>>()?;
    let specs: Vec<SystemSpec> =
        series.iter().flat_map(|series| series.specs.iter().cloned()).collect();
    specs.iter().try_for_each(|spec| spec.check(&models))?;
    let kinds = Kinds::alone(args.stages.kinds, &args.ask.endpoint, settings)?;
    let Asked { dataset, opened, setting, .. } =
        asked::read(&args.dataset, &args.ask, None, settings)?;
    let models = models.with_kinds(kinds.classifier.clone());
    let router =
        models.router(opened.index, stages(args.stages, &specs), TrustPolicy::default())?;
    let encoder = models.encoder();
    let index = router.index();
    let mut context = SystemContext::new(&router, &index);
    context.assembly = &models;
    context.encoder = Some(encoder.as_ref());
    let run = Run { depth: args.ask.depth.into(), dataset: &dataset, setting: &setting, out: None };
    let evaluations = run.answers(&specs, &context, &[])?;
    kinds.check()?;
    let scores = TaskScores::new(&dataset, &evaluations, None)?.within(setting.depth);
    let sweep = Sweep::new(&scores, &series, &args.ask.bootstrap())?;
    if let Some(path) = &args.plot {
        write_file(path, sweep.to_svg().as_bytes())?;
    }
    print_text(&sweep.to_markdown())?;
    Ok(Outcome::Found)
}
