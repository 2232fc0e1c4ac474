//! Stores the text and the nodes of skills, one self-checking frame a skill.
//!
//! A store file is a run of frames; it is written once and never changed. A frame is `check [8] |
//! headline check [8] | name_bytes u32 | description_bytes u32 | body_bytes u32 | compressed_bytes
//! u32 | nodes_bytes u32 | name | description | compressed body | nodes`, little-endian. The body is
//! compressed with zstd; name and description are not, for a query reads those of hundreds of
//! skills. `check` is the first 64 bits of the BLAKE3 hash of all that follows it, and `headline
//! check` that of the lengths, the name and the description.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use memmap2::Mmap;
use zstd::bulk::{Compressor, Decompressor as ZstdDecompressor};

use super::{
    damage::{Damage, PartError},
    files,
    layout::TABLE,
};
use crate::error::Result;
use crate::skill::NodeTree;

const CHECK_BYTES: usize = 8;

/// What comes before the lengths.
const CHECKS_BYTES: usize = 2 * CHECK_BYTES;

const HEADER_BYTES: usize = CHECKS_BYTES + 5 * 4;

/// Longest body that a frame may claim, so that a damaged length cannot exhaust memory.
const MAX_BODY_BYTES: usize = 64 << 20;

const COMPRESSION_LEVEL: i32 = 3;

/// What decompression needs; costly to make, and so kept for several frames.
pub(crate) type Decompressor = ZstdDecompressor<'static>;

/// Where a frame lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameAddress {
    /// Position of the store file in the manifest.
    pub(crate) file: u16,
    /// First byte of the frame.
    pub(crate) offset: u64,
    /// Length of the frame.
    pub(crate) n_bytes: u32,
}

/// What a frame holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredText {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) body: String,
    pub(crate) nodes: NodeTree,
}

/// Name and description of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Headline<'s> {
    pub(crate) name: &'s str,
    pub(crate) description: &'s str,
}

/// Appends frames to a new store file.
pub(crate) struct StoreWriter {
    path: PathBuf,
    file: BufWriter<File>,
    compressor: Compressor<'static>,
    offset: u64,
    nodes: Vec<u8>,
}

impl StoreWriter {
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        let file = File::create_new(&path).map_err(files::write_error(&path))?;
        let compressor = Compressor::new(COMPRESSION_LEVEL).map_err(files::write_error(&path))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { path, file, compressor, offset: 0, nodes: Vec::new() })
    }

    /// Appends a frame and returns its offset and length.
    pub(crate) fn append(
        &mut self,
        name: &str,
        description: &str,
        body: &str,
        nodes: &NodeTree,
    ) -> Result<(u64, u32)> {
        let compressed =
            self.compressor.compress(body.as_bytes()).map_err(files::write_error(&self.path))?;
        self.nodes.clear();
        nodes.encode(&mut self.nodes);

        let lengths =
            [name.len(), description.len(), body.len(), compressed.len(), self.nodes.len()];
        let mut frame = vec![0; CHECKS_BYTES];
        frame.extend(lengths.iter().flat_map(|length| u32_of(*length).to_le_bytes()));
        for part in [name.as_bytes(), description.as_bytes()] {
            frame.extend_from_slice(part);
        }
        let headline_check = check_of(&frame[CHECKS_BYTES..]);
        frame[CHECK_BYTES..CHECKS_BYTES].copy_from_slice(&headline_check);
        frame.extend_from_slice(&compressed);
        frame.extend_from_slice(&self.nodes);
        let check = check_of(&frame[CHECK_BYTES..]);
        frame[..CHECK_BYTES].copy_from_slice(&check);
        self.append_frame(&frame)
    }

    /// Appends a frame that was read from another store file.
    pub(crate) fn append_frame(&mut self, frame: &[u8]) -> Result<(u64, u32)> {
        self.file.write_all(frame).map_err(files::write_error(&self.path))?;
        let offset = self.offset;
        self.offset += frame.len() as u64;
        Ok((offset, u32_of(frame.len())))
    }

    /// Flushes and syncs the file.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { path, file, .. } = self;
        let file = file.into_inner().map_err(|e| files::write_error(&path)(e.into_error()))?;
        file.sync_all().map_err(files::write_error(&path))
    }
}

/// Reads frames of the store files of a generation.
pub(crate) struct Store {
    /// Name and bytes of each file.
    files: Vec<(String, Mmap)>,
}

impl Store {
    /// Maps the store files of the generation in `folder`, in the order that addresses count them.
    pub(crate) fn open(folder: &Path, names: &[String]) -> Result<Self, PartError> {
        let map = |name: &String| Ok((name.clone(), files::map(folder, name)?));
        Ok(Self { files: names.iter().map(map).collect::<Result<_, PartError>>()? })
    }

    /// Returns the bytes of a frame after a check of them.
    pub(crate) fn frame(&self, address: FrameAddress) -> Result<&[u8], Damage> {
        let frame = self.bytes_at(address).ok_or_else(|| self.damage(address, "has no frame"))?;
        if frame.len() < HEADER_BYTES || frame[..CHECK_BYTES] != check_of(&frame[CHECK_BYTES..]) {
            return Err(self.damage(address, "fails the check of the frame"));
        }
        Ok(frame)
    }

    fn bytes_at(&self, address: FrameAddress) -> Option<&[u8]> {
        let (_, file) = self.files.get(usize::from(address.file))?;
        let start = usize::try_from(address.offset).ok()?;
        file.get(start..start.checked_add(address.n_bytes as usize)?)
    }

    /// Reads name and description of a frame after a check of them, without the rest of it.
    pub(crate) fn headline(&self, address: FrameAddress) -> Result<Headline<'_>, Damage> {
        let frame = self.bytes_at(address).ok_or_else(|| self.damage(address, "has no frame"))?;
        let checked = || {
            let lengths = Lengths::of(frame)?;
            let checked = frame.get(CHECKS_BYTES..lengths.description_end()?)?;
            (frame[CHECK_BYTES..CHECKS_BYTES] == check_of(checked)).then_some(lengths)
        };
        let lengths = checked()
            .ok_or_else(|| self.damage(address, "fails the check of name and description"))?;
        headline(frame, &lengths).ok_or_else(|| self.undecodable(address))
    }

    /// Decodes a frame.
    pub(crate) fn read(
        &self,
        address: FrameAddress,
        decompressor: &mut Decompressor,
    ) -> Result<StoredText, Damage> {
        let frame = self.frame(address)?;
        decode(frame, decompressor).ok_or_else(|| self.undecodable(address))
    }

    fn undecodable(&self, address: FrameAddress) -> Damage {
        self.damage(address, "does not decode in the frame")
    }

    fn damage(&self, address: FrameAddress, what: &str) -> Damage {
        let FrameAddress { file, offset, .. } = address;
        match self.files.get(usize::from(file)) {
            Some((name, _)) => Damage::new(name, format!("{what} at {offset}")),
            None => Damage::new(TABLE, format!("names store file {file}, and there is none")),
        }
    }
}

fn decode(frame: &[u8], decompressor: &mut Decompressor) -> Option<StoredText> {
    let lengths = Lengths::of(frame)?;
    let Headline { name, description } = headline(frame, &lengths)?;
    let compressed_start = lengths.description_end()?;
    let nodes_start = compressed_start.checked_add(lengths.compressed)?;
    let compressed = frame.get(compressed_start..nodes_start)?;
    let nodes = frame.get(nodes_start..)?.get(..lengths.nodes)?;
    if lengths.body > MAX_BODY_BYTES {
        return None;
    }
    let body = decompressor.decompress(compressed, lengths.body).ok()?;
    let body = String::from_utf8(body).ok().filter(|body| body.len() == lengths.body)?;
    let nodes = NodeTree::decode(nodes, body.len())?;
    Some(StoredText { name: name.to_owned(), description: description.to_owned(), body, nodes })
}

/// Decodes name and description of a frame.
fn headline<'f>(frame: &'f [u8], lengths: &Lengths) -> Option<Headline<'f>> {
    let text = str::from_utf8(frame.get(HEADER_BYTES..lengths.description_end()?)?).ok()?;
    let (name, description) = text.split_at_checked(lengths.name)?;
    Some(Headline { name, description })
}

/// The lengths that a frame tells, in bytes.
struct Lengths {
    name: usize,
    description: usize,
    body: usize,
    compressed: usize,
    nodes: usize,
}

impl Lengths {
    fn of(frame: &[u8]) -> Option<Self> {
        let (lengths, _) = frame.get(CHECKS_BYTES..HEADER_BYTES)?.as_chunks::<4>();
        let mut lengths = lengths.iter().map(|bytes| u32::from_le_bytes(*bytes) as usize);
        Some(Self {
            name: lengths.next()?,
            description: lengths.next()?,
            body: lengths.next()?,
            compressed: lengths.next()?,
            nodes: lengths.next()?,
        })
    }

    /// Returns where in the frame the description ends.
    fn description_end(&self) -> Option<usize> {
        HEADER_BYTES.checked_add(self.name)?.checked_add(self.description)
    }
}

fn check_of(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let mut check = [0; CHECK_BYTES];
    check.copy_from_slice(&blake3::hash(bytes).as_bytes()[..CHECK_BYTES]);
    check
}

/// Narrows a length; texts are capped long before 4 GiB.
fn u32_of(length: usize) -> u32 {
    u32::try_from(length).expect("texts are capped far below 4 GiB when they are read")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "pdf";
    const DESCRIPTION: &str = "Merges PDF files";
    const BODY: &str = "# Steps\n\nRead them, then write one.\n";

    /// Returns a store of one frame, after a change of its bytes.
    fn store(dir: &Path, change: impl FnOnce(&mut [u8])) -> (Store, FrameAddress) {
        let path = dir.join("store-000001.bin");
        let mut writer = StoreWriter::create(path.clone()).unwrap();
        let nodes = NodeTree::parse(BODY);
        let (offset, n_bytes) = writer.append(NAME, DESCRIPTION, BODY, &nodes).unwrap();
        writer.finish().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let store = Store::open(dir, &["store-000001.bin".to_owned()]).ok().unwrap();
        (store, FrameAddress { file: 0, offset, n_bytes })
    }

    #[test]
    fn a_frame_that_was_read_is_the_one_that_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let (store, address) = store(dir.path(), |_| ());
        let headline = store.headline(address).ok().unwrap();
        assert_eq!(headline, Headline { name: NAME, description: DESCRIPTION });
        let text = store.read(address, &mut Decompressor::new().unwrap()).ok().unwrap();
        assert_eq!((&*text.name, &*text.description, &*text.body), (NAME, DESCRIPTION, BODY));
        assert_eq!(text.nodes, NodeTree::parse(BODY));
    }

    #[test]
    fn damage_is_found_where_it_is_read() {
        let description_end = HEADER_BYTES + NAME.len() + DESCRIPTION.len();
        // A length, the name, the description, and the compressed body.
        for (at, is_of_headline) in [
            (CHECKS_BYTES, true),
            (HEADER_BYTES, true),
            (description_end - 1, true),
            (description_end, false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let (store, address) = store(dir.path(), |bytes| bytes[at] ^= 1);
            assert_eq!(store.headline(address).is_err(), is_of_headline, "{at}");
            let read = store.read(address, &mut Decompressor::new().unwrap());
            assert!(read.is_err(), "{at}");
        }
    }
}
