//! Systems as crosses of two intervals.

use plotters::style::{Color, text_anchor::HPos};

use super::{
    axis::Axis,
    canvas::{
        Drawing, LABEL_STEP, Margins, UNIT, WIDTH, chart, draw, point, stroke, stroke_of, text,
    },
    dots::Dot,
    palette::{MUTED, series},
};
use crate::printable::clipped;

/// Returns systems as crosses of two intervals, with their names beside.
pub(crate) fn crosses(systems: &[(String, usize, Dot, Dot)], (x, y): (&Axis, &Axis)) -> Drawing {
    const HEIGHT: i32 = 380;
    draw((WIDTH, HEIGHT), |area| {
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
