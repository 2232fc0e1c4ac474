//! [`InUse`], [`prune`] and [`remove_damaged`]: which indexes of the cache are used, and which ones
//! go.
//!
//! Each index of the cache has a file in the folder `used`. It names the folders that the index is
//! of, and its time is that of the last use. Who uses the index holds a shared lock on it.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use skillmux::{error::Error, index::Index};

use crate::{clock::now, error::engine_error, settings::Settings};

/// Indexes that were not used for so long go.
const MAX_UNUSED: Duration = Duration::from_hours(90 * 24);

/// Those whose folders are all gone go after so long: a drive may be away for some days.
const MAX_UNUSED_ORPHAN: Duration = Duration::from_hours(7 * 24);

/// How often the time of the last use is written.
const STAMP_EVERY: Duration = Duration::from_hours(24);

/// The folder of the cache that holds indexes of agents' skills.
pub(crate) const AGENTS: &str = "agents";

/// The folder of the cache that holds indexes of other libraries.
pub(crate) const LIBRARIES: &str = "libraries";

/// The folders of the cache that hold indexes.
const KINDS: [&str; 2] = [AGENTS, LIBRARIES];

/// The folder of the cache that says when indexes were used.
const USED: &str = "used";

/// The folder of the cache that says when the hook had indexes brought up to date.
const HOOK: &str = "hook";

/// How the name ends of the file beside an index that says which links were passed over.
const LINKS: &str = "links";

/// Most indexes that are looked at.
const MAX_LOOKED_AT: usize = 500;

/// Most indexes that are removed at a time.
const MAX_REMOVED: usize = 4;

/// Longest list of folders that is read, in bytes.
const MAX_LIST_BYTES: u64 = 64 << 10;

/// Keeps an index of the cache from being removed until it is dropped or the process ends.
pub(crate) struct InUse {
    _file: File,
}

impl InUse {
    /// Marks an index of the cache as used now, for these folders; `None` if it is no such index,
    /// or if the cache cannot be written: then nobody can remove the index either.
    pub(crate) fn mark(index: &Path, folders: &[PathBuf]) -> Option<Self> {
        let path = Place::of(index)?.stamp();
        fs::create_dir_all(path.parent()?).ok()?;
        let mut file = stamp_options().create(true).truncate(false).open(path).ok()?;
        let list = list_of(folders);
        let last_use = file.metadata().ok()?.modified().ok()?;
        let age = now().duration_since(last_use).unwrap_or_default();
        if age > STAMP_EVERY || read_list(&file).is_none_or(|found| found != list) {
            // Where it fails, the index goes too early, and is made again. Before the lock: with a
            // shared one, Windows lets nobody write.
            let _ = write_list(&mut file, &list);
        }
        // Whoever removes the index is done in a moment.
        file.lock_shared().ok()?;
        Some(Self { _file: file })
    }
}

/// Returns whether a path is that of an index of this cache.
pub(crate) fn is_kept(index: &Path, cache: &Path) -> bool {
    Place::of(index).is_some_and(|place| place.cache == cache)
}

/// Returns the file that says when the hook last had an index of the cache brought up to date; `None`
/// if it is no such index.
pub(crate) fn hook_stamp(index: &Path) -> Option<PathBuf> {
    Place::of(index).map(|place| place.hook_stamp())
}

/// Returns the file that says which links the last update of an index of the cache passed over.
pub(crate) fn links_file(index: &Path) -> PathBuf {
    index.with_extension(LINKS)
}

/// Removes some indexes of the cache that were not used for long; those whose folders are all gone
/// sooner. What cannot be removed stays.
///
/// `written` is one of the cache that was just written.
pub(crate) fn prune(written: &Path) {
    let Some(Place { cache, .. }) = Place::of(written) else { return };
    let folders = KINDS.iter().filter_map(|kind| fs::read_dir(cache.join(kind)).ok());
    let entries = folders.flatten().filter_map(Result::ok);
    // A link is no folder here.
    let ours = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let others = ours.map(|entry| entry.path()).filter(|path| path != written);
    let mut others: Vec<(SystemTime, PathBuf)> =
        others.filter_map(|path| Some((last_use(&Place::of(&path)?)?, path))).collect();
    // Those that were not used for longest are looked at first.
    others.sort_unstable();
    let mut n_removed = 0;
    for (last_use, index) in others.into_iter().take(MAX_LOOKED_AT) {
        n_removed += usize::from(remove_if_old(&index, last_use));
        if n_removed == MAX_REMOVED {
            break;
        }
    }
}

/// Removes the index of the cache that an error says is damaged, and returns whether it is gone:
/// the next command then makes it again. An update would not find the damage of a text that did not
/// change. One that another process uses stays.
pub(crate) fn remove_damaged(error: &anyhow::Error) -> bool {
    let Some(Error::IndexCorrupt { path, .. }) = engine_error(error) else { return false };
    let cache = Settings::from_environment().ok().and_then(|settings| settings.cache);
    if !cache.is_some_and(|cache| is_kept(path, &cache)) {
        return false;
    }
    Place::of(path).is_some_and(|place| place.remove())
}

/// Returns when an index was last used, if that can be told.
fn last_use(place: &Place<'_>) -> Option<SystemTime> {
    let index = place.index;
    // One without the file was made by an earlier version.
    let found = fs::metadata(place.stamp()).or_else(|_| fs::metadata(index.join("CURRENT")));
    found.or_else(|_| fs::metadata(index)).ok()?.modified().ok()
}

/// Returns whether an index was old, and is gone.
fn remove_if_old(index: &Path, last_use: SystemTime) -> bool {
    let Some(place) = Place::of(index) else { return false };
    let unused = now().duration_since(last_use).unwrap_or_default();
    if unused <= MAX_UNUSED_ORPHAN {
        return false;
    }
    let list = File::open(place.stamp()).ok().as_ref().and_then(read_list).unwrap_or_default();
    let mut folders = list.lines().map(Path::new).peekable();
    // Where it is not known whether a folder is there, it counts as there.
    let is_gone = |folder: &Path| {
        fs::symlink_metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    let is_old = unused > MAX_UNUSED || folders.peek().is_some() && folders.all(is_gone);
    is_old && place.remove()
}

/// Where an index of the cache is.
struct Place<'p> {
    cache: &'p Path,
    index: &'p Path,
    name: &'p OsStr,
}

impl<'p> Place<'p> {
    /// Returns `None` if a path does not end as that of an index of a cache.
    fn of(index: &'p Path) -> Option<Self> {
        let (name, kind) = (index.file_name()?, index.parent()?);
        let is_name = |name: &str| name.len() == 16 && name.bytes().all(|b| b.is_ascii_hexdigit());
        let is_ours = name.to_str().is_some_and(is_name)
            && KINDS.iter().any(|of| kind.file_name() == Some(OsStr::new(of)));
        is_ours.then_some(Self { cache: kind.parent()?, index, name })
    }

    /// Returns the file that says when it was used.
    fn stamp(&self) -> PathBuf {
        self.cache.join(USED).join(self.name)
    }

    /// Returns the file that says when the hook last had it brought up to date.
    fn hook_stamp(&self) -> PathBuf {
        self.cache.join(HOOK).join(self.name)
    }

    /// Removes the index and what belongs to it, unless somebody uses it; returns whether it is
    /// gone.
    fn remove(&self) -> bool {
        let path = self.stamp();
        // Who uses it may have been unable to write the file.
        let stamp = match stamp_options().open(&path) {
            Ok(file) if file.try_lock().is_ok() => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            _ => return false,
        };
        if Index::remove(self.index).is_err() {
            return false;
        }
        let _ = fs::remove_file(links_file(self.index));
        let _ = fs::remove_file(self.hook_stamp());
        let _ = fs::remove_file(path);
        drop(stamp);
        true
    }
}

fn stamp_options() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true);
    options
}

/// Returns the folders, one a line; nothing if one of them cannot be written so.
fn list_of(folders: &[PathBuf]) -> String {
    let line = |folder: &PathBuf| {
        let text = folder.to_str().filter(|text| !text.contains(['\n', '\r']))?;
        Some(format!("{text}\n"))
    };
    folders.iter().map(line).collect::<Option<String>>().unwrap_or_default()
}

fn read_list(file: &File) -> Option<String> {
    let mut list = String::new();
    file.take(MAX_LIST_BYTES).read_to_string(&mut list).ok()?;
    // Half a list would let an index go whose other folders are there.
    ((list.len() as u64) < MAX_LIST_BYTES).then_some(list)
}

fn write_list(file: &mut File, list: &str) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(list.as_bytes())?;
    file.set_modified(now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_indexes_of_a_large_cache_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let index = |n: usize| dir.path().join(LIBRARIES).join(format!("{n:016x}"));
        fs::create_dir(dir.path().join(USED)).unwrap();
        let old = now() - 2 * MAX_UNUSED;
        for n in 0..3 * MAX_LOOKED_AT {
            let index = index(n);
            fs::create_dir_all(&index).unwrap();
            let stamp = File::create(Place::of(&index).unwrap().stamp()).unwrap();
            if n < MAX_REMOVED {
                stamp.set_modified(old).unwrap();
            }
        }
        prune(&index(3 * MAX_LOOKED_AT));
        let n_left = (0..MAX_REMOVED).filter(|n| index(*n).exists()).count();
        assert_eq!(n_left, 0);
        assert!(index(MAX_REMOVED).exists());
    }
}
