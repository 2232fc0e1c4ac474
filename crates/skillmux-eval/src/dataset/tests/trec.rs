//! Queries with qrels.

use super::*;

#[test]
fn trec_joins_queries_and_qrels() {
    let dataset = open("trec");
    let seen: Vec<_> = dataset.tasks.iter().map(|task| (&*task.id, ids(&task.gold))).collect();
    assert_eq!(
        seen,
        [
            ("q 1", vec!["databases/postgres-query-tuning"]),
            ("q2", vec!["documents/pdf-form-filling"]),
            ("q3", vec![])
        ]
    );
    assert_eq!(dataset.n_unscored, 1);
    assert_eq!(dataset.tasks[0].gold.grade("databases/postgres-query-tuning"), 2);
    assert!(dataset.tasks[0].rejected.contains("databases/sqlite-schema-migration"));

    let options = DatasetOptions { unjudged: Unjudged::NoSkill, ..DatasetOptions::default() };
    let dataset = open_with("trec/queries.jsonl", options);
    assert_eq!((dataset.tasks.len(), dataset.n_unscored), (4, 0));
    assert!(dataset.tasks[3].needs_no_skill() && !dataset.tasks[2].needs_no_skill());

    let folder = tempfile::tempdir().unwrap();
    let queries = "{\"query_id\":\"q\",\"query\":\"x\"}\n{\"query_id\":\"r\",\"query\":\"y\"}";
    fs::write(folder.path().join("queries.jsonl"), queries).unwrap();
    let qrels = "q 0 right 1\nr 0 wrong 0\nother 0 right 1\nanother 0 wrong 0\n";
    fs::write(folder.path().join("qrels.trec"), qrels).unwrap();
    // Who loads the wrong skill can be told, even if it is not known which one is right.
    let dataset = Dataset::open(folder.path(), None, DatasetOptions::default()).unwrap();
    assert_eq!((dataset.tasks.len(), dataset.n_unscored, dataset.n_unasked), (2, 0, 2));
    assert!(dataset.tasks[1].rejected.contains("wrong") && !dataset.tasks[1].gold_is_known());

    let qrels = fixtures().join("qrels.trec");
    let options = DatasetOptions { qrels: Some(&qrels), ..options };
    let dataset = Dataset::open(&fixtures().join("tasks.jsonl"), None, options).unwrap();
    assert_eq!(dataset.tasks.len(), 60);
    assert_eq!(dataset.tasks.iter().filter(|task| task.needs_no_skill()).count(), 8);
}

#[test]
fn trec_says_what_is_wrong() {
    let query = r#"{"query_id":"q1","query":"q"}"#;
    let refused = |queries: &str, qrels: &str| {
        refusal(&[("queries.jsonl", queries), ("qrels.trec", qrels)], "", None)
    };
    assert_eq!(
        refused(query, "q1 0 a"),
        "cannot use `qrels.trec`: line 1 has 3 columns, but qrels has 4"
    );
    assert_eq!(
        refused(&format!("{query}\n{query}"), "q1 0 a 1"),
        "`queries.jsonl`, line 2: task `q1` occurs again"
    );
    assert_eq!(refused(query, "other 0 a 1"), "`FOLDER` has no task to score");
    assert_eq!(refused(query, ""), "`FOLDER` has no task to score");
    let alone = refusal(&[("queries.jsonl", query)], "queries.jsonl", None);
    assert_eq!(alone, "`FOLDER` has no `qrels.trec`");
}
