//! [`SkillWatch`]: tells when skills on disk change, or whom the user trusts.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    time::{Duration, Instant},
};

use notify::{
    Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};

/// A change is over when nothing happens for so long ...
const QUIET: Duration = Duration::from_millis(300);

/// ... or when it takes so long: an agent may write without an end.
const MAX_CHANGE: Duration = Duration::from_millis(900);

/// How often to look where the system does not tell: at most so often ...
const POLL: Duration = Duration::from_secs(1);

/// ... and no more than one part in so many of the time.
const MIN_PAUSE: u32 = 30;

/// Watches files and folders, also those that are not there yet.
pub(crate) struct SkillWatch {
    events: Receiver<notify::Result<Event>>,
    /// The paths, also without links.
    paths: Vec<PathBuf>,
    /// What changes below them without a meaning, also without links.
    ignored: Vec<PathBuf>,
    /// Whether something has changed that nobody was told of.
    has_changed: bool,
    _watcher: Box<dyn Watcher + Send>,
}

impl SkillWatch {
    /// Begins to watch; changes from now on are told, but for those at or below ignored paths.
    ///
    /// # Errors
    /// What the system says if the paths can be watched in no way.
    pub(crate) fn start(paths: &[PathBuf], ignored: &[PathBuf]) -> notify::Result<Self> {
        let folders = folders(paths);
        let spellings = |paths: &[PathBuf]| {
            paths.iter().flat_map(|path| [path.clone(), without_links(path)]).collect()
        };
        let (paths, ignored) = (spellings(paths), spellings(ignored));
        let (sender, events) = mpsc::channel();
        let watcher = match told(sender.clone(), &folders) {
            Ok(watcher) => watcher,
            Err(_) => polled(sender, &folders)?,
        };
        Ok(Self { events, paths, ignored, has_changed: false, _watcher: watcher })
    }

    /// Waits for a change and its end; returns whether there will be others.
    pub(crate) fn wait(&mut self) -> bool {
        while !self.has_changed {
            match self.events.recv() {
                Ok(event) => self.has_changed = self.concerns(&event),
                Err(mpsc::RecvError) => return false,
            }
        }
        self.has_changed = false;
        let last = Instant::now() + MAX_CHANGE;
        let mut end = Instant::now() + QUIET;
        loop {
            let left = end.min(last).saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) if self.concerns(&event) => end = Instant::now() + QUIET,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// Returns whether something has changed; [`wait`](Self::wait) then does not wait for the
    /// beginning.
    pub(crate) fn has_changed(&mut self) -> bool {
        while let Ok(event) = self.events.try_recv() {
            self.has_changed |= self.concerns(&event);
        }
        self.has_changed
    }

    fn concerns(&self, event: &notify::Result<Event>) -> bool {
        // An error means that events may be lost: treat it as a change.
        let Ok(event) = event else { return true };
        let is_reading = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
            EventKind::Access(_) => true,
            _ => false,
        };
        let is_ours = |path: &PathBuf| {
            self.paths.iter().any(|ours| path.starts_with(ours) || ours.starts_with(path))
                && !self.ignored.iter().any(|ignored| path.starts_with(ignored))
        };
        !is_reading && (event.need_rescan() || event.paths.iter().any(is_ours))
    }
}

/// Returns how all is watched. Links are not followed: [`folders`] are without them, and what one
/// within a library leads to is watched where it is a part of a library, and never read elsewhere.
fn config() -> Config {
    Config::default().with_follow_symlinks(false)
}

/// Returns a watcher that the system tells.
fn told(
    sender: Sender<notify::Result<Event>>,
    folders: &BTreeMap<PathBuf, RecursiveMode>,
) -> notify::Result<Box<dyn Watcher + Send>> {
    let mut watcher = RecommendedWatcher::new(sender, config())?;
    watch_all(&mut watcher, folders)?;
    Ok(Box::new(watcher))
}

/// Returns a watcher that looks by itself.
fn polled(
    sender: Sender<notify::Result<Event>>,
    folders: &BTreeMap<PathBuf, RecursiveMode>,
) -> notify::Result<Box<dyn Watcher + Send>> {
    let started = Instant::now();
    let unasked = config().with_manual_polling();
    watch_all(&mut PollWatcher::new(sender.clone(), unasked)?, folders)?;
    let interval = POLL.max(started.elapsed() * MIN_PAUSE);
    let mut watcher = PollWatcher::new(sender, config().with_poll_interval(interval))?;
    watch_all(&mut watcher, folders)?;
    Ok(Box::new(watcher))
}

fn watch_all(
    watcher: &mut dyn Watcher,
    folders: &BTreeMap<PathBuf, RecursiveMode>,
) -> notify::Result<()> {
    for (folder, mode) in folders {
        match watcher.watch(folder, *mode) {
            // It went away a moment ago, or may not be read, and then holds no skills either.
            Err(_) if fs::read_dir(folder).is_err() => {}
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Returns the folders to watch: those of the paths with all in them, and what lies above, where
/// they may appear, or a link may lead elsewhere.
fn folders(paths: &[PathBuf]) -> BTreeMap<PathBuf, RecursiveMode> {
    let mut folders = BTreeMap::new();
    let canonical: Vec<PathBuf> =
        paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let whole: Vec<&PathBuf> = canonical.iter().filter(|path| path.is_dir()).collect();
    for path in &whole {
        let is_inner = |other: &&PathBuf| path.starts_with(other) && path != other;
        if !whole.iter().any(is_inner) {
            folders.insert((*path).clone(), RecursiveMode::Recursive);
        }
    }
    // A link to a file may be watched at both ends.
    for path in paths.iter().chain(&canonical) {
        let above = path.ancestors().skip(1).find_map(|folder| fs::canonicalize(folder).ok());
        if let Some(above) = above
            && !whole.iter().any(|folder| above.starts_with(folder))
        {
            folders.insert(above, RecursiveMode::NonRecursive);
        }
    }
    folders
}

/// Returns a path without links, as far as it exists.
fn without_links(path: &Path) -> PathBuf {
    let exists = path
        .ancestors()
        .find_map(|folder| Some((fs::canonicalize(folder).ok()?, path.strip_prefix(folder).ok()?)));
    match exists {
        Some((folder, rest)) if rest.as_os_str().is_empty() => folder,
        Some((folder, rest)) => folder.join(rest),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a change is told within some seconds.
    fn is_told(watch: &mut SkillWatch) -> bool {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(10) {
            if watch.has_changed() {
                return watch.wait();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    #[test]
    fn what_changes_appears_or_goes_is_told_and_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let (there, not_yet) = (dir.path().join("a/skills"), dir.path().join("b/c/skills"));
        fs::create_dir_all(there.join("tea")).unwrap();
        let start = || SkillWatch::start(&[there.clone(), not_yet.clone()], &[]).unwrap();
        let mut watch = start();
        fs::write(dir.path().join("a/history.txt"), "beside it").unwrap();
        fs::write(dir.path().join("notes.txt"), "beside it").unwrap();
        assert!(!watch.wait_for(Duration::from_millis(500)));
        fs::write(there.join("tea/SKILL.md"), "text").unwrap();
        assert!(is_told(&mut watch));

        let mut watch = start();
        let _ = fs::read_to_string(there.join("tea/SKILL.md")).unwrap();
        assert!(!watch.wait_for(Duration::from_millis(500)), "reading changes nothing");
        fs::create_dir_all(&not_yet).unwrap();
        assert!(is_told(&mut watch));

        let mut watch = start();
        fs::remove_dir_all(&there).unwrap();
        assert!(is_told(&mut watch));
    }

    #[test]
    fn what_is_ignored_is_not_told() {
        let dir = tempfile::tempdir().unwrap();
        let cache = dir.path().join("cache");
        let paths = [dir.path().to_owned()];
        let mut watch = SkillWatch::start(&paths, std::slice::from_ref(&cache)).unwrap();
        fs::create_dir(&cache).unwrap();
        fs::write(cache.join("index"), "text").unwrap();
        assert!(!watch.wait_for(Duration::from_millis(500)));
        fs::rename(cache.join("index"), dir.path().join("SKILL.md")).unwrap();
        assert!(is_told(&mut watch));
    }

    /// Watches a folder without links as where the system does not tell.
    fn polling(root: &Path) -> SkillWatch {
        let paths = vec![root.to_owned()];
        let (sender, events) = mpsc::channel();
        let watcher = polled(sender, &folders(&paths)).unwrap();
        SkillWatch { events, paths, ignored: Vec::new(), has_changed: false, _watcher: watcher }
    }

    #[test]
    fn where_the_system_does_not_tell_skillmux_looks() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let mut watch = polling(&root);
        fs::write(root.join("SKILL.md"), "text").unwrap();
        assert!(is_told(&mut watch));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_behind_a_link_is_watched() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("dotfiles/skills");
        fs::create_dir_all(&target).unwrap();
        fs::create_dir(dir.path().join("agent")).unwrap();
        let link = dir.path().join("agent/skills");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let settings = dir.path().join("settings.toml");
        fs::write(dir.path().join("dotfiles/settings.toml"), "").unwrap();
        std::os::unix::fs::symlink("dotfiles/settings.toml", &settings).unwrap();
        for (path, file) in [(link, "skills/SKILL.md"), (settings, "settings.toml")] {
            let mut watch = SkillWatch::start(&[path], &[]).unwrap();
            fs::write(dir.path().join("dotfiles").join(file), "text").unwrap();
            assert!(is_told(&mut watch), "{file}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_a_link_in_a_library_leads_to_is_not_watched() {
        let dir = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(dir.path()).unwrap();
        let (library, outside) = (dir.join("library"), dir.join("outside"));
        fs::create_dir_all(library.join("tea")).unwrap();
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, library.join("tea/docs")).unwrap();
        for (file, is_polled) in [("a.md", false), ("b.md", true)] {
            let mut watch = if is_polled {
                polling(&library)
            } else {
                SkillWatch::start(std::slice::from_ref(&library), &[]).unwrap()
            };
            fs::write(outside.join(file), "text").unwrap();
            assert!(!watch.wait_for(POLL + Duration::from_millis(500)), "{file}");
            fs::write(library.join("tea").join(file), "text").unwrap();
            assert!(is_told(&mut watch), "{file}");
        }
    }

    impl SkillWatch {
        fn wait_for(&mut self, time: Duration) -> bool {
            std::thread::sleep(time);
            self.has_changed()
        }
    }
}
