//! Finds JSON in what a chat model writes, and asks once more where there is none.

use serde::{Serialize, de::DeserializeOwned};

use super::{ChatMessage, ChatModel, ChatRequest, last_json_in};
use crate::error::Result;

/// Longest answer; a model that thinks aloud needs most of it.
const MAX_ANSWER_TOKENS: u32 = 4_096;

/// What an answer may be: an object or a list.
const JSON_OPENS: [char; 2] = ['{', '['];

/// Longest part of a malformed answer that is shown to the model again.
const MAX_REPEATED_BYTES: usize = 2_000;

/// A question whose answer is JSON.
#[derive(Debug, Clone, Copy)]
pub struct JsonQuestion<'a, Q> {
    /// What the model is to do, with the form of the answer.
    pub instructions: &'a str,
    /// What it is to do it with. No text in it can end its string and pass for an instruction.
    pub question: &'a Q,
    /// The form of the answer, repeated to a model that did not give it.
    pub form: &'a str,
    /// Seed of what chance there is.
    pub seed: u64,
}

impl<Q: Serialize> JsonQuestion<'_, Q> {
    /// Asks for the answer at temperature 0, and once more if it holds no JSON of this form; `None`
    /// if the second one holds none either.
    ///
    /// # Errors
    /// As for [`ChatModel::complete`].
    ///
    /// # Panics
    /// If the question is nothing that JSON can say, such as a map whose keys are no strings.
    pub fn ask<T: DeserializeOwned>(&self, model: &dyn ChatModel) -> Result<Option<T>> {
        self.ask_for(model, |_| true)
    }

    /// Asks as [`ask`](Self::ask) does, and counts an answer that `is_usable` refuses as none.
    ///
    /// # Errors
    /// As for [`ChatModel::complete`].
    ///
    /// # Panics
    /// As for [`ask`](Self::ask).
    pub fn ask_for<T: DeserializeOwned>(
        &self,
        model: &dyn ChatModel,
        is_usable: impl Fn(&T) -> bool,
    ) -> Result<Option<T>> {
        let question = serde_json::to_string(self.question).expect("a question is JSON");
        let mut messages =
            vec![ChatMessage::system(self.instructions), ChatMessage::user(question)];
        let answer = model.complete(&self.request(messages.clone()))?;
        let found_in = |answer: &str| last_json_in(answer, &JSON_OPENS).filter(&is_usable);
        if let Some(found) = found_in(&answer) {
            return Ok(Some(found));
        }
        let repeated = &answer[..answer.floor_char_boundary(MAX_REPEATED_BYTES)];
        messages.push(ChatMessage::assistant(repeated));
        messages.push(ChatMessage::user(format!(
            "That holds no JSON of the form {}. Answer with it and nothing else.",
            self.form
        )));
        Ok(found_in(&model.complete(&self.request(messages))?))
    }

    fn request(&self, messages: Vec<ChatMessage>) -> ChatRequest {
        ChatRequest {
            messages,
            temperature: 0.0,
            max_tokens: MAX_ANSWER_TOKENS,
            seed: Some(self.seed),
        }
    }
}
