//! The style sheet of the page.

use askama::Template;
use plotters::style::RGBColor;

use crate::report::plot::{SERIES, TONES};

/// The style sheet. Plots name light colours; the sheet puts its own in their place.
#[derive(Template)]
#[template(path = "style.css", escape = "none")]
struct Style {
    tones: Vec<Tone>,
}

/// A colour with its name.
struct Tone {
    name: String,
    light: String,
    dark: &'static str,
    /// Whether it is that of a system.
    is_series: bool,
}

/// Returns the style sheet.
pub(super) fn style() -> String {
    let hex = |RGBColor(red, green, blue): RGBColor| format!("#{red:02X}{green:02X}{blue:02X}");
    let tone = |(name, light, dark): (&str, RGBColor, &'static str)| Tone {
        name: name.to_owned(),
        light: hex(light),
        dark,
        is_series: false,
    };
    let series = |(at, (light, dark)): (usize, (RGBColor, &'static str))| Tone {
        name: format!("s{at}"),
        light: hex(light),
        dark,
        is_series: true,
    };
    let tones = TONES.into_iter().map(tone).chain((0..).zip(SERIES).map(series));
    let sheet = Style { tones: tones.collect() };
    sheet.render().expect("nothing fails to be written to memory") + "\n"
}
