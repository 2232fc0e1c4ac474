//! [`SystemSpec`]: the short text that names a system.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use super::{
    assembly::Assembly,
    cut::Cut,
    forms::known_forms,
    fusion::FusionRule,
    paging::{
        budget::PageBudget,
        method::{PageMethod, PaperKnobs},
    },
    recipe::{Part, Recipe},
    skill_text::SkillText,
    text_system::TextSystem,
};
use crate::error::Error;

/// Forms that end in a path, and what is said of one that is not there.
const PATHS: [(&str, &str); 3] = [
    ("trec:", "the path of a TREC run after `trec:`"),
    ("ranked:", "the path of a ranker's weights after `ranked:`"),
    ("transformer:", "the path of a ranker's weights after `transformer:`"),
];

/// Which system to measure, as `rrf(bm25,dense:nd)@best-k`.
///
/// See [`system_forms`](super::system_forms) for the forms. Blanks do not matter, but within the
/// path of a run; such a path ends at a comma or a closing parenthesis where the run is part of
/// another system.
///
/// [`Display`](fmt::Display) gives the short form: what is the default is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemSpec {
    pub(super) recipe: Recipe,
    cut: Option<Cut>,
}

impl SystemSpec {
    /// Reads a spec.
    ///
    /// # Errors
    /// [`Error::SystemUnknown`] and [`Error::SpecMalformed`]; their hints list what there is.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (recipe, cut) = match text.rsplit_once('@') {
            // Within parentheses it is part of a part.
            Some((recipe, cut)) if !cut.contains(')') => match Cut::parse(cut.trim()) {
                Some(cut) => (recipe, Some(cut)),
                // A path may hold an `@`.
                None if PATHS.iter().any(|(form, _)| text.starts_with(form)) => (text, None),
                None => {
                    let expected = "`@K` with K of 1 or more, `@best-k` or `@oracle-k`";
                    return Err(malformed(text, expected));
                }
            },
            _ => (text, None),
        };
        let recipe = Recipe::parse(recipe)?;
        if cut.is_some() && !recipe.ranks() {
            return Err(malformed(text, "a system that ranks before `@`"));
        }
        Ok(Self { recipe, cut })
    }

    /// Returns how the set to load is cut from the ranking, if the spec says: what
    /// [`apply_cut`](crate::evaluate::apply_cut) does with the answers, for it needs all of them.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Tells whether the system pages the skill of a task, and ranks nothing.
    pub fn is_of_pages(&self) -> bool {
        matches!(self.recipe, Recipe::Page(..))
    }

    /// Checks that the assembly knows the rankings that the spec names, before anything is opened.
    ///
    /// # Errors
    /// [`Error::SystemUnknown`], with the forms that there are.
    pub fn check(&self, assembly: &dyn Assembly) -> Result<(), Error> {
        let known = assembly.rankings();
        let is_known = |name: &str| {
            known.iter().any(|ranking| match ranking.form.strip_suffix("FILE") {
                Some(prefix) => name.starts_with(prefix),
                None => ranking.form == name,
            })
        };
        let mut unknown = None;
        self.recipe.for_each_ranking(&mut |name| {
            if unknown.is_none() && !is_known(name) {
                unknown = Some(name.to_owned());
            }
        });
        let Some(name) = unknown else { return Ok(()) };
        Err(Error::SystemUnknown { name, known: known_forms(Some(assembly)) })
    }

    /// Returns the TREC runs that the system takes rankings from.
    pub fn runs(&self) -> Vec<&Path> {
        let mut runs = Vec::new();
        self.recipe.for_each_run(&mut |path| runs.push(path));
        runs
    }

    /// Returns whether the system asks a chat model.
    pub fn asks_chat(&self) -> bool {
        self.recipe.asks_chat()
    }

    /// Returns the spec without its cut. Several cuts can share the answers of that system.
    #[must_use]
    pub fn without_cut(&self) -> Self {
        Self { recipe: self.recipe.clone(), cut: None }
    }
}

impl FromStr for SystemSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for SystemSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.recipe)?;
        self.cut.map_or(Ok(()), |cut| write!(f, "{cut}"))
    }
}

impl Recipe {
    fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        for (form, missing) in PATHS {
            let Some(path) = text.strip_prefix(form).map(str::trim) else { continue };
            if path.is_empty() {
                return Err(malformed(text, missing));
            }
            return Ok(if form == "trec:" {
                Self::Trec(PathBuf::from(path))
            } else {
                Self::Ranking(format!("{form}{path}"), SkillText::Full)
            });
        }
        if let Some((head, rest)) = text.split_once('(') {
            let Some(inner) = rest.strip_suffix(')') else {
                return Err(malformed(text, "a closing parenthesis at its end"));
            };
            return Self::parse_call(head.trim(), inner, text);
        }
        let (name, suffix) = match text.split_once(':') {
            Some((name, suffix)) => (name.trim(), Some(suffix)),
            None => (text, None),
        };
        if let Some(system) = TextSystem::named(name) {
            return Ok(Self::Text(system, skill_text(suffix, text)?));
        }
        match name {
            "default" if suffix.is_none() => Ok(Self::Router),
            "default" => Err(malformed(text, "nothing after `default`")),
            "page" => Self::parse_page(suffix.unwrap_or_default(), text),
            "rrf" | "score" | "zscore" | "judge" | "vote" => {
                Err(malformed(text, "systems in parentheses after the name"))
            }
            _ if text.contains('@') => Err(malformed(text, "`@` at the end of the whole only")),
            _ if is_name(name) => Ok(Self::Ranking(name.to_owned(), skill_text(suffix, text)?)),
            _ => Err(unknown(text)),
        }
    }

    /// Reads `head(inner)`.
    fn parse_call(head: &str, inner: &str, whole: &str) -> Result<Self, Error> {
        let rule = match head {
            "rrf" => FusionRule::ReciprocalRank,
            "score" => FusionRule::MinMax,
            "zscore" => FusionRule::ZScore,
            "judge" => {
                let recipe = Self::parse(inner)?;
                return if recipe.ranks() {
                    Ok(Self::Judge(Box::new(recipe)))
                } else {
                    Err(malformed(whole, "a system that ranks in the parentheses"))
                };
            }
            "vote" => {
                let recipe = Self::parse(inner)?;
                return if recipe.shows() {
                    Ok(Self::Vote(Box::new(recipe)))
                } else {
                    Err(malformed(whole, "`default` or a `page:` system in the parentheses"))
                };
            }
            _ => return Err(unknown(whole)),
        };
        let mut parts = Vec::new();
        for text in split_parts(inner) {
            let (recipe, weight) = match text.rsplit_once('*') {
                Some((recipe, weight)) => (recipe, Some(weight.trim())),
                None => (text, None),
            };
            let weight = match weight {
                None => 1.0,
                Some(_) if rule == FusionRule::ReciprocalRank => {
                    return Err(malformed(text, "no weight, for `rrf` has none"));
                }
                Some(weight) => weight
                    .parse()
                    .ok()
                    .filter(|weight: &f32| weight.is_finite() && *weight > 0.0)
                    .ok_or_else(|| malformed(text, "a weight above 0 after `*`"))?,
            };
            let recipe = Self::parse(recipe)?;
            if !recipe.ranks() {
                return Err(malformed(text, "a system that ranks"));
            }
            parts.push(Part { recipe, weight });
        }
        if parts.len() < 2 {
            return Err(malformed(whole, "two systems or more in the parentheses"));
        }
        Ok(Self::Fusion(rule, parts))
    }

    /// Reads `METHOD[/lambda=WEIGHT][/k=N][/TOKENS or SHARE%]`.
    fn parse_page(text: &str, whole: &str) -> Result<Self, Error> {
        let mut parts = text.split('/').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let method = PageMethod::ALL.into_iter().find(|known| known.as_str() == name);
        let mut method = method.ok_or_else(|| {
            malformed(
                whole,
                "`default`, `mmr`, `skill-pager`, `full-document`, `head`, `chunk`, `chunk-topk`, `greedy-graph` \
                 or `topk-dep` after `page:`",
            )
        })?;
        let mut budget = None;
        for part in parts {
            match (part.split_once('='), &mut method) {
                (Some((knob, value)), PageMethod::SkillPager(knobs)) => {
                    set_knob(knobs, knob, value).map_err(|expected| malformed(whole, expected))?;
                }
                (Some(_), _) => {
                    return Err(malformed(
                        whole,
                        "`lambda=` and `k=` with `page:skill-pager` only",
                    ));
                }
                (None, _) if budget.is_some() => {
                    return Err(malformed(whole, "one budget"));
                }
                (None, _) => {
                    let wrong = |()| {
                        malformed(
                            whole,
                            "a number of tokens above 0, or a share such as `40%`, after `/`",
                        )
                    };
                    budget = Some(part.parse().map_err(wrong)?);
                }
            }
        }
        Ok(Self::Page(method, budget.unwrap_or(PageBudget::DEFAULT)))
    }
}

/// Sets `lambda` or `k`; what was expected is the error.
fn set_knob(knobs: &mut PaperKnobs, knob: &str, value: &str) -> Result<(), &'static str> {
    match knob {
        "lambda" => {
            // Hundredths are enough, and can be compared.
            let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
            let percent = format!("{whole}{decimals:0<2}").parse().ok();
            let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                && value.bytes().any(|byte| byte.is_ascii_digit())
                && decimals.len() <= 2;
            let percent = percent.filter(|percent| *percent <= 100 && is_number);
            knobs.lambda_percent = Some(
                percent.ok_or("a weight from 0 to 1, of at most two decimals, after `lambda=`")?,
            );
        }
        "k" => {
            let k = value.parse().ok().filter(|k| *k > 0);
            knobs.k = Some(k.ok_or("a number of parts above 0 after `k=`")?);
        }
        _ => return Err("`lambda=` or `k=`"),
    }
    Ok(())
}

/// Returns whether a text can be the name of a ranking.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Reads what stands after the name of a system that ranks by a text.
fn skill_text(suffix: Option<&str>, whole: &str) -> Result<SkillText, Error> {
    match suffix.map(str::trim) {
        None | Some("full") => Ok(SkillText::Full),
        Some("nd") => Ok(SkillText::NameDescription),
        Some(_) => Err(malformed(whole, "`:nd` or `:full` after the name")),
    }
}

pub(super) fn malformed(part: &str, expected: &'static str) -> Error {
    Error::SpecMalformed { part: part.to_owned(), expected, known: known_forms(None) }
}

fn unknown(name: &str) -> Error {
    Error::SystemUnknown { name: name.to_owned(), known: known_forms(None) }
}

/// Splits at the commas outside of parentheses.
fn split_parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => (),
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::assembly::WordRankings;

    fn canonical(text: &str) -> String {
        SystemSpec::parse(text).unwrap().to_string()
    }

    fn message(text: &str) -> String {
        SystemSpec::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn specs_are_written_in_their_short_form_and_read_again() {
        for (text, short) in [
            ("default", "default"),
            (" bm25:full ", "bm25"),
            ("fielded:nd", "fielded:nd"),
            ("tfidf : nd @ best-k", "tfidf:nd@best-k"),
            ("dense:nd@oracle-k", "dense:nd@oracle-k"),
            ("rrf(bm25, rrf(dense,tfidf) )@3", "rrf(bm25,rrf(dense,tfidf))@3"),
            ("score(bm25*0.7, dense*.3)", "score(bm25*0.7,dense*0.3)"),
            ("zscore(bm25*1,trec:a b.run)", "zscore(bm25,trec:a b.run)"),
            ("judge(rrf(bm25,fielded))", "judge(rrf(bm25,fielded))"),
            ("trec:/tmp/me@home/a.run@5", "trec:/tmp/me@home/a.run@5"),
            ("trec:/tmp/me@home/a.run", "trec:/tmp/me@home/a.run"),
            ("ranked: a@b/w.json @3", "ranked:a@b/w.json@3"),
            ("page:mmr/2000", "page:mmr"),
            ("page:greedy-graph/800", "page:greedy-graph/800"),
            ("page:skill-pager/40%", "page:skill-pager/40%"),
            ("page:skill-pager/60%/k=5/lambda=0.50", "page:skill-pager/lambda=0.5/k=5/60%"),
            ("page:skill-pager/lambda=1", "page:skill-pager/lambda=1"),
        ] {
            assert_eq!(canonical(text), short);
            assert_eq!(canonical(short), short);
        }
    }

    #[test]
    fn a_cut_is_told_apart_from_its_system() {
        let spec = SystemSpec::parse("bm25@7").unwrap();
        assert_eq!(spec.cut(), Some(Cut::Fixed(7)));
        assert_eq!(spec.without_cut().to_string(), "bm25");
    }

    #[test]
    fn a_chat_model_is_asked_by_judges_and_votes_alone() {
        for (text, asks_chat) in [
            ("default", false),
            ("rrf(bm25,dense:nd)@best-k", false),
            ("page:mmr", false),
            ("judge(bm25)", true),
            ("vote(page:mmr)", true),
            ("rrf(bm25,judge(dense))", true),
        ] {
            assert_eq!(SystemSpec::parse(text).unwrap().asks_chat(), asks_chat, "{text}");
        }
    }

    #[test]
    fn runs_are_found_in_every_part() {
        let spec = SystemSpec::parse("judge(rrf(bm25,trec:a.run,score(trec:b,dense)))").unwrap();
        assert_eq!(spec.runs(), [Path::new("a.run"), Path::new("b")]);
        assert!(SystemSpec::parse("vote(page:mmr)").unwrap().runs().is_empty());
    }

    #[test]
    fn what_is_no_spec_is_refused_with_what_there_is() {
        let unknown = SystemSpec::parse("judge(rrf(bm25,bm52))").unwrap();
        let error = unknown.check(&WordRankings).unwrap_err();
        assert_eq!(error.to_string(), "there is no system `bm52`");
        assert!(error.hint().unwrap().contains("fielded[:nd|:full]"));
        SystemSpec::parse("rrf(bm25,fielded:nd)@3").unwrap().check(&WordRankings).unwrap();
        assert_eq!(message(""), "there is no system ``");
        assert_eq!(message("foo(bm25)"), "there is no system `foo(bm25)`");
        for (text, part) in [
            ("bm25:body", "`:nd` or `:full`"),
            ("default:nd", "nothing after"),
            ("rrf(bm25,dense", "closing parenthesis"),
            ("rrf(bm25)", "two systems"),
            ("rrf", "in parentheses"),
            ("rrf(bm25*2,dense)", "no weight"),
            ("score(bm25*-1,dense)", "weight above 0"),
            ("score(bm25*inf,dense)", "weight above 0"),
            ("rrf(bm25,page:mmr)", "a system that ranks"),
            ("judge(page:mmr)", "a system that ranks"),
            ("page:mmr@3", "a system that ranks"),
            ("bm25@0", "`@K`"),
            ("bm25@some", "`@best-k`"),
            ("rrf(bm25@3,dense)", "end of the whole"),
            ("trec:", "the path"),
            ("ranked: ", "the path of a ranker"),
            ("page:llm", "`greedy-graph`"),
            ("page:mmr/0", "tokens above 0"),
            ("page:mmr/40%/60%", "one budget"),
            ("page:mmr/k=3", "`page:skill-pager` only"),
            ("page:skill-pager/k=0", "parts above 0"),
            ("page:skill-pager/lambda=1.01", "from 0 to 1"),
            ("page:skill-pager/lambda=0.333", "two decimals"),
            ("page:skill-pager/lambda=.+5", "from 0 to 1"),
            ("page:skill-pager/lambda=", "from 0 to 1"),
            ("page:skill-pager/n=3", "`k=`"),
        ] {
            assert!(message(text).contains(part), "{}", message(text));
        }
    }
}
