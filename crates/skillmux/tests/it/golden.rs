//! Indexes that earlier versions wrote still open.
//!
//! When the format rises, keep the folders of formats that are still read, remove the others,
//! and write the new one with `cargo run -p skillmux --example write_golden`.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use skillmux::{
    index::{FORMAT_VERSION, Index},
    query::Query,
    retrieve::{DenseRetriever, RetrieveRequest, Retriever},
    route::{RouteOptions, Router},
    skill::SkillId,
};

use crate::rankers::encoder;

fn golden() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(format!("format-{FORMAT_VERSION}"))
}

/// Returns every path below a folder with its size and time of change.
fn state(folder: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.metadata().unwrap();
        if path.is_dir() {
            found.extend(state(&path));
        }
        found.push((path, metadata.len(), metadata.modified().unwrap()));
    }
    found.sort();
    found
}

#[test]
fn an_index_of_this_format_opens_and_answers_and_is_not_written_to() {
    let path = golden();
    let before = state(&path);
    let index = Index::open(&path).unwrap();
    index.verify().unwrap();
    let ids: Vec<SkillId> = index.ids().map(Result::unwrap).collect();
    assert_eq!(ids, ["docs/pdf-forms", "git/changelog", "zh/fapiao"].map(SkillId::new));

    let dense = DenseRetriever::new(encoder());
    let query = Query::new("整理发票").unwrap();
    let found = dense.retrieve(&RetrieveRequest { index: &index, query: &query, named: &[], k: 1 });
    assert_eq!(found.unwrap()[0].skill, SkillId::new("zh/fapiao"));

    let router = Router::open(&path).unwrap();
    let loaded = |task: &str| {
        let query = Query::new(task).unwrap();
        let route = router.route(&query, &RouteOptions::default()).unwrap();
        assert!(!route.pages[0].nodes.is_empty());
        route.steps[0].skills[0].id.to_string()
    };
    assert_eq!(loaded("fill in this PDF form"), "docs/pdf-forms");
    assert_eq!(loaded("write the changelog of the release"), "git/changelog");
    assert_eq!(loaded("整理发票，填写报销单"), "zh/fapiao");
    assert_eq!(state(&path), before);
}
