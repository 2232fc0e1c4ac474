//! [`Tested`]: a paired test, and the correction for the number of tests.

use serde::{Deserialize, Serialize};

use crate::{
    metric::{Direction, Measure},
    stats::{self, BootstrapConfig},
};

/// A difference with a lower chance of error is marked.
pub(crate) const SIGNIFICANCE: f64 = 0.05;

/// A paired test of a system against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// Name of the measure.
    pub measure: String,
    /// Mean difference, system less baseline; of the distances from zero where values near zero are
    /// better.
    pub difference: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Tasks that both have a value for.
    pub n: usize,
    /// Tasks on which the system is better, whatever the direction of the measure.
    pub n_wins: usize,
    /// Tasks on which the baseline is better.
    pub n_losses: usize,
    /// Tasks on which they are equal.
    pub n_ties: usize,
    /// Two-sided p of the paired bootstrap.
    pub p_bootstrap: f64,
    /// Two-sided p of Wilcoxon's signed-rank test.
    pub p_wilcoxon: f64,
    /// The larger of the two, corrected after Holm; of headline measures only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// Whether the corrected p is low enough for a mark.
    pub is_significant: bool,
}

impl Tested {
    /// Tests a column of a system against one of another.
    pub(crate) fn new(
        measure: &Measure,
        system: &[Option<f64>],
        baseline: &[Option<f64>],
        config: &BootstrapConfig,
    ) -> Self {
        let both = baseline.iter().zip(system).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
        let (of_baseline, of_system): (Vec<f64>, Vec<f64>) = both.unzip();
        // Else values on both sides of zero would make up for each other.
        let compared = |values: &[f64]| match measure.direction {
            Direction::NearZeroIsBetter => values.iter().map(|value| value.abs()).collect(),
            _ => values.to_vec(),
        };
        let test = stats::compare_paired(&compared(&of_baseline), &compared(&of_system), config);
        let pairs = of_baseline.iter().zip(&of_system);
        let gains: Vec<f64> = pairs.map(|(a, b)| gain(measure.direction, *a, *b)).collect();
        let count = |is: fn(&f64) -> bool| gains.iter().copied().filter(is).count();
        Self {
            measure: measure.name.to_owned(),
            difference: test.mean_difference,
            low: test.low,
            high: test.high,
            n: test.n,
            n_wins: count(|gain| *gain > 0.0),
            n_losses: count(|gain| *gain < 0.0),
            n_ties: count(|gain| *gain == 0.0),
            p_bootstrap: test.p_bootstrap,
            p_wilcoxon: test.p_wilcoxon,
            p_holm: None,
            is_significant: false,
        }
    }

    /// Returns the larger p of the two tests, so that a mark needs both.
    ///
    /// The bootstrap tests the mean that is shown, but is too sure of itself on few tasks;
    /// Wilcoxon's test holds on few tasks, but is about ranks.
    pub(crate) fn p(&self) -> f64 {
        self.p_bootstrap.max(self.p_wilcoxon)
    }
}

/// Differences below are rounding.
pub(crate) const NOISE: f64 = 1e-9;

/// Returns by how much a value is better than another one; below 0 if it is worse.
pub(crate) fn gain(direction: Direction, from: f64, to: f64) -> f64 {
    let gain = match direction {
        Direction::HigherIsBetter => to - from,
        Direction::LowerIsBetter => from - to,
        Direction::NearZeroIsBetter => from.abs() - to.abs(),
    };
    if gain.abs() < NOISE { 0.0 } else { gain }
}

/// Corrects the tests for their number after Holm (1979): the i-th smallest of m is multiplied by
/// m - i + 1, and none becomes smaller than the one before it. Returns their number.
pub(crate) fn correct<'a>(tests: impl Iterator<Item = &'a mut Tested>) -> usize {
    let mut tests: Vec<&mut Tested> = tests.collect();
    tests.sort_by(|a, b| a.p().total_cmp(&b.p()));
    let n_tests = tests.len();
    let mut floor: f64 = 0.0;
    for (at, test) in tests.into_iter().enumerate() {
        floor = floor.max((test.p() * (n_tests - at) as f64).min(1.0));
        test.p_holm = Some(floor);
        test.is_significant = floor < SIGNIFICANCE;
    }
    n_tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::measures;

    fn tested(p: f64) -> Tested {
        Tested {
            measure: String::new(),
            difference: 0.0,
            low: 0.0,
            high: 0.0,
            n: 9,
            n_wins: 0,
            n_losses: 0,
            n_ties: 9,
            p_bootstrap: p / 2.0,
            p_wilcoxon: p,
            p_holm: None,
            is_significant: false,
        }
    }

    /// `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` of R is 0.03 0.06 0.06 0.02.
    #[test]
    fn correction_is_that_of_holm() {
        let mut tests = [0.01, 0.04, 0.03, 0.005].map(tested);
        assert_eq!(correct(tests.iter_mut()), 4);
        let corrected = tests.iter().map(|test| test.p_holm.unwrap());
        for (found, expected) in corrected.zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(tests.map(|test| test.is_significant), [true, false, false, true]);
    }

    #[test]
    fn values_on_both_sides_of_zero_do_not_make_up_for_each_other() {
        let measure = measures().iter().find(|m| m.name == "Cardinality difference").unwrap();
        let column = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let wide = column(&[3.0, -3.0].repeat(20));
        let exact = column(&[0.0, 0.0].repeat(20));
        let found = Tested::new(measure, &exact, &wide, &BootstrapConfig::default());
        assert!((found.difference + 3.0).abs() < 1e-12 && found.p() < 0.01, "{found:?}");
        assert_eq!((found.n_wins, found.n_losses), (40, 0));
    }

    #[test]
    fn a_gain_is_in_the_direction_of_the_measure() {
        let gains = |from, to| {
            use Direction::{HigherIsBetter, LowerIsBetter, NearZeroIsBetter};
            [HigherIsBetter, LowerIsBetter, NearZeroIsBetter].map(|of| gain(of, from, to))
        };
        assert_eq!(gains(-2.0, 1.0).map(|gain| gain > 0.0), [true, false, true]);
        assert_eq!(gains(0.1 + 0.2, 0.3).map(|gain| gain.abs() > 0.0), [false; 3]);
    }
}
