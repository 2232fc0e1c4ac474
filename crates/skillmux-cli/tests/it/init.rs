//! `skillmux init` and `uninit` over the settings of each agent. The files in `homes/` were written
//! for these tests.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::home::{Done, Home, binary};

const AGENTS: [&str; 7] =
    ["claude-code", "codex", "gemini-cli", "openclaw", "copilot", "cursor", "opencode"];

/// All files below a folder, by relative path.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(root: &Path) -> Tree {
    fn walk(root: &Path, folder: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, tree);
            } else {
                let relative = path.strip_prefix(root).unwrap().to_owned();
                tree.insert(relative, fs::read(&path).unwrap());
            }
        }
    }
    let mut tree = Tree::new();
    walk(root, root, &mut tree);
    tree
}

/// The settings of an agent, as the fixture has them.
fn fixture(agent: &str) -> Tree {
    tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/homes").join(agent))
}

fn home_with(files: &Tree) -> Home {
    let home = Home::new();
    for (path, bytes) in files {
        home.write(path.to_str().unwrap(), bytes);
    }
    home
}

fn home_of(agent: &str) -> Home {
    home_with(&fixture(agent))
}

/// Everything below the home folder but what skillmux keeps for itself.
fn settings(home: &Home) -> Tree {
    let mut tree = tree(&home.path(""));
    tree.retain(|path, _| !path.starts_with(".local/state/skillmux"));
    tree
}

fn succeeds(done: &Done) -> &str {
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(done.stderr, "");
    &done.stdout
}

fn assert_nothing_kept(home: &Home) {
    assert!(!home.path(".local/state/skillmux/agents").exists());
}

#[test]
fn init_then_uninit_leaves_every_byte_as_it_was() {
    for agent in AGENTS {
        let home = home_of(agent);
        let before = settings(&home);
        let dry = home.run(&["init", "--dry-run"]);
        assert!(succeeds(&dry).contains("\n+"), "{agent}: {}", dry.stdout);
        assert_eq!(settings(&home), before, "{agent}");

        let first = home.run(&["init", "--yes"]);
        assert!(succeeds(&first).contains("\n+"), "{agent}: {}", first.stdout);
        let wired = settings(&home);
        assert_ne!(wired, before, "{agent}");

        let second = home.run(&["init", "--yes"]);
        assert!(succeeds(&second).contains("nothing to do"), "{agent}: {}", second.stdout);
        assert_eq!(settings(&home), wired, "{agent}");

        let dry = home.run(&["uninit", "--dry-run"]);
        assert!(succeeds(&dry).contains("\n-"), "{agent}: {}", dry.stdout);
        assert_eq!(settings(&home), wired, "{agent}");

        succeeds(&home.run(&["uninit", "--yes"]));
        assert_eq!(settings(&home), before, "{agent}");
        assert_nothing_kept(&home);
        let again = home.run(&["uninit", "--yes"]);
        assert!(succeeds(&again).contains("nothing to do"));
    }
}

#[test]
fn a_copied_home_has_records_of_its_own() {
    let first = home_of("claude-code");
    let before = settings(&first);
    succeeds(&first.run(&["init", "--yes"]));
    let wired = settings(&first);
    let copy = home_with(&tree(&first.path("")));
    succeeds(&copy.run(&["uninit", "--yes"]));
    assert_eq!(settings(&copy), before);
    assert_eq!(settings(&first), wired);
}

#[test]
fn all_agents_of_a_home_are_wired_at_once() {
    let home = home_with(&AGENTS.iter().flat_map(|agent| fixture(agent)).collect());
    let before = settings(&home);
    succeeds(&home.run(&["init", "--yes", "--agent", "cursor"]));
    let only_cursor = settings(&home);
    let changed: Vec<&PathBuf> =
        before.keys().filter(|path| before[*path] != only_cursor[*path]).collect();
    assert_eq!(changed, [Path::new(".cursor/mcp.json")]);
    succeeds(&home.run(&["init", "--yes"]));
    let doctor = home.run(&["doctor"]);
    let of_skillmux: Vec<&str> =
        doctor.stdout.lines().filter(|line| line.contains("skillmux: ")).collect();
    assert_eq!(of_skillmux.len(), AGENTS.len());
    assert!(of_skillmux.iter().all(|line| line.contains("MCP server yes")), "{}", doctor.stdout);
    assert_eq!(of_skillmux.iter().filter(|line| line.contains("prompt hook yes")).count(), 4);
    assert!(!doctor.stdout.contains("program"), "{}", doctor.stdout);
    succeeds(&home.run(&["uninit", "--yes"]));
    assert_eq!(settings(&home), before);
}

#[test]
fn runs_at_the_same_time_wait_for_each_other() {
    let home = home_with(&AGENTS.iter().flat_map(|agent| fixture(agent)).collect());
    let before = settings(&home);
    let run_thrice = |command: &str| {
        let start = |()| {
            let mut command = home.command(&[command, "--yes"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        for child in [(); 3].map(start) {
            succeeds(&child.wait_with_output().unwrap().into());
        }
    };
    run_thrice("init");
    assert!(home.run(&["init", "--yes"]).stdout.contains("nothing to do"));
    run_thrice("uninit");
    assert_eq!(settings(&home), before);
    assert_nothing_kept(&home);
}

#[test]
fn files_that_are_not_there_are_made_and_removed() {
    let home = Home::new();
    for folder in [".codex", ".gemini", ".openclaw", ".copilot", ".cursor", ".config/opencode"] {
        fs::create_dir_all(home.path(folder)).unwrap();
    }
    // Claude Code has its folder made.
    home.write(".claude.json", "{}");
    let before = settings(&home);
    succeeds(&home.run(&["init", "--yes"]));
    assert_eq!(settings(&home).len(), 10);
    succeeds(&home.run(&["uninit", "--yes"]));
    assert_eq!(settings(&home), before);
    assert!(!home.path(".claude").exists());
    assert_nothing_kept(&home);
}

#[test]
fn the_writing_of_a_file_does_not_matter() {
    let windows = |text: String| text.replace('\n', "\r\n");
    let marked = |text: String| format!("\u{feff}{text}");
    let unended = |text: String| text.trim_end().to_owned();
    for writing in [windows, marked, unended] as [fn(String) -> String; 3] {
        let rewritten = |(path, bytes): (PathBuf, Vec<u8>)| {
            (path, writing(String::from_utf8(bytes).unwrap()).into_bytes())
        };
        let files: Tree = AGENTS.iter().flat_map(|agent| fixture(agent)).map(rewritten).collect();
        let home = home_with(&files);
        let before = settings(&home);
        succeeds(&home.run(&["init", "--yes"]));
        let wired = settings(&home);
        for (path, bytes) in &wired {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let Some(original) = before.get(path) else { continue };
            let original = String::from_utf8(original.clone()).unwrap();
            // Each line that was there is there still, but for a comma at its end. What stands on
            // one line is drawn apart.
            let lines = original.lines().map(|line| line.trim_end_matches([',', '\r']));
            for line in lines.filter(|_| original.trim_end().contains('\n')) {
                assert!(text.contains(line), "{}: {line}", path.display());
            }
            assert_eq!(text.starts_with('\u{feff}'), original.starts_with('\u{feff}'));
            if original.contains("\r\n") {
                assert!(!text.replace("\r\n", "").contains('\n'), "{}", path.display());
            }
        }
        succeeds(&home.run(&["uninit", "--yes"]));
        assert_eq!(settings(&home), before);
    }
}

#[test]
fn what_the_user_changes_after_init_stays() {
    let edits = [
        ("claude-code", ".claude.json", "12", "13"),
        ("claude-code", ".claude/settings.json", "opus", "sonnet"),
        ("codex", ".codex/config.toml", "\"gpt-5\"", "\"gpt-6\""),
        ("codex", ".codex/hooks.json", "say done", "say ready"),
        ("gemini-cli", ".gemini/settings.json", "GitHub", "Dracula"),
        ("openclaw", ".openclaw/openclaw.json", "~/work", "~/play"),
        ("copilot", ".copilot/mcp-config.json", "read_note", "write_note"),
        ("cursor", ".cursor/mcp.json", "\"b\"", "\"c\""),
        ("opencode", ".config/opencode/opencode.jsonc", "system", "dark"),
    ];
    for (agent, file, old, new) in edits {
        let home = home_of(agent);
        let original = fs::read_to_string(home.path(file)).unwrap();
        succeeds(&home.run(&["init", "--yes"]));
        let wired = fs::read_to_string(home.path(file)).unwrap();
        assert!(wired.contains("skillmux"), "{file}");
        home.write(file, wired.replacen(old, new, 1));
        // The other files of the agent change, too; so does the record when init runs again.
        succeeds(&home.run(&["init", "--yes"]));
        succeeds(&home.run(&["uninit", "--yes"]));
        let after = fs::read_to_string(home.path(file)).unwrap();
        let expected = original.replacen(old, new, 1);
        if original.trim_end().contains('\n') {
            assert_eq!(after, expected, "{file}");
        } else {
            // What stood on one line is drawn apart, and stays so.
            let strip = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(strip(&after), strip(&expected), "{file}");
        }
        assert_nothing_kept(&home);
    }
}

#[test]
fn line_ends_and_blank_lines_stay_where_the_user_changes_the_file() {
    let toml = "model = \"a\"\r\n\r\n[b]\r\nc = 1\r\n\r\n";
    for (file, original, old, new) in [
        (".codex/config.toml", toml, "1", "2\r\nd = 3"),
        (".codex/config.toml", toml, "model", "x = 1\nmodel"),
        (".codex/config.toml", "\u{feff}model = 1\n", "1", "2"),
        (".cursor/mcp.json", "{\r\n  \"a\": 1\r\n\r\n}\r\n\r\n", "1", "2"),
        (".cursor/mcp.json", "{\n  \"a\": 1,\n\n  \"b\": 2\n\n}\n", "\"b\"", "\"c\": 3,\n  \"b\""),
    ] {
        let home = Home::new();
        home.write(file, original);
        succeeds(&home.run(&["init", "--yes"]));
        let wired = fs::read_to_string(home.path(file)).unwrap();
        home.write(file, wired.replacen(old, new, 1));
        succeeds(&home.run(&["uninit", "--yes"]));
        let after = fs::read_to_string(home.path(file)).unwrap();
        assert_eq!(after, original.replacen(old, new, 1), "{file}");
    }
}

#[test]
fn a_removed_entry_is_added_again_and_undone() {
    let home = home_of("gemini-cli");
    let original = fs::read_to_string(home.path(".gemini/settings.json")).unwrap();
    succeeds(&home.run(&["init", "--yes"]));
    home.write(".gemini/settings.json", &original);
    assert!(succeeds(&home.run(&["init", "--yes"])).contains("\n+"));
    succeeds(&home.run(&["uninit", "--yes"]));
    let after = fs::read_to_string(home.path(".gemini/settings.json")).unwrap();
    assert!(!after.contains("skillmux") && after.contains("// read only"), "{after}");
}

#[test]
fn a_file_that_does_not_parse_is_left_and_the_others_are_changed() {
    let home = home_with(&AGENTS.iter().flat_map(|agent| fixture(agent)).collect());
    home.write(".cursor/mcp.json", "{\n  \"mcpServers\": {,}\n}\n");
    home.write(".codex/config.toml", "model = \n");
    home.write(".copilot/mcp-config.json", "{ \"mcpServers\": [] }");
    let before = settings(&home);
    let done = home.run(&["init", "--yes"]);
    assert_eq!(done.code, 2);
    for told in [
        ".cursor/mcp.json`, line 2: ",
        ".codex/config.toml`, line 1: ",
        "error: `mcpServers` in ",
        "hint: put this right in the file",
        "error: the settings of Codex, GitHub Copilot, Cursor were left as they are",
    ] {
        assert!(done.stderr.contains(told), "{told}: {}", done.stderr);
    }
    let after = settings(&home);
    for (path, bytes) in &before {
        let is_left = [".cursor", ".codex", ".copilot"].iter().any(|it| path.starts_with(it));
        assert_eq!(bytes == &after[path], is_left, "{}", path.display());
    }
    let doctor = home.run(&["doctor", "--agent", "cursor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("line 2"), "{}", doctor.stdout);
}

#[test]
fn without_a_terminal_nothing_changes_unasked() {
    let home = home_of("cursor");
    let before = settings(&home);
    home.run(&["init"]).assert_error("there is no terminal to ask on", "--yes");
    assert_eq!(settings(&home), before);
    succeeds(&home.run(&["init", "--yes"]));
    let wired = settings(&home);
    home.run(&["uninit"]).assert_error("there is no terminal to ask on", "--yes");
    assert_eq!(settings(&home), wired);
}

#[test]
fn without_an_agent_the_user_reads_which_are_known() {
    let home = Home::new();
    home.run(&["init", "--yes"]).assert_error("no agent is installed", "claude-code");
    let named = home.run(&["init", "--yes", "--agent", "codex"]);
    named.assert_error("the agent codex is not installed", "claude-code");
}

#[test]
fn what_the_user_wired_stays_as_it_is() {
    let home = Home::new();
    let server = r#"{"mcpServers": {"skillmux": {"command": "skillmux", "args": ["mcp", "--index", "/i"]}}}"#;
    home.write(".claude.json", server);
    let hook = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "skillmux hook claude-code --budget 9"}]}]}}"#;
    home.write(".claude/settings.json", hook);
    let before = settings(&home);
    let done = home.run(&["init", "--yes"]);
    let told = succeeds(&done);
    assert!(told.contains("left as it is: the MCP server"), "{told}");
    assert!(told.contains("left as it is: the hook"), "{told}");
    succeeds(&home.run(&["uninit", "--yes"]));
    assert_eq!(settings(&home), before);
}

#[test]
fn a_hook_with_an_option_of_the_user_is_taken_out() {
    let home = home_of("claude-code");
    let before = settings(&home);
    succeeds(&home.run(&["init", "--yes"]));
    let file = ".claude/settings.json";
    let wired = fs::read_to_string(home.path(file)).unwrap();
    assert!(wired.contains(" hook claude-code || exit 0"));
    for call in ["hook claude-code --budget 500 ||", "hook --budget 500 claude-code ||"] {
        succeeds(&home.run(&["init", "--yes"]));
        home.write(file, wired.replace("hook claude-code ||", call));
        let doctor = home.run(&["doctor"]);
        assert!(doctor.stdout.contains("prompt hook yes"), "{call}: {}", doctor.stdout);
        let again = home.run(&["init", "--yes"]);
        assert!(succeeds(&again).contains("left as it is: the hook"), "{call}: {}", again.stdout);
        let done = home.run(&["uninit", "--yes"]);
        assert!(succeeds(&done).contains("  done"), "{call}: {}", done.stdout);
        assert_eq!(settings(&home), before, "{call}");
    }
}

#[test]
fn halves_of_surrogate_pairs_stay_as_they_are() {
    let home = home_of("claude-code");
    let halves = r#"
    "cut": "a \ud83d",
    "\uDE00": "\uD83D\ude00 \\ud83d \ufffd","#;
    for file in [".claude.json", ".claude/settings.json"] {
        let text = fs::read_to_string(home.path(file)).unwrap();
        let fields = text.trim_end().strip_prefix('{').unwrap().strip_suffix("\n}").unwrap();
        home.write(file, format!("{{{halves}{fields},\n    \"end\": \"\\udfff\"\n}}\n"));
    }
    let before = settings(&home);
    succeeds(&home.run(&["init", "--yes"]));
    let wired = settings(&home);
    for bytes in wired.values() {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let whole =
            text.contains(r#""a \ud83d""#) && text.contains(r#""\uD83D\ude00 \\ud83d \ufffd""#);
        assert!(whole && text.contains(r#""\udfff""#) && text.contains("skillmux"), "{text}");
    }
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains("MCP server yes, prompt hook yes"), "{}", doctor.stdout);
    // The agent cuts another one meanwhile: the files are edited, and not copied back.
    let cut = |tree: &Tree| -> Tree {
        let cut = |bytes: &Vec<u8>| {
            String::from_utf8(bytes.clone()).unwrap().replace("a \\ud83d", "b \\uDBFF").into_bytes()
        };
        tree.iter().map(|(path, bytes)| (path.clone(), cut(bytes))).collect()
    };
    for (path, bytes) in cut(&wired) {
        home.write(path.to_str().unwrap(), bytes);
    }
    succeeds(&home.run(&["uninit", "--yes"]));
    assert_eq!(settings(&home), cut(&before));
    assert_nothing_kept(&home);
}

/// Sets whether anyone may write to a file.
fn set_read_only(path: &Path, is_read_only: bool) {
    let mut permissions = fs::metadata(path).unwrap().permissions();
    permissions.set_readonly(is_read_only);
    fs::set_permissions(path, permissions).unwrap();
}

#[test]
fn a_read_only_file_keeps_init_from_all_files_of_its_agent() {
    for file in [".claude.json", ".claude/settings.json"] {
        let home = home_with(&["claude-code", "cursor"].into_iter().flat_map(fixture).collect());
        let before = settings(&home);
        set_read_only(&home.path(file), true);
        let done = home.run(&["init", "--yes"]);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains("may not be written to"), "{}", done.stderr);
        let left = "error: the settings of Claude Code were left as they are\n";
        assert!(done.stderr.contains(left), "{}", done.stderr);
        let after = settings(&home);
        let changed: Vec<_> = before.keys().filter(|path| before[*path] != after[*path]).collect();
        assert_eq!(changed, [Path::new(".cursor/mcp.json")], "{file}");
    }
}

#[test]
fn uninit_changes_the_files_that_it_can() {
    let files = [".claude.json", ".claude/settings.json"];
    for (file, other) in [(files[0], files[1]), (files[1], files[0])] {
        let home = home_of("claude-code");
        let before = settings(&home);
        succeeds(&home.run(&["init", "--yes"]));
        let wired = settings(&home);
        let refuses = |told: &str| {
            let done = home.run(&["uninit", "--yes"]);
            assert_eq!(done.code, 2);
            assert!(done.stderr.contains(told), "{}", done.stderr);
            done
        };
        set_read_only(&home.path(file), true);
        let done = refuses("error: the settings of Claude Code were changed only in part\n");
        let changed = format!("  changed: `{}`\n", home.path(other).display());
        assert!(done.stdout.ends_with(&changed), "{}", done.stdout);
        assert_eq!(settings(&home)[Path::new(other)], before[Path::new(other)]);
        assert_eq!(settings(&home)[Path::new(file)], wired[Path::new(file)]);
        refuses("error: the settings of Claude Code were left as they are\n");
        set_read_only(&home.path(file), false);

        home.write(file, "{");
        refuses(&format!("{file}`, line 1: "));
        home.write(file, &wired[Path::new(file)]);
        succeeds(&home.run(&["uninit", "--yes"]));
        assert_eq!(settings(&home), before);
        assert_nothing_kept(&home);
    }
}

#[test]
fn what_the_user_wired_besides_is_told() {
    let home = home_of("claude-code");
    succeeds(&home.run(&["init", "--yes"]));
    let file = ".claude/settings.json";
    let wired = fs::read_to_string(home.path(file)).unwrap();
    let hook = r#"{"hooks": [{"type": "command", "command": "skillmux hook claude-code"}]}"#;
    let both =
        wired.replacen("\"UserPromptSubmit\": [", &format!("\"UserPromptSubmit\": [{hook}, "), 1);
    assert_ne!(both, wired);
    home.write(file, both);
    let done = home.run(&["uninit", "--yes"]);
    assert!(succeeds(&done).contains("in these settings still"), "{}", done.stdout);
    assert_eq!(fs::read_to_string(home.path(file)).unwrap().matches("skillmux").count(), 1);
}

#[test]
fn a_copy_that_no_record_needs_any_more_is_removed() {
    let home = home_of("cursor");
    succeeds(&home.run(&["init", "--yes"]));
    let file = ".cursor/mcp.json";
    // The user edits the file, and takes out what was added.
    home.write(file, "{\"mcpServers\": {}, \"token\": \"secret\"}");
    succeeds(&home.run(&["init", "--yes"]));
    let copies = fs::read_dir(home.path(".local/state/skillmux/agents/copies"));
    assert_eq!(copies.map_or(0, Iterator::count), 0);
    succeeds(&home.run(&["uninit", "--yes"]));
    assert_nothing_kept(&home);
}

#[test]
fn names_of_the_settings_are_shown_without_control_characters() {
    let home = Home::new();
    let server = r#"{"mcpServers": {"x\u001b]0;": {"command": "skillmux", "args": ["mcp"]}}}"#;
    home.write(".cursor/mcp.json", server);
    let done = home.run(&["init", "--dry-run"]);
    assert!(succeeds(&done).contains("the MCP server `x ]0;`"), "{}", done.stdout);
}

#[test]
fn a_server_that_the_user_gave_another_name_stays_the_only_one() {
    let home = Home::new();
    home.write(
        ".codex/config.toml",
        "[mcp_servers.router]\ncommand = \"/x/skillmux\"\nargs = [\"mcp\"]\n",
    );
    let opencode = ".config/opencode/opencode.json";
    home.write(opencode, r#"{"mcp": {"servers": {"router": {"command": ["skillmux", "mcp"]}}}}"#);
    let before = settings(&home);
    let done = home.run(&["init", "--yes"]);
    let told = succeeds(&done);
    assert_eq!(told.matches("left as it is: the MCP server `router`").count(), 2, "{told}");
    for file in [".codex/config.toml", opencode] {
        assert_eq!(settings(&home)[Path::new(file)], before[Path::new(file)], "{file}");
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.stdout.matches("MCP server yes").count(), 2, "{}", doctor.stdout);
    let not_ours = "not written by this program: the MCP server `router`";
    assert_eq!(doctor.stdout.matches(not_ours).count(), 2, "{}", doctor.stdout);
}

#[cfg(unix)]
#[test]
fn a_settings_file_that_is_no_file_is_refused() {
    let home = Home::new();
    home.write(".codex/skills/tea/SKILL.md", "");
    let pipe = home.path(".codex/config.toml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    home.run(&["init", "--dry-run"]).assert_error("is no regular file", "");
}

#[test]
fn opencode_two_has_its_servers_in_a_table_of_their_own() {
    let home = Home::new();
    let file = ".config/opencode/opencode.json";
    home.write(file, "{\n  \"mcp\": {\n    \"servers\": {}\n  }\n}\n");
    succeeds(&home.run(&["init", "--yes"]));
    let text = fs::read_to_string(home.path(file)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["mcp"]["servers"]["skillmux"]["type"], "local");
    assert_eq!(value["mcp"].as_object().unwrap().len(), 1);
}

#[cfg(unix)]
mod unix {
    use std::{
        env,
        os::unix::fs::{PermissionsExt, symlink},
    };

    use super::*;

    #[test]
    fn a_linked_settings_file_stays_a_link() {
        let home = home_of("gemini-cli");
        let (link, target) = (home.path(".gemini/settings.json"), home.path("dotfiles/gemini"));
        fs::create_dir(home.path("dotfiles")).unwrap();
        fs::rename(&link, &target).unwrap();
        symlink(&target, &link).unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        let before = fs::read(&target).unwrap();
        succeeds(&home.run(&["init", "--yes"]));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_ne!(fs::read(&target).unwrap(), before);
        succeeds(&home.run(&["uninit", "--yes"]));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), before);
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_of_ours_goes_with_the_link_to_it() {
        let home = Home::new();
        fs::create_dir_all(home.path(".cursor")).unwrap();
        let (link, target) = (home.path(".cursor/mcp.json"), home.path("dot/mcp.json"));
        succeeds(&home.run(&["init", "--yes"]));
        fs::create_dir(home.path("dot")).unwrap();
        fs::rename(&link, &target).unwrap();
        symlink(&target, &link).unwrap();
        succeeds(&home.run(&["uninit", "--yes"]));
        assert!(fs::symlink_metadata(&link).is_err() && !target.exists());
        assert!(succeeds(&home.run(&["init", "--yes"])).contains("\n+"));
    }

    #[test]
    fn files_that_were_changed_before_an_error_are_named() {
        let home = Home::new();
        home.write(".claude.json", "{}");
        // No folder can be made where the link is.
        symlink("nowhere/at/all", home.path(".claude")).unwrap();
        let done = home.run(&["init", "--yes"]);
        assert_eq!(done.code, 2);
        let told = "error: the settings of Claude Code were changed only in part\n";
        assert!(done.stderr.contains(told), "{}", done.stderr);
        let changed = format!("  changed: `{}`\n", home.path(".claude.json").display());
        assert!(done.stdout.contains(&changed), "{}", done.stdout);
        assert!(done.stdout.contains("`skillmux uninit` brings everything back"));
        succeeds(&home.run(&["uninit", "--yes"]));
        assert_eq!(fs::read(home.path(".claude.json")).unwrap(), b"{}");
    }

    #[test]
    fn copies_are_for_their_owner_alone() {
        let home = home_of("copilot");
        succeeds(&home.run(&["init", "--yes"]));
        let copies = fs::read_dir(home.path(".local/state/skillmux/agents/copies")).unwrap();
        for copy in copies.map(Result::unwrap) {
            assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o077, 0);
        }
    }

    #[test]
    fn a_program_that_moved_is_called_at_its_new_place() {
        let home = home_of("claude-code");
        let before = settings(&home);
        succeeds(&home.run(&["init", "--yes"]));
        let wired = |home: &Home| {
            let read = |file| fs::read_to_string(home.path(file)).unwrap();
            read(".claude.json") + &read(".claude/settings.json")
        };
        assert!(wired(&home).contains(&format!("\"{}\"", binary())));

        // A program on the search path is called by its name.
        let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let moved = elsewhere.path().join("skillmux");
        fs::hard_link(binary(), &moved).unwrap();
        let mut command = std::process::Command::new(&moved);
        command.args(["init", "--yes"]);
        home.furnish(&mut command);
        let path = env::join_paths([elsewhere.path(), Path::new("/usr/bin")]).unwrap();
        let done: Done = command.env("PATH", path).output().unwrap().into();
        succeeds(&done);
        let text = wired(&home);
        assert!(text.contains("\"command\": \"skillmux\""), "{text}");
        assert!(text.contains("\"skillmux hook claude-code || exit 0\""), "{text}");
        assert!(!text.contains(binary()), "{text}");
        succeeds(&home.run(&["uninit", "--yes"]));
        assert_eq!(settings(&home), before);
    }
}
