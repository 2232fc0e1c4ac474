//! Finds or makes the index that a command works on.

use std::{
    num::NonZero,
    path::{Path, PathBuf},
    sync::Once,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use skillmux::{
    Error,
    index::{
        EncodeReport, EncodeStep, Index, Progress, UpdateMode, UpdateOptions, UpdateOutcome,
        UpdateReport,
    },
    library::{Library, ScanReport, SkillPlaces, Source, agents},
    text::printable,
};

use crate::{
    args::SourceArgs,
    assemble::MAX_SKILLS_READ_UNASKED,
    error::{CliError, shell_word},
    kept::{self, InUse},
    links::{Links, is_link},
    networks::transformer,
    own_model::encoder,
    render::paint::{NOTE, grouped, styled},
    settings::Settings,
};

/// What the manifest of an index of the installed agents' skills says about its sources.
pub(crate) const INSTALLED: &str = "installed agents";

/// More threads would only wait for the one that reads.
const MAX_THREADS: usize = 8;

/// How long to wait for another process that writes the index that this one needs.
const MAX_WAIT: Duration = Duration::from_mins(2);

/// A wait that is longer than this is told.
const UNTOLD_WAIT: Duration = Duration::from_secs(1);

impl SourceArgs {
    /// Returns whether the arguments name an index or a library.
    pub(crate) fn is_named(&self) -> bool {
        self.index.is_some() || !self.library.is_empty()
    }
}

/// An index, and what must live as long as it does.
pub(crate) struct OpenIndex {
    pub(crate) index: Index,
    /// Where its skills lie.
    pub(crate) places: SkillPlaces,
    /// Whether it is one of ours, which is brought up to date; others stay as the user made them.
    is_refreshed: bool,
    /// Whether it holds what its sources hold now, as far as that is wanted: not while another
    /// process writes it.
    pub(crate) is_current: bool,
    /// Its folder, if that goes away with the answer.
    pub(crate) folder: Option<tempfile::TempDir>,
    /// The links that its update passed over; `None` if it was not updated.
    pub(crate) links: Option<Links>,
    /// Keeps it in the cache, if it is there.
    pub(crate) in_use: Option<InUse>,
}

/// Up to so many skills the transformer reads before a command answers a task: some four seconds on
/// two cores. A limit in seconds would make answers depend on the machine.
const MAX_BEFORE_ANSWER: usize = 300;

/// How often what the transformer has read is made durable.
const COMMIT_EVERY: Duration = Duration::from_secs(30);

impl OpenIndex {
    fn as_it_is(index: Index, settings: &Settings) -> Self {
        let places = places_of(&index, settings);
        Self {
            index,
            places,
            is_refreshed: false,
            is_current: true,
            folder: None,
            links: None,
            in_use: None,
        }
    }

    fn refreshed(index: Index, library: &Library, links: Option<Links>) -> Self {
        let places = SkillPlaces::new(library.sources().to_vec());
        let is_current = links.is_some();
        Self { index, places, is_refreshed: true, is_current, folder: None, links, in_use: None }
    }

    /// Opens an index of the cache after its update.
    fn shared(path: &Path, library: &Library, links: Option<Links>) -> anyhow::Result<Self> {
        Ok(Self::refreshed(Index::open(path)?, library, links))
    }

    /// Returns how many skills the transformer is to read without being asked to: none of an index
    /// that the user made.
    pub(crate) fn n_waiting(&self) -> usize {
        if self.is_refreshed { n_waiting(&self.index) } else { 0 }
    }

    /// Returns the index after the transformer has read what it lacks, if that is little.
    pub(crate) fn read_few(self) -> anyhow::Result<Self> {
        if self.n_waiting() > MAX_BEFORE_ANSWER {
            return Ok(self);
        }
        self.read(|error| {
            // Another process reads, or the cache cannot be written: what is there is good enough.
            matches!(error, Error::IndexLocked { .. } | Error::Write { .. })
        })
    }

    /// Returns the index after the transformer has read what it lacks, however long that takes:
    /// what is measured must not depend on the time.
    pub(crate) fn read_whole(self) -> anyhow::Result<Self> {
        self.read(|_| false)
    }

    fn read(self, is_tolerated: fn(&Error) -> bool) -> anyhow::Result<Self> {
        if self.n_waiting() == 0 {
            return Ok(self);
        }
        let path = self.index.path().to_owned();
        match encode(&path) {
            Err(error) if !is_tolerated(&error) => Err(error.into()),
            _ => Ok(Self { index: Index::open(&path)?, ..self }),
        }
    }

    /// Says on standard error if the transformer has begun to read the skills, or is to read them,
    /// and has not read all.
    pub(crate) fn tell_waiting(&self) {
        let has_begun = self.index.manifest().transformer.is_some();
        let n_waiting = if has_begun { n_waiting(&self.index) } else { self.n_waiting() };
        if n_waiting > 0 {
            let remedy = if self.folder.is_some() {
                "an index of its own lets it read them: skillmux index SOURCE... --index DIR"
                    .to_owned()
            } else if self.index.manifest().sources == [INSTALLED] {
                "`skillmux index` lets it read them".to_owned()
            } else {
                format!(
                    "`skillmux index --index {}` lets it read them",
                    shell_word(self.index.path())
                )
            };
            anstream::eprintln!(
                "{} the transformer has not read {} of {} skills yet, so this answer goes by words, and finds less; {remedy}",
                styled(NOTE, "note:"),
                grouped(n_waiting),
                grouped(self.index.n_skills()),
            );
        }
    }
}

/// Opens the index that the arguments name, bringing it up to date if it is one of ours.
pub(crate) fn open(args: &SourceArgs, settings: &Settings) -> anyhow::Result<OpenIndex> {
    if let Some(path) = &args.index {
        return Ok(OpenIndex::as_it_is(Index::open(path)?, settings));
    }
    if !args.library.is_empty() {
        return open_library(&args.library, settings);
    }
    if let Some(path) = settings.own_index()
        && let Some(index) = open_chosen(&path)?
    {
        return Ok(OpenIndex::as_it_is(index, settings));
    }
    let library = installed(settings)?;
    let cached = installed_index(settings, &library);
    refreshed(cached.as_deref(), &library, vec![INSTALLED.to_owned()], settings)
}

/// Returns what says which skills the index holds that [`open`] opens, and whom the user trusts. An
/// index stays as the user made it: then it is only the latter.
pub(crate) fn watched(args: &SourceArgs, settings: &Settings) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = settings.trust_files();
    let is_chosen = || -> Result<bool, Error> {
        let chosen = settings.own_index().map(|path| open_chosen(&path)).transpose()?;
        Ok(chosen.flatten().is_some())
    };
    if args.index.is_some() || args.library.is_empty() && is_chosen()? {
        return Ok(paths);
    }
    for path in &args.library {
        paths.push(std::path::absolute(path)?);
    }
    if args.library.is_empty() {
        let home = settings.home.as_ref().context("the home folder is not known")?;
        paths.extend(agents::deciding_paths(home, settings.project.as_deref()));
    }
    Ok(paths)
}

/// Returns what skillmux itself writes, which may lie below what is [`watched`].
pub(crate) fn unwatched(settings: &Settings) -> Vec<PathBuf> {
    settings.cache.iter().cloned().chain(settings.own_index()).collect()
}

/// Opens the user's own index, if there is one and they chose what it holds: commands then answer
/// from it, and not from the skills of the agents.
///
/// # Errors
/// Those of [`Index::open`], but for [`Error::IndexMissing`].
pub(crate) fn open_chosen(path: &Path) -> Result<Option<Index>, Error> {
    match Index::open(path) {
        Ok(index) => Ok(Some(index).filter(|index| index.manifest().sources != [INSTALLED])),
        Err(Error::IndexMissing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The index that a command without arguments works on, as it lies there.
pub(crate) struct PresentIndex {
    /// The index; `None` if none was made yet.
    pub(crate) index: Option<Index>,
    /// Where its skills lie.
    pub(crate) places: SkillPlaces,
    /// Its folder, if skillmux keeps it up to date by itself.
    pub(crate) kept_at: Option<PathBuf>,
}

/// Opens the index that [`open`] would open without arguments, in no time: it is neither made nor
/// brought up to date.
pub(crate) fn open_present(settings: &Settings) -> anyhow::Result<PresentIndex> {
    if let Some(path) = settings.own_index()
        && let Some(index) = open_chosen(&path)?
    {
        let places = places_of(&index, settings);
        return Ok(PresentIndex { index: Some(index), places, kept_at: None });
    }
    let library = installed(settings)?;
    let kept_at = installed_index(settings, &library);
    let index = kept_at.as_deref().and_then(|path| Index::open(path).ok());
    Ok(PresentIndex { index, places: SkillPlaces::new(library.sources().to_vec()), kept_at })
}

/// Returns where the skills of an index lie that was made before, as far as that can be told.
fn places_of(index: &Index, settings: &Settings) -> SkillPlaces {
    let sources = &index.manifest().sources;
    SkillPlaces::new(match &settings.home {
        Some(home) if *sources == [INSTALLED] => {
            agents::installed_sources(home, settings.project.as_deref())
        }
        _ => {
            let there = sources.iter().filter(|path| Path::new(path).is_absolute());
            there.filter_map(|path| Source::detect(path).ok()).flatten().collect()
        }
    })
}

/// Opens an index of these sources, kept in the cache, after bringing it up to date.
pub(crate) fn open_library(paths: &[PathBuf], settings: &Settings) -> anyhow::Result<OpenIndex> {
    let library = Library::open(paths)?;
    let sources = absolute(paths);
    let name = cache_name(&sources);
    let folder = settings.cache.as_ref().map(|cache| cache.join(kept::LIBRARIES).join(name));
    refreshed(folder.as_deref(), &library, sources, settings)
}

/// Opens an index that is gone with the answer.
pub(crate) fn open_once(library: &Library, settings: &Settings) -> anyhow::Result<OpenIndex> {
    let folder = tempfile::tempdir().context("cannot make a folder for the index")?;
    let report = update(folder.path(), library, &update_options(Vec::new(), settings)?)?;
    let index = Index::open(folder.path())?;
    let links = Some(Links::of(&report.scan));
    Ok(OpenIndex { folder: Some(folder), ..OpenIndex::refreshed(index, library, links) })
}

/// Returns the folder of the index of the installed agents' skills.
pub(crate) fn installed_index(settings: &Settings, library: &Library) -> Option<PathBuf> {
    // Which folders count depends on the project. That of a plugin is another one with each version
    // of it.
    let folder = |source: &Source| match source {
        Source::Folder { label, id_prefix: Some(prefix), .. } if prefix != label => prefix.clone(),
        source => absolute(&[source.path().to_owned()]).concat(),
    };
    let name = cache_name(&library.sources().iter().map(folder).collect::<Vec<_>>());
    Some(settings.cache.as_ref()?.join(kept::AGENTS).join(name))
}

/// Returns the folders without which an index of the cache is of no use: the project with skills of
/// its own, or what the user named.
pub(crate) fn folders_of(
    sources: &[String],
    library: &Library,
    settings: &Settings,
) -> Vec<PathBuf> {
    let mut paths = library.sources().iter().map(Source::path);
    if *sources == [INSTALLED] {
        let project = settings.project.as_ref();
        let project = project.filter(|project| paths.any(|path| path.starts_with(project)));
        return project.into_iter().cloned().collect();
    }
    paths.filter_map(|path| std::path::absolute(path).ok()).collect()
}

/// Returns whether an index of the cache is made again after this error.
pub(crate) fn is_made_again(error: &Error) -> bool {
    matches!(error, Error::IndexFormat { .. } | Error::IndexCorrupt { .. })
}

/// Returns the library of the installed agents' skills.
pub(crate) fn installed(settings: &Settings) -> anyhow::Result<Library> {
    let home = settings.home.as_ref().context("the home folder is not known")?;
    let sources = agents::installed_sources(home, settings.project.as_deref());
    if sources.is_empty() {
        return Err(CliError::NoAgent { home: home.clone() }.into());
    }
    Ok(Library::new(sources))
}

/// Writes an index as soon as no other process does, and says on standard error if that takes time.
///
/// # Errors
/// [`Error::IndexLocked`] if another one does so for longer than [`MAX_WAIT`], and those of `write`.
pub(crate) fn when_free<T>(mut write: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let started = Instant::now();
    let mut is_told = false;
    loop {
        match write() {
            Err(Error::IndexLocked { path }) if started.elapsed() < MAX_WAIT => {
                if !is_told && started.elapsed() > UNTOLD_WAIT {
                    is_told = true;
                    anstream::eprintln!(
                        "{} another process writes the index at `{}`; waiting until it is done",
                        styled(NOTE, "note:"),
                        printable(&path.display().to_string()),
                    );
                }
                thread::sleep(Duration::from_millis(100));
            }
            outcome => return outcome,
        }
    }
}

/// Brings an index of the cache up to date as [`update`] does; makes it again if it is damaged or
/// of an older format.
pub(crate) fn update_kept(
    path: &Path,
    library: &Library,
    options: &UpdateOptions,
) -> Result<UpdateReport, Error> {
    match update(path, library, options) {
        Err(error) if is_made_again(&error) => {
            let options = UpdateOptions { mode: UpdateMode::Rebuild, ..options.clone() };
            update(path, library, &options)
        }
        outcome => outcome,
    }
}

/// Brings an index up to date with a progress bar on a terminal.
pub(crate) fn update(
    path: &Path,
    library: &Library,
    options: &UpdateOptions,
) -> Result<UpdateReport, Error> {
    let bar = ProgressBar::new_spinner().with_style(spinner_style());
    // A small library is done before anyone could read a message.
    let started = Instant::now();
    let report = Index::update(path, library, options, &mut |progress| match progress {
        _ if started.elapsed() < Duration::from_millis(300) => {}
        Progress::Read { n_skills } if n_skills.is_multiple_of(64) => {
            bar.set_message("skills read");
            bar.set_position(n_skills as u64);
        }
        Progress::Commit => bar.set_message("skills read; writing the index"),
        _ => {}
    });
    bar.finish_and_clear();
    report
}

fn spinner_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {human_pos} {msg} ({elapsed})")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// Opens an index of a library after bringing it up to date.
fn refreshed(
    folder: Option<&Path>,
    library: &Library,
    sources: Vec<String>,
    settings: &Settings,
) -> anyhow::Result<OpenIndex> {
    let options = update_options(sources, settings)?;
    let mut unkept = None;
    if let Some(path) = folder {
        // Before the update, so that nobody removes what it finds.
        let in_use = InUse::mark(path, &folders_of(&options.sources, library, settings));
        match update_shared(path, library, &options) {
            Ok(links) => {
                let opened = OpenIndex::shared(path, library, links)?;
                return Ok(OpenIndex { in_use, ..opened });
            }
            // No place for a cache is no reason to give no answer; if it is a source that cannot be
            // read, the next attempt says so.
            Err(
                error @ (Error::Read { .. }
                | Error::Write { .. }
                | Error::Lexical { .. }
                | Error::IndexForeign { .. }),
            ) => unkept = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    let opened = open_once(library, settings)?;
    if let Some(links) = &opened.links {
        links.tell();
    }
    if let Some(error) = unkept {
        // A server opens its library more than once.
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            anstream::eprintln!(
                "{} no index can be kept, so each call reads all skills again: {}",
                styled(NOTE, "note:"),
                printable(&error.to_string())
            );
        });
    }
    Ok(opened)
}

/// Returns how an index of these sources is updated: with all cores and the encoder of the
/// settings.
pub(crate) fn update_options(
    sources: Vec<String>,
    settings: &Settings,
) -> anyhow::Result<UpdateOptions> {
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let encoder = Some(encoder(settings)?);
    let transformer = Some(transformer().identity().clone());
    Ok(UpdateOptions { sources, n_threads, encoder, transformer, ..UpdateOptions::default() })
}

/// Returns how many skills the transformer has not read of a library that it reads without being
/// asked to.
pub(crate) fn n_waiting(index: &Index) -> usize {
    if index.n_skills() > MAX_SKILLS_READ_UNASKED { 0 } else { n_unread(index) }
}

/// Returns how many skills the transformer has not read.
pub(crate) fn n_unread(index: &Index) -> usize {
    match &index.manifest().transformer {
        Some(found) if found.encoder == *transformer().identity() => found.n_missing as usize,
        _ => index.n_skills(),
    }
}

/// Lets the transformer read the skills that it has not read, with a progress bar on a terminal.
pub(crate) fn encode(path: &Path) -> Result<EncodeReport, Error> {
    encode_until(path, &mut || false)
}

/// Does as [`encode`] until it is to stop; what was read by then is kept.
pub(crate) fn encode_until(
    path: &Path,
    is_to_stop: &mut dyn FnMut() -> bool,
) -> Result<EncodeReport, Error> {
    let style = ProgressStyle::with_template(
        "{spinner} {human_pos} of {human_len} skills read by the transformer ({per_sec}, {eta} left)",
    );
    let bar = ProgressBar::no_length()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let started = Instant::now();
    let mut committed = started;
    let report = Index::encode(path, transformer().as_ref(), None, &mut |n_done, n_all| {
        if started.elapsed() > Duration::from_millis(300) {
            bar.set_length(n_all as u64);
            bar.set_position(n_done as u64);
        }
        if is_to_stop() {
            return EncodeStep::Stop;
        }
        if committed.elapsed() > COMMIT_EVERY {
            committed = Instant::now();
            return EncodeStep::Commit;
        }
        EncodeStep::Continue
    });
    bar.finish_and_clear();
    report
}

/// Updates an index of the cache, and returns which links were passed over; `None` while another
/// process does so, whose present generation is good enough.
fn update_shared(
    path: &Path,
    library: &Library,
    options: &UpdateOptions,
) -> Result<Option<Links>, Error> {
    let updated = when_free(|| match update_kept(path, library, options) {
        Err(Error::IndexLocked { .. }) if Index::open(path).is_ok() => Ok(None),
        outcome => outcome.map(Some),
    });
    let Some(report) = updated? else { return Ok(None) };
    if report.outcome == UpdateOutcome::Committed {
        let is_of_agents = options.sources == [INSTALLED];
        let lister = if is_of_agents { "skillmux doctor" } else { "skillmux index" };
        tell_skipped(&report.scan, lister);
        kept::prune(path);
    }
    tell_shrunk(&report, "look whether a source was emptied by mistake");
    let links = Links::of(&report.scan);
    links.tell_changed(path, &report);
    Ok(Some(links))
}

/// Fewest skills whose loss is told: a few come and go.
const MIN_LOST: usize = 10;

/// Says on standard error if most skills are gone that an index held, with what to do then.
pub(crate) fn tell_shrunk(report: &UpdateReport, remedy: &str) {
    let UpdateReport { n_before, n_lost, .. } = *report;
    if n_lost >= MIN_LOST && n_lost > n_before / 2 {
        anstream::eprintln!(
            "{} {} of {} skills are gone from the sources; {remedy}",
            styled(NOTE, "note:"),
            grouped(n_lost),
            grouped(n_before),
        );
    }
}

/// Says on standard error that a library holds what is no skill, with the first example;
/// [`Links`] tells links. `lister` is the command that lists all.
fn tell_skipped(scan: &ScanReport, lister: &str) {
    let others = scan.skipped.iter().find(|finding| !is_link(finding));
    let Some(first) = others else { return };
    anstream::eprintln!(
        "{} skipped {} of {}: {}: {}; `{lister}` lists all",
        styled(NOTE, "note:"),
        scan.n_skipped - scan.skipped.iter().filter(|finding| is_link(finding)).count(),
        scan.n_read,
        printable(&first.location),
        printable(&first.issue.to_string())
    );
}

/// Returns the paths as the manifest names them.
pub(crate) fn absolute(paths: &[PathBuf]) -> Vec<String> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    paths.iter().map(|path| absolute(path).display().to_string()).collect()
}

/// Returns a folder name for these sources.
fn cache_name(sources: &[String]) -> String {
    let hash = blake3::hash(sources.join("\0").as_bytes());
    hash.to_hex()[..16].to_owned()
}
