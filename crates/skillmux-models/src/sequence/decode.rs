//! [`Decoder`]: beam search over the skills of a scene.

use std::collections::HashMap;

use candle_core::{Device, Result, Tensor};

use super::{
    config::{Fusion, PriorKind},
    network::{Memory, SceneBatch, SequenceNetwork},
    scene::{N_RELATIONS, Scene},
};

/// What the network says of a scene. What follows from a prefix is computed once, so that one scene
/// can be decoded with many [`Fusion`]s.
pub struct Decoder<'s> {
    network: &'s SequenceNetwork,
    scene: &'s Scene,
    memory: Memory,
    /// Of each skill.
    set_logits: Vec<f32>,
    /// Log-probabilities of one, two and more skills.
    counts: Vec<f32>,
    known: HashMap<Vec<u32>, Logits>,
}

/// Logits after a prefix.
#[derive(Debug, Clone)]
struct Logits {
    skills: Vec<f32>,
    stop: f32,
}

/// A sequence that may go on.
#[derive(Debug, Clone)]
struct Beam {
    chosen: Vec<u32>,
    log_probability: f32,
}

impl<'s> Decoder<'s> {
    /// Reads a scene.
    ///
    /// # Errors
    /// What the tensor library says.
    pub fn new(network: &'s SequenceNetwork, scene: &'s Scene) -> Result<Self> {
        let memory = network.read(&SceneBatch::new(&[scene])?, &mut Ok)?;
        let set = network.set_logits(&memory, &mut Ok)?;
        let counts = network.count_logits(&memory, &set)?.squeeze(0)?.to_vec1::<f32>()?;
        let counts = log_softmax(&counts);
        let set_logits = set.squeeze(0)?.to_vec1::<f32>()?;
        Ok(Self { network, scene, memory, set_logits, counts, known: HashMap::new() })
    }

    /// Returns the log-odds by which each skill belongs to the set, in the order of the scene (Eq.
    /// 4.3).
    pub fn set_logits(&self) -> &[f32] {
        &self.set_logits
    }

    /// Returns the probabilities of one, two and more skills (Eq. 4.2).
    pub fn counts(&self) -> Vec<f32> {
        self.counts.iter().map(|count| count.exp()).collect()
    }

    /// Returns the places of the skills of the best sequence, in its order: at least one if there
    /// is one that may be chosen, and none twice. `may_follow` says whether a skill may be chosen
    /// after others.
    ///
    /// # Errors
    /// What the tensor library says.
    pub fn best(
        &mut self,
        fusion: &Fusion,
        max_skills: usize,
        may_follow: &dyn Fn(&[u32], usize) -> bool,
    ) -> Result<Vec<u32>> {
        let max_skills = max_skills.min(self.network.config().max_skills);
        let mut open = vec![Beam { chosen: Vec::new(), log_probability: 0.0 }];
        let mut best: Option<(f32, Vec<u32>)> = None;
        for n_chosen in 0..=max_skills {
            self.learn(&open)?;
            let mut next: Vec<Beam> = Vec::new();
            for beam in &open {
                let fused = self.fused(beam, fusion, n_chosen < max_skills, may_follow);
                let (stop, skills) = (fused.stop, fused.skills);
                let end = beam.log_probability + stop + fusion.count * self.of_count(n_chosen);
                let score = end / ((n_chosen + 1) as f32).powf(fusion.length_penalty);
                if stop.is_finite() && best.as_ref().is_none_or(|(least, _)| score > *least) {
                    best = Some((score, beam.chosen.clone()));
                }
                for (at, log_probability) in skills {
                    let chosen = [beam.chosen.as_slice(), &[at]].concat();
                    let log_probability = beam.log_probability + log_probability;
                    next.push(Beam { chosen, log_probability });
                }
            }
            // Of equals, those whose skills have the lower places.
            next.sort_by(|a, b| {
                b.log_probability
                    .total_cmp(&a.log_probability)
                    .then_with(|| a.chosen.cmp(&b.chosen))
            });
            next.truncate(fusion.n_beams.max(1));
            open = next;
            if open.is_empty() {
                break;
            }
        }
        Ok(best.map_or_else(Vec::new, |(_, chosen)| chosen))
    }

    /// Returns the log-probability of a number of skills.
    fn of_count(&self, n: usize) -> f32 {
        n.checked_sub(1).and_then(|at| self.counts.get(at)).copied().unwrap_or(0.0)
    }

    /// Returns log-probabilities after the prefix of a beam, with the priors (Eq. 4.4). A plan does
    /// not stop before its first skill.
    fn fused(
        &self,
        beam: &Beam,
        fusion: &Fusion,
        goes_on: bool,
        may_follow: &dyn Fn(&[u32], usize) -> bool,
    ) -> Fused {
        let logits = &self.known[&beam.chosen];
        let mut places = Vec::new();
        let mut all = Vec::new();
        for (at, logit) in logits.skills.iter().enumerate().filter(|_| goes_on) {
            let Ok(place) = u32::try_from(at) else { continue };
            if !beam.chosen.contains(&place) && may_follow(&beam.chosen, at) {
                let skill = &self.scene.skills[at];
                let prior = match self.network.config().prior {
                    PriorKind::TfIdf => skill.tfidf,
                    PriorKind::Ranking => skill.log_odds,
                };
                places.push(place);
                all.push(logit + fusion.prior * prior + fusion.set * self.set_logits[at]);
            }
        }
        let may_stop = !beam.chosen.is_empty();
        if may_stop {
            all.push(logits.stop + fusion.stop);
        }
        let mut all = log_softmax(&all);
        let stop = if may_stop { all.pop().unwrap_or(0.0) } else { f32::NEG_INFINITY };
        Fused { skills: places.into_iter().zip(all).collect(), stop }
    }

    /// Computes the logits after the prefixes of beams, which are of one length.
    fn learn(&mut self, beams: &[Beam]) -> Result<()> {
        let new: Vec<&Vec<u32>> = beams
            .iter()
            .map(|beam| &beam.chosen)
            .filter(|c| !self.known.contains_key(*c))
            .collect();
        let Some(first) = new.first() else { return Ok(()) };
        let (n_steps, n_skills) = (first.len() + 1, self.scene.skills.len());
        let mut relations = Vec::with_capacity(new.len() * n_steps * n_skills * N_RELATIONS);
        for chosen in &new {
            let chosen: Vec<usize> = chosen.iter().map(|at| *at as usize).collect();
            // The logits of the last step alone are read.
            relations.resize(relations.len() + (n_steps - 1) * n_skills * N_RELATIONS, 0.0);
            relations.extend(self.scene.relations(&chosen).into_iter().flatten());
        }
        let shape = (new.len(), n_steps, n_skills, N_RELATIONS);
        let relations = Tensor::from_vec(relations, shape, &Device::Cpu)?;
        let chosen: Vec<u32> = new.iter().flat_map(|chosen| chosen.iter().copied()).collect();
        let logits = self.network.steps(&self.memory, &chosen, &relations, &mut Ok)?;
        let last = |tensor: &Tensor| tensor.narrow(1, n_steps - 1, 1)?.squeeze(1);
        let skills = last(&logits.skills)?.to_vec2::<f32>()?;
        let stops = last(&logits.stop)?.squeeze(1)?.to_vec1::<f32>()?;
        let new: Vec<Vec<u32>> = new.into_iter().cloned().collect();
        for ((chosen, skills), stop) in new.into_iter().zip(skills).zip(stops) {
            self.known.insert(chosen, Logits { skills, stop });
        }
        Ok(())
    }
}

/// Log-probabilities after a prefix.
struct Fused {
    skills: Vec<(u32, f32)>,
    stop: f32,
}

fn log_softmax(logits: &[f32]) -> Vec<f32> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
    logits.iter().map(|logit| logit - most - sum.ln()).collect()
}
