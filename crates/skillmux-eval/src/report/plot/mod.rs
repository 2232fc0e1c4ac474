//! Plots as SVG to stand inside a page, whose style sheet gives the colours.

mod axis;
mod bars;
mod canvas;
mod crosses;
mod curves;
mod dots;
mod palette;

pub(super) use axis::Axis;
pub(super) use bars::{Differences, differences};
pub(super) use canvas::Drawing;
pub(super) use crosses::crosses;
pub(super) use curves::{Curve, Joint, curves};
pub(super) use dots::{Dot, Panel, dots};
pub(super) use palette::{SERIES, TONES};
