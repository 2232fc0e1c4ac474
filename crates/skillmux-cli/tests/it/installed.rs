//! Skills of installed agents, and libraries that are indexed on the fly.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::Duration,
};

use serde_json::json;

use crate::home::{Done, Home};

const TASK: &str = "brew a pot of tea";

fn add_tea(home: &Home, folder: &str) {
    home.write_skill(&format!("{folder}/tea"), "tea", "How to brew a pot of tea", "Boil water.");
}

/// Returns the folder of the one index in the cache.
fn the_cached(home: &Home, kind: &str) -> PathBuf {
    let cached = fs::read_dir(home.path(&format!("cache/skillmux/{kind}"))).unwrap();
    cached.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap()
}

/// Returns the number of folders in the cache.
fn n_cached(home: &Home, kind: &str) -> usize {
    fs::read_dir(home.path("cache/skillmux").join(kind)).map_or(0, Iterator::count)
}

fn assert_found(done: &Done, text: &str) {
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains(text), "{}", done.stdout);
}

#[test]
fn skills_of_installed_agents_are_found_without_an_argument() {
    let home = Home::new();
    add_tea(&home, ".claude/skills");
    assert_found(&home.run(&["route", TASK]), "claude-code/tea");
    assert_eq!(n_cached(&home, "agents"), 1);

    home.write_skill("project/.agents/skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    assert_found(&home.run(&["route", "wash the dirty mug"]), "project-agents/mug");

    assert_found(&home.run(&["index"]), "2 skills");
    assert_found(&home.run(&["index"]), "up to date");
    assert!(!home.path("data/skillmux/index").exists());
    assert_found(&home.run(&["route", TASK]), "claude-code/tea");
}

#[test]
fn an_index_is_made_anew_from_what_it_was_made_of() {
    let home = Home::new();
    add_tea(&home, "skills");
    assert_found(
        &home.run(&["index", home.path("skills").to_str().unwrap(), "--index", "mine"]),
        "1 skill",
    );
    home.write_skill("skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    assert_found(&home.run(&["index", "--index", "mine"]), "2 skills");
}

#[test]
fn the_own_index_is_updated_and_restored_without_an_argument() {
    let home = Home::new();
    add_tea(&home, "skills");
    add_tea(&home, ".claude/skills");
    assert_found(&home.run(&["index", home.path("skills").to_str().unwrap()]), "1 skill");
    home.write_skill("skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    assert_found(&home.run(&["index"]), "2 skills");
    assert_found(&home.run(&["route", "wash the dirty mug"]), "mug");
    assert_found(&home.run(&["index", "--restore"]), "generation 2 again");
}

#[test]
fn an_index_that_another_process_writes_is_waited_for() {
    let home = Home::new();
    add_tea(&home, "skills");
    let skills = home.path("skills").display().to_string();
    assert_found(&home.run(&["index", &skills, "--index", "mine"]), "1 skill");
    home.write_skill("skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    for arguments in
        [&["index", &skills, "--index", "mine"][..], &["index", "--restore", "--index", "mine"]]
    {
        let lock = fs::File::open(home.path("project/mine/LOCK")).unwrap();
        lock.lock().unwrap();
        let mut command = home.command(arguments);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        thread::sleep(Duration::from_millis(2500));
        assert!(child.try_wait().unwrap().is_none(), "{arguments:?}");
        drop(lock);
        let done = Done::from(child.wait_with_output().unwrap());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let note = "note: another process writes the index at `mine`; waiting";
        assert!(done.stderr.starts_with(note), "{}", done.stderr);
    }
}

#[test]
fn without_any_agent_the_user_reads_what_to_do() {
    let home = Home::new();
    for arguments in [&["route", TASK][..], &["index"], &["stats"]] {
        home.run(arguments).assert_error("no agent's skills were found", "--library PATH");
    }
}

#[test]
fn the_own_index_is_used_when_it_was_made_from_sources() {
    let home = Home::new();
    add_tea(&home, "skills");
    home.write_skill(".claude/skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    let skills = home.path("skills").display().to_string();
    assert_found(&home.run(&["index", &skills]), "1 skill ");
    assert_found(&home.run(&["search", TASK]), "1 of 1 skills");
}

#[test]
fn a_library_is_cached_and_an_edit_is_seen() {
    let home = Home::new();
    add_tea(&home, "skills");
    let skills = home.path("skills").display().to_string();
    let ask = || home.run(&["route", TASK, "--library", &skills]);
    assert_found(&ask(), "Boil water.");
    assert_eq!(n_cached(&home, "libraries"), 1);
    let generation = || home.run(&["stats", "--library", &skills, "--format", "json"]).stdout;
    let first = generation();
    // The first generation has the words, the second the vectors of the transformer as well.
    assert!(first.contains("\"generation\": 2"), "{first}");
    assert_found(&ask(), "Boil water.");
    assert_eq!(generation(), first);

    home.write_skill("skills/tea", "tea", "How to brew a pot of tea", "Warm the pot.");
    assert_found(&ask(), "Warm the pot.");
    assert!(generation().contains("\"generation\": 4"));
    assert_eq!(n_cached(&home, "libraries"), 1);
}

#[test]
fn a_damaged_cache_is_made_again() {
    let home = Home::new();
    add_tea(&home, "skills");
    let skills = home.path("skills").display().to_string();
    let ask = || home.run(&["route", TASK, "--library", &skills]);
    assert_found(&ask(), "Boil water.");
    let cached = the_cached(&home, "libraries");
    for name in ["gen-000002/skills.bin", "CURRENT"] {
        fs::write(cached.join(name), "garbage").unwrap();
        assert_found(&ask(), "Boil water.");
    }
    assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0);
}

#[test]
fn skillmux_index_makes_a_damaged_cache_of_the_agents_again() {
    let home = Home::new();
    add_tea(&home, ".claude/skills");
    assert_found(&home.run(&["route", TASK]), "Boil water.");
    let cached = the_cached(&home, "agents");
    for options in [&["index"][..], &["index", "--rebuild"]] {
        fs::write(cached.join("CURRENT"), "garbage").unwrap();
        let done = home.run(options);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stdout.contains("1 skill"), "{}", done.stdout);
        assert_found(&home.run(&["route", TASK]), "Boil water.");
    }
}

#[test]
fn a_damaged_text_of_the_cache_is_told_once() {
    let home = Home::new();
    add_tea(&home, ".claude/skills");
    assert_found(&home.run(&["route", TASK]), "Boil water.");
    let cached = the_cached(&home, "agents");
    let generation = fs::read_dir(&cached).unwrap().map(|entry| entry.unwrap().path());
    let generation = generation.filter(|path| path.join("manifest.json").exists()).max().unwrap();
    let store = fs::read_dir(&generation).unwrap().map(|entry| entry.unwrap().path());
    let mut store = store.filter(|path| path.to_string_lossy().contains("store-"));
    let store = store.next().unwrap();
    let mut bytes = fs::read(&store).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&store, bytes).unwrap();
    let done = home.run(&["route", TASK]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.contains("the same command makes it again"), "{}", done.stderr);
    assert_found(&home.run(&["route", TASK]), "Boil water.");
}

#[test]
fn a_cache_that_cannot_be_used_is_done_without() {
    let home = Home::new();
    add_tea(&home, "skills");
    let skills = home.path("skills").display().to_string();
    // A file where the folder should be stops the superuser, too.
    home.write("cache", "");
    let done = home.run(&["route", TASK, "--library", &skills]);
    assert_found(&done, "tea");
    assert!(done.stderr.contains("note: no index can be kept"), "{}", done.stderr);
    let missing = home.run(&["route", TASK, "--library", "missing"]);
    assert!(missing.code == 2 && !missing.stderr.contains("note:"), "{}", missing.stderr);
    let stats = home.run(&["stats", "--library", &skills, "--verify"]);
    assert_found(&stats, "every byte");
    assert_found(&stats, "index       made for this answer, and not kept\n");
    let stats = home.run(&["stats", "--library", &skills, "--format", "json"]);
    assert_found(&stats, "\"index\": null");
    fs::remove_file(home.path("cache")).unwrap();

    assert_found(&home.run(&["route", TASK, "--library", &skills]), "tea");
    let cached = the_cached(&home, "libraries");
    fs::remove_dir_all(&cached).unwrap();
    fs::create_dir(&cached).unwrap();
    fs::write(cached.join("notes.txt"), "mine").unwrap();
    assert_found(&home.run(&["route", TASK, "--library", &skills]), "tea");
    assert_eq!(fs::read_dir(&cached).unwrap().count(), 1);
    // Temporary indexes go away.
    assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0);
}

#[test]
fn indexes_that_nobody_needs_are_removed_and_no_others() {
    let home = Home::new();
    let ask = |library: &str| {
        add_tea(&home, library);
        let library = home.path(library).display().to_string();
        assert_found(&home.run(&["search", TASK, "--library", &library]), "tea");
    };
    let stamp = |library: &str| {
        let folder = format!("{}\n", home.path(library).display());
        let mut used = fs::read_dir(home.path("cache/skillmux/used")).unwrap();
        let is_of = |path: &PathBuf| fs::read_to_string(path).unwrap() == folder;
        used.find_map(|entry| Some(entry.unwrap().path()).filter(is_of))
    };
    let make_older = |stamp: &Path, n_days: u64| {
        let file = fs::File::options().write(true).open(stamp).unwrap();
        let long_ago =
            file.metadata().unwrap().modified().unwrap() - Duration::from_hours(n_days * 24);
        file.set_modified(long_ago).unwrap();
    };
    let make_old = |stamp: &Path| make_older(stamp, 91);
    let is_kept = |library: &str| stamp(library).is_some();
    for library in ["gone", "old", "served"] {
        ask(library);
    }
    // Two folders that are not ours; one has a name as ours have.
    for name in ["notes", "0123456789abcdef"] {
        home.write(&format!("cache/skillmux/libraries/{name}/notes.txt"), "mine");
        make_old(Path::new(&home.write(&format!("cache/skillmux/used/{name}"), "/no/such\n")));
    }
    assert_eq!(n_cached(&home, "libraries"), 5);
    fs::remove_dir_all(home.path("gone")).unwrap();
    // Its drive may only be away.
    ask("beside");
    assert!(is_kept("gone"));
    make_older(&stamp("gone").unwrap(), 8);
    make_old(&stamp("old").unwrap());
    let served = stamp("served").unwrap();
    make_old(&served);
    let in_use = fs::File::open(&served).unwrap();
    in_use.lock_shared().unwrap();
    ask("new");
    assert_eq!(["gone", "old", "served", "new"].map(is_kept), [false, false, true, true]);
    assert_eq!(n_cached(&home, "libraries"), 5);
    drop(in_use);
    // Only who writes an index looks, and using one makes it young.
    ask("new");
    assert!(is_kept("served"));
    ask("served");
    ask("newer");
    assert!(is_kept("served"));
    make_old(&served);
    ask("newest");
    assert!(!is_kept("served"));
    for name in ["notes", "0123456789abcdef"] {
        let path = home.path(&format!("cache/skillmux/libraries/{name}"));
        assert_eq!(fs::read_dir(path).unwrap().count(), 1);
    }
}

/// Makes sure that nobody can write the one index in the cache, the superuser neither.
#[cfg(unix)]
pub(crate) fn make_unwritable(home: &Home) {
    let folder = the_cached(home, "libraries");
    fs::remove_file(folder.join("LOCK")).unwrap();
    fs::create_dir(folder.join("LOCK")).unwrap();
    fs::write(folder.join("gen-000009.draft"), "").unwrap();
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_written_is_used_as_long_as_it_is_up_to_date() {
    let home = Home::new();
    add_tea(&home, "skills");
    let skills = home.path("skills").display().to_string();
    let ask = |id: &str| {
        let done = home.run(&["search", TASK, "--library", &skills]);
        assert_found(&done, id);
        done.stderr
    };
    ask("tea");
    make_unwritable(&home);
    assert_eq!([ask("tea"), ask("tea")], ["", ""]);
    home.write_skill("skills/mug", "mug", "How to brew tea in a mug", "Boil water.");
    let told = ask("mug");
    assert!(told.starts_with("note: no index can be kept") && told.lines().count() == 1, "{told}");
    // One that is damaged cannot be made again.
    let folder = the_cached(&home, "libraries");
    fs::write(folder.join("gen-000002/skills.bin"), "garbage").unwrap();
    let told = ask("mug");
    assert!(told.starts_with("note: no index can be kept") && told.lines().count() == 1, "{told}");
    assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0);
}

/// Writes a skill whose author wants no model to load it.
fn add_manual(home: &Home, folder: &str, name: &str, description: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: {description}\ndisable-model-invocation: true\n---\nText.\n"
    );
    home.write(&format!("{folder}/SKILL.md"), text);
}

/// Checks that neither a task nor an id leads to the skill.
#[track_caller]
fn assert_not_loaded(home: &Home, task: &str, id: &str, source: &[&str]) {
    for arguments in [&["route", task][..], &["search", task, "-k", "9"], &["page", id]] {
        let done = home.run(&[arguments, source].concat());
        assert!(!done.stdout.contains(id), "{arguments:?}: {}", done.stdout);
    }
    let done = home.run(&[&["page", id][..], source].concat());
    assert_eq!(done.code, 2, "{}", done.stdout);
}

#[test]
fn a_skill_that_is_not_for_the_model_is_counted_and_never_loaded() {
    let home = Home::new();
    home.write_skill(".claude/skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    add_manual(&home, ".claude/skills/tea", "tea", "How to brew a pot of tea");
    assert_not_loaded(&home, TASK, "claude-code/tea", &[]);
    for id_or_name in ["claude-code/tea", "tea"] {
        home.run(&["page", id_or_name]).assert_error("keeps it from the model", "in your agent");
    }
    home.run(&["page", "claude-code/te"]).assert_error("no skill has the id", "did you mean");
    let done = home.run(&["index"]);
    assert_found(&done, "1  not for the model");
    assert_found(&done, ".claude/skills/tea/SKILL.md");
}

#[test]
fn an_index_loses_a_skill_that_is_no_longer_for_the_model() {
    let home = Home::new();
    add_tea(&home, "skills/drinks");
    home.write_skill("skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    let skills = home.path("skills").display().to_string();
    assert_found(&home.run(&["index", &skills, "--index", "mine"]), "2 skills");
    assert_found(&home.run(&["page", "drinks/tea", "--index", "mine"]), "Boil water.");
    add_manual(&home, "skills/drinks/tea", "tea", "How to brew a pot of tea");
    assert_found(&home.run(&["index", "--index", "mine"]), "1 gone");
    assert_not_loaded(&home, TASK, "drinks/tea", &["--index", "mine"]);
    assert_not_loaded(&home, TASK, "drinks/tea", &["--library", &skills]);
}

#[test]
fn of_plugins_only_those_that_are_installed_and_on_are_read() {
    let home = Home::new();
    home.write_skill(".claude/skills/mug", "mug", "Wash a dirty mug", "Use soap.");
    let plugins = ".claude/plugins";
    for (folder, text) in [
        ("cache/m/tools/2.0.0", "Boil water."),
        ("cache/m/tools/1.0.0", "The old way."),
        ("cache/m/off/1.0.0", "Switched off."),
        ("cache/m/foreign/1.0.0", "Not installed."),
        ("marketplaces/m/plugins/tools", "A clone."),
    ] {
        let folder = format!("{plugins}/{folder}/skills/tea");
        home.write_skill(&folder, "tea", "How to brew a pot of tea", text);
    }
    let ids = || {
        let found = home.run(&["search", TASK, "-k", "9", "--all", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
        let ids = found.as_array().unwrap().iter().map(|skill| skill["id"].clone());
        ids.filter(|id| *id != "claude-code/mug").collect::<Vec<_>>()
    };
    assert_eq!(ids(), [json!(null); 0]);
    let installed = json!({"version": 2, "plugins": {
        "tools@m": [{"scope": "user", "installPath": home.path(plugins).join("cache/m/tools/2.0.0")}],
        "off@m": [{"scope": "user", "installPath": home.path(plugins).join("cache/m/off/1.0.0")}],
    }});
    home.write(&format!("{plugins}/installed_plugins.json"), installed.to_string());
    assert_eq!(ids(), [json!(null); 0]);
    let switches = json!({"enabledPlugins": {"tools@m": true, "off@m": false, "foreign@m": true}});
    home.write(".claude/settings.json", switches.to_string());
    assert_eq!(ids(), ["claude-code-plugins/tools/tea"]);
    assert_found(&home.run(&["page", "claude-code-plugins/tools/tea"]), "Boil water.");
    let switches = json!({"enabledPlugins": {"tools@m": false}});
    home.write("project/.claude/settings.local.json", switches.to_string());
    assert_eq!(ids(), [json!(null); 0]);
}

#[test]
fn a_sub_folder_answers_as_the_root_of_its_project_does() {
    for root in [".git", ".agents/skills"] {
        let home = Home::new();
        add_tea(&home, ".claude/skills");
        home.write_skill("project/.agents/skills/mug", "mug", "Wash a dirty mug", "Use soap.");
        fs::create_dir_all(home.path("project").join(root)).unwrap();
        fs::create_dir_all(home.path("project/src/deep")).unwrap();
        let below = |arguments: &[&str]| {
            let mut command = home.command(arguments);
            Done::from(command.current_dir(home.path("project/src/deep")).output().unwrap())
        };
        for arguments in [
            &["search", "wash the dirty mug", "--format", "json"][..],
            &["page", "project-agents/mug"],
        ] {
            let at_root = home.run(arguments);
            assert_found(&at_root, "project-agents/mug");
            assert_eq!(below(arguments).stdout, at_root.stdout);
        }
        let route = ["route", "wash the dirty mug"];
        assert_found(&below(&route), "project-agents/mug");
        // There is one index for all of the project.
        assert_eq!(n_cached(&home, "agents"), 1);
        fs::create_dir_all(home.path(".codex")).unwrap();
        let doctor = ["doctor", "--agent", "codex"];
        assert!(below(&doctor).stdout.contains("project/.agents/skills"));
        assert_eq!(below(&doctor).stdout, home.run(&doctor).stdout);
    }
}

#[test]
fn every_answer_says_where_the_skill_lies() {
    let home = Home::new();
    add_tea(&home, ".claude/skills");
    add_tea(&home, "lib/drinks");
    let row = json!({"skill_id": "mug", "name": "mug", "description": "Wash a dirty mug", "body": "Use soap."});
    let shard = home.write("pool.jsonl", format!("{row}\n"));
    let library = home.path("lib").display().to_string();
    assert_found(&home.run(&["index", &library, &shard, "--index", "mine"]), "2 skills");
    let (installed, own) = (home.path(".claude/skills/tea"), home.path("lib/drinks/tea"));
    for (id, folder, source) in [
        ("claude-code/tea", &installed, &[][..]),
        ("drinks/tea", &own, &["--library", "../lib"]),
        ("drinks/tea", &own, &["--index", "mine"]),
    ] {
        let json = |arguments: &[&str]| {
            let done = home.run(&[arguments, &["--format", "json"], source].concat());
            serde_json::from_str::<serde_json::Value>(&done.stdout).unwrap()
        };
        let canonical = |value: &serde_json::Value| {
            let path = value.as_str().unwrap();
            assert!(path.starts_with('/') || cfg!(windows), "{path}");
            fs::canonicalize(path).unwrap()
        };
        let expected = fs::canonicalize(folder).unwrap();
        assert_eq!(canonical(&json(&["route", TASK])["steps"][0]["skills"][0]["folder"]), expected);
        assert_eq!(canonical(&json(&["search", TASK])[0]["folder"]), expected);
        assert_eq!(canonical(&json(&["page", id])["folder"]), expected);
        let why = json(&["page", id, TASK, "--why"]);
        assert_eq!(canonical(&why["page"]["folder"]), expected);
        for arguments in [&["route", TASK][..], &["search", TASK], &["page", id]] {
            let done = home.run(&[arguments, source].concat());
            assert_found(&done, "folder: /");
        }
    }
    let of_shard = home.run(&["page", "mug", "--index", "mine"]);
    assert_found(&of_shard, "Use soap.");
    assert!(!of_shard.stdout.contains("folder:"), "{}", of_shard.stdout);
}

#[test]
fn the_note_on_a_large_library_names_a_command_that_helps() {
    let home = Home::new();
    let row = |at: usize| json!({"skill_id": format!("s{at}"), "name": format!("s{at}"), "description": format!("Does {at}"), "body": "Do it."});
    let rows: Vec<String> = (0..301).map(|at| row(at).to_string()).collect();
    let library = home.write("pool.jsonl", rows.join("\n"));
    let done = home.run(&["search", "does 7", "--library", &library]);
    assert_found(&done, "s7");
    let command = done.stderr.split('`').nth(1).unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(words[..2], ["index", "--index"], "{}", done.stderr);
    let read = home.run(&[&words[..], &["--transformer", "never"]].concat());
    assert_found(&read, "up to date");
    assert!(!home.path("data").exists(), "the user's own index is none of this");
}
