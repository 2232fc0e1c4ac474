//! [`Drawing`]: what a plot is painted on, in pixels.

use plotters::{
    chart::{ChartBuilder, ChartContext},
    coord::{Shift, types::RangedCoordf64},
    element::{Circle, DynElement, IntoDynElement, PathElement, Text},
    prelude::{Cartesian2d, DrawingArea, IntoDrawingArea, IntoFont, RGBColor, SVGBackend},
    style::{
        Color, ShapeStyle, TextStyle,
        text_anchor::{HPos, Pos, VPos},
    },
};

use super::{
    axis::Axis,
    palette::{GRID, MUTED, PAPER},
};
use crate::printable::width;

/// The inside of an element `svg`, without a name space, for use inside HTML.
pub(crate) struct Drawing {
    /// Size in units of the drawing.
    pub(crate) view_box: (u32, u32),
    /// Width in pixels.
    pub(crate) width: i32,
    /// The elements, and the end of `svg`.
    pub(crate) body: String,
}

impl Drawing {
    /// Returns a file of its own, in light colours.
    pub(crate) fn to_svg(&self, title: &str) -> String {
        let (width, height) = self.view_box;
        let title = title.replace('&', "&amp;").replace('<', "&lt;");
        let RGBColor(red, green, blue) = PAPER;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{}\" role=\"img\">\n\
             <title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#{red:02X}{green:02X}{blue:02X}\"/>\n{}",
            self.width, self.body
        )
    }
}

/// Units of the drawing a pixel: the library draws at whole units only.
pub(super) const UNIT: i32 = 8;
/// Size of letters, in pixels.
pub(super) const LETTER: i32 = 12;
/// Width of all plots, in pixels.
pub(super) const WIDTH: i32 = 1076;
/// Distance of two labels, in pixels.
pub(super) const LABEL_STEP: i32 = 16;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Chart<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
pub(super) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Returns what is painted on an area of so many pixels.
pub(super) fn draw((width, height): (i32, i32), paint: impl FnOnce(&Area<'_>) -> Drawn) -> Drawing {
    let mut svg = String::new();
    let size = |pixels: i32| u32::try_from(pixels * UNIT).unwrap_or(0);
    let view_box = (size(width), size(height));
    {
        let area = SVGBackend::with_string(&mut svg, view_box).into_drawing_area();
        paint(&area)
            .and_then(|()| Ok(area.present()?))
            .expect("nothing fails to be drawn to memory");
    }
    // The page has a begin of its own, with a name for those who do not see the plot.
    let body = svg.split_once(">\n").map_or("", |(_, body)| body).to_owned();
    Drawing { view_box, width, body }
}

/// Returns a number of things to multiply by their size; beyond some thousands nothing is to be
/// seen.
pub(super) fn pixels(n: usize) -> i32 {
    const MOST: u16 = 4096;
    i32::from(u16::try_from(n).unwrap_or(MOST).min(MOST))
}

/// Returns the pixels that a label takes, by rule of thumb.
pub(super) fn label_width(text: &str) -> i32 {
    pixels(width(text)) * 7
}

/// Space around a chart, in pixels.
#[derive(Clone, Copy)]
pub(super) struct Margins {
    pub(super) left: i32,
    pub(super) right: i32,
    pub(super) top: i32,
    pub(super) bottom: i32,
}

pub(super) fn part<'a>(
    area: &Area<'a>,
    (x, y): (i32, i32),
    (width, height): (i32, i32),
) -> Area<'a> {
    let left = ((x * UNIT), (x + width) * UNIT);
    let top = ((y * UNIT), (y + height) * UNIT);
    area.clone().shrink((left.0, top.0), (left.1 - left.0, top.1 - top.0))
}

/// Returns a chart with grid lines and labels at the ticks of its axes.
pub(super) fn chart<'a, 'b>(
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

pub(super) fn stroke_of(color: impl Color, n_pixels: u32) -> ShapeStyle {
    ShapeStyle {
        color: color.to_rgba(),
        filled: false,
        stroke_width: n_pixels * UNIT.unsigned_abs(),
    }
}

pub(super) fn stroke(
    chart: &mut Chart<'_, '_>,
    points: Vec<(f64, f64)>,
    style: ShapeStyle,
) -> Drawn {
    chart.plotting_area().draw(&PathElement::new(points, style))?;
    Ok(())
}

/// Draws a disc, or a ring if it is hollow.
pub(super) fn point(
    chart: &mut Chart<'_, '_>,
    at: (f64, f64),
    color: RGBColor,
    is_hollow: bool,
) -> Drawn {
    let disc = |radius: i32, color: RGBColor| -> DynElement<'static, SVGBackend<'_>, (f64, f64)> {
        Circle::new(at, radius, color.filled()).into_dyn()
    };
    chart.plotting_area().draw(&disc(5 * UNIT, color))?;
    if is_hollow {
        chart.plotting_area().draw(&disc(3 * UNIT, PAPER))?;
    }
    Ok(())
}

pub(super) fn text(
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
