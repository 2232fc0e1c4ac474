//! Metrics of the shown part of a skill against the part that is needed (`SkillPager` §4.2).
//!
//! The paper asks an LLM whether what is shown suffices. Here the spans that a correct answer needs
//! are annotated, so that sufficiency needs no model: it is whether all of them are shown.

use super::{measure::Case, ranking::indicator};
use crate::{answer::AnswerPage, task::GoldEvidence};

/// Longest gap between two shown spans that counts as shown, in bytes.
///
/// Nodes leave out the line ends between them (`\r\n\r\n` at most), but an annotated span runs over
/// them. Nothing that a task needs fits into so few bytes.
const MAX_GAP_BYTES: u32 = 4;

/// Whether the shown part of a skill can be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum ShownEvidence {
    /// The task has no evidence, or the system shows no parts of skills.
    Nothing,
    /// What is shown is another version of the body than the annotated one; a report counts these.
    OtherBody,
    /// Byte ranges `[start, end)` that are shown of the evidence's skill, ascending and apart;
    /// empty if nothing is shown, or parts of other skills only.
    Spans(Vec<[u32; 2]>),
}

/// Returns what an answer shows of the skill that holds the task's evidence.
pub(crate) fn shown(case: &Case<'_>) -> ShownEvidence {
    let Some(evidence) = &case.task.evidence else { return ShownEvidence::Nothing };
    let Some(pages) = &case.answer.pages else { return ShownEvidence::Nothing };
    let pages = || pages.iter().filter(|page| page.skill_id == evidence.skill_id);
    if pages().any(|page| page.body_bytes != evidence.body_bytes) {
        return ShownEvidence::OtherBody;
    }
    ShownEvidence::Spans(union(pages().flat_map(|page| page.spans.iter().copied()).collect()))
}

/// Returns 1 if all bytes of the evidence are shown, else 0 (context sufficiency, `SkillPager`
/// §4.2, with annotated evidence in place of the judge).
pub(crate) fn sufficiency(shown: &[[u32; 2]], evidence: &GoldEvidence) -> f64 {
    indicator(n_common(shown, &evidence.spans) == n_bytes(&evidence.spans))
}

/// Returns the share of the evidence's bytes that are shown; `None` if the evidence has no bytes.
///
/// Ours; it tells a near miss from a page about something else, which sufficiency does not.
pub(crate) fn evidence_coverage(shown: &[[u32; 2]], evidence: &GoldEvidence) -> Option<f64> {
    share(n_common(shown, &evidence.spans), n_bytes(&evidence.spans))
}

/// Returns the share of the shown bytes that are evidence; `None` if nothing is shown.
///
/// Ours; the other side of [`evidence_coverage`].
pub(crate) fn shown_precision(shown: &[[u32; 2]], evidence: &GoldEvidence) -> Option<f64> {
    share(n_common(shown, &evidence.spans), n_bytes(shown))
}

/// Returns 1 - Σ shown tokens / Σ tokens of the whole bodies (Token Red., `SkillPager` Table 4);
/// `None` if the bodies have no tokens.
///
/// Below 0 if more is shown than there is, as with overlapping chunks. Of one task's pages it gives
/// the value of that task; the paper's number is of the pages of all tasks together ("aggregate").
pub(crate) fn token_reduction<'a>(pages: impl IntoIterator<Item = &'a AnswerPage>) -> Option<f64> {
    let add = |(n, full): (u64, u64), page: &AnswerPage| {
        (n + u64::from(page.n_tokens), full + u64::from(page.full_tokens))
    };
    let (n_tokens, full_tokens) = pages.into_iter().fold((0, 0), add);
    share(n_tokens, full_tokens).map(|shown| 1.0 - shown)
}

/// Joins spans that overlap or are at most [`MAX_GAP_BYTES`] apart.
fn union(mut spans: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    spans.sort_unstable();
    let mut joined: Vec<[u32; 2]> = Vec::with_capacity(spans.len());
    for [start, end] in spans {
        match joined.last_mut() {
            Some(last) if start <= last[1].saturating_add(MAX_GAP_BYTES) => {
                last[1] = last[1].max(end);
            }
            _ => joined.push([start, end]),
        }
    }
    joined
}

fn n_bytes(spans: &[[u32; 2]]) -> u64 {
    spans.iter().map(|[start, end]| u64::from(end.saturating_sub(*start))).sum()
}

/// Returns the bytes that are in both; the spans of each do not overlap.
fn n_common(a: &[[u32; 2]], b: &[[u32; 2]]) -> u64 {
    let common = |a: &[u32; 2], b: &[u32; 2]| a[1].min(b[1]).saturating_sub(a[0].max(b[0]));
    a.iter().flat_map(|a| b.iter().map(move |b| u64::from(common(a, b)))).sum()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{answer::Answer, task::Task};

    fn evidence(spans: &[[u32; 2]]) -> GoldEvidence {
        GoldEvidence { skill_id: "s".into(), body_bytes: 1000, spans: spans.to_vec() }
    }

    fn page(skill_id: &str, spans: &[[u32; 2]]) -> AnswerPage {
        AnswerPage {
            skill_id: skill_id.into(),
            spans: spans.to_vec(),
            n_tokens: 30,
            full_tokens: 120,
            body_bytes: 1000,
            n_parts: None,
        }
    }

    fn shown_of(
        evidence: Option<GoldEvidence>,
        pages: impl Into<Option<Vec<AnswerPage>>>,
    ) -> ShownEvidence {
        let task = Task { evidence, ..Task::default() };
        let answer = Answer { pages: pages.into(), ..Answer::default() };
        shown(&Case { task: &task, answer: &answer, categories: &BTreeMap::new() })
    }

    /// 150 bytes are needed, 90 of them shown among 130.
    #[test]
    fn coverage_worked_by_hand() {
        let evidence = evidence(&[[100, 200], [300, 350]]);
        let shown = [[80, 150], [310, 370]];
        assert_eq!(evidence_coverage(&shown, &evidence), Some(90.0 / 150.0));
        assert_eq!(shown_precision(&shown, &evidence), Some(90.0 / 130.0));
        assert!(sufficiency(&shown, &evidence) < 0.5);
        assert!(sufficiency(&[[100, 350]], &evidence) > 0.5);
        assert!(sufficiency(&[[100, 349]], &evidence) < 0.5);
        assert_eq!(evidence_coverage(&[], &evidence), Some(0.0));
        assert_eq!(shown_precision(&[], &evidence), None);
    }

    #[test]
    fn line_ends_between_shown_nodes_count_as_shown() {
        let spans =
            |shown: &[[u32; 2]]| shown_of(Some(evidence(&[[0, 90]])), vec![page("s", shown)]);
        assert_eq!(spans(&[[42, 90], [0, 40]]), ShownEvidence::Spans(vec![[0, 90]]));
        assert_eq!(spans(&[[0, 40], [45, 90]]), ShownEvidence::Spans(vec![[0, 40], [45, 90]]));
        assert_eq!(spans(&[[0, 40], [10, 20], [30, 60]]), ShownEvidence::Spans(vec![[0, 60]]));
    }

    #[test]
    fn what_cannot_be_judged_is_told_apart() {
        let needed = || Some(evidence(&[[0, 9]]));
        assert_eq!(shown_of(None, vec![page("s", &[[0, 9]])]), ShownEvidence::Nothing);
        assert_eq!(shown_of(needed(), None), ShownEvidence::Nothing);
        assert_eq!(shown_of(needed(), vec![]), ShownEvidence::Spans(vec![]));
        assert_eq!(shown_of(needed(), vec![page("t", &[[0, 9]])]), ShownEvidence::Spans(vec![]));
        let other = AnswerPage { body_bytes: 999, ..page("s", &[[0, 9]]) };
        assert_eq!(shown_of(needed(), vec![other]), ShownEvidence::OtherBody);
    }

    #[test]
    fn token_reduction_is_of_all_pages_together() {
        assert_eq!(token_reduction(&[page("s", &[]), page("t", &[])]), Some(0.75));
        let more = AnswerPage { n_tokens: 150, ..page("s", &[]) };
        assert_eq!(token_reduction(&[more]), Some(-0.25));
        assert_eq!(token_reduction([]), None);
    }
}
