//! [`entry`] and [`contents`]: a skill, and a file of it, as they are served.

use std::io;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mime_guess::Mime;
use rmcp::model::{
    ResourceContents, SKILL_MD, Skill as Entry, SkillFrontmatter, SkillResource, SkillResources,
};
use skillmux::{
    Error, Result,
    index::{Index, SkillIdx},
    library::Whereabouts,
    route::Router,
    skill::Skill,
    text::printable,
};

use super::{
    address::{self, file_uri, root_uri},
    folder::SkillFolder,
    front_matter::{document, front_matter},
};

/// What a skill is served from.
enum Origin {
    /// The files of its folder.
    Folder(SkillFolder),
    /// The text in the index, for a skill of a shard or a list.
    Index(Skill),
}

/// Returns the entry of the skill whose `SKILL.md` has this address; `None` where none is served.
///
/// # Errors
/// As for [`Index::skill`].
pub(in crate::mcp) fn entry(router: &Router, uri: &str) -> Result<Option<Entry>> {
    let index = router.index();
    match address::find(&index, uri)? {
        Some(address) if address.file == SKILL_MD => entry_at(router, &index, address.idx, &mut 0),
        _ => Ok(None),
    }
}

/// Returns the entry of the skill at a position; `None` where it is not served. Adds the bytes that
/// were read of its folder to `n_bytes`, either way.
///
/// # Errors
/// As for [`Index::skill`].
pub(super) fn entry_at(
    router: &Router,
    index: &Index,
    idx: SkillIdx,
    n_bytes: &mut u64,
) -> Result<Option<Entry>> {
    let skill = index.skill(idx)?.skill;
    if router.is_blocked(&skill.id)? {
        return Ok(None);
    }
    let Some(root) = root_uri(&skill.id, &skill.name) else { return Ok(None) };
    let uri = file_uri(&root, SKILL_MD);
    // Another skill may have this address.
    if address::find(index, &uri)?.is_none_or(|address| address.idx != idx) {
        return Ok(None);
    }
    let manifest = manifest(router, skill, &root, n_bytes);
    let Some((front_matter, files)) = manifest else { return Ok(None) };
    let entry = Entry::new(uri, front_matter, SkillResources::Files(files));
    Ok(entry.validate().is_ok().then_some(entry))
}

/// Returns the front matter of a skill without reading its other files; `None` where it is not
/// served. Adds the bytes that were read to `n_bytes`, either way.
pub(super) fn front_matter_of(
    router: &Router,
    skill: Skill,
    n_bytes: &mut u64,
) -> Option<SkillFrontmatter> {
    match origin(router, skill)? {
        Origin::Folder(folder) => {
            let paths = folder.files().ok()??;
            read_front_matter(&folder, &paths, n_bytes).map(|(fields, _)| fields)
        }
        Origin::Index(skill) => {
            let (_, fields) = document_of(&skill);
            (!fields.description.trim().is_empty()).then_some(fields)
        }
    }
}

/// Returns the front matter of a skill with these files, and its `SKILL.md`.
fn read_front_matter(
    folder: &SkillFolder,
    paths: &[String],
    n_bytes: &mut u64,
) -> Option<(SkillFrontmatter, Vec<u8>)> {
    let document = folder.read(paths.iter().find(|path| *path == SKILL_MD)?).ok()??;
    *n_bytes += document.len() as u64;
    let fields = front_matter(std::str::from_utf8(&document).ok()?)?;
    Some((fields, document))
}

/// Returns the contents of the file at an address; `None` where none is served.
///
/// # Errors
/// As for [`Index::skill`]; [`Error::Read`] for a file that the system does not let one read.
pub(in crate::mcp) fn contents(router: &Router, uri: &str) -> Result<Option<ResourceContents>> {
    let index = router.index();
    let Some(address) = address::find(&index, uri)? else { return Ok(None) };
    let skill = index.skill(address.idx)?.skill;
    if router.is_blocked(&skill.id)? {
        return Ok(None);
    }
    let bytes = match origin(router, skill) {
        Some(Origin::Folder(folder)) => folder
            .read(&address.file)
            .map_err(|source| Error::Read { path: folder.path_of(&address.file), source })?,
        Some(Origin::Index(skill)) if address.file == SKILL_MD => {
            Some(document_of(&skill).0.into_bytes())
        }
        _ => None,
    };
    Ok(bytes.map(|bytes| contents_of(uri, &address.file, bytes)))
}

/// Returns what a skill is served from; `None` if it was deleted, or cannot be read.
fn origin(router: &Router, skill: Skill) -> Option<Origin> {
    match router.whereabouts(&skill.id) {
        Ok(Whereabouts::Found(place)) => {
            SkillFolder::open(place.folder().to_owned()).ok().map(Origin::Folder)
        }
        Ok(Whereabouts::NoFolder) => Some(Origin::Index(skill)),
        _ => None,
    }
}

/// Returns the front matter of a skill and all its files, with their digests; `None` where it is
/// against the rules, or a file cannot be read.
fn manifest(
    router: &Router,
    skill: Skill,
    root: &str,
    n_bytes: &mut u64,
) -> Option<(SkillFrontmatter, Vec<SkillResource>)> {
    match origin(router, skill)? {
        Origin::Folder(folder) => {
            let paths = folder.files().ok()??;
            // It decides whether the other files are read at all.
            let (fields, document) = read_front_matter(&folder, &paths, n_bytes)?;
            let mut document = Some(document);
            let files = resources(root, paths, |path| {
                if path == SKILL_MD {
                    return Ok(document.take());
                }
                let bytes = folder.read(path)?;
                *n_bytes += bytes.as_ref().map_or(0, Vec::len) as u64;
                Ok(bytes)
            });
            Some((fields, files?))
        }
        Origin::Index(skill) => {
            let (text, fields) = document_of(&skill);
            let file = SkillResource::from_bytes(file_uri(root, SKILL_MD), text.as_bytes());
            (!fields.description.trim().is_empty()).then_some((fields, vec![file]))
        }
    }
}

/// Returns the files of a skill with their digests, without those that are gone by now; `None` if
/// one cannot be read, for a list without it would be wrong.
fn resources(
    root: &str,
    paths: Vec<String>,
    mut read: impl FnMut(&str) -> io::Result<Option<Vec<u8>>>,
) -> Option<Vec<SkillResource>> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        if let Some(bytes) = read(&path).ok()? {
            files.push(SkillResource::from_bytes(file_uri(root, &path), &bytes));
        }
    }
    Some(files)
}

/// Returns the `SKILL.md` of a skill that has no file.
fn document_of(skill: &Skill) -> (String, SkillFrontmatter) {
    document(&skill.name, &printable(&skill.description), &printable(&skill.body))
}

/// Returns bytes as text where they are one; the bytes of a file are served as they are, for they
/// must have its digest.
fn contents_of(uri: &str, file: &str, bytes: Vec<u8>) -> ResourceContents {
    let guessed = mime_guess::from_path(file).first();
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            // MIME tables take `.ts` for MPEG video, not TypeScript.
            let is_text = |mime: &Mime| matches!(mime.type_().as_str(), "text" | "application");
            let mime = guessed
                .filter(is_text)
                .map_or_else(|| "text/plain".to_owned(), |it| it.to_string());
            ResourceContents::text(text, uri).with_mime_type(mime)
        }
        text => {
            let bytes =
                text.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
            let mime =
                guessed.map_or_else(|| "application/octet-stream".to_owned(), |it| it.to_string());
            ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri).with_mime_type(mime)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sent(file: &str, bytes: &[u8]) -> Value {
        serde_json::to_value(contents_of("skill://a", file, bytes.to_vec())).unwrap()
    }

    #[test]
    fn a_file_that_is_gone_is_left_out_and_with_one_that_cannot_be_read_the_skill() {
        let uris = |denied: &str| {
            let paths = ["SKILL.md", "gone.md", "run.py"].map(str::to_owned).to_vec();
            let files = resources("skill://a", paths, |path| match path {
                path if path == denied => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
                "gone.md" => Ok(None),
                path => Ok(Some(path.into())),
            });
            files.map(|files| files.into_iter().map(|file| file.uri).collect::<Vec<_>>())
        };
        let there = ["skill://a/SKILL.md", "skill://a/run.py"].map(str::to_owned);
        assert_eq!(uris("").as_deref(), Some(&there[..]));
        assert_eq!(uris("run.py"), None);
    }

    #[test]
    fn text_goes_out_as_text_and_all_else_as_base64() {
        for (file, mime) in [
            ("SKILL.md", "text/markdown"),
            ("a.py", "text/plain"),
            ("a.ts", "text/plain"),
            ("a.json", "application/json"),
            ("LICENSE", "text/plain"),
        ] {
            let sent = sent(file, "茶\u{202e}".as_bytes());
            assert_eq!((&sent["text"], &sent["mimeType"]), (&json!("茶\u{202e}"), &json!(mime)));
        }
        let image = sent("a.png", &[0x89, b'P', 0xff]);
        assert_eq!((&image["blob"], &image["mimeType"]), (&json!("iVD/"), &json!("image/png")));
        assert_eq!(sent("a.md", b"a\0b")["blob"], "YQBi");
    }
}
