//! `skillmux doctor`: every problem that is planted is found, and nothing else.

use std::fs;

use serde_json::{Value, json};

use crate::home::{Done, Home};

/// The folders of each agent, strongest first, as its documentation names them. What differs from
/// `profiles/` is a change of what users are told.
const PRECEDENCE: [(&str, &str, &[&str]); 7] = [
    ("claude-code", ".claude", &[".claude/skills", "project/.claude/skills"]),
    (
        "codex",
        ".codex",
        &["project/.agents/skills", "project/.codex/skills", ".agents/skills", ".codex/skills"],
    ),
    (
        "gemini-cli",
        ".gemini",
        &[
            "project/.agents/skills",
            "project/.gemini/skills",
            ".agents/skills",
            ".gemini/skills",
            ".gemini/extensions",
        ],
    ),
    (
        "openclaw",
        ".openclaw",
        &["project/skills", "project/.agents/skills", ".agents/skills", ".openclaw/skills"],
    ),
    (
        "copilot",
        ".copilot",
        &[
            "project/.github/skills",
            "project/.agents/skills",
            "project/.claude/skills",
            ".copilot/skills",
            ".agents/skills",
        ],
    ),
    (
        "cursor",
        ".cursor",
        &[
            "project/.cursor/skills",
            "project/.agents/skills",
            "project/.claude/skills",
            ".cursor/skills",
            ".agents/skills",
            ".claude/skills",
        ],
    ),
    (
        "opencode",
        ".config/opencode",
        &[
            "project/.opencode/skills",
            "project/.opencode/skill",
            "project/.claude/skills",
            "project/.agents/skills",
            ".config/opencode/skills",
            ".config/opencode/skill",
            ".opencode/skills",
            ".opencode/skill",
            ".claude/skills",
            ".agents/skills",
        ],
    ),
];

/// A home in which one agent is installed.
fn home_of(folder: &str) -> Home {
    let home = Home::new();
    fs::create_dir_all(home.path(folder)).unwrap();
    home
}

fn report(home: &Home, agent: &str) -> (Done, Value) {
    let done = home.run(&["doctor", "--agent", agent, "--format", "json"]);
    let report: Value = serde_json::from_str(&done.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", done.stdout, done.stderr));
    let report = report["agents"][0].clone();
    (done, report)
}

/// The problems, each as its kind and its file relative to the home folder, sorted.
fn problems(home: &Home, report: &Value) -> Vec<(String, String)> {
    let root = format!("{}/", home.path("").display().to_string().trim_end_matches('/'));
    let text = |value: &Value| value.as_str().unwrap().replace(&root, "");
    let problems = report["problems"].as_array().unwrap().iter();
    let mut problems: Vec<_> =
        problems.map(|problem| (text(&problem["problem"]), text(&problem["path"]))).collect();
    problems.sort();
    problems
}

fn pair(kind: &str, path: &str) -> (String, String) {
    (kind.to_owned(), path.to_owned())
}

#[test]
fn the_strongest_folder_of_each_agent_wins() {
    for (agent, installed, folders) in PRECEDENCE.into_iter().filter(|it| it.0 != "codex") {
        let home = home_of(installed);
        for (at, folder) in folders.iter().enumerate() {
            home.write_skill(&format!("{folder}/tea"), "tea", &format!("Tea, way {at}"), "Boil.");
        }
        let (done, report) = report(&home, agent);
        assert_eq!(done.code, 1, "{agent}");
        let strongest = home.path(folders[0]).join("tea/SKILL.md").display().to_string();
        let expected: Vec<Value> = folders[1..]
            .iter()
            .map(|folder| {
                let path = home.path(folder).join("tea/SKILL.md").display().to_string();
                json!({"problem": "shadowed", "name": "tea", "path": path, "by": strongest})
            })
            .collect();
        assert_eq!(report["problems"], Value::Array(expected), "{agent}");
        assert_eq!(report["n_listed"], 1, "{agent}");
        assert_eq!(report["folders"].as_array().unwrap().len(), folders.len(), "{agent}");
    }
}

#[test]
fn codex_lists_all_skills_of_one_name() {
    let (agent, installed, folders) = PRECEDENCE.into_iter().find(|it| it.0 == "codex").unwrap();
    let home = home_of(installed);
    for (at, folder) in folders.iter().enumerate() {
        home.write_skill(&format!("{folder}/tea"), "tea", &format!("Tea, way {at}"), "Boil.");
    }
    let (done, report) = report(&home, agent);
    assert_eq!((done.code, problems(&home, &report)), (0, vec![]));
    assert_eq!((&report["n_skills"], &report["n_listed"]), (&json!(4), &json!(4)));
    assert_eq!(report["folders"].as_array().unwrap().len(), folders.len());
}

#[test]
fn every_planted_problem_is_found_and_nothing_else() {
    for (agent, installed, folders) in PRECEDENCE {
        let home = home_of(installed);
        let (strong, weak) = (folders[0], folders[folders.len() - 1]);
        home.write_skill(&format!("{strong}/tea"), "tea", "How to brew tea", "Boil water.");
        home.write_skill(&format!("{weak}/mug"), "mug", "How to wash a mug", "Use soap.");
        // A name that differs from the folder is no problem of the agent's.
        home.write_skill(&format!("{weak}/cups"), "cup", "How to dry a cup", "Use a towel.");
        assert_eq!(problems(&home, &report(&home, agent).1), [], "{agent}");

        home.write_skill(&format!("{weak}/tea"), "tea", "How to plant tea", "Dig.");
        home.write_skill(&format!("{weak}/copy"), "brew", "How to brew tea", "Boil water.");
        home.write_skill(&format!("{weak}/twin/tea"), "tea", "How to brew tea", "Boil water.");
        let manual =
            "---\nname: push\ndescription: Push\ndisable-model-invocation: true\n---\nGo.\n";
        home.write(&format!("{strong}/push/SKILL.md"), manual);
        for (name, text) in [
            ("bare", "# No front matter\n\nText.\n"),
            ("colon", "---\nname: colon\ndescription: a: b: c\n---\nText.\n"),
            ("nameless", "---\ndescription: d\n---\nText.\n"),
            ("silent", "---\nname: silent\n---\nText.\n"),
            ("empty", ""),
            ("binary", "\0"),
        ] {
            home.write(&format!("{strong}/{name}/SKILL.md"), text);
        }
        let (done, report) = report(&home, agent);
        assert_eq!(done.code, 1, "{agent}: {}", done.stderr);
        let broken = ["bare", "binary", "colon", "empty", "nameless", "silent"]
            .map(|name| pair("broken", &format!("{strong}/{name}/SKILL.md")));
        let others = [
            pair("duplicate", &format!("{weak}/copy/SKILL.md")),
            pair("duplicate", &format!("{weak}/twin/tea/SKILL.md")),
            pair("for_user_only", &format!("{strong}/push/SKILL.md")),
        ];
        // In Codex, names do not collide.
        let shadowed = pair("shadowed", &format!("{weak}/tea/SKILL.md"));
        let shadowed = (agent != "codex").then_some(shadowed);
        let expected: Vec<_> = broken.into_iter().chain(others).chain(shadowed).collect();
        assert_eq!(problems(&home, &report), expected, "{agent}");
        assert_eq!(report["n_listed"], if agent == "codex" { 6 } else { 4 }, "{agent}");
    }
}

#[test]
fn the_list_of_each_agent_is_filled_as_it_does_it() {
    let described = |folder: &str, n_skills: usize, n_chars: usize| {
        let home = home_of(folder);
        for at in 0..n_skills {
            let folder = format!("{folder}/skills/s{at:03}");
            let description = format!("{at:03}{}", "d".repeat(n_chars - 3));
            home.write_skill(&folder, &format!("s{at:03}"), &description, &format!("Do {at}."));
        }
        home
    };
    let kinds = |home: &Home, agent: &str| {
        let (_, report) = report(home, agent);
        let kinds = problems(home, &report);
        (report["n_listed"].as_u64().unwrap(), kinds)
    };
    // 8,000 characters: seven lines of 5 + 4 + 1,000, and then three skills too many.
    let (n_listed, dropped) = kinds(&described(".claude", 10, 1000), "claude-code");
    let names = ["s007", "s008", "s009"];
    let expected = names.map(|name| pair("name_only", &format!(".claude/skills/{name}/SKILL.md")));
    assert_eq!((n_listed, dropped), (10, expected.to_vec()));
    // Descriptions of more than 1,536 characters are cut.
    let (n_listed, cut) = kinds(&described(".claude", 1, 1600), "claude-code");
    assert_eq!((n_listed, cut), (1, vec![pair("shortened", ".claude/skills/s000/SKILL.md")]));
    // Codex cuts all descriptions to one length.
    let (n_listed, cut) = kinds(&described(".codex", 10, 1000), "codex");
    assert_eq!((n_listed, cut.len()), (10, 10));
    assert!(cut.iter().all(|(kind, _)| kind == "shortened"), "{cut:?}");
    let done = described(".codex", 10, 1000).run(&["doctor"]);
    assert!(done.stdout.contains("hint: `skillmux compile --agent codex`"), "{}", done.stdout);
    // OpenClaw lists 150 skills.
    let (n_listed, dropped) = kinds(&described(".openclaw", 151, 5), "openclaw");
    let expected = vec![pair("dropped", ".openclaw/skills/s150/SKILL.md")];
    assert_eq!((n_listed, dropped), (150, expected));
    // The others are not known to have a limit.
    assert_eq!(kinds(&described(".cursor", 160, 300), "cursor"), (160, vec![]));
}

#[test]
fn without_a_problem_the_exit_code_is_zero_and_nothing_is_written() {
    let home = home_of(".claude");
    home.write_skill(".claude/skills/tea", "tea", "How to brew tea", "Boil water.");
    home.write_skill(".claude/plugins/cache/m/p/1.0/skills/tea", "tea", "Tea of a plugin", "Boil.");
    let done = home.run(&["doctor"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(done.stdout.contains("Claude Code · 1 skill,"), "{}", done.stdout);
    let note = "installed_plugins.json is not there; no plugin is read";
    assert!(done.stdout.contains(note), "{}", done.stdout);
    assert!(done.stdout.contains("no problem with its skills"), "{}", done.stdout);
    assert!(!home.path("cache").exists() && !home.path(".local").exists());
    Home::new().run(&["doctor"]).assert_error("no agent is installed", "claude-code");
}

#[test]
fn an_index_in_the_place_of_the_agents_skills_is_told() {
    let home = home_of(".claude");
    home.write_skill(".claude/skills/tea", "tea", "How to brew tea", "Boil water.");
    home.write_skill("mine/coffee", "coffee", "How to brew coffee", "Boil water.");
    let mine = home.path("mine").display().to_string();
    let elsewhere = home.run(&["index", &mine, "--transformer", "never", "--index", &home.index()]);
    assert_eq!((elsewhere.code, elsewhere.stderr.as_str()), (0, ""));
    assert_eq!(report(&home, "claude-code").0.code, 0);
    assert!(!home.run(&["doctor"]).stdout.contains("the default index"));

    let done = home.run(&["index", &mine, "--transformer", "never"]);
    assert!(done.stderr.contains("no longer from the skills of your agents"), "{}", done.stderr);
    let doctor = home.run(&["doctor"]).stdout;
    assert!(doctor.contains("the default index with 1 skill,"), "{doctor}");
    let path = home.path("data/skillmux/index");
    assert!(doctor.contains(&format!("remove `{}`", path.display())), "{doctor}");
    let json = home.run(&["doctor", "--format", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["own_index"], json!({"path": path, "n_skills": 1}));
    fs::write(path.join("CURRENT"), "garbage").unwrap();
    home.run(&["search", "brew tea"]).assert_error("is corrupt", "go back to it with");
    fs::remove_dir_all(path).unwrap();
    assert!(home.run(&["search", "brew tea"]).stdout.contains("tea"));
}

#[test]
fn a_file_of_the_settings_that_cannot_be_read_is_a_problem() {
    let home = home_of(".claude");
    let unread = || {
        let done = home.run(&["doctor", "--format", "json"]);
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        let all = report["unread_files"].as_array().unwrap().clone();
        let all = all.iter().map(|file| {
            let path = file["path"].as_str().unwrap().rsplit("skillmux/").next().unwrap();
            format!("{} {path}", file["setting"].as_str().unwrap())
        });
        (done.code, all.collect::<Vec<_>>())
    };
    assert_eq!(unread(), (0, vec![]));
    let settings = "[models]\nencoder = \"encoder.bin\"\nreranker = \"./reranker\"\n\
                    transformer = \"net\"\nranker = \"ranker.json\"\nabstention = \"folder\"\n\
                    [trust]\nsarif = [\"scan.sarif\", \"other.sarif\"]\n";
    home.write(".config/skillmux/settings.toml", settings);
    for name in ["folder/a", "other.sarif", "net/vocabulary.txt", "net/layers.safetensors"] {
        home.write(&format!(".config/skillmux/{name}"), "");
    }
    let expected = [
        "models.encoder encoder.bin",
        "models.reranker ./reranker",
        "models.transformer net/embeddings.safetensors",
        "models.ranker ranker.json",
        "models.abstention folder",
        "trust.sarif scan.sarif",
    ];
    assert_eq!(unread(), (1, expected.map(str::to_owned).to_vec()));
    let text = home.run(&["doctor"]).stdout;
    assert!(text.contains("6 cannot be read: files or folders that the settings file"), "{text}");
    let path = home.path(".config/skillmux/ranker.json").display().to_string();
    assert!(text.contains(&format!("models.ranker: {path}: No such file")), "{text}");

    home.write(".config/skillmux/settings.toml", "[models]\nencoder = \"http://localhost:1\"\n");
    assert_eq!(unread(), (0, vec![]));
}

#[test]
fn skills_of_plugins_that_are_on_are_checked() {
    let home = home_of(".claude");
    let root = home.path(".claude/plugins/cache/m/p/1.0");
    home.write_skill(".claude/plugins/cache/m/p/1.0/skills/tea", "tea", "How to brew tea", "Boil.");
    home.write(".claude/plugins/cache/m/p/1.0/skills/bad/SKILL.md", "No front matter.\n");
    let installed = json!({"plugins": {
        "p@m": {"installPath": root},
        "q@m": {"installPath": home.path(".claude/plugins/cache/m/q/1.0")},
    }});
    home.write(".claude/plugins/installed_plugins.json", installed.to_string());
    home.write(".claude/settings.json", r#"{"enabledPlugins": {"p@m": true}}"#);
    let (done, report) = report(&home, "claude-code");
    assert_eq!(done.code, 1);
    let path = ".claude/plugins/cache/m/p/1.0/skills/bad/SKILL.md";
    assert_eq!(problems(&home, &report), [pair("broken", path)]);
    assert_eq!((&report["n_skills"], &report["n_of_plugins"]), (&json!(2), &json!(2)));
    let text = home.run(&["doctor"]).stdout;
    assert!(text.contains("2 skills (2 of plugins), about 1 in its list"), "{text}");
    assert!(text.contains("plugins: 1 on, 1 off and not read: q@m"), "{text}");
}

#[test]
fn the_text_shows_counts_and_the_first_of_each_kind() {
    let home = home_of(".claude");
    for at in 0..5 {
        home.write(&format!(".claude/skills/s{at}/SKILL.md"), format!("Text {at} without more.\n"));
    }
    let done = home.run(&["doctor"]);
    assert!(done.stdout.contains("5 broken: "), "{}", done.stdout);
    assert!(done.stdout.contains("... and 2 more (--all)"), "{}", done.stdout);
    let all = home.run(&["doctor", "--all"]).stdout;
    assert_eq!(all.matches("/SKILL.md: no front matter").count(), 5, "{all}");
    // The home folder as the project: no folder counts twice.
    let mut command = home.command(&["doctor"]);
    let at_home: Done = command.current_dir(home.path("")).output().unwrap().into();
    assert_eq!(at_home.stdout, done.stdout);
}

#[cfg(unix)]
#[test]
fn links_between_folders_are_one_skill_and_links_elsewhere_are_told() {
    use std::os::unix::fs::symlink;

    let home = home_of(".cursor/skills");
    home.write_skill(".agents/skills/tea", "tea", "How to brew tea", "Boil water.");
    symlink("../../.agents/skills/tea", home.path(".cursor/skills/tea")).unwrap();
    assert_eq!(report(&home, "cursor").0.code, 0);
    home.write_skill("elsewhere/mug", "mug", "How to wash a mug", "Use soap.");
    symlink("../../elsewhere/mug", home.path(".cursor/skills/mug")).unwrap();
    let (_, report) = report(&home, "cursor");
    assert_eq!(problems(&home, &report), [pair("not_read", ".cursor/skills/mug")]);
}

#[test]
fn an_index_of_the_users_own_that_is_damaged_is_a_problem_among_others() {
    let home = home_of(".claude");
    home.write_skill(".claude/skills/tea", "tea", "How to brew tea", "Boil water.");
    let mine = home.path(".claude/skills").display().to_string();
    let done = home.run(&["index", &mine, "--transformer", "never"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    home.write("data/skillmux/index/CURRENT", "garbage");
    let done = home.run(&["doctor"]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("Claude Code"), "{}", done.stdout);
    assert!(done.stdout.contains("the default index cannot be used: "), "{}", done.stdout);
    let json = home.run(&["doctor", "--format", "json"]).stdout;
    let report: Value = serde_json::from_str(&json).unwrap();
    assert!(report["own_index_error"].as_str().unwrap().contains("corrupt"), "{report}");
}

#[test]
fn what_keeps_all_answers_back_is_a_problem() {
    let home = home_of(".claude");
    home.write_skill(".claude/skills/tea", "tea", "How to brew tea", "Boil water.");
    let broken = [
        (
            "data/skillmux/pins.json",
            "{\"version\":1,",
            "pins.json` holds no pins: ",
            "skillmux audit --pin",
        ),
        (
            ".config/skillmux/settings.toml",
            "[trust.skills]\n\"a[\" = \"trusted\"\n",
            "`a[`",
            "stands for a part",
        ),
    ];
    for (file, text, told, hint) in broken {
        assert_eq!(report(&home, "claude-code").0.code, 0);
        home.write(file, text);
        assert_eq!(home.run(&["search", "brew tea"]).code, 2, "{file}");
        let done = home.run(&["doctor"]);
        assert_eq!(done.code, 1, "{file}: {}", done.stderr);
        let line = done.stdout.lines().find(|line| line.starts_with("skillmux cannot tell whom"));
        assert!(line.is_some_and(|line| line.contains(told) && line.contains(hint)), "{line:?}");
        let json = home.run(&["doctor", "--format", "json"]).stdout;
        let json: Value = serde_json::from_str(&json).unwrap();
        assert!(json["trust_error"].as_str().unwrap().contains(told), "{json}");
        fs::remove_file(home.path(file)).unwrap();
    }
}
