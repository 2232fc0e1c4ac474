//! `skillmux eval list`

use std::fmt::Write;

use skillmux_eval::{dataset::DatasetKind, metric::measures, system::system_forms};

use crate::{
    Outcome,
    command::print_text,
    paint::{STRONG, styled},
};

pub(super) fn run() -> anyhow::Result<Outcome> {
    let mut text = String::new();
    let mut section = |title: &str, rows: &[(&str, String)]| {
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let _ = writeln!(text, "{}", styled(STRONG, title));
        for (name, what) in rows {
            let _ = writeln!(text, "  {name:<width$}  {what}");
        }
        text.push('\n');
    };
    let systems: Vec<_> =
        system_forms().iter().map(|(form, what)| (*form, (*what).to_owned())).collect();
    section("systems", &systems);
    let datasets: Vec<_> =
        DatasetKind::ALL.iter().map(|kind| (kind.as_str(), kind.shape().to_owned())).collect();
    section("datasets", &datasets);
    let measures: Vec<_> = measures()
        .iter()
        .map(|measure| (measure.name, format!("{} ({})", measure.formula, measure.source)))
        .collect();
    section("measures", &measures);
    print_text(text.trim_end_matches('\n'))?;
    print_text("\n")?;
    Ok(Outcome::Found)
}
