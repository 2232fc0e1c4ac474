//! What an option of a run must be, whoever wrote it.

use std::fmt::Display;

use crate::error::{Error, Result};

pub(crate) fn at_least_one(name: &'static str, value: usize) -> Result<()> {
    check(name, value, value > 0, "1 or more")
}

pub(crate) fn finite(name: &'static str, value: impl Number) -> Result<()> {
    check(name, value, value.into().is_finite(), "a finite number")
}

pub(crate) fn positive(name: &'static str, value: impl Number) -> Result<()> {
    let number = value.into();
    check(name, value, number.is_finite() && number > 0.0, "a finite number above 0")
}

pub(crate) fn not_negative(name: &'static str, value: impl Number) -> Result<()> {
    let number = value.into();
    check(name, value, number.is_finite() && number >= 0.0, "a finite number of 0 or more")
}

pub(crate) fn share(name: &'static str, value: impl Number) -> Result<()> {
    check(name, value, (0.0..=1.0).contains(&value.into()), "a share from 0 to 1")
}

/// Checks a share of something of which a part must be left.
pub(crate) fn share_below_one(name: &'static str, value: impl Number) -> Result<()> {
    check(name, value, (0.0..1.0).contains(&value.into()), "a share from 0 to below 1")
}

/// Returns [`Error::BadOption`] for a value that is not as it must be.
pub(crate) fn check(
    name: &'static str,
    value: impl Display,
    is_right: bool,
    expected: &'static str,
) -> Result<()> {
    if is_right {
        return Ok(());
    }
    Err(Error::BadOption { name, value: value.to_string(), expected })
}

/// A number of an option, which is shown as it was written.
pub(crate) trait Number: Copy + Display + Into<f64> {}

impl<N: Copy + Display + Into<f64>> Number for N {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_never_right() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for check in [finite, positive, not_negative, share, share_below_one] {
                assert!(check("rate", bad).is_err(), "{bad}");
            }
        }
    }

    #[test]
    fn each_bound_is_where_it_is_said_to_be() {
        let right = |check: fn(&'static str, f64) -> Result<()>| {
            [-0.1, 0.0, 0.5, 1.0, 1.1].map(|number| check("rate", number).is_ok())
        };
        assert_eq!(right(finite), [true; 5]);
        assert_eq!(right(positive), [false, false, true, true, true]);
        assert_eq!(right(not_negative), [false, true, true, true, true]);
        assert_eq!(right(share), [false, true, true, true, false]);
        assert_eq!(right(share_below_one), [false, true, true, false, false]);
        assert_eq!([0, 1, 2].map(|n| at_least_one("n", n).is_ok()), [false, true, true]);
        let error = positive("temperature", -0.05_f32).unwrap_err();
        let expected =
            "the option `temperature` is -0.05, but must be a finite number above 0".to_owned();
        assert_eq!(error.to_string(), expected);
    }
}
