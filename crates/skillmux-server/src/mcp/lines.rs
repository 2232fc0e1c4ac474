//! [`answerable`]: an input of which every line gets an answer.

use std::borrow::Cow;

use rmcp::model::ErrorCode;
use serde_json::{Value, json};
use skillmux::text::without_half_pairs;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream,
};

use super::arguments::kind_of;

/// Longest message, in bytes.
const MAX_LINE_BYTES: usize = 8 << 20;

/// Bytes at the begin of a longer one that are searched for its id.
const HEAD_BYTES: usize = 64 << 10;

/// Bytes at its end that are, too: some clients write the id last.
const TAIL_BYTES: usize = 1 << 10;

/// What stands for a long line without an id: JSON that is no message, which rmcp answers with an
/// error.
const NO_MESSAGE: &[u8] = b"null\n";

/// The method of the notification that stands for a line that is no JSON.
pub(super) const NO_JSON: &str = "skillmux/no-json";

/// The method of the request that stands for one that is refused; its `params` are the error.
pub(super) const REFUSED: &str = "skillmux/refused";

/// Returns the input with other lines in place of those that rmcp would drop without an answer.
///
/// A cut-off emoji (half of a surrogate pair) and bytes that are no UTF-8 become U+FFFD; a line
/// that is no JSON then becomes a notification of [`NO_JSON`]; and a line of more than 8 MiB, a
/// request without a method, or one with `params` that are no object, becomes a request of
/// [`REFUSED`].
pub(super) fn answerable(input: impl AsyncRead + Send + Unpin + 'static) -> DuplexStream {
    let (mut sender, receiver) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        // It ends with the input, or where nobody reads any more.
        while let Ok(true) = next_line(&mut input, &mut line).await {
            if sender.write_all(&line).await.is_err() {
                break;
            }
        }
    });
    receiver
}

/// Reads the next line, or what stands for it, and returns whether there was one.
async fn next_line(
    input: &mut BufReader<impl AsyncRead + Unpin>,
    line: &mut Vec<u8>,
) -> std::io::Result<bool> {
    line.clear();
    let n_bytes = (&mut *input).take(MAX_LINE_BYTES as u64).read_until(b'\n', line).await?;
    if n_bytes == 0 {
        return Ok(false);
    }
    if n_bytes == MAX_LINE_BYTES && !line.ends_with(b"\n") {
        let tail = skip_line(input, &line[n_bytes - TAIL_BYTES..]).await?;
        *line = too_long(&line[..HEAD_BYTES], &tail);
    } else if let Cow::Owned(mended) = mended(line) {
        *line = mended;
    }
    // The last line may end with the input, and rmcp reads only up to a line end.
    if !line.ends_with(b"\n") {
        line.push(b'\n');
    }
    Ok(true)
}

/// Reads the rest of a line, and returns the end of the line; `read` is what was read last.
async fn skip_line(
    input: &mut BufReader<impl AsyncRead + Unpin>,
    read: &[u8],
) -> std::io::Result<Vec<u8>> {
    let mut tail = read.to_vec();
    loop {
        let available = input.fill_buf().await?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let n_bytes = end.map_or(available.len(), |at| at + 1);
        tail.extend_from_slice(&available[..n_bytes]);
        tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
        input.consume(n_bytes);
        if end.is_some() || n_bytes == 0 {
            return Ok(tail);
        }
    }
}

/// Returns a request with the id of a long message, as far as its begin or its end tells it.
fn too_long(head: &[u8], tail: &[u8]) -> Vec<u8> {
    let [head, tail] = [head, tail].map(String::from_utf8_lossy);
    match top_level_id(&head).or_else(|| last_id(&tail)).filter(is_id) {
        Some(id) => refused(
            &id,
            ErrorCode::INVALID_REQUEST,
            &format!("the message is longer than {MAX_LINE_BYTES} bytes"),
        ),
        None => NO_MESSAGE.to_vec(),
    }
}

/// Returns the `id` of the message itself, and not one that its parameters hold, as far as the
/// begin of the message tells it.
fn top_level_id(head: &str) -> Option<Value> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = head.as_bytes().get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = at + string_bytes(&head[at..])?;
                let value = head[end..].trim_start().strip_prefix(':');
                if let Some(value) = value.filter(|_| depth == 1 && &head[at..end] == "\"id\"") {
                    return serde_json::Deserializer::from_str(value).into_iter().next()?.ok();
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the `id` of the message itself that stands among its last fields, as far as the end of
/// the message tells it.
fn last_id(tail: &str) -> Option<Value> {
    tail.rmatch_indices("\"id\"").find_map(|(at, _)| {
        // What follows is the rest of the message only if that closes no more than the message.
        let fields: Value = serde_json::from_str(&format!("{{{}", &tail[at..])).ok()?;
        fields.get("id").cloned()
    })
}

/// Returns how long the string is that a text begins with; `None` if it does not end.
fn string_bytes(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map(|end| end + 2)
}

fn is_id(id: &Value) -> bool {
    id.is_i64() || id.is_u64() || id.is_string()
}

/// Returns a request that is answered with this error.
fn refused(id: &Value, code: ErrorCode, message: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": message });
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": REFUSED, "params": error });
    format!("{request}\n").into_bytes()
}

/// Returns what stands for a request that is of another version, that has no method, or whose
/// `params` are no object: rmcp would answer without its id.
fn wrong_request(line: &[u8]) -> Option<Vec<u8>> {
    let request: Value = serde_json::from_slice(line).ok()?;
    let id = request.get("id").filter(|id| is_id(id))?;
    let is_response = request.get("result").is_some() || request.get("error").is_some();
    let message = match request.get("method") {
        Some(Value::String(_)) => None,
        None if is_response => return None,
        None => Some("`method` is missing".to_owned()),
        Some(other) => Some(format!("`method` is {}, but must be a string", kind_of(other))),
    };
    if let Some(message) = message {
        return Some(refused(id, ErrorCode::INVALID_REQUEST, &message));
    }
    if request["jsonrpc"] != "2.0" {
        let message = "`jsonrpc` must be \"2.0\"";
        return Some(refused(id, ErrorCode::INVALID_REQUEST, message));
    }
    let is_wrong = !matches!(request.get("params")?, Value::Object(_) | Value::Null);
    is_wrong.then(|| refused(id, ErrorCode::INVALID_PARAMS, "`params` must be an object"))
}

/// Returns a line that can be read, or one that says that it cannot be.
fn mended(line: &[u8]) -> Cow<'_, [u8]> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Cow::Borrowed(line);
    }
    checked(line).unwrap_or_else(|| {
        let notification = json!({ "jsonrpc": "2.0", "method": NO_JSON });
        Cow::Owned(format!("{notification}\n").into_bytes())
    })
}

/// Returns a message that can be read, or the request that stands for a wrong one; `None` for what
/// is no JSON.
pub(super) fn checked(message: &[u8]) -> Option<Cow<'_, [u8]>> {
    let message = readable(message)?;
    Some(wrong_request(&message).map_or(message, Cow::Owned))
}

/// Returns JSON as others read it, without a byte-order mark, with U+FFFD for bytes that are no
/// UTF-8 and for halves of surrogate pairs; `None` for what is no JSON. A cursor that is no string
/// becomes one: rmcp would read it as none, and give the first page.
fn readable(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let text = String::from_utf8_lossy(bytes);
    let text = match without_half_pairs(&text) {
        Cow::Owned(mended) => Cow::Owned(mended),
        Cow::Borrowed(_) => text,
    };
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => Cow::Owned(rest.to_owned()),
        None => text,
    };
    // As a value: a number that is out of range is JSON to others only.
    let mut value: Value = serde_json::from_str(&text).ok()?;
    if let Some(cursor) = value.pointer_mut("/params/cursor")
        && !matches!(cursor, Value::String(_) | Value::Null)
    {
        *cursor = Value::String(cursor.to_string());
        return Some(Cow::Owned(format!("{value}\n").into_bytes()));
    }
    Some(match text {
        Cow::Borrowed(_) => Cow::Borrowed(bytes),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_json_say_so() {
        for line in ["{\n", "text\n", "\u{1}\n", "{\"a\":1} x\n", "{\"id\":921e99923}\n"] {
            let mended: Value = serde_json::from_slice(&mended(line.as_bytes())).unwrap();
            assert_eq!(mended["method"], NO_JSON);
        }
        for line in ["\n", "  \r\n", "{\"a\": 1}\r\n", "[]\n"] {
            assert!(matches!(mended(line.as_bytes()), Cow::Borrowed(_)), "{line:?}");
        }
        assert_eq!(mended("\u{feff}{}\n".as_bytes()), "{}\n".as_bytes());
        assert_eq!(mended(b"{\"a\":\"\xff\"}\n"), "{\"a\":\"\u{fffd}\"}\n".as_bytes());
    }

    #[test]
    fn params_that_are_no_object_keep_the_id() {
        let line =
            mended(br#"{"jsonrpc":"2.0","id":11,"method":"tools/call","params":[]}"#).into_owned();
        let request: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(request["id"], 11);
        assert_eq!(request["method"], REFUSED);
        assert_eq!(request["params"]["message"], "`params` must be an object");
        for fine in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(matches!(mended(fine.as_bytes()), Cow::Borrowed(_)), "{fine}");
        }
    }

    #[test]
    fn a_request_of_another_version_keeps_its_id() {
        for line in
            [r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, r#"{"id":"a","method":"ping"}"#]
        {
            let request: Value = serde_json::from_slice(&mended(line.as_bytes())).unwrap();
            assert_eq!((&request["id"], &request["method"]), (&json!("a"), &json!(REFUSED)));
            assert_eq!(request["params"]["code"], ErrorCode::INVALID_REQUEST.0);
        }
    }

    #[test]
    fn a_request_without_a_method_keeps_its_id() {
        for (line, message) in [
            (r#"{"jsonrpc":"2.0","id":8}"#, "`method` is missing"),
            (r#"{"id":8,"method":5}"#, "`method` is a number, but must be a string"),
        ] {
            let request: Value = serde_json::from_slice(&mended(line.as_bytes())).unwrap();
            assert_eq!((&request["id"], &request["method"]), (&json!(8), &json!(REFUSED)));
            assert_eq!(request["params"]["message"], message);
        }
        for fine in [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":null}"#,
        ] {
            assert!(matches!(mended(fine.as_bytes()), Cow::Borrowed(_)), "{fine}");
        }
    }

    #[test]
    fn a_cursor_that_is_no_string_becomes_one() {
        let cursor = |json: &str| {
            let value: Value = serde_json::from_slice(&readable(json.as_bytes()).unwrap()).unwrap();
            value["params"]["cursor"].clone()
        };
        assert_eq!(cursor(r#"{"params": {"cursor": 5}}"#), "5");
        assert_eq!(cursor(r#"{"params": {"cursor": "a"}}"#), "a");
        assert_eq!(cursor(r#"{"params": {"cursor": null}}"#), Value::Null);
    }

    #[test]
    fn long_messages_keep_their_id() {
        let id = |head: &str| {
            let line: Value = serde_json::from_slice(&too_long(head.as_bytes(), b"")).unwrap();
            line["id"].clone()
        };
        assert_eq!(id(r#"{"jsonrpc":"2.0", "id" : 7, "params": {"#), 7);
        assert_eq!(id(r#"{"id":"a-1","method":"tools/call","params":{"task":"xxx"#), "a-1");
        assert_eq!(id(r#"{"params":{"id":3,"x":["]\"\ud83d"]},"id":-8,"method":"x"#), -8);
        assert!(id(r#"{"params": {"id": {"#).is_null());
        assert!(id(r#"{"params": {"id": 3, "task": "xxx"#).is_null());
        assert!(id("xxxx").is_null());
        let last_id = |tail: &str| {
            let line: Value = serde_json::from_slice(&too_long(b"{", tail.as_bytes())).unwrap();
            line["id"].clone()
        };
        assert_eq!(last_id("xxx\"}},\"jsonrpc\":\"2.0\",\"id\":7}\n"), 7);
        assert_eq!(last_id("xxx\"}}, \"id\" : \"a\", \"jsonrpc\": \"2.0\"}"), "a");
        assert!(last_id("xxx\",\"id\":3}}\n").is_null());
        assert!(last_id("xxx \\\"id\\\":3}\"}\n").is_null());
    }
}
