//! What goes wrong, and what the user reads about it.

use std::fs;

use crate::home::{Done, Home, library};

const TASK: &str = "clean a messy CSV file";

#[test]
fn a_task_without_words_is_refused() {
    let home = Home::with_index();
    for task in ["", "  ", "\n\t"] {
        home.ask(&["route", task]).assert_error("the task is empty", "say in a sentence");
    }
    let file = home.write("task.txt", "\n");
    home.ask(&["search", "--file", &file]).assert_error("the task is empty", "say in a sentence");
    let arguments = ["route", "--index", &home.index()];
    let done = home.run_with_input(&arguments, b"");
    done.assert_error("the task is empty", "say in a sentence");
}

#[test]
fn a_slip_in_a_command_says_what_was_meant() {
    let home = Home::with_index();
    let done = home.run(&["merge", "these", "pdfs"]);
    done.assert_error("unrecognized subcommand 'merge'", "for a task: skillmux route");
    let nested = home.run(&["train", "these"]);
    assert!(nested.code == 2 && !nested.stderr.contains("hint:"), "{}", nested.stderr);
    home.ask(&["route", "-", TASK])
        .assert_error("other words stand beside it", "leave the words out");
    assert_eq!(home.ask(&["route", TASK, "--k", "1"]).code, 0);
    let done = home.ask(&["route", TASK, "-k", "-1"]);
    assert!(done.stderr.contains("-1 is not in 1..=100"), "{}", done.stderr);
    let done = home.ask(&["page", "data/csv-cleaning", TASK, "--budget", "-1"]);
    assert!(done.stderr.contains("invalid value '-1' for '--budget <TOKENS>'"), "{}", done.stderr);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_text_is_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    let home = Home::new();
    let done: Done = home.command(&[]).arg(OsStr::from_bytes(b"rout\xff")).output().unwrap().into();
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
}

#[test]
fn a_task_of_a_megabyte_is_refused_in_any_script() {
    let home = Home::with_index();
    for text in ["x ".repeat(1 << 19), "表格".repeat(1 << 18), format!("a{}", "表".repeat(1 << 18))]
    {
        let (message, hint) = ("but the limit is 262144", "without attached files");
        let file = home.write("task.txt", &text);
        let whole = format!("the task is {} bytes, {message}", text.len());
        home.ask(&["route", "--file", &file]).assert_error(&whole, hint);
        let arguments = ["search", "--index", &home.index()];
        home.run_with_input(&arguments, text.as_bytes()).assert_error(message, hint);
    }
}

#[test]
fn a_task_that_cannot_be_read_is_refused() {
    let home = Home::with_index();
    let missing = home.path("missing.txt").display().to_string();
    home.ask(&["route", "--file", &missing]).assert_error("cannot read `", "name a file");
    let binary = home.write("task.bin", b"clean \xff\xfe a file");
    home.ask(&["route", "--file", &binary]).assert_error("cannot read `", "UTF-8");
}

#[test]
fn a_missing_index_comes_with_the_command_that_makes_one() {
    let home = Home::new();
    let hint = format!("skillmux index SOURCE... --index {}", home.index());
    for arguments in [&["route", TASK][..], &["page", "a"], &["stats"], &["search", TASK]] {
        home.ask(arguments).assert_error("no index at `", &hint);
    }
    home.ask(&["index", "--restore"]).assert_error("no index at `", &hint);
    assert!(!home.path("index").exists());
}

#[test]
fn a_folder_of_something_else_is_refused_and_untouched() {
    let home = Home::new();
    home.write("index/notes.txt", "mine");
    home.ask(&["index", &library()]).assert_error("is not a skillmux index", "choose an empty");
    home.ask(&["route", TASK]).assert_error("is not a skillmux index", "--library FOLDER");
    home.ask(&["index", "--restore"])
        .assert_error("is not a skillmux index", "`skillmux index` made");
    assert_eq!(fs::read_dir(home.path("index")).unwrap().count(), 1);
}

#[test]
fn an_index_of_another_format_is_replaced_by_a_rebuild() {
    let home = Home::with_index();
    let manifest = home.path("index/gen-000002/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let format = format!("\"format\": {},", skillmux::index::FORMAT_VERSION);
    let text = text.replace(&format, "\"format\": 999,");
    fs::write(&manifest, &text).unwrap();
    let current = format!("gen-000002 {}\n", blake3::hash(text.as_bytes()).to_hex());
    home.write("index/CURRENT", current);
    home.ask(&["route", TASK]).assert_error("has format 999", "--rebuild");
    home.ask(&["index", &library()]).assert_error("has format 999", "--rebuild");
    assert_eq!(home.ask(&["index", &library(), "--rebuild"]).code, 0);
    assert_eq!(home.ask(&["route", TASK]).code, 0);
}

#[test]
fn a_damaged_index_is_told_and_restored() {
    let home = Home::with_index();
    home.write_skill("more/tea", "tea", "How to brew tea", "Boil the water first.");
    let more = home.path("more").display().to_string();
    assert_eq!(home.ask(&["index", &library(), &more]).code, 0);
    fs::remove_file(home.path("index/gen-000004/skills.bin")).unwrap();
    home.ask(&["route", TASK]).assert_error(
        "generation 4 of the index",
        &format!("skillmux index --restore --index {}", home.index()),
    );
    let done = home.ask(&["index", "--restore"]);
    assert_eq!(done.code, 0);
    assert!(done.stdout.contains("is at generation 2 again"), "{}", done.stdout);
    assert_eq!(home.ask(&["route", TASK]).code, 0);
    let done = home.ask(&["index", "--restore"]);
    done.assert_error("has no earlier generation to go back to", "can be used as it is");
    fs::remove_file(home.path("index/gen-000002/skills.bin")).unwrap();
    let done = home.ask(&["index", "--restore"]);
    done.assert_error("no earlier generation of the index", "--rebuild");
}

#[test]
fn a_restore_is_told_in_json() {
    let home = Home::new();
    for name in ["tea", "mug"] {
        home.write_skill(&format!("lib/{name}"), name, &format!("About a {name}"), "Wash it.");
        let library = home.path("lib").display().to_string();
        assert_eq!(home.ask(&["index", &library, "--transformer", "never"]).code, 0);
    }
    let done = home.ask(&["index", "--restore", "--format", "json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let restored: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(restored, serde_json::json!({ "index": home.index(), "generation": 1 }));
}

#[test]
fn skills_of_agents_that_cannot_be_read_are_told_once() {
    let home = Home::new();
    home.write_skill(".claude/skills/tea", "tea", "How to brew tea", "Boil the water first.");
    fs::create_dir(home.path(".claude/skills/cup")).unwrap();
    fs::write(home.path(".claude/skills/cup/SKILL.md"), b"caf\xe9").unwrap();
    let note = || {
        let stderr = home.run(&["search", TASK]).stderr;
        stderr.lines().find(|line| line.contains("skipped")).map(str::to_owned)
    };
    let first = note().unwrap();
    assert!(first.starts_with("note: skipped 1 of 2: "), "{first}");
    assert!(first.ends_with("`skillmux doctor` lists all"), "{first}");
    assert_eq!(note(), None);
}

#[cfg(unix)]
#[test]
fn links_that_are_passed_over_are_told() {
    use std::os::unix::fs::symlink;

    let home = Home::new();
    for folder in ["lib/tea", ".claude/skills/tea", "elsewhere/a", "elsewhere/b"] {
        home.write_skill(folder, "tea", "How to brew tea", "Boil the water first.");
    }
    for (link, target) in [("lib/a", "a"), ("lib/b", "b"), (".claude/skills/a", "a")] {
        symlink(home.path("elsewhere").join(target), home.path(link)).unwrap();
    }
    let library = home.path("lib").display().to_string();
    let note = |done: &Done| -> Vec<String> {
        let notes =
            done.stderr.lines().filter(|line| line.starts_with("note: links that lead out"));
        notes.map(str::to_owned).collect()
    };
    let index = ["index", "--index", &home.index(), &library, "--transformer", "never"];
    let search = ["search", TASK, "--library", &library];
    let stats = ["stats", "--library", &library];
    let n_notes = |command: &[&str]| note(&home.run(command)).len();
    for command in [&index[..], &search, &index, &stats] {
        let done = home.run(command);
        let first = home.path("lib/a").display().to_string();
        assert!(
            matches!(&*note(&done), [one] if one.contains("(2)") && one.contains(&first)),
            "{}",
            done.stderr
        );
        assert!(!done.stderr.contains("skipped"), "{}", done.stderr);
    }
    // Those that were told are not told again; others are.
    assert_eq!(n_notes(&search), 0);
    fs::remove_file(home.path("lib/a")).unwrap();
    assert_eq!((n_notes(&search), n_notes(&search), n_notes(&stats)), (1, 0, 1));
    fs::remove_file(home.path("lib/b")).unwrap();
    assert_eq!((n_notes(&search), n_notes(&stats)), (0, 0));
    symlink(home.path("elsewhere/b"), home.path("lib/b")).unwrap();
    assert_eq!((n_notes(&search), n_notes(&search)), (1, 0));
    // Also if the index is new.
    fs::remove_dir_all(home.path("cache/skillmux/libraries")).unwrap();
    assert_eq!((n_notes(&search), n_notes(&search)), (1, 0));

    assert_eq!((n_notes(&["index"]), n_notes(&["search", TASK]), n_notes(&["index"])), (1, 0, 1));
    symlink(home.path("elsewhere/b"), home.path(".claude/skills/b")).unwrap();
    assert_eq!((n_notes(&["search", TASK]), n_notes(&["search", TASK])), (1, 0));
    // Where no index can be kept, each is new.
    fs::remove_dir_all(home.path("cache")).unwrap();
    home.write("cache", "");
    assert_eq!((n_notes(&search), n_notes(&search)), (1, 1));
}

#[test]
fn an_update_that_loses_most_skills_says_so() {
    let home = Home::new();
    let shard = |n_skills: usize| -> String {
        let row =
            |n| format!("{{\"name\": \"tea-{n}\", \"description\": \"How to brew tea {n}\"}}\n");
        (0..n_skills).map(row).collect()
    };
    let pool = home.write("pool.jsonl", shard(25));
    let index = |n_skills: usize| {
        home.write("pool.jsonl", shard(n_skills));
        home.ask(&["index", &pool, "--transformer", "never"])
    };
    assert_eq!(index(25).stderr, "");
    assert_eq!(index(13).stderr, "");
    assert_eq!(index(5).stderr, "");
    assert_eq!(index(25).stderr, "");
    let done = index(12);
    assert_eq!(done.code, 0);
    assert!(done.stderr.contains("note: 13 of 25 skills are gone"), "{}", done.stderr);
    assert!(done.stderr.contains("`skillmux index --restore"), "{}", done.stderr);
    assert_eq!(index(25).stderr, "");
    home.write("pool.jsonl", shard(12));
    let rebuild = || home.ask(&["index", &pool, "--transformer", "never", "--rebuild"]).stderr;
    assert!(rebuild().contains("note: 13 of 25 skills are gone"));
    assert_eq!(rebuild(), "");
    // Others came, and one was only written anew.
    let others = shard(12).replace("tea-", "soup-").replace("soup-0", "tea-0");
    home.write("pool.jsonl", others.replace("brew", "make"));
    let done = home.ask(&["index", &pool, "--transformer", "never"]);
    assert!(done.stderr.contains("note: 11 of 12 skills are gone"), "{}", done.stderr);
    assert_eq!(index(12).code, 0);

    let route = || home.run(&["route", "brew tea", "--library", &pool]).stderr;
    assert_eq!(route(), "");
    home.write("pool.jsonl", shard(1));
    assert!(route().contains("note: 11 of 12 skills are gone"));
    assert_eq!(route(), "");
}

#[cfg(unix)]
#[test]
#[expect(clippy::print_stderr, reason = "a skipped check says so")]
fn a_folder_without_write_permission_is_told() {
    use std::os::unix::fs::PermissionsExt;

    let home = Home::new();
    let parent = home.path("locked");
    fs::create_dir(&parent).unwrap();
    fs::set_permissions(&parent, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(parent.join("probe"), "").is_ok() {
        eprintln!("not checked: the superuser may write anywhere");
        return;
    }
    let index = parent.join("index").display().to_string();
    let done = home.run(&["index", &library(), "--index", &index]);
    done.assert_error("cannot write `", "check who owns the folder");
    assert!(done.stderr.contains("ermission denied"), "{}", done.stderr);
    fs::set_permissions(&parent, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_source_that_is_missing_or_of_no_kind_is_refused() {
    let home = Home::new();
    let missing = home.path("missing").display().to_string();
    home.ask(&["index", &missing]).assert_error("does not exist", "give a folder of SKILL.md");
    let done = home.run(&["route", TASK, "--library", &missing]);
    done.assert_error("does not exist", "give a folder of SKILL.md");
    let other = home.write("notes.txt", "text");
    home.ask(&["index", &other]).assert_error("is not a kind", "skillmux reads SKILL.md");
}

#[test]
fn a_library_without_skills_is_refused_and_says_what_was_skipped() {
    let home = Home::with_index();
    home.write("empty/x/SKILL.md", b"\0\0");
    let empty = home.path("empty").display().to_string();
    let done = home.ask(&["index", &empty]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("holds NUL bytes"), "{}", done.stderr);
    assert!(done.stderr.contains("error: no skill found in 1 source\n"), "{}", done.stderr);
    assert_eq!(home.ask(&["route", TASK]).code, 0);
}

#[test]
fn an_unknown_skill_comes_with_the_nearest() {
    let home = Home::with_index();
    let done = home.ask(&["page", "csv-cleanin"]);
    done.assert_error("no skill has the id `csv-cleanin`", "did you mean `data/csv-cleaning`");
    let done = home.ask(&["page", "zzqx"]);
    done.assert_error("no skill has the id `zzqx`", "`skillmux search` prints the ids");
}

#[test]
fn wrong_arguments_are_two() {
    let home = Home::new();
    for arguments in [
        &["frobnicate"][..],
        &["route", TASK, "-k", "0"],
        &["route", TASK, "--index", "a", "--library", "b"],
        &["route", TASK, "--file", "b"],
        &["index", "a", "--restore"],
        &["index", "--restore", "--verbose"],
        &["index", "--restore", "--transformer", "never"],
        &["index", "--restore", "--vectors", "f32"],
        &["index", "--restore", "--encoder", "a"],
        &["index", "--restore", "--encoder-model", "a"],
        &["index", "--restore", "--preset", "r3"],
        &["index", "--restore", "--precision", "f32"],
        &["index", "--restore", "--transformer-weights", "a"],
        &[],
    ] {
        let done = home.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}");
        assert!(done.stdout.is_empty() && !done.stderr.is_empty());
    }
}

#[test]
fn escape_sequences_in_names_and_paths_do_not_reach_the_terminal() {
    let home = Home::new();
    let skill = "{\"skill_id\":\"a\u{202e}b\",\"name\":\"tea\",\"description\":\"brew \
                 \\u001b[31mtea\",\"body\":\"text\"}\n";
    let shard = home.write("pool.jsonl", skill);
    assert_eq!(home.ask(&["index", &shard]).code, 0);
    let check = |done: Done| {
        assert!(!done.stdout.contains('\u{202e}') && !done.stderr.contains('\u{202e}'));
    };
    check(home.ask(&["search", "brew tea"]));
    check(home.ask(&["route", "brew tea"]));
    check(home.ask(&["page", "ab"]));
    // `Home` checks that no command prints an escape.
    let done = home.run(&["index", "a\u{1b}[31mb", "--index", &home.index()]);
    assert_eq!(done.code, 2);
}

#[test]
fn training_says_before_it_begins_where_it_cannot_write() {
    let home = Home::new();
    let work = home.write("work.jsonl", r#"{"query": "fill in a form", "skill_ids": ["forms"]}"#);
    let talk = home.write("talk.jsonl", r#"{"query": "thank you"}"#);
    let folder = home.path("").display().to_string();
    let missing = home.path("missing/work.json").display().to_string();
    for (out, why) in [(folder, "it is a folder"), (missing, "its folder does not exist")] {
        let done = home.run(&["train", "work", "--work", &work, "--talk", &talk, "--out", &out]);
        done.assert_error(why, "--out");
    }
    assert!(!home.path("missing").exists());
}

#[test]
fn training_does_not_write_over_what_it_reads() {
    let home = Home::new();
    let data = home.write("data.jsonl", "{}\n");
    let (new, other) = ("new.bin", home.write("other.jsonl", "{}\n"));
    for command in [
        &["encoder", "--queries", &data, "--run", "run", "--out", &data][..],
        &["encoder", "--queries", &other, "--translations", &data, "--run", "run", "--out", &data],
        &["ranker", "--tasks", &data, "--out", &data],
        &["ranker", "--tasks", &data, "--out", new, "--held-out", &data],
        &["abstention", "--answerable", &other, "--unanswerable", &data, "--out", &data],
        &["composer", "--tasks", &data, "--out", &data],
        &["kinds", "--labels", &data, "--out", &data],
        &["pager", "--cases", &data, "--out", &data],
        &["work", "--work", &other, "--talk", &data, "--out", &data],
    ] {
        let index: &[&str] = if command[0] == "work" { &[] } else { &["--index", "no-such-index"] };
        home.run(&[&["train"], command, index].concat())
            .assert_error("is training data, and would be overwritten", "name another file");
    }
    assert_eq!(fs::read_to_string(&data).unwrap(), "{}\n");
}

#[test]
fn what_is_said_about_a_choice_that_is_not_made_is_refused() {
    let home = Home::with_index();
    let (index, tasks) = (home.index(), home.write("tasks.jsonl", ""));
    for (command, option, value, choice) in [
        (&["route", TASK][..], "--chain-alpha", "0.3", "--composer chain"),
        (&["route", TASK], "--chat-passes", "2", "--decomposer chat"),
        (&["route", TASK], "--chat-hints", "9", "--decomposer chat"),
        (&["eval", "run", &tasks], "--chain-alpha", "0.3", "--composer chain"),
        (&["eval", "run", &tasks], "--chat-passes", "2", "--decomposer chat"),
        (&["eval", "sweep", &tasks], "--chain-alpha", "0.3", "--composer chain"),
    ] {
        let done = home.run(&[command, &["--index", &index, option, value]].concat());
        done.assert_error(&format!("{option} is given without {choice}"), "or leave out");
    }
    let chain = ["route", TASK, "--composer", "chain", "--chain-alpha", "0.3"];
    assert_eq!(home.ask(&chain).code, 0);
}

#[test]
fn an_option_of_a_model_in_the_settings_is_refused_without_the_model() {
    let home = Home::with_index();
    for (option, value) in [("preset", "r3"), ("precision", "int8"), ("encoder_model", "small")] {
        home.write(".config/skillmux/settings.toml", format!("[models]\n{option} = \"{value}\"\n"));
        let message = format!("--{} is given without an --encoder", option.replace('_', "-"));
        home.ask(&["search", TASK]).assert_error(&message, "name both or neither");
    }
    let missing = home.path("missing").display().to_string();
    let settings = format!("[models]\nencoder = \"{missing}\"\npreset = \"r3\"\n");
    home.write(".config/skillmux/settings.toml", settings);
    home.ask(&["search", TASK]).assert_error("cannot read `", "--encoder");
}

#[test]
fn a_settings_file_that_cannot_be_read_is_told_with_its_cause() {
    let home = Home::with_index();
    home.write(".config/skillmux/settings.toml", b"# caf\xe9\n");
    home.ask(&["search", TASK]).assert_error("settings.toml`: stream did not", "text in UTF-8");
}

#[test]
fn weights_of_no_network_are_refused() {
    let home = Home::with_index();
    let none = home.write("work.json", "[]");
    let done = home.ask(&["route", TASK, "--work-weights", &none]);
    done.assert_error("it holds no weights that tell work from talk", "skillmux train");
}

#[test]
fn a_budget_that_is_no_number_is_told_what_it_is() {
    let home = Home::new();
    for (command, budget) in [("route", "abc"), ("route", "-5"), ("page", "4.5")] {
        let done = home.run(&[command, "tea", &format!("--budget={budget}")]);
        assert_eq!(done.code, 2);
        let message = "a budget is a whole number of tokens, such as 4000";
        let expected = format!("invalid value '{budget}' for '--budget <TOKENS>': {message}");
        assert!(done.stderr.contains(&expected), "{}", done.stderr);
    }
}

#[test]
fn what_the_system_refuses_comes_with_a_hint() {
    let home = Home::new();
    home.run(&["eval", "execute", "/nope"]).assert_error("cannot read `/nope", "check the path");
    home.run(&["eval", "compare", "a", "b"]).assert_error("cannot read `", "check the path");
    let file = home.write("file", "");
    let done = home.run(&["man", "--out", &format!("{file}/man")]);
    done.assert_error("cannot make the folder", "check the path");
}
