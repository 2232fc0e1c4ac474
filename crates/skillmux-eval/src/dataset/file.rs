//! Reads the files of a dataset: plain, gzip or zstd, within bounds of size.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};
use skillmux::skill::SkillId;

use crate::{
    error::Error,
    fault::{Fault, Place},
    printable::one_line,
    task::Task,
};

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

/// Takes a line and its number, and says whether to go on.
type OnLine<'a> = dyn FnMut(usize, &[u8]) -> Result<bool, Error> + 'a;

/// Calls `f` with every line that is not blank, and its number from 1; stops where it returns false.
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

/// Calls `f` with the record of every line.
pub(crate) fn for_each_record(
    path: &Path,
    f: &mut dyn FnMut(Record) -> Result<(), Error>,
) -> Result<(), Error> {
    for_each_line(path, &mut |line, text| {
        f(Record::of_line(path, line, text)?)?;
        Ok(true)
    })
}

/// Returns the first record of a file of JSON Lines, if it is one.
pub(crate) fn first_record(path: &Path) -> Result<Option<Record>, Error> {
    let mut first = None;
    for_each_line(path, &mut |line, text| {
        first = Record::of_line(path, line, text).ok();
        Ok(false)
    })?;
    Ok(first)
}

/// Returns the entries of a file that is one JSON object, by key.
pub(crate) fn read_object(path: &Path) -> Result<BTreeMap<String, Value>, Error> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|source| Error::Json {
        path: path.to_owned(),
        line: source.line(),
        source,
    })
}

/// A JSON object, and where it stands.
pub(crate) struct Record {
    pub(crate) place: Place,
    fields: Map<String, Value>,
}

impl Record {
    fn of_line(path: &Path, line: usize, text: &[u8]) -> Result<Self, Error> {
        let value = serde_json::from_slice(text).map_err(|source| Error::Json {
            path: path.to_owned(),
            line,
            source,
        })?;
        Self::of_value(Place::Line { path: path.to_owned(), line }, value)
    }

    /// Returns the record of a value, if it is an object.
    pub(crate) fn of_value(place: Place, value: Value) -> Result<Self, Error> {
        match value {
            Value::Object(fields) => Ok(Self { place, fields }),
            _ => Err(Error::Malformed { place, fault: Fault::NotAnObject }),
        }
    }

    /// Returns an error at this record.
    pub(crate) fn fault(&self, fault: Fault) -> Error {
        Error::Malformed { place: self.place.clone(), fault }
    }

    /// Returns whether a field is there, and not null.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.fields.get(field).is_some_and(|value| !value.is_null())
    }

    /// Returns a field of any kind.
    pub(crate) fn value(&self, field: &'static str) -> Result<&Value, Error> {
        let value = self.fields.get(field).filter(|value| !value.is_null());
        value.ok_or_else(|| self.fault(Fault::FieldMissing { field }))
    }

    fn wrong_kind(&self, field: &'static str, expected: &'static str) -> Error {
        self.fault(Fault::FieldKind { field, expected })
    }

    /// Returns a text that is not blank.
    pub(crate) fn text(&self, field: &'static str) -> Result<&str, Error> {
        let text = self.value(field)?.as_str();
        let text = text.ok_or_else(|| self.wrong_kind(field, "a text"))?;
        if text.trim().is_empty() {
            return Err(self.fault(Fault::FieldEmpty { field }));
        }
        Ok(text)
    }

    /// Returns a text that may be absent, null or blank.
    pub(crate) fn optional_text(&self, field: &'static str) -> Result<Option<&str>, Error> {
        match self.fields.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.wrong_kind(field, "a text")),
        }
    }

    /// Returns true or false.
    pub(crate) fn flag(&self, field: &'static str) -> Result<bool, Error> {
        let flag = self.value(field)?.as_bool();
        flag.ok_or_else(|| self.wrong_kind(field, "true or false"))
    }

    /// Returns a number of bytes.
    pub(crate) fn number(&self, field: &'static str) -> Result<u32, Error> {
        let number = self.value(field)?.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.wrong_kind(field, "a whole number below 2^32"))
    }

    /// Returns a list.
    pub(crate) fn list(&self, field: &'static str) -> Result<&Vec<Value>, Error> {
        let list = self.value(field)?.as_array();
        list.ok_or_else(|| self.wrong_kind(field, "a list"))
    }

    /// Returns an object.
    pub(crate) fn object(&self, field: &'static str) -> Result<&Map<String, Value>, Error> {
        let object = self.value(field)?.as_object();
        object.ok_or_else(|| self.wrong_kind(field, "an object"))
    }

    /// Returns the id of a skill, as the engine writes it.
    pub(crate) fn id(&self, field: &'static str) -> Result<String, Error> {
        let id = id_of(self.value(field)?);
        let id = id.ok_or_else(|| self.wrong_kind(field, "an id"))?;
        if id.is_empty() {
            return Err(self.fault(Fault::FieldEmpty { field }));
        }
        Ok(id)
    }

    /// Returns the ids of a list: one at least, each once.
    pub(crate) fn ids(&self, field: &'static str) -> Result<Vec<String>, Error> {
        let list = self.list(field)?;
        if list.is_empty() {
            return Err(self.fault(Fault::FieldEmpty { field }));
        }
        let mut ids = Vec::with_capacity(list.len());
        let mut seen = HashSet::with_capacity(list.len());
        for value in list {
            let id = id_of(value).filter(|id| !id.is_empty());
            let id = id.ok_or_else(|| self.wrong_kind(field, "a list of ids"))?;
            if !seen.insert(id.clone()) {
                return Err(self.fault(Fault::SkillRepeated { id }));
            }
            ids.push(id);
        }
        Ok(ids)
    }
}

/// Returns the id that a text or a whole number is.
fn id_of(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => Some(skill_id(id)),
        Value::Number(id) if id.is_u64() => Some(id.to_string()),
        _ => None,
    }
}

/// Returns an id as the engine writes it: without blanks around it and control characters.
pub(crate) fn skill_id(id: &str) -> String {
    SkillId::new(id.trim()).as_str().to_owned()
}

/// Tasks with one id each.
#[derive(Default)]
pub(crate) struct TaskList {
    pub(crate) tasks: Vec<Task>,
    ids: HashSet<String>,
}

impl TaskList {
    /// Adds a task; characters of its id that a terminal would act on are marked.
    ///
    /// # Errors
    /// [`Fault::TaskRepeated`].
    pub(crate) fn push(&mut self, place: &Place, mut task: Task) -> Result<(), Error> {
        task.id = one_line(&task.id);
        if !self.ids.insert(task.id.clone()) {
            let fault = Fault::TaskRepeated { id: task.id };
            return Err(Error::Malformed { place: place.clone(), fault });
        }
        self.tasks.push(task);
        Ok(())
    }

    /// Adds a task that has no id of its own: `q-` and a hash of the query, with a number if the
    /// same query occurs again.
    pub(crate) fn push_by_query(&mut self, mut task: Task) {
        let base = query_id(&task.query);
        task.id.clone_from(&base);
        for n in 2.. {
            if self.ids.insert(task.id.clone()) {
                break;
            }
            task.id = format!("{base}-{n}");
        }
        self.tasks.push(task);
    }

    /// Returns the tasks.
    ///
    /// # Errors
    /// [`Error::NoTasks`] if there is none.
    pub(crate) fn finish(self, path: &Path) -> Result<Vec<Task>, Error> {
        if self.tasks.is_empty() {
            return Err(Error::NoTasks { path: path.to_owned() });
        }
        Ok(self.tasks)
    }
}

/// Returns the id of a task that is known by its query only.
fn query_id(query: &str) -> String {
    format!("q-{}", &blake3::hash(query.as_bytes()).to_hex()[..12])
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

    #[test]
    fn ids_of_tasks_are_harmless_and_still_differ() {
        let mut tasks = TaskList::default();
        let place = Place::File { path: "x".into() };
        let mut push = |id: &str| {
            let task = Task { id: id.to_owned(), ..Task::default() };
            tasks.push(&place, task).map_err(|error| error.to_string())
        };
        push("a\u{1b}[2J\u{202e}b").unwrap();
        push("中文 id").unwrap();
        let again = push("a\u{7}[2J\u{202d}b").unwrap_err();
        assert_eq!(again, "`x`: task `a\u{fffd}[2J\u{fffd}b` occurs again");
        let ids: Vec<_> = tasks.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["a\u{fffd}[2J\u{fffd}b", "中文 id"]);
    }

    #[test]
    fn queries_that_recur_get_a_number() {
        let mut tasks = TaskList::default();
        for query in ["a", "b", "a"] {
            tasks.push_by_query(Task { query: query.to_owned(), ..Task::default() });
        }
        let ids: Vec<_> = tasks.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["q-17762fddd969", "q-10e5cf3d3c8a", "q-17762fddd969-2"]);
    }
}
