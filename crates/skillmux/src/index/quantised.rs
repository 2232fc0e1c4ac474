//! [`QueryVector`]: the vector of a query, as it is and [`Quantised`].

/// Most of a quantised number; -128 is not used, so that both signs have the same steps.
const MAX_STEP: f32 = 127.0;

/// The vector of a query, ready for vectors of every kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryVector {
    /// As the encoder gave it.
    pub(super) numbers: Vec<f32>,
    /// For vectors of bytes.
    pub(super) quantised: Quantised,
}

impl QueryVector {
    /// Returns the vector of a query from its numbers.
    pub(crate) fn of(numbers: Vec<f32>) -> Self {
        let quantised = Quantised::of(&numbers);
        Self { numbers, quantised }
    }

    /// Returns the vector as the encoder gave it.
    pub(crate) fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// Returns whether the vector says nothing.
    pub(crate) fn is_zero(&self) -> bool {
        self.quantised.scale <= 0.0
    }
}

/// A vector in steps of its scale.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantised {
    pub(super) scale: f32,
    /// Within 127 of 0; wider than they are stored, for products of these are fast.
    pub(super) steps: Vec<i16>,
}

impl Quantised {
    /// Rounds a vector to 127 steps either side of 0.
    pub(super) fn of(vector: &[f32]) -> Self {
        let most = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let scale = most / MAX_STEP;
        let step = |x: &f32| if scale > 0.0 { nearest(x / scale) } else { 0 };
        Self { scale, steps: vector.iter().map(step).collect() }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the value is within 127 of 0")]
fn nearest(x: f32) -> i16 {
    x.round().clamp(-MAX_STEP, MAX_STEP) as i16
}
