//! [`ChatModel`]: a conversation to its next turn.

use serde::de::DeserializeOwned;

use crate::error::Result;

/// Answers a conversation in plain text.
///
/// The contract:
/// - the answer is the text of the model's turn alone, whatever the model is asked to write: it is
///   as trustworthy as the texts it was shown, and callers check its form;
/// - a request with a temperature of 0 and a seed is answered alike each time, as far as the model
///   can promise that.
pub trait ChatModel: Send + Sync {
    /// Returns the name of the model and of where it runs, without secrets.
    fn name(&self) -> &str;

    /// Returns the model's turn.
    ///
    /// # Errors
    /// [`Error::Chat`](crate::Error::Chat) if the model fails, as a remote one may.
    fn complete(&self, request: &ChatRequest) -> Result<String>;
}

/// What a [`ChatModel`] is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The conversation so far, oldest first.
    pub messages: Vec<ChatMessage>,
    /// How freely the model chooses words, from 0, where it takes the likeliest.
    pub temperature: f32,
    /// Most tokens of the answer.
    pub max_tokens: u32,
    /// Seed of what chance there is, for models that take one.
    pub seed: Option<u64>,
}

impl ChatRequest {
    /// Returns a request that is answered alike each time: temperature 0, seed 0.
    pub fn deterministic(messages: Vec<ChatMessage>, max_tokens: u32) -> Self {
        Self { messages, temperature: 0.0, max_tokens, seed: Some(0) }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub text: String,
}

impl ChatMessage {
    /// Returns a turn of the operator.
    pub fn system(text: impl Into<String>) -> Self {
        Self { role: ChatRole::System, text: text.into() }
    }

    /// Returns a turn of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: ChatRole::User, text: text.into() }
    }

    /// Returns a turn of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: ChatRole::Assistant, text: text.into() }
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatRole {
    /// The operator, who sets the rules.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl ChatRole {
    /// Returns the name that chat endpoints use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// Returns the last JSON value of this form in a text that opens with one of these characters, `{`
/// or `[`, and is not within another: models write drafts, fences and remarks around what they were
/// asked for.
pub fn last_json_in<T: DeserializeOwned>(text: &str, opens: &[char]) -> Option<T> {
    let mut last = None;
    let mut from = 0;
    while let Some(offset) = text[from..].find(opens) {
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
    use crate::growth::assert_linear;

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
            assert_eq!(last_json_in::<Vec<u32>>(text, &['[']), expected, "{text}");
        }
    }

    #[test]
    fn many_brackets_take_linear_time() {
        assert_linear("[", 40_000, |text| assert_eq!(last_json_in::<Vec<u32>>(text, &['[']), None));
    }
}
