//! Curves with their names at their ends.

use plotters::style::text_anchor::HPos;

use super::{
    axis::Axis,
    canvas::{
        Drawing, LABEL_STEP, Margins, UNIT, WIDTH, chart, draw, label_width, pixels, point, stroke,
        stroke_of, text,
    },
    palette::{MUTED, series},
};
use crate::printable::clipped;

/// How the points of a curve are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    /// By lines; the last point is marked.
    Line,
    /// By steps; the last point is marked.
    Step,
    /// By lines; every point is marked, with its label where there is room.
    Labelled,
}

/// A curve.
pub(crate) struct Curve {
    pub(crate) name: String,
    /// Position of the system, for its colour.
    pub(crate) system: usize,
    pub(crate) points: Vec<(f64, f64)>,
    /// What stands beside each point, for [`Joint::Labelled`].
    pub(crate) labels: Vec<String>,
}

/// Returns curves with their names at their ends.
pub(crate) fn curves(lines: &[Curve], (x, y): (&Axis, &Axis), joint: Joint) -> Drawing {
    const HEIGHT: i32 = 360;
    let names: Vec<String> = lines.iter().map(|line| clipped(&line.name, 30)).collect();
    let right = names.iter().map(|name| label_width(name)).max().unwrap_or(0) + 20;
    let n_labels = pixels(lines.len());
    let height = HEIGHT.max(n_labels * LABEL_STEP + 80);
    draw((WIDTH, height), |area| {
        let margins = Margins { left: 56, right, top: 28, bottom: 44 };
        let mut chart = chart(area, x, y, margins)?;
        text(area, y.title, (8, 10), MUTED, HPos::Left, false)?;
        text(area, x.title, (WIDTH - right, height - 8), MUTED, HPos::Right, false)?;
        let mut ends: Vec<(usize, i32, f64)> = Vec::new();
        let mut labelled: Vec<(i32, i32)> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let Some(end) = line.points.last() else { continue };
            let mut points = line.points.clone();
            if joint == Joint::Step {
                let corners = line.points.windows(2).flat_map(|w| [w[0], (w[1].0, w[0].1)]);
                points = corners.chain([*end]).collect();
            }
            let color = series(line.system);
            if points.len() > 1 {
                stroke(&mut chart, points, stroke_of(color, 2))?;
            }
            point(&mut chart, *end, color, false)?;
            let below = if line.system.is_multiple_of(2) { 12 } else { -12 };
            for (at, label) in line.points.iter().zip(&line.labels) {
                point(&mut chart, *at, color, false)?;
                let (dot_x, dot_y) = chart.backend_coord(at);
                let (label_x, label_y) = (dot_x / UNIT, dot_y / UNIT + below);
                // One that would cover another is left out.
                let is_near = |(x, y): &(i32, i32)| {
                    (x - label_x).abs() < label_width(label) && (y - label_y).abs() < LABEL_STEP
                };
                if !labelled.iter().any(is_near) {
                    labelled.push((label_x, label_y));
                    text(area, label, (label_x, label_y), color, HPos::Center, false)?;
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_apart_and_inside() {
        assert_eq!(apart(&[50, 51, 52], 0, 100), [50, 66, 82]);
        assert_eq!(apart(&[95, 95, 95], 0, 100), [68, 84, 100]);
    }
}
