//! Completions and manual pages.

use std::fs;

use crate::home::Home;

#[test]
fn each_shell_has_a_script_that_knows_the_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = home.run(&["completions", shell]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        for word in ["route", "doctor", "budget"] {
            assert!(done.stdout.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(home.run(&["completions", "csh"]).code, 2);
}

#[test]
fn each_command_has_a_manual_page() {
    let home = Home::new();
    let out = home.path("man/man1");
    let done = home.run(&["man", "--out", &out.display().to_string()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for (page, word) in
        [("skillmux", "skillmux"), ("skillmux-page", "budget"), ("skillmux-init", "dry")]
    {
        let text = fs::read_to_string(out.join(format!("{page}.1"))).unwrap();
        assert!(text.starts_with(".ie") || text.contains(".TH "), "{text}");
        assert!(text.contains(word), "{page}");
    }
}
