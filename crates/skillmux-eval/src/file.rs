//! Reads files: plain, gzip or zstd, within bounds of size.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

use crate::{error::Error, fault::Place};

/// Most bytes of one line.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Most bytes of a file that is read line by line, decompressed.
const MAX_LINES_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Most bytes of a file that is read as a whole, decompressed.
const MAX_TEXT_BYTES: u64 = 512 * 1024 * 1024;

/// Endings that a file's name may have besides its own.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// Returns the file of that name in a folder, packed or not.
pub(crate) fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    PACKED.iter().map(|ending| folder.join(format!("{name}{ending}"))).find(|path| path.is_file())
}

/// Returns the file of that name in a folder, packed or not.
///
/// # Errors
/// [`Error::FileMissing`].
pub(crate) fn require(folder: &Path, name: &'static str) -> Result<PathBuf, Error> {
    find(folder, name).ok_or_else(|| Error::FileMissing { folder: folder.to_owned(), file: name })
}

/// Returns whether a file is named like JSON Lines, packed or not.
pub(crate) fn is_json_lines(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    PACKED.iter().any(|ending| name.ends_with(&format!(".jsonl{ending}")))
}

/// Opens a regular file; the first bytes say whether and how it is packed, not the name.
fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    // Asked before opening: opening a pipe waits for a writer.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut magic = Vec::with_capacity(4);
    file.by_ref().take(4).read_to_end(&mut magic).map_err(failed)?;
    let input = BufReader::new(io::Cursor::new(magic.clone()).chain(file));
    Ok(match *magic {
        [0x1f, 0x8b, ..] => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(input))),
        // A frame, or a skippable frame that some compressors put first.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            let decoder = zstd::stream::read::Decoder::with_buffer(input).map_err(failed)?;
            Box::new(BufReader::new(decoder))
        }
        _ => Box::new(input),
    })
}

/// Returns the text of a file, without a byte-order mark.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    open(path)?.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        let place = Place::File { path: path.to_owned() };
        return Err(Error::TooLarge { place, max_bytes: MAX_TEXT_BYTES });
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Returns what a file holds that is one value in JSON.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|source| {
        let line = source.line();
        Error::Json { path: path.to_owned(), line, source: Box::new(source) }
    })
}

/// Returns what a line of a file holds in JSON.
pub(crate) fn parse_line<T: DeserializeOwned>(
    path: &Path,
    line: usize,
    text: &[u8],
) -> Result<T, Error> {
    serde_json::from_slice(text).map_err(|error| {
        // Each line is a document of its own, so its line number says nothing.
        let message = error.to_string().replace(" at line 1 column ", " at byte ");
        Error::Json { path: path.to_owned(), line, source: message.into() }
    })
}

/// Takes a line and its number, and says whether to go on.
type OnLine<'a> = dyn FnMut(usize, &[u8]) -> Result<bool, Error> + 'a;

/// Calls `f` with every line that is not blank, and its number from 1; stops where it returns
/// false.
pub(crate) fn for_each_line(path: &Path, f: &mut OnLine<'_>) -> Result<(), Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let mut input = open(path)?.take(MAX_LINES_BYTES);
    let mut buffer = Vec::new();
    for line in 1_usize.. {
        buffer.clear();
        let n_bytes = input
            .by_ref()
            .take(MAX_LINE_BYTES + 1)
            .read_until(b'\n', &mut buffer)
            .map_err(failed)? as u64;
        if n_bytes > MAX_LINE_BYTES {
            let place = Place::Line { path: path.to_owned(), line };
            return Err(Error::TooLarge { place, max_bytes: MAX_LINE_BYTES });
        }
        if input.limit() == 0 {
            let place = Place::File { path: path.to_owned() };
            return Err(Error::TooLarge { place, max_bytes: MAX_LINES_BYTES });
        }
        if n_bytes == 0 {
            break;
        }
        let text = buffer.strip_prefix(b"\xef\xbb\xbf").filter(|_| line == 1).unwrap_or(&buffer);
        let text = text.trim_ascii();
        if !text.is_empty() && !f(line, text)? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines_of(name: &str, bytes: &[u8]) -> Result<Vec<(usize, String)>, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let mut lines = Vec::new();
        for_each_line(&path, &mut |line, text| {
            lines.push((line, String::from_utf8_lossy(text).into_owned()));
            Ok(true)
        })?;
        Ok(lines)
    }

    #[test]
    fn packed_files_read_like_plain_ones() {
        let text = b"\xef\xbb\xbf{\"a\":1}\r\n\n {\"b\":2}";
        let expected = vec![(1, "{\"a\":1}".to_owned()), (3, "{\"b\":2}".to_owned())];
        assert_eq!(lines_of("x.jsonl", text).unwrap(), expected);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        assert_eq!(lines_of("x.jsonl.gz", &gzip.finish().unwrap()).unwrap(), expected);
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        assert_eq!(lines_of("x.jsonl.zst", &zstd).unwrap(), expected);
    }

    #[test]
    fn a_cut_archive_is_an_error() {
        let text = (0..20_000).fold(String::new(), |text, n| format!("{text}{{\"n\":{n}}}\n"));
        let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let cut = lines_of("x.jsonl.zst", &zstd[..zstd.len() / 2]);
        assert!(matches!(cut, Err(Error::Read { .. })));
    }

    #[test]
    fn devices_and_folders_are_refused() {
        for path in ["/dev/zero", "/"] {
            let refused = read_text(Path::new(path)).unwrap_err();
            assert_eq!(refused.to_string(), format!("`{path}` is not a regular file"));
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_named() {
        let n_bytes = usize::try_from(MAX_LINE_BYTES).unwrap() + 1;
        let refused = lines_of("x.jsonl", &[&b"{}\n"[..], &vec![b' '; n_bytes]].concat());
        let message = refused.unwrap_err().to_string();
        assert!(message.ends_with("x.jsonl`, line 2 is larger than 16777216 bytes"), "{message}");
    }
}
