//! Tasks in Chinese find skills in English.

use serde_json::Value;

use crate::home::Home;

fn found(home: &Home, task: &str) -> Vec<String> {
    let done = home.ask(&["search", task, "--format", "json", "-k", "3"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let found: Value = serde_json::from_str(&done.stdout).unwrap();
    let ids = found.as_array().unwrap().iter().map(|skill| skill["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

#[test]
fn a_chinese_task_finds_an_english_skill_by_words_that_the_skill_has() {
    let home = Home::new();
    let skill = |id: &str, about: &str, body: &str| {
        serde_json::json!({"skill_id": id, "name": id, "description": about, "body": body})
            .to_string()
    };
    let library = [
        skill(
            "queue-broker",
            "Set up a message broker for background jobs",
            "Install it and add queues.",
        ),
        skill(
            "slow-queries",
            "Find slow database queries and add the right index",
            "Read the plan.",
        ),
        skill("album-covers", "Draw covers for music albums", "Ask for the mood first."),
    ]
    .join("\n");
    let library = home.write("library.jsonl", library + "\n");
    let index = home.ask(&["index", &library]);
    assert_eq!(index.code, 0, "{}", index.stderr);
    assert_eq!(found(&home, "数据库查询太慢了，帮我看看索引")[0], "slow-queries");
    assert_eq!(found(&home, "给我的新专辑画个封面，音乐是爵士")[0], "album-covers");
}
