//! What is wrong with a file of an index, told from a system that does not let it be read.

use std::{fmt, io, path::Path};

use crate::error::Error;

/// A file that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Path relative to the generation; that of `CURRENT` is relative to the index.
    file: String,
    what: String,
}

impl Damage {
    /// Returns that a file is not as it should be; `what` goes on after its name: `is missing`.
    pub(super) fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { file: file.into(), what: what.into() }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.file, self.what)
    }
}

/// Why a part of a generation could not be read.
#[derive(Debug)]
pub(crate) enum PartError {
    /// A file is not what was written: the generation is corrupt.
    Damaged(Damage),
    /// Nothing is known about the files: the same call may work later, or for another user.
    Failed(Error),
}

impl PartError {
    /// Returns what an error of reading `file`, which lies at `path`, says about it.
    pub(super) fn of_io(file: &str, path: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{
            InvalidData, InvalidInput, IsADirectory, NotADirectory, NotFound, UnexpectedEof,
        };
        match source.kind() {
            NotFound => Self::Damaged(Damage::new(file, "is missing")),
            IsADirectory | NotADirectory => Self::Damaged(Damage::new(file, "is not a file")),
            // What is too short to be mapped or read to its end.
            UnexpectedEof | InvalidData | InvalidInput => {
                Self::Damaged(Damage::new(file, format!("does not decode: {source}")))
            }
            _ => Self::Failed(Error::Read { path: path.to_owned(), source }),
        }
    }
}

impl From<Damage> for PartError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

impl From<Error> for PartError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn of(source: io::Error) -> PartError {
        PartError::of_io("skills.bin", Path::new("/index/gen-000001/skills.bin"), source)
    }

    #[test]
    fn a_file_that_is_gone_or_cut_is_damaged_and_named() {
        for kind in [
            io::ErrorKind::NotFound,
            io::ErrorKind::NotADirectory,
            io::ErrorKind::IsADirectory,
            io::ErrorKind::UnexpectedEof,
            io::ErrorKind::InvalidData,
        ] {
            let PartError::Damaged(damage) = of(kind.into()) else { panic!("{kind}") };
            assert!(damage.to_string().starts_with("skills.bin "), "{damage}");
        }
    }

    #[test]
    fn a_system_that_refuses_is_not_taken_for_damage() {
        let refused = [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::OutOfMemory,
            io::ErrorKind::Interrupted,
            io::ErrorKind::TimedOut,
        ];
        for error in refused.map(io::Error::from) {
            let PartError::Failed(error) = of(error) else { panic!("taken for damage") };
            assert_eq!(error.to_string(), "cannot read `/index/gen-000001/skills.bin`");
            assert_eq!(error.kind(), ErrorKind::Environment);
        }
    }

    #[cfg(unix)]
    #[test]
    fn too_many_open_files_are_told_with_what_helps() {
        // EMFILE of this process and ENFILE of the system, out of memory, no permission.
        for (code, hint) in [(24, "open ones"), (23, "open ones"), (12, "memory"), (13, "who owns")]
        {
            let PartError::Failed(error) = of(io::Error::from_raw_os_error(code)) else {
                panic!("{code} is taken for damage")
            };
            assert!(error.hint().unwrap().contains(hint), "{:?}", error.hint());
        }
    }
}
