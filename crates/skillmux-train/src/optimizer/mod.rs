//! How weights are found: [`Adam`] where there are many or the loss has kinks, and Newton's method
//! (`newton`) for the few of a logistic regression ([`logistic`]), whose loss has one minimum and a
//! curvature that is cheap: there it needs no learning rate and ends exact to the last digits.

mod adam;
mod logistic;
mod newton;

pub(crate) use adam::{Adam, Pace, cosine_decay};
pub(crate) use logistic::{Labelled, logistic, rounded, with_bias};
