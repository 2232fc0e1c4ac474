//! Tells what a task is about from what goes with every task.

use super::phrase::begins_with;

/// Weight of a clause under a heading that introduces conditions, and of one that states one.
pub(super) const CONDITION_WEIGHT: f32 = 0.5;

/// Weight of a clause that is made of paths, code and numbers for the most part.
pub(super) const CODE_WEIGHT: f32 = 0.5;

/// Headings that introduce where things are or how the result is judged, not what is to be done.
const CONDITION_HEADINGS: [&str; 52] = [
    "acceptance",
    "acceptance criteria",
    "anti-requirements",
    "boundaries",
    "budget",
    "checks",
    "conditions",
    "constraints",
    "deadline",
    "definition of done",
    "deliverables",
    "do not",
    "don't",
    "done when",
    "environment",
    "expected output",
    "files",
    "format",
    "inputs",
    "limits",
    "location",
    "must",
    "non-goals",
    "not wanted",
    "notes",
    "out of scope",
    "output",
    "output format",
    "outputs",
    "paths",
    "restrictions",
    "rules",
    "success criteria",
    "testing",
    "tests",
    "verification",
    "where",
    "交付",
    "交付物",
    "其他",
    "文件",
    "格式",
    "注意",
    "注意事项",
    "环境",
    "约束",
    "要求",
    "输入",
    "输出",
    "限制",
    "预算",
    "验收标准",
];

/// Beginnings of a clause that states a condition or a courtesy. Words of letters are whole ones.
const CONDITION_STARTS: [&str; 50] = [
    "all tests",
    "already",
    "avoid",
    "best",
    "budget",
    "deadline",
    "do not",
    "don't",
    "due",
    "everything must",
    "format:",
    "hi",
    "i don't",
    "it must",
    "keep",
    "make sure",
    "must",
    "never",
    "no ",
    "not ",
    "nothing",
    "only ",
    "output",
    "please don't",
    "regards",
    "results must",
    "tests must",
    "thank",
    "thanks",
    "the tests",
    "there must",
    "they must",
    "this must",
    "we don't",
    "without",
    "you must",
    "不必",
    "不用",
    "不能",
    "不要",
    "不许",
    "别",
    "务必",
    "千万",
    "只要",
    "必须",
    "注意",
    "谢谢",
    "输出",
    "预算",
];

/// Returns whether a heading introduces conditions, whatever its case and marks.
pub(super) fn is_condition_heading(heading: &str) -> bool {
    let heading = heading.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    CONDITION_HEADINGS.binary_search(&heading.as_str()).is_ok()
}

/// Returns whether a clause of this weight asks for work: conditions, formats and paths weigh less.
pub(super) fn is_work(weight: f32) -> bool {
    weight > 0.9
}

/// Returns how much the words of a clause are about the work itself, in `(0, 1]`.
pub(super) fn weight(clause: &str) -> f32 {
    let clause_start = clause.trim_start_matches(|c: char| !c.is_alphanumeric());
    let lower = clause_start.to_lowercase().replace('\u{2019}', "'");
    let begins = |start: &&str| {
        let is_word = start.ends_with(|c: char| c.is_ascii_alphabetic());
        if is_word { begins_with(&lower, start) } else { lower.starts_with(start) }
    };
    let is_condition = CONDITION_STARTS.iter().any(begins);
    let condition = if is_condition { CONDITION_WEIGHT } else { 1.0 };
    if is_code_mostly(clause) { condition * CODE_WEIGHT } else { condition }
}

/// Returns whether more than half of the letters of a clause stand in paths, code and numbers.
fn is_code_mostly(clause: &str) -> bool {
    let (mut n_code, mut n_all) = (0, 0);
    let mut is_quoted = false;
    for word in clause.split_whitespace() {
        let n_chars = word.chars().count();
        let n_ticks = word.matches('`').count();
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_code = is_quoted
            || n_ticks > 0
            || inner.contains(['/', '\\', '_', '=', '{', '<', '$'])
            || inner.contains(|c: char| c.is_ascii_digit());
        is_quoted ^= n_ticks % 2 == 1;
        n_all += n_chars;
        n_code += if is_code { n_chars } else { 0 };
    }
    2 * n_code > n_all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(CONDITION_HEADINGS.is_sorted());
        assert!(CONDITION_STARTS.is_sorted());
    }

    #[test]
    fn conditions_and_code_weigh_less_than_the_work() {
        let of = |clause| (weight(clause) * 100.0).round();
        assert!((of("Translate the contract into German.") - 100.0).abs() < 0.1);
        assert!((of("Don't change the layout.") - 50.0).abs() < 0.1);
        assert!((of("Don\u{2019}t change the layout.") - 50.0).abs() < 0.1);
        assert!((of("Highlight the late rows.") - 100.0).abs() < 0.1);
        assert!((of("Format the cells as money.") - 100.0).abs() < 0.1);
        assert!((of("Hi, thanks for looking.") - 50.0).abs() < 0.1);
        assert!((of("不要改动原文件") - 50.0).abs() < 0.1);
        assert!((of("`src/app/main.rs`, `tests/it.rs` line 40") - 50.0).abs() < 0.1);
    }

    #[test]
    fn headings_are_told_whatever_their_marks() {
        assert!(is_condition_heading("**Acceptance criteria:**"));
        assert!(is_condition_heading("验收标准："));
        assert!(!is_condition_heading("Translate the contract"));
    }
}
