//! What the tests of this module work with.

use std::{error::Error as _, path::Path};

use skillmux::{
    index::{Index, UpdateOptions},
    library::Library,
    skill::{Skill, SkillId},
};
use tempfile::TempDir;

use super::work::WorkOptions;
use crate::split::{Fold, RankerShare, key_of_name};

/// Returns a skill whose name is the last part of its id.
pub(super) fn skill(id: &str, description: &str, body: &str) -> Skill {
    Skill {
        id: SkillId::new(id),
        name: id.rsplit('/').next().unwrap_or(id).to_owned(),
        description: description.to_owned(),
        body: body.to_owned(),
        source: "tests".to_owned(),
    }
}

/// Returns words that begin alike, none of which stands in another text of this kind.
pub(super) fn words(begin: &str, n_words: usize) -> String {
    let words: Vec<String> = (0..n_words).map(|n| format!("{begin}x{n}")).collect();
    words.join(" ")
}

/// Returns a name that begins so, and is held out from the ranker or not.
pub(super) fn name_on_side(begin: &str, is_held_out: bool) -> String {
    let mut names = (0..).map(|n| format!("{begin}-n{n}"));
    let is_on_side = |name: &String| {
        let fold = RankerShare::of_name(key_of_name(name)).fold;
        (fold == Fold::HeldOut) == is_held_out
    };
    names.find(is_on_side).unwrap()
}

/// Returns an index of skills, and the folder that it goes away with.
pub(super) fn index_of(skills: &[Skill]) -> (TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for Skill { id, name, description, body, source } in skills {
        let line = serde_json::json!({
            "skill_id": id, "name": name, "description": description, "body": body, "source": source,
        });
        lines += &line.to_string();
        lines.push('\n');
    }
    if skills.is_empty() {
        // An index holds one skill at least; this one says nothing.
        lines += "{\"skill_id\":\"none\",\"name\":\"none\",\"body\":\"none\"}\n";
    }
    let shard = folder.path().join("skills.jsonl");
    std::fs::write(&shard, lines).unwrap();
    let path = folder.path().join("index");
    let library = Library::open([&shard]).unwrap();
    Index::update(&path, &library, &UpdateOptions::default(), &mut |_| ()).unwrap();
    let index = Index::open(&path).unwrap();
    (folder, index)
}

/// Returns options for some rows, one request at a time.
pub(super) fn work_options(n_rows: usize, out: &Path) -> WorkOptions<'_> {
    WorkOptions {
        out,
        n_rows,
        seed: 1,
        n_parallel: 1,
        max_attempts: 3,
        model_name: "small",
        is_final: &|error| error.source().is_some_and(|source| source.to_string() == "final"),
        on_row: &|_| (),
    }
}
