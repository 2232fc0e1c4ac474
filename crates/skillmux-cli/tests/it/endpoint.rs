//! A chat endpoint on this machine that says what a test wants.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use serde_json::{Value, json};

/// One request: its head, and its body as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Asked {
    /// Returns the text of a turn of the conversation.
    pub(crate) fn turn(&self, at: usize) -> &str {
        self.body["messages"][at]["content"].as_str().unwrap()
    }

    /// Returns the number of turns.
    pub(crate) fn n_turns(&self) -> usize {
        self.body["messages"].as_array().unwrap().len()
    }

    /// Returns the document that the request is about.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(self.turn(1)).unwrap()
    }
}

/// A status and, if it is 200, what the model says; else the body of the answer.
pub(crate) type Said = (u16, String);

/// A server that goes away with it.
pub(crate) struct ChatServer {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ChatServer {
    /// Answers each request with what a function makes of it and of the number of those before.
    pub(crate) fn start(answer: impl Fn(usize, &Asked) -> Said + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let is_over = Arc::new(AtomicBool::new(false));
        let (log, stop) = (Arc::clone(&asked), Arc::clone(&is_over));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                serve(&stream.unwrap(), &answer, &log);
            }
        });
        Self { url, asked, is_over, thread: Some(thread) }
    }

    /// Returns what was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for a connection.
        TcpStream::connect(self.url.trim_start_matches("http://").trim_end_matches("/v1")).ok();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(()))) || thread::panicking());
    }
}

fn serve(mut stream: &TcpStream, answer: &impl Fn(usize, &Asked) -> Said, log: &Mutex<Vec<Asked>>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).unwrap();
    let asked = Asked { head, body: serde_json::from_slice(&body).unwrap() };
    let n_before = log.lock().unwrap().len();
    let (status, said) = answer(n_before, &asked);
    log.lock().unwrap().push(asked);
    let body = if status == 200 {
        json!({ "choices": [{ "message": { "role": "assistant", "content": said } }] }).to_string()
    } else {
        said
    };
    let n_bytes = body.len();
    let reply = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n\
         content-length: {n_bytes}\r\nretry-after: 0\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(reply.as_bytes()).ok();
}
