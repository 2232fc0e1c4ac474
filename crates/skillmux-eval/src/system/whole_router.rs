//! [`WholeRouter`]: the router as it is shipped.

use std::{collections::BTreeMap, time::Duration};

use skillmux::{
    compose::Calibrations,
    page::Page,
    query::Query,
    retrieve::Contribution,
    route::{RouteOptions, RouteStep, Router},
};

use super::{
    context::SystemContext,
    contract::System,
    engine::{query_of, scored_ids},
    paging::spans::shown_spans,
};
use crate::{
    answer::{Answer, AnswerPage, AnswerStep, RankedSkill},
    error::Error,
    task::Task,
};

/// Skills of a ranking whose scores are always explained.
const N_EXPLAINED: usize = 3;

/// Answers with everything that [`Router::route`](skillmux::route::Router::route) says, and with
/// the ranking of [`Router::search`](skillmux::route::Router::search).
///
/// The first three skills are explained, and the right ones.
pub(super) struct WholeRouter<'a> {
    router: &'a Router,
    options: RouteOptions,
}

impl<'a> WholeRouter<'a> {
    pub(super) fn new(context: &SystemContext<'a>) -> Self {
        Self { router: context.router, options: context.options }
    }

    fn page(&self, page: &Page) -> Result<AnswerPage, Error> {
        let index = self.router.index();
        let indexed = index.skill(index.find(&page.skill_id)?)?;
        Ok(AnswerPage {
            skill_id: page.skill_id.as_str().to_owned(),
            spans: shown_spans(page, &indexed.nodes, &indexed.skill.body),
            n_tokens: page.n_tokens,
            full_tokens: page.full_tokens,
            body_bytes: u32::try_from(indexed.skill.body.len()).unwrap_or(u32::MAX),
            n_parts: Some(u32::try_from(page.nodes.len()).unwrap_or(u32::MAX)),
        })
    }

    /// Returns the ranking, with what the scores of the first skills and the right ones are made
    /// of.
    fn ranking(&self, task: &Task, query: &Query, depth: usize) -> Result<Vec<RankedSkill>, Error> {
        let ranking = self.router.search(query, depth)?;
        let scored = scored_ids(&ranking);
        let is_explained =
            |position: usize, id: &str| position < N_EXPLAINED || task.gold.contains(id);
        let mut ranked = scored.iter().enumerate();
        let last = ranked.rfind(|(position, (id, _))| is_explained(*position, id));
        let n_read = last.map_or(0, |(position, _)| position + 1);
        let explained = self.router.explain(query, &ranking.candidates[..n_read])?;
        let mut contributions: BTreeMap<&str, &Vec<Contribution>> = explained
            .iter()
            .map(|skill| (skill.id.as_str(), &skill.explanation.contributions))
            .collect();
        let skill = |(position, (skill_id, score)): (usize, (String, f32))| {
            let known = contributions.remove(skill_id.as_str());
            let contributions = known.filter(|_| is_explained(position, &skill_id));
            RankedSkill {
                score,
                contributions: contributions.cloned().unwrap_or_default(),
                skill_id,
            }
        };
        Ok(scored.into_iter().enumerate().map(skill).collect())
    }
}

fn step(step: &RouteStep) -> AnswerStep {
    let skills = step.skills.iter().map(|skill| &skill.id);
    let alternatives = step.alternatives.iter().map(|skill| &skill.id);
    let ranking = skills.chain(alternatives).map(|id| id.as_str().to_owned());
    AnswerStep { subtask: step.subtask.clone(), ranking: ranking.collect() }
}

/// Returns a short text that tells these calibrations from others. All of them count: the router
/// ranks a task in a script that its transformer does not know in another way, and judges it so.
fn identity_of(calibrations: &Calibrations) -> String {
    let json = serde_json::to_vec(calibrations).expect("numbers always serialise");
    blake3::hash(&json).to_hex()[..16].to_owned()
}

impl System for WholeRouter<'_> {
    fn name(&self) -> String {
        "default".to_owned()
    }

    fn config(&self) -> String {
        // No answer that is kept has hints.
        let RouteOptions { max_skills, budget_tokens, n_hints: _ } = self.options;
        let max_skills = max_skills.map_or_else(|| "usual".to_owned(), |n| n.to_string());
        let stages = self.router.stages();
        format!(
            "router {} max_skills={max_skills} budget_tokens={budget_tokens} calibrations={}",
            stages.identity(),
            identity_of(&stages.calibrations),
        )
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        Ok(self.timed_answer(task, depth, || Duration::ZERO)?.0)
    }

    fn empty_answer(&self) -> Answer {
        let (loaded, pages) = (Some(Vec::new()), Some(Vec::new()));
        let confidence = self.router.calibration().map(|_| 0.0);
        Answer { loaded, confidence, pages, ..Answer::of_ranking([]) }
    }

    /// The time is that of the route alone: the ranking and its explanation are for the report.
    fn timed_answer(
        &self,
        task: &Task,
        depth: usize,
        clock: fn() -> Duration,
    ) -> Result<(Answer, Duration), Error> {
        let query = query_of(task)?;
        let started = clock();
        let route = self.router.route(&query, &self.options)?;
        let elapsed = clock().saturating_sub(started);

        let loaded = route.steps.iter().flat_map(|step| &step.skills);
        let pages = route.pages.iter().map(|page| self.page(page));
        let answer = Answer {
            ranking: Some(self.ranking(task, &query, depth)?),
            loaded: Some(loaded.map(|skill| skill.id.as_str().to_owned()).collect()),
            confidence: route.confidence,
            steps: route.steps.iter().map(step).collect(),
            pages: Some(pages.collect::<Result<_, Error>>()?),
            ..Answer::default()
        };
        Ok((answer, elapsed))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use skillmux::{
        compose::{Calibration, Features},
        retrieve::RankingIdentity,
    };

    use super::*;

    #[test]
    fn each_number_of_each_calibration_counts() {
        let plain = Calibration {
            ranking: RankingIdentity::new("a"),
            bias: 0.0,
            weights: Features::default(),
            verifier: None,
            threshold: 0.5,
            large_threshold: None,
        };
        let weighed = |at: usize| {
            let mut weights = [0.0; Features::N];
            weights[at] = 1.0;
            Calibration { weights: Features::from_array(weights), ..plain.clone() }
        };
        let mut calibrations = vec![
            plain.clone(),
            Calibration { ranking: RankingIdentity::new("b"), ..plain.clone() },
            Calibration { bias: 1.0, ..plain.clone() },
            Calibration { verifier: Some("c".to_owned()), ..plain.clone() },
            Calibration { threshold: 0.6, ..plain.clone() },
            Calibration { large_threshold: Some(0.5), ..plain.clone() },
            Calibration { large_threshold: Some(0.6), ..plain.clone() },
        ];
        calibrations.extend((0..Features::N).map(weighed));
        let alone = calibrations.iter().map(|other| Calibrations::new([other.clone()]));
        let second =
            calibrations.iter().map(|other| Calibrations::new([plain.clone(), other.clone()]));
        let all: Vec<Calibrations> =
            [Calibrations::default()].into_iter().chain(alone).chain(second).collect();
        let identities: BTreeSet<String> = all.iter().map(identity_of).collect();
        assert_eq!(identities.len(), all.len());
    }
}
