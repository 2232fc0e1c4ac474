//! Reads the lines of a plain, gzip or zstd file within bounds of memory and size.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Take},
    path::Path,
};

use super::report::Issue;

/// Bounds on what is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Longest line; longer ones are passed over without being held in memory.
    pub(super) max_line_bytes: usize,
    /// Most bytes that an archive may decompress to.
    pub(super) max_total_bytes: u64,
}

/// The lines of one file.
pub(super) struct Lines {
    reader: BufReader<Take<Box<dyn Read>>>,
    limits: Limits,
    is_compressed: bool,
    is_done: bool,
    /// Number of the line that was read last, from 1.
    pub(super) number: u64,
    buffer: Vec<u8>,
}

/// One line, without its line end, or the reason why there is none.
pub(super) enum Line<'a> {
    Text(&'a [u8]),
    Refused(Issue),
}

const BUFFER_BYTES: usize = 256 * 1024;

impl Lines {
    /// Opens a file; the name says whether it must be an archive, the first bytes of which kind.
    pub(super) fn open(path: &Path, limits: Limits) -> Result<Self, Issue> {
        let mut file = File::open(path).map_err(|error| Issue::unreadable(&error))?;
        let mut magic = Vec::with_capacity(4);
        file.by_ref().take(4).read_to_end(&mut magic).map_err(|error| Issue::unreadable(&error))?;
        let start = io::Cursor::new(magic.clone());
        let input = BufReader::with_capacity(BUFFER_BYTES, start.chain(file));
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let (reader, max_bytes): (Box<dyn Read>, u64) = match *magic {
            [0x1f, 0x8b, ..] => {
                (Box::new(flate2::bufread::MultiGzDecoder::new(input)), limits.max_total_bytes)
            }
            // A frame, or a skippable frame that some compressors put first.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                let decoder = zstd::stream::read::Decoder::with_buffer(input)
                    .map_err(|error| Issue::BadArchive { detail: error.to_string() })?;
                (Box::new(decoder), limits.max_total_bytes)
            }
            _ if extension == "gz" || extension == "zst" => {
                let kind = if extension == "gz" { "gzip" } else { "zstd" };
                return Err(Issue::BadArchive { detail: format!("not a {kind} file") });
            }
            _ => (Box::new(input), u64::MAX),
        };
        Ok(Self {
            reader: BufReader::with_capacity(BUFFER_BYTES, reader.take(max_bytes)),
            limits,
            is_compressed: max_bytes < u64::MAX,
            is_done: false,
            number: 0,
            buffer: Vec::new(),
        })
    }

    /// Returns the next line; `None` at the end, and after an archive that ended early.
    pub(super) fn next_line(&mut self) -> Option<Line<'_>> {
        if self.is_done {
            return None;
        }
        self.number += 1;
        self.buffer.clear();
        match self.fill() {
            Ok(0) => {
                self.is_done = true;
                self.total_limit().map(Line::Refused)
            }
            Ok(n_bytes) if n_bytes > self.buffer.len() as u64 => {
                Some(Line::Refused(Issue::TooLarge {
                    n_bytes,
                    max_bytes: self.limits.max_line_bytes as u64,
                }))
            }
            Ok(_) if self.buffer.last() == Some(&b'\n') => {
                self.buffer.pop();
                Some(Line::Text(&self.buffer))
            }
            // The last line has no line end, or the limit cut it.
            Ok(_) => {
                self.is_done = true;
                match self.total_limit() {
                    Some(issue) => Some(Line::Refused(issue)),
                    None => Some(Line::Text(&self.buffer)),
                }
            }
            // What was read of a cut line is dropped.
            Err(error) => {
                self.is_done = true;
                Some(Line::Refused(if self.is_compressed {
                    Issue::BadArchive { detail: error.to_string() }
                } else {
                    Issue::unreadable(&error)
                }))
            }
        }
    }

    /// Reads a line into the buffer and returns its length, which is larger than the buffer where
    /// the line exceeds the limit.
    fn fill(&mut self) -> io::Result<u64> {
        // One byte more than allowed, for the line end.
        let max_bytes = self.limits.max_line_bytes as u64 + 1;
        self.reader.by_ref().take(max_bytes).read_until(b'\n', &mut self.buffer)?;
        let mut n_bytes = self.buffer.len() as u64;
        if n_bytes == max_bytes && self.buffer.last() != Some(&b'\n') {
            n_bytes += self.reader.skip_until(b'\n')? as u64;
            self.buffer.clear();
        }
        Ok(n_bytes)
    }

    /// Returns the issue where the archive decompresses to more than the limit.
    fn total_limit(&self) -> Option<Issue> {
        let max_bytes = self.limits.max_total_bytes;
        (self.is_compressed && self.reader.get_ref().limit() == 0)
            .then_some(Issue::TooLarge { n_bytes: max_bytes, max_bytes })
    }
}
