//! `skillmux synth`: tasks, distractors and rejected skills, by a chat model or without one.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::{
    endpoint::{Asked, ChatServer, Said},
    home::{Done, Home, library},
};

/// Returns words that begin alike, none of which stands in another text of this kind.
fn words(begin: &str, n_words: usize) -> String {
    let words: Vec<String> = (0..n_words).map(|n| format!("{begin}x{n}")).collect();
    words.join(" ")
}

/// Returns a good task; the number makes it differ from others.
fn task(n: usize, n_words: usize) -> Said {
    let query = format!("Please tidy up {} until Friday.", words(&format!("item{n}"), n_words));
    (200, json!({ "query": query }).to_string())
}

/// Returns a good task that has some words of the skill's description, none next to another.
fn about(n: usize, asked: &Asked) -> Said {
    let document = asked.document();
    let description = document["skill"]["description"].as_str().unwrap();
    let subject = description.split(' ').filter(|word| word.len() > 5).step_by(2).take(6);
    let subject: Vec<String> = subject
        .zip(0..)
        .map(|(word, at)| format!("{word} {}", words(&format!("n{n}a{at}"), 9)))
        .collect();
    (200, json!({ "query": subject.join(" ") }).to_string())
}

/// Returns a good distractor of what was asked about.
fn distractor(n: usize, asked: &Asked) -> Said {
    let reference = &asked.document()["reference"];
    let subject: String = reference["description"].as_str().unwrap().chars().take(60).collect();
    let body =
        (0..3).map(|part| format!("## Part {part}\n\n{}\n", words(&format!("w{n}p{part}"), 150)));
    let body: Vec<String> = body.collect();
    let written = json!({
        "name": format!("other-tool-{n}"),
        "description": format!("{} {subject}", words(&format!("does{n}"), 12)),
        "body": body.join("\n"),
    });
    (200, format!("Here it is:\n```json\n{written}\n```"))
}

/// Runs `synth` over the fixture library, one request at a time.
fn synth(home: &Home, server: &ChatServer, command: &str, out: &str, more: &[&str]) -> Done {
    let library = library();
    let fixed = ["synth", command, "--library", &library, "--out", out, "--parallel", "1"];
    let endpoint = ["--chat-url", &server.url, "--chat-model", "small"];
    home.run(&[&fixed[..], &endpoint, more].concat())
}

fn rows(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn tasks_are_written_and_read_by_the_other_commands() {
    let home = Home::new();
    let out = home.path("tasks.jsonl").display().to_string();
    let server = ChatServer::start(about);
    let done = synth(&home, &server, "queries", &out, &["-n", "40"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("written 40 tasks; "), "{}", done.stdout);
    assert!(done.stdout.contains("holds 40 of 40"), "{}", done.stdout);

    let rows = rows(&out);
    let skills: BTreeSet<&str> =
        rows.iter().map(|row| row["skill_ids"][0].as_str().unwrap()).collect();
    assert_eq!((rows.len(), skills.len()), (40, 40));
    for row in &rows {
        assert_eq!(row["skills"], row["skill_ids"]);
        assert_eq!(
            (&row["lang"], &row["kind"], &row["model"]),
            (&"en".into(), &"long".into(), &"small".into())
        );
    }
    for asked in server.asked() {
        assert_eq!(asked.path, "/v1/chat/completions");
        assert!(!asked.turn(0).contains(asked.document()["skill"]["name"].as_str().unwrap()));
    }

    let library = library();
    let evaluated = home.run(&["eval", "run", &out, "--library", &library, "--resamples", "100"]);
    assert_eq!(evaluated.code, 0, "{}", evaluated.stderr);
    assert!(evaluated.stdout.starts_with("composition · 40 tasks"), "{}", evaluated.stdout);
    let searched = home.run(&["search", "--queries", &out, "--library", &library]);
    assert_eq!(searched.code, 0, "{}", searched.stderr);
    assert_eq!(home.run(&["index", &library, "--index", &home.index()]).code, 0);
    let weights = home.path("weights.json").display().to_string();
    let trained = home.ask(&["train", "ranker", "--tasks", &out, "--out", &weights]);
    assert_eq!(trained.code, 0, "{}", trained.stderr);
}

#[test]
fn a_bad_answer_costs_itself_alone_and_is_counted() {
    let home = Home::new();
    let out = home.path("tasks.jsonl").display().to_string();
    let server = ChatServer::start(|n, asked| match n {
        0 => (200, "As a language model I cannot do that.".to_owned()),
        1 => {
            assert_eq!(asked.n_turns(), 4);
            assert!(asked.turn(3).contains("it holds no JSON object"), "{}", asked.turn(3));
            let name = asked.document()["skill"]["name"].as_str().unwrap().replace('-', " ");
            let query = format!("Tidy {} with {name}, please.", words("leak", 10));
            (200, json!({ "query": query }).to_string())
        }
        // The end of the first task, and for the second one a duplicate, which is then given up.
        2 | 3 => task(2, 10),
        4 => (200, "{\"query\": \"tidy up \\u001b[31m all of my many files\"}".to_owned()),
        5 => (200, "{\"query\": 7}".to_owned()),
        // The third one: the endpoint fails.
        6 => (400, "{\"error\":{\"message\":\"too long\"}}".to_owned()),
        n => task(n, 10),
    });
    let done = synth(&home, &server, "queries", &out, &["-n", "4", "--kind", "short"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(rows(&out).len(), 4);
    let squeezed: Vec<String> = done
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in [
        "refused 5 answers",
        "given up 1 task, each answer to which was refused",
        "failed 1 task, for which the endpoint gave no answer",
        "2 no JSON of the form asked for",
        "1 control characters",
        "1 like an earlier one",
        "1 says the skill's name",
    ] {
        assert!(squeezed.iter().any(|found| found == line), "{line}\n{}", done.stdout);
    }
}

#[test]
fn an_interrupted_run_goes_on() {
    let home = Home::new();
    let out = home.path("tasks.jsonl").display().to_string();
    let server = ChatServer::start(|n, _| if n < 4 { task(n, 60) } else { (401, "{}".to_owned()) });
    let stopped = synth(&home, &server, "queries", &out, &["-n", "6"]);
    stopped.assert_error("the chat model `small at http", "check the API key");
    assert!(stopped.stdout.contains("holds 4 of 6"), "{}", stopped.stdout);
    assert!(stopped.stdout.contains("the same command goes on"), "{}", stopped.stdout);
    let first = fs::read_to_string(&out).unwrap();

    // The last line is torn, as by a process that was killed.
    fs::write(&out, &first[..first.len() - 30]).unwrap();
    let server = ChatServer::start(|n, _| task(n + 10, 60));
    let done = synth(&home, &server, "queries", &out, &["-n", "6", "--format", "json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&report["n_before"], &report["n_written"]), (&3.into(), &3.into()));
    assert_eq!(server.asked().len(), 3);
    let text = fs::read_to_string(&out).unwrap();
    let kept: String = first.split_inclusive('\n').take(3).collect();
    assert!(text.starts_with(&kept));
    let skills: BTreeSet<String> =
        rows(&out).iter().map(|row| row["skill_ids"][0].to_string()).collect();
    assert_eq!(skills.len(), 6);

    let done = synth(&home, &server, "queries", &out, &["-n", "6"]);
    assert_eq!((done.code, server.asked().len()), (0, 3));
    assert_eq!(fs::read_to_string(&out).unwrap(), text);
}

#[test]
fn tasks_of_several_skills_keep_their_order() {
    let home = Home::new();
    let out = home.path("tasks.jsonl").display().to_string();
    let server = ChatServer::start(|n, asked| {
        assert_eq!(asked.document()["skills"][0]["letter"], "A");
        let query = words(&format!("step{n}"), 80);
        (200, json!({ "skills": ["B", "A"], "query": query }).to_string())
    });
    let done = synth(&home, &server, "queries", &out, &["-n", "3", "--kind", "multi"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for row in rows(&out) {
        assert_eq!(row["skill_ids"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn chinese_is_asked_for_and_checked() {
    let home = Home::new();
    let out = home.path("tasks.jsonl").display().to_string();
    let server = ChatServer::start(|n, asked| {
        assert!(asked.turn(0).contains("in Chinese"), "{}", asked.turn(0));
        if n == 0 {
            return task(0, 12);
        }
        (
            200,
            "{\"query\": \"请帮我把上个月的账目按客户汇总，检查有没有遗漏，然后给我一张表\"}"
                .to_owned(),
        )
    });
    let more = ["-n", "1", "--kind", "short", "--share-zh", "1"];
    let done = synth(&home, &server, "queries", &out, &more);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("another language"), "{}", done.stdout);
    assert_eq!(rows(&out)[0]["lang"], "zh");
}

#[test]
fn distractors_are_a_shard_that_can_be_indexed() {
    let home = Home::new();
    let out = home.path("distractors.jsonl").display().to_string();
    let server = ChatServer::start(distractor);
    let done = synth(&home, &server, "distractors", &out, &["-n", "6"]);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    let rows = rows(&out);
    let strategies: BTreeSet<&str> =
        rows.iter().map(|row| row["strategy"].as_str().unwrap()).collect();
    let references: BTreeSet<&str> =
        rows.iter().map(|row| row["distractor_of"].as_str().unwrap()).collect();
    assert_eq!((rows.len(), strategies.len(), references.len()), (6, 3, 2));
    let done = home.ask(&["index", &library(), &out]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("54 skills"), "{}", done.stdout);

    let again = synth(&home, &server, "distractors", &out, &["-n", "7", "--per-skill", "3"]);
    assert_eq!((again.code, server.asked().len()), (0, 7), "{}", again.stderr);
}

#[test]
fn the_key_is_sent_and_never_printed() {
    let home = Home::new();
    let out = home.path("tasks.jsonl").display().to_string();
    let server = ChatServer::start(|_, _| (401, "{\"error\":\"bad key k-secret\"}".to_owned()));
    let library = library();
    let mut command = home.command(&[
        "synth",
        "queries",
        "--library",
        &library,
        "--out",
        &out,
        "--chat-url",
        &server.url,
        "--chat-model",
        "small",
        "--parallel",
        "1",
    ]);
    let done: Done = command.env("SKILLMUX_API_KEY", "k-secret").output().unwrap().into();
    assert_eq!(done.code, 2);
    assert_eq!(server.asked()[0].authorization.as_deref(), Some("Bearer k-secret"));
    assert!(!format!("{}{}", done.stdout, done.stderr).contains("k-secret"), "{}", done.stderr);
}

#[test]
fn a_model_that_writes_nothing_of_use_is_asked_no_more() {
    let home = Home::new();
    let out = home.path("tasks.jsonl").display().to_string();
    let server = ChatServer::start(|_, _| (200, "No.".to_owned()));
    let done = synth(&home, &server, "queries", &out, &["--attempts", "1"]);
    done.assert_error("mostly as `no JSON of the form asked for`", "try another model");
    assert!(done.stdout.contains("holds 0 of 100"), "{}", done.stdout);
    assert_eq!(server.asked().len(), 20);
}

#[test]
fn a_library_that_says_nothing_is_nothing_found() {
    let home = Home::new();
    let out = home.path("tasks.jsonl").display().to_string();
    home.write_skill("one/tea", "tea", "How to brew tea", "Boil water.");
    let library = home.path("one").display().to_string();
    let server = ChatServer::start(|_, _| panic!("nothing must be asked"));
    let done = home.run(&[
        "synth",
        "queries",
        "--library",
        &library,
        "--out",
        &out,
        "--chat-url",
        &server.url,
        "--chat-model",
        "small",
    ]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("has no more skills to ask about"), "{}", done.stdout);
}

#[test]
fn what_cannot_be_done_is_refused_before_the_model_is_asked() {
    let home = Home::new();
    let server = ChatServer::start(|_, _| panic!("nothing must be asked"));
    let out = home.path("tasks.jsonl").display().to_string();
    let library = library();
    let done = home.run(&["synth", "queries", "--library", &library, "--out", &out]);
    done.assert_error("needs a chat model", "--chat-url");
    let packed = home.path("tasks.jsonl.zst").display().to_string();
    let done = synth(&home, &server, "queries", &packed, &[]);
    done.assert_error("does not end in .jsonl", "--out FILE.jsonl");
    let notes = home.write("notes.jsonl", "my notes\n");
    for command in ["queries", "distractors"] {
        let done = synth(&home, &server, command, &notes, &[]);
        done.assert_error("line 1 of `", "name a file that does not exist");
    }
    assert_eq!(fs::read_to_string(&notes).unwrap(), "my notes\n");
    let done = home.run(&[
        "synth",
        "queries",
        "--library",
        &library,
        "--out",
        &out,
        "--chat-url",
        "localhost",
        "--chat-model",
        "small",
    ]);
    done.assert_error("the base URL begins neither", "a base URL reads");
    for (flag, value) in [("--share-zh", "2"), ("-n", "0"), ("--parallel", "0"), ("--kind", "odd")]
    {
        assert_eq!(synth(&home, &server, "queries", &out, &[flag, value]).code, 2, "{flag}");
    }
    assert!(!home.path("tasks.jsonl").exists());
}

/// Returns made-up words that have hardly a sequence of letters in common with those of another
/// number.
fn prose(number: usize, n_words: usize) -> String {
    let mut state = number as u64 + 1;
    let mut letter = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
    };
    let words: Vec<String> = (0..n_words).map(|_| (0..7).map(|_| letter()).collect()).collect();
    words.join(" ")
}

/// Returns the ids of the fixture library, but for those of skills that are there to be repaired.
fn fixture_ids() -> Vec<String> {
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let entries = |path: &std::path::Path| {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let mut entries: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        entries.sort_unstable();
        entries
    };
    let groups = entries(std::path::Path::new(&library()));
    let skills = groups.iter().filter(|group| !group.ends_with("broken")).flat_map(|group| {
        entries(group).into_iter().map(move |skill| format!("{}/{}", name(group), name(&skill)))
    });
    skills.collect()
}

/// Writes a file with two queries about each skill of the fixture library, of words of its body
/// that are not in its id.
fn queries(home: &Home) -> String {
    let mut lines = String::new();
    for (n, id) in fixture_ids().iter().enumerate() {
        let text = fs::read_to_string(format!("{}/{id}/SKILL.md", library())).unwrap();
        let body = text.splitn(3, "---").last().unwrap().to_lowercase();
        let is_plain = |word: &str| word.len() > 3 && !id.contains(word) && !word.contains("skill");
        let words = body.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| is_plain(word));
        let words: BTreeSet<&str> = words.collect();
        let words: Vec<&str> = words.into_iter().collect();
        for round in 0..2 {
            let own: Vec<&str> = words.iter().skip(round).step_by(2).take(8).copied().collect();
            let query = format!("See to {} {}", own.join(" "), prose(2 * n + round, 2));
            lines += &json!({ "query": query, "skill_id": id }).to_string();
            lines.push('\n');
        }
    }
    home.write("queries.jsonl", &lines)
}

/// Runs `synth composer` over the fixture library with queries to join.
fn join(home: &Home, queries: &str, out: &str, more: &[&str]) -> Done {
    let library = library();
    let fixed = ["synth", "composer", "--library", &library, "--queries", queries, "--out", out];
    home.run(&[&fixed[..], more].concat())
}

#[test]
fn queries_are_joined_to_tasks_of_sets_without_a_chat_model() {
    let home = Home::new();
    let queries = queries(&home);
    let out = home.path("sets.jsonl").display().to_string();
    let done = join(&home, &queries, &out, &["-n", "30", "--format", "json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&report["n_written"], &report["n_requests"]), (&30.into(), &0.into()));
    let graph = &report["graph"];
    let used = &report["queries"];
    assert_eq!((&graph["n_skills"], &used["n_usable"]), (&used["n_skills"], &used["n_read"]));
    assert!(graph["n_skills"].as_u64().unwrap() > 40, "{graph}");
    assert!(graph["n_dependency"].as_u64().unwrap() > 0, "{graph}");
    assert!(graph["n_workflow"].as_u64().unwrap() > 0, "{graph}");

    let rows = rows(&out);
    let n_single = rows.iter().filter(|row| row["kind"] == "single").count();
    assert!((1..30).contains(&n_single), "{n_single}");
    let mut sets = BTreeSet::new();
    for row in &rows {
        let skills: Vec<&str> =
            row["skill_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!(row["skills"], row["skill_ids"]);
        assert_eq!(row["edges"].as_array().unwrap().len() + 1, skills.len());
        let mut members = skills.clone();
        members.sort_unstable();
        assert!(skills.len() == 1 || sets.insert(members));
        for edge in row["edges"].as_array().unwrap() {
            let place = |end: &str| skills.iter().position(|id| *id == edge[end]).unwrap();
            assert!(edge["kind"] == "workflow" || place("from") < place("to"), "{edge}");
        }
        // One query of each skill, in the order of use.
        let text = row["query"].as_str().unwrap().to_lowercase();
        assert_eq!(text.matches("see to").count(), skills.len(), "{text}");
    }

    let library = library();
    let evaluated = home.run(&["eval", "run", &out, "--library", &library, "--resamples", "100"]);
    assert_eq!(evaluated.code, 0, "{}", evaluated.stderr);
    assert!(evaluated.stdout.starts_with("composition · 30 tasks"), "{}", evaluated.stdout);
}

#[test]
fn joining_goes_on_where_it_stopped_and_touches_nothing_else() {
    let home = Home::new();
    let queries = queries(&home);
    let path = |name: &str| home.path(name).display().to_string();
    let (whole, parts) = (path("whole.jsonl"), path("parts.jsonl"));
    assert_eq!(join(&home, &queries, &whole, &["-n", "24"]).code, 0);
    assert_eq!(join(&home, &queries, &parts, &["-n", "9"]).code, 0);
    let first = fs::read_to_string(&parts).unwrap();
    // The last line is torn, as by a process that was killed.
    fs::write(&parts, &first[..first.len() - 20]).unwrap();
    let done = join(&home, &queries, &parts, &["-n", "24"]);
    assert!(done.stdout.contains("holds 24 of 24"), "{}\n{}", done.stdout, done.stderr);
    assert_eq!(fs::read_to_string(&parts).unwrap(), fs::read_to_string(&whole).unwrap());
    let other = path("other.jsonl");
    assert_eq!(join(&home, &queries, &other, &["-n", "24", "--seed", "7"]).code, 0);
    assert_ne!(fs::read_to_string(&other).unwrap(), fs::read_to_string(&whole).unwrap());

    // All that can be joined is written, and no more.
    let done = join(&home, &queries, &whole, &["-n", "100000", "--share-single", "1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("The graph has no more sets"), "{}", done.stdout);
    let singles = rows(&whole).into_iter().filter(|row| row["kind"] == "single");
    let texts: BTreeSet<String> = singles.map(|row| row["query"].to_string()).collect();
    // Two queries of each skill at most, each once, however often the skill was drawn.
    assert!((40..=2 * fixture_ids().len()).contains(&texts.len()));
    assert!(done.stdout.contains("the same text as an earlier one"), "{}", done.stdout);

    let notes = home.write("notes.jsonl", "my notes\n");
    let done = join(&home, &queries, &notes, &[]);
    done.assert_error("line 1 of `", "name a file that does not exist");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "my notes\n");
    let bad = home.write("bad.jsonl", "{\"query\": 7}\n");
    let done = join(&home, &bad, &path("new.jsonl"), &[]);
    done.assert_error("is not a query with", "one JSON object a line");
    let done = join(&home, &queries, &path("new.jsonl"), &["--chat-url", "http://localhost:1/v1"]);
    assert_eq!(done.code, 2);
    let library = library();
    let done = home.run(&["synth", "composer", "--library", &library, "--out", &path("new.jsonl")]);
    done.assert_error("needs a chat model", "--chat-url");
    assert!(!home.path("new.jsonl").exists());
}

#[test]
fn a_model_writes_tasks_of_sets_and_its_order_is_checked() {
    let home = Home::new();
    let out = home.path("sets.jsonl").display().to_string();
    let server = ChatServer::start(|n, asked| {
        let document = asked.document();
        let skills = document["skills"].as_array().unwrap();
        let mut order: Vec<Value> = skills.iter().map(|skill| skill["letter"].clone()).collect();
        // Bubble the letters until the order keeps to what comes before what.
        let before: Vec<[Value; 2]> = serde_json::from_value(document["before"].clone()).unwrap();
        for _ in 0..20 {
            for [first, second] in &before {
                let place = |letter| order.iter().position(|known| known == letter).unwrap();
                let (at, after) = (place(first), place(second));
                if at > after {
                    order.swap(at, after);
                }
            }
        }
        match n {
            0 => order.truncate(1),
            1 => order.reverse(),
            _ => {}
        }
        // As many words as are asked for at most.
        let (before_unit, _) = asked.turn(0).split_once(" words, in English").unwrap();
        let n_words = before_unit.rsplit(' ').next().unwrap().parse().unwrap();
        (200, json!({ "order": order, "query": prose(n, n_words) }).to_string())
    });
    let more = ["-n", "6", "--share-single", "0", "--share-dependency", "1", "--attempts", "4"];
    let done = synth(&home, &server, "composer", &out, &more);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("not all skills once"), "{}", done.stdout);
    assert!(done.stdout.contains("against the order of a dependency"), "{}", done.stdout);
    let written = rows(&out);
    assert_eq!(written.len(), 6);
    for row in &written {
        let skills = row["skill_ids"].as_array().unwrap();
        assert!((2..=5).contains(&skills.len()));
        assert_eq!((&row["kind"], &row["model"]), (&"set".into(), &"small".into()));
        for edge in row["edges"].as_array().unwrap() {
            let place = |end: &str| skills.iter().position(|id| *id == edge[end]).unwrap();
            assert!(place("from") < place("to"));
        }
    }
}

#[test]
fn a_model_says_which_candidates_do_not_work_and_the_rows_train_a_composer() {
    let home = Home::new();
    let out = home.path("rejects.jsonl").display().to_string();
    let ids = fixture_ids();
    let mut lines = String::new();
    for (n, pair) in ids.chunks_exact(2).enumerate() {
        let query = format!(
            "{} and {}",
            pair[0].rsplit('/').next().unwrap().replace('-', " "),
            pair[1].rsplit('/').next().unwrap().replace('-', " ")
        );
        let id = format!("t-{n:02}");
        lines += &json!({ "query_id": id, "query": query, "skill_ids": pair }).to_string();
        lines.push('\n');
    }
    lines += "{\"query\": \"of another library\", \"skill_ids\": [\"not/there\"]}\n";
    let tasks = home.write("tasks.jsonl", &lines);
    let server = ChatServer::start(|n, asked| {
        let document = asked.document();
        let letters = |field: &str| -> Vec<String> {
            let shown = document[field].as_array().unwrap().iter();
            shown.map(|skill| skill["letter"].as_str().unwrap().to_owned()).collect()
        };
        let (right, others) = (letters("right"), letters("candidates"));
        assert_eq!(right, ["A", "B"]);
        // The reasons stand in the instructions.
        assert!(asked.turn(0).contains("`too_narrow`"));
        let said = match n {
            // A right skill, and a reason of its own, are refused.
            0 => json!({ "rejected": [{ "skill": "A", "why": "stage" }] }),
            1 => json!({ "rejected": [{ "skill": "C", "why": "ugly" }] }),
            _ => json!({
                "rejected": [{ "skill": others[0], "why": "words_only", "with": right[1] }],
                "also": others.iter().skip(1).take(1).collect::<Vec<_>>(),
            }),
        };
        (200, format!("Here:\n```json\n{said}\n```"))
    });
    let more = ["--tasks", &tasks, "-n", "12", "--candidates", "6"];
    let done = synth(&home, &server, "reject", &out, &more);
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("no candidate that was shown"), "{}", done.stdout);
    assert!(done.stdout.contains("no reason of the list"), "{}", done.stdout);
    let written = rows(&out);
    assert_eq!(written.len(), 12);
    for row in &written {
        let right = row["skill_ids"].as_array().unwrap();
        let rejected = row["rejected"].as_array().unwrap();
        assert_eq!((rejected.len(), &rejected[0]["why"]), (1, &"words_only".into()));
        assert!(!right.contains(&rejected[0]["skill_id"]));
        assert_eq!(rejected[0]["with"], right[1]);
        let seen = row["seen"].as_array().unwrap();
        assert!(seen.contains(&rejected[0]["skill_id"]) && seen.len() <= 8);
        assert!(row["query_id"].as_str().unwrap().starts_with("t-"));
    }
    // A larger number asks about those that are left, and no task twice.
    let again = synth(&home, &server, "reject", &out, &["--tasks", &tasks, "-n", "100"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    let keys: BTreeSet<String> = rows(&out).iter().map(|row| row["query_id"].to_string()).collect();
    let n_tasks = ids.chunks_exact(2).len();
    assert_eq!((rows(&out).len(), keys.len()), (n_tasks, n_tasks));

    assert_eq!(home.run(&["index", &library(), "--index", &home.index()]).code, 0);
    let weights = |name: &str, more: &[&str]| {
        let path = home.path(name).display().to_string();
        let fixed = ["train", "composer", "--tasks", &out, "--out", &path];
        let index = ["--index".to_owned(), home.index()];
        let index: Vec<&str> = index.iter().map(String::as_str).collect();
        let done = home.run(&[&fixed[..], &index, more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        fs::read_to_string(path).unwrap()
    };
    let plain = weights("plain.json", &[]);
    assert_eq!(weights("one.json", &["--rejected-weight", "1"]), plain);
    assert_ne!(weights("five.json", &["--rejected-weight", "5"]), plain);
    let empty = home.write("empty.jsonl", "{\"query\": \" \", \"skill_ids\": [\"a\"]}\n");
    let new = home.path("new.jsonl").display().to_string();
    let done = synth(&home, &server, "reject", &new, &["--tasks", &empty]);
    assert!(done.code == 2 && done.stderr.contains("line 1 of `"), "{}", done.stderr);
    assert!(!home.path("new.jsonl").exists());
    let fixed = ["train", "composer", "--tasks", &out, "--out", &new, "--index", &home.index()];
    let done = home.run(&[&fixed[..], &["--rejected-weight=-1"]].concat());
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("the weight of rejected skills is 0 or more"), "{}", done.stderr);
}
