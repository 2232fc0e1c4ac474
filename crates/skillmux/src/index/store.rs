//! Stores the text and the nodes of skills, one self-checking frame a skill.
//!
//! A store file is a run of frames; it is written once and never changed. A frame is `check [8] |
//! compressed_bytes u32 | nodes_bytes u32 | name_bytes u32 | description_bytes u32 | text_bytes u32
//! | compressed text | nodes`, little-endian, where the text is name, description and body one
//! after the other, compressed with zstd, and `check` the first 64 bits of the BLAKE3 hash of all
//! that follows.

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

const HEADER_BYTES: usize = 8 + 5 * 4;

/// Longest text that a frame may claim, so that a damaged length cannot exhaust memory.
const MAX_TEXT_BYTES: usize = 64 << 20;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Headline {
    pub(crate) name: String,
    pub(crate) description: String,
}

/// Appends frames to a new store file.
pub(crate) struct StoreWriter {
    path: PathBuf,
    file: BufWriter<File>,
    compressor: Compressor<'static>,
    offset: u64,
    text: Vec<u8>,
    nodes: Vec<u8>,
}

impl StoreWriter {
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        let file = File::create_new(&path).map_err(files::write_error(&path))?;
        let compressor = Compressor::new(COMPRESSION_LEVEL).map_err(files::write_error(&path))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { path, file, compressor, offset: 0, text: Vec::new(), nodes: Vec::new() })
    }

    /// Appends a frame and returns its offset and length.
    pub(crate) fn append(
        &mut self,
        name: &str,
        description: &str,
        body: &str,
        nodes: &NodeTree,
    ) -> Result<(u64, u32)> {
        self.text.clear();
        for field in [name, description, body] {
            self.text.extend_from_slice(field.as_bytes());
        }
        let compressed =
            self.compressor.compress(&self.text).map_err(files::write_error(&self.path))?;
        self.nodes.clear();
        nodes.encode(&mut self.nodes);

        let mut frame = Vec::with_capacity(HEADER_BYTES + compressed.len() + self.nodes.len());
        frame.extend_from_slice(&[0; 8]);
        let lengths =
            [compressed.len(), self.nodes.len(), name.len(), description.len(), self.text.len()];
        for length in lengths {
            frame.extend_from_slice(&u32_of(length).to_le_bytes());
        }
        frame.extend_from_slice(&compressed);
        frame.extend_from_slice(&self.nodes);
        let check = check_of(&frame[8..]);
        frame[..8].copy_from_slice(&check);
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
        if frame.len() < HEADER_BYTES || frame[..8] != check_of(&frame[8..]) {
            return Err(self.damage(address, "fails the check of the frame"));
        }
        Ok(frame)
    }

    fn bytes_at(&self, address: FrameAddress) -> Option<&[u8]> {
        let (_, file) = self.files.get(usize::from(address.file))?;
        let start = usize::try_from(address.offset).ok()?;
        file.get(start..start.checked_add(address.n_bytes as usize)?)
    }

    /// Decodes name and description of a frame.
    pub(crate) fn read_headline(
        &self,
        address: FrameAddress,
        decompressor: &mut Decompressor,
    ) -> Result<Headline, Damage> {
        let frame = self.frame(address)?;
        let headline = |FrameParts { mut text, name_end, description_end, .. }| {
            text.truncate(description_end);
            let mut name = String::from_utf8(text).ok()?;
            let description = name.get(name_end..)?.to_owned();
            name.truncate(name_end);
            Some(Headline { name, description })
        };
        let parts = decompress(frame, decompressor);
        parts.and_then(headline).ok_or_else(|| self.undecodable(address))
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
    let FrameParts { text, name_end, description_end, nodes } = decompress(frame, decompressor)?;
    let text = String::from_utf8(text).ok()?;
    let name = text.get(..name_end)?.to_owned();
    let description = text.get(name_end..description_end)?.to_owned();
    let body = text.get(description_end..)?.to_owned();
    let nodes = NodeTree::decode(nodes, body.len())?;
    Some(StoredText { name, description, body, nodes })
}

/// What a frame holds, decompressed.
struct FrameParts<'f> {
    /// Name, description and body one after the other.
    text: Vec<u8>,
    name_end: usize,
    description_end: usize,
    nodes: &'f [u8],
}

fn decompress<'f>(frame: &'f [u8], decompressor: &mut Decompressor) -> Option<FrameParts<'f>> {
    let length = |n: usize| -> Option<usize> {
        let bytes = frame.get(8 + n * 4..12 + n * 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let (n_compressed, n_nodes) = (length(0)?, length(1)?);
    let (n_name, n_description, n_text) = (length(2)?, length(3)?, length(4)?);
    if n_text > MAX_TEXT_BYTES {
        return None;
    }
    let compressed = frame.get(HEADER_BYTES..HEADER_BYTES.checked_add(n_compressed)?)?;
    let nodes = frame.get(HEADER_BYTES + n_compressed..)?.get(..n_nodes)?;
    let text = decompressor.decompress(compressed, n_text).ok()?;
    let description_end = n_name.checked_add(n_description)?;
    let is_whole = text.len() == n_text && description_end <= n_text;
    is_whole.then_some(FrameParts { text, name_end: n_name, description_end, nodes })
}

fn check_of(bytes: &[u8]) -> [u8; 8] {
    let mut check = [0; 8];
    check.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    check
}

/// Narrows a length; texts are capped long before 4 GiB.
fn u32_of(length: usize) -> u32 {
    u32::try_from(length).expect("texts are capped far below 4 GiB when they are read")
}
