//! What the files and folders of an index are called.

/// Names the current generation and the hash of its manifest.
pub(super) const CURRENT: &str = "CURRENT";

/// What [`CURRENT`] is called before it takes the place of the one before.
pub(super) const CURRENT_DRAFT: &str = "CURRENT.tmp";

/// Held by the one writer.
pub(super) const LOCK: &str = "LOCK";

/// What a generation consists of; in its folder, as all that follow.
pub(super) const MANIFEST: &str = "manifest.json";

/// Table of the skills.
pub(super) const TABLE: &str = "skills.bin";

/// Folder of the lexical index.
pub(super) const LEXICAL: &str = "lexical";

/// Vectors of the skills.
pub(super) const VECTORS: &str = "vectors.bin";

/// Vectors of the whole texts of the skills, by a transformer.
pub(super) const TRANSFORMER: &str = "transformer.bin";

const DRAFT_SUFFIX: &str = ".draft";

/// Returns the name of the folder of a generation.
pub(super) fn generation_name(generation: u64) -> String {
    format!("gen-{generation:06}")
}

/// Returns the number of the generation whose folder has this name.
pub(super) fn parse_generation(name: &str) -> Option<u64> {
    let generation = name.strip_prefix("gen-")?.parse().ok()?;
    // Another spelling of a number is not ours.
    (name == generation_name(generation)).then_some(generation)
}

/// Returns the name of the folder in which a generation is written.
pub(super) fn draft_name(generation: u64) -> String {
    generation_name(generation) + DRAFT_SUFFIX
}

/// Returns the number of the generation that is, or was, written in the folder of this name.
pub(super) fn parse_draft(name: &str) -> Option<u64> {
    parse_generation(name.strip_suffix(DRAFT_SUFFIX)?)
}

/// Returns the name of the store file that a generation adds.
pub(super) fn store_name(generation: u64) -> String {
    format!("store-{generation:06}.bin")
}

/// Returns the name of the store file that a generation makes of all that there are.
pub(super) fn whole_store_name(generation: u64) -> String {
    format!("store-{generation:06}-all.bin")
}
