//! Plots as SVG to stand inside a page, whose style sheet gives the colours.

use plotters::{
    chart::{ChartBuilder, ChartContext},
    coord::{Shift, types::RangedCoordf64},
    element::{Circle, DynElement, IntoDynElement, PathElement, Polygon, Text},
    prelude::{Cartesian2d, DrawingArea, IntoDrawingArea, IntoFont, RGBColor, SVGBackend},
    style::{
        Color, ShapeStyle, TextStyle,
        text_anchor::{HPos, Pos, VPos},
    },
};

use crate::printable::{clipped, html, width};

/// Colours of the systems in light and dark surroundings, of at least 3 : 1 against these; more
/// systems than that begin anew.
pub(crate) const SERIES: [(RGBColor, &str); 8] = [
    (RGBColor(0x2F, 0x6B, 0xD8), "#7eabff"),
    (RGBColor(0xC7, 0x5B, 0x0E), "#f5a25d"),
    (RGBColor(0x1F, 0x8A, 0x5B), "#5fcf9b"),
    (RGBColor(0x85, 0x54, 0xC7), "#bd9cf5"),
    (RGBColor(0xC2, 0x3B, 0x55), "#f58aa0"),
    (RGBColor(0x0B, 0x84, 0x94), "#4fc7d6"),
    (RGBColor(0x86, 0x6A, 0x2F), "#d3b66a"),
    (RGBColor(0xB8, 0x4A, 0x98), "#ee93d1"),
];

/// The other colours: name in the style sheet, light, dark.
pub(crate) const TONES: [(&str, RGBColor, &str); 6] = [
    ("ink", INK, "#e8eaed"),
    ("muted", MUTED, "#9aa3ae"),
    ("grid", GRID, "#2c323a"),
    ("paper", PAPER, "#14171b"),
    ("good", GOOD, "#57c793"),
    ("bad", BAD, "#f2828f"),
];
const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
const MUTED: RGBColor = RGBColor(0x5E, 0x67, 0x72);
const GRID: RGBColor = RGBColor(0xE2, 0xE5, 0xE9);
const PAPER: RGBColor = RGBColor(0xFF, 0xFE, 0xFD);
const GOOD: RGBColor = RGBColor(0x1A, 0x85, 0x53);
const BAD: RGBColor = RGBColor(0xC4, 0x32, 0x43);

/// Units of the drawing a pixel: the library draws at whole units only.
const UNIT: i32 = 8;
/// Size of letters, in pixels.
const LETTER: i32 = 12;
/// Width of all plots, in pixels.
const WIDTH: i32 = 1076;
/// Distance of two labels, in pixels.
const LABEL_STEP: i32 = 16;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// What a plot is called, for those who do not see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caption<'a> {
    /// Distinguishes it on the page.
    pub(crate) id: usize,
    /// What is drawn.
    pub(crate) title: &'a str,
    /// What is to be seen.
    pub(crate) description: &'a str,
}

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

/// A curve.
pub(crate) struct Line {
    pub(crate) name: String,
    /// Position of the system, for its colour.
    pub(crate) system: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

/// An axis with its ticks.
pub(crate) struct Axis {
    pub(crate) title: &'static str,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Returns an axis with ticks at round numbers that holds all values.
    pub(crate) fn around(title: &'static str, values: &[f64], n_ticks: usize) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let padding = ((high - low) * 0.06).max(0.005);
        // Shares stay shares.
        let bound = |value: f64, limit: f64, inside: bool| if inside { limit } else { value };
        let low = bound(low - padding, 0.0, low >= 0.0 && low - padding < 0.0);
        let high = bound(high + padding, 1.0, high <= 1.0 && high + padding > 1.0);
        Self::between(title, low, high, n_ticks)
    }

    /// Returns an axis with ticks at round numbers.
    pub(crate) fn between(title: &'static str, low: f64, high: f64, n_ticks: usize) -> Self {
        let rough = (high - low) / n_ticks.max(1) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power);
        let n_decimals = (0..6).find(|n| is_whole(step * 10_f64.powi(*n))).unwrap_or(6);
        let n_decimals = usize::try_from(n_decimals).unwrap_or(0);
        let first = (low / step - 1e-9).ceil();
        let n = ((high - first * step) / step + 1e-9).floor().max(0.0);
        let mut ticks = Vec::new();
        let mut at = 0.0;
        while at <= n {
            let value = (first + at) * step + 0.0;
            ticks.push((value, format!("{value:.n_decimals$}")));
            at += 1.0;
        }
        Self { title, low, high, ticks }
    }

    fn contains(&self, value: f64) -> bool {
        let margin = (self.high - self.low) * 1e-9;
        value >= self.low - margin && value <= self.high + margin
    }
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
}

/// Returns every measure of every system as a dot with its interval, a panel a measure; the line is
/// at the value of the baseline.
pub(crate) fn dots(
    caption: Caption<'_>,
    systems: &[&str],
    panels: &[Panel],
    baseline: usize,
) -> String {
    const COLUMNS: usize = 3;
    const ROW: i32 = 22;
    let gutter = systems.iter().map(|name| label_width(&clipped(name, 26))).max().unwrap_or(0) + 16;
    let n_rows = pixels(systems.len());
    let panel_height = 24 + n_rows * ROW + 26;
    let n_columns = panels.len().clamp(1, COLUMNS);
    let panel_width = (WIDTH - gutter) / pixels(COLUMNS);
    let lines = panels.chunks(n_columns);
    let height = panel_height * pixels(lines.len());
    draw(caption, (gutter + panel_width * pixels(n_columns), height), |area| {
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

/// Returns curves with their names at their ends.
pub(crate) fn curves(
    caption: Caption<'_>,
    lines: &[Line],
    (x, y): (&Axis, &Axis),
    is_stepped: bool,
) -> String {
    const HEIGHT: i32 = 360;
    let names: Vec<String> = lines.iter().map(|line| clipped(&line.name, 30)).collect();
    let right = names.iter().map(|name| label_width(name)).max().unwrap_or(0) + 20;
    let n_labels = pixels(lines.len());
    let height = HEIGHT.max(n_labels * LABEL_STEP + 80);
    draw(caption, (WIDTH, height), |area| {
        let margins = Margins { left: 56, right, top: 28, bottom: 44 };
        let mut chart = chart(area, x, y, margins)?;
        text(area, y.title, (8, 10), MUTED, HPos::Left, false)?;
        text(area, x.title, (WIDTH - right, height - 8), MUTED, HPos::Right, false)?;
        let mut ends: Vec<(usize, i32, f64)> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let Some(end) = line.points.last() else { continue };
            let mut points = line.points.clone();
            if is_stepped {
                let corners = line.points.windows(2).flat_map(|w| [w[0], (w[1].0, w[0].1)]);
                points = corners.chain([*end]).collect();
            }
            let color = series(line.system);
            if points.len() > 1 {
                stroke(&mut chart, points, stroke_of(color, 2))?;
            }
            point(&mut chart, *end, color, false)?;
            let mean = line.points.iter().map(|point| point.1).sum::<f64>();
            let mean = mean / line.points.len() as f64;
            ends.push((at, chart.backend_coord(end).1 / UNIT, mean));
        }
        // Where curves end together, the labels stand as the curves do before.
        ends.sort_by(|a, b| a.1.cmp(&b.1).then(b.2.total_cmp(&a.2)));
        let wanted: Vec<i32> = ends.iter().map(|(_, end_y, _)| *end_y).collect();
        for ((at, ..), label_y) in ends.iter().zip(apart(&wanted, 20, height - 48)) {
            let color = series(lines[*at].system);
            text(area, &names[*at], (WIDTH - right + 14, label_y), color, HPos::Left, false)?;
        }
        Ok(())
    })
}

/// Returns systems as crosses of two intervals, with their names beside.
pub(crate) fn crosses(
    caption: Caption<'_>,
    systems: &[(String, usize, Dot, Dot)],
    (x, y): (&Axis, &Axis),
) -> String {
    const HEIGHT: i32 = 380;
    draw(caption, (WIDTH, HEIGHT), |area| {
        let margins = Margins { left: 56, right: 190, top: 28, bottom: 44 };
        let mut chart = chart(area, x, y, margins)?;
        text(area, y.title, (8, 10), MUTED, HPos::Left, false)?;
        text(area, x.title, (WIDTH - 190, HEIGHT - 8), MUTED, HPos::Right, false)?;
        for (_, system, on_x, on_y) in systems {
            let color = series(*system);
            let line = stroke_of(color.mix(0.7), 1);
            stroke(&mut chart, vec![(on_x.low, on_y.mean), (on_x.high, on_y.mean)], line)?;
            stroke(&mut chart, vec![(on_x.mean, on_y.low), (on_x.mean, on_y.high)], line)?;
            point(&mut chart, (on_x.mean, on_y.mean), color, false)?;
        }
        // Labels keep apart from those beside them.
        let mut placed: Vec<(i32, i32)> = Vec::new();
        for (name, system, on_x, on_y) in systems {
            let (dot_x, dot_y) = chart.backend_coord(&(on_x.mean, on_y.mean));
            let (label_x, mut label_y) = (dot_x / UNIT + 9, dot_y / UNIT - 9);
            let is_near = |label_y: i32| {
                let near = |(x, y): &(i32, i32)| {
                    (x - label_x).abs() < 150 && (y - label_y).abs() < LABEL_STEP
                };
                placed.iter().any(near)
            };
            while is_near(label_y) {
                label_y += 2;
            }
            placed.push((label_x, label_y));
            let name = clipped(name, 30);
            text(area, &name, (label_x, label_y), series(*system), HPos::Left, false)?;
        }
        Ok(())
    })
}

/// Differences of one system from the baseline.
pub(crate) struct Differences {
    pub(crate) title: String,
    /// The differences that are not 0 and how many tasks have them, the largest first.
    pub(crate) counts: Vec<(f64, usize)>,
}

/// Returns the tasks that differ as bars in falling order, a panel a system.
pub(crate) fn differences(caption: Caption<'_>, panels: &[Differences]) -> String {
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
    draw(caption, (panel_width * pixels(n_columns), HEIGHT * pixels(n_lines)), |area| {
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

/// Returns the colour of the system at a position.
fn series(system: usize) -> RGBColor {
    SERIES[system % SERIES.len()].0
}

/// Returns positions at least [`LABEL_STEP`] apart, near the wanted ones, which are ascending.
fn apart(wanted: &[i32], top: i32, bottom: i32) -> Vec<i32> {
    let mut placed: Vec<i32> = Vec::new();
    for at in wanted {
        let least = placed.last().map_or(top, |last| last + LABEL_STEP);
        placed.push((*at).max(least));
    }
    let mut most = bottom;
    for at in placed.iter_mut().rev() {
        *at = (*at).min(most);
        most = *at - LABEL_STEP;
    }
    placed
}

/// Returns a number of things to multiply by their size; beyond some thousands nothing is to be seen.
fn pixels(n: usize) -> i32 {
    const MOST: u16 = 4096;
    i32::from(u16::try_from(n).unwrap_or(MOST).min(MOST))
}

/// Returns the pixels that a label takes, by rule of thumb.
fn label_width(text: &str) -> i32 {
    pixels(width(text)) * 7
}

/// Space around a chart, in pixels.
#[derive(Clone, Copy)]
struct Margins {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

fn part<'a>(area: &Area<'a>, (x, y): (i32, i32), (width, height): (i32, i32)) -> Area<'a> {
    let left = ((x * UNIT), (x + width) * UNIT);
    let top = ((y * UNIT), (y + height) * UNIT);
    area.clone().shrink((left.0, top.0), (left.1 - left.0, top.1 - top.0))
}

/// Returns a chart with grid lines and labels at the ticks of its axes.
fn chart<'a, 'b>(
    area: &'a Area<'b>,
    x: &Axis,
    y: &Axis,
    margins: Margins,
) -> Result<Chart<'a, 'b>, Box<dyn std::error::Error>> {
    let mut chart = ChartBuilder::on(area)
        .margin_left(margins.left * UNIT)
        .margin_right(margins.right * UNIT)
        .margin_top(margins.top * UNIT)
        .margin_bottom(margins.bottom * UNIT)
        .build_cartesian_2d(x.low..x.high, y.low..y.high)?;
    let (offset_x, offset_y) = area.get_base_pixel();
    for (value, label) in x.ticks.iter().filter(|(value, _)| x.contains(*value)) {
        stroke(&mut chart, vec![(*value, y.low), (*value, y.high)], stroke_of(GRID, 1))?;
        let (at_x, at_y) = chart.backend_coord(&(*value, y.low));
        let at = ((at_x - offset_x) / UNIT, (at_y - offset_y) / UNIT + 12);
        text(area, label, at, MUTED, HPos::Center, false)?;
    }
    for (value, label) in y.ticks.iter().filter(|(value, _)| y.contains(*value)) {
        stroke(&mut chart, vec![(x.low, *value), (x.high, *value)], stroke_of(GRID, 1))?;
        let (at_x, at_y) = chart.backend_coord(&(x.low, *value));
        let at = ((at_x - offset_x) / UNIT - 8, (at_y - offset_y) / UNIT);
        text(area, label, at, MUTED, HPos::Right, false)?;
    }
    Ok(chart)
}

fn stroke_of(color: impl Color, n_pixels: u32) -> ShapeStyle {
    ShapeStyle {
        color: color.to_rgba(),
        filled: false,
        stroke_width: n_pixels * UNIT.unsigned_abs(),
    }
}

fn stroke(chart: &mut Chart<'_, '_>, points: Vec<(f64, f64)>, style: ShapeStyle) -> Drawn {
    chart.plotting_area().draw(&PathElement::new(points, style))?;
    Ok(())
}

/// Draws a disc, or a ring if it is hollow.
fn point(chart: &mut Chart<'_, '_>, at: (f64, f64), color: RGBColor, is_hollow: bool) -> Drawn {
    let disc = |radius: i32, color: RGBColor| -> DynElement<'static, SVGBackend<'_>, (f64, f64)> {
        Circle::new(at, radius, color.filled()).into_dyn()
    };
    chart.plotting_area().draw(&disc(5 * UNIT, color))?;
    if is_hollow {
        chart.plotting_area().draw(&disc(3 * UNIT, PAPER))?;
    }
    Ok(())
}

fn text(
    area: &Area<'_>,
    label: &str,
    (x, y): (i32, i32),
    color: RGBColor,
    anchor: HPos,
    is_bold: bool,
) -> Drawn {
    // The library divides sizes by 1.24.
    let font = ("sans-serif", f64::from(LETTER * UNIT) * 1.24).into_font();
    let font = if is_bold { font.style(plotters::style::FontStyle::Bold) } else { font };
    let style: TextStyle<'_> = TextStyle::from(font).color(&color);
    let style = style.pos(Pos::new(anchor, VPos::Center));
    area.draw(&Text::new(label.to_owned(), (x * UNIT, y * UNIT), style))?;
    Ok(())
}

/// Returns the drawing with its caption, without a name space, for use inside HTML.
fn draw(
    caption: Caption<'_>,
    (width, height): (i32, i32),
    paint: impl FnOnce(&Area<'_>) -> Drawn,
) -> String {
    let mut svg = String::new();
    let size = |pixels: i32| u32::try_from(pixels * UNIT).unwrap_or(0);
    {
        let area = SVGBackend::with_string(&mut svg, (size(width), size(height)));
        let area = area.into_drawing_area();
        paint(&area)
            .and_then(|()| Ok(area.present()?))
            .expect("nothing fails to be drawn to memory");
    }
    let body = svg.split_once(">\n").map_or("", |(_, body)| body);
    let Caption { id, title, description } = caption;
    format!(
        "<svg class=\"plot\" viewBox=\"0 0 {} {}\" style=\"max-width:{width}px\" role=\"img\" \
         aria-labelledby=\"plot-{id}-title plot-{id}-text\">\n\
         <title id=\"plot-{id}-title\">{}</title>\n<desc id=\"plot-{id}-text\">{}</desc>\n{body}",
        size(width),
        size(height),
        html(title),
        html(description),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_inside() {
        let labels = |low, high, n| -> Vec<String> {
            Axis::between("", low, high, n).ticks.into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-0.5, 0.5, 4), ["-0.50", "-0.25", "0.00", "0.25", "0.50"]);
        assert_eq!(labels(0.612, 0.747, 3), ["0.65", "0.70"]);
    }

    #[test]
    fn labels_keep_apart_and_inside() {
        assert_eq!(apart(&[50, 51, 52], 0, 100), [50, 66, 82]);
        assert_eq!(apart(&[95, 95, 95], 0, 100), [68, 84, 100]);
    }

    #[test]
    fn the_text_of_others_is_escaped() {
        let dot = Dot { mean: 0.5, low: 0.4, high: 0.6, is_marked: false };
        let panel = Panel { title: "<b>".into(), dots: vec![Some(dot)] };
        let caption = Caption { id: 1, title: "<t>", description: "&" };
        let svg = dots(caption, &["</svg><script>"], &[panel], 0);
        assert!(!svg.contains("<script") && !svg.contains("<b>") && !svg.contains("<t>"));
        assert!(svg.contains("&lt;/svg&gt;&lt;script&gt;"), "{svg}");
    }
}
