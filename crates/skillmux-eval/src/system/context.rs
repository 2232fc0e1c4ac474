//! [`SystemContext`]: what systems are made of.

use std::sync::{Arc, Mutex, PoisonError};

use skillmux::{
    index::Index,
    model::{ChatModel, Encoder},
    route::{Ranker, RouteOptions, Router},
};

use super::{
    assembly::{Assembly, WordRankings},
    bodiless::BodilessIndex,
    forms::known_forms,
};
use crate::{
    dataset::Aliases,
    error::{Error, ModelPort},
};

/// What systems are made of. Systems of one context share what they build.
pub struct SystemContext<'a> {
    /// The router to measure.
    pub router: &'a Router,
    /// The rankings that can be named.
    pub assembly: &'a dyn Assembly,
    /// Limits of the router's answers.
    pub options: RouteOptions,
    /// Makes the vectors for `dense`.
    pub encoder: Option<&'a dyn Encoder>,
    /// Answers for `judge`.
    pub chat: Option<&'a dyn ChatModel>,
    index: &'a Index,
    aliases: Shared<Aliases>,
    bodiless: Shared<BodilessIndex>,
}

impl<'a> SystemContext<'a> {
    /// Returns a context without models, with rankings by words and the default limits of answers.
    ///
    /// `index` is the snapshot of the router; all systems choose from its skills.
    pub fn new(router: &'a Router, index: &'a Index) -> Self {
        Self {
            router,
            assembly: &WordRankings,
            index,
            options: RouteOptions::default(),
            encoder: None,
            chat: None,
            aliases: Shared::default(),
            bodiless: Shared::default(),
        }
    }

    /// Returns the index of the router.
    pub fn index(&self) -> &'a Index {
        self.index
    }

    /// Returns the ranking of a name over an index.
    pub(super) fn ranker(&self, name: &str, index: &Index) -> Result<Ranker, Error> {
        let ranker = self.assembly.ranker(name, index)?;
        ranker.ok_or_else(|| Error::SystemUnknown {
            name: name.to_owned(),
            known: known_forms(Some(self.assembly)),
        })
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
