//! [`TrustNote`]: what an answer says of where a skill comes from and of what speaks against it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ScannerFinding, Tier, TrustPolicy, Verdict};
use crate::{
    index::IndexedSkill,
    library::Origin,
    skill::{
        ContentHash, SkillId,
        risk::{self, RiskFinding},
    },
};

/// Where a skill comes from, how far the user trusts it, and what speaks against it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustNote {
    /// What kind of place it was found in.
    pub origin: Origin,
    /// How far the user trusts it.
    pub tier: Tier,
    /// Name of its license, as its author wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What its text shows. No risk does not mean that it is safe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<RiskFinding>,
    /// What scanners found in its folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ScannerFinding>,
    /// Whether its text changed since the user pinned it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_changed: bool,
    /// The skill that it is a copy of, which is trusted more, or has not these risks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<SkillId>,
    /// The skill that is trusted more and whose name it has, with another text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namesake_of: Option<SkillId>,
}

impl TrustNote {
    /// Returns what is known of a skill under a policy.
    pub(crate) fn of(indexed: &IndexedSkill, hash: ContentHash, policy: &TrustPolicy) -> Self {
        let IndexedSkill { skill, background, risks, .. } = indexed;
        let Verdict { tier, is_changed, .. } =
            policy.judge(&skill.id, background.origin, hash, *risks);
        let found = if risks.is_empty() {
            Vec::new()
        } else {
            // The index knows which there are, but not where.
            risk::find_some(*risks, &skill.name, &skill.description, &skill.body)
        };
        Self {
            origin: background.origin,
            tier,
            license: background.license.clone(),
            risks: found,
            findings: policy.findings(&skill.id).to_vec(),
            is_changed,
            copy_of: None,
            namesake_of: None,
        }
    }

    /// Returns what speaks against the skill, one clause each; empty if nothing does.
    pub fn warnings(&self) -> Vec<String> {
        let changed = self.is_changed.then(|| "changed since it was pinned".to_owned());
        let copy = self.copy_of.iter().map(|of| format!("is a copy of `{of}`"));
        let namesake = self.namesake_of.iter();
        let namesake = namesake.map(|of| format!("has the name of `{of}`, which you trust more"));
        let risks = self.risks.iter().map(ToString::to_string);
        let findings = self.findings.iter().filter(|finding| finding.is_risk());
        changed
            .into_iter()
            .chain(copy)
            .chain(namesake)
            .chain(risks)
            .chain(findings.map(ToString::to_string))
            .collect()
    }
}

impl fmt::Display for TrustNote {
    /// Says where the skill comes from, in a few words: `personal, trusted, license "MIT"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.origin.as_str(), self.tier.as_str())?;
        // The author's words must not pass for ours.
        let quoted = |license: &String| license.replace('"', "'");
        self.license
            .as_ref()
            .map_or(Ok(()), |license| write!(f, ", license \"{}\"", quoted(license)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::risk::Risk;

    #[test]
    fn a_note_is_a_few_words_and_its_warnings() {
        let risks = vec![RiskFinding { risk: Risk::PipeToShell, line: Some(3) }];
        let copy_of = Some(SkillId::new("a/pdf"));
        let license = Some("MIT".to_owned());
        let findings =
            vec![ScannerFinding { tool: "scan".to_owned(), ..ScannerFinding::default() }];
        let note = TrustNote {
            license,
            risks,
            copy_of,
            findings,
            is_changed: true,
            ..TrustNote::default()
        };
        assert_eq!(note.to_string(), "library, unrated, license \"MIT\"");
        assert_eq!(
            note.warnings(),
            [
                "changed since it was pinned",
                "is a copy of `a/pdf`",
                "runs what it downloads (line 3 of its text)",
                "was flagged by scan",
            ]
        );
        assert_eq!(TrustNote::default().warnings(), [""; 0]);
    }
}
