//! What an error of tantivy says: which file is damaged, or what the system refused.

use std::{io, path::Path, sync::Arc};

use tantivy::{
    TantivyError,
    directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError},
};

use crate::{
    error::Error,
    index::{
        damage::{Damage, PartError},
        layout::LEXICAL,
    },
};

/// Returns why the lexical index in the folder `path` could not be read.
///
/// All that tantivy holds against what it reads is damage, for it was written by this version of
/// the format; what the system refused is not.
pub(super) fn part_error(path: &Path, source: TantivyError) -> PartError {
    let file = match &source {
        TantivyError::OpenReadError(
            OpenReadError::FileDoesNotExist(file) | OpenReadError::IoError { filepath: file, .. },
        ) => file.file_name(),
        _ => None,
    };
    let name = match file {
        Some(file) => format!("{LEXICAL}/{}", file.display()),
        None => LEXICAL.to_owned(),
    };
    if matches!(source, TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_))) {
        return Damage::new(name, "is missing").into();
    }
    let path = file.map_or_else(|| path.to_owned(), |file| path.join(file));
    match io_error(source) {
        // What decoders of tantivy say comes without a number of the system.
        Ok(error) if is_of_system(&error) => PartError::of_io(&name, &path, error),
        Ok(error) => Damage::new(name, format!("does not decode: {error}")).into(),
        Err(source) => Damage::new(name, format!("does not decode: {source}")).into(),
    }
}

/// Returns why the lexical index in the folder `path` could not be written.
pub(super) fn write_error(path: &Path, source: TantivyError) -> Error {
    let path = path.to_owned();
    match io_error(source) {
        Ok(source) => Error::Write { path, source },
        Err(source) => Error::Lexical { path, source: Box::new(source) },
    }
}

/// Returns whether the system refused something, rather than a decoder.
fn is_of_system(error: &io::Error) -> bool {
    let kinds =
        [io::ErrorKind::PermissionDenied, io::ErrorKind::OutOfMemory, io::ErrorKind::Interrupted];
    error.raw_os_error().is_some() || kinds.contains(&error.kind())
}

/// Returns the error of the system or of a decoder that tantivy passed on, if it is one.
fn io_error(source: TantivyError) -> Result<io::Error, TantivyError> {
    let shared = match source {
        TantivyError::IoError(e)
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: e, .. })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: e, .. })
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error: e, .. })
        | TantivyError::LockFailure(LockError::IoError(e), _) => e,
        source => return Err(source),
    };
    Ok(system_error(&shared).unwrap_or_else(|| {
        Arc::try_unwrap(shared).unwrap_or_else(|shared| match shared.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(shared.kind(), shared.to_string()),
        })
    }))
}

/// Returns what the system said, where tantivy kept only the text of it.
///
/// Its term dictionary wraps errors so that neither their kind nor their source can be reached.
fn system_error(error: &io::Error) -> Option<io::Error> {
    if error.kind() != io::ErrorKind::Other {
        return None;
    }
    let text = error.to_string();
    let (_, rest) = text.rsplit_once("(os error ")?;
    let code = rest.split_once(')')?.0.parse().ok()?;
    Some(io::Error::from_raw_os_error(code))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn opening(error: io::Error) -> PartError {
        let filepath = PathBuf::from("/index/gen-000001/lexical/a.term");
        let io_error = Arc::new(error);
        let source = OpenReadError::IoError { io_error, filepath };
        part_error(Path::new("/index/gen-000001/lexical"), source.into())
    }

    #[cfg(unix)]
    #[test]
    fn a_full_disk_is_recognised_by_its_text() {
        let full = io::Error::from_raw_os_error(28);
        let wrapped = TantivyError::IoError(Arc::new(io::Error::other(full.to_string())));
        let error = write_error(Path::new("lexical"), wrapped);
        assert!(error.hint().unwrap().starts_with("free some space"));
        let other = TantivyError::IoError(Arc::new(io::Error::other("something else")));
        assert!(write_error(Path::new("lexical"), other).hint().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn what_the_system_refuses_is_not_taken_for_damage() {
        // No permission, no memory, too many open files; one of them as a text.
        let as_text = io::Error::other(io::Error::from_raw_os_error(13).to_string());
        let refused = [13, 12, 24].map(io::Error::from_raw_os_error);
        for error in refused.into_iter().chain([as_text]) {
            let PartError::Failed(Error::Read { path, source }) = opening(error) else {
                panic!("taken for damage")
            };
            assert_eq!(path, Path::new("/index/gen-000001/lexical/a.term"));
            assert!(source.raw_os_error().is_some());
        }
    }

    #[test]
    fn damage_names_the_file_relative_to_the_generation() {
        let missing = OpenReadError::FileDoesNotExist(PathBuf::from("lexical/a.term"));
        let missing = part_error(Path::new("lexical"), missing.into());
        let cut = opening(io::Error::from(io::ErrorKind::UnexpectedEof));
        let undecodable = opening(io::Error::other("a footer is expected"));
        for (error, expected) in [
            (missing, "lexical/a.term is missing"),
            (cut, "lexical/a.term does not decode: unexpected end of file"),
            (undecodable, "lexical/a.term does not decode: a footer is expected"),
        ] {
            let PartError::Damaged(damage) = error else { panic!("{error:?}") };
            assert_eq!(damage.to_string(), expected);
        }
        let schema = part_error(Path::new("lexical"), TantivyError::SchemaError("x".to_owned()));
        assert!(matches!(schema, PartError::Damaged(_)));
    }
}
