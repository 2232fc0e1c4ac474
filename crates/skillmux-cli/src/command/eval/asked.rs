//! [`Asked`]: the tasks of a run, and the skills to choose from.

use std::{env, fs::File, path::Path};

use anyhow::Context;
use skillmux::{library::Library, text::one_line};
use skillmux_eval::{
    cluster::Clusters,
    dataset::{
        Aliases, BilingualSplit, Binding, Dataset, DatasetKind, DatasetLibrary, DatasetOptions,
        Needs, Tier, Unjudged, write_shard,
    },
    report::{ClusterSetting, LibrarySetting, NeedsSetting, Sample, Setting},
    system::SystemSpec,
    task::Task,
};

use crate::{
    args::{AskArgs, PagerChoice, StageArgs, TierChoice},
    error::CliError,
    render::paint::{NOTE, grouped, styled},
    settings::Settings,
    source::{self, OpenIndex},
};

/// The tasks of a run, the skills to choose from, and what is to be said about both.
pub(super) struct Asked {
    pub(super) dataset: Dataset,
    pub(super) opened: OpenIndex,
    pub(super) clusters: Option<Clusters>,
    pub(super) setting: Setting,
}

/// Returns the stages of the router that is measured. Where pages alone are measured, they are those
/// of `skillmux page`.
pub(super) fn stages(chosen: StageArgs, specs: &[SystemSpec]) -> StageArgs {
    let measures_pages = specs.iter().all(SystemSpec::is_of_pages);
    let usual = measures_pages.then_some(PagerChoice::Transformer);
    StageArgs { pager: chosen.pager.or(usual), ..chosen }
}

/// Reads a dataset, and what else the arguments name; `clusters` is a file of near-duplicates.
pub(super) fn read(
    path: &Path,
    args: &AskArgs,
    clusters: Option<&Path>,
    settings: &Settings,
) -> anyhow::Result<Asked> {
    let mut setting = Setting { depth: args.depth.into(), ..Setting::default() };
    let clusters = match clusters {
        Some(path) => {
            let clusters = Clusters::read(path)?;
            let (thresholds, n_skills) = (clusters.thresholds(), clusters.n_skills());
            setting.clusters = Some(ClusterSetting { hash: hash_of(path)?, thresholds, n_skills });
            Some(clusters)
        }
        None => None,
    };
    let (mut dataset, opened) = open(path, args, settings, &mut setting)?;
    let binding = dataset.bind(&Aliases::of(&opened.index)?);
    warn_of_missing(&binding);
    setting.n_missing = binding.missing.len();
    if dataset.n_unasked > 0 {
        let n_unasked = grouped(dataset.n_unasked);
        anstream::eprintln!(
            "{} {n_unasked} judged queries are not among the tasks",
            styled(NOTE, "note:")
        );
    }
    if let Some(path) = &args.needs {
        let needs = Needs::read(path)?;
        let n_tasks = needs.give(&mut dataset.tasks);
        if n_tasks == 0 {
            return Err(CliError::NoNeeds { path: path.clone() }.into());
        }
        let n_unknown = needs.n_unknown(&dataset.tasks);
        if n_unknown > 0 {
            anstream::eprintln!(
                "{} {} of {} query_ids of `{}` are those of no task",
                styled(NOTE, "note:"),
                grouped(n_unknown),
                grouped(needs.n_tasks()),
                path.display()
            );
        }
        setting.needs = Some(NeedsSetting { hash: hash_of(path)?, n_tasks });
    }
    if let Some(n_tasks) = args.sample {
        sample(&mut dataset.tasks, n_tasks, args.seed);
        setting.sample = Some(Sample { n_tasks, seed: args.seed });
    }
    if dataset.tasks.is_empty() {
        return Err(CliError::NoTask { path: path.to_owned() }.into());
    }
    setting.library = Some(LibrarySetting::of(&opened.index)?);
    // Another program may answer otherwise.
    setting.program = hash_of(&env::current_exe().context("cannot tell which program this is")?)?;
    Ok(Asked { dataset, opened, clusters, setting })
}

/// Opens the dataset, and the index of the skills to choose from: the one that is named, else that
/// of the skills that the dataset brings, else the user's own.
fn open(
    path: &Path,
    args: &AskArgs,
    settings: &Settings,
    setting: &mut Setting,
) -> anyhow::Result<(Dataset, OpenIndex)> {
    let kind = match &args.kind {
        Some(name) => name.parse::<DatasetKind>()?,
        None => DatasetKind::detect(path)?,
    };
    say_of_kind(args, kind, setting);
    let mut options = DatasetOptions {
        tier: match args.tier {
            Some(TierChoice::Easy) => Tier::Easy,
            Some(TierChoice::Hard) => Tier::Hard,
            None => Tier::default(),
        },
        split: if args.all { BilingualSplit::All } else { BilingualSplit::HeldOut },
        qrels: args.qrels.as_deref(),
        unjudged: if args.unjudged_need_none { Unjudged::NoSkill } else { Unjudged::Unscored },
        ..DatasetOptions::default()
    };
    if kind == DatasetKind::Bilingual {
        let opened = source::open(&args.source, settings)?.read_whole()?;
        let aliases = Aliases::of(&opened.index)?;
        let lookup = |id: &str| aliases.skill(&opened.index, id);
        options.lookup = Some(&lookup);
        return Ok((Dataset::open(path, Some(kind), options)?, opened));
    }
    let mut dataset = Dataset::open(path, Some(kind), options)?;
    let brought = if args.source.is_named() { None } else { dataset.library.take() };
    let opened = match brought {
        None => source::open(&args.source, settings)?.read_whole()?,
        Some(DatasetLibrary::Paths(paths)) => {
            source::open_library(&paths, settings)?.read_whole()?
        }
        Some(DatasetLibrary::Skills(skills)) => {
            let shard = tempfile::Builder::new().suffix(".jsonl").tempfile()?;
            let out = std::io::BufWriter::new(shard.as_file());
            write_shard(out, &skills).context("cannot write the skills down")?;
            let library = Library::open([shard.path()])?;
            source::open_once(&library, settings)?.read_whole()?
        }
        Some(_) => anyhow::bail!("the dataset brings its skills in a form that is not known here"),
    };
    Ok((dataset, opened))
}

/// Notes the options that matter to this kind of dataset only.
fn say_of_kind(args: &AskArgs, kind: DatasetKind, setting: &mut Setting) {
    match kind {
        DatasetKind::SkillRouter if !args.source.is_named() => {
            let tier = match args.tier {
                Some(TierChoice::Easy) => "easy",
                Some(TierChoice::Hard) | None => "hard",
            };
            setting.tier = Some(tier.to_owned());
        }
        DatasetKind::Bilingual => {
            setting.split = Some(if args.all { "all pairs" } else { "held-out pairs" }.to_owned());
        }
        DatasetKind::Trec => {
            let unjudged = if args.unjudged_need_none { "need no skill" } else { "not scored" };
            setting.unjudged = Some(unjudged.to_owned());
        }
        _ => {}
    }
}

/// Keeps so many tasks, in their order; which ones depends on their ids and the seed alone.
fn sample(tasks: &mut Vec<Task>, n_tasks: usize, seed: u64) {
    let key = |task: &Task| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes()).update(task.id.as_bytes());
        *hasher.finalize().as_bytes()
    };
    let mut keys: Vec<_> = tasks.iter().map(key).collect();
    keys.sort_unstable();
    if let Some(limit) = keys.get(n_tasks) {
        tasks.retain(|task| key(task) < *limit);
    }
}

fn warn_of_missing(binding: &Binding) {
    let n_missing = binding.missing.len();
    if let Some(first) = binding.missing.first() {
        anstream::eprintln!(
            "{} {} right skills are not in the library and can't be found, such as `{}`",
            styled(NOTE, "note:"),
            grouped(n_missing),
            one_line(first)
        );
    }
}

/// Returns a hash of a file.
fn hash_of(path: &Path) -> anyhow::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    hasher.update_reader(file).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(hasher.finalize().to_hex()[..16].to_owned())
}
