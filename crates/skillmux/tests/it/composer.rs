//! The contract of [`Composer`], checked for every implementation, on every scale.

use std::collections::HashSet;

use proptest::prelude::*;
use skillmux::{
    compose::{
        Chain, ComposeRequest, Composer, Considered, Decision, DropReason, Judgement, Plan,
        ScoreCut, SetFeatures, SetHead, SetWeights, Split, StepCandidates, TopK, Verdict,
    },
    index::{Index, UpdateMode},
    library::Library,
    model::{Tree, Trees},
    query::{Need, Query},
    retrieve::{Candidate, ScoreScale},
    route::{Route, RouteOptions, Router, Stages},
    skill::SkillId,
};

use crate::{
    library::{options, tempdir},
    rankers::shipped,
};

/// A found skill: score, number of its name, number of its id, and whether the task names it.
type Found = (f32, u8, u8, bool);

const SCALES: [ScoreScale; 5] = [
    ScoreScale::Points,
    ScoreScale::Share,
    ScoreScale::Cosine,
    ScoreScale::LogOdds,
    ScoreScale::RankOnly,
];

const SPLITS: [Split; 3] = [Split::Whole, Split::Parts, Split::Needs];

fn found() -> impl Strategy<Value = Vec<Found>> {
    let score = prop_oneof![4 => -5.0_f32..50.0, 1 => Just(7.0), 1 => 0.0_f32..1e-30];
    let skill = (score, 0..4_u8, 0..24_u8, prop::bool::weighted(0.1));
    prop::collection::vec(skill, 0..16).prop_map(|mut found| {
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut ids = HashSet::new();
        found.retain(|skill| ids.insert(skill.2));
        found
    })
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![4 => Just(Verdict::Helps), 1 => Just(Verdict::DoesNotHelp), 1 => Just(Verdict::SmallTalk)]
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what an iterator gives")]
fn considered(found: &Found) -> Considered {
    let (score, name, id, is_named) = found;
    let mut candidate = Candidate::new(SkillId::new(format!("skill/{id}")), *score);
    candidate.signals.is_named = *is_named;
    Considered { candidate, name: format!("name-{name}") }
}

fn positions<'a>(step: &StepCandidates, ids: impl Iterator<Item = &'a SkillId>) -> Vec<usize> {
    let position =
        |id: &SkillId| step.candidates.iter().position(|found| found.candidate.skill == *id);
    ids.map(|id| position(id).unwrap()).collect()
}

fn check(plan: &Plan, request: &ComposeRequest<'_>) -> Result<(), TestCaseError> {
    prop_assert_eq!(plan.steps.len(), request.steps.len());
    let mut loaded = HashSet::new();
    for step in &plan.steps {
        let found = request.steps.iter().find(|found| found.need == step.need).unwrap();
        let skills = positions(found, step.skills.iter());
        let others = positions(found, step.left_out.iter().map(|left_out| &left_out.skill));
        prop_assert!(skills.is_sorted() && others.is_sorted());
        let mut all = [skills, others].concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..found.candidates.len()).collect::<Vec<_>>());
        prop_assert!(step.skills.iter().all(|skill| loaded.insert(skill.clone())));
    }
    prop_assert!(loaded.len() <= request.max_skills);
    prop_assert_eq!(plan.decision == Decision::Abstain, loaded.is_empty());
    prop_assert!(!plan.reason.is_empty());
    Ok(())
}

proptest! {
    #[test]
    fn every_composer_keeps_the_contract(
        steps in prop::collection::vec((found(), verdict()), 1..4),
        scale in prop::sample::select(&SCALES),
        max_skills in 0..8_usize,
        seed in any::<u64>(),
        split in prop::sample::select(&SPLITS),
        weights in prop::array::uniform::<_, { SetFeatures::N }>(-5.0_f32..5.0),
    ) {
        let step = |(number, (found, verdict)): (usize, &(Vec<Found>, Verdict))| StepCandidates {
            need: Need::new(format!("need {number}")),
            candidates: found.iter().map(considered).collect(),
            judgement: Judgement { confidence: Some(0.5), verdict: *verdict },
        };
        let steps: Vec<StepCandidates> = steps.iter().enumerate().map(step).collect();
        let similarity = |a: &SkillId, b: &SkillId| {
            let sum: u64 = a.as_str().bytes().chain(b.as_str().bytes()).map(u64::from).sum();
            ((sum ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32
        };
        let request = ComposeRequest {
            task: "",
            steps: &steps,
            split,
            scale,
            similarity: &similarity,
            compatibility: &similarity,
            headline: &|_| None,
            library: &Vec::new,
            max_skills,
            n_skills: 99,
        };
        let trees = weights.into_iter().zip(0..).map(|(weight, feature)| stump(feature, [-weight, weight]));
        let set_head = SetHead::new(set_weights(0.0, trees.collect()));
        let chain = Chain::default();
        for composer in [&ScoreCut::default() as &dyn Composer, &TopK, &set_head, &chain] {
            let plan = composer.compose(&request).unwrap();
            check(&plan, &request)?;
            prop_assert_eq!(composer.compose(&request).unwrap(), plan);
        }
    }
}

/// Returns the routes of the sample tasks by the ranker that ships.
fn shipped_routes(composer: fn() -> Box<dyn Composer>, max_skills: usize) -> Vec<Route> {
    let fixtures = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"));
    let dir = tempdir();
    let library = Library::open([fixtures.join("library")]).unwrap();
    Index::update(dir.path(), &library, &options(UpdateMode::Rebuild), &mut |_| {}).unwrap();
    let [ranker, _] = shipped();
    let stages = Stages { ranker, composer: composer(), ..Stages::default() };
    let router = Router::new(Index::open(dir.path()).unwrap(), stages).unwrap();
    let tasks = std::fs::read_to_string(fixtures.join("tasks.jsonl")).unwrap();
    let route = |line: &str| {
        let task: serde_json::Value = serde_json::from_str(line).unwrap();
        let query = Query::new(task["query"].as_str().unwrap()).unwrap();
        router
            .route(
                &query,
                &RouteOptions {
                    max_skills: Some(max_skills),
                    budget_tokens: 0,
                    ..RouteOptions::default()
                },
            )
            .unwrap()
    };
    tasks.lines().map(route).collect()
}

#[test]
fn plans_of_the_shipped_ranker_keep_the_order_and_the_limit() {
    let composers: [fn() -> Box<dyn Composer>; 2] =
        [|| Box::new(ScoreCut::default()), || Box::new(TopK)];
    for composer in composers {
        let routes = shipped_routes(composer, 3);
        let n_loading = routes.iter().filter(|route| route.decision == Decision::Load).count();
        // Without a calibration nothing but small talk abstains: an abstaining router proves
        // nothing.
        assert!(n_loading > routes.len() / 2, "{n_loading} of {}", routes.len());
        for route in routes {
            let [step] = route.steps.as_slice() else { panic!("{} steps", route.steps.len()) };
            assert!(step.skills.len() <= 3);
            assert!(step.skills.is_sorted_by(|a, b| a.score >= b.score));
            assert!(step.alternatives.is_sorted_by(|a, b| a.score >= b.score));
            let mut ids: Vec<&SkillId> = step.skills.iter().map(|skill| &skill.id).collect();
            ids.extend(step.alternatives.iter().map(|skill| &skill.id));
            assert!(ids.len() <= 13);
            assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        }
    }
}

#[test]
fn in_log_odds_a_skill_far_below_the_best_is_cut() {
    let routes = shipped_routes(|| Box::new(ScoreCut::default()), 20);
    let loaded = routes.iter().flat_map(|route| &route.steps).filter(|step| step.skills.len() > 1);
    let mut n_seen = 0;
    for step in loaded {
        n_seen += 1;
        assert!(step.skills.iter().all(|skill| step.skills[0].score - skill.score <= 1.0));
    }
    assert!(n_seen > 0, "no task loads two skills");
}

/// Returns a tree with one leaf where a feature is at most a half, and one where it is more.
fn stump(feature: u16, leaves: [f32; 2]) -> Tree {
    Tree::new(vec![(feature, 0.5, -1, -2)], leaves.to_vec()).unwrap()
}

fn set_weights(bias: f32, trees: Vec<Tree>) -> SetWeights {
    SetWeights { trees: Trees::new(bias, trees), threshold: [0.5, 0.5] }
}

/// Returns weights that add a skill that comes first in a part of its own.
fn complements() -> SetWeights {
    let lead = SetFeatures::NAMES.iter().position(|name| *name == "new_lead").unwrap();
    set_weights(-2.0, vec![stump(lead.try_into().unwrap(), [0.0, 4.0])])
}

fn step(need: &str, verdict: Verdict, confidence: f32, found: &[(&str, f32)]) -> StepCandidates {
    let considered = |(id, score): &(&str, f32)| Considered {
        candidate: Candidate::new(SkillId::new(*id), *score),
        name: (*id).to_owned(),
    };
    StepCandidates {
        need: Need::new(need),
        candidates: found.iter().map(considered).collect(),
        judgement: Judgement { confidence: Some(confidence), verdict },
    }
}

fn plan_of_parts(steps: &[StepCandidates]) -> Plan {
    plan_with(complements(), steps)
}

fn plan_with(weights: SetWeights, steps: &[StepCandidates]) -> Plan {
    plan_up_to(6, weights, steps)
}

fn plan_up_to(max_skills: usize, weights: SetWeights, steps: &[StepCandidates]) -> Plan {
    let request = ComposeRequest {
        task: "",
        steps,
        split: Split::Parts,
        scale: ScoreScale::LogOdds,
        similarity: &|_, _| 0.0,
        compatibility: &|_, _| 0.0,
        headline: &|_| None,
        library: &Vec::new,
        max_skills,
        n_skills: 99,
    };
    SetHead::new(weights).compose(&request).unwrap()
}

#[test]
fn each_part_gets_its_skill_and_no_second_one() {
    let helps = Verdict::Helps;
    let plan = plan_of_parts(&[
        step("all", helps, 0.9, &[("docker", 5.0), ("podman", 4.9), ("deck", 1.0)]),
        step("build the image", helps, 0.9, &[("docker", 5.0), ("podman", 4.9)]),
        step("make slides of it", helps, 0.7, &[("deck", 3.0), ("docker", -4.0)]),
    ]);
    let loaded: Vec<Vec<&str>> =
        plan.steps.iter().map(|step| step.skills.iter().map(SkillId::as_str).collect()).collect();
    assert_eq!(loaded, [vec![], vec!["docker"], vec!["deck"]]);
    assert!(plan.reason.contains("`deck`"), "{}", plan.reason);
}

#[test]
fn only_what_a_plan_would_load_without_the_limit_is_over_it() {
    let helps = Verdict::Helps;
    let steps = [
        step("all", helps, 0.9, &[("docker", 5.0), ("deck", 1.0), ("water", 0.0)]),
        step("build the image", helps, 0.9, &[("docker", 5.0), ("water", 0.0)]),
        step("make slides of it", helps, 0.7, &[("deck", 3.0), ("docker", -4.0)]),
    ];
    let plan = plan_up_to(1, complements(), &steps);
    let reason_of = |number: usize, id: &str| {
        let left_out = &plan.steps[number].left_out;
        left_out.iter().find(|left| left.skill.as_str() == id).map(|left| left.reason.clone())
    };
    assert_eq!(plan.steps[1].skills, [SkillId::new("docker")]);
    assert!(plan.steps[2].skills.is_empty());
    assert_eq!(reason_of(2, "deck"), Some(DropReason::OverLimit));
    assert_eq!(reason_of(1, "water"), Some(DropReason::BelowCut));
}

/// A task that is sure of one skill takes no second one of a quarter, but a task that is sure of
/// none does.
#[test]
fn a_plan_ends_where_another_skill_lowers_the_set_f1_to_expect() {
    let n_loaded = |first: f32| {
        let place = SetFeatures::NAMES.iter().position(|name| *name == "place").unwrap();
        // The first skill, before it is chosen, and all others.
        let log_odds = |probability: f32| (probability / (1.0 - probability)).ln();
        let tree = stump(place.try_into().unwrap(), [log_odds(0.25), log_odds(first)]);
        let weights = SetWeights { trees: Trees::new(0.0, vec![tree]), threshold: [0.0, 1.0] };
        let found = [("a", 3.0), ("b", 2.0), ("c", 1.0), ("d", 0.0)];
        let steps = [step("all", Verdict::Helps, 0.9, &found)];
        plan_with(weights, &steps).steps[0].skills.len()
    };
    // 0.9 / (1 + 0.9 + 0.75) = 0.34, and 0.25 / (1 + 0.25 + 0.75) = 0.125.
    assert_eq!(n_loaded(0.9), 1);
    // 0.45 / (1 + 0.45 + 0.75) = 0.2; (0.45 + 0.25) / (2 + 0.7 + 0.5) = 0.22; (0.7 + 0.25) / (3 +
    // 0.95 + 0.25) = 0.23.
    assert_eq!(n_loaded(0.45), 4);
}

#[test]
fn weights_of_other_features_are_refused() {
    let text = serde_json::to_string(&complements()).unwrap();
    assert_eq!(serde_json::from_str::<SetWeights>(&text).unwrap(), complements());
    for (from, to) in [("new_lead", "lead"), ("[0.5,0.5]", "[0.6,0.5]"), ("[0.5,0.5]", "[0.5,1.5]")]
    {
        let broken = text.replace(from, to);
        assert_ne!(broken, text);
        assert!(serde_json::from_str::<SetWeights>(&broken).is_err(), "{to}");
    }
}

#[test]
fn a_part_that_is_surer_than_not_is_enough_but_talk_loads_nothing() {
    let no = Verdict::DoesNotHelp;
    let parts = |verdict, confidence| {
        plan_of_parts(&[
            step("all", verdict, 0.1, &[("water", 2.0), ("deck", 1.9)]),
            step("what a day", no, 0.1, &[("water", 1.0)]),
            step("make slides of it", Verdict::Helps, confidence, &[("deck", 3.0)]),
        ])
    };
    let plan = parts(no, 0.5);
    assert_eq!(plan.steps[2].skills, [SkillId::new("deck")]);
    assert_eq!(parts(no, 0.49).decision, Decision::Abstain);
    assert_eq!(parts(Verdict::Helps, 0.49).decision, Decision::Load);
    assert_eq!(parts(Verdict::SmallTalk, 0.8).decision, Decision::Abstain);
}

#[test]
fn a_chain_takes_one_skill_for_each_step_that_works_with_those_before() {
    let helps = Verdict::Helps;
    let steps = [
        step("all", helps, 0.9, &[("scrape", 5.0)]),
        step("fetch the pages", helps, 0.9, &[("scrape", 5.0), ("deck", 1.0)]),
        step(
            "draw a chart of them",
            Verdict::DoesNotHelp,
            0.1,
            &[("ink", 2.0), ("plot", 1.9), ("scrape", 1.0)],
        ),
    ];
    let loaded = |alpha: f32| {
        let works =
            |a: &SkillId, b: &SkillId| f32::from((a.as_str(), b.as_str()) == ("scrape", "plot"));
        let plan = Chain::new(alpha).compose(&ComposeRequest {
            task: "",
            steps: &steps,
            split: Split::Parts,
            scale: ScoreScale::LogOdds,
            similarity: &|_, _| 0.0,
            compatibility: &works,
            headline: &|_| None,
            library: &Vec::new,
            max_skills: 6,
            n_skills: 99,
        });
        let plan = plan.unwrap();
        assert!(plan.steps[0].skills.is_empty());
        plan.steps[1..].iter().map(|step| step.skills[0].as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(loaded(1.0), ["scrape", "ink"]);
    assert_eq!(loaded(0.5), ["scrape", "plot"]);
}
