//! [`TrustSettings`]: what the settings file says of trust, and the policy that follows from it.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use serde::Deserialize;
use skillmux::{
    library::{Origin, SkillPlaces},
    skill::{SkillId, risk::Risk},
    trust::{Tier, TrustPolicy, read_sarif},
};

use crate::pins::Pins;

/// The section `[trust]` of the settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustSettings {
    personal: Option<Tier>,
    project: Option<Tier>,
    plugin: Option<Tier>,
    library: Option<Tier>,
    registry: Option<Tier>,
    /// Tiers of ids.
    #[serde(default)]
    skills: BTreeMap<String, Tier>,
    /// Risks for which a skill is in no answer.
    #[serde(default)]
    block: Vec<Risk>,
    /// Reports of scanners.
    #[serde(default)]
    sarif: Vec<PathBuf>,
}

/// A policy, and what could not become a part of it.
pub(crate) struct Trust {
    pub(crate) policy: TrustPolicy,
    /// Findings of scanners that belong to no skill here.
    pub(crate) n_unplaced: usize,
}

impl TrustSettings {
    /// Returns the settings, with paths taken from a folder where they are relative.
    pub(crate) fn relative_to(self, folder: &Path) -> Self {
        let sarif = self.sarif.into_iter().map(|path| folder.join(path)).collect();
        Self { sarif, ..self }
    }

    /// Returns the reports of scanners.
    pub(crate) fn reports(&self) -> &[PathBuf] {
        &self.sarif
    }

    /// Returns the settings with more reports.
    pub(crate) fn with_reports(self, reports: &[PathBuf]) -> Self {
        Self { sarif: [&self.sarif, reports].concat(), ..self }
    }

    /// Returns the policy for skills at these places.
    ///
    /// # Errors
    /// Those of a pattern, and of a report that cannot be read.
    pub(crate) fn policy(&self, places: &SkillPlaces, pins: &Pins) -> anyhow::Result<Trust> {
        let mut policy = TrustPolicy::default();
        for (origin, tier) in [
            (Origin::Personal, self.personal),
            (Origin::Project, self.project),
            (Origin::Plugin, self.plugin),
            (Origin::Library, self.library),
            (Origin::Registry, self.registry),
        ] {
            if let Some(tier) = tier {
                policy.set_origin(origin, tier);
            }
        }
        for (pattern, tier) in &self.skills {
            policy.set_rule(pattern, *tier)?;
        }
        policy.blocked = self.block.iter().copied().collect();
        let roots: Vec<&Path> = places.roots().collect();
        let mut skills: HashMap<PathBuf, Option<SkillId>> = HashMap::new();
        let mut n_unplaced = 0;
        for path in &self.sarif {
            for finding in read_sarif(path, &roots)? {
                let skill = skills
                    .entry(finding.file.clone())
                    .or_insert_with(|| places.skill_of(&finding.file));
                match skill {
                    Some(id) => policy.add_finding(id.clone(), finding),
                    None => n_unplaced += 1,
                }
            }
        }
        for pin in pins.of(places) {
            policy.pin(pin.id.clone(), pin.text);
        }
        Ok(Trust { policy, n_unplaced })
    }
}
