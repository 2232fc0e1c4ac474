//! [`UnreadFile`]: what the settings file names and cannot be read.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{model_place::ModelPlace, networks::TRANSFORMER_FILES, settings::Settings};

/// A file or a folder that the settings file names, and that cannot be read.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct UnreadFile {
    /// What names it, such as `models.ranker`.
    pub(crate) setting: &'static str,
    /// Where it should be.
    pub(crate) path: PathBuf,
    /// What the system said.
    pub(crate) detail: String,
}

impl Settings {
    /// Returns the files and folders that these settings name and that cannot be read, in the order
    /// of the settings. Models at a URL and of the hub are not asked for.
    pub(crate) fn unread_files(&self) -> Vec<UnreadFile> {
        let models = &self.models;
        let file = |path: &Path| File::open(path)?.read(&mut [0]).map(drop);
        let folder = |path: &Path| fs::read_dir(path).map(drop);
        let either = |path: &Path| if path.is_dir() { folder(path) } else { file(path) };
        let mut unread = Vec::new();
        let mut check = |setting, path: &Path, read: &dyn Fn(&Path) -> io::Result<()>| {
            if let Err(error) = read(path) {
                let (path, detail) = (path.to_owned(), error.to_string());
                unread.push(UnreadFile { setting, path, detail });
            }
        };
        if let Some(ModelPlace::Path(path)) = &models.encoder {
            check("models.encoder", path, &either);
        }
        if let Some(ModelPlace::Path(path)) = &models.reranker {
            check("models.reranker", path, &folder);
        }
        for name in TRANSFORMER_FILES {
            if let Some(folder) = &models.transformer {
                check("models.transformer", &folder.join(name), &file);
            }
        }
        for (setting, path) in [
            ("models.ranker", &models.ranker),
            ("models.abstention", &models.abstention),
            ("models.asking", &models.asking),
            ("models.composer", &models.composer),
            ("models.pager", &models.pager),
            ("models.work", &models.work),
        ] {
            if let Some(path) = path {
                check(setting, path, &file);
            }
        }
        for path in self.trust.reports() {
            check("trust.sarif", path, &file);
        }
        unread
    }
}
