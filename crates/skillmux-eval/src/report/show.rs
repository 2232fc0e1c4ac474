//! [`ShownTask`]: one task, and what systems said to it.

use std::fmt::Write;

use serde::Serialize;

use super::{
    number::{NONE, fixed, number, signed_score},
    scores::{TaskScores, View},
    text::wrapped,
};
use crate::{
    answer::{AnswerPage, AnswerStep, RankedSkill},
    error::Error,
    printable::{json, one_line, width},
    task::Task,
};

/// One task, and what systems said to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShownTask {
    /// Name of the dataset.
    pub dataset: String,
    /// The task with what is right for it.
    pub task: Task,
    /// What the systems said.
    pub systems: Vec<ShownSystem>,
}

/// What one system said.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShownSystem {
    /// Name.
    pub name: String,
    /// Skills, best first, if the system ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Vec<ShownSkill>>,
    /// Ids of the skills to load, if it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Vec<String>>,
    /// Confidence that some skill helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Steps of the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<AnswerStep>,
    /// What is shown of skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<AnswerPage>>,
    /// Why the system could not be asked, if it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The measures that say something.
    pub measures: Vec<ShownMeasure>,
}

/// A skill of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownSkill {
    /// Rank, from 1.
    pub rank: usize,
    /// Its grade, 0 if it is not right by id.
    pub grade: u32,
    /// Whether it is known to be wrong.
    pub is_rejected: bool,
    /// The skill, its score, and what that is made of.
    #[serde(flatten)]
    pub skill: RankedSkill,
}

/// A measure of the task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownMeasure {
    /// Name.
    pub measure: String,
    /// What counts as right.
    pub view: View,
    /// The value.
    pub value: f64,
}

impl ShownTask {
    /// Returns what systems said to a task.
    ///
    /// # Errors
    /// [`Error::NoSuchTask`].
    pub fn new(scores: &TaskScores<'_>, task_id: &str) -> Result<Self, Error> {
        let at = scores.dataset.tasks.iter().position(|task| task.id == task_id);
        let at = at.ok_or_else(|| Error::NoSuchTask { task_id: task_id.to_owned() })?;
        let task = &scores.dataset.tasks[at];
        let systems = scores.systems.iter().map(|system| {
            let answer = &system.rows[at].answer;
            let skill = |(rank, skill): (usize, &RankedSkill)| ShownSkill {
                rank,
                grade: task.gold.grade(&skill.skill_id),
                is_rejected: task.rejected.contains(&skill.skill_id),
                skill: skill.clone(),
            };
            let mut measures = Vec::new();
            for view in scores.views() {
                for measure in scores.measures() {
                    if let Some(value) = system.column(*view, measure.name)[at] {
                        let measure = measure.name.to_owned();
                        measures.push(ShownMeasure { measure, view: *view, value });
                    }
                }
            }
            ShownSystem {
                name: system.name.to_owned(),
                ranking: answer
                    .ranking
                    .as_ref()
                    .map(|ranking| (1..).zip(ranking).map(skill).collect()),
                loaded: answer.loaded.clone(),
                confidence: answer.confidence,
                steps: answer.steps.clone(),
                pages: answer.pages.clone(),
                refused: answer.refused.clone(),
                measures,
            }
        });
        Ok(Self {
            dataset: scores.dataset.name.clone(),
            task: task.clone(),
            systems: systems.collect(),
        })
    }

    /// Returns the case as JSON, with a line feed at its end.
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Returns the case for a terminal of so many columns, with the heads of the rankings; right
    /// skills that come later are shown all the same.
    pub fn to_text(&self, max_width: usize, max_ranks: usize) -> String {
        let mut text = String::new();
        let task = &self.task;
        let slices = task.slices.iter().map(|(key, value)| format!(" · {key}={value}"));
        let slices: String = slices.collect();
        let _ = writeln!(
            text,
            "{} · {}{}",
            one_line(&self.dataset),
            one_line(&task.id),
            one_line(&slices)
        );
        push(&mut text, "query", &one_line(&task.query), max_width);
        push(&mut text, "gold", &self.gold(), max_width);
        if !task.order.is_empty() {
            push(&mut text, "order", &ids(&task.order, " → "), max_width);
        }
        for (n, step) in (1..).zip(&task.steps) {
            let category = format!(" [{}]", step.category);
            let category = if step.category.is_empty() { "" } else { &category };
            let skill =
                step.skill_id.as_ref().map_or(String::new(), |id| format!(" {}", quoted(id)));
            let line = format!("{}{}{skill}", one_line(&step.subtask), one_line(category));
            push(&mut text, &format!("step {n}"), &line, max_width);
        }
        if !task.rejected.is_empty() {
            let rejected: Vec<String> = task.rejected.iter().cloned().collect();
            push(&mut text, "wrong", &ids(&rejected, ", "), max_width);
        }
        if let Some(evidence) = &task.evidence {
            let line = format!(
                "{}: bytes {} of {}",
                quoted(&evidence.skill_id),
                spans(&evidence.spans),
                evidence.body_bytes
            );
            push(&mut text, "evidence", &line, max_width);
        }
        for system in &self.systems {
            let _ = writeln!(text, "\n── {}", one_line(&system.name));
            system.push_text(&mut text, task, max_width, max_ranks);
        }
        text
    }

    fn gold(&self) -> String {
        if self.task.gold.is_empty() {
            let gold = if self.task.needs_no_skill() {
                "none: no skill helps"
            } else if self.task.steps.is_empty() {
                "not known"
            } else {
                "known by category only"
            };
            return gold.to_owned();
        }
        let grades: Vec<u32> = self.task.gold.iter().map(|(_, grade)| grade).collect();
        let has_grades = grades.iter().any(|grade| *grade != 1);
        let skill = |(id, grade): (&str, u32)| {
            let grade = if has_grades { format!(" (grade {grade})") } else { String::new() };
            format!("{}{grade}", quoted(id))
        };
        self.task.gold.iter().map(skill).collect::<Vec<_>>().join(", ")
    }
}

impl ShownSystem {
    fn push_text(&self, text: &mut String, task: &Task, max_width: usize, max_ranks: usize) {
        if let Some(refused) = &self.refused {
            push(text, "not asked", &one_line(refused), max_width);
        }
        if let Some(ranking) = &self.ranking {
            push_ranking(text, ranking, task, max_ranks);
        }
        if let Some(loaded) = &self.loaded {
            let marked = |id: &String| {
                let mark = if task.gold.contains(id) { "✓" } else { "✗" };
                format!("{} {mark}", quoted(id))
            };
            let line = loaded.iter().map(marked).collect::<Vec<_>>().join(", ");
            let line = if loaded.is_empty() { "nothing: abstains" } else { &line };
            push(text, "loads", line, max_width);
        }
        if let Some(confidence) = self.confidence {
            push(text, "confidence", &fixed(f64::from(confidence)), max_width);
        }
        for (n, step) in (1..).zip(&self.steps) {
            let line = format!("{}: {}", one_line(&step.subtask), ids(&step.ranking, ", "));
            push(text, &format!("step {n}"), &line, max_width);
        }
        if self.pages.as_ref().is_some_and(Vec::is_empty) {
            push(text, "page", "nothing", max_width);
        }
        for page in self.pages.iter().flatten() {
            let line = format!(
                "{}: bytes {} of {}, {} of {} tokens",
                quoted(&page.skill_id),
                spans(&page.spans),
                page.body_bytes,
                page.n_tokens,
                page.full_tokens
            );
            push(text, "page", &line, max_width);
        }
        let values = |view: View| -> Vec<String> {
            let of_view = self.measures.iter().filter(|shown| shown.view == view);
            // Name and value stay on one line.
            of_view
                .map(|shown| format!("{} {}", shown.measure, number(shown.value)))
                .map(|value| value.replace(' ', NO_BREAK))
                .collect()
        };
        let (by_id, with_duplicates) = (values(View::ById), values(View::NearDuplicates));
        if !by_id.is_empty() {
            push(text, "measures", &by_id.join(" · "), max_width);
        }
        // Only what near-duplicates change.
        let changed = with_duplicates.iter().filter(|value| !by_id.contains(value));
        let changed: Vec<&str> = changed.map(String::as_str).collect();
        if !changed.is_empty() {
            push(text, "near-dup.", &changed.join(" · "), max_width);
        }
    }
}

/// Appends the begin of a ranking, and the right skills that come later.
fn push_ranking(text: &mut String, ranking: &[ShownSkill], task: &Task, max_ranks: usize) {
    let mut last_rank = 0;
    for shown in ranking {
        let ShownSkill { rank, grade, is_rejected, skill } = shown;
        if *rank > max_ranks && *grade == 0 {
            continue;
        }
        if *rank > last_rank + 1 {
            text.push_str("     …\n");
        }
        last_rank = *rank;
        let mark = match (grade, is_rejected) {
            (1.., _) => "✓",
            (0, true) => "✗",
            (0, false) => " ",
        };
        let (score, id) = (skill.score, one_line(&skill.skill_id));
        let _ = writeln!(text, "{mark} {rank:>4}  {score:>9.3}  {id}");
        if !skill.contributions.is_empty() {
            let part = |c: &skillmux::retrieve::Contribution| {
                format!("{} {}", one_line(&c.feature), signed_score(c.value))
            };
            let parts: Vec<String> = skill.contributions.iter().map(part).collect();
            let _ = writeln!(text, "{:19}{}", "", parts.join(" · "));
        }
    }
    if ranking.is_empty() {
        text.push_str("  ranks nothing\n");
    }
    for (id, _) in task.gold.iter() {
        if !ranking.iter().any(|shown| shown.skill.skill_id == id) {
            let _ = writeln!(text, "✓ none  {NONE:>9}  {}", one_line(id));
        }
    }
}

/// A blank at which no line ends.
const NO_BREAK: &str = "\u{a0}";

/// Appends a line with a name, wrapped under itself.
fn push(text: &mut String, name: &str, value: &str, max_width: usize) {
    const INDENT: usize = 12;
    let wrapped = wrapped(value, max_width.saturating_sub(INDENT)).replace(NO_BREAK, " ");
    for (at, line) in wrapped.lines().enumerate() {
        let name = if at == 0 { name } else { "" };
        let blanks = " ".repeat(INDENT.saturating_sub(width(name)));
        let _ = writeln!(text, "{name}{blanks}{line}");
    }
}

fn quoted(id: &str) -> String {
    format!("`{}`", one_line(id))
}

fn ids(ids: &[String], between: &str) -> String {
    ids.iter().map(|id| quoted(id)).collect::<Vec<_>>().join(between)
}

fn spans(spans: &[[u32; 2]]) -> String {
    let spans: Vec<String> = spans.iter().map(|[start, end]| format!("{start}–{end}")).collect();
    if spans.is_empty() { NONE.to_owned() } else { spans.join(", ") }
}
