//! `skillmux models`

use std::fmt::Write;

use crate::{
    args::{Format, ModelsCommand},
    outcome::Outcome,
    render::{
        paint::{STRONG, styled, wrapped},
        print_json, print_text, size,
    },
};

pub(crate) fn run(command: &ModelsCommand) -> anyhow::Result<Outcome> {
    let ModelsCommand::List { format } = command;
    let models = skillmux_models::embedded_models();
    match format {
        Format::Json => print_json(&models)?,
        Format::Text => {
            let mut text = String::new();
            for model in models {
                let name = styled(STRONG, model.name);
                let n_bytes = u64::try_from(model.n_bytes)?;
                let _ = writeln!(text, "{name}  {}, {}", model.kind.as_str(), size(n_bytes));
                let trained_on = format!("trained on {}", model.trained_on);
                let _ = writeln!(text, "{}", wrapped(&trained_on, "    "));
            }
            print_text(&text)?;
        }
    }
    Ok(Outcome::Found)
}
