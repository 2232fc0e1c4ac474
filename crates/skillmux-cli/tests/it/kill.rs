//! A writer that is killed leaves the old index or the new one.

use std::{
    fmt::Write as _,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use skillmux::{index::Index, skill::SkillId};

use crate::home::Home;

/// Kills; `benches/kill_loop.py` does more of them, on larger libraries.
const N_ROUNDS: u32 = 20;

const N_SKILLS: usize = 300;

/// Returns a shard whose texts all say its version, but for a third that both versions share.
fn version(number: usize) -> String {
    let mut shard = String::new();
    for n in 0..N_SKILLS {
        let number = if n % 3 == 0 { 0 } else { number };
        let body = format!("Version {number} of part {n}.\\n{}", "Read the table. ".repeat(8));
        let _ = writeln!(
            shard,
            r#"{{"skill_id":"pool/{n}-{number}","name":"part-{n}","description":"Part {n}","body":"{body}"}}"#
        );
    }
    shard
}

/// Returns the version that an index holds, after a look at every skill.
fn version_of(index: &Index) -> usize {
    index.verify().unwrap();
    assert_eq!(index.n_skills(), N_SKILLS);
    let number = 1 + usize::from(index.find(&SkillId::new("pool/1-2")).is_ok());
    for n in 0..N_SKILLS {
        let number = if n % 3 == 0 { 0 } else { number };
        let idx = index.find(&SkillId::new(format!("pool/{n}-{number}"))).unwrap();
        let body = index.skill(idx).unwrap().skill.body;
        assert!(body.starts_with(&format!("Version {number} of part {n}.\n")), "{body}");
    }
    number
}

#[test]
fn a_killed_writer_leaves_the_old_index_or_the_new_one() {
    let home = Home::new();
    let shards = [1, 2].map(|n| home.write(&format!("version-{n}.jsonl"), version(n)));
    // The transformer commits what it reads by itself, and would take most of the time.
    let words_alone = || "--transformer=never".to_owned();
    let arguments = |number: usize| ["index".to_owned(), shards[number - 1].clone(), words_alone()];
    let index = |number: usize| {
        let started = Instant::now();
        let arguments = arguments(number);
        let done = home.ask(&arguments.each_ref().map(String::as_str));
        assert_eq!(done.code, 0, "{}", done.stderr);
        started.elapsed()
    };
    index(1);
    let full = index(2).max(index(1));
    // A fixed sequence of delays over the time that a run takes (Knuth's MMIX generator).
    let mut state = 7_u64;
    let mut delay = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        full.mul_f64((state >> 40) as f64 / f64::from(1 << 24))
    };
    let mut old = 1;
    let (mut n_old, mut n_new) = (0, 0);
    for _ in 0..N_ROUNDS {
        let new = 3 - old;
        let [command, shard, words_alone] = arguments(new);
        let mut command = home.command(&[&command, &shard, &words_alone, "--index", &home.index()]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(delay().max(Duration::from_millis(1)));
        child.kill().unwrap();
        child.wait().unwrap();

        let found = version_of(&Index::open(&home.path("index")).unwrap());
        n_old += u32::from(found == old);
        n_new += u32::from(found == new);
        index(new);
        assert_eq!(version_of(&Index::open(&home.path("index")).unwrap()), new);
        old = new;
    }
    assert!(n_old > 0, "{n_old} old, {n_new} new: no writer was killed at work");
}
