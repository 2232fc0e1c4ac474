//! [`Tools`]: what a model can call.

use std::sync::Arc;

use rmcp::{handler::server::tool::ToolRouter, tool, tool_router};

use super::{
    arguments::Arguments,
    explain_route::{self, ExplainRoute},
    explain_text::explanation_text,
    find_skills::{self, FindSkills, FindSkillsAnswer},
    read_skill::{self, ReadSkill, ReadSkillAnswer},
    reply::Reply,
    schema::{input_schema, output_schema},
};
use crate::{State, explanation::ExplanationView, status::Failure};

/// The tools over a state. Clones share both.
#[derive(Clone)]
pub(super) struct Tools {
    pub(super) state: State,
    pub(super) routes: Arc<ToolRouter<Self>>,
}

/// The macros read arguments with our [`Arguments`], not with rmcp's `Parameters`: that one leaves
/// a model alone with serde's message. Schemas are given too: rmcp's own have `$ref` in them.
#[tool_router]
impl Tools {
    /// Returns the tools over a state.
    pub(super) fn new(state: State) -> Self {
        Self { state, routes: Arc::new(Self::tool_router()) }
    }

    #[tool(
        title = "Find skills for a task",
        description = find_skills::DESCRIPTION,
        input_schema = input_schema::<FindSkills>(),
        output_schema = output_schema::<FindSkillsAnswer>(),
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn find_skills(&self, arguments: Arguments<FindSkills>) -> Result<Reply, Failure> {
        let call = arguments.checked()?;
        let without_skills = call.answer_without_skills();
        let answer = self.state.call_if_any(move |router| call.answer(router)).await?;
        let answer = answer.unwrap_or(without_skills);
        Reply::new(&answer, answer.to_text())
    }

    #[tool(
        title = "Read a skill",
        description = read_skill::DESCRIPTION,
        input_schema = input_schema::<ReadSkill>(),
        output_schema = output_schema::<ReadSkillAnswer>(),
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn read_skill(&self, arguments: Arguments<ReadSkill>) -> Result<Reply, Failure> {
        let call = arguments.checked()?;
        let answer = self.state.call(move |router| call.answer(router)).await?;
        Reply::new(&answer, answer.to_text())
    }

    #[tool(
        title = "Explain a route",
        description = explain_route::DESCRIPTION,
        input_schema = input_schema::<ExplainRoute>(),
        output_schema = output_schema::<ExplanationView>(),
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn explain_route(&self, arguments: Arguments<ExplainRoute>) -> Result<Reply, Failure> {
        let call = arguments.checked()?;
        let answer = self.state.call(move |router| call.answer(router)).await?;
        Reply::new(&answer, explanation_text(&answer))
    }
}
