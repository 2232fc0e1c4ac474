//! The list of the metrics of one task.

use super::{
    abstention, chain,
    measure::{Case, Direction, Measure},
    paging,
    ranking::{
        full_coverage_at, hit_at, indicator, mrr_at, ndcg_at, ndcg_graded_at, recall_at, set_compat,
    },
    set,
};
use crate::task::{Gold, GoldEvidence};

/// Returns the metrics of one task, in the order of reports.
///
/// A metric gives `None` where it says nothing, so that its mean is over the tasks concerned:
///
/// - metrics of the ranking: for tasks without gold, and for systems that do not rank; Set-Compat
///   also with one right skill only;
/// - Set F1 to cardinality difference: for systems that only rank, and for tasks of which it is not
///   known which skills are right;
/// - DA to Chain category: for tasks without sub-tasks and for systems that only rank; CatR@k and
///   Chain category also without categories, Step R and Chain exact without skills of the sub-tasks
///   (but Chain exact takes the task's order in place of sub-tasks);
/// - Sufficiency to Shown precision: without evidence, for systems that show no parts of skills,
///   and for another version of the body; Shown precision and Token
///   reduction where nothing is shown, and Judged sufficiency without a judge;
/// - Coverage and False load: for tasks without and with gold, and for systems that only rank;
///   Rejected load for tasks that reject no skill.
pub fn measures() -> &'static [Measure] {
    MEASURES
}

/// Name of the measure that judges by [`Task::graded`](crate::task::Task::graded).
pub(crate) const GRADED: &str = "nDCG@10 graded";

static MEASURES: &[Measure] = &[
    Measure {
        name: "Hit@1",
        formula: "1 if a right skill is among the first k, else 0",
        source: "SkillRouter §2.1",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| hit_at(1, ranking, gold)),
    },
    Measure {
        name: "Hit@5",
        formula: "1 if a right skill is among the first k, else 0",
        source: "SkillRouter §2.1",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| hit_at(5, ranking, gold)),
    },
    Measure {
        name: "Hit@10",
        formula: "1 if a right skill is among the first k, else 0",
        source: "SkillRouter §2.1",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| hit_at(10, ranking, gold)),
    },
    Measure {
        name: "MRR@10",
        formula: "1 / rank of the first right skill among the first k, else 0",
        source: "SkillRouter §2.1",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| mrr_at(10, ranking, gold)),
    },
    Measure {
        name: "nDCG@5",
        formula: "DCG / ideal DCG, DCG = Σ gain / log2(rank + 1) over the first k, gain 1 if right",
        source: "SkillComposer §5.2",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| ndcg_at(5, ranking, gold)),
    },
    Measure {
        name: "nDCG@10",
        formula: "DCG / ideal DCG, DCG = Σ gain / log2(rank + 1) over the first k, gain 1 if right",
        source: "SkillRouter §2.1",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| ndcg_at(10, ranking, gold)),
    },
    Measure {
        name: GRADED,
        formula: "as nDCG@10, with the grade as the gain, of partly right skills too",
        source: "Järvelin and Kekäläinen 2002; trec_eval ndcg_cut",
        direction: Direction::HigherIsBetter,
        of: |case| {
            let graded = case.task.graded();
            ranked(case, |ranking, _| ndcg_graded_at(10, ranking, &graded))
        },
    },
    Measure {
        name: "Recall@1",
        formula: "share of the right skills among the first k",
        source: "SkillRouter appendix A",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| recall_at(1, ranking, gold)),
    },
    Measure {
        name: "Recall@5",
        formula: "share of the right skills among the first k",
        source: "SkillRouter appendix A",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| recall_at(5, ranking, gold)),
    },
    Measure {
        name: "Recall@10",
        formula: "share of the right skills among the first k",
        source: "SkillRouter appendix A",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| recall_at(10, ranking, gold)),
    },
    Measure {
        name: "Recall@20",
        formula: "share of the right skills among the first k",
        source: "SkillRouter appendix A",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| recall_at(20, ranking, gold)),
    },
    Measure {
        name: "Recall@50",
        formula: "share of the right skills among the first k",
        source: "SkillRouter appendix A",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| recall_at(50, ranking, gold)),
    },
    Measure {
        name: "FC@10",
        formula: "1 if all right skills are among the first k, else 0",
        source: "SkillRouter appendix A",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| full_coverage_at(10, ranking, gold)),
    },
    Measure {
        name: "Comp@10",
        formula: "1 if all right skills are among the first k, else 0: the same as FC@10",
        source: "Qu et al. 2024, COMP@K",
        direction: Direction::HigherIsBetter,
        of: |case| ranked(case, |ranking, gold| full_coverage_at(10, ranking, gold)),
    },
    Measure {
        name: "Set-Compat",
        formula: "1 if the first |gold| skills are exactly the right ones, else 0; |gold| ≥ 2",
        source: "R3-Skill",
        direction: Direction::HigherIsBetter,
        of: |case| judged_ranking(case).and_then(|ranking| set_compat(&ranking, &case.task.gold)),
    },
    Measure {
        name: "Set F1",
        formula: "2 |loaded ∩ gold| / (|loaded| + |gold|), 1 if both are empty",
        source: "SkillComposer §5.2",
        direction: Direction::HigherIsBetter,
        of: |case| loaded(case, set::set_f1),
    },
    Measure {
        name: "Set EM",
        formula: "1 if exactly the right skills are loaded, else 0",
        source: "SkillComposer §5.2",
        direction: Direction::HigherIsBetter,
        of: |case| loaded(case, set::set_em),
    },
    Measure {
        name: "Cardinality difference",
        formula: "|loaded| - |gold|",
        source: "ours; see SkillComposer Fig. 4",
        direction: Direction::NearZeroIsBetter,
        of: |case| loaded(case, set::cardinality_difference),
    },
    Measure {
        name: "DA",
        formula: "1 if there are as many steps as sub-tasks, else 0",
        source: "SkillWeaver §5.3",
        direction: Direction::HigherIsBetter,
        of: |case| {
            planned(case, |steps| Some(chain::decomposition_accuracy(0, steps, &case.task.steps)))
        },
    },
    Measure {
        name: "DA±1",
        formula: "1 if the number of steps is at most 1 from that of the sub-tasks, else 0",
        source: "SkillWeaver §5.3",
        direction: Direction::HigherIsBetter,
        of: |case| {
            planned(case, |steps| Some(chain::decomposition_accuracy(1, steps, &case.task.steps)))
        },
    },
    Measure {
        name: "CatR@1",
        formula: "share of the sub-tasks with a skill of the right category among the first k of their step",
        source: "SkillWeaver §5.3",
        direction: Direction::HigherIsBetter,
        of: |case| {
            planned(case, |steps| {
                chain::category_recall_at(1, steps, &case.task.steps, case.categories)
            })
        },
    },
    Measure {
        name: "CatR@5",
        formula: "share of the sub-tasks with a skill of the right category among the first k of their step",
        source: "SkillWeaver §5.3",
        direction: Direction::HigherIsBetter,
        of: |case| {
            planned(case, |steps| {
                chain::category_recall_at(5, steps, &case.task.steps, case.categories)
            })
        },
    },
    Measure {
        name: "CatR@10",
        formula: "share of the sub-tasks with a skill of the right category among the first k of their step",
        source: "SkillWeaver §5.3",
        direction: Direction::HigherIsBetter,
        of: |case| {
            planned(case, |steps| {
                chain::category_recall_at(10, steps, &case.task.steps, case.categories)
            })
        },
    },
    Measure {
        name: "Step R@1",
        formula: "share of the sub-tasks whose skill is among the first k of their step",
        source: "SkillWeaver §5.3",
        direction: Direction::HigherIsBetter,
        of: |case| planned(case, |steps| chain::step_recall_at(1, steps, &case.task.steps)),
    },
    Measure {
        name: "Step R@10",
        formula: "share of the sub-tasks whose skill is among the first k of their step",
        source: "SkillWeaver §5.3",
        direction: Direction::HigherIsBetter,
        of: |case| planned(case, |steps| chain::step_recall_at(10, steps, &case.task.steps)),
    },
    Measure {
        name: "Chain exact",
        formula: "1 if the chain is the right one, skill by skill, else 0",
        source: "SkillWeaver §5.3",
        direction: Direction::HigherIsBetter,
        of: |case| {
            let (chosen, gold) = chain::chains(case.task, case.answer)?;
            Some(chain::chain_exact(&chosen, &gold))
        },
    },
    Measure {
        name: "Chain category",
        formula: "1 if each sub-task has its step, whose first skill has the right category, else 0",
        source: "SkillWeaver Table 2",
        direction: Direction::HigherIsBetter,
        of: |case| {
            planned(case, |steps| chain::chain_category(steps, &case.task.steps, case.categories))
        },
    },
    Measure {
        name: "Sufficiency",
        formula: "1 if all bytes of the evidence are shown, else 0",
        source: "SkillPager §4.2, without the judge",
        direction: Direction::HigherIsBetter,
        of: |case| paged(case, |shown, evidence| Some(paging::sufficiency(shown, evidence))),
    },
    Measure {
        name: "Judged sufficiency",
        formula: "1 if a chat model votes that the pages suffice, else 0",
        source: "SkillPager §4.2",
        direction: Direction::HigherIsBetter,
        of: |case| case.answer.judged_sufficient.map(indicator),
    },
    Measure {
        name: "Evidence coverage",
        formula: "share of the evidence's bytes that are shown",
        source: "ours",
        direction: Direction::HigherIsBetter,
        of: |case| paged(case, paging::evidence_coverage),
    },
    Measure {
        name: "Shown precision",
        formula: "share of the shown bytes that are evidence",
        source: "ours",
        direction: Direction::HigherIsBetter,
        of: |case| paged(case, paging::shown_precision),
    },
    Measure {
        name: "Token reduction",
        formula: "1 - shown tokens / tokens of the whole bodies",
        source: "SkillPager Table 4, by task",
        direction: Direction::HigherIsBetter,
        of: |case| paging::token_reduction(case.answer.shown()),
    },
    Measure {
        name: "Coverage",
        formula: "1 if something is loaded, else 0; tasks that some skill helps with",
        source: "El-Yaniv and Wiener 2010",
        direction: Direction::HigherIsBetter,
        of: abstention::coverage,
    },
    Measure {
        name: "False load",
        formula: "1 if something is loaded, else 0; tasks that no skill helps with",
        source: "ours",
        direction: Direction::LowerIsBetter,
        of: abstention::false_load,
    },
    Measure {
        name: "Rejected load",
        formula: "1 if a skill that is known to be wrong is loaded, else 0",
        source: "ours; rejections as in R3-Skill",
        direction: Direction::LowerIsBetter,
        of: abstention::rejected_load,
    },
];

/// Returns the ranking, if the system ranks and some skill is right.
fn judged_ranking<'a>(case: &Case<'a>) -> Option<Vec<&'a str>> {
    let ranking = case.answer.ranking.as_ref().filter(|_| !case.task.gold.is_empty())?;
    Some(ranking.iter().map(|skill| skill.skill_id.as_str()).collect())
}

fn ranked(case: &Case<'_>, metric: impl Fn(&[&str], &Gold) -> f64) -> Option<f64> {
    judged_ranking(case).map(|ranking| metric(&ranking, &case.task.gold))
}

fn loaded(case: &Case<'_>, metric: impl Fn(&[String], &Gold) -> f64) -> Option<f64> {
    let Case { task, answer, .. } = case;
    answer.loaded.as_ref().filter(|_| task.gold_is_known()).map(|loaded| metric(loaded, &task.gold))
}

fn planned(case: &Case<'_>, metric: impl Fn(&[&[String]]) -> Option<f64>) -> Option<f64> {
    if case.task.steps.is_empty() {
        return None;
    }
    metric(&chain::step_rankings(case.answer)?)
}

fn paged(
    case: &Case<'_>,
    metric: impl Fn(&[[u32; 2]], &GoldEvidence) -> Option<f64>,
) -> Option<f64> {
    match (paging::shown(case), &case.task.evidence) {
        (paging::ShownEvidence::Spans(shown), Some(evidence)) => metric(&shown, evidence),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::{
        answer::{Answer, AnswerPage, AnswerStep},
        task::{GoldStep, Task},
    };

    fn named(case: &Case<'_>) -> BTreeSet<&'static str> {
        measures().iter().filter(|measure| (measure.of)(case).is_some()).map(|m| m.name).collect()
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = measures().iter().map(|measure| measure.name).collect();
        assert_eq!(names.len(), measures().len());
    }

    #[test]
    fn measures_say_nothing_where_they_do_not_apply() {
        let categories = [("a".to_owned(), "db".to_owned())].into();
        let nothing = (Task::default(), Answer::default());
        let case = |(task, answer)| Case { task, answer, categories: &categories };
        assert!(named(&case((&nothing.0, &nothing.1))).is_empty());

        let pager = Answer { pages: Some(Vec::new()), ..Answer::default() };
        let several = Task { gold: ["a", "b"].into_iter().collect(), ..Task::default() };
        assert!(named(&case((&several, &pager))).is_empty());
        let evidence =
            Some(GoldEvidence { skill_id: "a".into(), body_bytes: 9, spans: vec![[0, 5]] });
        let needs_page = Task { evidence, ..Task::default() };
        let of_pages = ["Sufficiency", "Evidence coverage"];
        assert_eq!(named(&case((&needs_page, &pager))), of_pages.into());
        let ranks_nothing = Answer::of_ranking([]);
        assert!(named(&case((&needs_page, &ranks_nothing))).is_empty());

        let one = Task { gold: ["a"].into_iter().collect(), ..Task::default() };
        let ranks = Answer::of_ranking([("a".to_owned(), 1.0)]);
        let of_ranking: BTreeSet<_> = measures()
            .iter()
            .map(|measure| measure.name)
            .take_while(|name| *name != "Set-Compat")
            .collect();
        assert_eq!(named(&case((&one, &ranks))), of_ranking);
        let of_first = measures().iter().filter(|measure| measure.n_ranked().is_some());
        assert_eq!(of_first.map(|measure| measure.name).collect::<BTreeSet<_>>(), of_ranking);

        let abstains = Answer { loaded: Some(Vec::new()), ..Answer::default() };
        let of_loading = ["Set F1", "Set EM", "Cardinality difference", "False load"];
        assert_eq!(named(&case((&nothing.0, &abstains))), of_loading.into());
    }

    #[test]
    fn a_full_task_has_every_measure_but_the_false_load() {
        let step = |id: &str| GoldStep {
            subtask: String::new(),
            category: "db".into(),
            skill_id: Some(id.to_owned()),
        };
        let task = Task {
            gold: ["a", "b"].into_iter().collect(),
            steps: vec![step("a"), step("b")],
            rejected: ["c".to_owned()].into(),
            evidence: Some(GoldEvidence {
                skill_id: "a".into(),
                body_bytes: 9,
                spans: vec![[0, 5]],
            }),
            ..Task::default()
        };
        let page = AnswerPage {
            skill_id: "a".into(),
            spans: vec![[0, 5]],
            n_tokens: 1,
            full_tokens: 2,
            body_bytes: 9,
            n_parts: None,
        };
        let step = |id: &str| AnswerStep { ranking: vec![id.to_owned()], ..AnswerStep::default() };
        let answer = Answer {
            loaded: Some(vec!["a".into(), "b".into()]),
            steps: vec![step("a"), step("b")],
            pages: Some(vec![page]),
            judged_sufficient: Some(true),
            ..Answer::of_ranking([("a".to_owned(), 2.0), ("b".to_owned(), 1.0)])
        };
        let categories: BTreeMap<_, _> =
            ["a", "b"].map(|id| (id.to_owned(), "db".to_owned())).into();
        let case = Case { task: &task, answer: &answer, categories: &categories };
        for measure in measures() {
            let expected = match measure.name {
                "False load" => None,
                "Cardinality difference" | "Rejected load" => Some(0.0),
                "Recall@1" | "Token reduction" => Some(0.5),
                _ => Some(1.0),
            };
            assert_eq!((measure.of)(&case), expected, "{}", measure.name);
        }
    }
}
