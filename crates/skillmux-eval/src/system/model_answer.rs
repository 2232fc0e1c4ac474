//! Finds JSON in what a chat model writes, and asks once more where there is none.

use serde::{Serialize, de::DeserializeOwned};
use skillmux::model::{ChatMessage, ChatModel, ChatRequest, last_json_in};

use crate::error::Error;

/// Longest answer; a model that thinks aloud needs most of it.
const MAX_ANSWER_TOKENS: u32 = 4_096;

/// What an answer may be: an object or a list.
const JSON_OPENS: [char; 2] = ['{', '['];

/// Longest part of a malformed answer that is shown to the model again.
const MAX_REPEATED_BYTES: usize = 2_000;

/// Returns a question as JSON: no text in it can end its string and pass for an instruction.
pub(super) fn json_of(question: &impl Serialize) -> String {
    serde_json::to_string(question).expect("a question has string keys only")
}

/// Asks for JSON of a given form, and once more if the answer holds none; `None` if that one holds
/// none either.
pub(super) fn ask<T: DeserializeOwned>(
    model: &dyn ChatModel,
    mut messages: Vec<ChatMessage>,
    form: &str,
    seed: u64,
) -> Result<Option<T>, Error> {
    let request = |messages| ChatRequest {
        messages,
        temperature: 0.0,
        max_tokens: MAX_ANSWER_TOKENS,
        seed: Some(seed),
    };
    let answer = model.complete(&request(messages.clone()))?;
    if let Some(found) = last_json_in(&answer, &JSON_OPENS) {
        return Ok(Some(found));
    }
    let repeated = &answer[..answer.floor_char_boundary(MAX_REPEATED_BYTES)];
    messages.push(ChatMessage::assistant(repeated));
    messages.push(ChatMessage::user(format!(
        "That holds no JSON of the form {form}. Answer with it and nothing else."
    )));
    Ok(last_json_in(&model.complete(&request(messages))?, &JSON_OPENS))
}
