//! [`QueryAssignment`]: one query to ask for, and whether an answer is one.

use serde::{Deserialize, Serialize};
use skillmux::{model::ChatMessage, skill::Skill};

use super::{
    options::TaskKind,
    row::{QueryRow, mark},
};
use crate::{
    error::Result,
    synth::{
        answer::{check_no_placeholder, check_size, clean, last_json},
        name::Names,
        prompt::{self, MAX_BODY_BYTES, Shown, filled},
        refusal::{Checked, Refusal},
        task::check_task,
        text::Language,
        work::{Assignment, Draft},
    },
};

/// Longest begin of a body that is shown where there are several.
const BODY_BYTES_OF_SEVERAL: usize = MAX_BODY_BYTES / 4;

/// Most tokens of an answer. A query has a tenth of it; models that think aloud need the rest.
const MAX_TOKENS: u32 = 6_000;

/// Skills of a query of several.
const N_CHOSEN: std::ops::RangeInclusive<usize> = 2..=4;

const FORM: &str = r#"{"query": "..."}"#;
const FORM_OF_SEVERAL: &str = r#"{"skills": ["A", ...], "query": "..."}"#;

/// One query to ask for.
pub(super) struct QueryAssignment {
    pub(super) query_id: String,
    pub(super) kind: TaskKind,
    pub(super) language: Language,
    /// Who asks.
    pub(super) asker: &'static str,
    /// The skill; for a query of several those to choose from follow it.
    pub(super) skills: Vec<Skill>,
    /// What each of them is called.
    pub(super) names: Vec<Names>,
    pub(super) model_name: String,
}

/// What the model is shown.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Documents<'s> {
    Skill(Shown<'s>),
    Skills(Vec<Shown<'s>>),
}

/// What the model writes.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    skills: Vec<String>,
    query: String,
}

impl QueryAssignment {
    fn form(&self) -> &'static str {
        if self.kind == TaskKind::Multi { FORM_OF_SEVERAL } else { FORM }
    }

    /// Returns the positions of the skills that the model chose, in its order.
    fn chosen(&self, letters: &[String]) -> Result<Vec<usize>, Refusal> {
        if self.kind != TaskKind::Multi {
            return Ok(vec![0]);
        }
        let mut chosen: Vec<usize> = Vec::new();
        for letter in letters {
            let mut letters = ('A'..='Z').take(self.skills.len());
            match letters.position(|known| letter.trim() == known.to_string()) {
                Some(at) if !chosen.contains(&at) => chosen.push(at),
                _ => return Err(Refusal::Skills),
            }
        }
        let is_good = N_CHOSEN.contains(&chosen.len()) && chosen.contains(&0);
        if is_good { Ok(chosen) } else { Err(Refusal::Skills) }
    }

    fn read(&self, answer: &str) -> Result<Draft, Refusal> {
        let Written { skills, query } = last_json(answer, self.form())?;
        let query = clean(&query)?;
        check_size("query", &query, self.language, self.kind.bounds(self.language))?;
        check_no_placeholder(&query)?;
        let chosen = self.chosen(&skills)?;
        for position in &chosen {
            check_task(&query, &self.skills[*position], &self.names[*position])?;
        }
        let ids: Vec<_> = chosen.into_iter().map(|at| self.skills[at].id.clone()).collect();
        let row = QueryRow {
            query_id: self.query_id.clone(),
            task_id: self.query_id.clone(),
            query,
            skill_ids: ids.clone(),
            skills: ids,
            lang: self.language.as_str().to_owned(),
            kind: self.kind.as_str().to_owned(),
            model: self.model_name.clone(),
            prompt: prompt::VERSION,
        };
        let mark = mark(&row.query);
        Ok(Draft { row: serde_json::to_vec(&row).expect("a row has string keys only"), mark })
    }
}

impl Assignment for QueryAssignment {
    fn key(&self) -> &str {
        &self.query_id
    }

    fn max_tokens(&self) -> u32 {
        MAX_TOKENS
    }

    fn messages(&self) -> Vec<ChatMessage> {
        let (min, max) = self.kind.wanted(self.language);
        let values = [
            ("asker", self.asker),
            ("form", self.kind.form()),
            ("min", &min.to_string()),
            ("max", &max.to_string()),
            ("unit", self.language.unit()),
            ("language", self.language.name()),
        ];
        let (template, documents) = if self.kind == TaskKind::Multi {
            let shown = |(skill, letter)| Shown::of(skill, Some(letter), BODY_BYTES_OF_SEVERAL);
            let shown = self.skills.iter().zip('A'..).map(shown);
            (prompt::SEVERAL_SKILLS, Documents::Skills(shown.collect()))
        } else {
            let shown = Shown::of(&self.skills[0], None, MAX_BODY_BYTES);
            (prompt::ONE_SKILL, Documents::Skill(shown))
        };
        prompt::messages(&filled(template, &values), &documents, self.form())
    }

    fn check(&self, answer: &str) -> Result<Checked<Draft>> {
        Ok(self.read(answer).into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::skill;
    use super::*;

    const GOOD: &str = "My cellar lists 40 bottles in stock.csv with their year and price. Tell me \
                        which ones to open before June, as a table, and leave out the gifts.";

    fn assignment(kind: TaskKind, language: Language) -> QueryAssignment {
        let body = "Open each ledger, compare the year with the table of peaks and then mark \
                    whatever is past it in red.";
        let mut skills = vec![skill("drinks/cellar-planner", "Plans which wine to drink", body)];
        if kind == TaskKind::Multi {
            skills.push(skill("office/price-lookup", "Finds prices", "Ask three shops."));
            skills.push(skill("office/mail-merge", "Sends letters", "Fill the template."));
        }
        QueryAssignment {
            query_id: "k-1".to_owned(),
            kind,
            language,
            asker: "a student",
            names: skills.iter().map(Names::of).collect(),
            skills,
            model_name: "small".to_owned(),
        }
    }

    fn reason(assignment: &QueryAssignment, query: &str) -> Option<&'static str> {
        let answer = serde_json::json!({ "query": query, "skills": ["A", "B"] }).to_string();
        assignment.read(&answer).err().map(|refusal| refusal.reason())
    }

    fn short(query: &str) -> Option<&'static str> {
        reason(&assignment(TaskKind::Short, Language::En), query)
    }

    #[test]
    fn a_good_query_becomes_a_row_of_all_readers() {
        let of_two = assignment(TaskKind::Multi, Language::En);
        let query = GOOD.repeat(2);
        let answer = serde_json::json!({ "skills": ["C", "A"], "query": query }).to_string();
        let row = of_two.read(&answer).unwrap().row;
        assert!(row.starts_with(b"{\"query_id\":\""));
        let row: serde_json::Value = serde_json::from_slice(&row).unwrap();
        let ids = serde_json::json!(["office/mail-merge", "drinks/cellar-planner"]);
        assert_eq!((&row["skill_ids"], &row["skills"]), (&ids, &ids));
        assert_eq!((&row["query_id"], &row["task_id"]), (&"k-1".into(), &"k-1".into()));
        assert_eq!((&row["lang"], &row["kind"]), (&"en".into(), &"multi".into()));
        assert_eq!((&row["model"], &row["prompt"]), (&"small".into(), &prompt::VERSION.into()));
        assert_eq!(row["query"], query);
    }

    #[test]
    fn each_rule_refuses_what_it_is_for() {
        assert_eq!(short(GOOD), None);
        assert_eq!(short("What should I drink?"), Some("too short or too long"));
        assert_eq!(short(&GOOD.repeat(3)), Some("too short or too long"));
        assert_eq!(short(&format!("{GOOD} 谢谢你帮我整理这些酒的清单")), Some("another language"));
        assert_eq!(short(&format!("{GOOD} Use cellar_planner.")), Some("says the skill's name"));
        assert_eq!(short(&format!("{GOOD} Apply the skill to it.")), Some("speaks of skills"));
        assert_eq!(short(&format!("{GOOD} It is for [name].")), Some("has a placeholder"));
        assert_eq!(short(&format!("{GOOD} \u{1b}[31m")), Some("control characters"));
        let copied =
            "For my cellar: compare the year with the table of peaks and then tell me more.";
        assert_eq!(short(copied), Some("copies the skill"));
        let patched =
            "open each ledger compare, the year with the table of it, then mark whatever is";
        assert_eq!(short(patched), Some("copies the skill"));
        let of_short = assignment(TaskKind::Short, Language::En);
        let refused = of_short.read("I would rather not.").unwrap_err();
        assert_eq!(refused.reason(), "no JSON of the form asked for");
    }

    #[test]
    fn chinese_is_counted_in_characters() {
        let in_chinese = assignment(TaskKind::Short, Language::Zh);
        let query = "酒窖里有四十瓶酒，清单在 stock.csv，请告诉我六月之前该喝哪些，做成表格。";
        assert_eq!(reason(&in_chinese, query), None);
        assert_eq!(reason(&in_chinese, "该喝哪瓶"), Some("too short or too long"));
        assert_eq!(reason(&in_chinese, GOOD), Some("another language"));
    }

    #[test]
    fn only_skills_that_were_shown_are_taken() {
        let of_several = assignment(TaskKind::Multi, Language::En);
        let chosen = |letters: &[&str]| {
            let letters: Vec<String> = letters.iter().map(|letter| (*letter).to_owned()).collect();
            of_several.chosen(&letters)
        };
        assert_eq!(chosen(&["B", " A"]), Ok(vec![1, 0]));
        for bad in [&["A"][..], &[], &["B", "C"], &["A", "A"], &["A", "D"], &["A", "cellar"]] {
            assert_eq!(chosen(bad), Err(Refusal::Skills), "{bad:?}");
        }
    }

    #[test]
    fn a_skill_about_skills_may_be_spoken_of() {
        let mut of_skills = assignment(TaskKind::Short, Language::En);
        of_skills.skills[0].description = "Checks the SKILL.md of a skill".to_owned();
        assert_eq!(reason(&of_skills, &format!("{GOOD} Put it into the skill.")), None);
    }

    #[test]
    fn what_is_asked_says_length_language_and_form() {
        let messages = assignment(TaskKind::Multi, Language::Zh).messages();
        for part in ["150 to 400 characters, in Chinese", "a student", FORM_OF_SEVERAL] {
            assert!(messages[0].text.contains(part), "{}", messages[0].text);
        }
        let shown: serde_json::Value = serde_json::from_str(&messages[1].text).unwrap();
        assert_eq!(shown["skills"][2]["letter"], "C");
        assert_eq!(shown["skills"][0]["name"], "cellar-planner");
        let messages = assignment(TaskKind::Short, Language::En).messages();
        assert!(messages[1].text.starts_with("{\"skill\":{\"name\":"), "{}", messages[1].text);
    }
}
