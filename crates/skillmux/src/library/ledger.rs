//! Merges duplicates, keeps ids unique and writes the report of a scan.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    entry::{Entry, Found},
    origin::ScannedSkill,
    report::{Collision, Finding, Issue, Merged, Provenance, ScanReport},
};
use crate::skill::{ContentHash, SkillId};

/// The state of a scan. It holds ids and hashes, no texts: about 250 bytes a skill.
#[derive(Default)]
pub(super) struct Ledger {
    report: ScanReport,
    /// Ids of the skills kept, in scan order.
    kept: Vec<SkillId>,
    /// Position in `kept` by content.
    by_content: HashMap<ContentHash, usize>,
    /// Digests of the ids in `kept`.
    ids: HashSet<Digest>,
    /// Position in `kept` of the first skill with a name, by the digest of the name.
    by_name: HashMap<Digest, usize>,
    /// Positions in `kept` by name, for names that more than one skill has.
    collisions: BTreeMap<String, Vec<usize>>,
}

/// 128 bits of a BLAKE3 hash, which take less room than the text.
type Digest = [u8; 16];

impl Ledger {
    /// Enters what a source handed on; returns the skill if it is kept, under its final id.
    pub(super) fn enter(&mut self, entry: Entry) -> Option<ScannedSkill> {
        self.report.n_read += 1;
        match entry {
            Entry::Found(found) if found.is_for_user_only => {
                self.report.n_for_user_only += 1;
                push_capped(&mut self.report.for_user_only, found.location);
                None
            }
            Entry::Found(found) => self.enter_skill(*found),
            Entry::Skipped(finding) => {
                self.report.n_skipped += 1;
                push_capped(&mut self.report.skipped, finding);
                None
            }
        }
    }

    fn enter_skill(&mut self, found: Found) -> Option<ScannedSkill> {
        let Found { mut skill, hash, background, location, mut issues, .. } = found;
        if let Some(&position) = self.by_content.get(&hash) {
            self.report.n_merged += 1;
            self.report.merged.push(Merged {
                kept: self.kept[position].clone(),
                copy: Provenance { id: skill.id, source: skill.source },
            });
            return None;
        }
        if !self.ids.insert(digest(skill.id.as_str())) {
            let renamed = self.free_id(&skill.id, hash);
            issues.push(Issue::IdTaken { id: skill.id, renamed: renamed.clone() });
            skill.id = renamed;
        }
        let position = self.kept.len();
        self.by_content.insert(hash, position);
        self.kept.push(skill.id.clone());
        self.note_name(&skill.name, position);
        self.report.n_kept += 1;
        for issue in issues {
            push_capped(&mut self.report.noted, Finding { location: location.clone(), issue });
        }
        Some(ScannedSkill { skill, background })
    }

    /// Takes and returns `id~` with the first digits of the content hash; all of them and a number
    /// where those ids are taken as well.
    fn free_id(&mut self, id: &SkillId, hash: ContentHash) -> SkillId {
        let hash = hash.to_string();
        let mut renamed = format!("{id}~{}", &hash[..8]);
        let mut number = 1;
        while !self.ids.insert(digest(&renamed)) {
            number += 1;
            renamed = format!("{id}~{hash}-{number}");
        }
        SkillId::new(renamed)
    }

    fn note_name(&mut self, name: &str, position: usize) {
        let name = name.to_lowercase();
        let first = *self.by_name.entry(digest(&name)).or_insert(position);
        if first != position {
            self.collisions.entry(name).or_insert_with(|| vec![first]).push(position);
        }
    }

    /// Returns the report.
    pub(super) fn finish(self) -> ScanReport {
        let Self { mut report, kept, collisions, .. } = self;
        report.collisions = collisions
            .into_iter()
            .map(|(name, positions)| {
                let mut ids: Vec<SkillId> =
                    positions.into_iter().map(|position| kept[position].clone()).collect();
                ids.sort();
                Collision { name, ids }
            })
            .collect();
        report
    }
}

fn push_capped<T>(list: &mut Vec<T>, item: T) {
    if list.len() < ScanReport::MAX_FINDINGS {
        list.push(item);
    }
}

fn digest(text: &str) -> Digest {
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::Skill;

    fn entry(id: &str, name: &str, body: &str) -> Entry {
        let skill = Skill {
            id: SkillId::new(id),
            name: name.into(),
            description: String::new(),
            body: body.into(),
            source: "test".into(),
        };
        Entry::found(skill, format!("place of {id}"), Vec::new())
    }

    fn enter(ledger: &mut Ledger, id: &str, name: &str, body: &str) -> Option<String> {
        ledger.enter(entry(id, name, body)).map(|scanned| scanned.skill.id.to_string())
    }

    #[test]
    fn a_duplicate_merges_into_the_first() {
        let mut ledger = Ledger::default();
        assert_eq!(enter(&mut ledger, "a", "pdf", "x").as_deref(), Some("a"));
        assert_eq!(enter(&mut ledger, "b", "pdf", "x"), None);
        let report = ledger.finish();
        assert_eq!((report.n_read, report.n_kept, report.n_merged), (2, 1, 1));
        assert_eq!(
            report.merged,
            [Merged {
                kept: SkillId::new("a"),
                copy: Provenance { id: SkillId::new("b"), source: "test".into() }
            }]
        );
        assert_eq!(report.collisions, []);
    }

    #[test]
    fn a_taken_id_gets_a_suffix_even_if_that_is_taken_too() {
        let mut ledger = Ledger::default();
        enter(&mut ledger, "a", "x", "1");
        let renamed = enter(&mut ledger, "a", "x", "2").unwrap();
        assert_eq!(renamed.len(), "a~".len() + 8);
        assert!(renamed.starts_with("a~"));
        let mut other = Ledger::default();
        enter(&mut other, "a", "x", "1");
        enter(&mut other, &renamed, "x", "hostile");
        let again = enter(&mut other, "a", "x", "2").unwrap();
        assert!(again.len() > renamed.len() && again.ends_with("-2"), "{again}");
        let issue =
            Issue::IdTaken { id: SkillId::new("a"), renamed: SkillId::new(renamed.clone()) };
        let report = ledger.finish();
        assert_eq!(report.noted, [Finding { location: "place of a".into(), issue }]);
    }

    #[test]
    fn a_skill_that_is_not_for_a_model_is_counted_and_takes_neither_id_nor_text() {
        let mut ledger = Ledger::default();
        assert!(ledger.enter(entry("a", "pdf", "x").for_user_only(true)).is_none());
        assert_eq!(enter(&mut ledger, "a", "pdf", "x").as_deref(), Some("a"));
        let report = ledger.finish();
        assert_eq!((report.n_read, report.n_kept, report.n_for_user_only), (2, 1, 1));
        assert_eq!(report.for_user_only, ["place of a"]);
        assert_eq!((report.n_merged, report.n_skipped, report.collisions.len()), (0, 0, 0));
    }

    #[test]
    fn names_that_differ_in_case_only_collide() {
        let mut ledger = Ledger::default();
        for (id, name) in [("c", "PDF"), ("a", "pdf"), ("b", "Pdf"), ("d", "other")] {
            enter(&mut ledger, id, name, id);
        }
        let report = ledger.finish();
        let ids = ["a", "b", "c"].map(SkillId::new).to_vec();
        assert_eq!(report.collisions, [Collision { name: "pdf".into(), ids }]);
    }

    #[test]
    fn findings_are_counted_beyond_the_limit() {
        let mut ledger = Ledger::default();
        for _ in 0..=ScanReport::MAX_FINDINGS {
            ledger.enter(Entry::skipped("x", Issue::Empty));
        }
        let report = ledger.finish();
        assert_eq!(report.n_skipped, ScanReport::MAX_FINDINGS + 1);
        assert_eq!(report.skipped.len(), ScanReport::MAX_FINDINGS);
    }
}
