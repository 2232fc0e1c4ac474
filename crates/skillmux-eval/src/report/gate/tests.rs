//! Wins and losses made by hand, and what a gate makes of them.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

use super::*;
use crate::{
    answer::Answer,
    dataset::Dataset,
    evaluate::{Evaluation, Row},
    task::Task,
};

/// What both rankings do with some tasks.
#[derive(Clone, Copy)]
enum Pairs {
    /// The right skill is first in both.
    Even(usize),
    /// It is second in the old ranking, and first in the new one.
    Won(usize),
    /// It is first in the old ranking, and second in the new one.
    Lost(usize),
    /// It is second in the old ranking, and not in the new one.
    Missed(usize),
}

use Pairs::{Even, Lost, Missed, Won};

/// A dataset in the making, with the answers of both rankings.
#[derive(Default)]
struct Made {
    dataset: Dataset,
    old: Vec<Row>,
    new: Vec<Row>,
}

impl Made {
    /// Returns a dataset of one kind of task.
    fn of(pairs: &[Pairs]) -> Self {
        Self::default().with("", pairs)
    }

    /// Adds tasks of a language.
    fn with(mut self, lang: &str, pairs: &[Pairs]) -> Self {
        let (first, second, missed) = (&["right"][..], &["other", "right"][..], &["other"][..]);
        for pair in pairs {
            let (n_tasks, old, new) = match *pair {
                Even(n_tasks) => (n_tasks, first, first),
                Won(n_tasks) => (n_tasks, second, first),
                Lost(n_tasks) => (n_tasks, first, second),
                Missed(n_tasks) => (n_tasks, second, missed),
            };
            for _ in 0..n_tasks {
                let id = format!("t{}", self.dataset.tasks.len());
                let row = |ids: &[&str]| Row {
                    task_id: id.clone(),
                    answer: Answer::of_ranking(ids.iter().map(|id| ((*id).to_owned(), 1.0))),
                    time_us: 0,
                };
                self.old.push(row(old));
                self.new.push(row(new));
                let slices = [("lang".to_owned(), lang.to_owned())].into();
                let gold = ["right"].into_iter().collect();
                self.dataset.tasks.push(Task { id, gold, slices, ..Task::default() });
            }
        }
        self
    }

    fn judged(&self, name: &str) -> Result<GateDataset, Error> {
        let evaluation = |system: &str, rows: &Vec<Row>| Evaluation {
            system: system.to_owned(),
            rows: rows.clone(),
            ..Evaluation::default()
        };
        let evaluations = [evaluation("old", &self.old), evaluation("new", &self.new)];
        let scores = TaskScores::new(&self.dataset, &evaluations, None)?;
        GateDataset::new(name, &scores, Setting::default(), &options())
    }
}

fn options() -> GateOptions {
    let bootstrap = BootstrapConfig { n_resamples: 500, ..BootstrapConfig::default() };
    GateOptions { bootstrap, ..GateOptions::default() }
}

fn gate(made: &[Made]) -> Gate {
    let names = ["first", "second", "third"].into_iter().cycle();
    let datasets = made.iter().zip(names).map(|(made, name)| made.judged(name).unwrap());
    Gate::new(datasets.collect(), &options())
}

/// Returns the verdicts on Hit@1, the whole of each dataset before its slices.
fn hits(gate: &Gate) -> Vec<Verdict> {
    let comparisons = gate.datasets.iter().flat_map(|dataset| &dataset.comparisons);
    let hits = comparisons.filter(|comparison| comparison.test.measure == "Hit@1");
    hits.map(|comparison| comparison.verdict).collect()
}

#[test]
fn a_gain_is_promoted_and_its_reverse_is_not() {
    let won = gate(&[Made::of(&[Even(40), Won(20), Lost(5)])]);
    assert_eq!((won.is_promoted, hits(&won)), (true, vec![Verdict::Better]));
    let lost = gate(&[Made::of(&[Even(40), Won(5), Lost(20)])]);
    assert_eq!((lost.is_promoted, hits(&lost)), (false, vec![Verdict::Worse]));
    let hit = &lost.datasets[0].comparisons[0];
    assert!((hit.old - 60.0 / 65.0).abs() < 1e-12 && (hit.new - 45.0 / 65.0).abs() < 1e-12);
    assert!((hit.test.difference + 15.0 / 65.0).abs() < 1e-12 && hit.test.high < 0.0);
    assert_eq!((hit.test.n_wins, hit.test.n_losses), (5, 20));
}

#[test]
fn a_loss_within_its_interval_is_promoted() {
    let found = gate(&[Made::of(&[Even(51), Won(4), Lost(5)])]);
    assert_eq!((found.is_promoted, hits(&found)), (true, vec![Verdict::NotWorse]));
    assert!(found.datasets[0].comparisons[0].test.difference < 0.0);
}

#[test]
fn identical_rankings_are_promoted_however_few_the_tasks() {
    for n_tasks in [1, 60] {
        let found = gate(&[Made::of(&[Even(n_tasks)])]);
        assert_eq!((found.is_promoted, hits(&found)), (true, vec![Verdict::Same]));
    }
}

#[test]
fn recall_alone_keeps_a_ranking_out() {
    let found = gate(&[Made::of(&[Even(50), Missed(10)])]);
    let verdicts = found.datasets[0].comparisons.iter().map(|comparison| comparison.verdict);
    assert_eq!(verdicts.collect::<Vec<_>>(), [Verdict::Same, Verdict::Worse]);
    assert!(!found.is_promoted);
}

#[test]
fn one_dataset_is_enough_to_keep_a_ranking_out() {
    let found = gate(&[Made::of(&[Even(20), Won(40)]), Made::of(&[Even(40), Lost(20)])]);
    assert_eq!((found.is_promoted, hits(&found)), (false, vec![Verdict::Better, Verdict::Worse]));
}

#[test]
fn the_gain_of_a_dataset_does_not_make_up_for_the_loss_of_a_slice() {
    let made = Made::default().with("en", &[Even(60), Won(40)]).with("zh", &[Even(20), Lost(10)]);
    let found = gate(&[made]);
    let expected = [Verdict::Better, Verdict::Better, Verdict::Worse];
    assert_eq!((found.is_promoted, hits(&found)), (false, expected.to_vec()));
    let slice = GateSlice { key: "lang".into(), value: "zh".into() };
    assert_eq!(found.datasets[0].comparisons[4].slice, Some(slice));
}

#[test]
fn a_small_slice_cannot_tell_and_keeps_nothing_out() {
    let made = Made::default().with("en", &[Even(60), Won(40)]).with("zh", &[Lost(19)]);
    let found = gate(&[made]);
    let expected = [Verdict::Better, Verdict::Better, Verdict::CannotTell];
    assert_eq!((found.is_promoted, hits(&found)), (true, expected.to_vec()));
    // What cannot tell is no chance to look worse.
    assert_eq!(found.n_judged, 5);
}

#[test]
fn a_small_dataset_cannot_tell_and_keeps_a_ranking_out() {
    let small = || Made::of(&[Even(10), Won(8), Lost(1)]);
    let found = gate(&[Made::of(&[Even(60)]), small()]);
    assert_eq!(
        (found.is_promoted, hits(&found)),
        (false, vec![Verdict::Same, Verdict::CannotTell])
    );
}

/// The same count is in the documentation of [`GateOptions`].
#[test]
fn of_twenty_tasks_three_that_are_lost_are_worse() {
    let lost = |n_lost| hits(&gate(&[Made::of(&[Even(20 - n_lost), Lost(n_lost)])]));
    assert_eq!([lost(2), lost(3)].concat(), [Verdict::NotWorse, Verdict::Worse]);
}

/// Equally good rankings differ on one task in ten, and win or lose it by chance. The number of
/// false alarms is within 2.6 standard deviations of one in 20, as it is in 99 of 100 runs if the
/// rate is that.
#[test]
fn equally_good_rankings_look_worse_in_at_most_one_comparison_of_twenty() {
    const N_SAMPLES: u32 = 600;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut known: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    let bootstrap = BootstrapConfig { n_resamples: 499, ..BootstrapConfig::default() };
    let mut n_alarms = 0;
    for _ in 0..N_SAMPLES {
        let draws: Vec<u32> = (0..60).map(|_| rng.next_u32() % 20).collect();
        let n = |drawn| draws.iter().filter(|draw| **draw == drawn).count();
        let (won, lost) = (n(0), n(1));
        let column = |score: &dyn Fn(usize) -> bool| -> Vec<Option<f64>> {
            (0..60).map(|at| Some(f64::from(u8::from(score(at))))).collect()
        };
        let is_worse = || {
            let old = column(&|at| at >= won);
            let new = column(&|at| at < 60 - lost);
            let test = Tested::new(&measures()[0], &new, &old, &bootstrap);
            Verdict::of(&test, 20) == Verdict::Worse
        };
        n_alarms += u32::from(*known.entry((won, lost)).or_insert_with(is_worse));
    }
    let rate = f64::from(n_alarms) / f64::from(N_SAMPLES);
    let tolerance = 2.6 * (0.95 * 0.05 / f64::from(N_SAMPLES)).sqrt();
    assert!(0.0 < rate && rate < 0.05 + tolerance, "{rate}");
}

/// More datasets make Holm's correction stricter, and the gate no laxer.
#[test]
fn a_loss_is_no_smaller_for_the_number_of_comparisons() {
    let lost = || Made::of(&[Even(58), Won(1), Lost(8)]);
    let alone = gate(&[lost()]);
    let others = (0..6).map(|_| Made::of(&[Even(60), Won(1), Lost(1)]));
    let among = gate(&others.chain([lost()]).collect::<Vec<_>>());
    for (found, is_marked) in [(&alone, true), (&among, false)] {
        let last = &found.datasets.last().unwrap().comparisons[0];
        assert_eq!((last.verdict, last.test.is_significant), (Verdict::Worse, is_marked));
        assert!(!found.is_promoted);
    }
}

#[test]
fn a_slice_that_holds_all_tasks_that_count_is_not_judged_again() {
    let mut made = Made::of(&[Even(30)]);
    for rows in [&mut made.old, &mut made.new] {
        let answer = Answer::of_ranking([]);
        rows.push(Row { task_id: "none".into(), answer, time_us: 0 });
    }
    made.dataset.tasks.push(Task { id: "none".into(), ..Task::default() });
    assert_eq!(hits(&gate(&[made])), [Verdict::Same]);
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let mut made = Made::of(&[Even(30)]);
    made.new[7].answer.ranking = None;
    let error = made.judged("first").unwrap_err();
    assert_eq!(error.to_string(), "`new` gives no ranking for task `t7`");
    let mut made = Made::of(&[Even(3)]);
    made.dataset.tasks.iter_mut().for_each(|task| task.gold = crate::Gold::default());
    let error = made.judged("first").unwrap_err();
    assert_eq!(error.to_string(), "no task of `first` has a right skill to find");
}

#[test]
fn text_ends_with_the_verdict() {
    let mixed = || {
        let made = Made::default().with("en", &[Even(60), Won(40)]);
        made.with("zh", &[Even(20), Lost(10)]).with("ja\u{1b}[31m", &[Lost(3), Won(1)])
    };
    let found = gate(&[mixed(), Made::of(&[Even(9), Lost(1)])]);
    insta::assert_snapshot!(found.to_text(100));
    insta::assert_snapshot!("gate_as_json", gate(&[Made::of(&[Even(9), Lost(1)])]).to_json());
    let last = |found: &Gate| found.to_text(100).lines().last().unwrap().to_owned();
    let kept = gate(&[Made::default().with("en", &[Even(60)]).with("zh", &[Even(4), Lost(1)])]);
    let expected = "promoted: none of 5 comparisons is worse; 1 more have too few tasks to tell";
    assert_eq!(last(&kept), expected);
    let many: Vec<Made> = (0..5).map(|_| Made::of(&[Lost(30)])).collect();
    let expected = "not promoted: Hit@1 of first is worse; Hit@1 of second is worse; Hit@1 of third \
                    is worse; 2 more";
    assert_eq!(last(&gate(&many)), expected);
}
