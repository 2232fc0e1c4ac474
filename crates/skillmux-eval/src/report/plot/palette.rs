//! The colours of plots, in light and dark surroundings.

use plotters::style::RGBColor;

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
pub(super) const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
pub(super) const MUTED: RGBColor = RGBColor(0x5E, 0x67, 0x72);
pub(super) const GRID: RGBColor = RGBColor(0xE2, 0xE5, 0xE9);
pub(super) const PAPER: RGBColor = RGBColor(0xFF, 0xFE, 0xFD);
pub(super) const GOOD: RGBColor = RGBColor(0x1A, 0x85, 0x53);
pub(super) const BAD: RGBColor = RGBColor(0xC4, 0x32, 0x43);

/// Returns the colour of the system at a position.
pub(super) fn series(system: usize) -> RGBColor {
    SERIES[system % SERIES.len()].0
}
