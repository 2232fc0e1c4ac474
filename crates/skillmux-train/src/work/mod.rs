//! Trains the [`WorkWeights`] that tell work from talk.
//!
//! Tasks that a skill answers are work. Requests that need none are talk: thanks, small talk,
//! questions of general knowledge. A small network over the vector of an encoder tells them apart.

mod fit;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use skillmux::{model::Encoder, retrieve::WorkWeights, skill::SkillId};
use skillmux_eval::metric::abstention::{Judged, auroc};

pub use self::fit::WorkOptions;
use self::fit::{Example, fit};
use crate::{error::Result, file::lines, split::key_of_name};

/// Texts that are encoded together.
const N_TOGETHER: usize = 256;

/// One skill, or one request without a skill, in so many is held out.
const HELD_OUT_ONE_IN: u64 = 5;

#[derive(Deserialize)]
struct RequestLine {
    query: String,
    #[serde(default)]
    skill_ids: Vec<SkillId>,
}

/// Requests, of which it is known whether they ask for work.
#[derive(Debug, Clone, Default)]
pub struct WorkExamples {
    requests: Vec<Request>,
}

#[derive(Debug, Clone)]
struct Request {
    text: String,
    is_work: bool,
    is_held_out: bool,
}

/// How well work is told from talk that was held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkScores {
    /// Requests for work, and others.
    pub n: [usize; 2],
    /// Chance that a request for work has the higher log-odds, in `[0, 1]`; NaN without one of
    /// each.
    pub auroc: f64,
    /// Share that is told rightly, in `[0, 1]`, of requests for work and of others.
    pub accuracy: [f64; 2],
}

impl WorkExamples {
    /// Reads requests for work and others, plain or `.zst`: `{"query", "skill_ids"}` a line, other
    /// fields are ignored. All requests with the same first skill are held out together.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read) and [`Error::TrainingData`](crate::Error::TrainingData).
    pub fn read(work: &[PathBuf], talk: &[PathBuf]) -> Result<Self> {
        let mut examples = Self::default();
        for (paths, is_work) in [(work, true), (talk, false)] {
            for path in paths {
                examples.add(path, is_work)?;
            }
        }
        Ok(examples)
    }

    fn add(&mut self, path: &Path, is_work: bool) -> Result<()> {
        for RequestLine { query, skill_ids } in lines(path, "a request with `query`")? {
            let key = skill_ids.first().map_or(query.as_str(), SkillId::as_str);
            let is_held_out = is_held_out(key);
            self.requests.push(Request { text: query, is_work, is_held_out });
        }
        Ok(())
    }

    /// Returns the number of requests for work, and of others.
    pub fn n(&self) -> [usize; 2] {
        [true, false].map(|is_work| self.requests.iter().filter(|r| r.is_work == is_work).count())
    }

    /// Returns the weights that fit all requests, and how those that fit the others tell the
    /// held-out ones.
    ///
    /// Requests that say nothing to the encoder are left out.
    ///
    /// # Errors
    /// What the encoder says.
    ///
    /// # Panics
    /// Never, by the contract of the encoder: its vectors are finite, and have its dimension.
    pub fn fit(
        &self,
        encoder: &dyn Encoder,
        options: WorkOptions,
    ) -> Result<(WorkWeights, WorkScores)> {
        let dim = encoder.dim();
        let vectors = self.vectors(encoder)?;
        let examples: Vec<(bool, Example<'_>)> = self
            .requests
            .iter()
            .zip(vectors.chunks(dim))
            .filter(|(_, vector)| vector.iter().any(|x| x.abs() > 0.0))
            .map(|(request, vector)| {
                (request.is_held_out, Example { vector, is_work: request.is_work })
            })
            .collect();
        let fitted_to = |examples: &[Example<'_>]| {
            let (units, bias) = fit(examples, dim, options);
            WorkWeights::new(encoder.identity().clone(), &units, bias)
                .expect("a fit of finite vectors is finite, and has their dimension")
        };
        let of = |is_wanted: &dyn Fn(bool) -> bool| -> Vec<Example<'_>> {
            let wanted = examples.iter().filter(|(is_held_out, _)| is_wanted(*is_held_out));
            wanted.map(|(_, example)| *example).collect()
        };
        let held_out = of(&|is_held_out| is_held_out);
        let scores = WorkScores::of(&fitted_to(&of(&|is_held_out| !is_held_out)), &held_out);
        Ok((fitted_to(&of(&|_| true)), scores))
    }

    /// Returns the vectors of all requests, `[n_requests, dim]`, row-major.
    fn vectors(&self, encoder: &dyn Encoder) -> Result<Vec<f32>> {
        let mut vectors = Vec::with_capacity(self.requests.len() * encoder.dim());
        for requests in self.requests.chunks(N_TOGETHER) {
            let texts: Vec<&str> = requests.iter().map(|request| request.text.as_str()).collect();
            vectors.extend(encoder.encode_queries(&texts)?);
        }
        Ok(vectors)
    }
}

impl WorkScores {
    fn of(weights: &WorkWeights, examples: &[Example<'_>]) -> Self {
        let judged: Vec<Judged> = examples
            .iter()
            .map(|example| Judged {
                confidence: weights.log_odds(example.vector),
                answerable: example.is_work,
            })
            .collect();
        let of = |is_work: bool| judged.iter().filter(move |one| one.answerable == is_work);
        let n = [true, false].map(|is_work| of(is_work).count());
        let n_right = [true, false]
            .map(|is_work| of(is_work).filter(|one| (one.confidence > 0.0) == is_work).count());
        let accuracy = std::array::from_fn(|at| n_right[at] as f64 / n[at].max(1) as f64);
        Self { n, auroc: auroc(&judged), accuracy }
    }
}

/// Returns whether requests of a key are kept for the scores.
fn is_held_out(key: &str) -> bool {
    key_of_name(key).is_multiple_of(HELD_OUT_ONE_IN)
}

#[cfg(test)]
mod tests {
    use skillmux_models::encoder;

    use super::*;

    fn file(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, lines.join("\n")).unwrap();
        path
    }

    #[test]
    fn requests_of_one_skill_are_held_out_together() {
        let folder = tempfile::tempdir().unwrap();
        let line = |skill: usize, query: usize| {
            format!("{{\"query\":\"task {skill} {query}\",\"skill_ids\":[\"s{skill}\"]}}")
        };
        let lines: Vec<String> =
            (0..100).flat_map(|skill| (0..3).map(move |query| line(skill, query))).collect();
        let path = file(folder.path(), "work.jsonl", &lines);
        let examples = WorkExamples::read(&[path], &[]).unwrap();
        assert_eq!(examples.n(), [300, 0]);
        let held_out = |request: &Request| request.is_held_out;
        for of_skill in examples.requests.chunks(3) {
            assert!(of_skill.iter().all(held_out) || !of_skill.iter().any(held_out));
        }
        let n = examples.requests.iter().filter(|request| held_out(request)).count();
        assert!((30..90).contains(&n), "{n}");
    }

    #[test]
    fn work_is_told_from_talk_that_was_not_seen() {
        let folder = tempfile::tempdir().unwrap();
        let request = |text: String| format!("{{\"query\":\"{text}\"}}");
        let (verbs, things) =
            (["convert", "deploy", "write", "clean", "fix"], ["report", "server", "table", "test"]);
        let work: Vec<String> = verbs
            .iter()
            .flat_map(|verb| things.map(|thing| request(format!("{verb} the {thing} of the team"))))
            .collect();
        let (moods, times) = (
            ["thanks", "hello", "sorry", "lovely", "goodbye"],
            ["today", "again", "friend", "all"],
        );
        let talk: Vec<String> = moods
            .iter()
            .flat_map(|mood| times.map(|time| request(format!("{mood} my dear {time}"))))
            .collect();
        let work = file(folder.path(), "work.jsonl", &work);
        let talk = file(folder.path(), "talk.jsonl", &talk);
        let options = WorkOptions { n_units: 8, n_steps: 100 };
        let examples = WorkExamples::read(&[work], &[talk]).unwrap();
        let (weights, scores) = examples.fit(&encoder(), options).unwrap();
        assert!(scores.n.iter().all(|n| *n > 0), "{scores:?}");
        assert!(scores.auroc > 0.95, "{scores:?}");
        let log_odds = |text: &str| weights.log_odds(&encoder().encode_queries(&[text]).unwrap());
        assert!(log_odds("clean the server") > 0.0 && log_odds("hello friend") < 0.0);
    }
}
