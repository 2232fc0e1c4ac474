//! A skill, its name, and the typed nodes of its body.
//!
//! ```
//! use skillmux::skill::{NodeKind, NodeTree};
//!
//! let body = "## Prerequisites\n\nPython 3.12.\n\n## Steps\n\n1. Read it.\n2. Check it.\n";
//! let kinds: Vec<NodeKind> = NodeTree::parse(body).nodes.iter().map(|node| node.kind).collect();
//! assert_eq!(kinds, [NodeKind::Precondition, NodeKind::Step]);
//! ```

mod id;
pub mod node;
pub mod risk;
#[expect(clippy::module_inception, reason = "the file of `Skill`, beside that of its id")]
mod skill;

pub use id::SkillId;
pub(crate) use node::is_step_condition;
pub use node::{
    ChatKinds, KindClassifier, KindFailure, KindRules, KindWeights, Node, NodeKind, NodeTree,
    Section,
};
pub use skill::{ContentHash, Skill};
