//! Readers that go away, and outputs that are full.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use crate::home::{Done, Home, binary, fixtures, library};

#[test]
fn a_closed_pipe_is_success() {
    let home = Home::with_index();
    let queries = fixtures().join("tasks.jsonl").display().to_string();
    let index = home.index();
    for arguments in [
        &["route", "--queries", &queries, "--index", &index][..],
        &["search", "--queries", &queries, "-k", "1000", "--index", &index],
        &["search", "the a of data file report", "-k", "100", "--index", &index],
    ] {
        let mut command = home.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let done: Done = child.wait_with_output().unwrap().into();
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(!line.is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let home = Home::with_index();
    let mut command = home.command(&["search", "clean a CSV file", "--index", &home.index()]);
    command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let done: Done = command.output().unwrap().into();
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("No space left on device"), "{}", done.stderr);
}

/// Runs the binary with a limit on the size of the files that it writes, as on a full disk.
fn run_with_limit(home: &Home, n_blocks: usize, arguments: &[&str]) -> Done {
    let mut command = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {n_blocks}; exec \"$@\"");
    command.args(["-c", &script, "sh", binary()]).args(arguments);
    home.furnish(&mut command);
    command.output().unwrap().into()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_leaves_the_index_as_it_was() {
    let home = Home::new();
    home.write_skill("skills/tea", "tea", "How to brew tea", "Boil the water first.");
    let skills = home.path("skills").display().to_string();
    assert_eq!(home.run(&["index", &skills, "--index", &home.index()]).code, 0);
    let before = home.ask(&["stats", "--verify", "--format", "json"]).stdout;
    let (library, index) = (library(), home.index());
    for n_blocks in [0, 1, 8, 24] {
        for mode in [&[][..], &["--rebuild"]] {
            let arguments = [&["index", &library, "--index", &index], mode].concat();
            let done = run_with_limit(&home, n_blocks, &arguments);
            done.assert_error("File too large", "the index is as it was before");
            assert!(done.stderr.contains("cannot write `"), "{}", done.stderr);
            assert_eq!(home.ask(&["stats", "--verify", "--format", "json"]).stdout, before);
        }
    }
    let entries = std::fs::read_dir(home.path("index")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("draft")), "{names:?}");
    assert_eq!(home.run(&["index", &library, "--index", &index]).code, 0);
}
