//! [`State`]: what every transport answers from.

use std::sync::{Arc, PoisonError, RwLock};

use skillmux::{Error, Result, route::Router};
use tokio::sync::Semaphore;

use crate::status::Failure;

/// Most calls at a time.
pub(crate) const MAX_CALLS: usize = 16;

/// One router, shared by all transports and all calls under way; none while there are no skills.
///
/// Clones share the router, and another one that takes its place. Nothing is remembered between
/// calls but the newest generation of the index that opens.
#[derive(Clone)]
pub struct State {
    router: Arc<RwLock<Option<Arc<Router>>>>,
    calls: Arc<Semaphore>,
    hints: fn(&Error) -> Option<String>,
}

impl State {
    /// Returns the state of a server of the skills that `router` knows.
    pub fn new(router: impl Into<Arc<Router>>) -> Self {
        let state = Self::without_skills();
        state.replace(router);
        state
    }

    /// Returns the state of a server that has no skills yet: no task needs one, and lists are empty.
    pub fn without_skills() -> Self {
        Self {
            router: Arc::new(RwLock::new(None)),
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            hints: |_| None,
        }
    }

    /// Returns the router that calls are answered from now; `None` while there are no skills.
    pub fn router(&self) -> Option<Arc<Router>> {
        self.router.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets later calls be answered from another router; calls under way end with the one that they
    /// have.
    pub fn replace(&self, router: impl Into<Arc<Router>>) {
        *self.router.write().unwrap_or_else(PoisonError::into_inner) = Some(router.into());
    }

    /// Lets later calls find no skill.
    pub fn clear(&self) {
        *self.router.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the state with hints that come before those of the engine, which knows no commands.
    #[must_use]
    pub fn with_hints(self, hints: fn(&Error) -> Option<String>) -> Self {
        Self { hints, ..self }
    }

    /// Runs `call` on a blocking thread of the tokio runtime, against the newest generation of the
    /// index that opens, and that one alone; while another call opens it, against the one before. Of
    /// more than 16 calls, the others wait. A call that nobody waits for any more runs to its end if
    /// it has begun; otherwise it never begins.
    ///
    /// # Errors
    /// Those of `call`; [`Failure::no_skills`] while there are none.
    pub(crate) async fn call<T, C>(&self, call: C) -> Result<T, Failure>
    where
        T: Send + 'static,
        C: FnOnce(&Router) -> Result<T> + Send + 'static,
    {
        self.call_if_any(call).await?.ok_or_else(Failure::no_skills)
    }

    /// Does as [`call`](Self::call), but returns `None` while there are no skills.
    pub(crate) async fn call_if_any<T, C>(&self, call: C) -> Result<Option<T>, Failure>
    where
        T: Send + 'static,
        C: FnOnce(&Router) -> Result<T> + Send + 'static,
    {
        let Ok(permit) = Arc::clone(&self.calls).acquire_owned().await else {
            return Err(Failure::bug());
        };
        let Some(router) = self.router() else { return Ok(None) };
        let on_thread = move || {
            // Until the thread is free, whoever asked.
            let _permit = permit;
            // A generation that does not open is no reason to refuse: the one in memory is whole.
            let _ = router.refresh();
            call(&router.fixed())
        };
        match tokio::task::spawn_blocking(on_thread).await {
            Ok(answer) => {
                answer.map(Some).map_err(|error| Failure::of(&error, (self.hints)(&error)))
            }
            Err(_panic) => Err(Failure::bug()),
        }
    }
}

impl From<Router> for State {
    fn from(router: Router) -> Self {
        Self::new(router)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::Path,
        sync::{Mutex, mpsc},
        time::Duration,
    };

    use skillmux::{
        index::{Index, UpdateOptions},
        library::Library,
        query::Query,
        skill::SkillId,
    };
    use tempfile::TempDir;

    use super::*;
    use crate::Status;

    /// An index whose only skill is named `tea`, and the folder of its library.
    fn index_of_tea() -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        add_skill(dir.path(), "tea");
        dir
    }

    fn add_skill(dir: &Path, name: &str) {
        let folder = dir.join("skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        let text =
            format!("---\nname: {name}\ndescription: How to brew {name}\n---\nBoil water.\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
        let library = Library::open([dir.join("skills")]).unwrap();
        let options = UpdateOptions { memory_bytes: 40 << 20, ..UpdateOptions::default() };
        Index::update(&dir.join("index"), &library, &options, &mut |_| {}).unwrap();
    }

    fn state(dir: &TempDir) -> State {
        State::from(Router::open(&dir.path().join("index")).unwrap())
    }

    #[tokio::test]
    async fn a_call_under_way_holds_up_neither_a_refresh_nor_another_call() {
        let dir = index_of_tea();
        let state = state(&dir);
        let (begun, has_begun) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let slow = tokio::spawn({
            let state = state.clone();
            let call = move |router: &Router| {
                let index = router.index();
                begun.send(()).unwrap();
                released.recv().unwrap();
                Ok((index.n_skills(), router.n_skills()))
            };
            async move { state.call(call).await }
        });
        tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();

        add_skill(dir.path(), "coffee");
        assert_eq!(state.call(|router| Ok(router.n_skills())).await, Ok(2));
        release.send(()).unwrap();
        assert_eq!(slow.await.unwrap(), Ok((1, 1)), "a call sees one generation");
    }

    #[tokio::test]
    async fn another_router_takes_the_place_of_the_first_in_all_clones() {
        let (dir, other) = (index_of_tea(), index_of_tea());
        add_skill(other.path(), "coffee");
        let state = state(&dir);
        let clone = state.clone();
        state.replace(Router::open(&other.path().join("index")).unwrap());
        assert_eq!(clone.call(|router| Ok(router.n_skills())).await, Ok(2));
    }

    #[tokio::test]
    async fn a_call_that_nobody_waits_for_keeps_its_place_until_it_ends() {
        let dir = index_of_tea();
        let state = state(&dir);
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let (begun, has_begun) = mpsc::channel();
        let slow: Vec<_> = (0..MAX_CALLS)
            .map(|_| {
                let (state, begun) = (state.clone(), begun.clone());
                let released = Arc::clone(&released);
                let call = move |_: &Router| {
                    begun.send(()).unwrap();
                    let _ = released.lock().unwrap().recv();
                    Ok(())
                };
                tokio::spawn(async move { state.call(call).await })
            })
            .collect();
        let all_begun = move || (0..MAX_CALLS).for_each(|_| has_begun.recv().unwrap());
        tokio::task::spawn_blocking(all_begun).await.unwrap();
        slow.iter().for_each(tokio::task::JoinHandle::abort);
        let soon = Duration::from_millis(50);
        let waiting = tokio::time::timeout(soon, state.call(|router| Ok(router.n_skills())));
        assert!(waiting.await.is_err());
        drop(release);
        assert_eq!(state.call(|router| Ok(router.n_skills())).await, Ok(1));
    }

    #[tokio::test]
    async fn a_panic_is_told_and_does_not_end_the_service() {
        let dir = index_of_tea();
        let state = state(&dir);
        let failure = state.call(|_| -> Result<()> { panic!("a test panics") }).await.unwrap_err();
        assert_eq!(failure.status, Status::Bug);
        assert_eq!(state.call(|router| Ok(router.n_skills())).await, Ok(1));
    }

    #[tokio::test]
    async fn hints_of_the_binary_come_first() {
        fn hints(error: &Error) -> Option<String> {
            matches!(error, Error::SkillUnknown { .. }).then(|| "list the skills".to_owned())
        }
        let dir = index_of_tea();
        let state = state(&dir).with_hints(hints);
        let unknown = |router: &Router| {
            router.page(&SkillId::new("x"), None, 100, skillmux::page::PartList::none())
        };
        let failure = state.call(unknown).await.unwrap_err();
        assert_eq!(failure.hint.as_deref(), Some("list the skills"));
        let failure = state.call(|_| Query::new("")).await.unwrap_err();
        assert_eq!(failure.hint, Error::TaskEmpty.hint());
    }
}
