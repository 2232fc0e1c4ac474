//! [`Pins`]: what skills were when the user pinned them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use skillmux::{
    library::{SkillPlaces, Whereabouts},
    route::PresentSkill,
    skill::{ContentHash, SkillId},
};

use crate::{error::CliError, wiring::write_whole};

const VERSION: u32 = 1;

/// What skills were when the user pinned them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pins(BTreeMap<SkillId, Pin>);

/// One skill as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pin {
    /// Where it came from.
    pub(crate) source: String,
    /// Hash of name, description and body.
    pub(crate) text: ContentHash,
    /// Hash of the files in its folder, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<String>,
}

/// The file of pins.
#[derive(Serialize, Deserialize)]
struct PinFile {
    version: u32,
    skills: BTreeMap<SkillId, Pin>,
}

/// How skills differ from what was pinned; each list is sorted by id.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Drift {
    /// Skills that are as they were.
    pub(crate) n_same: usize,
    /// Skills whose name, description or body changed.
    pub(crate) changed: Vec<SkillId>,
    /// Skills of which only other files changed, such as scripts.
    pub(crate) changed_files: Vec<SkillId>,
    /// Skills that are no longer there.
    pub(crate) gone: Vec<SkillId>,
    /// Skills that were not pinned.
    pub(crate) new: Vec<SkillId>,
}

impl Drift {
    /// Returns whether something that was pinned is not as it was.
    pub(crate) fn is_some(&self) -> bool {
        !(self.changed.is_empty() && self.changed_files.is_empty() && self.gone.is_empty())
    }
}

impl Pins {
    /// Reads a file of pins; none if there is no file.
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let refused = |detail: String| CliError::Pins { path: path.to_owned(), detail };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(refused(error.to_string())),
        };
        let file: PinFile =
            serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
        if file.version != VERSION {
            return Err(refused(format!("its version is {}, not {VERSION}", file.version)));
        }
        Ok(Self(file.skills))
    }

    /// Writes the pins in one step.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let file = PinFile { version: VERSION, skills: self.0.clone() };
        let text = serde_json::to_string_pretty(&file)? + "\n";
        write_whole(path, text.as_bytes())
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(())
    }

    /// Returns whether nothing was pinned.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all pins, by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SkillId, &Pin)> {
        self.0.iter()
    }

    /// Returns the pins with these skills as they are now. Pins of their sources for skills that are gone are dropped.
    pub(crate) fn with(mut self, present: &[PresentSkill], places: &SkillPlaces) -> Self {
        let sources = sources(present);
        self.0.retain(|_, pin| !sources.contains(pin.source.as_str()));
        for PresentSkill { id, source, hash } in present {
            let files = files_hash(places, id, source);
            self.0.insert(id.clone(), Pin { source: source.clone(), text: *hash, files });
        }
        self
    }

    /// Returns how skills differ from the pins. Pins of other sources say nothing.
    pub(crate) fn drift(&self, present: &[PresentSkill], places: &SkillPlaces) -> Drift {
        let mut drift = Drift::default();
        for PresentSkill { id, source, hash } in present {
            match self.0.get(id) {
                None => drift.new.push(id.clone()),
                Some(pin) if pin.text != *hash => drift.changed.push(id.clone()),
                Some(pin) if pin.files != files_hash(places, id, source) => {
                    drift.changed_files.push(id.clone());
                }
                Some(_) => drift.n_same += 1,
            }
        }
        let ids: BTreeSet<&SkillId> = present.iter().map(|skill| &skill.id).collect();
        let sources = sources(present);
        let is_gone = |(id, pin): &(&SkillId, &Pin)| {
            sources.contains(pin.source.as_str()) && !ids.contains(id)
        };
        drift.gone = self.0.iter().filter(is_gone).map(|(id, _)| id.clone()).collect();
        drift
    }
}

fn sources(present: &[PresentSkill]) -> BTreeSet<&str> {
    present.iter().map(|skill| skill.source.as_str()).collect()
}

fn files_hash(places: &SkillPlaces, id: &SkillId, source: &str) -> Option<String> {
    match places.find(id, source) {
        Whereabouts::Found(place) => Some(place.files_hash()?.to_hex().to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(id: &str, source: &str, byte: u8) -> PresentSkill {
        let hash = ContentHash::from_bytes([byte; 16]);
        PresentSkill { id: SkillId::new(id), source: source.to_owned(), hash }
    }

    fn ids(ids: &[SkillId]) -> Vec<&str> {
        ids.iter().map(SkillId::as_str).collect()
    }

    #[test]
    fn drift_is_what_changed_went_or_came() {
        let places = SkillPlaces::default();
        let pins = Pins::default()
            .with(&[skill("a", "one", 1), skill("b", "one", 1), skill("c", "one", 1)], &places)
            .with(&[skill("z", "two", 1)], &places);
        let drift = pins
            .drift(&[skill("a", "one", 1), skill("b", "one", 2), skill("d", "one", 1)], &places);
        assert_eq!((drift.n_same, drift.is_some()), (1, true));
        assert_eq!(
            (ids(&drift.changed), ids(&drift.gone), ids(&drift.new)),
            (vec!["b"], vec!["c"], vec!["d"])
        );
        let again = pins.with(&[skill("a", "one", 3)], &places);
        assert_eq!(again.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "z"]);
        assert!(!again.drift(&[skill("a", "one", 3)], &places).is_some());
    }

    #[test]
    fn pins_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/pins.json");
        assert!(Pins::read(&path).unwrap().is_empty());
        let pins = Pins::default().with(&[skill("a", "one", 7)], &SkillPlaces::default());
        pins.write(&path).unwrap();
        assert_eq!(Pins::read(&path).unwrap(), pins);
        for text in [
            "",
            "{}",
            "{\"version\": 2, \"skills\": {}}",
            "{\"version\": 1, \"skills\": {\"a\": 1}}",
        ] {
            fs::write(&path, text).unwrap();
            assert!(matches!(Pins::read(&path), Err(CliError::Pins { .. })), "{text}");
        }
    }
}
