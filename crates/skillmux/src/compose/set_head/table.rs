//! [`SetTable`]: shares of all candidates in the rankings of a task and of its parts.

use std::collections::{BTreeMap, BTreeSet};

use super::SetFeatures;
use crate::{
    compose::{Considered, StepCandidates},
    decompose::is_request,
    query::Need,
    retrieve::log_odds_shares,
    skill::SkillId,
};

/// Candidates of a ranking that count: no more, so that features do not depend on how many a plan
/// may load.
const N_LISTED: usize = 10;

/// Log-odds below the best that count as far below.
const FAR_BELOW: f32 = 8.0;

/// Log-odds that count, from nearly impossible to what only a skill has that the task names.
const LOG_ODDS: [f32; 2] = [-4.0, 15.0];

/// As many parts as are told from more.
const MANY_PARTS: f32 = 8.0;

/// As many skills as a plan has at most.
const MANY_SKILLS: f32 = 6.0;

/// Share from which on a skill serves a part in which another one comes first.
const SERVES: f32 = 0.3;

/// Confidence from which on a part is surer of a skill than not.
const SURE: f32 = 0.5;

/// Shares of all candidates in the rankings of a task and of its parts, which are by log-odds.
#[derive(Debug, Clone, PartialEq)]
pub struct SetTable {
    rows: BTreeMap<SkillId, Row>,
    n_parts: usize,
    n_sure_parts: usize,
    /// How many parts are expected to ask for something.
    n_asking: f32,
    /// Whether a model told which parts ask.
    is_long: bool,
    n_skills: usize,
    confidence: f32,
    top_share: f32,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Row {
    share: f32,
    /// Place in the ranking of the whole task, from 1.
    place: Option<usize>,
    below_best: Option<f32>,
    log_odds: Option<f32>,
    parts: Vec<PartShare>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct PartShare {
    part: usize,
    share: f32,
    confidence: f32,
    is_first: bool,
    /// How likely the part asks for something.
    asks: f32,
    log_odds: f32,
    below_best: f32,
}

impl PartShare {
    fn worth(&self) -> f32 {
        self.share * self.confidence
    }

    fn asking_confidence(&self) -> f32 {
        self.asks * self.confidence
    }

    fn is_served(&self) -> bool {
        self.is_first || self.share > SERVES
    }
}

impl SetTable {
    /// Returns the table of the steps of a task in a library of `n_skills`: the task as a whole,
    /// then its parts if it has any.
    pub fn new(steps: &[StepCandidates], n_skills: usize) -> Self {
        let mut rows: BTreeMap<SkillId, Row> = BTreeMap::new();
        let (whole, parts) = steps.split_first().map_or((None, steps), |(w, p)| (Some(w), p));
        let best = |step: &StepCandidates| step.candidates.first().map_or(0.0, score);
        for (number, (considered, share)) in whole.into_iter().flat_map(shares).enumerate() {
            let row = rows.entry(considered.id().clone()).or_default();
            row.share = share;
            row.place = Some(number + 1);
            row.below_best = whole.map(|whole| score(considered) - best(whole));
            row.log_odds = Some(score(considered));
        }
        let n_asking = parts.iter().map(|part| asks(&part.need)).sum();
        for (number, part) in parts.iter().enumerate() {
            let confidence = part.judgement.confidence.unwrap_or(0.0);
            let asks = asks(&part.need);
            for (place, (considered, share)) in shares(part).enumerate() {
                let row = rows.entry(considered.id().clone()).or_default();
                row.parts.push(PartShare {
                    part: number,
                    share,
                    confidence,
                    is_first: place == 0,
                    asks,
                    log_odds: score(considered),
                    below_best: score(considered) - best(part),
                });
            }
        }
        let confidence = |step: &StepCandidates| step.judgement.confidence.unwrap_or(0.0);
        Self {
            n_parts: parts.len(),
            n_sure_parts: parts.iter().filter(|part| confidence(part) >= SURE).count(),
            n_asking,
            is_long: parts.iter().any(|part| part.need.asks().is_some()),
            n_skills,
            confidence: whole.map_or(0.0, confidence),
            top_share: rows.values().map(|row| row.share).fold(0.0, f32::max),
            rows,
        }
    }

    /// Returns all candidates, by id.
    pub fn candidates(&self) -> impl Iterator<Item = &SkillId> {
        self.rows.keys()
    }

    /// Returns the part in which its share times the confidence is largest, counted from 0; of equals
    /// the first one. `None` if no part lists it.
    pub fn best_part(&self, skill: &SkillId) -> Option<usize> {
        let parts = &self.rows.get(skill)?.parts;
        // Of equals the first one, so the last of a reversed order.
        let best = parts.iter().rev().max_by(|a, b| a.worth().total_cmp(&b.worth()));
        best.map(|part| part.part)
    }

    /// Returns the share of a skill in the ranking of each part, times the confidence of that part;
    /// 0 for a part that it is not listed for.
    pub fn of_parts(&self, skill: &SkillId) -> Vec<f32> {
        let mut worths = vec![0.0; self.n_parts];
        for part in self.rows.get(skill).into_iter().flat_map(|row| &row.parts) {
            worths[part.part] = part.worth();
        }
        worths
    }

    /// Returns how much two skills serve the same parts, in `[0, 1]`.
    pub fn overlap(&self, a: &SkillId, b: &SkillId) -> f32 {
        let rows = self.rows.get(a).zip(self.rows.get(b));
        rows.map_or(0.0, |(a, b)| overlap(&a.parts, &b.parts))
    }

    /// Returns what speaks for adding a skill to the chosen ones; `None` for one that is no
    /// candidate.
    pub fn features(&self, skill: &SkillId, chosen: &[SkillId]) -> Option<SetFeatures> {
        let row = self.rows.get(skill)?;
        let parts = &row.parts;
        let of_chosen = || chosen.iter().filter_map(|chosen| self.rows.get(chosen));
        let overlap = of_chosen().map(|chosen| overlap(parts, &chosen.parts)).fold(0.0, f32::max);
        let served: BTreeSet<usize> = of_chosen()
            .flat_map(|chosen| &chosen.parts)
            .filter(|part| part.is_served())
            .map(|part| part.part)
            .collect();
        let open = || parts.iter().filter(|part| !served.contains(&part.part));
        let largest = parts.iter().rev().max_by(|a, b| a.share.total_cmp(&b.share));
        let best_part = largest.map_or(0.0, PartShare::worth);
        let led = || parts.iter().filter(|part| part.is_first);
        let n_led = led().count();
        let by_asking = |part: &&PartShare| (part.asking_confidence(), part.asks);
        let asking = led().max_by(|a, b| {
            let ((a, a_asks), (b, b_asks)) = (by_asking(a), by_asking(b));
            a.total_cmp(&b).then(a_asks.total_cmp(&b_asks))
        });
        Some(SetFeatures {
            share: row.share,
            below_best: far(row.below_best),
            log_odds: tenths(row.log_odds),
            best_part,
            all_parts: parts.iter().map(PartShare::worth).sum(),
            leads: n_led as f32 / self.n_parts.max(1) as f32,
            n_parts: of_many(self.n_parts),
            is_whole: one_if(self.n_parts == 0),
            library_size: (self.n_skills as f32).ln_1p() / 10.0,
            confidence: self.confidence,
            overlap,
            new_best_part: best_part * (1.0 - overlap),
            new_lead: one_if(n_led > 0) * (1.0 - overlap),
            place: row.place.map_or(0.0, |place| 1.0 / place as f32),
            part_log_odds: tenths(highest(parts.iter().map(|part| part.log_odds))),
            below_best_of_part: far(highest(parts.iter().map(|part| part.below_best))),
            led_confidence: highest(led().map(|part| part.confidence)).unwrap_or(0.0),
            part_share: largest.map_or(0.0, |part| part.share),
            top_share: self.top_share,
            n_sure_parts: of_many(self.n_sure_parts),
            n_chosen: chosen.len() as f32 / MANY_SKILLS,
            n_open_parts: of_many(self.n_parts - served.len()),
            open_part: highest(open().map(PartShare::worth)).unwrap_or(0.0),
            open_log_odds: tenths(highest(open().map(|part| part.log_odds))),
            leads_asking: asking.map_or(0.0, |part| part.asks),
            asking_confidence: asking.map_or(0.0, PartShare::asking_confidence),
            leads_open_asking: asking
                .filter(|part| !served.contains(&part.part))
                .map_or(0.0, |part| part.asks),
            n_asking: f32::min(self.n_asking / MANY_PARTS, 1.0),
            is_long: one_if(self.is_long),
        })
    }
}

/// Returns how likely a part asks for something: what a model told, else 1 or 0 by its first words.
fn asks(part: &Need) -> f32 {
    part.asks().unwrap_or_else(|| one_if(is_request(part.text())))
}

fn one_if(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

fn highest(numbers: impl Iterator<Item = f32>) -> Option<f32> {
    numbers.reduce(f32::max)
}

/// Returns log-odds in tenths, within bounds; the lowest ones for a skill that was not found.
fn tenths(log_odds: Option<f32>) -> f32 {
    let [least, most] = LOG_ODDS;
    log_odds.unwrap_or(least).clamp(least, most) / 10.0
}

/// Returns a difference of log-odds as a share of what counts as far.
fn far(below: Option<f32>) -> f32 {
    below.unwrap_or(-FAR_BELOW).max(-FAR_BELOW) / FAR_BELOW
}

fn of_many(n_parts: usize) -> f32 {
    f32::min(n_parts as f32 / MANY_PARTS, 1.0)
}

fn score(considered: &Considered) -> f32 {
    considered.candidate.score
}

/// Returns the candidates of a step with their shares, which add up to 1.
fn shares(step: &StepCandidates) -> impl Iterator<Item = (&Considered, f32)> {
    let listed = &step.candidates[..step.candidates.len().min(N_LISTED)];
    listed.iter().zip(log_odds_shares(listed.iter().map(score)))
}

/// Returns the cosine of the shares of two skills over the parts, in `[0, 1]`.
fn overlap(a: &[PartShare], b: &[PartShare]) -> f32 {
    let share_of = |parts: &[PartShare], part: usize| {
        parts.iter().find(|share| share.part == part).map_or(0.0, |share| share.share)
    };
    let length = |parts: &[PartShare]| parts.iter().map(|p| p.share * p.share).sum::<f32>().sqrt();
    let product: f32 = a.iter().map(|share| share.share * share_of(b, share.part)).sum();
    let lengths = length(a) * length(b);
    if lengths > 0.0 { (product / lengths).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compose::{Judgement, Verdict},
        retrieve::Candidate,
    };

    pub(in crate::compose) fn step(confidence: f32, found: &[(&str, f32)]) -> StepCandidates {
        let considered = |(name, score): &(&str, f32)| Considered {
            candidate: Candidate::new(SkillId::new(*name), *score),
            name: (*name).to_owned(),
        };
        StepCandidates {
            need: Need::new(format!("{found:?}")),
            candidates: found.iter().map(considered).collect(),
            judgement: Judgement { confidence: Some(confidence), verdict: Verdict::Helps },
        }
    }

    fn near(a: f32, b: f32) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    #[test]
    fn a_skill_of_a_part_of_its_own_overlaps_no_other() {
        let steps = [
            step(0.5, &[("docker", 4.0), ("podman", 2.0), ("deck", 0.0)]),
            step(0.8, &[("docker", 3.0), ("podman", 3.0)]),
            step(0.6, &[("deck", 1.0)]),
        ];
        let table = SetTable::new(&steps, 99);
        let chosen = [SkillId::new("docker")];
        let features = |name: &str| table.features(&SkillId::new(name), &chosen).unwrap();
        let deck = features("deck");
        near(deck.overlap, 0.0);
        near(deck.best_part, 0.6);
        near(deck.new_lead, 1.0);
        near(deck.leads, 0.5);
        near(deck.below_best, -0.5);
        near(deck.log_odds, 0.0);
        let podman = features("podman");
        near(podman.overlap, 1.0);
        near(podman.new_best_part, 0.0);
        near(podman.best_part, 0.4);
        near(podman.share, (-1.0_f32).exp() / (1.0 + (-1.0_f32).exp() + (-2.0_f32).exp()));
        assert_eq!(table.best_part(&SkillId::new("deck")), Some(1));
        assert_eq!(table.best_part(&SkillId::new("docker")), Some(0));
        assert_eq!(table.features(&SkillId::new("other"), &chosen), None);
        // The first part is served, the second is open.
        near(podman.open_part, 0.0);
        near(podman.open_log_odds, -0.4);
        near(podman.below_best_of_part, 0.0);
        near(podman.place, 0.5);
        near(podman.led_confidence, 0.0);
        near(deck.open_part, 0.6);
        near(deck.open_log_odds, 0.1);
        near(deck.led_confidence, 0.6);
        near(deck.n_open_parts, 0.125);
        near(deck.n_sure_parts, 0.25);
        near(deck.n_chosen, 1.0 / 6.0);
        let alone = table.features(&SkillId::new("docker"), &[]).unwrap();
        near(alone.n_open_parts, 0.25);
        near(alone.top_share, alone.share);
    }

    #[test]
    fn a_part_that_asks_is_told_from_one_that_tells() {
        let part = |asks: f32, step: StepCandidates| StepCandidates {
            need: Need::part(step.need.text(), asks),
            ..step
        };
        let steps = [
            step(0.5, &[("docker", 4.0), ("deck", 0.0)]),
            part(0.75, step(0.8, &[("deck", 3.0)])),
            part(0.25, step(0.6, &[("docker", 1.0)])),
        ];
        let table = SetTable::new(&steps, 99);
        let features =
            |name: &str, chosen: &[SkillId]| table.features(&SkillId::new(name), chosen).unwrap();
        let deck = features("deck", &[SkillId::new("docker")]);
        near(deck.n_asking, 0.125);
        near(deck.is_long, 1.0);
        near(deck.leads_asking, 0.75);
        near(deck.asking_confidence, 0.6);
        near(deck.leads_open_asking, 0.75);
        near(features("deck", &[SkillId::new("deck")]).leads_open_asking, 0.0);
        let docker = features("docker", &[]);
        near(docker.leads_asking, 0.25);
        near(docker.asking_confidence, 0.15);
    }

    #[test]
    fn a_task_without_parts_has_shares_of_the_whole_alone() {
        let table = SetTable::new(&[step(0.9, &[("a", 1.0), ("b", -20.0)])], 9);
        let b = table.features(&SkillId::new("b"), &[SkillId::new("a")]).unwrap();
        near(b.is_whole, 1.0);
        near(b.is_long, 0.0);
        near(b.below_best, -1.0);
        near(b.log_odds, -0.4);
        near(b.best_part + b.all_parts + b.leads + b.overlap, 0.0);
        near(b.part_log_odds, -0.4);
        near(b.below_best_of_part, -1.0);
        near(b.library_size, 10_f32.ln() / 10.0);
        assert_eq!(table.best_part(&SkillId::new("b")), None);
    }
}
