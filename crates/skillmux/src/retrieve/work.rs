//! [`WorkWeights`]: whether a query asks for work at all, told by its vector.

use serde::{Deserialize, Serialize};

use crate::model::EncoderIdentity;

/// Log-odds beyond which more says nothing more.
const MAX_LOG_ODDS: f32 = 8.0;

/// A stored number is in so many parts of one.
const STEPS: f32 = 1000.0;

/// A network that tells work from talk: it reads the vector of a query and says how likely the
/// query asks for something that a skill could help with. Thanks, small talk and questions of
/// general knowledge do not.
///
/// It has one hidden layer of rectified units. Plain numbers, in thousandths: `skillmux train work`
/// fits them to the vectors of one encoder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WorkFile", into = "WorkFile")]
pub struct WorkWeights(WorkFile);

/// The file of the weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkFile {
    encoder: EncoderIdentity,
    /// One for each hidden unit.
    hidden: Vec<HiddenUnit>,
    /// Log-odds without any unit.
    bias: i32,
}

/// A hidden unit: `max(0, bias + input · vector)` times `output` is what it adds to the log-odds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HiddenUnit {
    bias: i32,
    output: i32,
    /// One for each dimension of the encoder.
    input: Vec<i32>,
}

/// A hidden unit of a network that is trained.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkUnit {
    /// Added to the product of input and vector.
    pub bias: f32,
    /// What the unit counts.
    pub output: f32,
    /// One number for each dimension of the encoder.
    pub input: Vec<f32>,
}

impl WorkWeights {
    /// Returns a network over the vectors of this encoder, its numbers rounded to thousandths;
    /// `None` if a unit has not as many inputs as the encoder has dimensions, or a number is not
    /// finite.
    pub fn new(encoder: EncoderIdentity, units: &[WorkUnit], bias: f32) -> Option<Self> {
        let numbers =
            units.iter().flat_map(|unit| unit.input.iter().chain([&unit.bias, &unit.output]));
        if !numbers.chain([&bias]).all(|number| number.is_finite()) {
            return None;
        }
        let hidden = units.iter().map(|unit| HiddenUnit {
            bias: thousandths(unit.bias),
            output: thousandths(unit.output),
            input: unit.input.iter().copied().map(thousandths).collect(),
        });
        let file = WorkFile { encoder, hidden: hidden.collect(), bias: thousandths(bias) };
        Self::try_from(file).ok()
    }

    /// Returns the encoder whose vectors it reads.
    pub fn encoder(&self) -> &EncoderIdentity {
        &self.0.encoder
    }

    /// Returns the log-odds that a query with this vector asks for work, within 8 of 0; 0 for a
    /// vector of another length.
    pub fn log_odds(&self, vector: &[f32]) -> f32 {
        if vector.len() != self.0.encoder.dim as usize {
            return 0.0;
        }
        let mut sum = of_thousandths(self.0.bias);
        for HiddenUnit { bias, output, input } in &self.0.hidden {
            let products = input.iter().zip(vector).map(|(weight, x)| of_thousandths(*weight) * x);
            let excited = f32::max(of_thousandths(*bias) + products.sum::<f32>(), 0.0);
            sum += of_thousandths(*output) * excited;
        }
        sum.clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
    }

    /// Returns the log-odds as a share of their limit, in `[-1, 1]`: a signal of a query.
    pub(super) fn signal(&self, vector: &[f32]) -> f32 {
        self.log_odds(vector) / MAX_LOG_ODDS
    }
}

#[expect(clippy::cast_possible_truncation, reason = "weights are small, and a cast saturates")]
fn thousandths(number: f32) -> i32 {
    (number * STEPS).round() as i32
}

fn of_thousandths(number: i32) -> f32 {
    number as f32 / STEPS
}

impl TryFrom<WorkFile> for WorkWeights {
    type Error = String;

    fn try_from(file: WorkFile) -> Result<Self, String> {
        let dim = file.encoder.dim as usize;
        match file.hidden.iter().find(|unit| unit.input.len() != dim) {
            Some(unit) => Err(format!(
                "a hidden unit has {} inputs, but the encoder has {dim} dimensions",
                unit.input.len()
            )),
            None => Ok(Self(file)),
        }
    }
}

impl From<WorkWeights> for WorkFile {
    fn from(WorkWeights(file): WorkWeights) -> Self {
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoder() -> EncoderIdentity {
        EncoderIdentity { name: "test".to_owned(), dim: 2, fingerprint: "0".to_owned() }
    }

    fn unit(input: [f32; 2], bias: f32, output: f32) -> WorkUnit {
        WorkUnit { bias, output, input: input.to_vec() }
    }

    #[test]
    fn log_odds_worked_by_hand() {
        let units = [unit([1.0, 0.0], -0.5, 4.0), unit([0.0, 2.0], 0.0, -1.0)];
        let weights = WorkWeights::new(encoder(), &units, 0.25).unwrap();
        for (vector, expected) in
            [([1.0, 0.0], 2.25), ([0.0, 1.0], -1.75), ([0.25, 0.0], 0.25), ([0.0, 9.0], -8.0)]
        {
            assert!((weights.log_odds(&vector) - expected).abs() < 1e-6, "{vector:?}");
        }
        assert!(weights.log_odds(&[1.0]).abs() < f32::EPSILON);
        assert!((weights.signal(&[0.0, 9.0]) + 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn a_file_says_what_the_weights_are() {
        let weights = WorkWeights::new(encoder(), &[unit([0.1234, -3.0], 0.0, 1.0)], 0.0).unwrap();
        let json = serde_json::to_string(&weights).unwrap();
        assert!(json.contains("\"input\":[123,-3000]"), "{json}");
        assert_eq!(serde_json::from_str::<WorkWeights>(&json).unwrap(), weights);
        let cut = json.replace("[123,-3000]", "[123]");
        let error = serde_json::from_str::<WorkWeights>(&cut).unwrap_err().to_string();
        assert!(error.contains("has 1 inputs, but the encoder has 2 dimensions"), "{error}");
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        assert_eq!(WorkWeights::new(encoder(), &[unit([f32::NAN, 0.0], 0.0, 0.0)], 0.0), None);
        let short = WorkUnit { input: vec![1.0], ..WorkUnit::default() };
        assert_eq!(WorkWeights::new(encoder(), &[short], 0.0), None);
    }
}
