//! Measures as dots with their intervals.

use plotters::{style::Color, style::text_anchor::HPos};

use super::{
    axis::Axis,
    canvas::{
        Drawing, Margins, UNIT, WIDTH, chart, draw, label_width, part, pixels, point, stroke,
        stroke_of, text,
    },
    palette::{INK, series},
};
use crate::printable::clipped;

/// A value with its interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dot {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Whether it is filled.
    pub(crate) is_marked: bool,
}

/// One measure of all systems.
pub(crate) struct Panel {
    pub(crate) title: String,
    /// A dot for each system that has one, in their order.
    pub(crate) dots: Vec<Option<Dot>>,
}

/// Returns every measure of every system as a dot with its interval, a panel a measure; the line is
/// at the value of the baseline.
pub(crate) fn dots(systems: &[&str], panels: &[Panel], baseline: usize) -> Drawing {
    const COLUMNS: usize = 3;
    const ROW: i32 = 22;
    let gutter = systems.iter().map(|name| label_width(&clipped(name, 26))).max().unwrap_or(0) + 16;
    let n_rows = pixels(systems.len());
    let panel_height = 24 + n_rows * ROW + 26;
    let n_columns = panels.len().clamp(1, COLUMNS);
    let panel_width = (WIDTH - gutter) / pixels(COLUMNS);
    let lines = panels.chunks(n_columns);
    let height = panel_height * pixels(lines.len());
    draw((gutter + panel_width * pixels(n_columns), height), |area| {
        for (line, panels) in lines.clone().enumerate() {
            for (column, panel) in panels.iter().enumerate() {
                let left = gutter + panel_width * pixels(column);
                let top = panel_height * pixels(line);
                let values: Vec<f64> =
                    panel.dots.iter().flatten().flat_map(|dot| [dot.low, dot.high]).collect();
                let axis = Axis::around("", &values, 4);
                let rows = Axis { title: "", low: 0.0, high: systems.len() as f64, ticks: vec![] };
                let part = part(area, (left, top), (panel_width, panel_height));
                let margins = Margins { left: 8, right: 16, top: 24, bottom: 26 };
                let mut chart = chart(&part, &axis, &rows, margins)?;
                text(&part, &panel.title, (8, 10), INK, HPos::Left, true)?;
                if let Some(Some(dot)) = panel.dots.get(baseline) {
                    let ends = vec![(dot.mean, 0.0), (dot.mean, rows.high)];
                    stroke(&mut chart, ends, stroke_of(series(baseline).mix(0.5), 1))?;
                }
                for (at, dot) in panel.dots.iter().enumerate() {
                    let y = rows.high - at as f64 - 0.5;
                    if column == 0 {
                        let middle = chart.backend_coord(&(axis.low, y)).1 / UNIT;
                        let name = clipped(systems[at], 26);
                        text(area, &name, (gutter - 8, middle), INK, HPos::Right, false)?;
                    }
                    let Some(dot) = dot else { continue };
                    let color = series(at);
                    stroke(&mut chart, vec![(dot.low, y), (dot.high, y)], stroke_of(color, 2))?;
                    let is_hollow = !dot.is_marked && at != baseline;
                    point(&mut chart, (dot.mean, y), color, is_hollow)?;
                }
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_others_is_escaped() {
        let dot = Dot { mean: 0.5, low: 0.4, high: 0.6, is_marked: false };
        let panel = Panel { title: "<b>".into(), dots: vec![Some(dot)] };
        let svg = dots(&["</svg><script>"], &[panel], 0).body;
        assert!(!svg.contains("<script") && !svg.contains("<b>"));
        assert!(svg.contains("&lt;/svg&gt;&lt;script&gt;"), "{svg}");
    }
}
