//! What a task says that it should not: what its skill is called, that there are skills, and
//! phrases of the skill.

use skillmux::skill::Skill;

use super::{
    answer::check_runs,
    name::Names,
    refusal::Refusal,
    text::{Shingles, units},
};

/// Longest run of units that a query and a skill have in common. In 99 of 100 of our long tasks,
/// which were written by reading the skills, it has at most 8, words or characters.
const MAX_RUN: usize = 8;

/// Largest share of the sequences of four units that a query takes from a skill; the largest of our
/// long tasks is 0.12.
const MAX_COPIED_SHARE: f64 = 0.25;
const COPIED_UNITS: usize = 4;

/// What a query says that knows too much, but for skills that are about skills.
const GIVEAWAYS: [&str; 8] = [
    "skill.md",
    "this skill",
    "the skill",
    "a skill that",
    "your skill",
    "这个技能",
    "该技能",
    "此技能",
];

/// Checks a task against a skill that it needs: it neither gives away nor copies it.
pub(super) fn check_task(query: &str, skill: &Skill, names: &Names) -> Result<(), Refusal> {
    check_not_given_away(query, skill, names)?;
    let query_units = units(query);
    let skill_units = units(&format!("{}\n{}\n{}", skill.name, skill.description, skill.body));
    check_runs(&query_units, &skill_units, MAX_RUN)?;
    let of_query = Shingles::of(&query_units, COPIED_UNITS);
    let of_skill = Shingles::of(&skill_units, COPIED_UNITS);
    if of_query.share_in(&of_skill) > MAX_COPIED_SHARE {
        return Err(Refusal::Copied { run: "many of its phrases".to_owned() });
    }
    Ok(())
}

/// Checks that a task neither says what its skill is called nor speaks of skills, unless the skill
/// is about skills.
pub(super) fn check_not_given_away(
    query: &str,
    skill: &Skill,
    names: &Names,
) -> Result<(), Refusal> {
    if let Some(name) = names.said_in(&units(query)) {
        return Err(Refusal::Name { name });
    }
    let headline = format!("{}\n{}", skill.name, skill.description).to_lowercase();
    if headline.contains("skill") || headline.contains("技能") {
        return Ok(());
    }
    let lower = query.to_lowercase();
    match GIVEAWAYS.into_iter().find(|phrase| lower.contains(phrase)) {
        Some(phrase) => Err(Refusal::SpeaksOfSkill { phrase }),
        None => Ok(()),
    }
}
