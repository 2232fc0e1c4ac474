//! The contract of [`Composer`], checked for every implementation.

use proptest::prelude::*;
use skillmux::{
    compose::{
        Calibration, ComposeRequest, Composer, Decision, Plan, PlannedSkill, ScoreCut,
        ScoreCutConfig, ScoreScale, TopK,
    },
    explain::{Contribution, Explanation},
    skill::SkillId,
};

/// A found skill: score, coverage, number of its name, and whether the task names it.
type Found = (f32, f32, u8, bool);

fn found() -> impl Strategy<Value = Vec<Found>> {
    let score = prop_oneof![4 => 0.01_f32..50.0, 1 => Just(7.0), 1 => 0.0_f32..1e-30];
    let skill = (score, 0.0_f32..=1.0, 0..4_u8, prop::bool::weighted(0.1));
    prop::collection::vec(skill, 0..16).prop_map(|mut found| {
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found
    })
}

fn planned((number, found): (usize, &Found)) -> PlannedSkill {
    let (score, coverage, name, is_named) = *found;
    let mut explanation = Explanation { coverage, ..Explanation::default() };
    if is_named {
        let feature = "exact_name".to_owned();
        explanation.contributions.push(Contribution { feature, value: score });
    }
    PlannedSkill {
        id: SkillId::new(format!("skill/{number}")),
        name: format!("name-{name}"),
        description: String::new(),
        source: String::new(),
        score,
        explanation,
    }
}

fn positions<'a>(found: &[PlannedSkill], ids: impl Iterator<Item = &'a SkillId>) -> Vec<usize> {
    ids.map(|id| found.iter().position(|skill| skill.id == *id).unwrap()).collect()
}

fn check(plan: &Plan, found: &[PlannedSkill], max_skills: usize) -> Result<(), TestCaseError> {
    let loaded = plan.steps.iter().flat_map(|step| &step.skills);
    let loaded = positions(found, loaded.map(|skill| &skill.id));
    let left_out = plan.steps.iter().flat_map(|step| &step.alternatives);
    let left_out = positions(found, left_out.map(|alternative| &alternative.id));

    let mut all = [loaded.as_slice(), left_out.as_slice()].concat();
    all.sort_unstable();
    prop_assert_eq!(all, (0..found.len()).collect::<Vec<_>>());
    prop_assert!(loaded.len() <= max_skills);
    prop_assert_eq!(plan.decision == Decision::Abstain, loaded.is_empty());
    for step in &plan.steps {
        let skills = positions(found, step.skills.iter().map(|skill| &skill.id));
        let others = positions(found, step.alternatives.iter().map(|skill| &skill.id));
        prop_assert!(skills.is_sorted() && others.is_sorted());
        prop_assert!(step.depends_on.iter().all(|step| (*step as usize) < plan.steps.len()));
    }
    prop_assert!((0.0..=1.0).contains(&plan.confidence));
    prop_assert!(!plan.reason.is_empty());
    for skill in plan.steps.iter().flat_map(|step| &step.skills) {
        prop_assert!(found.contains(skill));
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_composer_keeps_the_contract(found in found(), max_skills in 0..8_usize, seed in any::<u64>()) {
        let found: Vec<PlannedSkill> = found.iter().enumerate().map(planned).collect();
        let similarity = |a: usize, b: usize| {
            let pair = (a.min(b) * 31 + a.max(b)) as u64 ^ seed;
            (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32
        };
        let request = ComposeRequest {
            task: "the task",
            n_skills: 1000,
            found: &found,
            scale: ScoreScale::Proportional,
            similarity: &similarity,
            max_skills,
        };
        let eager = Calibration { threshold: 0.0, ..Calibration::default() };
        let eager = ScoreCut::new(ScoreCutConfig::default(), eager);
        let composers: [&dyn Composer; 3] = [&ScoreCut::default(), &eager, &TopK::default()];
        for composer in composers {
            let plan = composer.compose(&request);
            check(&plan, &found, max_skills)?;
            prop_assert_eq!(composer.compose(&request), plan);
        }
    }
}
