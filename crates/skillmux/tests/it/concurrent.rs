//! Readers and writers at the same time.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use skillmux::{
    Error,
    compose::Decision,
    decompose::{Decomposer, WholeTask},
    index::{Index, UpdateMode},
    query::{Need, Query},
    route::{RouteOptions, Router, Stages},
    skill::SkillId,
};

use crate::library::{Line, Workshop, contents, options, sample};

const N_COMMITS: usize = 30;

/// Returns a library that says its version in every text, and by its size.
fn version(number: usize) -> Vec<Line> {
    let line = |n: usize| {
        let body = format!("version{number} of the tables, part {n}.\n");
        Line::new(&format!("pool/{n}"), &format!("tables-{n}"), "Tables of a version", &body)
    };
    (0..n_skills(number)).map(line).collect()
}

fn n_skills(number: usize) -> usize {
    3 + number % 4
}

/// Returns the version that every text of an index says.
fn version_of(index: &Index) -> usize {
    let texts = contents(index).unwrap();
    let number_of = |body: &str| -> usize {
        let number = body.strip_prefix("version").unwrap().split(' ').next().unwrap();
        number.parse().unwrap()
    };
    let number = number_of(&texts[0].skill.body);
    assert!(texts.iter().all(|text| number_of(&text.skill.body) == number));
    assert_eq!(texts.len(), n_skills(number));
    assert_eq!(index.manifest().n_skills as usize, n_skills(number));
    number
}

#[test]
fn readers_see_the_old_generation_or_the_new_one() {
    let workshop = Workshop::with(&version(0));
    let is_done = AtomicBool::new(false);
    let n_seen = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut last, mut n_seen) = (0, 1);
            while !is_done.load(Ordering::Acquire) {
                let index = workshop.open().unwrap();
                let number = version_of(&index);
                assert!(number >= last, "{number} after {last}");
                n_seen += usize::from(number > last);
                last = number;
                let router = Router::new(index, Stages::default()).unwrap();
                let query = Query::new(format!("tables of version{number}")).unwrap();
                let route = router.route(&query, &RouteOptions::default()).unwrap();
                assert!(!route.pages.is_empty());
                for node in route.pages.iter().flat_map(|page| &page.nodes) {
                    assert!(node.text.contains(&format!("version{number} ")), "{}", node.text);
                }
            }
            n_seen
        });
        for number in 1..=N_COMMITS {
            workshop.update(&version(number)).unwrap();
        }
        is_done.store(true, Ordering::Release);
        reader.join().unwrap()
    });
    assert!(n_seen > 1, "the reader never saw a new generation");
    assert_eq!(version_of(&workshop.open().unwrap()), N_COMMITS);
}

#[test]
fn an_open_index_outlives_its_files() {
    let workshop = Workshop::with(&version(0));
    let router = Router::new(workshop.open().unwrap(), Stages::default()).unwrap();
    for number in 1..4 {
        workshop.update(&version(number)).unwrap();
    }
    assert_eq!(version_of(&router.index()), 0);
    let query = Query::new("tables").unwrap();
    assert!(!router.search(&query, 10).unwrap().candidates.is_empty());
    assert!(router.refresh().unwrap());
    assert_eq!(version_of(&router.index()), 3);
    assert!(!router.refresh().unwrap());
}

/// Lets something happen while a task is routed.
struct Meanwhile(Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>);

impl Decomposer for Meanwhile {
    fn identity(&self) -> String {
        "meanwhile".to_owned()
    }

    fn decompose(&self, query: &Query) -> skillmux::Result<Vec<Need>> {
        if let Some(happen) = self.0.get() {
            happen();
        }
        WholeTask.decompose(query)
    }
}

#[test]
fn a_route_ends_with_the_generation_that_it_began_with() {
    let workshop = Workshop::with(&version(0));
    let meanwhile = Arc::new(OnceLock::new());
    let decomposer = Box::new(Meanwhile(Arc::clone(&meanwhile)));
    let stages = Stages { decomposer, ..Stages::default() };
    let router = Arc::new(Router::new(workshop.open().unwrap(), stages).unwrap());
    let fixed = router.fixed();
    let refreshed = Arc::downgrade(&router);
    let replace = move || {
        workshop.update(&sample()).unwrap();
        assert!(refreshed.upgrade().unwrap().refresh().unwrap());
    };
    assert!(meanwhile.set(Box::new(replace)).is_ok());
    let route = router.route(&Query::new("tables").unwrap(), &RouteOptions::default()).unwrap();
    let id = &route.steps[0].skills[0].id;
    assert!(id.as_str().starts_with("pool/"), "{id}");
    assert_eq!(router.n_skills(), sample().len());
    assert!(matches!(router.whereabouts(id), Err(Error::SkillUnknown { .. })));
    // One that stays where it is still knows the skill.
    assert_eq!(fixed.n_skills(), n_skills(0));
    fixed.whereabouts(id).unwrap();
    fixed.trust(id).unwrap();
}

#[test]
fn a_shared_router_answers_while_it_is_refreshed() {
    const N_COMMITS: usize = 4;
    let workshop = Workshop::with(&version(0));
    let router = Router::new(workshop.open().unwrap(), Stages::default()).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let ask = || {
            let query = Query::new("tables").unwrap();
            let mut n_answers = 0;
            while !is_done.load(Ordering::Acquire) || n_answers == 0 {
                let route = router.route(&query, &RouteOptions::default()).unwrap();
                assert_eq!(route.decision, Decision::Load);
                n_answers += 1;
            }
            n_answers
        };
        let readers = [scope.spawn(ask), scope.spawn(ask)];
        for number in 1..=N_COMMITS {
            workshop.update(&version(number)).unwrap();
            let refreshed = [0, 1].map(|_| scope.spawn(|| router.refresh().unwrap()));
            let n_new = refreshed.map(|thread| usize::from(thread.join().unwrap()));
            assert_eq!(n_new.iter().sum::<usize>(), 1, "one of two opens the new generation");
        }
        is_done.store(true, Ordering::Release);
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() > 0));
    });
    assert_eq!(version_of(&router.index()), N_COMMITS);
}

#[test]
fn a_reader_notices_an_index_that_was_made_anew_with_the_same_number() {
    let workshop = Workshop::with(&version(0));
    let router = Router::new(workshop.open().unwrap(), Stages::default()).unwrap();
    std::fs::remove_dir_all(workshop.index_path()).unwrap();
    workshop.update(&version(1)).unwrap();
    assert!(router.refresh().unwrap());
    assert_eq!(version_of(&router.index()), 1);
}

#[test]
fn a_second_writer_is_refused_and_the_first_goes_on() {
    let workshop = Workshop::new();
    let library = workshop.write(&sample());
    let update = |progress: &mut dyn FnMut(skillmux::index::Progress)| {
        let path = workshop.index_path();
        Index::update(&path, &library, &options(UpdateMode::Incremental), progress)
    };
    let mut n_refused = 0;
    update(&mut |_| {
        let refused = update(&mut |_| {}).unwrap_err();
        assert!(matches!(refused, Error::IndexLocked { .. }), "{refused}");
        n_refused += 1;
    })
    .unwrap();
    assert_eq!(n_refused, sample().len() + 1);
    assert_eq!(workshop.open().unwrap().n_skills(), sample().len());
    update(&mut |_| {}).unwrap();
}

#[test]
fn unchanged_sources_leave_the_generation_as_it_is() {
    let workshop = Workshop::with(&sample());
    let before = names(&workshop);
    let report = workshop.update(&sample()).unwrap();
    assert_eq!((report.generation, report.n_unchanged), (1, sample().len()));
    assert_eq!(names(&workshop), before);
    assert_eq!(workshop.rebuild(&sample()).unwrap().generation, 2);
}

#[test]
fn an_empty_library_leaves_the_index_as_it_was() {
    let workshop = Workshop::with(&sample());
    let before = names(&workshop);
    for outcome in [workshop.update(&[]), workshop.rebuild(&[])] {
        assert!(matches!(outcome, Err(Error::LibraryEmpty { n_sources: 1, .. })));
    }
    assert_eq!(names(&workshop), before);
    let index = workshop.open().unwrap();
    assert_eq!(index.n_skills(), sample().len());
    index.find(&SkillId::new("zh/fapiao")).unwrap();
}

fn names(workshop: &Workshop) -> Vec<String> {
    let entries = std::fs::read_dir(workshop.index_path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
