//! [`read_sarif`]: what scanners of others found, from a report in SARIF 2.1.0.

use std::{
    collections::BTreeMap,
    fmt, fs, io, iter,
    path::{Component, Path, PathBuf},
};

use percent_encoding::percent_decode_str;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{
    error::{Error, Result},
    text::{clipped, one_line, printable},
};

/// Longest name of a tool or a rule, and longest message, in characters.
const MAX_LABEL_CHARS: usize = 80;
const MAX_MESSAGE_CHARS: usize = 200;

/// How bad a finding is, in the words of SARIF.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not a problem.
    None,
    /// Good to know.
    Note,
    /// A problem. What a report does not rate is one.
    #[default]
    Warning,
    /// A serious problem.
    Error,
}

/// What a scanner says of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScannerFinding {
    /// Name of the scanner.
    pub tool: String,
    /// Its rule; may be empty.
    pub rule: String,
    /// How bad it is.
    pub level: Level,
    /// What the scanner says, in one line; may be empty.
    pub message: String,
    /// The file.
    pub file: PathBuf,
    /// Line of the file, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl ScannerFinding {
    /// Returns whether it speaks against a skill: errors and warnings do.
    pub fn is_risk(&self) -> bool {
        self.level >= Level::Warning
    }
}

impl fmt::Display for ScannerFinding {
    /// Says it as a clause whose subject is the skill: `was flagged by scan (rule X, line 3):
    /// message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = (!self.rule.is_empty()).then(|| format!("rule {}", self.rule));
        let line = self.line.map(|line| format!("line {line}"));
        let place: Vec<String> = rule.into_iter().chain(line).collect();
        write!(f, "was flagged by {}", self.tool)?;
        if !place.is_empty() {
            write!(f, " ({})", place.join(", "))?;
        }
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// Reads a report in SARIF 2.1.0: one finding for each place that a result names, in the order of
/// the report.
///
/// Results that passed, do not apply, are suppressed or are gone are left out, and so are those
/// without a place in a file.
///
/// A file is looked for where the report says. If it is not there, its path is taken from the
/// folder of the report and from `bases`, whole and then without its first parts, as long as two
/// are left: a report may come from another computer.
///
/// # Errors
/// [`Error::Read`], and [`Error::ScannerReport`] if it is no such report.
pub fn read_sarif(path: &Path, bases: &[&Path]) -> Result<Vec<ScannerFinding>> {
    let refused = |detail: String| Error::ScannerReport { path: path.to_owned(), detail };
    let text = fs::read_to_string(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => refused("there is no such file".to_owned()),
        _ => Error::Read { path: path.to_owned(), source },
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let report: Report = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
    if !report.version.starts_with("2.1") {
        return Err(refused(format!("its version is {:?}, not \"2.1.0\"", report.version)));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut findings: Vec<ScannerFinding> =
        report.runs.iter().flat_map(|run| run.findings(&folder)).collect();
    let bases: Vec<&Path> = iter::once(&*folder).chain(bases.iter().copied()).collect();
    let mut found: FxHashMap<PathBuf, PathBuf> = FxHashMap::default();
    for finding in &mut findings {
        let file = found
            .entry(finding.file.clone())
            .or_insert_with(|| present(&finding.file, &folder, &bases));
        finding.file.clone_from(file);
    }
    Ok(findings)
}

/// Returns where a file of a report is on this computer; its own path if it is not there.
fn present(file: &Path, folder: &Path, bases: &[&Path]) -> PathBuf {
    if file.exists() {
        return file.to_owned();
    }
    let inside = file.strip_prefix(folder).unwrap_or(file);
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let parts: Vec<Component<'_>> = inside.components().filter(is_name).collect();
    // The longest rest that is there.
    for at in 0..parts.len().saturating_sub(1) {
        let rest: PathBuf = parts[at..].iter().collect();
        for base in bases {
            let path = base.join(&rest);
            if path.exists() {
                return path;
            }
        }
    }
    file.to_owned()
}

#[derive(Deserialize)]
struct Report {
    version: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    #[serde(default)]
    original_uri_base_ids: BTreeMap<String, Artifact>,
    #[serde(default)]
    artifacts: Vec<ListedArtifact>,
    results: Option<Vec<Finding>>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Driver,
}

#[derive(Deserialize)]
struct Driver {
    name: String,
    #[serde(default)]
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    default_configuration: Option<Configuration>,
}

#[derive(Deserialize)]
struct Configuration {
    level: Option<Level>,
}

#[derive(Deserialize)]
struct ListedArtifact {
    location: Option<Artifact>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: Option<String>,
    rule_index: Option<i64>,
    level: Option<Level>,
    kind: Option<String>,
    baseline_state: Option<String>,
    message: Option<Message>,
    #[serde(default)]
    locations: Vec<Location>,
    #[serde(default)]
    suppressions: Vec<Suppression>,
}

#[derive(Deserialize)]
struct Message {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Suppression {
    status: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Option<Artifact>,
    region: Option<Region>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: Option<String>,
    uri_base_id: Option<String>,
    index: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    /// Some scanners write 0 or -1 for "none".
    start_line: Option<Number>,
}

impl Run {
    fn findings(&self, folder: &Path) -> Vec<ScannerFinding> {
        let results = self.results.iter().flatten().filter(|result| result.counts());
        let of_result = |result: &Finding| {
            let rule = result
                .rule_index
                .and_then(|at| self.tool.driver.rules.get(usize::try_from(at).ok()?));
            let id = result.rule_id.as_deref().or(rule.map(|rule| rule.id.as_str())).unwrap_or("");
            let rule = rule.or_else(|| self.tool.driver.rules.iter().find(|rule| rule.id == id));
            let usual = rule.and_then(|rule| rule.default_configuration.as_ref()?.level);
            let level = result.level.or(usual).unwrap_or_default();
            let message = result.message.as_ref().and_then(|message| message.text.as_deref());
            let finding = ScannerFinding {
                tool: label(&self.tool.driver.name),
                rule: label(id),
                level,
                message: clipped(&one_line(&printable(message.unwrap_or(""))), MAX_MESSAGE_CHARS),
                ..ScannerFinding::default()
            };
            let places = result.locations.iter().filter_map(|it| it.physical_location.as_ref());
            let placed = places.filter_map(|place| {
                let file = self.file(place.artifact_location.as_ref()?, folder, 0)?;
                let line = place.region.as_ref().and_then(|region| region.start_line.as_ref());
                let line = line.and_then(|line| u32::try_from(line.as_u64()?).ok());
                let line = line.filter(|line| *line > 0);
                Some(ScannerFinding { file, line, ..finding.clone() })
            });
            placed.collect::<Vec<_>>()
        };
        results.flat_map(of_result).collect()
    }

    /// Returns the path of an artifact; `depth` is how many others led to it.
    fn file(&self, artifact: &Artifact, folder: &Path, depth: usize) -> Option<PathBuf> {
        /// Reports may name artifacts in a circle.
        const MAX_DEPTH: usize = 8;
        if depth > MAX_DEPTH {
            return None;
        }
        let Some(uri) = &artifact.uri else {
            let listed = self.artifacts.get(usize::try_from(artifact.index?).ok()?)?;
            return self.file(listed.location.as_ref()?, folder, depth + 1);
        };
        let local = uri.strip_prefix("file:").map(|rest| match rest.strip_prefix("//") {
            Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
            None => rest,
        });
        if local.is_none() && uri.contains("://") {
            return None;
        }
        let path = percent_decode_str(local.unwrap_or(uri)).decode_utf8().ok()?;
        let path = if path.contains('/') { path } else { path.replace('\\', "/").into() };
        let base = artifact.uri_base_id.as_ref().and_then(|id| self.original_uri_base_ids.get(id));
        let base = base.and_then(|base| self.file(base, folder, depth + 1));
        Some(without_detours(&base.as_deref().unwrap_or(folder).join(&*path)))
    }
}

impl Finding {
    /// Returns whether somebody should look at it.
    fn counts(&self) -> bool {
        let is_accepted =
            |it: &Suppression| it.status.as_deref().is_none_or(|status| status == "accepted");
        let is_fine =
            matches!(self.kind.as_deref(), Some("pass" | "notApplicable" | "informational"));
        let is_gone = self.baseline_state.as_deref() == Some("absent");
        !is_fine && !is_gone && !self.suppressions.iter().any(is_accepted)
    }
}

/// Returns a path without `.` and `..`, by its text alone.
fn without_detours(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn label(text: &str) -> String {
    clipped(&one_line(&printable(text)), MAX_LABEL_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(report: &serde_json::Value) -> Result<Vec<ScannerFinding>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scan.sarif");
        fs::write(&path, report.to_string()).unwrap();
        let mut findings = read_sarif(&path, &[])?;
        for finding in &mut findings {
            if let Ok(inside) = finding.file.strip_prefix(dir.path()) {
                finding.file = inside.to_owned();
            }
        }
        Ok(findings)
    }

    fn at(uri: &str) -> serde_json::Value {
        json!([{ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": { "startLine": 7 } } }])
    }

    fn report(results: &serde_json::Value) -> serde_json::Value {
        let rules =
            json!([{ "id": "R0" }, { "id": "R1", "defaultConfiguration": { "level": "error" } }]);
        json!({ "version": "2.1.0", "runs": [{
            "tool": { "driver": { "name": "scan\u{202e}ner", "rules": rules } },
            "originalUriBaseIds": { "ROOT": { "uri": "file:///srv/skills/" }, "LOOP": { "uri": "x/", "uriBaseId": "LOOP" } },
            "artifacts": [{ "location": { "uri": "c/SKILL.md", "uriBaseId": "ROOT" } }],
            "results": results,
        }] })
    }

    #[test]
    fn a_finding_has_its_file_its_level_and_its_words() {
        let found = read(&report(&json!([
            { "ruleId": "R1", "message": { "text": "bad\nthing" }, "locations": at("./x/../a%20b/SKILL.md") },
            { "ruleIndex": 0, "level": "note", "locations": at("file:///x/SKILL.md") },
            { "locations": [{ "physicalLocation": { "artifactLocation": { "index": 0 } } }] },
        ])));
        let found = found.unwrap();
        let files: Vec<_> = found.iter().map(|finding| finding.file.to_str().unwrap()).collect();
        assert_eq!(files, ["a b/SKILL.md", "/x/SKILL.md", "/srv/skills/c/SKILL.md"]);
        let levels: Vec<_> = found.iter().map(|finding| finding.level).collect();
        assert_eq!(levels, [Level::Error, Level::Note, Level::Warning]);
        assert_eq!(found[0].to_string(), "was flagged by scanner (rule R1, line 7): bad thing");
        assert_eq!(found[2].to_string(), "was flagged by scanner");
        assert!(found[2].is_risk() && !found[1].is_risk());
    }

    #[test]
    fn what_nobody_should_look_at_is_left_out() {
        let found = read(&report(&json!([
            { "kind": "pass", "locations": at("a/SKILL.md") },
            { "baselineState": "absent", "locations": at("a/SKILL.md") },
            { "suppressions": [{ "kind": "inSource" }], "locations": at("a/SKILL.md") },
            { "locations": at("https://example.com/SKILL.md") },
            { "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "y", "uriBaseId": "LOOP" } } }] },
            { "message": { "text": "nowhere" } },
            { "suppressions": [{ "status": "rejected" }], "locations": at("b/SKILL.md") },
        ])));
        let files: Vec<_> = found.unwrap().into_iter().map(|finding| finding.file).collect();
        assert_eq!(files.len(), 2, "{files:?}");
        assert!(files[1].ends_with("b/SKILL.md"));
        assert_eq!(read(&json!({ "version": "2.1.0", "runs": [] })).unwrap(), []);
    }

    #[test]
    fn a_file_of_another_computer_is_found_by_the_end_of_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let (scans, skills) = (dir.path().join("scans"), dir.path().join("repo"));
        fs::create_dir_all(&scans).unwrap();
        fs::create_dir_all(skills.join("skills/tea")).unwrap();
        fs::write(skills.join("skills/tea/SKILL.md"), "tea").unwrap();
        let path = scans.join("scan.sarif");
        let found = |uri: &str| {
            fs::write(&path, report(&json!([{ "locations": at(uri) }])).to_string()).unwrap();
            read_sarif(&path, &[&skills]).unwrap()[0].file.clone()
        };
        let there = skills.join("skills/tea/SKILL.md");
        for uri in [
            "skills/tea/SKILL.md",
            "file:///home/runner/work/skills/tea/SKILL.md",
            "file:/x/tea/../skills/tea/SKILL.md",
            "skills\\tea\\SKILL.md",
        ] {
            assert_eq!(found(uri), there, "{uri}");
        }
        assert_ne!(found("file:///other/SKILL.md"), there, "one part alone is none");
    }

    #[test]
    fn what_is_no_report_is_refused() {
        for report in
            [json!({ "version": "1.0.0", "runs": [] }), json!([]), json!({ "version": "2.1.0" })]
        {
            let error = read(&report).unwrap_err();
            assert!(matches!(error, Error::ScannerReport { .. }), "{error}");
        }
        let missing = read_sarif(Path::new("/no/such"), &[]);
        assert!(matches!(missing, Err(Error::ScannerReport { .. })));
    }
}
