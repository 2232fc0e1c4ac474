//! [`Names`]: what a skill is called, and whether a text says it.

use skillmux::skill::Skill;

use super::text::{is_spaceless_unit, units};

/// What a skill is called, in units: its name, its id, and the last part of the id.
#[derive(Debug, Clone)]
pub(super) struct Names(Vec<Vec<String>>);

impl Names {
    /// Returns the names that must not be said.
    ///
    /// A name of a single word that the skill's description uses as a word, such as `docker` or
    /// `pdf`, is left out: no task for it could do without.
    pub(super) fn of(skill: &Skill) -> Self {
        let id = skill.id.as_str();
        let last = id.rsplit('/').next().unwrap_or(id);
        let description = units(&skill.description);
        let mut names: Vec<Vec<String>> = Vec::new();
        for name in [skill.name.as_str(), id, last].map(units) {
            let is_plain = n_words(&name) <= 1 && holds(&description, &name);
            if !name.is_empty() && !is_plain && !names.contains(&name) {
                names.push(name);
            }
        }
        Self(names)
    }

    /// Returns the names of more than one word: the others are often words of a whole field, such
    /// as `copywriting`.
    pub(super) fn of_several_words(skill: &Skill) -> Self {
        let Self(mut names) = Self::of(skill);
        names.retain(|name| n_words(name) > 1);
        Self(names)
    }

    /// Returns a name that a text says, whatever stands between its words.
    pub(super) fn said_in(&self, text_units: &[String]) -> Option<String> {
        self.0.iter().find(|name| is_said(text_units, name)).map(|name| name.join(" "))
    }
}

/// Returns whether a text says a name: as its words in a row, or as one word without joints.
fn is_said(text: &[String], name: &[String]) -> bool {
    holds(text, name) || name.len() > 1 && text.contains(&name.concat())
}

fn holds(text: &[String], name: &[String]) -> bool {
    !name.is_empty() && text.windows(name.len()).any(|window| window == name)
}

/// Returns the number of words; two Chinese characters are about one.
fn n_words(name: &[String]) -> usize {
    let n_spaceless = name.iter().filter(|unit| is_spaceless_unit(unit)).count();
    name.len() - n_spaceless + n_spaceless.div_ceil(2)
}

/// Returns a name by which those that differ in case and joints only are the same.
pub(super) fn name_key(name: &str) -> String {
    units(name).concat()
}

#[cfg(test)]
mod tests {
    use skillmux::skill::SkillId;

    use super::*;

    fn skill(id: &str, name: &str, description: &str) -> Skill {
        Skill {
            id: SkillId::new(id),
            name: name.to_owned(),
            description: description.to_owned(),
            body: String::new(),
            source: String::new(),
        }
    }

    fn said(id: &str, name: &str, description: &str, text: &str) -> Option<String> {
        Names::of(&skill(id, name, description)).said_in(&units(text))
    }

    #[test]
    fn a_name_is_found_whatever_joins_its_words() {
        for text in [
            "use pdf-form-filling here",
            "use PDF form filling here",
            "use pdf_form_filling() here",
            "PdfFormFilling, please",
            "`documents/pdf-form-filling`",
        ] {
            let found = said("documents/pdf-form-filling", "pdf-form-filling", "Fills forms", text);
            assert!(found.is_some(), "{text}");
        }
    }

    #[test]
    fn words_of_a_name_that_stand_apart_are_no_name() {
        for text in ["fill in a PDF form", "pdf-form-fillings", "a pdf for form filling"] {
            assert_eq!(said("x/pdf-form-filling", "pdf-form-filling", "", text), None, "{text}");
        }
    }

    #[test]
    fn the_last_part_of_the_id_is_a_name() {
        let found = said("a/b--tea-maker", "Brewing", "Hot drinks", "call the B tea maker");
        assert_eq!(found.as_deref(), Some("b tea maker"));
    }

    #[test]
    fn a_single_word_that_the_description_uses_may_be_said() {
        let task = "build a docker image of the api";
        assert_eq!(said("ops/docker", "docker", "Builds Docker images", task), None);
        assert!(said("ops/docker", "docker", "Builds container images", task).is_some());
        assert_eq!(said("翻译", "翻译", "翻译技术文档", "把手册翻译成英文"), None);
        assert!(said("合同审查", "合同审查", "合同审查与修改", "做一次合同审查").is_some());
        let skill = skill("ops/copywriting", "copywriting", "Writes copy");
        let said_by = |names: Names| names.said_in(&units("copywriting for the shop"));
        assert!(said_by(Names::of(&skill)).is_some());
        assert_eq!(said_by(Names::of_several_words(&skill)), None);
        // The id is more than that word.
        assert!(said("ops/docker", "docker", "Builds Docker images", "with ops/docker").is_some());
    }
}
