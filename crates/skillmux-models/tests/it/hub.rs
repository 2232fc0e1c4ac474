//! Models by their ids: downloaded once, kept in the cache, and refused where something is wrong.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use skillmux::{ErrorKind, model::Encoder};
use skillmux_models::{
    checkpoint::Checkpoint,
    hub::{ApiKey, Connection, Hub, HubConfig, HubError, HubProgress, ModelId, Retries},
};
use tempfile::TempDir;

use crate::{
    checkpoint::shard,
    mock_hub::{COMMIT, HubReply, HubRequest, MockHub},
    reference::{Reference, Written},
};

const ID: &str = "tiny/model";

/// What a user has: a cache, and a hub to ask.
struct User {
    cache: TempDir,
    hub: MockHub,
}

impl User {
    fn of(hub: MockHub) -> Self {
        Self { cache: tempfile::tempdir().unwrap(), hub }
    }

    fn config(&self) -> HubConfig {
        let mut config = HubConfig::new(self.cache.path().to_owned());
        config.endpoint.clone_from(&self.hub.url);
        config.retries = Retries { max_attempts: 3, first_wait: Duration::from_millis(1) };
        config
    }

    fn fetch(&self, id: &str) -> Result<PathBuf, HubError> {
        fetch_with(self.config(), id)
    }

    fn fetch_offline(&self, id: &str) -> Result<PathBuf, HubError> {
        fetch_with(HubConfig { connection: Connection::Forbidden, ..self.config() }, id)
    }

    fn folder(&self) -> PathBuf {
        self.cache.path().join("models--tiny--model")
    }

    fn n_blobs(&self) -> usize {
        fs::read_dir(self.folder().join("blobs")).map_or(0, Iterator::count)
    }
}

fn fetch_with(config: HubConfig, id: &str) -> Result<PathBuf, HubError> {
    Hub::new(config)?.fetch(&id.parse::<ModelId>().unwrap(), &mut |_| {})
}

fn tiny() -> Written {
    Reference::read().write_named("bert encoder")
}

fn assert_refused(error: &HubError, kind: ErrorKind, message: &str, hint: &str) {
    assert_eq!(error.to_string(), message);
    assert_eq!(error.kind(), kind);
    assert!(error.hint().contains(hint), "{}", error.hint());
    assert!(!message.contains('\n') && !message.ends_with('.'));
}

#[test]
fn a_model_is_downloaded_once() {
    let (written, reference) = (tiny(), Reference::read());
    let user = User::of(MockHub::of(written.path()));
    let folder = user.fetch(ID).unwrap();
    assert_eq!(folder, user.folder().join("snapshots").join(COMMIT));
    let texts = reference.texts();
    let vectors = |folder: &Path| {
        Checkpoint::open(folder).unwrap().encoder().unwrap().encode(&texts).unwrap()
    };
    assert_eq!(vectors(&folder), vectors(written.path()));

    let asked = user.hub.asked();
    let paths: Vec<&str> = asked.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths[0], "/api/models/tiny/model/revision/main");
    // The configuration, the tokenizer, the weights, and three files that say how to pool; no
    // README.
    assert_eq!(paths.len(), 7, "{paths:?}");
    assert!(
        paths[1..].iter().all(|path| path.starts_with(&format!("/tiny/model/resolve/{COMMIT}/")))
    );
    assert!(paths.last().unwrap().ends_with("model.safetensors"), "small files come first");

    assert_eq!(user.fetch(ID).unwrap(), folder);
    assert_eq!(user.fetch_offline(ID).unwrap(), folder);
    assert_eq!(user.fetch(&format!("{ID}@{COMMIT}")).unwrap(), folder);
    assert_eq!(user.hub.asked(), asked);
    assert_eq!(fs::read_to_string(user.folder().join("refs/main")).unwrap(), COMMIT);
}

#[test]
fn weights_of_several_files_are_all_downloaded() {
    let written = tiny();
    shard(&written);
    let user = User::of(MockHub::of(written.path()));
    let folder = user.fetch(ID).unwrap();
    assert!(Checkpoint::open(&folder).unwrap().encoder().is_ok());
    let n_asked = user.hub.asked().len();
    user.fetch(ID).unwrap();
    assert_eq!(user.hub.asked().len(), n_asked);
    fs::remove_file(folder.join("model-00002-of-00002.safetensors")).unwrap();
    assert!(user.fetch_offline(ID).is_err());
}

#[test]
fn the_bytes_of_all_files_are_told() {
    let user = User::of(MockHub::of(tiny().path()));
    let mut told: Vec<HubProgress> = Vec::new();
    let hub = Hub::new(user.config()).unwrap();
    hub.fetch(&ID.parse().unwrap(), &mut |progress| told.push(progress)).unwrap();
    assert!(told.is_sorted_by_key(|progress| progress.n_bytes));
    let last = told.last().unwrap();
    assert!(last.n_bytes == last.n_all && last.n_all > 10_000);
    assert!(told.iter().all(|progress| progress.n_all == last.n_all));
}

#[test]
fn without_a_connection_only_the_cache_is_used() {
    let user = User::of(MockHub::of(tiny().path()));
    let error = user.fetch_offline(ID).unwrap_err();
    let cache = user.cache.path().display();
    let message = format!("`{ID}` is not in the cache at `{cache}`, and no connection is allowed");
    assert_refused(&error, ErrorKind::Input, &message, "hf download tiny/model");
    assert!(user.hub.asked().is_empty());
}

#[test]
fn what_another_program_left_in_the_cache_is_used_offline_and_completed_online() {
    let user = User::of(MockHub::of(tiny().path()));
    user.fetch(ID).unwrap();
    // Another program has no need for the file that says how to pool, and notes nothing.
    fs::remove_dir_all(user.folder().join(".no_exist")).unwrap();
    let pooling = user.folder().join("snapshots").join(COMMIT).join("1_Pooling/config.json");
    fs::remove_file(&pooling).unwrap();
    let n_asked = user.hub.asked().len();
    user.fetch_offline(ID).unwrap();
    assert_eq!(user.hub.asked().len(), n_asked);
    user.fetch(ID).unwrap();
    assert!(pooling.is_file());
    assert_eq!(user.hub.asked().len(), n_asked + 1, "its content was there");
}

#[test]
fn a_revision_is_asked_for_and_kept_apart() {
    let user = User::of(MockHub::of(tiny().path()));
    user.fetch("tiny/model@refs/pr/1").unwrap();
    assert_eq!(user.hub.asked()[0].path, "/api/models/tiny/model/revision/refs%2Fpr%2F1");
    assert_eq!(fs::read_to_string(user.folder().join("refs/refs/pr/1")).unwrap(), COMMIT);
    assert!(user.fetch_offline(ID).is_err());
}

/// Answers one request for the weights otherwise.
fn weights_once(
    reply: impl Fn() -> HubReply + Send + Sync + 'static,
) -> impl Fn(&HubRequest, usize) -> Option<HubReply> + Send + Sync {
    let is_used = AtomicBool::new(false);
    move |request, _| {
        let is_weights = request.path.ends_with("model.safetensors");
        let is_first = is_weights && !is_used.swap(true, Ordering::Relaxed);
        is_first.then(&reply)
    }
}

#[test]
fn a_download_goes_on_where_it_stopped() {
    let written = tiny();
    let weights = fs::read(written.file("model.safetensors")).unwrap();
    let begin = weights[..1000].to_vec();
    let cut = weights_once(move || HubReply { body: begin.clone(), ..HubReply::status(200) });
    let user = User::of(MockHub::answering(written.path(), cut));
    let folder = user.fetch(ID).unwrap();
    assert_eq!(user.hub.asked().last().unwrap().range.as_deref(), Some("bytes=1000-"));
    assert!(fs::read(folder.join("model.safetensors")).unwrap() == weights);
}

#[test]
fn a_server_that_fails_is_asked_again() {
    let written = tiny();
    let busy = weights_once(|| HubReply::status(503));
    let user = User::of(MockHub::answering(written.path(), busy));
    user.fetch(ID).unwrap();
    let down = User::of(MockHub::answering(written.path(), |_, _| Some(HubReply::status(503))));
    let error = down.fetch(ID).unwrap_err();
    let url = format!("{}/api/models/tiny/model/revision/main?blobs=true", down.hub.url);
    assert_refused(&error, ErrorKind::Environment, &format!("`{url}` answered 503"), "go on later");
    assert_eq!(down.hub.asked().len(), 3);
}

#[test]
fn damaged_weights_are_refused_and_removed() {
    let written = tiny();
    let mut weights = fs::read(written.file("model.safetensors")).unwrap();
    *weights.last_mut().unwrap() ^= 1;
    let damaged = weights_once(move || HubReply { body: weights.clone(), ..HubReply::status(200) });
    let user = User::of(MockHub::answering(written.path(), damaged));
    let error = user.fetch(ID).unwrap_err();
    let message = "`model.safetensors` of `tiny/model` was damaged on the way: its SHA-256 is not the \
                   one that the hub names";
    assert_refused(&error, ErrorKind::Environment, message, "it was removed");
    // The small files are there, and no weights.
    assert_eq!(user.n_blobs(), 5);
    assert!(user.fetch_offline(ID).is_err());
    user.fetch(ID).unwrap();
    assert_eq!(user.n_blobs(), 6);
}

#[test]
fn a_part_of_another_file_is_not_gone_on_with() {
    let written = tiny();
    let user = User::of(MockHub::of(written.path()));
    user.fetch(ID).unwrap();
    let link = user.folder().join("snapshots").join(COMMIT).join("model.safetensors");
    let blob = fs::canonicalize(link).unwrap();
    let n_bytes = fs::metadata(&blob).unwrap().len();
    let part = blob.with_extension("incomplete");
    fs::remove_file(&blob).unwrap();
    for n_part in [100, n_bytes] {
        fs::write(&part, vec![7; usize::try_from(n_part).unwrap()]).unwrap();
        assert!(matches!(user.fetch(ID).unwrap_err(), HubError::Damaged { .. }));
        assert!(!part.exists() && !blob.exists());
    }
    fs::write(&part, vec![7; usize::try_from(n_bytes).unwrap() + 1]).unwrap();
    user.fetch(ID).unwrap();
}

#[test]
fn a_model_that_is_not_there_or_not_for_everyone_is_told() {
    let written = tiny();
    for (status, message, hint) in [
        (404, "has no model `tiny/model@v2`", "check the owner, the name and the revision"),
        (401, "answered 401 for `tiny/model@v2`: it is private or gated", "into HF_TOKEN"),
        (403, "answered 403 for `tiny/model@v2`: it is private or gated", "accept the terms"),
    ] {
        let answer = move |_: &HubRequest, _| Some(HubReply::status(status));
        let user = User::of(MockHub::answering(written.path(), answer));
        let error = user.fetch("tiny/model@v2").unwrap_err();
        assert!(error.to_string().starts_with(&format!("`{}` {message}", user.hub.url)), "{error}");
        assert!(error.hint().contains(hint), "{}", error.hint());
        assert_eq!(error.kind(), ErrorKind::Input);
        assert_eq!(user.hub.asked().len(), 1);
    }
    // The list of a gated model is for everyone, its files are not.
    let gated =
        |request: &HubRequest, _| request.path.contains("/resolve/").then(|| HubReply::status(403));
    let user = User::of(MockHub::answering(written.path(), gated));
    assert!(matches!(user.fetch(ID).unwrap_err(), HubError::Denied { status: 403, .. }));
}

#[test]
fn a_model_without_a_needed_file_is_not_downloaded() {
    for (file, hint) in [
        ("tokenizer.json", "save_pretrained"),
        ("model.safetensors", "as safetensors"),
        ("config.json", "transformers library"),
    ] {
        let written = tiny();
        fs::remove_file(written.file(file)).unwrap();
        let user = User::of(MockHub::of(written.path()));
        let error = user.fetch(ID).unwrap_err();
        assert_refused(&error, ErrorKind::Input, &format!("`{ID}` has no `{file}`"), hint);
        assert_eq!(user.hub.asked().len(), 1);
    }
}

#[test]
fn no_answer_is_told() {
    let user = User::of(MockHub::of(tiny().path()));
    // A port that nothing listens at.
    let endpoint = "http://127.0.0.1:1".to_owned();
    let error = fetch_with(HubConfig { endpoint, ..user.config() }, ID).unwrap_err();
    let message =
        "no answer from `http://127.0.0.1:1/api/models/tiny/model/revision/main?blobs=true`";
    assert_refused(&error, ErrorKind::Environment, message, "check the network");
}

#[test]
fn an_answer_that_is_no_list_is_told() {
    let page = |_: &HubRequest, _| {
        Some(HubReply { body: b"<!doctype html>".to_vec(), ..HubReply::status(200) })
    };
    let user = User::of(MockHub::answering(tiny().path(), page));
    let error = user.fetch(ID).unwrap_err();
    assert!(matches!(error, HubError::Protocol { .. }), "{error}");
    assert!(error.hint().contains("HF_ENDPOINT"));
}

#[test]
fn the_token_goes_to_the_hub_alone() {
    let written = tiny();
    let elsewhere = MockHub::of(written.path());
    let url = elsewhere.url.replace("127.0.0.1", "localhost");
    let redirect = move |request: &HubRequest, _| {
        let location = Some(format!("{url}{}", request.path));
        let is_file = request.path.contains("/resolve/");
        is_file.then(|| HubReply { location, ..HubReply::status(302) })
    };
    let user = User::of(MockHub::answering(written.path(), redirect));
    let token = Some(ApiKey::new("hf_secret"));
    fetch_with(HubConfig { token: token.clone(), ..user.config() }, ID).unwrap();
    let tokens = |hub: &MockHub| -> Vec<Option<String>> {
        hub.asked().into_iter().map(|request| request.token).collect()
    };
    assert!(tokens(&user.hub).iter().all(|token| token.as_deref() == Some("Bearer hf_secret")));
    assert_eq!(tokens(&elsewhere), vec![None; 6]);

    for (endpoint, problem) in [
        ("http://hub.example.com", "begins with http://, which would show the token"),
        ("ftp://hub.example.com", "begins neither with http:// nor with https://"),
        ("https://me:secret@hub.example.com", "holds a `@`, `?` or `#`"),
    ] {
        let config =
            HubConfig { endpoint: endpoint.to_owned(), token: token.clone(), ..user.config() };
        let error = Hub::new(config).err().unwrap().to_string();
        assert!(error.starts_with(&format!("the URL of the hub {problem}")), "{error}");
    }
}
