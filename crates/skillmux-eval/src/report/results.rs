//! [`Results`]: a folder with everything that an evaluation found.
//!
//! | file | holds |
//! |---|---|
//! | `results.json` | version, setting, and the systems in order; written last |
//! | `dataset.json` | the tasks with what is right for them |
//! | `<system>.answers.jsonl` | a row a task, without times |
//! | `<system>.times.csv` | the time of each task |
//! | `<system>.run`, `qrels.trec` | the rankings and what is right, for `trec_eval` |
//! | `tasks.csv` | the [`Snapshot`] |
//! | `report.json`, `report.md`, `report.html` | the [`Report`] |
//!
//! The same answers give the same bytes, but for the times.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    setting::{PROGRAM, Setting},
    snapshot::Snapshot,
    summary::Report,
};
use crate::{
    answer::Answer,
    dataset::Dataset,
    error::Error,
    evaluate::{Evaluation, Row},
    file,
    printable::{csv, json},
    qrels::Qrels,
    run::{RunLine, falling},
    task::Task,
};

/// Version of the folder.
pub(crate) const RESULTS_FORMAT: u32 = 1;

/// Longest name of a system that is a file name as it is, in bytes.
const MAX_STEM_BYTES: usize = 80;

/// What was asked, and what systems said.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The tasks; the library is not kept.
    pub dataset: Dataset,
    /// The answers, with times of 0 where they are not known.
    pub evaluations: Vec<Evaluation>,
    /// What was measured, besides the systems.
    pub setting: Setting,
}

/// Two systems to compare.
#[derive(Debug, Clone, Default)]
pub struct Pair {
    /// The tasks of both; the first system and the second one; the setting of the first.
    pub results: Results,
    /// The setting of the second.
    pub other_setting: Setting,
    /// Tasks that only the first was asked, and tasks that only the second was asked: neither are
    /// among the results.
    pub n_unshared: (usize, usize),
}

/// `results.json`.
#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    #[serde(default)]
    setting: Setting,
    systems: Vec<HeadSystem>,
}

#[derive(Serialize, Deserialize)]
struct HeadSystem {
    name: String,
    #[serde(default)]
    config: String,
}

/// `dataset.json`.
#[derive(Serialize, Deserialize)]
struct Asked<T, C> {
    format: u32,
    name: String,
    #[serde(default)]
    n_unscored: usize,
    tasks: T,
    #[serde(default)]
    categories: C,
}

/// A line of `<system>.answers.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    task_id: &'a str,
    answer: &'a Answer,
}

impl Results {
    /// Writes a folder, over an earlier one; the files of systems that only that one has go away.
    ///
    /// Each file is there as a whole or not at all. A folder without a head is not read: it goes
    /// away first and comes last where the tasks are others, so that what is cut short mixes no
    /// answers.
    ///
    /// # Errors
    /// [`Error::SystemTwice`] and [`Error::Write`].
    pub fn write(&self, dir: &Path, report: &Report, snapshot: &Snapshot) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        for Evaluation { system, .. } in &self.evaluations {
            if !names.insert(system.as_str()) {
                return Err(Error::SystemTwice { system: system.clone() });
            }
        }
        fs::create_dir_all(dir).map_err(cannot_write(dir))?;
        let put = |name: &str, text: &str| {
            let (path, draft) = (dir.join(name), dir.join(format!("{name}.new")));
            fs::write(&draft, text).map_err(cannot_write(&draft))?;
            fs::rename(&draft, &path).map_err(cannot_write(&path))
        };
        let old: Option<Head> = file::read_json(&dir.join(HEAD)).ok();
        let Dataset { name, tasks, n_unscored, categories, .. } = &self.dataset;
        let (name, n_unscored) = (name.clone(), *n_unscored);
        let asked = json(&Asked { format: RESULTS_FORMAT, name, n_unscored, tasks, categories });
        if file::read_text(&dir.join(DATASET)).ok().as_ref() != Some(&asked) {
            remove(&dir.join(HEAD))?;
        }
        put(DATASET, &asked)?;
        put("qrels.trec", &Qrels::of_tasks(tasks).to_string())?;
        for Evaluation { system, rows, .. } in &self.evaluations {
            let stem = file_stem(system);
            put(&format!("{stem}{ANSWERS}"), &rows.iter().map(line).collect::<String>())?;
            let times_us: Vec<String> = rows.iter().map(|row| row.time_us.to_string()).collect();
            let times = rows.iter().zip(&times_us);
            let times = times.map(|(row, time_us)| [row.task_id.as_str(), time_us]);
            put(&format!("{stem}{TIMES}"), &csv([TIME_COLUMNS].into_iter().chain(times)))?;
            put(&format!("{stem}{RUN}"), &run(system, rows))?;
        }
        put("tasks.csv", &snapshot.to_csv())?;
        put("report.json", &report.to_json())?;
        put("report.md", &report.to_markdown())?;
        put("report.html", &report.to_html(None))?;
        let of_system = |evaluation: &Evaluation| HeadSystem {
            name: evaluation.system.clone(),
            config: evaluation.config.clone(),
        };
        let systems = self.evaluations.iter().map(of_system).collect();
        let setting = self.setting.clone();
        put(HEAD, &json(&Head { format: RESULTS_FORMAT, setting, systems }))?;
        let old = old.into_iter().flat_map(|head| head.systems);
        for gone in old.filter(|system| !names.contains(system.name.as_str())) {
            let stem = file_stem(&gone.name);
            for ending in [ANSWERS, TIMES, RUN] {
                remove(&dir.join(format!("{stem}{ending}")))?;
            }
        }
        Ok(())
    }

    /// Returns whether a folder holds results, whole or not.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(HEAD).is_file()
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Json`] and [`Error::Csv`] for files that are not what they should
    /// be, [`Error::ResultsFormat`] for those of another version, and [`Error::UnknownTask`],
    /// [`Error::TaskTwice`], [`Error::SkillTwice`], [`Error::Confidence`], [`Error::Unanswered`]
    /// and [`Error::SystemTwice`] for answers that do not fit the tasks.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let head: Head = file::read_json(&dir.join(HEAD))?;
        let asked: Asked<Vec<Task>, BTreeMap<String, String>> =
            file::read_json(&dir.join(DATASET))?;
        for (name, format) in [(HEAD, head.format), (DATASET, asked.format)] {
            if format != RESULTS_FORMAT {
                let expected = RESULTS_FORMAT;
                return Err(Error::ResultsFormat { path: dir.join(name), format, expected });
            }
        }
        let Asked { name, n_unscored, tasks, categories, .. } = asked;
        let mut ids = BTreeSet::new();
        for task in &tasks {
            if !ids.insert(task.id.as_str()) {
                let (path, task_id) = (dir.join(DATASET), task.id.clone());
                return Err(Error::SameTask { path, task_id });
            }
        }
        let mut evaluations: Vec<Evaluation> = Vec::new();
        for HeadSystem { name, config } in head.systems {
            if evaluations.iter().any(|known| known.system == name) {
                return Err(Error::SystemTwice { system: name });
            }
            let stem = file_stem(&name);
            let path = dir.join(format!("{stem}{ANSWERS}"));
            let times = read_times(&dir.join(format!("{stem}{TIMES}")))?;
            let mut rows = read_rows(&path, &ids)?;
            let in_order = |task: &Task| {
                let row = rows.remove(task.id.as_str());
                let unanswered =
                    || Error::Unanswered { system: name.clone(), task_id: task.id.clone() };
                let time_us = times.get(&task.id).copied().unwrap_or(0);
                row.map(|row| Row { time_us, ..row }).ok_or_else(unanswered)
            };
            let rows = tasks.iter().map(in_order).collect::<Result<Vec<Row>, Error>>()?;
            evaluations.push(Evaluation { system: name, config, rows });
        }
        let dataset = Dataset { name, tasks, n_unscored, categories, ..Dataset::default() };
        Ok(Self { dataset, evaluations, setting: head.setting })
    }

    /// Returns the folder of `FOLDER` or `FOLDER/SYSTEM`, if it holds results.
    pub fn folder_of(spec: &Path) -> Option<&Path> {
        // An empty path would be the working directory, which nobody named.
        let mut folders = spec.ancestors().filter(|dir| !dir.as_os_str().is_empty());
        folders.find(|dir| Self::is_in(dir))
    }

    /// Reads `FOLDER`, or of `FOLDER/SYSTEM` only this system; a name may hold slashes.
    ///
    /// # Errors
    /// [`Error::NoSuchSystem`], and as for [`Results::read`].
    pub fn open(spec: &Path) -> Result<Self, Error> {
        let Some(dir) = Self::folder_of(spec) else {
            // Says that there is no such file.
            return Self::read(spec);
        };
        let mut results = Self::read(dir)?;
        let name = spec.strip_prefix(dir).unwrap_or(Path::new("")).to_string_lossy();
        if !name.is_empty() {
            let known: Vec<String> =
                results.evaluations.iter().map(|known| known.system.clone()).collect();
            results.evaluations.retain(|known| known.system == name);
            if results.evaluations.is_empty() {
                let (path, system) = (dir.to_owned(), name.into_owned());
                return Err(Error::NoSuchSystem { path, system, known });
            }
        }
        Ok(results)
    }

    /// Reads two systems to compare, each as `FOLDER/SYSTEM`, or `FOLDER` if that has only one.
    ///
    /// The result has the tasks of both, and first A and then B under these names.
    ///
    /// # Errors
    /// [`Error::WhichSystem`], [`Error::OtherTask`] if a task is not the same in both,
    /// [`Error::NoSharedTask`], and as for [`Results::open`].
    pub fn open_pair(a: &Path, b: &Path) -> Result<Pair, Error> {
        let one = |spec: &Path| {
            let mut results = Self::open(spec)?;
            if results.evaluations.len() != 1 {
                let known = results.evaluations.into_iter().map(|known| known.system).collect();
                return Err(Error::WhichSystem { path: spec.into(), known });
            }
            let mut evaluation = results.evaluations.remove(0);
            evaluation.system = spec.display().to_string();
            Ok((results.dataset, evaluation, results.setting))
        };
        let ((mut dataset, mut of_a, setting), (other, mut of_b, other_setting)) =
            (one(a)?, one(b)?);
        if of_a.system == of_b.system {
            of_b.system.push_str(" (again)");
        }
        let others: BTreeMap<&str, &Task> =
            other.tasks.iter().map(|task| (task.id.as_str(), task)).collect();
        for task in &dataset.tasks {
            if let Some(same) = others.get(task.id.as_str()).filter(|same| **same != task) {
                return Err(Error::OtherTask { task_id: same.id.clone() });
            }
        }
        let n_first = dataset.tasks.len();
        dataset.tasks.retain(|task| others.contains_key(task.id.as_str()));
        if dataset.tasks.is_empty() {
            return Err(Error::NoSharedTask { a: a.into(), b: b.into() });
        }
        let n_shared = dataset.tasks.len();
        let n_unshared = (n_first - n_shared, other.tasks.len() - n_shared);
        let shared: BTreeSet<&str> = dataset.tasks.iter().map(|task| task.id.as_str()).collect();
        for evaluation in [&mut of_a, &mut of_b] {
            evaluation.rows.retain(|row| shared.contains(row.task_id.as_str()));
        }
        let results = Self { dataset, evaluations: vec![of_a, of_b], setting };
        Ok(Pair { results, other_setting, n_unshared })
    }
}

impl Pair {
    /// Checks that nothing but the systems and the program differs: the tasks, the library and how
    /// they were asked are the same.
    ///
    /// # Errors
    /// [`Error::OtherTasks`] and [`Error::OtherSetting`].
    pub fn check_same(&self) -> Result<(), Error> {
        let name = |at: usize| {
            let evaluation: Option<&Evaluation> = self.results.evaluations.get(at);
            evaluation.map_or_else(String::new, |evaluation| evaluation.system.clone())
        };
        if self.n_unshared != (0, 0) {
            let (n_only_a, n_only_b) = self.n_unshared;
            return Err(Error::OtherTasks { a: name(0), b: name(1), n_only_a, n_only_b });
        }
        let differences = self.results.setting.differences(&self.other_setting);
        // Another program may be the very thing to judge.
        let what = differences.into_iter().map(|difference| difference.what);
        let what: Vec<String> = what.filter(|what| what != PROGRAM).collect();
        if what.is_empty() {
            return Ok(());
        }
        Err(Error::OtherSetting { a: name(0), b: name(1), what })
    }
}

const HEAD: &str = "results.json";
const DATASET: &str = "dataset.json";
const ANSWERS: &str = ".answers.jsonl";
const TIMES: &str = ".times.csv";
const RUN: &str = ".run";
const TIME_COLUMNS: [&str; 2] = ["task_id", "time_us"];

/// Returns the beginning of the names of a system's files: the name itself if it is harmless on all
/// file systems, else what is harmless in it and a hash. Different names have different files, even
/// where case does not count.
pub fn file_stem(system: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    // Names of devices on Windows, whatever the extension: `con`, `nul`, `com1`.
    let is_device = match system.get(..3) {
        Some("con" | "prn" | "aux" | "nul") => system.len() == 3,
        Some("com" | "lpt") => system.len() == 4,
        _ => false,
    };
    let is_short = (1..=MAX_STEM_BYTES).contains(&system.len());
    if is_short && !is_device && system.chars().all(is_plain) {
        return system.to_owned();
    }
    let mut stem = String::new();
    for c in system.chars().map(|c| c.to_ascii_lowercase()) {
        if is_plain(c) {
            stem.push(c);
        } else if !stem.ends_with('.') && !stem.is_empty() {
            stem.push('.');
        }
        if stem.len() >= MAX_STEM_BYTES / 2 {
            break;
        }
    }
    let hash = blake3::hash(system.as_bytes()).to_hex();
    // A tilde is never in a harmless name.
    let _ = write!(stem, "~{}", &hash[..16]);
    stem
}

/// Returns a row as JSON on one line, without its time.
fn line(Row { task_id, answer, .. }: &Row) -> String {
    serde_json::to_string(&Line { task_id, answer }).expect("all keys are strings") + "\n"
}

/// Returns the rankings as a TREC run.
fn run(system: &str, rows: &[Row]) -> String {
    let mut text = String::new();
    for Row { task_id, answer, .. } in rows {
        let scores = falling(answer.ranked().iter().map(|skill| skill.score));
        for ((rank, skill), score) in (1..).zip(answer.ranked()).zip(scores) {
            let line = RunLine {
                query_id: task_id.clone(),
                document_id: skill.skill_id.clone(),
                rank,
                score,
                tag: system.to_owned(),
            };
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn cannot_write(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Write { path, source }
}

/// Removes a file, if there is one.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(cannot_write(path)(source)),
        _ => Ok(()),
    }
}

/// Returns the rows of a file, by task.
fn read_rows(path: &Path, tasks: &BTreeSet<&str>) -> Result<BTreeMap<String, Row>, Error> {
    let mut rows = BTreeMap::new();
    file::for_each_line(path, &mut |line, text| {
        let row: Row = file::parse_line(path, line, text)?;
        let (path, task_id) = (PathBuf::from(path), row.task_id.clone());
        if !tasks.contains(row.task_id.as_str()) {
            return Err(Error::UnknownTask { path, line, task_id });
        }
        if let Some(confidence) = row.answer.confidence.filter(|c| !(0.0..=1.0).contains(c)) {
            return Err(Error::Confidence { path, line, confidence });
        }
        let mut ranked = BTreeSet::new();
        let again = row.answer.ranked().iter().find(|skill| !ranked.insert(&skill.skill_id));
        if let Some(skill_id) = again.map(|skill| skill.skill_id.clone()) {
            return Err(Error::SkillTwice { path, line, skill_id });
        }
        if rows.insert(row.task_id.clone(), row).is_some() {
            return Err(Error::TaskTwice { path, line: line as u64, task_id });
        }
        Ok(true)
    })?;
    Ok(rows)
}

/// Returns the times of a file, by task; none if there is no file.
fn read_times(path: &Path) -> Result<BTreeMap<String, u64>, Error> {
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let malformed =
        |source: csv::Error| Error::Csv { path: path.to_owned(), source: Box::new(source) };
    let text = file::read_text(path)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let found = reader.headers().map_err(malformed)?;
    if found != TIME_COLUMNS.as_slice() {
        let (path, expected) = (path.to_owned(), TIME_COLUMNS[0]);
        let found = found.get(0).unwrap_or_default().to_owned();
        return Err(Error::CsvHead { path, found, expected });
    }
    reader.deserialize().collect::<Result<_, _>>().map_err(malformed)
}
