//! [`formalities`]: what a document has that says nothing of the work.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{clauses, is_request};

/// Lines at the beginning in which front matter ends.
const MAX_FRONT_LINES: usize = 60;

/// Paragraphs at the beginning in which lines such as `Author: Ann` are looked for.
const N_HEAD_PARAGRAPHS: usize = 5;

/// Most words of a line of a table of contents, and of a short line about the document.
const MAX_WORDS_OF_SHORT_LINE: usize = 12;

/// What only licences and notes of confidentiality say.
static LEGAL: LazyLock<Regex> = LazyLock::new(|| {
    let english = [
        r"permission is hereby granted",
        r"(this|above) (copyright notice|permission notice)",
        r#"provided ["“'']?as[ -]is"#,
        r"without warrant(y|ies) (or conditions )?of any kind",
        r"redistributions? (of|in) (source|binary)",
        r"you may not use this (file|work) except",
        r"spdx-license-identifier",
        r"in no event shall",
        r"unless required by applicable law",
        r"see the license for the specific",
        r"^\W*copyright( \(c\)|\W+\d{4}| ©)",
        r"^\W*(\(c\)|©) ?(copyright )?\d{4}",
        r"intended (solely|only) for (the|its) (addressee|recipient|use of)",
        r"if you (have received|are not the intended)\b.{0,60}\b(error|recipient)",
    ];
    let chinese = "版权所有|保留所有权利|仅供指定收件人|本邮件(及其附件)?(含有|包含|可能)";
    pattern(&format!("(?im){}|{chinese}", english.join("|")))
});

/// The heading of a table of contents.
static CONTENTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\W*(table of )?contents\W*$|^\W*(目录|目\s+录)\W*$"));

/// A line about the document, such as `Author: Ann`, or the row of a table about it.
static ABOUT_DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
    let english = [
        "approv(al|ed( by)?|er)",
        "assignees?",
        "authors?",
        "classification",
        "confidentiality",
        "copies",
        "created( (on|at|by))?",
        "date( of issue)?",
        "distribution( list)?",
        "doc(ument)?[ -]?(id|no|number|owner|status|version|type|control)\\.?",
        "file( ?name)?",
        "id",
        "labels?",
        "language",
        "last[ -](change[ds]?|edited|modified|review(ed)?|updated?)( (on|by))?",
        "layout",
        "licen[cs]e",
        "maintainers?",
        "milestone",
        "modified",
        "owners?",
        "page",
        "prepared by",
        "priority",
        "project (code|id|no|number)",
        "ref(erence)?",
        "reporter",
        "review(ed by|ers?)",
        "revision( history)?",
        "severity",
        "sprint",
        "status",
        "tags?",
        "template",
        "ticket( ?(id|no|number))?",
        "updated( at)?",
        "version",
    ];
    let chinese = "作者|日期|版本号?|状态|标签|编号|文档编号|密级|审核人?|审批人?|编制人?|负责人|\
                   更新时间|创建时间|最后更新|优先级|模板";
    let key = format!("({}|{chinese})", english.join("|"));
    pattern(&format!(r"(?i)^\s*([-*>|]\s*)*(\*\*|__)?{key}(\*\*|__)?\s*[:：|]"))
});

/// Keys of front matter that tell what a document is about.
static TELLING: LazyLock<Regex> = LazyLock::new(|| {
    let keys = "title|subject|summary|description|task|goal|request|标题|主题|摘要|任务|目标|描述";
    pattern(&format!(r"(?i)^\s*({keys})\s*[:：]"))
});

/// A line of front matter.
static FRONT_LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*$|^\s+\S|^\s*-\s|^\s*#|^[\w .-]{1,40}[:：](\s|$)"));

/// A box of a form that says what the user has done.
static DONE_BOX: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^\s*[-*]\s*\[[ x]\]\s*(i([’']ve| have| agree| confirm| am)\b|我(已|确认|同意))")
});

/// The beginning of a text that tells the model who it is.
static ROLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^\W*(system:?\s+)?(you are|you['’]re)\b|^\W*(你(现在)?是|您是)")
});

/// Beginnings of a sentence that goes on telling the model who it is.
static OF_ROLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(you|your|(when|if|where|before|unless) (you|in doubt)|always|never)\b|^\W*(你|您|始终|务必|永远)",
    )
});

/// Words of a wish: a line about the document or a sentence about the role stays if it has them.
static WISH: LazyLock<Regex> = LazyLock::new(|| {
    let english = "please|want|wants|need|needs|must|have to|has to|asked to|(will|first|then) (then |first )?(be|\\w+) (the|a|an|this|our|my|me|it|them)|task|job|goal|who (has|have|is|are) to|and (then )?\\w+ (the|a|an|this|our|my|me)";
    pattern(&format!(r"(?i)\b({english})\b|请|帮|任务|需要|想要|写|做|生成|翻译|整理"))
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is right")
}

/// Returns what a document has that says nothing of the work, in its order: front matter but for
/// its title and long lines, sentences of licences and notes of confidentiality, a table of contents,
/// comments on lines of their own, short lines such as `Author: Ann` at the beginning, and sentences
/// that tell the model who it is. Fenced code is left as it is. So are lines of front matter, lines
/// such as `Author: Ann` and sentences about the role that have words of a wish (`please`, `your
/// task`). Linear in the length of the task.
pub(crate) fn formalities(task: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let body = front_matter(task, &mut found);
    let paragraphs = paragraphs(task, body);
    let is_code =
        |paragraph: &Range<usize>| task[paragraph.clone()].trim_start().starts_with("```");
    let in_code = |at: usize| {
        let number = paragraphs.partition_point(|paragraph| paragraph.start <= at);
        paragraphs[..number].last().is_some_and(|part| at < part.end && is_code(part))
    };
    found.extend(comments(task).filter(|comment| {
        let before = task[..comment.start].trim_end_matches([' ', '\t']);
        let after = task[comment.end..].trim_start_matches([' ', '\t']);
        (before.is_empty() || before.ends_with('\n'))
            && (after.is_empty() || after.starts_with(['\n', '\r']))
            && !in_code(comment.start)
            && !in_code(comment.end - 1)
    }));
    let mut is_contents = false;
    for (number, paragraph) in paragraphs.iter().enumerate() {
        let text = &task[paragraph.clone()];
        let lines = || lines(task, paragraph.clone());
        if is_code(paragraph) {
            is_contents = false;
            continue;
        }
        let begins_contents = text.lines().next().is_some_and(|line| CONTENTS.is_match(line));
        if begins_contents || is_contents {
            let mut listed = lines().skip(usize::from(begins_contents)).peekable();
            // The list may stand below a blank line.
            let is_next = begins_contents && listed.peek().is_none();
            if listed.all(|line| is_entry(&task[line.clone()]) && !is_request(&task[line])) {
                found.push(paragraph.clone());
                is_contents = is_next;
                continue;
            }
        }
        is_contents = false;
        let start = paragraph.start;
        let sentences = || clauses(text).into_iter().map(|clause| clause.range);
        let placed = |range: Range<usize>| start + range.start..start + range.end;
        if LEGAL.is_match(text) {
            let legal = sentences().filter(|sentence| LEGAL.is_match(&text[sentence.clone()]));
            found.extend(legal.map(placed));
        }
        let is_head = number < N_HEAD_PARAGRAPHS;
        found.extend(lines().filter(|line| {
            let line = &task[line.clone()];
            is_head && ABOUT_DOCUMENT.is_match(line) && is_silent(line)
                || DONE_BOX.is_match(line) && !WISH.is_match(line)
        }));
        if number == 0 && ROLE.is_match(text) {
            let of_role = sentences().filter(|sentence| {
                let sentence = &text[sentence.clone()];
                OF_ROLE.is_match(sentence) && !WISH.is_match(sentence)
            });
            found.extend(of_role.map(placed));
        }
    }
    in_order(found)
}

/// Adds the lines of front matter that tell nothing. Returns where the text behind it begins.
fn front_matter(task: &str, found: &mut Vec<Range<usize>>) -> usize {
    let mut lines =
        lines(task, 0..task.len()).skip_while(|line| task[line.clone()].trim().is_empty());
    let is_fence = |line: &Range<usize>| task[line.clone()].trim_end() == "---";
    let Some(first) = lines.next().filter(is_fence) else { return 0 };
    let mut silent = vec![first];
    let mut is_telling = false;
    for line in lines.take(MAX_FRONT_LINES) {
        if is_fence(&line) {
            let end = line.end;
            silent.push(line);
            found.append(&mut silent);
            return end;
        }
        let text = &task[line.clone()];
        if !FRONT_LINE.is_match(text) {
            return 0;
        }
        is_telling = TELLING.is_match(text) || is_telling && text.starts_with([' ', '\t']);
        if !is_telling && is_silent(text) {
            silent.push(line);
        }
    }
    0
}

/// Returns whether a line about the document is short and wishes nothing.
fn is_silent(line: &str) -> bool {
    let n_words = line.split_whitespace().take(MAX_WORDS_OF_SHORT_LINE + 1).count();
    n_words <= MAX_WORDS_OF_SHORT_LINE && !WISH.is_match(line)
}

/// Returns comments such as `<!-- fill this in -->`.
fn comments(task: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + task[from..].find("<!--")?;
        from = start + task[start..].find("-->")? + "-->".len();
        Some(start..from)
    })
}

/// Returns the lines of a part of a text, without their ends.
fn lines(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = part.start;
    text[part].split_inclusive('\n').map(move |line| {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        range
    })
}

/// Returns the paragraphs of a text from a byte on: lines without a blank one between. A block of
/// fenced code is a paragraph of its own.
fn paragraphs(text: &str, from: usize) -> Vec<Range<usize>> {
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
    for line in lines(text, from..text.len()) {
        let content = text[line.clone()].trim();
        let is_fence = content.starts_with("```");
        is_open &= is_code || !is_fence && !content.is_empty();
        match paragraphs.last_mut() {
            Some(last) if is_open => last.end = line.end,
            _ if content.is_empty() => {}
            _ => {
                paragraphs.push(line);
                is_open = true;
            }
        }
        if is_fence {
            is_open = !is_code;
            is_code = !is_code;
        }
    }
    paragraphs
}

/// Returns whether a line can be one of a table of contents.
fn is_entry(line: &str) -> bool {
    line.split_whitespace().count() <= MAX_WORDS_OF_SHORT_LINE
        && !line.trim_end().ends_with(['.', '?', '!', ';', '。', '？', '！', '；'])
}

/// Returns ranges in their order, with those that touch or overlap as one.
fn in_order(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        decompose::without_ranges,
        growth::{Growing, assert_linear_in},
    };

    /// Returns a task without its formalities, and without blanks around lines.
    fn rest(task: &str) -> String {
        let rest = without_ranges(task, formalities(task));
        let lines = rest.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn front_matter_leaves_its_title() {
        let task = "---\ntitle: Annual review\nauthor: Ann\ntags:\n  - money\n---\nMake slides.";
        assert_eq!(rest(task), "title: Annual review\nMake slides.");
        let wish = "---\nauthor: Ann\nrequest: |\n  Translate the manual.\n---\n";
        assert_eq!(rest(wish), "request: |\nTranslate the manual.");
        let rule = "---\nMake slides of this, please.\n---\nThanks";
        assert_eq!(rest(rule), rule);
    }

    #[test]
    fn licences_and_notes_of_confidentiality_are_formalities() {
        for legal in [
            "Copyright (c) 2024 Halden AS",
            "Permission is hereby granted, free of charge, to any person, to merge copies.",
            "THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND.",
            "This message is intended solely for the addressee.",
            "版权所有 © 2024 某某公司。",
        ] {
            assert_eq!(rest(&format!("{legal}\n\nRead the tables.")), "Read the tables.");
        }
        let both = "Put the licence into our service: Permission is hereby granted to any person. \
                    Write a Dockerfile for it.";
        assert_eq!(rest(both).split(". ").last(), Some("Write a Dockerfile for it."));
        let asked = "Add a copyright line to each file, and choose a licence.";
        assert_eq!(rest(asked), asked);
    }

    #[test]
    fn a_table_of_contents_is_a_formality() {
        for contents in [
            "Contents\n1. Aim\n2. Work",
            "## Table of contents\n\n- Aim\n- Work",
            "目录\n一、背景\n二、任务",
        ] {
            assert_eq!(rest(&format!("{contents}\n\n1. Aim\n\nMend it.")), "1. Aim\nMend it.");
        }
        let listed = "Contents: mend the list\n\nIt is too long.";
        assert_eq!(rest(listed), listed.replace("\n\n", "\n"));
    }

    #[test]
    fn lines_about_the_document_and_comments_are_formalities() {
        let task = "# Slow page\n\n**Author:** Ann\n| Status | open |\n优先级：高\n<!-- say what\n\nyou want -->\n\
                    - [x] I have searched the issues\n- [ ] mend the page";
        assert_eq!(rest(task), "# Slow page\n- [ ] mend the page");
        for kept in
            ["Our page has <!-- in it\nand ends with --> there.", "Date: 3 May, please mend it"]
        {
            assert_eq!(rest(kept), kept);
        }
        let code = "Mend it:\n\n```html\n<!-- a head -->\n```";
        assert_eq!(rest(code), code.replace("\n\n", "\n"));
    }

    #[test]
    fn what_tells_the_model_who_it_is_is_a_formality() {
        for wish in [
            "You are an expert. Your task is to translate the manual.",
            "You are the one who has to translate the manual.",
            "你是一名行政助理，请帮我写一份周报。",
        ] {
            assert!(
                wish.ends_with(&rest(wish)) && rest(wish).chars().count() > 8,
                "{}",
                rest(wish)
            );
        }
        let task = "You are a senior engineer. You think step by step. Never invent APIs. \
                    Find out why the query is slow.";
        assert_eq!(rest(task), "Find out why the query is slow.");
        assert_eq!(
            rest("你是一名资深工程师。你从不编造。请找出慢查询的原因。"),
            "请找出慢查询的原因。"
        );
        let asked = "Tell me whether you are sure. You were late.";
        assert_eq!(rest(asked), asked);
    }

    #[test]
    fn what_is_wished_is_no_formality() {
        for task in [
            "You have to slim our Dockerfile.",
            "You must clean the rows. You then draw a chart of them.",
            "Contents:\n- write a press release\n- make slides",
            "- [x] I want you to write subtitles",
        ] {
            assert_eq!(rest(task), task);
        }
        let role = "You are a senior engineer. You have to slim our Dockerfile.";
        assert_eq!(rest(role), "You have to slim our Dockerfile.");
    }

    #[test]
    fn a_comment_at_the_very_end_goes_and_one_that_ends_in_code_stays() {
        assert_eq!(rest("Make slides.\n<!-- fill this in -->"), "Make slides.");
        let open = "Fix it:\n\n<!-- see\n\n```\nx -->\ny\n```";
        assert_eq!(without_ranges(open, formalities(open)), open);
    }

    #[test]
    fn they_are_found_in_linear_time() {
        for unit in ["<!-- ", "<!-- a -->\n\n", "```\n", "You are a ", "Contents\n\n- a\n"] {
            let growing = Growing { head: "", unit, tail: "" };
            assert_linear_in(growing, 64_000, |task| drop(formalities(task)));
        }
        let comments = "<!-- a -->\n".repeat(2_000);
        let growing = Growing { head: "", unit: " ", tail: &comments };
        assert_linear_in(growing, 64_000, |task| drop(formalities(task)));
    }
}
