//! [`undo`]: what `skillmux uninit` takes away, before anything is written.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    document::Document,
    error::SettingsFileError,
    file,
    plan::own_command,
    record::{Addition, FileRecord, Original, Records, hash},
};

/// One file as it is and as it will be; `None` is a file that is not there.
#[derive(Debug)]
pub(crate) struct Undoing {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    /// A folder that was made for the file.
    made_folder: Option<PathBuf>,
}

/// Returns what brings the files of an agent back: the very bytes where the file is as skillmux
/// left it; else the file without what skillmux added. Beside it, why files cannot be brought back:
/// each stands alone, so that one does not keep skillmux in the others.
pub(crate) fn undo(agent: &str, records: &Records) -> (Vec<Undoing>, Vec<SettingsFileError>) {
    let (mut undoings, mut errors) = (Vec::new(), Vec::new());
    for record in records.of_agent(agent) {
        match undoing(record, records) {
            Ok(undoing) => undoings.push(undoing),
            Err(error) => errors.push(error),
        }
    }
    (undoings, errors)
}

fn undoing(record: &FileRecord, records: &Records) -> Result<Undoing, SettingsFileError> {
    let path = record.path.clone();
    let before = file::read(&path)?;
    let Some(text) = &before else {
        return Ok(Undoing { path, before: None, after: None, made_folder: None });
    };
    let is_untouched = hash(text) == record.after;
    let was_missing = matches!(record.original, Original::Missing { .. });
    let after = match &record.original {
        Original::Missing { .. } if is_untouched => None,
        Original::Kept { copy, hash } if is_untouched => match records.kept(copy, hash) {
            Some(original) => Some(original),
            None => Some(without(record, text)?.text()),
        },
        _ => Some(without(record, text)?)
            .filter(|document| !(was_missing && document.is_empty()))
            .map(|document| document.text()),
    };
    let had_folder = !matches!(record.original, Original::Missing { had_folder: false });
    let made_folder =
        if had_folder || after.is_some() { None } else { path.parent().map(Path::to_owned) };
    let undoing = Undoing { path, before, after, made_folder };
    if undoing.is_change() {
        file::check_writable(&undoing.path)?;
    }
    Ok(undoing)
}

/// Returns the file without what skillmux added.
fn without(record: &FileRecord, text: &str) -> Result<Document, SettingsFileError> {
    let mut document = Document::parse(&record.path, Some(text), record.format)?;
    for addition in record.additions.iter().rev() {
        match addition {
            Addition::Server { keys, n_made, .. } => document.remove_server(keys, *n_made),
            Addition::Hook { event, command, n_made } => {
                // The user may have added an option to it.
                let own = own_command(&document, event, &record.agent).ok().flatten();
                if let Document::Json(json) = &mut document {
                    let is_there = json.hook_commands(event).is_ok_and(|all| all.contains(command));
                    let removed = own.filter(|_| !is_there);
                    json.remove_hook(event, removed.as_ref().unwrap_or(command), *n_made);
                }
            }
        }
    }
    Ok(document)
}

impl Undoing {
    /// Returns whether the file changes.
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Changes the file, and forgets what was added to it.
    pub(crate) fn make(self, records: &mut Records) -> Result<(), SettingsFileError> {
        if self.is_change() {
            file::replace(&self.path, self.before.as_deref(), self.after.as_deref())?;
        }
        if let Some(folder) = self.made_folder {
            // Somebody else may use it by now.
            let _ = fs::remove_dir(folder);
        }
        records.forget(&self.path)
    }
}
