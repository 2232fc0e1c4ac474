//! [`PageAnswer`]: the parts of a skill that an agent gets to read.

use schemars::JsonSchema;
use serde::Serialize;
use skillmux::{
    page::{Page, PageNode},
    skill::{NodeKind, SkillId},
};

use super::markup::{MAX_LABEL_CHARS, clip, enclose, one_line};

/// The parts of one skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PageAnswer {
    /// Id of the skill.
    skill_id: SkillId,
    /// Name of the skill.
    name: String,
    /// The parts, in the order of the source; third-party text.
    markdown: String,
    /// What each part is and where it stands.
    nodes: Vec<NodeAnswer>,
    /// Estimated tokens of the parts.
    n_tokens: u32,
    /// Estimated tokens of the whole skill.
    full_tokens: u32,
    /// Whether parts of the skill were left out.
    truncated: bool,
}

/// One part of a skill.
#[derive(Debug, Serialize, JsonSchema)]
struct NodeAnswer {
    /// Role of the part.
    kind: NodeKind,
    /// Headings above it, outermost first.
    headings: Vec<String>,
    /// First byte in the body of the skill.
    start_byte: u32,
    /// One past the last byte.
    end_byte: u32,
    /// Estimated tokens.
    n_tokens: u32,
}

impl PageAnswer {
    /// Returns the id of the skill.
    pub(super) fn skill_id(&self) -> &SkillId {
        &self.skill_id
    }

    /// Returns whether no part of the skill is shown.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the estimated tokens of the whole skill, if parts of it were left out.
    pub(super) fn tokens_if_truncated(&self) -> Option<u32> {
        self.truncated.then_some(self.full_tokens)
    }

    /// Returns the parts as a model reads them: marked as the text of a skill.
    pub(super) fn to_text(&self) -> String {
        let (name, shown, full) = (one_line(&self.name), self.n_tokens, self.full_tokens);
        let extent = if self.truncated {
            format!("{shown} of {full} tokens")
        } else {
            format!("whole, {shown} tokens")
        };
        let content = enclose(self.skill_id.as_str(), &self.markdown);
        format!("skill: {name} ({extent})\n{content}")
    }
}

impl From<Page> for PageAnswer {
    fn from(page: Page) -> Self {
        let markdown = page.to_markdown();
        let truncated = u32::try_from(page.nodes.len()).is_ok_and(|n| n < page.full_nodes);
        let nodes = page.nodes.into_iter().map(NodeAnswer::from).collect();
        Self {
            skill_id: page.skill_id,
            name: clip(&page.name, MAX_LABEL_CHARS),
            markdown,
            nodes,
            n_tokens: page.n_tokens,
            full_tokens: page.full_tokens,
            truncated,
        }
    }
}

impl From<PageNode> for NodeAnswer {
    fn from(node: PageNode) -> Self {
        Self {
            kind: node.kind,
            headings: node.headings,
            start_byte: node.start_byte,
            end_byte: node.end_byte,
            n_tokens: node.n_tokens,
        }
    }
}
