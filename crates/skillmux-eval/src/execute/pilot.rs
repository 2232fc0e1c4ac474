//! [`Pilot`]: what becomes of plans if calls fail.

use serde::Serialize;

use super::executor::MockExecutors;
use crate::{
    answer::{Answer, AnswerStep},
    dataset::Dataset,
    evaluate::Evaluation,
    metric::{indicator, recall_at},
    stats::{BootstrapConfig, Interval, bootstrap_mean},
    task::Task,
};

/// How plans are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PilotConfig {
    /// Seed of all random choices.
    pub seed: u64,
    /// How often each plan is carried out.
    pub n_trials: usize,
    /// Most further calls of a skill that failed.
    pub n_retries: usize,
    /// Most skills of a step's ranking that are called after its own.
    pub n_substitutes: usize,
}

impl Default for PilotConfig {
    /// 100 trials, one retry and two substitutes.
    fn default() -> Self {
        Self { seed: 42, n_trials: 100, n_retries: 1, n_substitutes: 2 }
    }
}

/// What became of the plans of a system.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pilot {
    /// Name of the system.
    pub system: String,
    /// How plans were carried out.
    pub config: PilotConfig,
    /// Tasks that need a skill.
    pub n_tasks: usize,
    /// Tasks for which the system loaded nothing.
    pub n_without_plan: usize,
    /// Without help, with retries, with substitutes, and with both.
    pub policies: Vec<PolicyScores>,
}

/// What became of the plans under one policy. Each number is a mean over tasks with its 95 %
/// interval; trials of a task count together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyScores {
    /// Whether failed calls are repeated.
    pub retries: bool,
    /// Whether substitutes are called.
    pub substitutes: bool,
    /// Step execution success: the share of the steps with a skill of which a call succeeds. Tasks
    /// without a plan have none.
    pub ses: Interval,
    /// Chain completion rate: the share of the plans all of whose steps succeed; 0 without a plan.
    pub ccr: Interval,
    /// The share of what the task needs that is done, by a skill that is right for it.
    pub done: Interval,
    /// The share of the tasks that are done as a whole.
    pub all_done: Interval,
    /// Calls of a plan.
    pub n_calls: f64,
}

/// Carries out the plans of a system, and returns what became of them.
///
/// A step calls its skill, then the same again up to `n_retries` times, then the next skills of its
/// ranking. A step without a skill is not carried out. The n-th sub-task of a task is done if the
/// n-th step succeeds with a skill of its category; of a task without sub-tasks each right skill is
/// done if it succeeds in some step.
pub fn execute(
    dataset: &Dataset,
    evaluation: &Evaluation,
    config: &PilotConfig,
    bootstrap: &BootstrapConfig,
) -> Pilot {
    let executors = MockExecutors::new(&dataset.categories, config.seed);
    let answers = evaluation.rows.iter().map(|row| &row.answer);
    let asked: Vec<(&Task, &Answer)> =
        dataset.tasks.iter().zip(answers).filter(|(task, _)| !task.needs_no_skill()).collect();
    let n_without_plan =
        asked.iter().filter(|(_, answer)| answer.loaded.as_ref().is_none_or(Vec::is_empty)).count();
    let policy = |(retries, substitutes): (bool, bool)| {
        let carried: Vec<Carried> = asked
            .iter()
            .map(|(task, answer)| {
                carry_out(dataset, &executors, config, (retries, substitutes), task, answer)
            })
            .collect();
        let mean = |value: &dyn Fn(&Carried) -> Option<f64>| {
            bootstrap_mean(&carried.iter().filter_map(value).collect::<Vec<f64>>(), bootstrap)
        };
        PolicyScores {
            retries,
            substitutes,
            ses: mean(&|carried| carried.ses),
            ccr: mean(&|carried| Some(carried.ccr)),
            done: mean(&|carried| Some(carried.done)),
            all_done: mean(&|carried| Some(carried.all_done)),
            n_calls: mean(&|carried| carried.ses.map(|_| carried.n_calls)).mean,
        }
    };
    let policies =
        [(false, false), (true, false), (false, true), (true, true)].map(policy).to_vec();
    Pilot {
        system: evaluation.system.clone(),
        config: *config,
        n_tasks: asked.len(),
        n_without_plan,
        policies,
    }
}

/// Means over the trials of a task.
#[derive(Debug, Clone, Copy, Default)]
struct Carried {
    ses: Option<f64>,
    ccr: f64,
    done: f64,
    all_done: f64,
    n_calls: f64,
}

fn carry_out(
    dataset: &Dataset,
    executors: &MockExecutors<'_>,
    config: &PilotConfig,
    (retries, substitutes): (bool, bool),
    task: &Task,
    answer: &Answer,
) -> Carried {
    let n_attempts = 1 + if retries { config.n_retries } else { 0 };
    let n_skills = 1 + if substitutes { config.n_substitutes } else { 0 };
    let chains = chains(answer);
    let n_steps = chains.iter().flatten().count();
    if n_steps == 0 {
        return Carried::default();
    }
    let mut sum = Carried { ses: Some(0.0), ..Carried::default() };
    for trial in 0..config.n_trials {
        let mut n_calls = 0;
        let mut first_success = |chain: &[String]| -> Option<String> {
            let succeeds = |skill: &&String| {
                (0..n_attempts).any(|attempt| {
                    n_calls += 1;
                    executors.call(trial, &task.id, skill, attempt)
                })
            };
            chain.iter().take(n_skills).find(succeeds).cloned()
        };
        let served: Vec<Option<String>> = chains
            .iter()
            .map(|chain| first_success(chain.as_deref().unwrap_or_default()))
            .collect();
        let n_served = served.iter().flatten().count();
        let done = done(dataset, task, &served);
        sum.ses = sum.ses.map(|ses| ses + n_served as f64 / n_steps as f64);
        sum.ccr += indicator(n_served == chains.len());
        sum.done += done;
        sum.all_done += indicator(done >= 1.0);
        sum.n_calls += f64::from(n_calls);
    }
    let n = config.n_trials.max(1) as f64;
    Carried {
        ses: sum.ses.map(|ses| ses / n),
        ccr: sum.ccr / n,
        done: sum.done / n,
        all_done: sum.all_done / n,
        n_calls: sum.n_calls / n,
    }
}

/// Returns for each step its skill and those that could take its place; `None` for a step that
/// loads nothing. A system that names no steps has one for each skill that it loads.
fn chains(answer: &Answer) -> Vec<Option<Vec<String>>> {
    let Some(loaded) = answer.loaded.as_ref().filter(|loaded| !loaded.is_empty()) else {
        return Vec::new();
    };
    if answer.steps.is_empty() {
        return loaded.iter().map(|id| Some(vec![id.clone()])).collect();
    }
    let chain = |step: &AnswerStep| {
        let is_loaded = step.ranking.first().is_some_and(|id| loaded.contains(id));
        is_loaded.then(|| step.ranking.clone())
    };
    answer.steps.iter().map(chain).collect()
}

/// Returns the share of what a task needs that these skills have done, in the order of the steps.
fn done(dataset: &Dataset, task: &Task, served: &[Option<String>]) -> f64 {
    if task.steps.is_empty() {
        let served: Vec<&String> = served.iter().flatten().collect();
        let needs_any = !task.gold.is_empty();
        return if needs_any { recall_at(served.len(), &served, &task.gold) } else { 0.0 };
    }
    let is_done = |(at, step): &(usize, &crate::task::GoldStep)| {
        let Some(Some(skill)) = served.get(*at) else { return false };
        let category = dataset.categories.get(skill);
        step.skill_id.as_ref() == Some(skill)
            || !step.category.is_empty() && category == Some(&step.category)
    };
    task.steps.iter().enumerate().filter(is_done).count() as f64 / task.steps.len() as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{evaluate::Row, task::GoldStep};

    fn pilot(steps: &[&[&str]], loaded: &[&str], config: &PilotConfig) -> Pilot {
        let gold =
            |category: &str| GoldStep { category: category.to_owned(), ..GoldStep::default() };
        let task = Task {
            id: "t".to_owned(),
            gold: ["mail", "chart"].into_iter().collect(),
            steps: vec![gold("communication"), gold("drawing")],
            ..Task::default()
        };
        let category = |(id, of): (&str, &str)| (id.to_owned(), of.to_owned());
        let categories =
            [("mail", "communication"), ("post", "communication"), ("chart", "drawing")]
                .map(category);
        let dataset = Dataset {
            tasks: vec![task],
            categories: BTreeMap::from(categories),
            ..Dataset::default()
        };
        let step = |ranking: &&[&str]| AnswerStep {
            subtask: String::new(),
            ranking: ranking.iter().map(|id| (*id).to_owned()).collect(),
        };
        let answer = Answer {
            steps: steps.iter().map(step).collect(),
            loaded: Some(loaded.iter().map(|id| (*id).to_owned()).collect()),
            ..Answer::default()
        };
        let row = Row { task_id: "t".to_owned(), answer, ..Row::default() };
        let evaluation =
            Evaluation { system: "s".to_owned(), rows: vec![row], ..Evaluation::default() };
        execute(&dataset, &evaluation, config, &BootstrapConfig::default())
    }

    #[test]
    fn retries_and_substitutes_carry_more_plans_through() {
        let config = PilotConfig { n_trials: 2_000, ..PilotConfig::default() };
        let pilot = pilot(&[&["mail", "post"], &["chart"]], &["mail", "chart"], &config);
        let [alone, retried, replaced, both] = &pilot.policies[..] else { panic!("four policies") };
        assert!((0.80..=0.95).contains(&alone.ses.mean), "{}", alone.ses.mean);
        let product = alone.ses.mean * alone.ses.mean;
        assert!((alone.ccr.mean - product).abs() < 0.05, "{} and {product}", alone.ccr.mean);
        assert!(
            retried.ccr.mean > alone.ccr.mean + 0.05 && replaced.ccr.mean > alone.ccr.mean + 0.03
        );
        assert!(both.ccr.mean > retried.ccr.mean && both.n_calls > alone.n_calls);
        assert!((alone.n_calls - 2.0).abs() < 1e-9);
        // `post` is of the right category, so that what replaces `mail` does its work.
        assert!((both.all_done.mean - both.ccr.mean).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_loaded_is_not_carried_out_and_what_is_wrong_is_not_done() {
        let config = PilotConfig::default();
        let half = pilot(&[&["chart"], &["mail"]], &["chart"], &config);
        let alone = &half.policies[0];
        assert!(alone.ses.mean > 0.7 && alone.ccr.mean == 0.0 && alone.done.mean == 0.0);
        let none = pilot(&[], &[], &config);
        assert_eq!((none.n_tasks, none.n_without_plan), (1, 1));
        assert_eq!((none.policies[3].ses.n, none.policies[3].ccr.n), (0, 1));
    }
}
