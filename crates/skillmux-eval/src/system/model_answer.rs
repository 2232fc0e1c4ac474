//! Finds JSON in what a chat model writes, and asks once more where there is none.

use serde::{Serialize, de::DeserializeOwned};
use skillmux::model::{ChatMessage, ChatModel, ChatRequest};

use crate::error::Error;

/// Longest answer; a model that thinks aloud needs most of it.
const MAX_ANSWER_TOKENS: u32 = 4_096;

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
    if let Some(found) = last_json(&answer) {
        return Ok(Some(found));
    }
    let repeated = &answer[..answer.floor_char_boundary(MAX_REPEATED_BYTES)];
    messages.push(ChatMessage::assistant(repeated));
    messages.push(ChatMessage::user(format!(
        "That holds no JSON of the form {form}. Answer with it and nothing else."
    )));
    Ok(last_json(&model.complete(&request(messages))?))
}

/// Returns the last JSON value of this form in a text, not one within another: models write drafts,
/// fences and remarks around what they were asked for.
fn last_json<T: DeserializeOwned>(text: &str) -> Option<T> {
    let mut last = None;
    let mut from = 0;
    while let Some(offset) = text[from..].find(['{', '[']) {
        let start = from + offset;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<T>();
        if let Some(Ok(value)) = values.next() {
            last = Some(value);
            from = start + values.byte_offset();
        } else {
            from = start + 1;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_the_form_is_taken() {
        for (text, expected) in [
            ("[1, 2]", Some(vec![1, 2])),
            ("```json\n[1]\n```", Some(vec![1])),
            ("Maybe [1]. No: [2, 3], [x].", Some(vec![2, 3])),
            ("[[1, 2], 5]", Some(vec![1, 2])),
            ("[1, 2", None),
            ("一", None),
            ("", None),
        ] {
            assert_eq!(last_json::<Vec<u32>>(text), expected, "{text}");
        }
    }

    #[test]
    fn many_brackets_take_no_long_time() {
        assert_eq!(last_json::<Vec<u32>>(&"[".repeat(20_000)), None);
    }
}
