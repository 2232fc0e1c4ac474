//! [`Recipe`]: how a system is made.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{
    fusion::FusionRule,
    paging::{budget::PageBudget, method::PageMethod},
    skill_text::SkillText,
    text_system::TextSystem,
};

/// How a system is made.
///
/// [`Display`](fmt::Display) gives the short form of its spec: what is the default is left out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Recipe {
    /// The whole router.
    Router,
    /// A system that ranks by one text of the skills.
    Text(&'static TextSystem, SkillText),
    /// One ranking out of several.
    Fusion(FusionRule, Vec<Part>),
    /// The rankings of a TREC run.
    Trec(PathBuf),
    /// A ranking that the assembly knows by this name, over a text of the skills.
    Ranking(String, SkillText),
    /// A chat model chooses from a ranking.
    Judge(Box<Recipe>),
    /// A chat model votes on pages.
    Vote(Box<Recipe>),
    /// Pages of so many tokens.
    Page(PageMethod, PageBudget),
}

/// A system that is part of another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) recipe: Recipe,
    pub(super) weight: f32,
}

impl Recipe {
    /// Returns whether answers have a ranking.
    pub(super) fn ranks(&self) -> bool {
        match self {
            Self::Page(..) => false,
            Self::Vote(recipe) => recipe.ranks(),
            _ => true,
        }
    }

    /// Calls `f` with every ranking that this recipe asks the assembly for.
    pub(super) fn for_each_ranking(&self, f: &mut dyn FnMut(&str)) {
        match self {
            Self::Ranking(name, _) => f(name),
            Self::Judge(part) | Self::Vote(part) => part.for_each_ranking(f),
            Self::Fusion(_, parts) => parts.iter().for_each(|part| part.recipe.for_each_ranking(f)),
            Self::Router | Self::Text(..) | Self::Trec(_) | Self::Page(..) => {}
        }
    }

    /// Calls `f` with every TREC run that rankings are taken from.
    pub(super) fn for_each_run<'a>(&'a self, f: &mut dyn FnMut(&'a Path)) {
        match self {
            Self::Trec(path) => f(path),
            Self::Judge(part) | Self::Vote(part) => part.for_each_run(f),
            Self::Fusion(_, parts) => parts.iter().for_each(|part| part.recipe.for_each_run(f)),
            Self::Router | Self::Text(..) | Self::Ranking(..) | Self::Page(..) => {}
        }
    }

    /// Returns whether a chat model is asked.
    pub(super) fn asks_chat(&self) -> bool {
        match self {
            Self::Judge(_) | Self::Vote(_) => true,
            Self::Fusion(_, parts) => parts.iter().any(|part| part.recipe.asks_chat()),
            Self::Router | Self::Text(..) | Self::Trec(_) | Self::Ranking(..) | Self::Page(..) => {
                false
            }
        }
    }

    /// Returns whether answers have pages.
    pub(super) fn shows(&self) -> bool {
        matches!(self, Self::Page(..) | Self::Router)
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Router => f.write_str("default"),
            Self::Text(system, text) => write!(f, "{}{}", system.name, text.suffix()),
            Self::Trec(path) => write!(f, "trec:{}", path.display()),
            Self::Ranking(name, text) => write!(f, "{name}{}", text.suffix()),
            Self::Judge(recipe) => write!(f, "judge({recipe})"),
            Self::Vote(recipe) => write!(f, "vote({recipe})"),
            Self::Page(method, PageBudget::DEFAULT) => write!(f, "page:{method}"),
            Self::Page(method, budget) => write!(f, "page:{method}/{budget}"),
            Self::Fusion(rule, parts) => {
                write!(f, "{}(", rule.as_str())?;
                for (position, Part { recipe, weight }) in parts.iter().enumerate() {
                    let comma = if position == 0 { "" } else { "," };
                    write!(f, "{comma}{recipe}")?;
                    if weight.to_bits() != 1.0_f32.to_bits() {
                        write!(f, "*{weight}")?;
                    }
                }
                f.write_str(")")
            }
        }
    }
}
