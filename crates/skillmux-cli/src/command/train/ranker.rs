//! `skillmux train ranker`

use std::{fmt::Write as _, fs, path::Path, sync::Arc};

use anyhow::{Context as _, bail};
use skillmux::{index::Index, model::Encoder, rerank::RankerWeights, retrieve::FeatureGroup};
use skillmux_eval::report::csv;
use skillmux_train::ranker::{
    Across, NearDuplicates, QueryScores, QuerySlice, RankerData, RankerExamples, RankerLoss,
    RankerOptions, RankerScores, SmallLibraries, TrainedRanker,
};

use crate::{
    args::{LossChoice, NearDuplicatesChoice, TrainRankerArgs},
    folder::write_file,
    networks::transformer,
    outcome::Outcome,
    own_model::encoder,
    render::{
        paint::{self, grouped, styled},
        print_text,
    },
    settings::Settings,
};

pub(super) fn run(args: &TrainRankerArgs, settings: &Settings) -> anyhow::Result<Outcome> {
    let options = options(args)?;
    if let Some(folder) = &args.ablations {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make `{}`", folder.display()))?;
    }
    let index = Index::open(&args.index)?;
    let mut data = RankerData::default();
    for path in &args.queries {
        data.add_queries(path)?;
    }
    for path in &args.tasks {
        data.add_tasks(path)?;
    }
    for path in &args.translations {
        data.add_translations(path)?;
    }
    let encoder = encoder(settings)?;
    let kept = args.keep.as_deref().map(read_weights).transpose()?;
    let mut examples = match kept {
        Some(_) => RankerExamples::none(),
        None => RankerExamples::of(&index, Arc::clone(&encoder), &data)?,
    };
    if args.transformer {
        let mut data = data.clone();
        for path in &args.transformer_tasks {
            data.add_other_words(path)?;
        }
        add_transformer(&mut examples, &index, &encoder, &data, &args.sizes)?;
    }
    let trained = examples.fit(&options, kept.as_ref());
    write_weights(&args.out, &trained.weights)?;
    if let Some(path) = &args.held_out {
        write_file(path, held_out_table(&trained.scores).as_bytes())?;
    }
    if let Some(folder) = &args.ablations {
        write_file(&folder.join("held-out.jsonl"), dataset(&trained.scores).as_bytes())?;
    }
    print_text(&report(&trained, data.n_queries(), args))?;
    if let Some(folder) = &args.ablations {
        print_text(&ablations(&examples, &options, folder)?)?;
    }
    Ok(Outcome::Found)
}

/// Looks the queries up with the transformer, in the index and in samples of these sizes.
fn add_transformer(
    examples: &mut RankerExamples,
    index: &Index,
    encoder: &Arc<dyn Encoder>,
    data: &RankerData,
    sizes: &[usize],
) -> anyhow::Result<()> {
    let transformer: Arc<dyn Encoder> = transformer();
    if !index.is_encoded_by(transformer.identity()) {
        bail!(
            "the index lacks vectors of the transformer; `skillmux index --transformer` makes them"
        );
    }
    let samples = SmallLibraries {
        index,
        encoder: Arc::clone(encoder),
        transformer: Arc::clone(&transformer),
        data,
    };
    examples.add_transformer([index], encoder, &transformer, data)?;
    for size in sizes {
        let folder = tempfile::tempdir().context("cannot make a folder for the samples")?;
        let indexes = samples.of_size(*size, folder.path())?;
        examples.add_transformer(&indexes, encoder, &transformer, data)?;
    }
    Ok(())
}

fn options(args: &TrainRankerArgs) -> anyhow::Result<RankerOptions> {
    let mut without = Vec::new();
    for name in &args.without {
        let Some(group) = FeatureGroup::ALL.into_iter().find(|group| group.as_str() == name) else {
            let names = FeatureGroup::ALL.map(FeatureGroup::as_str).join(", ");
            bail!("there is no group of features `{name}`, but {names}");
        };
        without.push(group);
    }
    Ok(RankerOptions {
        loss: match args.loss {
            LossChoice::Listwise => RankerLoss::Listwise,
            LossChoice::Pointwise => RankerLoss::Pointwise,
        },
        near_duplicates: match args.near_duplicates {
            NearDuplicatesChoice::Wrong => NearDuplicates::Wrong,
            NearDuplicatesChoice::LeftOut => NearDuplicates::LeftOut,
            NearDuplicatesChoice::Graded => NearDuplicates::GRADED,
        },
        without,
        ..RankerOptions::default()
    })
}

/// Parts of the held-out queries in the table of ablations.
const ABLATION_SLICES: [QuerySlice; 3] =
    [QuerySlice::Short, QuerySlice::LongOneSkill, QuerySlice::LongSeveral];

/// A ranking that is scored.
type System = (&'static str, fn(&QueryScores) -> RankerScores);

const SYSTEMS: [System; 4] = [
    ("bm25", |scores| scores.bm25),
    ("hybrid", |scores| scores.hybrid),
    ("ranker, words alone", |scores| scores.ranker_without_vectors),
    ("ranker", |scores| scores.ranker),
];

/// The same where a transformer has read the queries.
const TRANSFORMER_SYSTEMS: [System; 3] = [
    ("bm25", |scores| scores.bm25),
    ("hybrid", |scores| scores.hybrid),
    ("ranker", |scores| scores.ranker),
];

fn report(trained: &TrainedRanker, n_read: usize, args: &TrainRankerArgs) -> String {
    let TrainedRanker { n_train, n_validation, scores, transformer_scores, .. } = trained;
    let mut out = String::new();
    if args.keep.is_none() {
        out = format!(
            "{} queries to fit, {} to stop in time, {} held out; written to {}\n\
             of {} that were read: the index lacks the skills of the others, or the encoder was \
             trained on them\n",
            grouped(*n_train),
            grouped(*n_validation),
            grouped(scores.len()),
            args.out.display(),
            grouped(n_read),
        );
        out += &slices(scores, &SYSTEMS);
    }
    if !transformer_scores.is_empty() {
        let n = grouped(transformer_scores.len());
        let _ =
            writeln!(out, "\nwith the transformer: {n} lists held out, of all sizes of library");
        out += &slices(transformer_scores, &TRANSFORMER_SYSTEMS);
    }
    out
}

/// Returns the mean scores of some systems, slice by slice.
fn slices(held_out: &[QueryScores], systems: &[System]) -> String {
    let mut out = String::new();
    for slice in QuerySlice::ALL {
        let of_slice: Vec<&QueryScores> =
            held_out.iter().filter(|scores| slice.has(scores)).collect();
        if of_slice.is_empty() {
            continue;
        }
        let n = of_slice.len();
        let candidates = of_slice.iter().map(|scores| scores.candidates).sum::<f32>() / n as f32;
        let title = format!(
            "{}: {} queries, {candidates:.3} among the candidates",
            slice.as_str(),
            grouped(n)
        );
        let _ = writeln!(out, "\n{}", styled(paint::STRONG, &title));
        let _ =
            writeln!(out, "{:20} {:>6} {:>7} {:>6} {:>6}", "", "Hit@1", "MRR@10", "R@10", "FC@10");
        for (system, scores_of) in systems {
            let scores: Vec<RankerScores> =
                of_slice.iter().map(|scores| scores_of(scores)).collect();
            let RankerScores { hit_at_1, mrr_at_10, recall_at_10, full_coverage_at_10 } =
                RankerScores::mean(&scores);
            let _ = writeln!(
                out,
                "{system:20} {hit_at_1:>6.3} {mrr_at_10:>7.3} {recall_at_10:>6.3} {full_coverage_at_10:>6.3}"
            );
        }
    }
    out
}

fn read_weights(path: &Path) -> anyhow::Result<RankerWeights> {
    let json =
        fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_str(&json)
        .with_context(|| format!("`{}` holds no weights of a ranker", path.display()))
}

fn write_weights(path: &Path, weights: &RankerWeights) -> anyhow::Result<()> {
    write_file(path, format!("{}\n", serde_json::to_string_pretty(weights)?).as_bytes())
}

/// Returns what the ranker scores with something switched off or done otherwise, and writes the
/// weights of each such ranker.
fn ablations(
    examples: &RankerExamples,
    options: &RankerOptions,
    folder: &Path,
) -> anyhow::Result<String> {
    let mut variants = vec![("as above".to_owned(), options.clone())];
    variants.extend(options.ablations());
    let titles: Vec<String> =
        ABLATION_SLICES.iter().map(|slice| format!("{:>28}", slice.as_str())).collect();
    let title = titles.concat();
    let measures = "  Hit@1 MRR@10   R@10  FC@10".repeat(ABLATION_SLICES.len());
    let mut out =
        format!("\n{}\n{:25}{measures}\n", styled(paint::STRONG, &format!("{:25}{title}", "")), "");
    for (name, options) in variants {
        let trained = examples.fit(&options, None);
        let file = folder.join(format!("{}.json", name.replace(' ', "-")));
        write_weights(&file, &trained.weights)?;
        let _ = write!(out, "{name:25}");
        for slice in ABLATION_SLICES {
            let of_slice = trained.scores.iter().filter(|scores| slice.has(scores));
            let scores: Vec<RankerScores> = of_slice.map(|scores| scores.ranker).collect();
            let RankerScores { hit_at_1, mrr_at_10, recall_at_10, full_coverage_at_10 } =
                RankerScores::mean(&scores);
            let _ = write!(
                out,
                " {hit_at_1:>6.3} {mrr_at_10:>6.3} {recall_at_10:>6.3} {full_coverage_at_10:>6.3}"
            );
        }
        out.push('\n');
    }
    Ok(out)
}

/// What `--held-out` says of each query and ranking.
const HELD_OUT_COLUMNS: [&str; 8] = [
    "query",
    "is_long",
    "n_right",
    "system",
    "hit_at_1",
    "mrr_at_10",
    "recall_at_10",
    "full_coverage_at_10",
];

fn held_out_table(held_out: &[QueryScores]) -> String {
    let mut table = vec![HELD_OUT_COLUMNS.map(str::to_owned)];
    for scores in held_out {
        for (system, scores_of) in SYSTEMS {
            let RankerScores { hit_at_1, mrr_at_10, recall_at_10, full_coverage_at_10 } =
                scores_of(scores);
            table.push([
                id_of(&scores.query),
                u8::from(scores.is_long).to_string(),
                scores.right.len().to_string(),
                system.to_owned(),
                hit_at_1.to_string(),
                format!("{mrr_at_10:.4}"),
                format!("{recall_at_10:.4}"),
                full_coverage_at_10.to_string(),
            ]);
        }
    }
    csv(table.iter().map(|row| row.iter().map(String::as_str)))
}

/// Returns the held-out queries as a dataset of `skillmux eval`, but for translations.
fn dataset(held_out: &[QueryScores]) -> String {
    let row = |scores: &QueryScores| {
        let kind = if scores.is_long { "long" } else { "short" };
        let row = serde_json::json!({
            "task_id": id_of(&scores.query),
            "query": scores.query,
            "skills": scores.right,
            "kind": kind,
            "lang": if scores.is_spaceless { "zh" } else { "other" },
        });
        format!("{row}\n")
    };
    let is_query = |scores: &&QueryScores| scores.across != Some(Across::Description);
    held_out.iter().filter(is_query).map(row).collect()
}

/// Returns a short name for a query: prompts of others are not ours to publish.
fn id_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..12].to_owned()
}
