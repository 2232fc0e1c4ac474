//! Tasks won and lost, as bars.

use plotters::{
    element::Polygon,
    style::{Color, RGBColor, text_anchor::HPos},
};

use super::{
    axis::{Axis, is_whole},
    canvas::{
        Chart, Drawing, Drawn, Margins, WIDTH, chart, draw, part, pixels, stroke, stroke_of, text,
    },
    palette::{BAD, GOOD, INK, MUTED},
};

/// Differences of one system from the baseline.
pub(crate) struct Differences {
    pub(crate) title: String,
    /// The differences that are not 0 and how many tasks have them, the largest first.
    pub(crate) counts: Vec<(f64, usize)>,
}

/// Returns the tasks that differ as bars in falling order, a panel a system.
pub(crate) fn differences(panels: &[Differences]) -> Drawing {
    const COLUMNS: usize = 2;
    const HEIGHT: i32 = 220;
    let n_columns = panels.len().clamp(1, COLUMNS);
    let panel_width = WIDTH / pixels(COLUMNS);
    let n_lines = panels.len().div_ceil(n_columns);
    let all = panels.iter().flat_map(|panel| &panel.counts);
    let extreme = all.map(|(difference, _)| difference.abs()).fold(0.05, f64::max);
    let n_tasks = |panel: &Differences| panel.counts.iter().map(|(_, n)| *n).sum::<usize>();
    let most = panels.iter().map(n_tasks).max().unwrap_or(0).max(1) as f64;
    let mut x = Axis::between("", 0.0, most, 5);
    x.ticks.retain(|(value, _)| is_whole(*value));
    for (value, label) in &mut x.ticks {
        *label = format!("{value:.0}");
    }
    let y = Axis::between("", -extreme, extreme, 4);
    draw((panel_width * pixels(n_columns), HEIGHT * pixels(n_lines)), |area| {
        for (at, panel) in panels.iter().enumerate() {
            let corner = (panel_width * pixels(at % n_columns), HEIGHT * pixels(at / n_columns));
            let part = part(area, corner, (panel_width, HEIGHT));
            let margins = Margins { left: 48, right: 16, top: 26, bottom: 30 };
            let chart = &mut chart(&part, &x, &y, margins)?;
            text(&part, &panel.title, (8, 10), INK, HPos::Left, true)?;
            let (gains, losses): (Vec<_>, Vec<_>) =
                panel.counts.iter().copied().partition(|(difference, _)| *difference > 0.0);
            let n_gains: usize = gains.iter().map(|(_, n)| n).sum();
            fill(chart, 0, &gains, GOOD)?;
            fill(chart, n_gains, &losses, BAD)?;
            stroke(chart, vec![(0.0, 0.0), (most, 0.0)], stroke_of(MUTED, 1))?;
        }
        Ok(())
    })
}

/// Fills bars that stand side by side, after some others.
fn fill(
    chart: &mut Chart<'_, '_>,
    n_before: usize,
    bars: &[(f64, usize)],
    color: RGBColor,
) -> Drawn {
    let mut at = n_before;
    let mut outline = vec![(at as f64, 0.0)];
    for (difference, n) in bars {
        outline.push((at as f64, *difference));
        at += n;
        outline.push((at as f64, *difference));
    }
    outline.push((at as f64, 0.0));
    if !bars.is_empty() {
        chart.plotting_area().draw(&Polygon::new(outline, color.mix(0.85).filled()))?;
    }
    Ok(())
}
