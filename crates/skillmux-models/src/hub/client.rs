//! [`Client`]: asks the hub, with patience.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    time::Duration,
};

use backon::{BlockingRetryable, ExponentialBuilder};
use sha2::{Digest, Sha256};
use ureq::{
    Agent, Body,
    config::RedirectAuthHeaders,
    http::{HeaderValue, Response, Uri, header},
};

use super::{
    HubConfig, HubError, ModelId,
    cache::write_error,
    listing::{Listing, RemoteFile},
};
use crate::http::{
    CONNECT_TIMEOUT, Retries, USER_AGENT, is_loopback, is_transient, is_transient_status,
};

/// Longest time without a byte.
const READ_TIMEOUT: Duration = Duration::from_mins(1);

/// Longest time to wait before another attempt.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// Longest list of files.
const MAX_LISTING_BYTES: u64 = 16 << 20;

/// Bytes that are written at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Asks one hub.
pub(super) struct Client {
    agent: Agent,
    endpoint: String,
    authorization: Option<HeaderValue>,
    retries: Retries,
}

impl Client {
    pub(super) fn new(config: &HubConfig) -> Result<Self, HubError> {
        let endpoint = config.endpoint.trim().trim_end_matches('/').to_owned();
        let refused = |problem| HubError::Endpoint { problem };
        if endpoint.contains(['@', '?', '#']) {
            return Err(refused("holds a `@`, `?` or `#`"));
        }
        let uri: Uri = endpoint.parse().map_err(|_| refused("is malformed"))?;
        let is_local = uri.host().is_some_and(is_loopback);
        let is_secret = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(refused("begins neither with http:// nor with https://")),
        };
        if !is_secret && !is_local && config.token.is_some() {
            let problem = "begins with http://, which would show the token to everyone on the way";
            return Err(refused(problem));
        }
        let authorization = match &config.token {
            Some(token) => Some(token.bearer().map_err(|_| HubError::Token)?),
            None => None,
        };
        let mut builder = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(is_secret)
            // Weights come from another host, which has its own secret in the URL.
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(READ_TIMEOUT))
            .timeout_per_read(Some(READ_TIMEOUT))
            // Lengths are those of the files.
            .accept_encoding("identity")
            .user_agent(USER_AGENT);
        if is_local {
            builder = builder.proxy(None);
        }
        let agent = builder.build().new_agent();
        Ok(Self { agent, endpoint, authorization, retries: config.retries })
    }

    /// Returns what the hub says of a model.
    pub(super) fn listing(&self, id: &ModelId) -> Result<Listing, HubError> {
        let revision = id.revision().replace('/', "%2F");
        let repository = id.repository();
        let url =
            format!("{}/api/models/{repository}/revision/{revision}?blobs=true", self.endpoint);
        let ask = || {
            let mut response = self.get(&url, 0)?;
            Ok(response.body_mut().with_config().limit(MAX_LISTING_BYTES).read_to_string()?)
        };
        let answer = self.patiently(ask).map_err(|failure| self.error(failure, id, &url))?;
        Listing::read(&answer).ok_or(HubError::Protocol { url })
    }

    /// Downloads a file to a path, and tells how many of its bytes are there from time to time.
    /// What an earlier call has left is not asked for again.
    pub(super) fn download(
        &self,
        id: &ModelId,
        commit: &str,
        file: &RemoteFile,
        path: &Path,
        told: &mut dyn FnMut(u64),
    ) -> Result<(), HubError> {
        let url = format!("{}/{}/resolve/{commit}/{}", self.endpoint, id.repository(), file.name);
        let part_path = path.with_extension("incomplete");
        let failed = write_error(&part_path);
        let mut part = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(&part_path)
            .map_err(&failed)?;
        // Another process may be at it; then its file is waited for.
        part.lock().map_err(&failed)?;
        if path.metadata().is_ok_and(|found| found.len() == file.n_bytes) {
            return Ok(());
        }
        let attempt = || self.append(&url, file, &mut part, &part_path, told);
        self.patiently(attempt).map_err(|failure| self.error(failure, id, &url))?;
        if file.is_sha256 && sha256(&mut part).map_err(&failed)? != file.blob {
            fs::remove_file(&part_path).map_err(&failed)?;
            return Err(HubError::Damaged { id: id.clone(), file: file.name.clone() });
        }
        part.sync_all().map_err(&failed)?;
        fs::rename(&part_path, path).map_err(&failed)
    }

    /// Asks for what a part of a file lacks, and appends it.
    fn append(
        &self,
        url: &str,
        file: &RemoteFile,
        part: &mut File,
        part_path: &Path,
        told: &mut dyn FnMut(u64),
    ) -> Result<(), Failure> {
        let failed = write_error(part_path);
        let failed = |source| Failure::Final(failed(source));
        let mut n_bytes = part.metadata().map_err(failed)?.len();
        if n_bytes > file.n_bytes {
            part.set_len(0).map_err(failed)?;
            n_bytes = 0;
        }
        if n_bytes == file.n_bytes {
            return Ok(());
        }
        let response = self.get(url, n_bytes)?;
        if response.status() != 206 {
            part.set_len(0).map_err(failed)?;
            n_bytes = 0;
        }
        let body = response.into_body().into_reader();
        let mut body = body.take((file.n_bytes - n_bytes).saturating_add(1));
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            told(n_bytes);
            let n_read = body.read(&mut chunk).map_err(ureq::Error::Io)?;
            if n_read == 0 {
                break;
            }
            part.write_all(&chunk[..n_read]).map_err(failed)?;
            n_bytes += n_read as u64;
        }
        if n_bytes == file.n_bytes {
            return Ok(());
        }
        let short = format!("{n_bytes} of {} bytes came", file.n_bytes);
        Err(ureq::Error::Io(io::Error::new(io::ErrorKind::UnexpectedEof, short)).into())
    }

    fn get(&self, url: &str, from: u64) -> Result<Response<Body>, Failure> {
        let mut request = self.agent.get(url);
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization.clone());
        }
        if from > 0 {
            request = request.header(header::RANGE, format!("bytes={from}-"));
        }
        let response = request.call()?;
        match response.status().as_u16() {
            200 | 206 => Ok(response),
            status => Err(Failure::Status(status)),
        }
    }

    /// Returns the result of the first attempt that ends otherwise than in a failure that may go
    /// away.
    fn patiently<T>(&self, attempt: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
        let Retries { max_attempts, first_wait } = self.retries;
        let waits = ExponentialBuilder::default()
            .with_min_delay(first_wait)
            .with_max_delay(MAX_WAIT)
            .with_max_times(max_attempts.saturating_sub(1) as usize);
        attempt.retry(waits).when(Failure::is_transient).call()
    }

    fn error(&self, failure: Failure, id: &ModelId, url: &str) -> HubError {
        let (host, id, url) = (self.endpoint.clone(), id.clone(), url.to_owned());
        match failure {
            Failure::Silence(source) => HubError::Unreachable { url, source: source.into() },
            Failure::Final(error) => error,
            Failure::Status(404) => HubError::Unknown { host, id },
            Failure::Status(status @ (401 | 403)) => HubError::Denied { host, id, status },
            Failure::Status(status) => HubError::Status { url, status },
        }
    }
}

/// Why an attempt gave nothing.
enum Failure {
    /// No answer came, or not all of it.
    Silence(ureq::Error),
    /// The answer is an error.
    Status(u16),
    /// Another attempt would end in this, too.
    Final(HubError),
}

impl From<ureq::Error> for Failure {
    fn from(error: ureq::Error) -> Self {
        Self::Silence(error)
    }
}

impl Failure {
    /// Returns whether another attempt may end otherwise.
    fn is_transient(&self) -> bool {
        match self {
            Self::Silence(error) => is_transient(error),
            Self::Status(status) => is_transient_status(*status),
            Self::Final(_) => false,
        }
    }
}

/// Returns the hash of a file, in hexadecimal digits.
fn sha256(file: &mut File) -> io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            n_read => hasher.update(&chunk[..n_read]),
        }
    }
    let digits = hasher.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect())
}
