//! Fits the embedded models. Deterministic: the same examples give the same model.

mod calibration;
mod encoder;
mod random;
mod ranker;

pub use calibration::{COVERAGE, CalibrationExample, fit_calibration};
pub use encoder::{
    EncoderData, EncoderOptions, FalseNegativeFilter, LOG, LogLine, NegativeCounts, NegativeSource,
    PLOT, RunFolder, RunStart, Scores, TrainedEncoder, train_encoder,
};
pub use ranker::{
    Fold, NearDuplicates, QueryScores, RankerData, RankerExamples, RankerLoss, RankerOptions,
    RankerScores, TrainedRanker,
};
