//! `skillmux eval execute RESULTS`

use skillmux::text::escaped_json;
use skillmux_eval::{
    evaluate::Evaluation,
    execute::{Pilot, PilotConfig, execute},
    report::Results,
    stats::BootstrapConfig,
};

use crate::{
    args::{CompareFormat, EvalExecuteArgs},
    error::CliError,
    outcome::Outcome,
    render::print_text,
};

pub(super) fn run(args: &EvalExecuteArgs) -> anyhow::Result<Outcome> {
    let Results { dataset, evaluations, .. } = Results::open(&args.results)?;
    let config = PilotConfig {
        seed: args.seed,
        n_trials: args.trials as usize,
        n_retries: args.retries.into(),
        n_substitutes: args.substitutes.into(),
    };
    let bootstrap = BootstrapConfig { seed: args.seed, ..BootstrapConfig::default() };
    let plans =
        |evaluation: &&Evaluation| evaluation.rows.iter().any(|row| row.answer.loaded.is_some());
    let pilots: Vec<Pilot> = evaluations
        .iter()
        .filter(plans)
        .map(|evaluation| execute(&dataset, evaluation, &config, &bootstrap))
        .collect();
    if pilots.is_empty() {
        return Err(CliError::NoPlan { path: args.results.clone() }.into());
    }
    let join = |texts: Vec<String>| texts.join("\n");
    match args.format {
        CompareFormat::Text => print_text(&join(pilots.iter().map(Pilot::to_text).collect()))?,
        CompareFormat::Json => print_text(&escaped_json(&Pilot::to_json(&pilots)))?,
        CompareFormat::Markdown => {
            print_text(&join(pilots.iter().map(Pilot::to_markdown).collect()))?;
        }
    }
    Ok(Outcome::Found)
}
