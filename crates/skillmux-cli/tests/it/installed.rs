//! Skills of installed agents, and libraries that are indexed on the fly.

use std::fs;

use crate::home::{Done, Home};

const TASK: &str = "brew a pot of tea";

fn add_tea(home: &Home, folder: &str) {
    home.write_skill(&format!("{folder}/tea"), "tea", "How to brew a pot of tea", "Boil water.");
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
fn without_any_agent_the_user_reads_what_to_do() {
    let home = Home::new();
    for arguments in [&["route", TASK][..], &["index"], &["stats"], &["mcp"]] {
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
    let cached = fs::read_dir(home.path("cache/skillmux/libraries")).unwrap();
    let cached = cached.map(|entry| entry.unwrap().path()).next().unwrap();
    for name in ["gen-000002/skills.bin", "CURRENT"] {
        fs::write(cached.join(name), "garbage").unwrap();
        assert_found(&ask(), "Boil water.");
    }
    assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0);
}

#[test]
fn a_cache_that_cannot_be_used_is_done_without() {
    let home = Home::new();
    add_tea(&home, "skills");
    let skills = home.path("skills").display().to_string();
    // A file where the folder should be stops the superuser, too.
    home.write("cache", "");
    assert_found(&home.run(&["route", TASK, "--library", &skills]), "tea");
    assert_found(&home.run(&["stats", "--library", &skills, "--verify"]), "every byte");
    fs::remove_file(home.path("cache")).unwrap();

    assert_found(&home.run(&["route", TASK, "--library", &skills]), "tea");
    let cached = fs::read_dir(home.path("cache/skillmux/libraries")).unwrap();
    let cached = cached.map(|entry| entry.unwrap().path()).next().unwrap();
    fs::remove_dir_all(&cached).unwrap();
    fs::create_dir(&cached).unwrap();
    fs::write(cached.join("notes.txt"), "mine").unwrap();
    assert_found(&home.run(&["route", TASK, "--library", &skills]), "tea");
    assert_eq!(fs::read_dir(&cached).unwrap().count(), 1);
    // Temporary indexes go away.
    assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0);
}
