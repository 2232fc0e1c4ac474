//! Says a decision in a sentence.

use super::Considered;

/// Words of the task that a reason quotes.
const N_QUOTED: usize = 4;

/// Says that there was nothing to choose from.
pub(super) const NOTHING_FOUND: &str = "no skill has anything in common with the task";

/// Says that the task asks for nothing.
pub(super) const SMALL_TALK: &str = "the task asks for nothing that a skill could help with";

/// Says that no skill was wanted.
pub(super) const NONE_WANTED: &str = "no skill was asked for";

/// Says which skill came closest, and what it lacks.
pub(super) fn of_abstention(best: &Considered) -> String {
    let closest = format!("no skill fits well enough: the closest, `{}`,", short_name(best));
    let none = Vec::new();
    let (matched, missing) =
        best.words().map_or((&none, &none), |words| (&words.matched, &words.missing));
    match (missing.is_empty(), matched.is_empty()) {
        (false, _) => {
            let is_translated = best.candidate.signals.translation.is_some();
            let how = if is_translated { " (the task was read in English)" } else { "" };
            format!("{closest} says nothing of {}{how}", quoted(missing))
        }
        (true, true) => format!("{closest} has no word in common with the task"),
        (true, false) => {
            format!("{closest} has no more than {} in common with the task", quoted(matched))
        }
    }
}

/// Says why the best skill is loaded, and how many with it.
pub(super) fn of_load(best: &Considered, n_skills: usize) -> String {
    let rest = match n_skills {
        0 => return NONE_WANTED.to_owned(),
        1 => String::new(),
        2 => "; 1 more stands close to it".to_owned(),
        n => format!("; {} more stand close to it", n - 1),
    };
    if best.candidate.signals.is_named {
        return format!("the task names `{}`{rest}", short_name(best));
    }
    let matched = best.words().map_or(&[] as &[String], |words| &words.matched);
    if matched.is_empty() {
        return format!(
            "`{}` fits by its meaning; it has no word of the task{rest}",
            short_name(best)
        );
    }
    format!("`{}` speaks of {}{rest}", short_name(best), quoted(matched))
}

/// Says why a skill is loaded that may not help, and which one may help in its place.
pub(super) fn of_doubt(best: &Considered, next: Option<&Considered>) -> String {
    let reason = of_load(best, 1);
    let next = next.map_or(String::new(), |next| format!("; or else `{}`", short_name(next)));
    in_doubt(&format!("{reason}{next}"))
}

/// Says a reason for what may not help.
pub(super) fn in_doubt(reason: &str) -> String {
    format!("maybe: {reason}")
}

/// Says that several skills are loaded, and names those for the same part of the task as the first,
/// and the others.
pub(super) fn of_set(first: &Considered, beside: &[&Considered], others: &[&Considered]) -> String {
    let named = |skills: &[&Considered], what: &str| {
        let names: Vec<String> =
            skills.iter().map(|skill| format!("`{}`", short_name(skill))).collect();
        (!names.is_empty()).then(|| format!("{} {what}", names.join(", ")))
    };
    let all = [
        Some(of_load(first, 1)),
        named(beside, "beside it"),
        named(others, "for other parts of the task"),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Says how many of the needs have a skill.
pub(super) fn of_needs(n_served: usize, n_needs: usize) -> String {
    match (n_served, n_needs) {
        (1, 1) => "a skill serves the need".to_owned(),
        (served, needs) if served == needs => format!("all {needs} needs have a skill"),
        (1, needs) => format!("1 of {needs} needs has a skill"),
        (served, needs) => format!("{served} of {needs} needs have a skill"),
    }
}

/// Returns the first words, quoted.
fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().take(N_QUOTED).map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// Returns as much of the name as a sentence can bear; the specification allows 64 characters.
fn short_name(skill: &Considered) -> &str {
    skill.name.char_indices().nth(64).map_or(skill.name.as_str(), |(end, _)| &skill.name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        retrieve::{Candidate, Signals, WordMatch},
        skill::SkillId,
    };

    fn closest(matched: &[&str], missing: &[&str]) -> Considered {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let words =
            WordMatch { matched: words(matched), missing: words(missing), ..WordMatch::default() };
        let mut signals = Signals::default();
        signals.words = Some(words);
        let candidate =
            Candidate { skill: SkillId::new("documents/pdf-forms"), score: 3.0, signals };
        Considered { candidate, name: "pdf-forms".to_owned() }
    }

    #[test]
    fn a_skill_is_loaded_for_its_words_or_without_one() {
        let reason = of_load(&closest(&["form"], &[]), 1);
        assert_eq!(reason, "`pdf-forms` speaks of `form`");
        let reason = of_load(&closest(&[], &["form"]), 2);
        let expected = "`pdf-forms` fits by its meaning; it has no word of the task; 1 more stands close to it";
        assert_eq!(reason, expected);
    }

    #[test]
    fn skills_of_one_part_are_told_from_those_of_others() {
        let [first, beside, other] =
            [closest(&["form"], &[]), closest(&[], &[]), closest(&[], &[])];
        assert_eq!(
            of_set(&first, &[&beside], &[&other]),
            "`pdf-forms` speaks of `form`; `pdf-forms` beside it; `pdf-forms` for other parts of the task"
        );
        assert_eq!(
            of_set(&first, &[], &[&other]),
            "`pdf-forms` speaks of `form`; `pdf-forms` for other parts of the task"
        );
    }

    #[test]
    fn an_abstention_says_what_the_closest_skill_lacks() {
        assert_eq!(
            of_abstention(&closest(&[], &["river", "Budapest"])),
            "no skill fits well enough: the closest, `pdf-forms`, says nothing of `river`, `Budapest`"
        );
        let reason = of_abstention(&closest(&["flows"], &[]));
        assert!(reason.ends_with("has no more than `flows` in common with the task"));
        let reason = of_abstention(&closest(&[], &[]));
        assert!(reason.ends_with("has no word in common with the task"));
    }
}
