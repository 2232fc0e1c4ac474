//! Runs as a whole: what is asked again, counted, given up, and gone on with.

use std::{
    fs,
    path::Path,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use skillmux::{
    index::Index,
    model::{ChatModel, ChatRequest},
};
use tempfile::TempDir;

use super::{
    fixture::{index_of, skill, words, work_options},
    query::{QueryOptions, TaskKind, write_queries},
    sample::chance,
    work::{WorkOptions, WorkReport},
};

/// Answers with what a function makes of the request and the number of requests before it.
struct Fake<F> {
    n_requests: AtomicUsize,
    answer: F,
}

impl<F> Fake<F> {
    fn new(answer: F) -> Self {
        Self { n_requests: AtomicUsize::new(0), answer }
    }

    fn n_requests(&self) -> usize {
        self.n_requests.load(Ordering::Relaxed)
    }
}

impl<F> ChatModel for Fake<F>
where
    F: Fn(usize, &ChatRequest) -> skillmux::Result<String> + Send + Sync,
{
    fn name(&self) -> &'static str {
        "fake"
    }

    fn complete(&self, request: &ChatRequest) -> skillmux::Result<String> {
        (self.answer)(self.n_requests.fetch_add(1, Ordering::Relaxed), request)
    }
}

/// Returns a good answer whose words depend on a number.
fn good(n: usize) -> String {
    let words: Vec<String> = (0..15).map(|at| format!("thing{n}of{at}")).collect();
    format!("{{\"query\": \"Please sort {}\"}}", words.join(" "))
}

/// Returns a number that depends on which skill a request is about, and how often it was refused.
fn about(request: &ChatRequest) -> usize {
    let text = &request.messages[1].text;
    let hash = chance(0, &[text, &request.messages.len().to_string()]);
    usize::try_from(hash % 1_000_000).unwrap()
}

/// Returns a failure of the model; one that is called `final` ends a run.
fn failure(source: &str) -> skillmux::Error {
    skillmux::Error::Chat { name: "fake".to_owned(), hint: None, source: source.into() }
}

fn index() -> (TempDir, Index) {
    let body = |n: usize| words(&format!("word{n}"), 40);
    let skill = |n: usize| skill(&format!("a/ledger-sorter-{n:02}"), "Sorts ledgers", &body(n));
    index_of(&(0..12).map(skill).collect::<Vec<_>>())
}

const SHORT: QueryOptions = QueryOptions { kind: TaskKind::Short, share_zh: 0.0 };

fn run(model: &dyn ChatModel, index: &Index, options: &WorkOptions<'_>) -> WorkReport {
    write_queries(index, model, &SHORT, options).unwrap()
}

fn rows(out: &Path) -> Vec<String> {
    let mut rows: Vec<String> =
        fs::read_to_string(out).unwrap().lines().map(str::to_owned).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn refused_answers_are_asked_for_again_with_the_reason() {
    let (folder, index) = index();
    let out = folder.path().join("t.jsonl");
    let model = Fake::new(|n, request: &ChatRequest| match n {
        0 => Ok("I would rather not.".to_owned()),
        1 => Ok("{\"query\": \"too short\"}".to_owned()),
        _ => {
            let said: Vec<&str> =
                request.messages.iter().map(|message| message.text.as_str()).collect();
            assert_eq!(said.len(), 6);
            assert_eq!(said[2], "I would rather not.");
            assert!(said[3].contains("holds no JSON object of the form {\"query\""), "{}", said[3]);
            assert!(said[5].contains("has 2 words, but must have 6 to 80"), "{}", said[5]);
            Ok(good(n))
        }
    });
    let report = run(&model, &index, &work_options(1, &out));
    assert_eq!((report.n_written, report.n_given_up, report.n_requests), (1, 0, 3));
    let refusals: Vec<_> = report.refusals.into_iter().collect();
    assert_eq!(refusals, [("no JSON of the form asked for", 1), ("too short or too long", 1)]);
    assert!(report.n_tokens_sent > report.n_tokens_received && report.n_tokens_received > 0);
}

#[test]
fn a_row_that_is_refused_each_time_is_given_up_and_others_are_written() {
    let (folder, index) = index();
    let out = folder.path().join("t.jsonl");
    let model = Fake::new(|n, _: &ChatRequest| Ok(if n < 3 { "no".to_owned() } else { good(n) }));
    let report = run(&model, &index, &work_options(4, &out));
    assert_eq!((report.n_written, report.n_given_up, model.n_requests()), (4, 1, 7));
    assert_eq!(rows(&out).len(), 4);
}

#[test]
fn duplicates_are_refused() {
    let (folder, index) = index();
    let out = folder.path().join("t.jsonl");
    let model = Fake::new(|n, _: &ChatRequest| Ok(good(n / 2)));
    let report = run(&model, &index, &work_options(3, &out));
    assert_eq!((report.n_written, report.refusals["like an earlier one"]), (3, 2));
}

#[test]
fn a_run_goes_on_where_it_stopped() {
    let (folder, index) = index();
    let (whole, parts) = (folder.path().join("whole.jsonl"), folder.path().join("parts.jsonl"));
    let model = || Fake::new(|_, request: &ChatRequest| Ok(good(about(request))));
    run(&model(), &index, &work_options(9, &whole));
    assert_eq!(run(&model(), &index, &work_options(4, &parts)).n_written, 4);
    let again = model();
    let report = run(&again, &index, &work_options(9, &parts));
    assert_eq!((report.n_before, report.n_written, again.n_requests()), (4, 5, 5));
    assert_eq!(rows(&parts), rows(&whole));
    let again = model();
    let report = run(&again, &index, &work_options(9, &parts));
    assert_eq!((report.n_before, report.n_written, again.n_requests()), (9, 0, 0));
}

#[test]
fn rows_do_not_depend_on_the_number_of_threads() {
    let (folder, index) = index();
    let model = || {
        Fake::new(|_, request: &ChatRequest| {
            let n = about(request);
            // Some are refused, some are given up.
            Ok(if n.is_multiple_of(3) { "no".to_owned() } else { good(n) })
        })
    };
    let one = folder.path().join("one.jsonl");
    run(&model(), &index, &work_options(10, &one));
    let many = folder.path().join("many.jsonl");
    run(&model(), &index, &WorkOptions { n_parallel: 8, ..work_options(10, &many) });
    assert_eq!(rows(&one).len(), 10);
    assert_eq!(rows(&one), rows(&many));
}

#[test]
fn a_failure_loses_one_row_and_three_in_a_row_end_the_run() {
    let (folder, index) = index();
    let out = folder.path().join("t.jsonl");
    let model = Fake::new(|n, _: &ChatRequest| match n {
        1 | 3 | 6.. => Err(failure("once")),
        n => Ok(good(n)),
    });
    let report = run(&model, &index, &work_options(9, &out));
    assert_eq!((report.n_written, report.n_failed, model.n_requests()), (4, 5, 9));
    assert!(report.stopped.unwrap().to_string().contains("the chat model `fake` failed"));
    assert_eq!(rows(&out).len(), 4);
}

#[test]
fn a_failure_that_will_not_pass_ends_the_run_at_once() {
    let (folder, index) = index();
    let out = folder.path().join("t.jsonl");
    let model = Fake::new(|_, _: &ChatRequest| Err(failure("final")));
    let report = run(&model, &index, &work_options(9, &out));
    assert_eq!((report.n_written, model.n_requests()), (0, 1));
    assert!(report.stopped.is_some());
}

#[test]
fn a_model_that_is_refused_again_and_again_is_asked_no_more() {
    let (folder, index) = index();
    let out = folder.path().join("t.jsonl");
    let model = Fake::new(|n, _: &ChatRequest| Ok(if n < 5 { good(n) } else { good(0) }));
    let options = WorkOptions { max_attempts: 1, ..work_options(100, &out) };
    let report = run(&model, &index, &options);
    assert_eq!((report.n_written, report.n_given_up, model.n_requests()), (5, 20, 25));
    let said = report.stopped.unwrap().to_string();
    assert!(said.ends_with("mostly as `like an earlier one`"), "{said}");
}

#[test]
fn a_library_that_is_used_up_ends_the_run() {
    let skills = [skill("a", "Sorts all ledgers", &"Sort each ledger by its date. ".repeat(5))];
    let (folder, index) = index_of(&skills);
    let out = folder.path().join("t.jsonl");
    let model = Fake::new(|n, _: &ChatRequest| Ok(good(n)));
    let report = run(&model, &index, &work_options(1_000, &out));
    assert_eq!((report.n_written, report.is_exhausted), (20, true));
}

#[test]
fn a_panic_ends_the_run() {
    let (folder, index) = index();
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || {
        let model = Fake::new(|n, request: &ChatRequest| match n {
            0 => panic!("a test panics"),
            _ => Ok(good(about(request))),
        });
        let out = folder.path().join("out.jsonl");
        let options = WorkOptions { n_parallel: 2, ..work_options(1, &out) };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(&model, &index, &options);
        }));
        sender.send(outcome.is_err()).unwrap();
    });
    assert_eq!(ended.recv_timeout(Duration::from_secs(20)), Ok(true));
}
