//! `skillmux mcp`

use std::{
    fs,
    io::{self, Write as _},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use skillmux::{Error, library::SkillPlaces, text::one_line};
use skillmux_server::{HttpListener, State};
use tempfile::TempDir;

use crate::{
    args::{McpArgs, RetrieverChoice, SourceArgs},
    assemble::Models,
    error::{CliError, engine_error, engine_hint},
    kept::InUse,
    outcome::Outcome,
    settings::Settings,
    source::{self, OpenIndex},
    watch::SkillWatch,
};

/// How long to wait for another process that writes the index.
const BUSY: Duration = Duration::from_secs(1);

/// How often the folder of an index is tried to be removed, and how long to wait before the next try.
const N_TRIES: usize = 20;
const RETRY: Duration = Duration::from_millis(20);

/// How much time passes at least after an update that found nothing new, twice as much after each
/// further one: files that are no skills may change all the time.
const MIN_PAUSE: Duration = Duration::from_secs(1);

/// How much time passes at most. After so long without a change, the next one is taken at once.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// What is said when skills are no longer kept up to date.
const NO_LONGER: &str = "changes of skills are no longer seen";

pub(crate) fn run(args: &McpArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    // A wrong address is told before the skills are read.
    let listener = args.listen.as_deref().map(HttpListener::bind).transpose()?;
    // It begins before the skills are read, so that no change is lost.
    let watch =
        SkillWatch::start(&source::watched(&args.source, settings)?, &source::unwatched(settings));
    let models = Models::load(settings)?;
    let opened = match source::open(&args.source, settings) {
        // The skills of the agents come later, but a folder that the user names has some.
        Err(error) if is_without_skills(&error) && !args.source.is_named() => None,
        opened => Some(opened?),
    };
    let waiting = opened.as_ref().and_then(waiting);
    let state = State::without_skills();
    let (mut folder, mut in_use) = (None, None);
    if let Some(opened) = opened {
        let trust = settings.trust_policy(&opened.places, Some(&opened.index))?;
        let router = models.lasting_router(opened.index, trust)?.with_places(opened.places);
        models.tell_uncalibrated(&router, RetrieverChoice::Transformer);
        state.replace(router);
        (folder, in_use) = (opened.folder, opened.in_use);
    }
    let folder = Arc::new(Mutex::new(folder));
    match watch {
        Ok(watch) => {
            let (source, settings) = (args.source.clone(), settings.clone());
            let (state, folder) = (state.clone(), Arc::clone(&folder));
            let live =
                LiveSkills { source, settings, models, state, watch, folder, in_use, waiting };
            thread::spawn(move || {
                // A bug here must not pass for skills that do not change.
                if panic::catch_unwind(AssertUnwindSafe(|| live.keep_up())).is_err() {
                    say(NO_LONGER);
                }
            });
        }
        Err(error) => {
            say(&format!("changes of skills are not seen until it starts again: {error}"));
            if let Some(path) = waiting {
                thread::spawn(move || source::encode(&path).map(drop));
            }
        }
    }
    let state = state.with_hints(engine_hint);
    let served = match listener {
        Some(listener) => {
            say(&format!("listening on {}", listener.url()));
            skillmux_server::serve_http(state, listener)
        }
        None => skillmux_server::serve_stdio(state),
    };
    // The other thread ends with the process and tidies nothing up.
    if let Some(folder) = folder.lock().unwrap_or_else(PoisonError::into_inner).take() {
        remove(folder.path());
    }
    served?;
    Ok(Outcome::Found)
}

/// Removes a folder into which the other thread may be writing: a file that comes meanwhile makes
/// one try fail.
fn remove(folder: &Path) {
    for _ in 0..N_TRIES {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(RETRY),
            _ => return,
        }
    }
}

/// Returns whether an error says that there is no skill.
fn is_without_skills(error: &anyhow::Error) -> bool {
    matches!(engine_error(error), Some(Error::LibraryEmpty { .. }))
        || matches!(error.downcast_ref(), Some(CliError::NoAgent { .. }))
}

/// Returns what the user named without what is gone; `None` if that is all.
fn present(source: &SourceArgs) -> Option<SourceArgs> {
    let SourceArgs { index, library } = source.clone();
    let is_there = |path: &PathBuf| !matches!(path.try_exists(), Ok(false));
    let there: Vec<PathBuf> = library.iter().filter(|path| is_there(path)).cloned().collect();
    (library.is_empty() || !there.is_empty()).then_some(SourceArgs { index, library: there })
}

/// Returns the index whose skills the transformer is to read while calls are answered without it.
fn waiting(opened: &OpenIndex) -> Option<PathBuf> {
    (opened.n_waiting() > 0).then(|| opened.index.path().to_owned())
}

/// Skills that are served while they, or whom the user trusts, change on disk.
struct LiveSkills {
    source: SourceArgs,
    settings: Settings,
    models: Models,
    state: State,
    watch: SkillWatch,
    /// The folder of the index that is served, if it goes away with the process.
    folder: Arc<Mutex<Option<TempDir>>>,
    /// Keeps the index that is served in the cache.
    in_use: Option<InUse>,
    /// The index whose skills the transformer is to read.
    waiting: Option<PathBuf>,
}

impl LiveSkills {
    /// Serves what is on disk as long as it is watched, and lets the transformer read the skills
    /// meanwhile.
    fn keep_up(mut self) {
        let mut pause = Duration::ZERO;
        loop {
            let updated = Instant::now();
            if let Some(path) = &self.waiting {
                let mut is_due = || updated.elapsed() >= pause && self.watch.has_changed();
                // What it cannot do now, because another process does it, is no loss.
                let _ = source::encode_until(path, &mut is_due);
            }
            if !self.watch.wait() {
                return say(NO_LONGER);
            }
            let quiet = updated.elapsed();
            thread::sleep(pause.saturating_sub(quiet));
            let is_new = self.update().unwrap_or_else(|error| {
                say(&format!("something changed, but skills are served as before: {error:#}"));
                false
            });
            pause = if is_new { Duration::ZERO } else { longer(pause, quiet) };
        }
    }

    /// Brings the index up to date and serves it; returns whether that is known to be something
    /// new.
    fn update(&mut self) -> anyhow::Result<bool> {
        let read_trust = || Settings::from_environment().map(|settings| settings.trust);
        // It names files that are to be watched before anything is read that counts.
        self.settings.trust = read_trust()?;
        // The folders may be others now. If they cannot be watched, the ones before are still.
        if let Ok(paths) = source::watched(&self.source, &self.settings)
            && let Ok(watch) = SkillWatch::start(&paths, &source::unwatched(&self.settings))
        {
            self.watch = watch;
        }
        self.settings.trust = read_trust()?;
        // Whom the user trusts must be known before the index changes, which is seen at once.
        self.settings.trust_policy(&SkillPlaces::default(), None)?;
        let opened = loop {
            let Some(source) = present(&self.source) else { return Ok(self.clear()) };
            match source::open(&source, &self.settings) {
                Err(error) if is_without_skills(&error) => return Ok(self.clear()),
                // One has gone meanwhile.
                Err(_) if present(&self.source).as_ref() != Some(&source) => {}
                Ok(opened) if !opened.is_current => thread::sleep(BUSY),
                opened => break opened?,
            }
        };
        self.waiting = waiting(&opened);
        let OpenIndex { index, places, folder, in_use, .. } = opened;
        let trust = self.settings.trust_policy(&places, Some(&index))?;
        let is_served = self.state.router().is_some_and(|served| {
            index.is_same(&served.index())
                && served.stages().ranker.trust() == Some(&trust)
                && *served.places() == places
        });
        if is_served {
            return Ok(false);
        }
        // An index without a cache is another one each time.
        let is_new = folder.is_none();
        self.state.replace(self.models.lasting_router(index, trust)?.with_places(places));
        self.in_use = in_use;
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = folder;
        Ok(is_new)
    }

    /// Serves no skill any more; returns whether some were served.
    fn clear(&mut self) -> bool {
        let had_some = self.state.router().is_some();
        self.state.clear();
        (self.waiting, self.in_use) = (None, None);
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = None;
        had_some
    }
}

/// Returns how much time passes at least after an update that found nothing new, by the pause
/// before it and how long nothing had changed then.
fn longer(pause: Duration, quiet: Duration) -> Duration {
    if quiet > MAX_PAUSE { Duration::ZERO } else { (pause * 2).clamp(MIN_PAUSE, MAX_PAUSE) }
}

/// Says a line on standard error, which agents show at most in their logs.
fn say(message: &str) {
    // Unlike `eprintln!`, this does not panic where nobody reads.
    let _ = writeln!(io::stderr(), "skillmux mcp: {}", one_line(message));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_that_find_nothing_new_become_rare() {
        let mut pause = Duration::ZERO;
        let pauses = [1, 1, 1, 1, 1, 1, 1, 31, 1].map(|quiet| {
            pause = longer(pause, Duration::from_secs(quiet));
            pause.as_secs()
        });
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30, 0, 1]);
    }
}
