//! [`Scene`]: what the network sees of a task.

use std::collections::BTreeMap;

use skillmux::{
    Error,
    compose::{ComposeRequest, Considered, SetFeatures, SetTable},
    model::Encoder,
    skill::SkillId,
};

use super::{
    config::{SceneKind, SequenceConfig},
    prior::tfidf_cosines,
};

/// Numbers that rankings say of a task as a whole.
pub const N_OF_TASK: usize = 6;

/// Numbers that rankings say of a skill.
pub const N_SIGNALS: usize = 24;

/// Numbers of a skill beside those that are chosen already.
pub const N_RELATIONS: usize = 6;

/// Places of the signals of a skill: what the set head sees of it alone comes first, the shares of
/// the parts come last.
const BEST_PART: usize = 3;
const NEW_LEAD: usize = 10;
const PARTS: usize = 16;

/// Parts whose shares the network sees one by one.
const N_PARTS: usize = 8;

/// What the network sees of a task: the task, and the skills that it chooses from.
///
/// No number depends on an id or on the place of a skill, so that a skill that was added a second
/// ago can be chosen, and skills in another order give the same sequence.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Vector of the task, `[dim]`.
    pub task: Vec<f32>,
    /// What the rankings say of the task; zeros in a closed scene.
    pub of_task: [f32; N_OF_TASK],
    /// The skills, by id.
    pub skills: Vec<SceneSkill>,
    /// How much two skills serve the same parts, `[n_skills, n_skills]`; empty in a closed scene.
    overlaps: Vec<f32>,
}

/// A skill of a scene.
#[derive(Debug, Clone)]
pub struct SceneSkill {
    /// Its id.
    pub id: SkillId,
    /// Vector of its name and description, `[dim]`.
    pub vector: Vec<f32>,
    /// What the rankings say of it; zeros in a closed scene.
    pub signals: [f32; N_SIGNALS],
    /// Cosine of the TF-IDF vectors of the task and of its name and description.
    pub tfidf: f32,
    /// Log-odds of the ranking for the whole task, tenths.
    pub log_odds: f32,
    /// The part that it serves best, counted from 0; `None` if none.
    pub part: Option<usize>,
}

impl Scene {
    /// Returns the scene of a task.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn new(
        request: &ComposeRequest<'_>,
        encoder: &dyn Encoder,
        config: &SequenceConfig,
    ) -> skillmux::error::Result<Self> {
        match config.scene {
            SceneKind::Open => Self::open(request, encoder, config.max_memory),
            SceneKind::Closed => Self::closed(request, encoder),
        }
    }

    fn closed(
        request: &ComposeRequest<'_>,
        encoder: &dyn Encoder,
    ) -> skillmux::error::Result<Self> {
        let ids = (request.library)();
        let texts: Vec<String> =
            ids.iter().map(|id| (request.headline)(id).unwrap_or_default()).collect();
        let tfidf = tfidf_cosines(request.task, &texts);
        let vectors = vectors(encoder, &texts)?;
        let skill = |((id, tfidf), vector): ((SkillId, f32), Vec<f32>)| SceneSkill {
            id,
            vector,
            signals: [0.0; N_SIGNALS],
            tfidf,
            log_odds: 0.0,
            part: None,
        };
        Ok(Self {
            task: rows(encoder, &encoder.encode_queries(&[request.task])?, 1)?.concat(),
            of_task: [0.0; N_OF_TASK],
            skills: ids.into_iter().zip(tfidf).zip(vectors).map(skill).collect(),
            overlaps: Vec::new(),
        })
    }

    fn open(
        request: &ComposeRequest<'_>,
        encoder: &dyn Encoder,
        max_memory: usize,
    ) -> skillmux::error::Result<Self> {
        let table = SetTable::new(request.steps, request.n_skills);
        let mut listed: BTreeMap<&SkillId, &Considered> = BTreeMap::new();
        for considered in request.steps.iter().flat_map(|step| &step.candidates) {
            listed.entry(considered.id()).or_insert(considered);
        }
        // The best ones, by what the set table says of them; ids last, so that ties are the same
        // each time.
        let mut best: Vec<(f32, &SkillId)> = table
            .candidates()
            .filter_map(|id| {
                let features = table.features(id, &[])?;
                Some((features.share + features.all_parts, id))
            })
            .collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        best.truncate(max_memory);
        let mut ids: Vec<&SkillId> = best.into_iter().map(|(_, id)| id).collect();
        ids.sort_unstable();
        let texts: Vec<String> =
            ids.iter().map(|id| (request.headline)(id).unwrap_or_default()).collect();
        let tfidf = tfidf_cosines(request.task, &texts);
        let of_skills = vectors(encoder, &texts)?;
        let needs: Vec<&str> = request.steps.iter().map(|step| step.need.text()).collect();
        let of_needs = rows(encoder, &encoder.encode_queries(&needs)?, needs.len())?;
        let whole = request.steps.first();
        let first = whole.and_then(|whole| whole.candidates.first());
        let mut skills = Vec::with_capacity(ids.len());
        for ((id, vector), tfidf) in ids.iter().zip(of_skills).zip(tfidf) {
            let Some(features) = table.features(id, &[]) else { continue };
            let cosines: Vec<f32> = of_needs.iter().map(|need| dot(need, &vector)).collect();
            let is_named = listed.get(id).is_some_and(|c| c.candidate.signals.is_named);
            let is_first = first.is_some_and(|first| first.id() == *id);
            let of_parts = table.of_parts(id);
            let signals = signals(&features, is_named, is_first, &cosines, tfidf, &of_parts);
            skills.push(SceneSkill {
                id: (*id).clone(),
                vector,
                signals,
                tfidf,
                log_odds: features.log_odds,
                part: table.best_part(id),
            });
        }
        let overlaps = ids.iter().flat_map(|a| ids.iter().map(|b| table.overlap(a, b))).collect();
        let confidence =
            |step: &skillmux::compose::StepCandidates| step.judgement.confidence.unwrap_or(0.0);
        let parts = request.steps.get(1..).unwrap_or_default();
        let n_words = request.task.split_whitespace().count();
        let of_task = [
            (parts.len() as f32 / N_PARTS as f32).min(1.0),
            f32::from(u8::from(parts.is_empty())),
            (request.n_skills as f32).ln_1p() / 10.0,
            whole.map_or(0.0, confidence),
            parts.iter().map(confidence).sum::<f32>() / N_PARTS as f32,
            (n_words as f32).ln_1p() / 6.0,
        ];
        let task = of_needs.into_iter().next().unwrap_or_else(|| vec![0.0; encoder.dim()]);
        Ok(Self { task, of_task, skills, overlaps })
    }

    /// Returns the scene with some of its skills, by rising places.
    #[must_use]
    pub fn with_skills(&self, places: &[usize]) -> Self {
        let n = self.skills.len();
        let overlaps = if self.overlaps.is_empty() {
            Vec::new()
        } else {
            let row = |a: &usize| -> Vec<f32> {
                places.iter().map(|b| self.overlaps[a * n + b]).collect()
            };
            places.iter().flat_map(row).collect()
        };
        let skills = places.iter().map(|at| self.skills[*at].clone()).collect();
        Self { task: self.task.clone(), of_task: self.of_task, skills, overlaps }
    }

    /// Returns what each skill is beside the chosen ones, `[n_skills][N_RELATIONS]`: how much it
    /// serves the same parts, how alike the texts are, what it leads in and serves beyond them, and
    /// whether it serves an earlier or a later part than the last one.
    pub fn relations(&self, chosen: &[usize]) -> Vec<[f32; N_RELATIONS]> {
        let n = self.skills.len();
        let relation = |(at, skill): (usize, &SceneSkill)| {
            let overlap = chosen.iter().map(|other| {
                if self.overlaps.is_empty() { 0.0 } else { self.overlaps[at * n + other] }
            });
            let overlap = overlap.fold(0.0, f32::max);
            let alike = chosen.iter().map(|other| dot(&skill.vector, &self.skills[*other].vector));
            let alike = alike.fold(0.0, f32::max);
            let new = 1.0 - overlap;
            let [best_part, leads] = [skill.signals[BEST_PART], skill.signals[NEW_LEAD]];
            let parts = chosen.last().and_then(|last| skill.part.zip(self.skills[*last].part));
            let after = f32::from(u8::from(parts.is_some_and(|(part, last)| part > last)));
            let before = f32::from(u8::from(parts.is_some_and(|(part, last)| part < last)));
            [overlap, alike, best_part * new, leads * new, after, -before]
        };
        self.skills.iter().enumerate().map(relation).collect()
    }
}

/// Returns the signals of a skill; `cosines` are those with the task, then with its parts.
fn signals(
    features: &SetFeatures,
    is_named: bool,
    is_first: bool,
    cosines: &[f32],
    tfidf: f32,
    of_parts: &[f32],
) -> [f32; N_SIGNALS] {
    let (with_task, with_parts) = cosines.split_first().map_or((0.0, cosines), |(a, b)| (*a, b));
    let mut signals = [0.0; N_SIGNALS];
    let alone: [f32; PARTS] = [
        features.share,
        features.below_best,
        features.log_odds,
        features.best_part,
        features.all_parts,
        features.leads,
        features.n_parts,
        features.is_whole,
        features.library_size,
        features.confidence,
        features.new_lead,
        f32::from(u8::from(is_named)),
        f32::from(u8::from(is_first)),
        with_task,
        tfidf,
        with_parts.iter().copied().fold(0.0, f32::max),
    ];
    signals[..PARTS].copy_from_slice(&alone);
    for (signal, worth) in signals[PARTS..].iter_mut().zip(of_parts) {
        *signal = *worth;
    }
    signals
}

fn vectors(encoder: &dyn Encoder, texts: &[String]) -> skillmux::error::Result<Vec<Vec<f32>>> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    rows(encoder, &encoder.encode(&texts)?, texts.len())
}

/// Returns the vectors of texts; an error unless each has one of finite numbers.
fn rows(
    encoder: &dyn Encoder,
    numbers: &[f32],
    n_texts: usize,
) -> skillmux::error::Result<Vec<Vec<f32>>> {
    let dim = encoder.dim();
    let is_whole = n_texts.checked_mul(dim) == Some(numbers.len());
    if dim == 0 || !is_whole || !numbers.iter().all(|x| x.is_finite()) {
        let name = encoder.identity().name.clone();
        return Err(Error::EncoderAnswer { name, n_numbers: numbers.len(), n_texts, dim });
    }
    Ok(numbers.chunks(dim).map(<[f32]>::to_vec).collect())
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
