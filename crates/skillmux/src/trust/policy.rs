//! [`Tier`] and [`TrustPolicy`]: what a user says of the places that skills come from.

use globset::{GlobBuilder, GlobMatcher};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScannerFinding;
use crate::{
    error::{Error, Result},
    library::Origin,
    skill::{
        ContentHash, SkillId,
        risk::{Risk, Risks},
    },
};

/// How far a user trusts a skill, from low to high.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Its name in a task does not put it first, and its score is lowered by [`UNTRUSTED_PENALTY`].
    Untrusted,
    /// Nobody said anything.
    #[default]
    Unrated,
    /// Its risks do not lower its rank, and no copy of it stands above it.
    Trusted,
}

impl Tier {
    /// Returns its name in settings and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Unrated => "unrated",
            Self::Trusted => "trusted",
        }
    }
}

/// Log-odds that a skill loses for being untrusted, beside those of its risks: about as much as one
/// of the heavier risks.
pub const UNTRUSTED_PENALTY: f32 = 1.5;

/// Which skills are trusted, and which are not loaded at all.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustPolicy {
    of_origin: [Tier; Origin::ALL.len()],
    /// The rule that counts comes first.
    rules: Vec<Rule>,
    /// What skills were when the user pinned them.
    pins: FxHashMap<SkillId, ContentHash>,
    /// What scanners found in skills.
    findings: FxHashMap<SkillId, Vec<ScannerFinding>>,
    /// A skill that is not trusted and has one of these is in no answer.
    pub blocked: Risks,
}

/// What a policy says of one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) tier: Tier,
    /// With those that scanners told of.
    pub(crate) risks: Risks,
    /// Whether its text is another than the one that was pinned.
    pub(crate) is_changed: bool,
    /// For which risks it is in no answer.
    pub(crate) blocked: Risks,
}

impl Verdict {
    /// Returns the log-odds that its score is lowered by.
    pub(crate) fn penalty(&self) -> f32 {
        match self.tier {
            Tier::Trusted => 0.0,
            Tier::Unrated => self.risks.penalty(),
            Tier::Untrusted => self.risks.penalty() + UNTRUSTED_PENALTY,
        }
    }
}

#[derive(Debug, Clone)]
struct Rule {
    pattern: GlobMatcher,
    tier: Tier,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.pattern.glob() == other.pattern.glob() && self.tier == other.tier
    }
}

impl Default for TrustPolicy {
    /// What the user installed is trusted: personal skills and plugins. All else is unrated, and
    /// nothing is blocked.
    fn default() -> Self {
        let mut policy = Self {
            of_origin: Default::default(),
            rules: Vec::new(),
            pins: FxHashMap::default(),
            findings: FxHashMap::default(),
            blocked: Risks::default(),
        };
        policy.set_origin(Origin::Personal, Tier::Trusted);
        policy.set_origin(Origin::Plugin, Tier::Trusted);
        policy
    }
}

impl TrustPolicy {
    /// Sets the tier of all skills of an origin.
    pub fn set_origin(&mut self, origin: Origin, tier: Tier) {
        self.of_origin[origin as usize] = tier;
    }

    /// Sets the tier of the skills whose ids fit a pattern: `*` stands for a part of an id between
    /// slashes, `**` for any parts.
    ///
    /// If several patterns fit an id, the longest one counts; of equally long ones, the lower tier.
    ///
    /// # Errors
    /// [`Error::TrustPattern`] if it is no pattern.
    pub fn set_rule(&mut self, pattern: &str, tier: Tier) -> Result<()> {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let failed = |error: globset::Error| Error::TrustPattern {
            pattern: pattern.to_owned(),
            detail: error.kind().to_string(),
        };
        self.rules.push(Rule { pattern: glob.map_err(failed)?.compile_matcher(), tier });
        let length = |rule: &Rule| rule.pattern.glob().glob().chars().count();
        self.rules.sort_by(|a, b| length(b).cmp(&length(a)).then(a.tier.cmp(&b.tier)));
        Ok(())
    }

    /// Returns how far a skill is trusted: by the rule for its id, else by its origin.
    ///
    /// An id with `~` is that of a second skill with the id before it. No rule makes it trusted: it
    /// is not the skill that was meant. Nor does one for an id with empty parts, `.`, `..`, or
    /// blanks around a part, which looks like another one.
    pub fn tier(&self, id: &SkillId, origin: Origin) -> Tier {
        let is_odd = |part: &str| matches!(part, "" | "." | "..") || part.trim() != part;
        let is_second = id.as_str().contains('~') || id.as_str().split('/').any(is_odd);
        let fits = |rule: &&Rule| {
            rule.pattern.is_match(id.as_str()) && !(is_second && rule.tier == Tier::Trusted)
        };
        self.rules.iter().find(fits).map_or(self.of_origin[origin as usize], |rule| rule.tier)
    }

    /// Pins a skill: if its text changes, it is no longer trusted, whatever rules say.
    pub fn pin(&mut self, id: SkillId, hash: ContentHash) {
        self.pins.insert(id, hash);
    }

    /// Adds what a scanner found in a skill. Errors and warnings are a
    /// [risk](Risk::FlaggedByScanner), notes are not.
    pub fn add_finding(&mut self, id: SkillId, finding: ScannerFinding) {
        self.findings.entry(id).or_default().push(finding);
    }

    /// Returns what scanners found in a skill, in the order in which it was added.
    pub fn findings(&self, id: &SkillId) -> &[ScannerFinding] {
        self.findings.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns what the policy says of a skill of an index.
    pub(crate) fn judge(
        &self,
        id: &SkillId,
        origin: Origin,
        hash: ContentHash,
        risks: Risks,
    ) -> Verdict {
        let is_changed = self.pins.get(id).is_some_and(|pinned| *pinned != hash);
        let tier = self.tier(id, origin);
        let tier = if is_changed { tier.min(Tier::Unrated) } else { tier };
        let is_flagged = self.findings(id).iter().any(ScannerFinding::is_risk);
        let flagged: Risks = is_flagged.then_some(Risk::FlaggedByScanner).into_iter().collect();
        let risks = risks.or(flagged);
        Verdict { tier, risks, is_changed, blocked: self.blocks(tier, risks) }
    }

    /// Returns the highest tier that a skill of one of these origins may have.
    pub(crate) fn highest(&self, origins: impl Iterator<Item = Origin>) -> Tier {
        let of_rules = self.rules.iter().map(|rule| rule.tier);
        let all = origins.map(|origin| self.of_origin[origin as usize]).chain(of_rules);
        all.max().unwrap_or_default()
    }

    /// Returns the risks for which a skill is in no answer.
    pub fn blocks(&self, tier: Tier, risks: Risks) -> Risks {
        if tier == Tier::Trusted { Risks::default() } else { risks.and(self.blocked) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::Level;

    fn tier(policy: &TrustPolicy, id: &str) -> Tier {
        policy.tier(&SkillId::new(id), Origin::Registry)
    }

    #[test]
    fn the_longest_pattern_counts() {
        let mut policy = TrustPolicy::default();
        policy.set_rule("**", Tier::Untrusted).unwrap();
        policy.set_rule("acme/**", Tier::Trusted).unwrap();
        policy.set_rule("acme/labs/**", Tier::Unrated).unwrap();
        policy.set_rule("*/pdf", Tier::Untrusted).unwrap();
        assert_eq!(tier(&policy, "acme/tools/pdf"), Tier::Trusted);
        assert_eq!(tier(&policy, "acme/labs/pdf"), Tier::Unrated);
        assert_eq!(tier(&policy, "acme/pdf"), Tier::Trusted);
        assert_eq!(tier(&policy, "other/pdf"), Tier::Untrusted);
        assert_eq!(tier(&policy, "other/a/pdf"), Tier::Untrusted);
    }

    #[test]
    fn a_second_skill_of_an_id_is_not_the_one_that_was_meant() {
        let mut policy = TrustPolicy::default();
        policy.set_rule("acme/**", Tier::Trusted).unwrap();
        assert_eq!(tier(&policy, "acme/pdf~01234567"), Tier::Unrated);
        for odd in ["acme/../evil/x", "acme//x", "acme/ x", "acme/x/"] {
            assert_eq!(tier(&policy, odd), Tier::Unrated, "{odd}");
        }
        policy.set_rule("acme/pdf*", Tier::Untrusted).unwrap();
        assert_eq!(tier(&policy, "acme/pdf~01234567"), Tier::Untrusted);
    }

    #[test]
    fn without_a_rule_the_origin_counts() {
        let mut policy = TrustPolicy::default();
        let id = SkillId::new("a");
        let tiers = Origin::ALL.map(|origin| policy.tier(&id, origin));
        assert_eq!(
            tiers,
            [Tier::Trusted, Tier::Unrated, Tier::Trusted, Tier::Unrated, Tier::Unrated]
        );
        policy.set_origin(Origin::Project, Tier::Untrusted);
        assert_eq!(policy.tier(&id, Origin::Project), Tier::Untrusted);
        assert_eq!(policy.highest([Origin::Project].into_iter()), Tier::Untrusted);
        assert_eq!(policy.highest(Origin::ALL.into_iter()), Tier::Trusted);
    }

    #[test]
    fn what_is_trusted_is_never_blocked() {
        let blocked: Risks = [Risk::EncodedPayload].into_iter().collect();
        let risks: Risks = [Risk::EncodedPayload, Risk::PipeToShell].into_iter().collect();
        let policy = TrustPolicy { blocked, ..TrustPolicy::default() };
        assert!(policy.blocks(Tier::Trusted, risks).is_empty());
        assert_eq!(policy.blocks(Tier::Unrated, risks), blocked);
    }

    #[test]
    fn a_skill_that_changed_since_it_was_pinned_is_not_trusted() {
        let mut policy = TrustPolicy::default();
        let (id, other) = (SkillId::new("a"), SkillId::new("b"));
        let [was, is] = [[1; 16], [2; 16]].map(ContentHash::from_bytes);
        policy.pin(id.clone(), was);
        let judge = |id: &SkillId, hash| policy.judge(id, Origin::Personal, hash, Risks::default());
        assert!(judge(&id, was).penalty() == 0.0);
        assert_eq!((judge(&id, was).tier, judge(&id, was).is_changed), (Tier::Trusted, false));
        assert_eq!((judge(&id, is).tier, judge(&id, is).is_changed), (Tier::Unrated, true));
        assert_eq!((judge(&other, is).tier, judge(&other, is).is_changed), (Tier::Trusted, false));
    }

    #[test]
    fn what_a_scanner_found_is_a_risk_unless_it_is_a_note() {
        let blocked = [Risk::FlaggedByScanner].into_iter().collect();
        let mut policy = TrustPolicy { blocked, ..TrustPolicy::default() };
        let finding = |level| ScannerFinding { level, ..ScannerFinding::default() };
        let (id, noted) = (SkillId::new("a"), SkillId::new("b"));
        policy.add_finding(id.clone(), finding(Level::Error));
        policy.add_finding(noted.clone(), finding(Level::Note));
        let judge = |id: &SkillId, origin| {
            let hash = ContentHash::from_bytes([0; 16]);
            policy.judge(id, origin, hash, Risks::default())
        };
        let verdict = judge(&id, Origin::Library);
        assert!(verdict.risks.has(Risk::FlaggedByScanner) && !verdict.blocked.is_empty());
        assert!(judge(&id, Origin::Personal).blocked.is_empty());
        assert!(judge(&noted, Origin::Library).risks.is_empty());
    }

    #[test]
    fn what_is_no_pattern_is_an_error() {
        let error = TrustPolicy::default().set_rule("a[", Tier::Trusted).unwrap_err();
        assert!(error.to_string().contains("`a[`"), "{error}");
    }
}
