//! [`Library`]: all sources together, read as one stream of skills.

use std::{
    mem,
    ops::ControlFlow,
    path::{Path, PathBuf},
    thread,
};

use crossbeam_channel::{Sender, bounded};

use super::{
    entry::Entry, ledger::Ledger, origin::ScannedSkill, report::ScanReport, source::Source,
};
use crate::Result;

/// Entries travel between the threads in batches of up to so many bytes and entries ...
const MAX_BATCH_BYTES: usize = 1024 * 1024;
const MAX_BATCH_ENTRIES: usize = 1024;
/// ... and so many batches wait at most: reading ahead takes a few megabytes, however large the
/// library is.
const MAX_WAITING_BATCHES: usize = 4;

/// The sources of skills, in order of precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    sources: Vec<Source>,
}

impl Library {
    /// Returns a library of the given sources.
    pub fn new(sources: Vec<Source>) -> Self {
        Self { sources }
    }

    /// Returns a library of what lies at the paths, see [`Source::detect`].
    ///
    /// # Errors
    /// Those of [`Source::detect`], for the first path that fails.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        let mut sources = Vec::new();
        for path in paths {
            sources.extend(Source::detect(path)?);
        }
        Ok(Self { sources })
    }

    /// Returns the sources, in order.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Reads all sources and passes every skill that is kept to `on_skill`.
    ///
    /// The order is that of the sources; within a folder, parents come before children and siblings
    /// by name; within shards, by file name and line. Exact duplicates of a skill already kept are
    /// merged and not passed on. Skills that are not for a model are counted and not passed on. A
    /// different skill whose id is taken gets the id `id~` with the first eight digits of its
    /// content hash. The same files give the same skills and the same report.
    ///
    /// Reading runs on a second thread, a few megabytes ahead of `on_skill`, which is called on
    /// this one. Symbolic links are followed as long as they lead into one of the library's
    /// folders.
    ///
    /// # Errors
    /// The first error of `on_skill`, which ends the scan. [`Error::SourceMissing`] or
    /// [`Error::Read`] before any call to `on_skill` where a source as a whole cannot be opened;
    /// what is wrong within a source is never fatal and stands in the report.
    ///
    /// [`Error::SourceMissing`]: crate::Error::SourceMissing
    /// [`Error::Read`]: crate::Error::Read
    pub fn scan(&self, on_skill: &mut dyn FnMut(ScannedSkill) -> Result<()>) -> Result<ScanReport> {
        let mut allowed = Vec::new();
        for source in &self.sources {
            let canonical = source.open()?;
            if canonical.is_dir() && matches!(source, Source::Folder { .. }) {
                allowed.push(canonical);
            }
        }
        thread::scope(|scope| {
            let (sender, receiver) = bounded(MAX_WAITING_BATCHES);
            let allowed = &allowed;
            scope.spawn(move || self.read_all(allowed, sender));
            let mut ledger = Ledger::default();
            // Leaving early drops the receiver; the reader then fails to send, and ends.
            for batch in receiver {
                for entry in batch {
                    if let Some(scanned) = ledger.enter(entry) {
                        on_skill(scanned)?;
                    }
                }
            }
            Ok(ledger.finish())
        })
    }

    /// Sends the entries of all sources until they end or nobody listens any more.
    #[expect(clippy::needless_pass_by_value, reason = "dropping the sender ends the scan")]
    fn read_all(&self, allowed: &[PathBuf], sender: Sender<Vec<Entry>>) {
        let mut batch = Vec::new();
        let mut n_bytes = 0;
        let mut sink = |entry: Entry| {
            n_bytes += entry.n_bytes();
            batch.push(entry);
            if n_bytes < MAX_BATCH_BYTES && batch.len() < MAX_BATCH_ENTRIES {
                return ControlFlow::Continue(());
            }
            n_bytes = 0;
            match sender.send(mem::take(&mut batch)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        let end = self.sources.iter().try_for_each(|source| source.read(allowed, &mut sink));
        if end.is_continue() {
            // Nobody listens only after an error of the consumer, which it reports itself.
            let _ = sender.send(batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::{
        Error,
        skill::{Skill, SkillId},
    };

    fn scan(library: &Library) -> (Vec<Skill>, ScanReport) {
        let mut skills = Vec::new();
        let report = library
            .scan(&mut |scanned| {
                skills.push(scanned.skill);
                Ok(())
            })
            .unwrap();
        (skills, report)
    }

    fn ids(skills: &[Skill]) -> Vec<&str> {
        skills.iter().map(|skill| skill.id.as_str()).collect()
    }

    fn write(dir: &TempDir, path: &str, text: &[u8]) {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A shard that is much larger than what the reader may hold ahead of the consumer.
    fn shard(n_lines: usize) -> String {
        let body = "x".repeat(200);
        let line = |n: usize| format!("{{\"name\":\"s{n}\",\"body\":\"{body}\"}}\n");
        (0..n_lines).map(line).collect::<Vec<_>>().concat()
    }

    #[test]
    fn sources_are_read_in_order_and_merged() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir, "lib/pdf/SKILL.md", b"---\nname: pdf\ndescription: d\n---\nbody\n");
        write(
            &dir,
            "pool.jsonl",
            b"{\"skill_id\":\"x/pdf\",\"name\":\"pdf\",\"description\":\"d\",\"body\":\"body\\n\"}\n\
              {\"skill_id\":\"pdf\",\"name\":\"PDF\",\"body\":\"other\"}\nnonsense\n",
        );
        let library =
            Library::open([dir.path().join("lib"), dir.path().join("pool.jsonl")]).unwrap();
        let (skills, report) = scan(&library);
        assert_eq!(ids(&skills)[0], "pdf");
        assert!(ids(&skills)[1].starts_with("pdf~"));
        assert_eq!(skills[0].source, "lib");
        assert_eq!(report.merged[0].copy.id, SkillId::new("x/pdf"));
        assert_eq!(report.collisions.len(), 1);
        assert_eq!(report.skipped.len(), 1);
        assert_eq!(report.n_read, 4);
        assert_eq!(scan(&library), (skills, report));
    }

    #[test]
    fn an_error_of_the_callback_ends_the_scan() {
        let dir = tempfile::tempdir().unwrap();
        let lines = shard(50_000);
        write(&dir, "pool.jsonl", lines.as_bytes());
        let library = Library::open([dir.path()]).unwrap();
        let mut n_skills = 0;
        let result = library.scan(&mut |_| {
            n_skills += 1;
            if n_skills == 10 { Err(Error::TaskEmpty) } else { Ok(()) }
        });
        assert!(matches!(result, Err(Error::TaskEmpty)));
        assert_eq!(n_skills, 10);
    }

    #[test]
    fn a_panic_of_the_callback_does_not_hang() {
        let dir = tempfile::tempdir().unwrap();
        let lines = shard(50_000);
        write(&dir, "pool.jsonl", lines.as_bytes());
        let library = Library::open([dir.path()]).unwrap();
        let scan = std::panic::AssertUnwindSafe(|| library.scan(&mut |_| panic!("on purpose")));
        assert!(std::panic::catch_unwind(scan).is_err());
    }

    #[test]
    fn a_source_that_is_gone_fails_before_any_skill() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir, "lib/a/SKILL.md", b"text");
        let sources =
            vec![Source::folder(dir.path().join("lib")), Source::shards(dir.path().join("gone"))];
        let result = Library::new(sources).scan(&mut |_| panic!("no skill is passed on"));
        assert!(matches!(result, Err(Error::SourceMissing { .. })));
    }

    #[test]
    fn a_library_without_skills_is_scanned_to_an_empty_report() {
        let dir = tempfile::tempdir().unwrap();
        let (skills, report) = scan(&Library::open([dir.path()]).unwrap());
        assert_eq!((skills, report), (vec![], ScanReport::default()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn every_line_and_file_is_accounted_for(
            lines in proptest::collection::vec(
                prop_oneof![
                    "[a-c]".prop_map(|it| format!("{{\"skill_id\":\"{it}\",\"name\":\"n\",\"body\":\"{it}\"}}")),
                    "[ab]".prop_map(|it| format!("{{\"skill_id\":\"{it}\",\"body\":\"x\"}}")),
                    "[^\r\n]{1,20}",
                ],
                0..12,
            ),
            files in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..6),
        ) {
            let dir = tempfile::tempdir().unwrap();
            write(&dir, "pool.jsonl", lines.join("\n").as_bytes());
            for (n, bytes) in files.iter().enumerate() {
                write(&dir, &format!("s{n}/SKILL.md"), bytes);
            }
            let library = Library::new(vec![Source::folder(dir.path()), Source::shards(dir.path())]);
            let (skills, report) = scan(&library);
            let n_lines = lines.iter().filter(|it| !it.trim_matches([' ', '\t', '\x0c']).is_empty()).count();
            prop_assert_eq!(report.n_read, n_lines + files.len());
            prop_assert_eq!(report.n_read, report.n_kept + report.n_merged + report.n_skipped);
            prop_assert_eq!(skills.len(), report.n_kept);
            prop_assert_eq!(report.merged.len(), report.n_merged);
            prop_assert_eq!(report.skipped.len(), report.n_skipped);
            let mut unique = ids(&skills);
            unique.sort_unstable();
            unique.dedup();
            prop_assert_eq!(unique.len(), skills.len());
        }
    }
}
