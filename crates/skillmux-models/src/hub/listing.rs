//! [`Listing`]: the files of a model that are needed, as the hub lists them.

use serde::Deserialize;

use super::{HubError, ModelId};
use crate::model_file::{CONFIG, TOKENIZER, WEIGHTS, WEIGHTS_INDEX};

/// Files that are needed where a model has them. What a model lacks of these is remembered.
pub(super) const NAMED: [&str; 10] = [
    CONFIG,
    TOKENIZER,
    WEIGHTS,
    WEIGHTS_INDEX,
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
    "config_sentence_transformers.json",
    "skillmux.json",
];

/// What the hub says of a model at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listing {
    /// Hash of the commit, in 40 digits.
    pub(super) commit: String,
    /// The files that are needed; small ones first, so that weights are not downloaded in vain.
    pub(super) files: Vec<RemoteFile>,
}

/// A file of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemoteFile {
    pub(super) name: String,
    pub(super) n_bytes: u64,
    /// What the hub knows its content by, in hexadecimal digits: the name of a blob in the cache.
    pub(super) blob: String,
    /// Whether the blob is the SHA-256 of the content, as it is of large files.
    pub(super) is_sha256: bool,
}

#[derive(Deserialize)]
struct Answer {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    blob_id: Option<String>,
    lfs: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    sha256: String,
    size: u64,
}

impl Listing {
    /// Reads an answer of the hub; `None` if it is none.
    pub(super) fn read(answer: &str) -> Option<Self> {
        let Answer { sha, siblings } = serde_json::from_str(answer).ok()?;
        let is_indexed = siblings.iter().any(|sibling| sibling.rfilename == WEIGHTS_INDEX);
        let wanted = siblings.into_iter().filter(|file| is_wanted(&file.rfilename, is_indexed));
        let mut files = wanted.map(RemoteFile::of).collect::<Option<Vec<RemoteFile>>>()?;
        files.sort_by_key(|file| file.n_bytes);
        is_digest(&sha, 40).then_some(Self { commit: sha, files })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.name == name)
    }

    /// Returns the bytes of all files, as far as they can be counted.
    pub(super) fn n_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.n_bytes).fold(0, u64::saturating_add)
    }

    /// Checks that the files are a model that can be read.
    pub(super) fn check(&self, id: &ModelId) -> Result<(), HubError> {
        let mut needed = vec![CONFIG, TOKENIZER];
        if !self.has(WEIGHTS_INDEX) {
            needed.push(WEIGHTS);
        }
        match needed.into_iter().find(|name| !self.has(name)) {
            Some(file) => Err(HubError::FileMissing { id: id.clone(), file }),
            None => Ok(()),
        }
    }
}

impl RemoteFile {
    fn of(sibling: Sibling) -> Option<Self> {
        let Sibling { rfilename: name, size, blob_id, lfs } = sibling;
        let (n_bytes, blob, is_sha256) = match lfs {
            Some(Large { sha256, size }) => (size, sha256, true),
            None => (size?, blob_id?, false),
        };
        let n_digits = if is_sha256 { 64 } else { 40 };
        is_digest(&blob, n_digits).then_some(Self { name, n_bytes, blob, is_sha256 })
    }
}

/// Returns whether a file is needed. Weights in several files go before one file of all.
fn is_wanted(name: &str, is_indexed: bool) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if NAMED.contains(&name) {
        return name != WEIGHTS || !is_indexed;
    }
    match name.split_once('/') {
        // The modules of sentence-transformers, such as `2_Pooling`.
        Some((module, "config.json")) => {
            module.starts_with(|c: char| c.is_ascii_digit()) && module.chars().all(is_plain)
        }
        Some(_) => false,
        None => {
            is_indexed
                && name.starts_with("model-")
                && name.ends_with(".safetensors")
                && name.chars().all(is_plain)
        }
    }
}

/// Returns whether a text is a hash of so many hexadecimal digits, which may be part of a path.
pub(super) fn is_digest(text: &str, n_digits: usize) -> bool {
    text.len() == n_digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str]) -> Vec<String> {
        let sibling = |(at, name): (usize, &&str)| {
            format!(r#"{{"rfilename": "{name}", "size": {at}, "blobId": "{}"}}"#, "a".repeat(40))
        };
        let siblings: Vec<String> = files.iter().enumerate().map(sibling).collect();
        let sha = "0".repeat(40);
        let answer = format!(r#"{{"sha": "{sha}", "siblings": [{}]}}"#, siblings.join(","));
        let listing = Listing::read(&answer).unwrap();
        listing.files.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn only_what_is_read_is_wanted() {
        let all = [
            "README.md",
            "config.json",
            "tokenizer.json",
            "pytorch_model.bin",
            "onnx/config.json",
            "onnx/model.onnx",
            "2_Pooling/config.json",
            "../config.json",
            "1_/../../config.json",
            "model-00001-of-00002.safetensors",
            "model.safetensors",
        ];
        let wanted =
            ["config.json", "tokenizer.json", "2_Pooling/config.json", "model.safetensors"];
        assert_eq!(names(&all), wanted);
        let sharded = ["model.safetensors.index.json", "model-1.safetensors", "model.safetensors"];
        assert_eq!(names(&sharded), sharded[..2]);
    }

    #[test]
    fn sizes_beyond_counting_are_no_overflow() {
        let sibling = |name: &str, size: u64| {
            format!(r#"{{"rfilename": "{name}", "size": {size}, "blobId": "{}"}}"#, "a".repeat(40))
        };
        let siblings = [sibling("config.json", u64::MAX), sibling("tokenizer.json", 7)].join(",");
        let answer = format!(r#"{{"sha": "{}", "siblings": [{siblings}]}}"#, "0".repeat(40));
        assert_eq!(Listing::read(&answer).unwrap().n_bytes(), u64::MAX);
    }

    #[test]
    fn an_answer_with_strange_hashes_is_none() {
        let answer = |sha: &str, blob: &str| {
            let sibling =
                format!(r#"{{"rfilename": "config.json", "size": 1, "blobId": "{blob}"}}"#);
            Listing::read(&format!(r#"{{"sha": "{sha}", "siblings": [{sibling}]}}"#))
        };
        let (whole, path) = ("a".repeat(40), "../../../../../../../../etc/cron.d/every");
        assert!(answer(&whole, &whole).is_some());
        assert!(answer(path, &whole).is_none());
        assert!(answer(&whole, path).is_none());
        assert!(Listing::read("<html>").is_none());
    }
}
