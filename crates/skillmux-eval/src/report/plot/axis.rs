//! [`Axis`]: an axis with its ticks.

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

    pub(super) fn contains(&self, value: f64) -> bool {
        let margin = (self.high - self.low) * 1e-9;
        value >= self.low - margin && value <= self.high + margin
    }
}

/// Returns whether a number is whole but for rounding.
pub(super) fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
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
}
