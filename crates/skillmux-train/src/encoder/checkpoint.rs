//! [`Checkpoint`]: everything that a run needs to go on.

use serde::{Deserialize, Serialize};

use super::{
    corpus::Corpus,
    data::Split,
    folder::{LOG, RunFolder},
    log::{LogLine, ValidationScores},
    negative::NegativeCounts,
    options::EncoderOptions,
    pair::PairKind,
    row_optimizer::RowOptimizer,
    weights::Weights,
};
use crate::{
    error::{Error, Result},
    file::replace,
    random::Random,
};

const FILE: &str = "checkpoint.bin";

/// The state of a run.
#[derive(Debug, PartialEq)]
pub(super) struct Checkpoint {
    key: String,
    pub(super) step: usize,
    pub(super) random: Random,
    pub(super) weights: Weights,
    pub(super) optimizer: RowOptimizer,
    pub(super) log: Vec<LogLine>,
    best: Weights,
}

/// The part of a checkpoint that is no array.
#[derive(Serialize, Deserialize)]
struct Header {
    key: String,
    step: usize,
    random: Random,
    n_optimizer_steps: i32,
    log: Vec<LogLine>,
}

/// Returns what two runs must have in common for one to go on from the other.
pub(super) fn key(corpus: &Corpus, split: &Split, options: &EncoderOptions) -> String {
    let mut hasher = blake3::Hasher::new();
    for term in &corpus.terms {
        hasher.update(term.as_bytes()).update(b"\n");
    }
    for queries in [&split.train, &split.held_out] {
        hasher.update(&queries.len().to_le_bytes());
        for query in queries {
            hasher.update(query.text.as_bytes()).update(b"\n");
            hasher.update(&query.gold.len().to_le_bytes());
            for idx in &query.gold {
                hasher.update(&idx.0.to_le_bytes());
            }
        }
    }
    for pairs in [&split.translations, &split.namesakes, &split.held_out_translations] {
        hasher.update(&pairs.len().to_le_bytes());
        for (one, other) in pairs {
            hasher.update(&one.0.to_le_bytes()).update(&other.0.to_le_bytes());
        }
    }
    let options = serde_json::to_vec(options).expect("numbers always serialise");
    hasher.update(&options);
    hasher.finalize().to_hex().to_string()
}

impl Checkpoint {
    pub(super) fn start(key: String, weights: Weights, random: Random) -> Self {
        let optimizer = RowOptimizer::new(weights.of_queries.len(), weights.dim);
        let best = weights.clone();
        Self { key, step: 0, random, weights, optimizer, log: Vec::new(), best }
    }

    /// Reads the checkpoint of a run that is to be resumed, if there is one.
    pub(super) fn open(run: &RunFolder<'_>, key: &str) -> Result<Option<Self>> {
        let path = run.path.join(FILE);
        let Some(bytes) = run.checkpoint(FILE)? else { return Ok(None) };
        let foreign = || Error::CheckpointForeign { path: path.clone() };
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let header: Header = serde_json::from_slice(line).map_err(|_| foreign())?;
        if header.key != key {
            return Err(foreign());
        }
        let numbers: Vec<f32> = bytes
            .get(line.len() + 1..)
            .ok_or_else(foreign)?
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        Ok(Some(Self::of(header, &numbers).ok_or_else(foreign)?))
    }

    fn of(header: Header, numbers: &[f32]) -> Option<Self> {
        let (n_rows, rest) = numbers.split_first()?;
        let (dim, mut rest) = rest.split_first()?;
        let (n_rows, dim) = (n_rows.to_bits() as usize, dim.to_bits() as usize);
        let mut take = |n: usize| -> Option<Vec<f32>> {
            let (taken, left) = rest.split_at_checked(n)?;
            rest = left;
            Some(taken.to_vec())
        };
        let mut weights = || -> Option<Weights> {
            Some(Weights { dim, vectors: take(n_rows * dim)?, of_queries: take(n_rows)? })
        };
        let (current, best) = (weights()?, weights()?);
        let mut optimizer = RowOptimizer::new(n_rows, dim);
        optimizer.n_steps = header.n_optimizer_steps;
        for shard in &mut optimizer.shards {
            shard.adam.means = take(shard.adam.means.len())?;
            shard.adam.squares = take(shard.adam.squares.len())?;
        }
        optimizer.of_queries.means = take(n_rows)?;
        optimizer.of_queries.squares = take(n_rows)?;
        let Header { key, step, random, log, .. } = header;
        Some(Self { key, step, random, weights: current, optimizer, log, best })
    }

    /// Returns the position of the best round in the log, the last of those that tie.
    fn best_round(&self) -> Option<usize> {
        let score = |at: &usize| self.log[*at].scores.recall_at_10;
        (0..self.log.len()).max_by(|a, b| score(a).total_cmp(&score(b)))
    }

    pub(super) fn n_rounds_since_best(&self) -> usize {
        self.best_round().map_or(0, |best| self.log.len() - 1 - best)
    }

    /// Ends a round.
    pub(super) fn note(&mut self, line: LogLine) {
        self.log.push(line);
        if self.n_rounds_since_best() == 0 {
            self.best = self.weights.clone();
        }
    }

    /// Returns the weights of the best round, and what it did.
    pub(super) fn into_best(mut self) -> (Weights, LogLine) {
        let best = self.best_round().map(|best| self.log.swap_remove(best));
        let nothing = LogLine {
            round: 0,
            step: 0,
            learning_rate: 0.0,
            losses: [0.0; PairKind::N],
            negatives: NegativeCounts::default(),
            scores: ValidationScores::default(),
        };
        (self.best, best.unwrap_or(nothing))
    }

    /// Writes the checkpoint and the log.
    pub(super) fn save(&self, run: &RunFolder<'_>) -> Result<()> {
        let header = Header {
            key: self.key.clone(),
            step: self.step,
            random: self.random.clone(),
            n_optimizer_steps: self.optimizer.n_steps,
            log: self.log.clone(),
        };
        let mut bytes = serde_json::to_vec(&header).expect("a log always serialises");
        bytes.push(b'\n');
        let Weights { dim, of_queries, .. } = &self.weights;
        for n in [of_queries.len(), *dim] {
            let n = u32::try_from(n).expect("a vocabulary is small");
            bytes.extend(n.to_le_bytes());
        }
        let mut put = |numbers: &[f32]| bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        for Weights { vectors, of_queries, .. } in [&self.weights, &self.best] {
            put(vectors);
            put(of_queries);
        }
        for shard in &self.optimizer.shards {
            put(&shard.adam.means);
            put(&shard.adam.squares);
        }
        put(&self.optimizer.of_queries.means);
        put(&self.optimizer.of_queries.squares);
        replace(&run.path.join(FILE), &bytes)?;
        let line =
            |line: &LogLine| serde_json::to_string(line).expect("a log always serialises") + "\n";
        replace(&run.path.join(LOG), self.log.iter().map(line).collect::<String>().as_bytes())
    }
}
