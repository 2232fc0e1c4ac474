//! What a sequence composer keeps, whatever its weights are.

use std::sync::Arc;

use candle_core::{Device, Tensor};
use skillmux::{
    compose::{ComposeRequest, Composer, Considered, Judgement, Split, StepCandidates, Verdict},
    model::{Encoder, EncoderIdentity},
    query::Need,
    retrieve::{Candidate, ScoreScale},
    skill::SkillId,
};

use super::*;

/// Counts letters: close texts have close vectors, and no file is needed.
struct Letters(EncoderIdentity);

impl Letters {
    fn new(name: &str) -> Self {
        Self(EncoderIdentity { name: name.to_owned(), dim: 26, fingerprint: "0".to_owned() })
    }
}

impl Encoder for Letters {
    fn identity(&self) -> &EncoderIdentity {
        &self.0
    }

    fn encode(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        let row = |text: &&str| {
            let mut row = vec![0.0_f32; 26];
            for letter in text.bytes().filter(u8::is_ascii_lowercase) {
                row[usize::from(letter - b'a')] += 1.0;
            }
            let length = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
            row.into_iter().map(|x| x / length).collect::<Vec<_>>()
        };
        Ok(texts.iter().flat_map(row).collect())
    }
}

fn config(scene: SceneKind) -> SequenceConfig {
    SequenceConfig {
        scene,
        encoder: Letters::new("letters").0,
        width: 8,
        n_layers: 2,
        n_memory_layers: 1,
        n_heads: 2,
        n_feed_forward: 2,
        attends: true,
        max_skills: 6,
        max_memory: 64,
        prior: PriorKind::TfIdf,
    }
}

/// Returns the bytes of a model whose weights follow from a seed.
fn bytes(config: &SequenceConfig, fusion: Fusion, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut tensors = Vec::new();
    let mut source = |name: &str, shape: &[usize]| {
        let n: usize = shape.iter().product();
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        let tensor = Tensor::from_vec((0..n).map(|_| next()).collect(), shape, &Device::Cpu)?;
        tensors.push((name.to_owned(), tensor.clone()));
        Ok(tensor)
    };
    SequenceNetwork::new(config, &mut source).unwrap();
    SequenceModel::to_bytes(config, &fusion, &tensors).unwrap()
}

fn composer(scene: SceneKind, fusion: Fusion, seed: u32) -> SequenceComposer {
    let model = SequenceModel::from_bytes(&bytes(&config(scene), fusion, seed)).unwrap();
    SequenceComposer::new(model, Arc::new(Letters::new("letters"))).unwrap()
}

const TEXTS: [(&str, &str); 5] = [
    ("clean", "clean tables of customers"),
    ("deck", "make slides for a board"),
    ("mail", "send letters to people"),
    ("chart", "draw charts of numbers"),
    ("mail", "another way to send letters"),
];

/// Returns the id that a skill has in a library whose ids begin so.
fn id(prefix: &str, number: usize) -> SkillId {
    SkillId::new(format!("{prefix}{number}"))
}

fn step(need: &str, prefix: &str, found: &[(usize, f32)], verdict: Verdict) -> StepCandidates {
    let considered = |(number, score): &(usize, f32)| Considered {
        candidate: Candidate::new(id(prefix, *number), *score),
        name: TEXTS[*number].0.to_owned(),
    };
    StepCandidates {
        need: Need::new(need),
        candidates: found.iter().map(considered).collect(),
        judgement: Judgement { confidence: Some(0.7), verdict },
    }
}

fn steps(prefix: &str, verdict: Verdict) -> Vec<StepCandidates> {
    let all = [(0, 3.0), (1, 2.5), (2, 2.0), (3, 1.0), (4, 0.5)];
    vec![
        step("clean the table and make slides of it", prefix, &all, verdict),
        step("clean the table", prefix, &[(0, 4.0), (3, 1.0)], verdict),
        step("make slides of it", prefix, &[(1, 3.0), (2, 0.0)], verdict),
    ]
}

fn asked(composer: &SequenceComposer, steps: &[StepCandidates], max_skills: usize) -> Vec<SkillId> {
    with_request(steps, max_skills, |request| composer.sequence(request).unwrap())
}

fn with_request<T>(
    steps: &[StepCandidates],
    max_skills: usize,
    f: impl FnOnce(&ComposeRequest<'_>) -> T,
) -> T {
    let number = |id: &SkillId| id.as_str()[1..].parse::<usize>().unwrap();
    let headline = |id: &SkillId| {
        let (name, description) = TEXTS[number(id)];
        Some(format!("{name}\n{description}"))
    };
    let mut ids: Vec<SkillId> =
        steps[0].candidates.iter().map(|considered| considered.candidate.skill.clone()).collect();
    ids.sort_unstable();
    f(&ComposeRequest {
        task: steps[0].need.text(),
        steps,
        split: Split::Parts,
        scale: ScoreScale::LogOdds,
        similarity: &|_, _| 0.0,
        compatibility: &|_, _| 0.0,
        headline: &headline,
        library: &|| ids.clone(),
        max_skills,
        n_skills: 5,
    })
}

/// Stops late, so that long sequences are seen.
const LONG: Fusion =
    Fusion { prior: 1.0, set: 0.5, stop: -6.0, count: 0.0, n_beams: 4, length_penalty: 0.7 };

#[test]
fn a_sequence_repeats_no_skill_and_no_name_and_keeps_the_limit() {
    let mut n_long = 0;
    for seed in 0..20 {
        for scene in [SceneKind::Open, SceneKind::Closed] {
            for max_skills in 0..6 {
                let found =
                    asked(&composer(scene, LONG, seed), &steps("a", Verdict::Helps), max_skills);
                assert!(found.len() <= max_skills);
                // The third and the fifth skill have one name.
                assert!(found.len() <= 4);
                let mut distinct = found.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), found.len());
                n_long += usize::from(found.len() > 2);
            }
        }
    }
    assert!(n_long > 20, "{n_long} sequences of three and more: the limits are not tested");
}

#[test]
fn a_plan_keeps_the_contract_and_abstains_where_no_skill_helps() {
    let composer = composer(SceneKind::Open, LONG, 3);
    for (verdict, is_any) in
        [(Verdict::Helps, true), (Verdict::DoesNotHelp, false), (Verdict::SmallTalk, false)]
    {
        let steps = steps("a", verdict);
        let plan = with_request(&steps, 6, |request| composer.compose(request).unwrap());
        assert_eq!(plan.steps.iter().any(|step| !step.skills.is_empty()), is_any);
        for step in &plan.steps {
            let of_need = steps.iter().find(|found| found.need == step.need).unwrap();
            assert_eq!(step.skills.len() + step.left_out.len(), of_need.candidates.len());
        }
    }
}

#[test]
fn ids_and_the_order_of_candidates_change_nothing() {
    for seed in 0..5 {
        let composer = composer(SceneKind::Open, LONG, seed);
        let numbers = |found: Vec<SkillId>| -> Vec<String> {
            found.into_iter().map(|id| id.as_str()[1..].to_owned()).collect()
        };
        let first = numbers(asked(&composer, &steps("a", Verdict::Helps), 6));
        assert_eq!(first, numbers(asked(&composer, &steps("z", Verdict::Helps), 6)));
        let scene = with_request(&steps("a", Verdict::Helps), 6, |request| {
            Scene::new(request, &Letters::new("letters"), composer.model.network.config()).unwrap()
        });
        let turned = scene.with_skills(&[4, 2, 0, 3, 1]);
        let best = |scene: &Scene| {
            let mut decoder = Decoder::new(&composer.model.network, scene).unwrap();
            let places = decoder.best(&LONG, 6, &|_, _| true).unwrap();
            places.into_iter().map(|at| scene.skills[at as usize].id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(best(&scene), best(&turned));
    }
}

#[test]
fn the_bias_of_stopping_decides_how_long_a_sequence_is() {
    let with_stop = |stop: f32| {
        let fusion = Fusion { stop, ..LONG };
        asked(&composer(SceneKind::Open, fusion, 1), &steps("a", Verdict::Helps), 6).len()
    };
    assert_eq!((with_stop(20.0), with_stop(-20.0)), (1, 4));
}

#[test]
fn a_beam_of_one_takes_the_likeliest_skill_and_a_wider_one_a_likelier_sequence() {
    // With the prior alone, the skills come in the order of their cosines.
    let fusion = Fusion { prior: 1e4, set: 0.0, stop: -1e6, count: 0.0, ..LONG };
    for n_beams in [1, 4] {
        let composer = composer(SceneKind::Closed, Fusion { n_beams, ..fusion }, 2);
        let found = asked(&composer, &steps("a", Verdict::Helps), 2);
        assert_eq!(found, [id("a", 0), id("a", 1)], "{n_beams}");
    }
}

#[test]
fn a_file_that_is_damaged_or_of_another_encoder_is_refused() {
    let whole = bytes(&config(SceneKind::Open), LONG, 1);
    let refused = |bytes: &[u8]| SequenceModel::from_bytes(bytes).err().unwrap().to_string();
    for bytes in [&b"{}"[..], &whole[..whole.len() - 8]] {
        assert!(refused(bytes).ends_with("is no safetensors file, or a part of one"));
    }
    let bare = safetensors::serialize(Vec::<(String, Tensor)>::new(), None);
    assert_eq!(
        refused(&bare.unwrap()),
        "the sequence composer has no header of a sequence composer"
    );
    let wide = SequenceConfig { width: 9, ..config(SceneKind::Open) };
    let none = SequenceModel::to_bytes(&wide, &LONG, &[]).unwrap();
    assert_eq!(refused(&none), "the sequence composer has heads that do not divide its width");
    let none = SequenceModel::to_bytes(&config(SceneKind::Open), &LONG, &[]).unwrap();
    assert!(refused(&none).starts_with("the sequence composer has no tensor `"));
    let model = SequenceModel::from_bytes(&whole).unwrap();
    let error = SequenceComposer::new(model, Arc::new(Letters::new("other"))).err().unwrap();
    assert!(error.to_string().contains("letters") && error.hint().is_some(), "{error}");
}

/// An encoder that leaves out the last number.
struct Short(Letters);

impl Encoder for Short {
    fn identity(&self) -> &EncoderIdentity {
        self.0.identity()
    }

    fn encode(&self, texts: &[&str]) -> EngineResult<Vec<f32>> {
        let mut numbers = self.0.encode(texts)?;
        numbers.pop();
        Ok(numbers)
    }
}

#[test]
fn an_encoder_that_gives_too_little_is_an_error() {
    for scene in [SceneKind::Open, SceneKind::Closed] {
        let model = SequenceModel::from_bytes(&bytes(&config(scene), LONG, 1)).unwrap();
        let encoder = Arc::new(Short(Letters::new("letters")));
        let composer = SequenceComposer::new(model, encoder).unwrap();
        let answer = with_request(&steps("a", Verdict::Helps), 3, |asked| composer.sequence(asked));
        assert!(matches!(answer, Err(EngineError::EncoderAnswer { .. })));
    }
}
