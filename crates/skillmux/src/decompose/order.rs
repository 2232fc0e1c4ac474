//! [`dependencies`]: which subtasks must wait for which.

use super::{head, tail, verbs::VERBS};
use crate::text::Analyzer;

/// Beginnings of a subtask that follows the one before it; work on code is pushed once it is done.
const FOLLOWING: [&str; 23] = [
    "after that",
    "after this",
    "afterwards",
    "based on",
    "commit",
    "next",
    "once",
    "open a pr",
    "open a pull request",
    "push",
    "subsequently",
    "then",
    "when that",
    "when you are done",
    "when you're done",
    "接着",
    "之后",
    "然后",
    "随后",
    "再",
    "据此",
    "照着",
    "按这",
];

/// Beginnings of a subtask that must come before the previous one, if a mark or a verb follows.
const PRECEDING: [&str; 5] =
    ["before that", "beforehand", "but before that", "but first", "在此之前"];

/// The end of such a subtask that begins with `but`.
const BEFORE_THAT: &str = " before that";

/// Its ends: `fix the query, and back the database up first`.
const PRECEDING_ENDS: [&str; 2] = [" beforehand", " first"];

/// Words with which `first` tells of a list or of a race: `put the worst ones first`.
const LISTED: [&str; 19] = [
    "api", "best", "came", "come", "comes", "items", "list", "mobile", "most", "newest", "oldest",
    "ones", "put", "rank", "show", "sort", "things", "which", "worst",
];

/// Beginning of a subtask that must wait for the next one: `before you fix the query, back the
/// database up`.
const WAITING: [&str; 1] = ["before you"];

/// Beginnings of a subtask that follows all that no other one follows yet.
const CLOSING: [&str; 7] =
    ["at last", "at the end", "finally", "in the end", "lastly", "最后", "最终"];

/// Words for what all earlier subtasks make.
const ALL_RESULTS: [&str; 6] =
    ["all of that", "all of this", "all that", "all the above", "all this", "以上所有"];

/// Words that stand for what an earlier subtask makes, as the object of a verb.
const OBJECTS: [&str; 6] = ["it", "that", "them", "these", "those", "both"];

/// Words before such an object.
const PREPOSITIONS: [&str; 10] =
    ["about", "by", "for", "from", "in", "into", "of", "on", "to", "with"];

/// Words that say that the next one was named before.
const DEFINITE: [&str; 6] = ["its", "that", "the", "their", "these", "those"];

/// Things that an earlier subtask made, whatever it was.
const RESULTS: [&str; 7] =
    ["findings", "numbers", "outcome", "output", "outputs", "result", "results"];

/// Chinese words for what an earlier subtask made, or that it is done.
const CHINESE_RESULTS: [&str; 14] = [
    "上面",
    "写完",
    "出来的",
    "做好",
    "做完",
    "它",
    "完成后",
    "弄完",
    "弄好",
    "改完",
    "根据结果",
    "用这",
    "结果",
    "这些",
];

/// Words of a subtask, from its verb on, among which an object stands.
const N_BEFORE_OBJECT: usize = 4;

/// Shortest noun by which a subtask names what an earlier one is about.
const MIN_LETTERS: usize = 4;

/// Returns for each subtask the positions of those that must come first, rising: the direct ones
/// only. `None` stands for what has no place in the order.
///
/// Marks of order decide (`then`, 最后; `first` and `before that` turn the order round), words for
/// what an earlier subtask makes (`from it`, `the results`), and nouns that the earlier one names
/// (`the chart`). Numbers of a list do not: they may count jobs that have nothing to do with each
/// other. It is the DAG of `SkillWeaver` (section 4.3), whose rules are not published.
pub(crate) fn dependencies(subtasks: &[Option<&str>]) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<usize>> = Vec::with_capacity(subtasks.len());
    // The one that comes last so far.
    let mut last = None;
    let is_waiting = |at: usize| {
        let text = subtasks[at].map(|subtask| head(subtask).to_lowercase());
        text.is_some_and(|text| begins_with(&text, &WAITING))
    };
    for (at, subtask) in subtasks.iter().enumerate() {
        let earlier: Vec<usize> = (0..at).filter(|before| subtasks[*before].is_some()).collect();
        let (Some(subtask), Some(latest)) = (subtask, last) else {
            last = subtask.map(|_| at).or(last);
            all.push(Vec::new());
            continue;
        };
        let text = head(subtask).to_lowercase();
        let is_next = latest + 1 == at && is_waiting(latest);
        if is_next || is_before_the_last(&text, &tail(subtask).to_lowercase()) {
            // It waits for what the other one waited for.
            let first = std::mem::replace(&mut all[latest], vec![at]);
            all.push(first);
            continue;
        }
        let is_last =
            begins_with(&text, &CLOSING) || ALL_RESULTS.iter().any(|all| text.contains(all));
        let mut first: Vec<usize> = if is_last {
            let is_followed = |at: &usize| all.iter().any(|first: &Vec<usize>| first.contains(at));
            earlier.iter().copied().filter(|at| !is_followed(at)).collect()
        } else if begins_with(&text, &FOLLOWING) || refers_back(&text) {
            vec![latest]
        } else {
            let names = |before: &&usize| subtasks[**before].is_some_and(|a| names_of(&text, a));
            earlier.iter().rev().find(names).into_iter().copied().collect()
        };
        first.sort_unstable();
        all.push(direct(&all, &first));
        last = Some(at);
    }
    let positions = |first: Vec<usize>| first.into_iter().filter_map(|at| u32::try_from(at).ok());
    all.into_iter().map(|first| positions(first).collect()).collect()
}

/// Returns whether a subtask says that it comes before the one that is last so far; `end` is its
/// end.
fn is_before_the_last(text: &str, end: &str) -> bool {
    if begins_with(text, &FOLLOWING) {
        return false;
    }
    let start = without_lead(text);
    let after = PRECEDING.iter().find_map(|words| start.strip_prefix(words));
    if let Some(after) = after {
        let word = words(after).first().copied().unwrap_or_default();
        let is_apart = !after.trim_start().starts_with(char::is_alphanumeric);
        let is_chinese = after.starts_with(|c: char| c.is_alphabetic() && !c.is_ascii());
        return is_apart || is_chinese || VERBS.binary_search(&word).is_ok();
    }
    let end = end.trim_end_matches(|c: char| !c.is_alphanumeric());
    if end.ends_with(BEFORE_THAT) {
        return start.starts_with("but ");
    }
    let is_listed = |word: &&str| LISTED.contains(word) || word.ends_with("est");
    PRECEDING_ENDS.iter().any(|words| end.ends_with(words)) && !words(end).iter().any(is_listed)
}

/// Leaves out what another one waits for.
fn direct(all: &[Vec<usize>], first: &[usize]) -> Vec<usize> {
    let waits = |later: usize, earlier: usize| {
        let mut open = vec![later];
        let mut seen = vec![false; all.len()];
        while let Some(at) = open.pop() {
            if at == earlier {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&all[at]);
            }
        }
        false
    };
    let is_direct = |at: &usize| !first.iter().any(|other| other != at && waits(*other, *at));
    first.iter().copied().filter(is_direct).collect()
}

/// Returns a text without the marks before it, and without an `and`.
fn without_lead(text: &str) -> &str {
    let is_mark = |c: char| !c.is_alphanumeric();
    let text = text.trim_start_matches(is_mark);
    text.strip_prefix("and ").map_or(text, |rest| rest.trim_start_matches(is_mark))
}

/// Returns whether a text begins with one of these words, after an `and` if there is one.
fn begins_with(text: &str, starts: &[&str]) -> bool {
    let text = without_lead(text);
    let is_word = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    starts.iter().any(|start| text.strip_prefix(start).is_some_and(is_word))
}

fn words(text: &str) -> Vec<&str> {
    let trimmed =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    trimmed.filter(|word| !word.is_empty()).collect()
}

/// Returns whether a text speaks of what an earlier subtask makes.
fn refers_back(text: &str) -> bool {
    let words = words(text);
    let is_object = |word: &&str| OBJECTS.contains(word);
    let has_object = words.iter().take(N_BEFORE_OBJECT).skip(1).any(is_object);
    let has_result = words.windows(2).any(|pair| {
        PREPOSITIONS.contains(&pair[0]) && is_object(&pair[1])
            || DEFINITE.contains(&pair[0]) && RESULTS.contains(&pair[1])
    });
    // 推完, 改完: once that is done.
    let is_done = text.chars().take(3).skip(1).any(|c| c == '完');
    has_object
        || has_result
        || is_done
        || CHINESE_RESULTS.iter().any(|result| text.contains(result))
}

/// Returns whether a text names with `the` or the like what an earlier subtask speaks of.
fn names_of(text: &str, earlier: &str) -> bool {
    let earlier = terms(earlier);
    let words = words(text);
    let named = words.windows(2).filter(|pair| DEFINITE.contains(&pair[0]));
    let mut nouns = named.map(|pair| pair[1]).filter(|noun| noun.len() >= MIN_LETTERS);
    nouns.any(|noun| terms(noun).iter().any(|term| earlier.contains(term)))
}

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::new().for_each_term(text, &mut |term| terms.push(term.to_owned()));
    terms
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order(subtasks: &[&str]) -> Vec<Vec<u32>> {
        dependencies(&subtasks.iter().map(|text| Some(*text)).collect::<Vec<_>>())
    }

    #[test]
    fn marks_of_order_and_objects_make_edges() {
        assert_eq!(
            order(&[
                "pull the tables out of the reports,",
                "build a forecast from them,",
                "then put it on six slides"
            ]),
            [vec![], vec![0], vec![1]]
        );
        assert_eq!(
            order(&["先清洗表格，", "画一张折线图，", "最后发给客户"]),
            [vec![], vec![], vec![0, 1]]
        );
        assert_eq!(
            order(&[
                "check the site for errors",
                "write a chart of the traffic",
                "mail the results",
                "and colour the chart"
            ]),
            [vec![], vec![], vec![1], vec![1]]
        );
    }

    #[test]
    fn a_task_may_say_what_comes_first_last() {
        for task in [
            ["Fix the slow query", "and back the database up first."],
            ["Before you fix the slow query", "back the database up"],
            ["Fix the slow query", "But back the database up before that."],
            ["优化查询", "在此之前备份数据库"],
            ["Review the contract", "before that, take the names out"],
        ] {
            assert_eq!(order(&task), [vec![1], vec![]], "{task:?}");
        }
        assert_eq!(order(&["Write the tests first", "then review it"]), [vec![], vec![0]]);
        for list in ["and list the bugs, the worst first", "list the calls, longest ones first"] {
            assert_eq!(order(&["Fix the query", list]), [vec![], vec![0; 0]]);
        }
        let three = ["clean the data", "but before that merge it", "then draw a chart"];
        assert_eq!(order(&three), [vec![1], vec![], vec![0]]);
        let four = ["pull the tables", "then draw a chart", "but before that, clean the CSV"];
        assert_eq!(order(&four), [vec![], vec![2], vec![0]]);
        let waiting = ["Before you deploy it", "write the tests", "then write a message"];
        assert_eq!(order(&waiting), [vec![1], vec![], vec![0]]);
        for then in ["then make the layout mobile first", "then write the docs first"] {
            assert_eq!(order(&["write unit tests", then]), [vec![], vec![0]], "{then}");
        }
        for apart in [
            "draw a chart of which runner came in first",
            "and put the security issues first",
            "before this Friday, write a press release",
            "sum up the sales of the year before that",
        ] {
            assert_eq!(order(&["Merge the files", apart]), [vec![], vec![0; 0]], "{apart}");
        }
    }

    #[test]
    fn jobs_of_a_list_have_no_order() {
        assert_eq!(
            order(&["book a flight", "water the plants", "translate my letter"]),
            [[0; 0]; 3]
        );
        let with_gap = [Some("clean the data"), None, Some("then draw a chart")];
        assert_eq!(dependencies(&with_gap), [vec![], vec![], vec![0]]);
        assert_eq!(order(&["make it fast"]), [[0; 0]; 1]);
    }

    #[test]
    fn what_another_one_waits_for_is_not_said_twice() {
        assert_eq!(
            order(&["write the report", "then translate it", "finally print the report"]),
            [vec![], vec![0], vec![1]]
        );
    }

    /// A task in parts, and which of them a person says must wait for which.
    #[derive(serde::Deserialize)]
    struct Task {
        #[serde(default)]
        spans: Vec<String>,
        #[serde(default)]
        edges: Vec<(usize, u32)>,
    }

    #[test]
    fn the_order_is_mostly_that_of_people() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/part-tasks.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        let (mut n_found, mut n_right, mut n_edges, mut n_same, mut n_tasks) = (0, 0, 0, 0, 0);
        for line in text.lines() {
            let Task { spans, edges } = serde_json::from_str(line).unwrap();
            // An edge names the earlier part first; a part may also wait for one that the task says
            // later.
            let edges: Vec<(u32, usize)> = edges
                .iter()
                .map(|(first, then)| (u32::try_from(*first).unwrap(), *then as usize))
                .collect();
            if spans.len() < 2 {
                continue;
            }
            let found: Vec<(u32, usize)> =
                order(&spans.iter().map(String::as_str).collect::<Vec<_>>())
                    .into_iter()
                    .enumerate()
                    .flat_map(|(at, first)| first.into_iter().map(move |first| (first, at)))
                    .collect();
            let n_both = found.iter().filter(|edge| edges.contains(edge)).count();
            n_tasks += 1;
            n_found += found.len();
            n_right += n_both;
            n_edges += edges.len();
            n_same += usize::from(n_both == edges.len() && n_both == found.len());
        }
        let precision = n_right as f64 / n_found as f64;
        let recall = n_right as f64 / n_edges as f64;
        let told = format!(
            "{n_tasks} tasks: precision {precision:.3}, recall {recall:.3}, the same {n_same}"
        );
        // As `docs/plan.md` says.
        assert_eq!(told, "192 tasks: precision 0.752, recall 0.611, the same 113");
    }

    proptest! {
        #[test]
        fn no_subtask_waits_for_itself(texts in prop::collection::vec("(then |finally |the |it |a |before you |before that )?[a-c ]{0,9}( first)?", 0..6)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut waiting: Vec<Vec<u32>> = order(&texts);
            prop_assert!(waiting.iter().all(|first| first.is_sorted()));
            let mut done: Vec<u32> = Vec::new();
            while done.len() < waiting.len() {
                let ready = |at: &u32| waiting[*at as usize].is_empty() && !done.contains(at);
                let next = (0..u32::try_from(waiting.len()).unwrap()).find(ready);
                prop_assert!(next.is_some(), "{:?}", order(&texts));
                done.extend(next);
                for first in &mut waiting {
                    first.retain(|at| Some(*at) != next);
                }
            }
        }
    }
}
