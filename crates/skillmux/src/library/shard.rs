//! Reads skills from JSON Lines: `skill_id`, `name`, `description`, `body`, `source`.

use std::{
    ffi::OsStr,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer};

use super::{
    archive::{Limits, Line, Lines},
    decode::{self, BYTE_ORDER_MARK},
    entry::{Entry, Sink},
    origin::{Background, Origin},
    report::Issue,
};
use crate::skill::{Skill, SkillId};

const LIMITS: Limits =
    Limits { max_line_bytes: 4 * 1024 * 1024, max_total_bytes: 16 * 1024 * 1024 * 1024 };

/// A shard, or a folder of them.
pub(super) struct Shards<'a> {
    pub(super) path: &'a Path,
    /// [`Skill::source`] where a line names none.
    pub(super) label: &'a str,
}

impl Shards<'_> {
    /// Hands on every skill: shards by name, lines in order.
    ///
    /// The texts are taken as they are, line ends aside; only a missing id or name is filled in
    /// from the other.
    pub(super) fn read(&self, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let files = if self.path.is_dir() {
            match shard_files(self.path) {
                Ok(files) => files,
                Err(error) => {
                    let location = self.path.display().to_string();
                    return sink(Entry::skipped(location, Issue::unreadable(&error)));
                }
            }
        } else {
            vec![self.path.to_path_buf()]
        };
        files.iter().try_for_each(|file| self.read_file(file, LIMITS, sink))
    }

    fn read_file(&self, path: &Path, limits: Limits, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let file = path.display().to_string();
        let mut lines = match Lines::open(path, limits) {
            Ok(lines) => lines,
            Err(issue) => return sink(Entry::skipped(file, issue)),
        };
        while let Some(line) = lines.next_line() {
            let skill = match line {
                Line::Text(line) if line.trim_ascii().is_empty() => continue,
                Line::Text(line) => self.parse_line(line),
                Line::Refused(issue) => Err(issue),
            };
            let location = format!("{file}:{}", lines.number);
            sink(match skill {
                Ok((skill, license, issues)) => {
                    let background = Background::new(Origin::Registry, license.as_deref());
                    Entry::found(skill, location, issues).with_background(background)
                }
                Err(issue) => Entry::skipped(location, issue),
            })?;
        }
        ControlFlow::Continue(())
    }

    fn parse_line(&self, line: &[u8]) -> Result<(Skill, Option<String>, Vec<Issue>), Issue> {
        let mut mark = [0; 3];
        let mark = BYTE_ORDER_MARK.encode_utf8(&mut mark).as_bytes();
        let line = line.strip_prefix(mark).unwrap_or(line).trim_ascii();
        if !line.starts_with(b"{") {
            return Err(bad_line(line, "not an object"));
        }
        let record: Record = serde_json::from_slice(line).map_err(|error| {
            // Each line is a document of its own, so its line number says nothing.
            let message = error.to_string().replace(" at line 1 column ", " at byte ");
            bad_line(line, &message)
        })?;
        let mut issues = Vec::new();
        let id = record.skill_id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        let name =
            record.name.map(|name| decode::on_one_line(&name)).filter(|name| !name.is_empty());
        let (id, name) = match (id, name) {
            (Some(id), Some(name)) => (id, name),
            (Some(id), None) => {
                issues.push(Issue::NameMissing);
                let name = decode::on_one_line(id.rsplit('/').next().unwrap_or(&id));
                let name = if name.is_empty() { decode::on_one_line(&id) } else { name };
                (id, name)
            }
            (None, Some(name)) => (name.clone(), name),
            (None, None) => {
                let detail = "neither `skill_id` nor `name`".to_owned();
                return Err(Issue::BadJson { detail });
            }
        };
        if id.len() > MAX_ID_BYTES {
            return Err(Issue::IdTooLong { n_bytes: id.len(), max_bytes: MAX_ID_BYTES });
        }
        let description = decode::with_newlines(record.description.unwrap_or_default());
        let body = decode::with_newlines(record.body.unwrap_or_default());
        if description.trim().is_empty() && body.trim().is_empty() {
            return Err(Issue::Empty);
        }
        if [&name, &description, &body].iter().any(|field| field.contains('\0')) {
            return Err(Issue::NulByte);
        }
        let source = record.source.filter(|source| !source.trim().is_empty());
        let source = source.unwrap_or_else(|| self.label.to_owned());
        let skill = Skill { id: SkillId::new(id), name, description, body, source };
        Ok((skill, record.license, issues))
    }
}

/// Longest id: each answer has ids, whatever its budget. Paths of files are no longer on most
/// systems.
pub(super) const MAX_ID_BYTES: usize = 1024;

/// A line; other fields are ignored.
#[derive(Deserialize)]
struct Record {
    skill_id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    body: Option<String>,
    source: Option<String>,
    #[serde(default, alias = "licence", deserialize_with = "text_or_nothing")]
    license: Option<String>,
}

/// Reads a text, and anything else as nothing: no skill is lost for a license that is an object.
fn text_or_nothing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(serde_json::Value::deserialize(deserializer)?.as_str().map(str::to_owned))
}

/// Returns why a line that does not parse is no text, or else what the parser said.
fn bad_line(line: &[u8], message: &str) -> Issue {
    if line.contains(&0) {
        return Issue::NulByte;
    }
    match std::str::from_utf8(line) {
        Ok(_) => Issue::BadJson { detail: message.to_owned() },
        Err(error) => Issue::NotUtf8 { offset: error.valid_up_to() },
    }
}

/// Returns true for `.jsonl`, `.jsonl.gz` and `.jsonl.zst`, in any case.
pub(super) fn is_shard_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    [".jsonl", ".jsonl.gz", ".jsonl.zst"]
        .iter()
        .any(|end| name.len() > end.len() && name.ends_with(end))
}

/// Returns the shards that lie in a folder, by name.
pub(super) fn shard_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Links are followed: download caches keep their files elsewhere.
        if path.file_name().is_some_and(is_shard_name) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::library::report::Finding;

    const LINE: &str = r#"{"skill_id":"a/b","name":"b","description":"d","body":"x\r\ny","source":"s","extra":[1]}"#;

    /// One line per entry: the id of a skill, or where and why something was skipped.
    fn account(path: &Path, limits: Limits) -> Vec<String> {
        let mut account = Vec::new();
        let _ = Shards { path, label: "pool" }.read_file(path, limits, &mut |entry| {
            account.push(match entry {
                Entry::Found(found) => found.skill.id.to_string(),
                Entry::Skipped(Finding { location, issue }) => {
                    let file = location.rsplit('/').next().unwrap();
                    format!("! {file} {issue}")
                }
            });
            ControlFlow::Continue(())
        });
        account
    }

    fn account_of(name: &str, bytes: &[u8], limits: Limits) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        account(&path, limits)
    }

    fn parse(line: &str) -> Result<(Skill, Vec<Issue>), Issue> {
        let parsed = Shards { path: Path::new("p"), label: "pool" }.parse_line(line.as_bytes());
        parsed.map(|(skill, _, issues)| (skill, issues))
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::stream::encode_all(bytes, 1).unwrap()
    }

    /// Distinct lines that hardly compress, so that an archive of them has many blocks.
    fn many_lines(n_lines: u64) -> String {
        let line = |n: u64| {
            let noise = blake3::hash(&n.to_le_bytes()).to_hex();
            format!("{{\"name\":\"s{n}\",\"body\":\"{noise}\"}}\n")
        };
        (0..n_lines).map(line).collect::<Vec<_>>().concat()
    }

    #[test]
    fn an_id_that_would_fill_each_answer_is_refused() {
        let line = |n| {
            format!("{{\"skill_id\": \"{}\", \"name\": \"a\", \"body\": \"b\"}}", "x".repeat(n))
        };
        assert!(parse(&line(MAX_ID_BYTES)).is_ok());
        let refused = Issue::IdTooLong { n_bytes: MAX_ID_BYTES + 1, max_bytes: MAX_ID_BYTES };
        assert_eq!(parse(&line(MAX_ID_BYTES + 1)), Err(refused));
    }

    #[test]
    fn a_license_is_kept_however_it_is_spelled_and_no_skill_is_lost_for_it() {
        let license = |field: &str| {
            let line = format!("{{\"skill_id\": \"a\", \"body\": \"b\", {field}}}");
            let parsed = Shards { path: Path::new("p"), label: "pool" }.parse_line(line.as_bytes());
            parsed.unwrap().1
        };
        assert_eq!(license("\"license\": \"MIT\"").as_deref(), Some("MIT"));
        assert_eq!(license("\"licence\": \"MIT\"").as_deref(), Some("MIT"));
        assert_eq!(license("\"license\": {\"spdx\": \"MIT\"}"), None);
    }

    #[test]
    fn a_line_becomes_a_skill_with_newline_line_ends() {
        let (skill, issues) = parse(LINE).unwrap();
        assert_eq!(skill.id.as_str(), "a/b");
        assert_eq!((&*skill.name, &*skill.description), ("b", "d"));
        assert_eq!((&*skill.body, &*skill.source), ("x\ny", "s"));
        assert_eq!(issues, []);
    }

    #[test]
    fn missing_and_null_fields_are_filled_in() {
        let (skill, issues) = parse(r#"{"skill_id":"a/b","description":null,"body":"x"}"#).unwrap();
        assert_eq!((&*skill.name, &*skill.description, &*skill.source), ("b", "", "pool"));
        assert_eq!(issues, [Issue::NameMissing]);
        let (skill, issues) = parse(r#"{"name":"b","description":"d","source":null}"#).unwrap();
        assert_eq!((skill.id.as_str(), &*skill.body), ("b", ""));
        assert_eq!(issues, []);
    }

    #[test]
    fn lines_that_are_no_skill_say_why() {
        let issue = |line: &str| parse(line).unwrap_err().to_string();
        assert_eq!(issue(r#"{"name":"a"}"#), Issue::Empty.to_string());
        assert_eq!(issue(r#"{"body":"a"}"#), "not a skill in JSON: neither `skill_id` nor `name`");
        assert_eq!(issue(r#"["a","b","c"]"#), "not a skill in JSON: not an object");
        assert_eq!(issue(r#"{"name":"a","body":"\u0000"}"#), Issue::NulByte.to_string());
        assert!(issue(r#"{"name":"a","#).starts_with("not a skill in JSON: EOF"), "{LINE}");
        assert!(issue(r#"{"name":7,"body":"b"}"#).contains("invalid type"));
        let line = b"{\"name\":\"\xff\"}";
        let issue = Shards { path: Path::new("p"), label: "l" }.parse_line(line).unwrap_err();
        assert_eq!(issue, Issue::NotUtf8 { offset: 9 });
    }

    #[test]
    fn bad_lines_are_skipped_by_number_and_blank_ones_ignored() {
        let text =
            format!("\u{feff}{LINE}\r\n\n  \nnonsense\n\0\n{{\"name\":\"z\",\"body\":\"b\"}}");
        assert_eq!(
            account_of("p.jsonl", text.as_bytes(), LIMITS),
            [
                "a/b",
                "! p.jsonl:4 not a skill in JSON: not an object",
                "! p.jsonl:5 holds NUL bytes",
                "z"
            ]
        );
    }

    #[test]
    fn lines_beyond_the_limit_are_passed_over() {
        let limits = Limits { max_line_bytes: LINE.len(), ..LIMITS };
        let text = format!("{LINE}\n{LINE} \n{LINE}\n{LINE}  ");
        assert_eq!(
            account_of("p.jsonl", text.as_bytes(), limits),
            [
                "a/b".to_owned(),
                format!("! p.jsonl:2 {} bytes, but the limit is {}", LINE.len() + 2, LINE.len()),
                "a/b".to_owned(),
                format!("! p.jsonl:4 {} bytes, but the limit is {}", LINE.len() + 2, LINE.len()),
            ]
        );
    }

    #[test]
    fn archives_read_like_plain_shards() {
        let text = many_lines(50);
        let plain = account_of("p.jsonl", text.as_bytes(), LIMITS);
        assert_eq!(plain.len(), 50);
        assert_eq!(account_of("p.jsonl.gz", &gzip(text.as_bytes()), LIMITS), plain);
        assert_eq!(account_of("p.jsonl.zst", &zstd(text.as_bytes()), LIMITS), plain);
        // Several members, as parallel compressors write them.
        let (head, tail) = text.split_at(text.find("{\"name\":\"s20\"").unwrap());
        for pack in [gzip, zstd] {
            let members = [pack(head.as_bytes()), pack(tail.as_bytes())].concat();
            assert_eq!(account_of("p.jsonl", &members, LIMITS), plain);
        }
    }

    #[test]
    fn a_cut_archive_keeps_what_was_read() {
        let text = many_lines(20_000);
        for (name, archive) in
            [("p.jsonl.gz", gzip(text.as_bytes())), ("p.jsonl.zst", zstd(text.as_bytes()))]
        {
            let account = account_of(name, &archive[..archive.len() / 2], LIMITS);
            assert!(account.len() > 1000, "{name}: {}", account.len());
            let (last, kept) = account.split_last().unwrap();
            assert!(kept.iter().all(|line| !line.starts_with('!')));
            assert!(last.contains("does not decompress"), "{last}");
        }
    }

    #[test]
    fn an_archive_that_is_none_is_refused() {
        assert_eq!(
            account_of("p.jsonl.gz", LINE.as_bytes(), LIMITS),
            ["! p.jsonl.gz does not decompress: not a gzip file"]
        );
        assert_eq!(
            account_of("p.jsonl.zst", b"", LIMITS),
            ["! p.jsonl.zst does not decompress: not a zstd file"]
        );
    }

    #[test]
    fn a_decompression_bomb_stops_at_the_limit() {
        let limits = Limits { max_total_bytes: 10_000, ..LIMITS };
        let bomb = format!("{LINE}\n{}", " ".repeat(1_000_000));
        assert_eq!(
            account_of("p.jsonl.zst", &zstd(bomb.as_bytes()), limits),
            ["a/b", "! p.jsonl.zst:2 10000 bytes, but the limit is 10000"]
        );
    }

    #[test]
    fn shards_of_a_folder_are_read_by_name() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.jsonl", "a.jsonl.gz", "notes.txt", ".jsonl"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let files = shard_files(dir.path()).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap()).collect();
        assert_eq!(names, ["a.jsonl.gz", "b.jsonl"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn arbitrary_bytes_never_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            magic in proptest::sample::select(vec![&b""[..], b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"]),
        ) {
            account_of("p.jsonl", &[magic, &bytes].concat(), LIMITS);
        }
    }
}
