//! What a line of Markdown begins with: an item of a list, a row of a table, a number.

/// Most characters of "Step 12:", with the colon.
const MAX_STEP_NAME: usize = 9;

/// A line of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// First byte in the text.
    pub(super) start: usize,
    /// The line without its end.
    pub(super) text: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn all(text: &'a str) -> impl Iterator<Item = Self> {
        text.split_inclusive('\n').scan(0, |next, line| {
            let start = *next;
            *next += line.len();
            Some(Self { start, text: line.trim_end_matches(['\n', '\r']) })
        })
    }

    /// Returns the byte after the last one of the line, its end left out.
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Tells whether it begins an item of a list.
    pub(super) fn is_item(&self) -> bool {
        begins_item(self.text)
    }

    /// Tells whether it is a row of a table.
    pub(super) fn is_row(&self) -> bool {
        self.text.trim_start().starts_with('|')
    }

    /// Tells whether it is the line between the names of a table and its rows.
    pub(super) fn is_delimiter(&self) -> bool {
        self.text.contains('-')
            && self.text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
    }

    /// Tells whether it is such a line below the names of a table, which may begin without a bar.
    pub(super) fn is_delimiter_below(&self, names: &Self) -> bool {
        self.is_delimiter()
            && (names.is_row() || names.text.contains('|') && self.text.contains('|'))
    }
}

/// Tells whether a text begins with an item of a list.
pub(super) fn begins_item(text: &str) -> bool {
    after_item_mark(text).is_some()
}

/// Returns what follows the mark of the item that a text begins with.
pub(super) fn after_item_mark(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark));
    bullet.or_else(|| numbered_item(text).map(|(_, after)| after))
}

/// Tells whether a text is lines of a paragraph: no item, row, quotation, comment or code.
pub(super) fn is_prose(text: &str) -> bool {
    !Line::all(text).any(|line| {
        let begin = line.text.trim_start();
        line.is_item()
            || begin.starts_with(['>', '<', '#'])
            || is_fence(begin)
            || begin.contains('|')
    })
}

/// Tells whether a line without its indent begins or ends fenced code.
pub(super) fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Tells whether the last line of a text is a row of a table, or the line below its names.
pub(super) fn ends_in_row(text: &str) -> bool {
    let is_of_table =
        |line: Line<'_>| line.is_row() || line.is_delimiter() && line.text.contains('|');
    Line::all(text).last().is_some_and(is_of_table)
}

/// Tells whether a text is rows of a table that begins before it.
pub(super) fn is_rows_without_head(text: &str) -> bool {
    let mut lines = Line::all(text);
    lines.next().is_some_and(|line| line.is_row())
        && !lines.next().is_some_and(|line| line.is_delimiter())
}

/// Returns the number that an item begins with.
pub(super) fn number_of(text: &str) -> Option<u32> {
    numbered_item(text.trim_start()).map(|(number, _)| number)
}

/// Returns the number of an item, and what follows its mark.
fn numbered_item(text: &str) -> Option<(u32, &str)> {
    let (number, after) = leading_number(text)?;
    let after = [". ", ") ", "、", "．"].iter().find_map(|mark| after.strip_prefix(mark))?;
    Some((number, after))
}

/// Returns the number of a step: that of an item, of a bold begin such as `**Step 3 — Test it**`,
/// or of `Step 3: Test it` and `第三步：测试`.
pub(super) fn step_number(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let is_titled = || {
        let title = text.split_inclusive([':', '：']).next().unwrap_or("");
        let begins = |noun: &str| {
            title.get(..noun.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(noun))
        };
        let has_noun = begins("step ") || title.starts_with("步骤") || title.starts_with('第');
        has_noun && title.ends_with([':', '：']) && title.chars().count() <= MAX_STEP_NAME
    };
    let has_name = text.starts_with("**") || is_titled();
    number_of(text).or_else(|| has_name.then(|| number_of_heading(text)).flatten())
}

/// Returns the number that a heading counts its section by: 3 of "3. Test it", "Step 3: Test it",
/// "第3步 测试". Of "1.2 Test it" it is 2.
pub(super) fn number_of_heading(title: &str) -> Option<u32> {
    const NOUNS: [&str; 8] = ["step ", "phase ", "stage ", "part ", "步骤", "阶段", "第", "step"];
    let title = title.trim_start_matches(['*', '_', '#', ' ']);
    let is_noun = |noun: &&&str| {
        title.get(..noun.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(noun))
    };
    let noun = NOUNS.iter().find(is_noun);
    let rest = title[noun.map_or(0, |noun| noun.len())..].trim_start();
    let (mut number, mut after) = leading_number(rest).or_else(|| chinese_number(rest))?;
    let mut is_dotted = false;
    while let Some((next, rest)) = after.strip_prefix('.').and_then(leading_number) {
        (number, after, is_dotted) = (next, rest, true);
    }
    let ends = after.is_empty()
        || after.starts_with(['.', ')', ':', '*', '、', '．', '：', '步', '章', '阶', '节']);
    // "2 ways to do it" counts no section; "Step 2 of it" does, and "1.2 Ways" as well.
    let is_counted = ends || after.starts_with([' ', '—', '-']) && (noun.is_some() || is_dotted);
    is_counted.then_some(number)
}

/// Returns a number of up to three digits at the begin of a text, and what follows.
fn leading_number(text: &str) -> Option<(u32, &str)> {
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, after) = text.split_at(n_digits);
    if n_digits > 3 { None } else { Some((digits.parse().ok()?, after)) }
}

/// Returns a Chinese number from one to ten at the begin of a text, and what follows.
fn chinese_number(text: &str) -> Option<(u32, &str)> {
    let mut chars = text.chars();
    let at = "一二三四五六七八九十".chars().position(|c| text.starts_with(c))?;
    chars.next();
    Some((u32::try_from(at).ok()? + 1, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_begin_with_their_numbers() {
        assert_eq!(number_of("  12. Do it"), Some(12));
        assert_eq!(number_of("3) Do it"), Some(3));
        assert_eq!(number_of("4、做"), Some(4));
        for text in ["", "1.5 times", "2026", "a. Do it", "99999999999. x", "1.", "- 1. x"] {
            assert_eq!(number_of(text), None, "{text}");
        }
    }

    #[test]
    fn steps_may_be_bold() {
        assert_eq!(step_number("**Step 2 — Preview first**: do"), Some(2));
        assert_eq!((step_number("2. Do"), step_number("**3.** Do")), (Some(2), Some(3)));
        assert_eq!((step_number("Step 2 is next."), step_number("**Note** 2")), (None, None));
    }

    #[test]
    fn steps_may_have_a_name() {
        for text in
            ["Step 3: Test it", "step 3：测试", "第三步：测试", "步骤3：测试", "  第3步: Test"]
        {
            assert_eq!(step_number(text), Some(3), "{text}");
        }
        for text in ["Step 3 of it: test", "Steps: 3", "第一天：测试", "Part 3: Test"] {
            assert_eq!(step_number(text), None, "{text}");
        }
    }

    #[test]
    fn headings_are_counted_in_many_ways() {
        for title in [
            "3. Test",
            "Step 3: Test",
            "step 3 - Test",
            "Phase 3",
            "1.3 Test",
            "第3步 测试",
            "三、测试",
            "步骤3：测试",
            "第三步",
            "3) Test",
            "**Step 3**: Test",
            "3",
        ] {
            let found = number_of_heading(title);
            assert_eq!(found, Some(3), "{title}");
        }
        for title in [
            "",
            "Test",
            "3 ways to test",
            "3D printing",
            "2026 plans",
            "Steps",
            "一般规则",
            "Party 3",
            "3 v1.0 ways",
        ] {
            assert_eq!(number_of_heading(title), None, "{title}");
        }
    }

    #[test]
    fn lines_know_where_they_stand() {
        let text = "a\r\n| b |\n|:-:|\n- c";
        let lines: Vec<Line<'_>> = Line::all(text).collect();
        assert_eq!(lines.iter().map(|line| line.start).collect::<Vec<_>>(), [0, 3, 9, 15]);
        assert_eq!((lines[0].text, lines[0].end()), ("a", 1));
        assert_eq!(lines.iter().map(Line::is_row).collect::<Vec<_>>(), [false, true, true, false]);
        assert!(lines[2].is_delimiter() && !lines[1].is_delimiter() && lines[3].is_item());
    }

    #[test]
    fn names_of_a_table_may_stand_without_a_first_bar() {
        let is_head = |text: &str| {
            let lines: Vec<Line<'_>> = Line::all(text).collect();
            lines[1].is_delimiter_below(&lines[0])
        };
        for text in ["| a |\n|---|", "| a |\n---", "a | b\n---|---", "a | b |\n:-:|--|"] {
            assert!(is_head(text), "{text}");
        }
        for text in ["a\n---", "a | b\n---", "a | b\nc | d", "a\n|---|"] {
            assert!(!is_head(text), "{text}");
        }
        assert!(ends_in_row("a | b\n---|---") && !ends_in_row("a | b") && !ends_in_row("a\n---"));
    }

    #[test]
    fn what_follows_the_mark_of_an_item_is_found() {
        for text in ["- x", "  * x", "+ x", "1. x", " 12) x", "3、x", "3．x"] {
            assert_eq!(after_item_mark(text), Some("x"), "{text}");
        }
        for text in ["", "x", "-x", "1.x", "**x**"] {
            assert_eq!(after_item_mark(text), None, "{text}");
        }
    }
}
