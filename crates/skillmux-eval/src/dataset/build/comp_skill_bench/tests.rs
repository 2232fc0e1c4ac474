use super::*;
use crate::dataset::{Dataset, DatasetOptions};

/// A list with servers under every heading of the map.
fn list() -> String {
    let mut text = "# List\n\n## Server Implementations\n".to_owned();
    for (h, heading) in Assets::built_in().headings.keys().enumerate() {
        let _ = write!(text, "\n### {heading}\n\n");
        for n in 0..6 {
            let name = format!("own{h}/tool-{h}-{n}");
            let _ = writeln!(
                text,
                "- [{name}](https://github.com/{name}) - Invented server {n} of heading {h}."
            );
        }
    }
    text.push_str(
        "\n### Something New\n\n- [own/new](https://github.com/own/new) - Not in the map.\n",
    );
    text
}

fn built_from(text: &str, seed: u64) -> Result<CompSkillBench, Error> {
    build_with(text, &Assets::built_in(), seed)
}

fn build_with(text: &str, assets: &Assets, seed: u64) -> Result<CompSkillBench, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("README.md");
    fs::write(&path, text).unwrap();
    build(listed(&path)?, assets, seed)
}

#[test]
fn the_assets_fit_together() {
    let assets = Assets::built_in();
    let known: BTreeSet<&str> = CATEGORIES.iter().map(|(name, _)| *name).collect();
    let mapped: BTreeSet<&str> = assets.headings.values().map(String::as_str).collect();
    assert_eq!(mapped, known);
    let phrased: BTreeSet<&str> = assets.phrases.keys().map(String::as_str).collect();
    assert_eq!(phrased, known);
    assert_eq!(CATEGORIES.iter().map(|(_, n)| n).sum::<usize>(), 2209);
    let phrases: Vec<&String> = assets.phrases.values().flatten().collect();
    assert_eq!(phrases.iter().collect::<BTreeSet<_>>().len(), phrases.len());
    for line in HUMAN.lines() {
        let task: serde_json::Value = serde_json::from_str(line).unwrap();
        for step in task["steps"].as_array().unwrap() {
            assert!(known.contains(step["category"].as_str().unwrap()), "{line}");
        }
    }
    assert_eq!(HUMAN.lines().count(), 120);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let list = list();
    let first = built_from(&list, 1).unwrap();
    assert_eq!(first.files(), built_from(&list, 1).unwrap().files());
    assert_ne!(first.tasks, built_from(&list, 2).unwrap().tasks);
    // Whoever changes a phrase, a template or the order of draws makes another benchmark.
    let tasks = &first.files()[0].1;
    assert_eq!(blake3::hash(tasks.as_bytes()).to_hex()[..16], *"40aebb7fbfcb9eeb");
}

#[test]
fn queries_are_as_the_paper_says() {
    let bench = built_from(&list(), 42).unwrap();
    assert_eq!(bench.tasks.len(), 300);
    let n_of = |difficulty| bench.tasks.iter().filter(|task| task.difficulty == difficulty).count();
    assert_eq!([Difficulty::Easy, Difficulty::Medium, Difficulty::Hard].map(n_of), [150, 100, 50]);
    let ids: BTreeSet<_> = bench.tasks.iter().map(|task| &task.task_id).collect();
    let queries: BTreeSet<_> = bench.tasks.iter().map(|task| &task.query).collect();
    assert_eq!((ids.len(), queries.len()), (300, 300));
    let mut seen = BTreeSet::new();
    for task in &bench.tasks {
        let n_steps = task.steps.len();
        assert!(match task.difficulty {
            Difficulty::Easy => n_steps == 2,
            Difficulty::Medium => n_steps == 3,
            Difficulty::Hard => n_steps == 4 || n_steps == 5,
        });
        let categories: BTreeSet<_> = task.steps.iter().map(|step| &step.category).collect();
        assert_eq!(categories.len(), n_steps);
        assert!(!task.query.contains(['{', '}']), "{}", task.query);
        let lower = task.query.to_lowercase();
        let mut from = 0;
        for step in &task.steps {
            assert_eq!(bench.categories[&step.skill_id], step.category);
            from += lower[from..].find(&step.subtask).expect("phrases stand in order");
            seen.insert(step.category.clone());
        }
    }
    // Each category takes its turn.
    assert_eq!(seen.len(), 24);
    assert_eq!(bench.unmapped["Something New"], 1);
    assert!(!bench.categories.contains_key("own/new"));
}

#[test]
fn phrases_that_name_every_skill_give_too_few_queries() {
    let mut assets = Assets::built_in();
    assets.phrases.values_mut().for_each(|phrases| *phrases = vec![String::new()]);
    for (h, category) in assets.headings.values().enumerate() {
        let phrase = &mut assets.phrases.get_mut(category).unwrap()[0];
        for n in 0..6 {
            let _ = write!(phrase, "tool-{h}-{n} ");
        }
    }
    let error = build_with(&list(), &assets, 1).unwrap_err();
    assert!(matches!(error, Error::TooFewQueries { found: 0, needed: 300 }), "{error}");
}

#[test]
fn undescribed_and_repeated_servers_are_no_answers() {
    let list = list().replacen(
        "\n### Databases\n\n",
        "\n### Databases\n\n\
         - [own/short](https://github.com/own/short) - Too short.\n\
         - [own/badge](https://github.com/own/badge) [![b](https://x.org/b.svg)](https://x.org)\n\
         - [Own/Tool_4-2](https://github.com/own/again) - The name of another, in other letters.\n\
         - [own/tool-42](https://github.com/own/tool-42) - And the same name once more, alas.\n",
        1,
    );
    let bench = built_from(&list, 3).unwrap();
    assert_eq!(bench.n_extracted, 6 * 48 + 1 + 4);
    assert_eq!(bench.n_extracted - bench.n_described, 2);
    assert_eq!(bench.n_described - bench.n_distinct, 1);
    let databases = bench.counts.iter().find(|count| count.category == "databases").unwrap();
    assert_eq!((databases.n_listed, databases.n_kept), (10, 7));
    assert_eq!(bench.categories["own/short"], "databases");
    let gold: BTreeSet<_> =
        bench.tasks.iter().flat_map(|task| &task.steps).map(|step| &*step.skill_id).collect();
    assert!(!gold.contains("own/short") && !gold.contains("own/badge"));
}

#[test]
fn no_query_names_its_skills() {
    // Every second server is named like a word of a phrase.
    let mut list = list();
    for (h, word) in [(0, "portal"), (1, "orbit"), (2, "report"), (3, "table"), (4, "find")] {
        list = list.replace(&format!("tool-{h}-1"), word);
        list = list.replace(&format!("tool-{h}-2"), &format!("{word}-mcp-server"));
    }
    let bench = built_from(&list, 5).unwrap();
    for task in &bench.tasks {
        let words = words(&task.query);
        for step in &task.steps {
            let name = step.skill_id.rsplit('/').next().unwrap();
            assert!(!is_named(name, &words), "{name}: {}", task.query);
        }
    }
    assert!(is_named("open-page", &words("Open page two.")));
    assert!(is_named("mcp-server-find", &words("find it")));
    assert!(!is_named("mcp-server", &words("start it")));
    assert!(!is_named("op", &words("open it")));
}

#[test]
fn what_is_written_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let bench = built_from(&list(), 42).unwrap();
    bench.write(folder.path()).unwrap();
    let dataset = Dataset::open(folder.path(), None, DatasetOptions::default()).unwrap();
    assert_eq!((dataset.tasks.len(), dataset.categories.len()), (300, 6 * 48));
    assert_eq!(dataset.tasks[0].order, {
        let steps = &bench.tasks[0].steps;
        steps.iter().map(|step| step.skill_id.clone()).collect::<Vec<_>>()
    });
    let human = folder.path().join("human.jsonl");
    let human = Dataset::open(&human, None, DatasetOptions::default()).unwrap();
    assert_eq!(human.tasks.len(), 120);
    let n_chinese = human.tasks.iter().filter(|task| task.slices["lang"] == "zh").count();
    assert_eq!(n_chinese, 20);
}

#[test]
fn a_short_list_is_refused() {
    let refused = built_from("# L\n\n- [a/b](https://github.com/a/b) - x\n", 1).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "only 0 categories have 5 skills and a phrase, but a query takes 5"
    );
}
