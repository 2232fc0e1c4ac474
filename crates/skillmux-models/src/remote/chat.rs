//! [`ChatEndpoint`]: a chat model behind the protocol of `OpenAI`.

use serde_json::{Value, json};
use skillmux::{
    Error, Result,
    model::{ChatModel, ChatRequest},
};

use super::{
    endpoint::{Endpoint, EndpointConfig},
    error::RemoteError,
};

/// A chat model at an endpoint that speaks the protocol of `OpenAI` (`POST BASE/chat/completions`),
/// as those of most vendors do, and vLLM, llama.cpp and Ollama.
pub struct ChatEndpoint {
    endpoint: Endpoint,
    model: String,
    name: String,
}

impl ChatEndpoint {
    /// Returns the model; nothing is sent yet.
    ///
    /// # Errors
    /// [`RemoteError::BaseUrl`] and [`RemoteError::ApiKey`].
    pub fn new(config: EndpointConfig) -> Result<Self, RemoteError> {
        let endpoint = Endpoint::new(&config, "chat/completions", "OpenAI")?;
        let base_url = endpoint.url().trim_end_matches("/chat/completions");
        let name = format!("{} at {base_url}", config.model);
        Ok(Self { endpoint, model: config.model, name })
    }

    fn ask(&self, request: &ChatRequest) -> Result<String, RemoteError> {
        let ChatRequest { messages, temperature, max_tokens, seed } = request;
        let messages: Vec<Value> = messages
            .iter()
            .map(|message| json!({ "role": message.role.as_str(), "content": message.text }))
            .collect();
        let mut body = json!({
            "model": self.model,
            "messages": messages,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "stream": false,
        });
        if let Some(seed) = seed {
            body["seed"] = json!(seed);
        }
        let mut answer = self.endpoint.post(&body)?;
        match answer.pointer_mut("/choices/0/message/content").map(Value::take) {
            Some(Value::String(text)) => Ok(text),
            // A model that calls a tool or thinks to the last token says nothing.
            Some(Value::Null) => Ok(String::new()),
            _ => Err(self.endpoint.protocol_error("no `choices[0].message.content`".to_owned())),
        }
    }
}

impl ChatModel for ChatEndpoint {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(&self, request: &ChatRequest) -> Result<String> {
        self.ask(request).map_err(|error| Error::Chat {
            name: self.name.clone(),
            hint: error.hint(),
            source: Box::new(error),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error as _, net::TcpListener, time::Duration};

    use skillmux::model::ChatMessage;

    use super::{super::test_server::Server, *};
    use crate::http::{ApiKey, Retries};

    const GOOD: &str = r#"{"choices":[{"message":{"role":"assistant","content":"yes"}}]}"#;

    fn model(server: &Server, api_key: Option<&str>) -> ChatEndpoint {
        ChatEndpoint::new(server.config(api_key)).unwrap()
    }

    fn request() -> ChatRequest {
        ChatRequest::deterministic(
            vec![ChatMessage::system("Be brief."), ChatMessage::user("Is it?\n\"是\"")],
            10,
        )
    }

    /// Returns the message, that of the cause, and the hint.
    fn texts(error: &Error) -> (String, String, String) {
        let cause = error.source().map(ToString::to_string).unwrap_or_default();
        (error.to_string(), cause, error.hint().unwrap_or_default())
    }

    #[test]
    fn a_request_carries_everything_and_the_answer_is_its_text() {
        let server = Server::start([(200, GOOD)]);
        let model = model(&server, Some("k-secret"));
        assert_eq!(model.complete(&request()).unwrap(), "yes");
        assert_eq!(model.name(), format!("small at {}", server.base_url));
        let sent = server.requests().remove(0);
        assert_eq!((sent.method_str(), sent.uri().path()), ("POST", "/v1/chat/completions"));
        assert_eq!(sent.headers()["authorization"], "Bearer k-secret");
        let body: Value = serde_json::from_slice(sent.body_ref()).unwrap();
        assert_eq!(
            body,
            json!({
                "model": "small",
                "messages": [
                    { "role": "system", "content": "Be brief." },
                    { "role": "user", "content": "Is it?\n\"是\"" },
                ],
                "temperature": 0.0,
                "max_tokens": 10,
                "seed": 0,
                "stream": false,
            })
        );
    }

    #[test]
    fn a_busy_server_is_asked_again() {
        let server = Server::start([(429, "{}"), (503, ""), (200, GOOD)]);
        assert_eq!(model(&server, None).complete(&request()).unwrap(), "yes");
        assert_eq!(server.requests().len(), 3);
    }

    #[test]
    fn patience_ends() {
        let server = Server::start([(500, "out of memory"); 3]);
        let error = model(&server, None).complete(&request()).unwrap_err();
        let (message, cause, hint) = texts(&error);
        assert!(message.starts_with("the chat model `small at http://127.0.0.1:"), "{message}");
        assert!(cause.ends_with("answered 500, asked 3 times: out of memory"), "{cause}");
        assert_eq!(hint, "the server failed: look at its log, or go on later");
        assert_eq!(server.requests().len(), 3);
    }

    #[test]
    fn a_refusal_is_final_and_the_key_is_not_repeated() {
        let body = r#"{"error":{"message":"bad key k-secret\u0007 for\nyou"}}"#;
        let server = Server::start([(401, body)]);
        let model = model(&server, Some(" k-secret\n"));
        let error = model.complete(&request()).unwrap_err();
        let (_, cause, hint) = texts(&error);
        assert!(cause.ends_with("answered 401, asked 1 time: bad key (key) for you"), "{cause}");
        assert_eq!(hint, "check the API key and what it may be used for");
        assert!(!format!("{error:?} {:?}", ApiKey::new("k-secret")).contains("k-secret"));
        assert_eq!(server.requests().len(), 1);
    }

    #[test]
    fn a_key_that_is_repeated_in_escapes_is_masked_too() {
        for body in [
            r#"{"error":{"message":"bad key \u006b-secret"}}"#,
            r#"{"error":"bad key k-s\u0065cret"}"#,
            r#"{"detail":"bad key \u006b-secret"}"#,
        ] {
            let server = Server::start([(401, body)]);
            let error = model(&server, Some("k-secret")).complete(&request()).unwrap_err();
            let (_, cause, _) = texts(&error);
            assert!(cause.contains("bad key (key)") && !cause.contains("secret"), "{cause}");
        }
    }

    #[test]
    fn redirects_limits_and_endless_answers_say_what_to_do() {
        let hint_of = |status: u16, body: String| {
            let server = Server::answering(move |_, _| (status, body.clone()));
            let (_, cause, hint) = texts(&model(&server, None).complete(&request()).unwrap_err());
            (cause, hint)
        };
        let (cause, hint) = hint_of(302, String::new());
        assert!(cause.contains("answered 302, asked 1 time"), "{cause}");
        assert_eq!(hint, "redirects are not followed: give the base URL that they lead to");
        assert_eq!(hint_of(429, String::new()).1, "the endpoint limits requests: go on later");
        let (cause, hint) = hint_of(200, " ".repeat((16 << 20) + 1));
        assert!(cause.ends_with("answered more than 16777216 bytes"), "{cause}");
        assert!(hint.starts_with("nothing larger is read"), "{hint}");
    }

    #[test]
    fn what_is_no_chat_answer_is_refused() {
        for (body, detail) in
            [("<html>", "<html>"), ("{\"choices\":[]}", "no `choices[0].message.content`")]
        {
            let server = Server::start([(200, body)]);
            let (_, cause, _) = texts(&model(&server, None).complete(&request()).unwrap_err());
            assert!(cause.ends_with(&format!("OpenAI protocol: {detail}")), "{cause}");
        }
        let silent = GOOD.replace("\"yes\"", "null");
        let server = Server::start([(200, silent.as_str())]);
        assert_eq!(model(&server, None).complete(&request()).unwrap(), "");
    }

    #[test]
    fn a_server_that_is_not_there_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1/", listener.local_addr().unwrap());
        drop(listener);
        let mut config = EndpointConfig::new(base_url, "small");
        config.retries = Retries { max_attempts: 2, first_wait: Duration::ZERO };
        let error = ChatEndpoint::new(config).unwrap().complete(&request()).unwrap_err();
        let (_, cause, hint) = texts(&error);
        assert!(cause.contains("/v1/chat/completions`, asked 2 times"), "{cause}");
        assert!(hint.starts_with("check that the server runs"));
    }

    #[test]
    fn unusable_urls_and_keys_are_refused_before_anything_is_sent() {
        let problem = |url: &str, key: &str| {
            let mut config = EndpointConfig::new(url, "small");
            config.api_key = Some(ApiKey::new(key));
            ChatEndpoint::new(config).err().map(|error| error.to_string())
        };
        let secret = problem("https://me:pass@example.com/v1", "k").unwrap();
        assert_eq!(secret, "the base URL holds a user name or password");
        assert!(problem("localhost:11434", "k").unwrap().contains("neither with http://"));
        assert!(problem("http:///v1", "k").is_some());
        assert!(problem("https://example.com/v1?key=1", "k").unwrap().contains('?'));
        assert!(problem("https://example.com/v1", "a\nb").unwrap().contains("API key"));
        assert!(problem("https://example.com/v1/", "k").is_none());
        for url in ["http://example.com/v1", "HTTP://192.168.0.7:11434/v1"] {
            assert!(problem(url, "k").unwrap().contains("show the API key"), "{url}");
            assert!(ChatEndpoint::new(EndpointConfig::new(url, "small")).is_ok());
        }
        for url in ["http://localhost:11434/v1", "http://[::1]/v1", "http://127.0.0.1/v1"] {
            assert!(problem(url, "k").is_none(), "{url}");
        }
    }
}
