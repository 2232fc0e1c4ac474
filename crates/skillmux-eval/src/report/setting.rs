//! [`Setting`]: what was measured, besides the systems.

use std::fmt::Write;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use skillmux::index::{Index, SkillIdx};

use super::number::{grouped, number};
use crate::{cluster::ClusterThresholds, error::Error, printable::one_line};

/// What was measured, besides the systems: what answers and scores depend on, but for their own
/// configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// Which tier of its skills the dataset brought, if it has tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Which part of the dataset was asked, if it is split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// What tasks without judgements count as, if there may be some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
    /// Which tasks were drawn, if not all were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Which needs the tasks had, if they had some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<NeedsSetting>,
    /// Length of the rankings; 0 if it is not known.
    pub depth: usize,
    /// The skills to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<LibrarySetting>,
    /// Right skills that the library does not have, so that no system can find them.
    pub n_missing: usize,
    /// What counted as near-duplicates, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterSetting>,
    /// Hash of the program that asked; empty if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub program: String,
}

/// Which needs tasks had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeedsSetting {
    /// Hash of the file.
    pub hash: String,
    /// Tasks that had some.
    pub n_tasks: usize,
}

/// Which tasks were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Their number, or more if the dataset has fewer.
    pub n_tasks: usize,
    /// What chose them.
    pub seed: u64,
}

/// The skills to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibrarySetting {
    /// Hash of their ids and texts.
    pub hash: String,
    /// Their number, without exact copies.
    pub n_skills: usize,
}

/// What counted as near-duplicates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterSetting {
    /// Hash of the file.
    pub hash: String,
    /// What it was made with.
    #[serde(flatten)]
    pub thresholds: ClusterThresholds,
    /// Skills that were compared.
    pub n_skills: usize,
}

/// Something that is not the same in two settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingDifference {
    /// What it is, such as `library`.
    pub what: String,
    /// What the first says.
    pub a: String,
    /// What the second says.
    pub b: String,
}

impl Setting {
    /// Returns what answers depend on and is not the same in both: all but the near-duplicates,
    /// with which answers are only scored.
    pub fn differences(&self, other: &Self) -> Vec<SettingDifference> {
        let (of_self, of_other) = (self.parts(), other.parts());
        let pairs = of_self.into_iter().zip(of_other);
        let different = pairs.filter(|((_, a), (_, b))| a != b);
        let difference = |((what, a), (_, b)): ((&str, _), (&str, _))| SettingDifference {
            what: what.into(),
            a,
            b,
        };
        different.map(difference).collect()
    }

    /// Returns what answers depend on, each with its name; `unknown` where it is not said.
    fn parts(&self) -> [(&'static str, String); 8] {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.to_owned());
        let program = Some(self.program.clone()).filter(|program| !program.is_empty());
        [
            ("tier", text(&self.tier)),
            ("split", text(&self.split)),
            ("unjudged", text(&self.unjudged)),
            ("sample", self.sample.map_or("all tasks".to_owned(), Sample::text)),
            ("needs", self.needs.as_ref().map_or("none".to_owned(), NeedsSetting::text)),
            ("depth", self.depth.to_string()),
            ("library", self.library.as_ref().map_or(UNKNOWN.to_owned(), LibrarySetting::text)),
            (PROGRAM, text(&program)),
        ]
    }

    /// Returns what a reader of scores must know, to follow the number of tasks; empty if nothing
    /// is known. The program is left out: its hash says nothing to people.
    pub(crate) fn line(&self) -> String {
        let mut line = String::new();
        if let Some(sample) = self.sample {
            let _ = write!(line, " · {}", sample.text());
        }
        if let Some(needs) = &self.needs {
            let _ = write!(line, " · {}", one_line(&needs.text()));
        }
        if let Some(split) = &self.split {
            let _ = write!(line, " · {}", one_line(split));
        }
        if let Some(unjudged) = &self.unjudged {
            let _ = write!(line, " · unjudged tasks: {}", one_line(unjudged));
        }
        if let Some(tier) = &self.tier {
            let _ = write!(line, " · {} tier", one_line(tier));
        }
        if let Some(library) = &self.library {
            let _ = write!(line, " · {}", one_line(&library.text()));
        }
        if self.n_missing > 0 {
            let n_missing = grouped(self.n_missing as u64);
            let _ = write!(line, " · {n_missing} right skills are not among them");
        }
        if self.depth > 0 {
            let _ = write!(line, " · rankings of {}", grouped(self.depth as u64));
        }
        line
    }

    /// Returns what counts as a near-duplicate, as a sentence; nothing if nothing does.
    pub(crate) fn clusters_note(&self) -> Option<String> {
        let ClusterSetting { hash, thresholds, n_skills } = self.clusters.as_ref()?;
        let ClusterThresholds { same_name, same_description } = thresholds;
        let [same_name, same_description] =
            [same_name, same_description].map(|threshold| number(f64::from(*threshold)));
        Some(format!(
            "Near-duplicates: clusters {} of {} skills; the same name and {same_name} of the body, \
             or the same description and {same_description}.",
            one_line(hash),
            grouped(*n_skills as u64)
        ))
    }
}

const UNKNOWN: &str = "unknown";

/// What a setting calls the program that asked.
pub(super) const PROGRAM: &str = "program";

impl NeedsSetting {
    fn text(&self) -> String {
        format!("needs of {} ({})", grouped(self.n_tasks as u64), self.hash)
    }
}

impl Sample {
    fn text(self) -> String {
        format!("sample of {} (seed {})", grouped(self.n_tasks as u64), self.seed)
    }
}

impl LibrarySetting {
    /// Returns what an index holds: the same for the same skills, whatever its history.
    ///
    /// Reads all of them.
    ///
    /// # Errors
    /// That of the index if it is corrupt.
    pub fn of(index: &Index) -> Result<Self, Error> {
        let skills: Vec<SkillIdx> = index.skills().collect();
        let mut lines = skills
            .into_par_iter()
            .map(|idx| {
                let found = index.skill(idx)?;
                let copies = found.copies.iter().map(|copy| copy.id.as_str());
                let ids = std::iter::once(found.skill.id.as_str()).chain(copies);
                let ids: Vec<&str> = ids.collect();
                Ok(format!("{}\t{}\n", ids.join("\t"), found.skill.content_hash()))
            })
            .collect::<Result<Vec<String>, Error>>()?;
        lines.par_sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for line in lines {
            hasher.update(line.as_bytes());
        }
        Ok(Self { hash: hasher.finalize().to_hex()[..16].to_owned(), n_skills: index.n_skills() })
    }

    fn text(&self) -> String {
        format!("{} skills ({})", grouped(self.n_skills as u64), self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_duplicates_make_no_other_setting() {
        let clusters = ClusterSetting {
            hash: "c".into(),
            thresholds: ClusterThresholds::default(),
            n_skills: 9,
        };
        let a = Setting { depth: 50, program: "p".into(), ..Setting::default() };
        let b = Setting { clusters: Some(clusters), ..a.clone() };
        assert_eq!(a.differences(&b), []);
        assert!(b.clusters_note().unwrap().contains("clusters c of 9 skills"));

        let library = |hash: &str| Some(LibrarySetting { hash: hash.into(), n_skills: 1200 });
        let (a, b) = (
            Setting { library: library("x"), ..a },
            Setting { depth: 5, library: library("y"), ..b },
        );
        let found: Vec<_> = a.differences(&b).into_iter().map(|d| (d.what, d.a, d.b)).collect();
        let expected = [("depth", "50", "5"), ("library", "1,200 skills (x)", "1,200 skills (y)")];
        let expected = expected.map(|(what, a, b)| (what.to_owned(), a.to_owned(), b.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_line_says_what_is_known() {
        assert_eq!(Setting::default().line(), "");
        let setting = Setting {
            tier: Some("easy".into()),
            sample: Some(Sample { n_tasks: 30, seed: 7 }),
            needs: Some(NeedsSetting { hash: "cd".into(), n_tasks: 29 }),
            library: Some(LibrarySetting { hash: "ab".into(), n_skills: 5 }),
            n_missing: 2,
            ..Setting::default()
        };
        assert_eq!(
            setting.line(),
            " · sample of 30 (seed 7) · needs of 29 (cd) · easy tier · 5 skills (ab) · 2 right skills are not among them"
        );
    }
}
