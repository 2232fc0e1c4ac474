//! [`TrustSettings`]: what the settings file says of trust, and the policy that follows from it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, hash_map::Entry},
    fs,
    path::{Component, Path, PathBuf},
};

use serde::Deserialize;
use skillmux::{
    index::Index,
    library::{Origin, SkillPlaces, Whereabouts},
    skill::{SkillId, risk::Risk},
    trust::{ScannerFinding, Tier, TrustPolicy, read_sarif},
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
    /// Findings of scanners that speak against a file of no skill of the index.
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

    /// Returns the policy for skills at these places. Without their index, findings of scanners
    /// belong to the ids that the paths of the files say.
    ///
    /// # Errors
    /// Those of a pattern, of a report that cannot be read, and of the index.
    pub(crate) fn policy(
        &self,
        places: &SkillPlaces,
        index: Option<&Index>,
        pins: &Pins,
    ) -> anyhow::Result<Trust> {
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
        let n_unplaced = self.add_findings(&mut policy, places, index)?;
        for pin in pins.of(places) {
            policy.pin(pin.id.clone(), pin.text);
        }
        Ok(Trust { policy, n_unplaced })
    }

    /// Adds what scanners found, and returns how many findings belong to no skill of the index.
    fn add_findings(
        &self,
        policy: &mut TrustPolicy,
        places: &SkillPlaces,
        index: Option<&Index>,
    ) -> anyhow::Result<usize> {
        let roots: Vec<&Path> = places.roots().collect();
        let mut findings = Vec::new();
        for path in &self.sarif {
            // Notes speak against nothing.
            findings.extend(read_sarif(path, &roots)?.into_iter().filter(ScannerFinding::is_risk));
        }
        if findings.is_empty() {
            return Ok(0);
        }
        let folders = index.map(|index| SkillFolders::of(index, places)).transpose()?;
        let folders = folders.unwrap_or_default();
        let mut skills: HashMap<PathBuf, Around> = HashMap::new();
        let mut n_unplaced = 0;
        for finding in findings {
            let around = match skills.entry(finding.file.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    new.insert(Around::of(&finding.file, &folders, places, index)?)
                }
            };
            if around.present.is_empty() {
                n_unplaced += 1;
            }
            for id in around.present.iter().chain(&around.to_come) {
                policy.add_finding(id.clone(), finding.clone());
            }
        }
        Ok(n_unplaced)
    }
}

/// The folders of the skills of an index, links resolved.
#[derive(Default)]
struct SkillFolders(HashMap<PathBuf, Vec<SkillId>>);

impl SkillFolders {
    fn of(index: &Index, places: &SkillPlaces) -> skillmux::Result<Self> {
        let mut folders: HashMap<PathBuf, Vec<SkillId>> = HashMap::new();
        for idx in index.skills() {
            let id = index.id(idx)?;
            let found = places.find(&id, &index.source(idx)?, index.content_hash(idx)?);
            if let Whereabouts::Found(place) = found
                && let Ok(folder) = fs::canonicalize(place.folder())
            {
                folders.entry(folder).or_default().push(id);
            }
        }
        Ok(Self(folders))
    }
}

/// The skills in whose folders a file lies: of all folders above it, because a skill may use what
/// lies in a skill within its own folder.
struct Around {
    /// Those of the index.
    present: BTreeSet<SkillId>,
    /// The ids that skills of these folders get if they come into the index: a server may open a
    /// newer one at any time.
    to_come: BTreeSet<SkillId>,
}

impl Around {
    fn of(
        file: &Path,
        folders: &SkillFolders,
        places: &SkillPlaces,
        index: Option<&Index>,
    ) -> skillmux::Result<Self> {
        // A scanner may have followed links, or not.
        let is_up = |part: Component<'_>| part == Component::ParentDir;
        let spelled = std::path::absolute(file).ok().filter(|it| !it.components().any(is_up));
        let real = fs::canonicalize(file).ok();
        let above = spelled.iter().chain(&real).flat_map(|path| path.ancestors());
        let skills_at = |folder: &Path| folders.0.get(&fs::canonicalize(folder).ok()?);
        let present = above.filter_map(skills_at).flatten().cloned().collect();
        let mut to_come = BTreeSet::new();
        for id in places.skills_around(file) {
            let found = index.map(|index| index.search(&id)).transpose()?;
            if !matches!(found, Some(Ok(_))) {
                to_come.insert(id);
            }
        }
        Ok(Self { present, to_come })
    }
}
