//! Numbers as text, always the same way.

use indicatif::HumanCount;

/// Returns the text for a value that there is not.
pub(crate) const NONE: &str = "–";

/// Returns three decimals, as `0.712`.
pub(crate) fn fixed(value: f64) -> String {
    // Adding 0 turns -0 into 0.
    format!("{:.3}", (value * 1000.0).round() / 1000.0 + 0.0)
}

/// Returns at most four decimals, without zeros at the end.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{:.4}", (value * 10_000.0).round() / 10_000.0 + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns three decimals with their sign, as `+0.012`.
pub(crate) fn signed(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0 + 0.0;
    if rounded == 0.0 { "0.000".to_owned() } else { format!("{rounded:+.3}") }
}

/// Returns a score or a summand of one with its sign, as `+3.1`.
pub(crate) fn signed_score(value: f32) -> String {
    let rounded = (value * 100.0).round() / 100.0 + 0.0;
    if rounded == 0.0 { "0".to_owned() } else { format!("{rounded:+}") }
}

/// Returns a chance of error, as `0.031` or `<0.001`.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// Returns a number with its digits in groups of three.
pub(crate) fn grouped(n: u64) -> String {
    HumanCount(n).to_string()
}

/// Returns a time, as `850 µs` or `12.3 ms`.
pub(crate) fn time(time_us: f64) -> String {
    match time_us {
        t if t < 1_000.0 => format!("{t:.0} µs"),
        t if t < 1_000_000.0 => format!("{:.1} ms", t / 1_000.0),
        t => format!("{:.2} s", t / 1_000_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_has_no_sign() {
        assert_eq!(fixed(-0.0001), "0.000");
        assert_eq!(signed(-0.0001), "0.000");
        assert_eq!(signed(0.0126), "+0.013");
        assert_eq!(signed_score(-3.104), "-3.1");
        assert_eq!(signed_score(0.001), "0");
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
