//! `skillmux eval list`

use std::fmt::Write;

use skillmux_eval::{dataset::DatasetKind, metric::measures, system::system_forms};

use crate::{
    assemble::Models,
    outcome::Outcome,
    render::{
        paint::{STRONG, styled},
        print_text,
    },
    settings::Settings,
};

pub(super) fn run(settings: &Settings) -> anyhow::Result<Outcome> {
    let models = Models::load(settings)?;
    let mut text = String::new();
    let mut section = |title: &str, rows: &[(String, String)]| {
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let _ = writeln!(text, "{}", styled(STRONG, title));
        for (name, what) in rows {
            let _ = writeln!(text, "  {name:<width$}  {what}");
        }
        text.push('\n');
    };
    section("systems", &system_forms(&models));
    let datasets: Vec<_> = DatasetKind::ALL
        .iter()
        .map(|kind| (kind.as_str().to_owned(), kind.shape().to_owned()))
        .collect();
    section("datasets", &datasets);
    let measures: Vec<_> = measures()
        .iter()
        .map(|measure| {
            (measure.name.to_owned(), format!("{} ({})", measure.formula, measure.source))
        })
        .collect();
    section("measures", &measures);
    print_text(text.trim_end_matches('\n'))?;
    print_text("\n")?;
    Ok(Outcome::Found)
}
