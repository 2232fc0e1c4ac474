//! [`SystemContext`]: what systems are made of.

use std::sync::{Arc, Mutex, PoisonError};

use skillmux::{
    index::Index,
    model::{ChatModel, Encoder},
    route::{RouteOptions, Router},
};

use super::bodiless::BodilessIndex;
use crate::{
    dataset::Aliases,
    error::{Error, ModelPort},
};

/// What systems are made of. Systems of one context share what they build.
pub struct SystemContext<'a> {
    /// The router to measure; its index holds the skills that all systems choose from.
    pub router: &'a Router,
    /// Limits of the router's answers.
    pub options: RouteOptions,
    /// Makes the vectors for `dense`.
    pub encoder: Option<&'a dyn Encoder>,
    /// Answers for `judge`.
    pub chat: Option<&'a dyn ChatModel>,
    aliases: Shared<Aliases>,
    bodiless: Shared<BodilessIndex>,
}

impl<'a> SystemContext<'a> {
    /// Returns a context without models, with the default limits of answers.
    pub fn new(router: &'a Router) -> Self {
        Self {
            router,
            options: RouteOptions::default(),
            encoder: None,
            chat: None,
            aliases: Shared::default(),
            bodiless: Shared::default(),
        }
    }

    /// Returns the index of the router.
    pub fn index(&self) -> &'a Index {
        self.router.index()
    }

    /// Returns the encoder, for a system that cannot do without it.
    pub(super) fn encoder_for(&self, system: &str) -> Result<&'a dyn Encoder, Error> {
        self.encoder.ok_or_else(|| missing(system, ModelPort::Encoder))
    }

    /// Returns the chat model, for a system that cannot do without it.
    pub(super) fn chat_for(&self, system: &str) -> Result<&'a dyn ChatModel, Error> {
        self.chat.ok_or_else(|| missing(system, ModelPort::Chat))
    }

    /// Returns the ids of the skills, those of exact copies too.
    pub(super) fn aliases(&self) -> Result<Arc<Aliases>, Error> {
        self.aliases.get(|| Aliases::of(self.index()))
    }

    /// Returns an index of the same skills without their bodies.
    pub(super) fn bodiless(&self) -> Result<Arc<BodilessIndex>, Error> {
        self.bodiless.get(|| BodilessIndex::build(self.index()))
    }
}

fn missing(system: &str, model: ModelPort) -> Error {
    Error::ModelMissing { system: system.to_owned(), model }
}

/// Something that is made when it is first asked for.
struct Shared<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Shared<T> {
    fn get(&self, make: impl FnOnce() -> Result<T, Error>) -> Result<Arc<T>, Error> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.as_ref() {
            return Ok(Arc::clone(made));
        }
        Ok(Arc::clone(made.insert(Arc::new(make()?))))
    }
}
