//! Draws the losses and scores of a run.

use std::path::Path;

use plotters::prelude::*;

use super::{log::LogLine, pair::PairKind};
use crate::error::{Error, Result};

const SIZE: (u32, u32) = (900, 720);

/// Writes the plot of a run as SVG.
pub(super) fn draw(log: &[LogLine], path: &Path) -> Result<()> {
    try_draw(log, path).map_err(|source| Error::Plot { path: path.to_owned(), source })
}

type PlotResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;

fn try_draw(log: &[LogLine], path: &Path) -> PlotResult {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (upper, lower) = area.split_vertically(SIZE.1 / 2);
    let losses = PairKind::ALL.into_iter().map(|kind| {
        let points = log.iter().map(|line| (line.step, line.losses[kind as usize]));
        (kind.as_str(), points.filter(|(_, loss)| *loss > 0.0).collect())
    });
    panel(&upper, "loss", losses.collect())?;
    let score = |name: &'static str, of: fn(&LogLine) -> f32| -> Curve {
        (name, log.iter().map(|line| (line.step, of(line))).collect())
    };
    let scores = vec![
        score("Recall@10 with BM25", |line| line.scores.recall_at_10),
        score("BM25 alone", |line| line.scores.lexical_recall_at_10),
        score("encoder alone", |line| line.scores.dense_recall_at_10),
        score("zh to en", |line| line.scores.zh_to_en),
        score("en to zh", |line| line.scores.en_to_zh),
    ];
    panel(&lower, "held out", scores)?;
    area.present()?;
    Ok(())
}

type Curve = (&'static str, Vec<(usize, f32)>);

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    curves: Vec<Curve>,
) -> PlotResult {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let last = points().map(|(step, _)| *step).max().unwrap_or(1).max(1);
    let most = points().map(|(_, value)| *value).fold(0.1, f32::max) * 1.05;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(28)
        .y_label_area_size(44)
        .build_cartesian_2d(0..last, 0.0_f32..most)?;
    chart.configure_mesh().x_desc("step").draw()?;
    for (position, (name, points)) in curves.into_iter().enumerate() {
        let colour = Palette99::pick(position).to_rgba();
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(2))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        super::{log::ValidationScores, negative::NegativeCounts},
        *,
    };

    #[test]
    fn a_plot_shows_every_curve() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("loss.svg");
        let line = |round: usize| LogLine {
            round,
            step: 100 * round,
            learning_rate: 0.01,
            losses: [2.0 / round as f32; PairKind::N],
            negatives: NegativeCounts::default(),
            scores: ValidationScores::default(),
        };
        draw(&[line(1), line(2)], &path).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        let kinds = PairKind::ALL.map(PairKind::as_str);
        for name in kinds.iter().chain(&["Recall@10 with BM25", "zh to en"]) {
            assert!(svg.contains(name), "{name}");
        }
    }
}
