//! [`TrustPolicy`]: whom a user trusts, and what that means for a skill. [`TrustNote`]: what an answer says of it.
//!
//! Nothing here says that a skill is safe. A tier is what the user says of a place; risks are what
//! a text shows.
//!
//! ```
//! use skillmux::{library::Origin, skill::SkillId, trust::{Tier, TrustPolicy}};
//!
//! let mut policy = TrustPolicy::default();
//! policy.set_rule("acme/**", Tier::Trusted)?;
//! assert_eq!(policy.tier(&SkillId::new("acme/tools/pdf"), Origin::Registry), Tier::Trusted);
//! assert_eq!(policy.tier(&SkillId::new("other/pdf"), Origin::Registry), Tier::Unrated);
//! # Ok::<(), skillmux::Error>(())
//! ```

mod note;
mod policy;
mod sarif;

pub use note::TrustNote;
pub(crate) use policy::Verdict;
pub use policy::{Tier, TrustPolicy, UNTRUSTED_PENALTY};
pub use sarif::{Level, ScannerFinding, read_sarif};
