//! Where a skill of an index is served: [`root_uri`] and its inverse, [`find`].

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use skillmux::{
    Result,
    index::{Index, SkillIdx},
    skill::SkillId,
};

const SCHEME: &str = "skill://";

/// Longer addresses are not looked up.
const MAX_URI_BYTES: usize = 4096;

/// Deeper ones neither.
const MAX_SEGMENTS: usize = 64;

/// All but the characters that RFC 3986 calls unreserved.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A skill of an index, and which of its files is meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Position of the skill.
    pub(super) idx: SkillIdx,
    /// Path of the file in the folder of the skill: names without `.` and `..`, joined by `/`.
    pub(super) file: String,
}

/// Returns the address of the folder of a skill: its id, which must end in its name.
///
/// Where it does not, the name is added. An id with an empty part, `.` or `..` has none.
pub(super) fn root_uri(id: &SkillId, name: &str) -> Option<String> {
    let mut segments: Vec<&str> = id.as_str().split('/').collect();
    if segments.last() != Some(&name) {
        segments.push(name);
    }
    segments.iter().all(|segment| is_plain(segment)).then(|| format!("{SCHEME}{}", path(&segments)))
}

/// Returns the address of a file in the folder of a skill.
pub(super) fn file_uri(root: &str, file: &str) -> String {
    format!("{root}/{}", path(&file.split('/').collect::<Vec<_>>()))
}

/// Returns what is served at an address; `None` where that is nothing, or where the address is
/// written in another way than the server writes it.
///
/// # Errors
/// As for [`Index::skill`].
pub(super) fn find(index: &Index, uri: &str) -> Result<Option<Address>> {
    let Some(segments) = segments(uri) else { return Ok(None) };
    // Of skills within skills, the inner one.
    for at in (1..segments.len()).rev() {
        let (path, file) = segments.split_at(at);
        if let Some((idx, root)) = skill_at(index, path)? {
            let address = Address { idx, file: file.join("/") };
            let is_canonical = file_uri(&root, &address.file) == uri;
            return Ok(is_canonical.then_some(address));
        }
    }
    Ok(None)
}

/// Returns the skill whose folder has this path, and the address of the folder.
fn skill_at(index: &Index, path: &[String]) -> Result<Option<(SkillIdx, String)>> {
    let Some((name, before)) = path.split_last() else { return Ok(None) };
    // An id that ends in the name comes before one to which the name was added.
    for id in [path, before] {
        let id = SkillId::new(id.join("/"));
        let Ok(idx) = index.search(&id)? else { continue };
        let skill = index.skill(idx)?.skill;
        let root = root_uri(&id, &skill.name).filter(|_| skill.name == *name);
        if let Some(root) = root.filter(|root| root.split('/').count() == path.len() + 2) {
            return Ok(Some((idx, root)));
        }
    }
    Ok(None)
}

/// Returns the decoded parts of an address; `None` where one is no name of a file or folder.
fn segments(uri: &str) -> Option<Vec<String>> {
    let path = uri.strip_prefix(SCHEME).filter(|_| uri.len() <= MAX_URI_BYTES)?;
    let decoded = |segment: &str| {
        let segment = percent_decode_str(segment).decode_utf8().ok()?.into_owned();
        is_plain(&segment).then_some(segment)
    };
    let segments: Vec<String> = path.split('/').map(decoded).collect::<Option<_>>()?;
    (segments.len() <= MAX_SEGMENTS).then_some(segments)
}

/// Returns whether this can be the name of one file or folder on every system.
pub(super) fn is_plain(segment: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    !matches!(segment, "" | "." | "..") && !segment.contains(is_odd)
}

fn path(segments: &[&str]) -> String {
    let escaped: Vec<String> =
        segments.iter().map(|segment| utf8_percent_encode(segment, ESCAPED).to_string()).collect();
    escaped.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_in_the_name() {
        for (id, name, root) in [
            ("documents/pdf", "pdf", Some("skill://documents/pdf")),
            ("pdf", "pdf", Some("skill://pdf")),
            ("documents/pdf~2", "pdf", Some("skill://documents/pdf~2/pdf")),
            ("pool/17 a", "tea", Some("skill://pool/17%20a/tea")),
            ("文档/pdf", "pdf", Some("skill://%E6%96%87%E6%A1%A3/pdf")),
            ("../pdf", "pdf", None),
            ("a//pdf", "pdf", None),
            ("a/pdf", "..", None),
            ("a/pdf", "x/y", None),
        ] {
            assert_eq!(root_uri(&SkillId::new(id), name).as_deref(), root, "{id}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_no_addresses() {
        for uri in [
            "skill://../../etc/passwd",
            "skill://a/../b/SKILL.md",
            "skill://a/%2e%2e/b/SKILL.md",
            "skill://a/%2E./b",
            "skill://a/..%2f..%2fetc/passwd",
            "skill://a/b%5C..%5Cc",
            "skill://a//SKILL.md",
            "skill://a/b%00.md",
            "skill://a/C:%5Cx",
            "skill://a/%ff",
            "file:///etc/passwd",
            "SKILL://a/SKILL.md",
            "",
        ] {
            assert_eq!(segments(uri), None, "{uri}");
        }
        assert_eq!(segments(&format!("skill://{}", "a/".repeat(2048))), None);
        assert_eq!(segments(&format!("skill://{}a", "a/".repeat(64))), None);
        assert_eq!(segments("skill://a/b%20c").unwrap(), ["a", "b c"]);
    }
}
