//! [`InUse`], [`prune`] and [`remove_damaged`]: which indexes of the cache are used, and which ones
//! go.
//!
//! Each index of the cache has a file in the folder `used`. It names the folders that the index is
//! of, and its time is that of the last use. Who uses the index holds a shared lock on it.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use skillmux::{error::Error, index::Index};

use crate::{clock::now, error::engine_error, settings::Settings};

/// Indexes that were not used for so long go.
const MAX_UNUSED: Duration = Duration::from_hours(90 * 24);

/// How often the time of the last use is written.
const STAMP_EVERY: Duration = Duration::from_hours(24);

/// The folders of the cache that hold indexes.
const KINDS: [&str; 2] = ["agents", "libraries"];

/// Most indexes that are looked at ...
const MAX_LOOKED_AT: usize = 500;

/// ... and that are removed at a time.
const MAX_REMOVED: usize = 4;

/// Longest list of folders that is read, in bytes.
const MAX_LIST_BYTES: u64 = 64 << 10;

/// Keeps an index of the cache from being removed until it is dropped or the process ends.
pub(crate) struct InUse {
    _file: File,
}

impl InUse {
    /// Marks an index of the cache as used now, for these folders; `None` if the cache cannot be
    /// written: then nobody can remove the index either.
    pub(crate) fn mark(index: &Path, folders: &[PathBuf]) -> Option<Self> {
        let path = stamp_of(index)?;
        fs::create_dir_all(path.parent()?).ok()?;
        let mut options = File::options();
        let mut file =
            options.create(true).truncate(false).read(true).write(true).open(path).ok()?;
        // Whoever removes the index is done in a moment.
        file.lock_shared().ok()?;
        let list = list_of(folders);
        let age = file.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
        if age > STAMP_EVERY || read_list(&file).is_none_or(|found| found != list) {
            // Where it fails, the index goes too early, and is made again.
            let _ = write_list(&mut file, &list);
        }
        Some(Self { _file: file })
    }
}

/// Removes some indexes of the cache that were not used for long, or whose folders are all gone.
/// What cannot be removed stays.
///
/// `index` is one of the cache that was just written.
pub(crate) fn prune(index: &Path) {
    let Some(cache) = index.parent().and_then(Path::parent) else { return };
    let folders = KINDS.iter().filter_map(|kind| fs::read_dir(cache.join(kind)).ok());
    let entries = folders.flatten().filter_map(Result::ok).take(MAX_LOOKED_AT);
    // A link is no folder here.
    let ours = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let ours = ours.map(|entry| entry.path()).filter(|path| has_cache_name(path));
    let _n_removed = ours.filter(|path| remove_if_old(cache, path)).take(MAX_REMOVED).count();
}

/// Removes the index of the cache that an error says is damaged, and returns whether it is gone:
/// the next command then makes it again. An update would not find the damage of a text that did not
/// change.
pub(crate) fn remove_damaged(error: &anyhow::Error) -> bool {
    let Some(Error::IndexCorrupt { path, .. }) = engine_error(error) else { return false };
    let cache = Settings::from_environment().ok().and_then(|settings| settings.cache);
    let is_kept = cache.is_some_and(|cache| path.starts_with(cache)) && has_cache_name(path);
    is_kept && Index::remove(path).is_ok()
}

/// Returns whether an index was old, and is gone.
fn remove_if_old(cache: &Path, index: &Path) -> bool {
    let Some(path) = stamp_of(index) else { return false };
    let stamp = File::open(&path).ok();
    // One without the file was made by an earlier version.
    let last_use = match &stamp {
        Some(file) => file.metadata(),
        None => fs::metadata(index.join("CURRENT")).or_else(|_| fs::metadata(index)),
    };
    let last_use = last_use.and_then(|file| file.modified());
    let is_unused = last_use.is_ok_and(|last_use| {
        now().duration_since(last_use).is_ok_and(|unused| unused > MAX_UNUSED)
    });
    let list = stamp.as_ref().and_then(read_list).unwrap_or_default();
    let mut folders = list.lines().map(Path::new).peekable();
    // Where it is not known whether a folder is there, it counts as there.
    let is_gone = |folder: &Path| {
        fs::symlink_metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    let is_orphan = folders.peek().is_some() && folders.all(is_gone);
    if !is_unused && !is_orphan {
        return false;
    }
    if stamp.as_ref().is_some_and(|file| file.try_lock().is_err()) || Index::remove(index).is_err()
    {
        return false;
    }
    let _ = fs::remove_file(index.with_extension("links"));
    if let Some(name) = index.file_name() {
        let _ = fs::remove_file(cache.join("hook").join(name));
    }
    let _ = fs::remove_file(path);
    true
}

/// Returns the file that says when an index of the cache was used.
fn stamp_of(index: &Path) -> Option<PathBuf> {
    Some(index.parent()?.parent()?.join("used").join(index.file_name()?))
}

/// Returns whether a folder is named as an index of the cache is.
fn has_cache_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
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
