//! Published models by their ids, from the Hugging Face Hub or from its cache on this machine.
//!
//! A connection is opened only for a model that the cache lacks. The cache is the one that other
//! programs use, too: `models--OWNER--NAME` with `blobs`, `refs` and `snapshots`.
//!
//! ```no_run
//! use std::path::PathBuf;
//! use skillmux_models::hub::{Hub, HubConfig, ModelId};
//!
//! let config = HubConfig::new(PathBuf::from("huggingface/hub"));
//! let id: ModelId = "sentence-transformers/all-MiniLM-L6-v2".parse()?;
//! let folder = Hub::new(config)?.fetch(&id, &mut |progress| {
//!     println!("{} of {} bytes", progress.n_bytes, progress.n_all);
//! })?;
//! println!("{}", folder.display());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod client;
mod error;
mod id;
mod listing;

use std::path::PathBuf;

use self::{cache::ModelCache, client::Client, listing::Listing};

pub use self::{
    error::HubError,
    id::{ModelId, ModelIdMalformed},
};
pub use crate::http::{ApiKey, Retries};

/// Where models come from.
#[derive(Debug, Clone)]
pub struct HubConfig {
    /// URL of the hub, or of one that answers as it does.
    pub endpoint: String,
    /// Folder of the cache.
    pub cache: PathBuf,
    /// Sent to the hub as a bearer token, if there is one; not to where it redirects to.
    pub token: Option<ApiKey>,
    /// Whether the hub may be asked.
    pub connection: Connection,
    /// When a request is sent again; a download goes on where it stopped.
    pub retries: Retries,
}

/// Whether the hub may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// It may, for what the cache lacks.
    Allowed,
    /// Only the cache is used.
    Forbidden,
}

impl HubConfig {
    /// URL of the Hugging Face Hub.
    pub const ENDPOINT: &'static str = "https://huggingface.co";

    /// Returns the configuration of the Hugging Face Hub without a token.
    pub fn new(cache: PathBuf) -> Self {
        Self {
            endpoint: Self::ENDPOINT.to_owned(),
            cache,
            token: None,
            connection: Connection::Allowed,
            retries: Retries::default(),
        }
    }
}

/// How far the download of a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubProgress {
    /// Bytes that are there.
    pub n_bytes: u64,
    /// Bytes of all files.
    pub n_all: u64,
}

/// Fetches models into the cache.
pub struct Hub {
    config: HubConfig,
    client: Client,
}

impl Hub {
    /// Returns a hub. It is not asked yet.
    ///
    /// # Errors
    /// [`HubError::Endpoint`] or [`HubError::Token`] if the hub cannot be asked so.
    pub fn new(config: HubConfig) -> Result<Self, HubError> {
        let client = Client::new(&config)?;
        Ok(Self { config, client })
    }

    /// Returns the folder of a model in the cache, after the files that it lacks were downloaded:
    /// those that [`Checkpoint`](crate::checkpoint::Checkpoint) reads, and no others.
    ///
    /// A model that is there is not asked for again, also if the hub has a newer one by now.
    ///
    /// # Errors
    /// [`HubError`].
    pub fn fetch(
        &self,
        id: &ModelId,
        progress: &mut dyn FnMut(HubProgress),
    ) -> Result<PathBuf, HubError> {
        let cache = ModelCache::new(&self.config.cache, id);
        if let Some(folder) = cache.whole() {
            return Ok(folder);
        }
        if self.config.connection == Connection::Forbidden {
            let (id, path) = (id.clone(), self.config.cache.clone());
            return cache.usable().ok_or(HubError::Offline { id, cache: path });
        }
        let listing = self.client.listing(id)?;
        listing.check(id)?;
        self.download(id, &cache, &listing, progress)?;
        cache.finish(&listing)
    }

    /// Downloads all files of a listing that the cache lacks.
    fn download(
        &self,
        id: &ModelId,
        cache: &ModelCache,
        listing: &Listing,
        progress: &mut dyn FnMut(HubProgress),
    ) -> Result<(), HubError> {
        let n_all = listing.n_bytes();
        let mut n_before = 0_u64;
        for file in &listing.files {
            let mut told = |n_bytes| {
                progress(HubProgress { n_bytes: n_before.saturating_add(n_bytes), n_all });
            };
            if !cache.has_blob(file) {
                self.client.download(id, &listing.commit, file, &cache.blob(file)?, &mut told)?;
            }
            told(file.n_bytes);
            cache.link(&listing.commit, file)?;
            n_before = n_before.saturating_add(file.n_bytes);
        }
        Ok(())
    }
}
