//! A hub on this machine that has one model, the files of a folder, under any name.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use httpmock::{HttpMockRequest, HttpMockResponse, MockServer};
use serde_json::json;
use sha2::{Digest, Sha256};

/// The commit of the model.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Files of so many bytes and more are large ones, which the hub knows by their SHA-256.
const LARGE_BYTES: usize = 10_000;

/// A hub that goes away with it.
pub(crate) struct MockHub {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<HubRequest>>>,
    _lent: MockServer,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HubRequest {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) token: Option<String>,
}

/// An answer.
pub(crate) struct HubReply {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl HubReply {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, location: None, body: b"{}".to_vec() }
    }
}

impl MockHub {
    /// Starts a hub that has the files of a folder.
    pub(crate) fn of(folder: &Path) -> Self {
        Self::answering(folder, |_, _| None)
    }

    /// Starts a hub that has the files of a folder, and answers otherwise where a function of the
    /// request and of the number of those before says so.
    pub(crate) fn answering(
        folder: &Path,
        otherwise: impl Fn(&HubRequest, usize) -> Option<HubReply> + Send + Sync + 'static,
    ) -> Self {
        let server = MockServer::start();
        let asked: Arc<Mutex<Vec<HubRequest>>> = Arc::default();
        let (log, files) = (Arc::clone(&asked), files(folder));
        server.mock(|_, then| {
            then.respond_with(move |request| {
                let request = HubRequest::of(request);
                let n_before = log.lock().unwrap().len();
                log.lock().unwrap().push(request.clone());
                let reply =
                    otherwise(&request, n_before).unwrap_or_else(|| answer(&request, &files));
                let builder = HttpMockResponse::builder().status(reply.status);
                let builder = match reply.location {
                    Some(location) => builder.header("location", location),
                    None => builder,
                };
                builder.body(reply.body).build()
            });
        });
        Self { url: server.base_url(), asked, _lent: server }
    }

    /// Returns what was asked so far.
    pub(crate) fn asked(&self) -> Vec<HubRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl HubRequest {
    fn of(request: &HttpMockRequest) -> Self {
        let headers = request.headers();
        let header = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        Self {
            path: request.uri().path().to_owned(),
            range: header("range"),
            token: header("authorization"),
        }
    }
}

/// Returns the names and bytes of all files of a folder, also of those a level down.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = vec![("README.md".to_owned(), b"# Tiny".to_vec())];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inner = files(&path).into_iter().skip(1);
            found.extend(inner.map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else {
            found.push((name, fs::read(&path).unwrap()));
        }
    }
    found
}

fn answer(request: &HubRequest, files: &[(String, Vec<u8>)]) -> HubReply {
    if request.path.starts_with("/api/models/") {
        let body = listing(files).into_bytes();
        return HubReply { body, ..HubReply::status(200) };
    }
    let name = request.path.split_once(&format!("/resolve/{COMMIT}/")).map(|(_, name)| name);
    let file = files.iter().find(|(file, _)| Some(file.as_str()) == name);
    let Some((_, bytes)) = file else { return HubReply::status(404) };
    let from = request.range.as_deref().map(|range| {
        range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse::<usize>().unwrap()
    });
    let status = if from.is_some() { 206 } else { 200 };
    HubReply { body: bytes[from.unwrap_or(0)..].to_vec(), ..HubReply::status(status) }
}

fn listing(files: &[(String, Vec<u8>)]) -> String {
    let sibling = |(name, bytes): &(String, Vec<u8>)| {
        let size = bytes.len();
        let digits = Sha256::digest(bytes).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let sha256: String =
            digits.map(|digit| char::from_digit(digit.into(), 16).unwrap()).collect();
        let lfs = (size >= LARGE_BYTES)
            .then(|| json!({"sha256": sha256, "size": size, "pointerSize": 134}));
        json!({"rfilename": name, "size": size, "blobId": &sha256[..40], "lfs": lfs})
    };
    let siblings: Vec<_> = files.iter().map(sibling).collect();
    json!({"id": "tiny/model", "sha": COMMIT, "siblings": siblings}).to_string()
}
