//! [`Numbers`]: steps, sections, tables and figures that have a number.

use std::collections::{BTreeMap, HashMap};

use super::{
    compared,
    passage::{Passage, nearest},
    words::Word,
};
use crate::{
    page::markers::{number_of, number_of_heading},
    skill::NodeTree,
};

/// What is numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Noun {
    Step,
    Phase,
    Part,
    Section,
    Table,
    Figure,
}

const NOUNS: [(&str, Noun); 17] = [
    ("step", Noun::Step),
    ("steps", Noun::Step),
    ("phase", Noun::Phase),
    ("phases", Noun::Phase),
    ("stage", Noun::Phase),
    ("stages", Noun::Phase),
    ("part", Noun::Part),
    ("parts", Noun::Part),
    ("section", Noun::Section),
    ("sections", Noun::Section),
    ("chapter", Noun::Section),
    ("table", Noun::Table),
    ("tables", Noun::Table),
    ("figure", Noun::Figure),
    ("figures", Noun::Figure),
    ("fig", Noun::Figure),
    ("diagram", Noun::Figure),
];

/// Chinese nouns that stand before a number; the longer ones first.
const NOUNS_ZH: [(&str, Noun); 5] = [
    ("步骤", Noun::Step),
    ("阶段", Noun::Phase),
    ("章节", Noun::Section),
    ("表", Noun::Table),
    ("图", Noun::Figure),
];

/// Chinese nouns that stand after 第 and a number.
const COUNTERS_ZH: [(&str, Noun); 6] = [
    ("步", Noun::Step),
    ("阶段", Noun::Phase),
    ("部分", Noun::Part),
    ("节", Noun::Section),
    ("章", Noun::Section),
    ("个步骤", Noun::Step),
];

/// Most lines of a node whose numbers are looked at.
const MAX_LINES: usize = 256;

/// A number, and the one after the point of "2.1"; 0 if there is none.
type Number = [u32; 2];

/// A numbered node.
#[derive(Debug, Clone, Copy)]
struct Target {
    node: usize,
    /// The section whose heading has the number.
    section: Option<usize>,
}

/// What of a body has a number; every list rises by node.
pub(super) struct Numbers {
    /// Headings and captions, by what they call themselves.
    named: BTreeMap<(Option<Noun>, Number), Vec<Target>>,
    /// Items of lists.
    items: HashMap<Number, Vec<Target>>,
    /// Items of the lists of a section.
    items_of: HashMap<(Option<u32>, Number), Target>,
}

impl Numbers {
    pub(super) fn new(body: &str, tree: &NodeTree, first_in: &[Option<usize>]) -> Self {
        let mut numbers =
            Self { named: BTreeMap::new(), items: HashMap::new(), items_of: HashMap::new() };
        for (section, first_node) in first_in.iter().enumerate() {
            let Some(node) = *first_node else { continue };
            if let Some(name) = name_of(tree.sections[section].title(body)) {
                let target = Target { node, section: Some(section) };
                numbers.named.entry(name).or_default().push(target);
            }
        }
        for (node, of) in compared(tree).iter().enumerate() {
            let target = Target { node, section: None };
            for line in of.text(body).unwrap_or("").lines().take(MAX_LINES) {
                if let Some(number) = number_of(line).filter(|_| !line.starts_with([' ', '\t'])) {
                    let number = [number, 0];
                    numbers.items.entry(number).or_default().push(target);
                    numbers.items_of.entry((of.section, number)).or_insert(target);
                } else if let Some(name) = caption_of(line) {
                    numbers.named.entry(name).or_default().push(target);
                }
            }
        }
        for targets in numbers.named.values_mut() {
            targets.sort_by_key(|target| target.node);
        }
        numbers
    }

    /// Calls `add` with each node whose number a text names.
    pub(super) fn named(&self, passage: &Passage<'_>, add: &mut dyn FnMut(usize)) {
        for (noun, number) in mentions(passage.text, &passage.words) {
            let is_own = |target: &Target| {
                let is_around = |section| passage.around.contains(&section);
                target.node == passage.node || target.section.is_some_and(is_around)
            };
            let target = self.target(noun, number, passage);
            if let Some(target) = target.filter(|target| !is_own(target)) {
                add(target.node);
            }
        }
    }

    fn target(&self, noun: Noun, number: Number, passage: &Passage<'_>) -> Option<&Target> {
        let (from, section) = (passage.node, passage.section);
        let named = |noun: Option<Noun>| {
            nearest(self.named.get(&(noun, number))?, from, |target| target.node)
        };
        let is_step = noun == Noun::Step;
        named(Some(noun))
            .or_else(|| self.items_of.get(&(section, number)).filter(|_| is_step))
            .or_else(|| {
                let may_be_bare = matches!(noun, Noun::Step | Noun::Section | Noun::Part);
                named(None).filter(|_| may_be_bare)
            })
            .or_else(|| {
                let items = self.items.get(&number).filter(|_| is_step)?;
                nearest(items, from, |target| target.node)
            })
    }
}

/// Returns what a heading calls itself: the number of "2.1 Run", "Step 3: Run" and "第三步", and its
/// noun, if it has one.
fn name_of(title: &str) -> Option<(Option<Noun>, Number)> {
    let title = title.trim_start_matches(['*', '_', ' ']);
    if let Some((noun, number)) = mention_at_begin(title) {
        return Some((Some(noun), number));
    }
    let last = number_of_heading(title)?;
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let n_digits = digits(title);
    let first = title[..n_digits].parse().unwrap_or(last);
    let rest = title[n_digits..].strip_prefix('.').unwrap_or("");
    let second = rest[..digits(rest)].parse().unwrap_or(0);
    Some((None, [first, second]))
}

/// Returns what a line is the caption or the bold heading of: "Table 2: Sizes", "**Step 3 — Run**",
/// "图 1：…".
fn caption_of(line: &str) -> Option<(Option<Noun>, Number)> {
    let is_bold = line.starts_with("**");
    let line = line.trim_start_matches(['*', '_']);
    let (noun, number) = mention_at_begin(line)?;
    let is_caption =
        matches!(noun, Noun::Table | Noun::Figure) && line.contains([':', '：', '.', '*']);
    (is_bold || is_caption).then_some((Some(noun), number))
}

fn mention_at_begin(text: &str) -> Option<(Noun, Number)> {
    // Long enough for a noun and two numbers.
    let begin = &text[..text.floor_char_boundary(40)];
    let words = Word::all(begin);
    if words.first().is_none_or(|word| word.start > 0) {
        return None;
    }
    let (noun, number, _) = mention_at(begin, &words, 0)?;
    Some((noun, number))
}

/// Returns the numbered things that a text names, in its order: both ends of "steps 2-4", too.
fn mentions(text: &str, words: &[Word<'_>]) -> Vec<(Noun, Number)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((noun, number, mut next)) = mention_at(text, words, at) else {
            at += 1;
            continue;
        };
        found.push((noun, number));
        let joints = ["and", "to", "or", "through", "至", "到", "和", "与"];
        let is_joint = |word: &Word<'_>| word.is_one_of(&joints);
        let joint = words.get(next).is_some_and(is_joint);
        let after = next + usize::from(joint);
        if let Some(word) = words.get(after).filter(|word| word.number().is_some()) {
            let between = &text[words[next - 1].end()..words[next].start];
            let is_range = joint || matches!(between.trim(), "-" | "–" | "~" | "～" | "/" | ",");
            if let Some(second) = word.number().filter(|_| is_range && !between.contains('\n')) {
                found.push((noun, [second, 0]));
                next = after + 1;
            }
        }
        at = next;
    }
    found
}

/// Returns what is named at a word, and the word after it.
fn mention_at(text: &str, words: &[Word<'_>], at: usize) -> Option<(Noun, Number, usize)> {
    let word = words[at];
    if !word.is_han() {
        let (_, noun) = NOUNS.iter().find(|(known, _)| word.text.eq_ignore_ascii_case(known))?;
        let next = words.get(at + 1)?;
        let between = &text[word.end()..next.start];
        let is_beside = matches!(between, " " | "-" | " #" | ". " | "\u{a0}" | "");
        let (number, after) = number_at(text, words, at + 1)?;
        return is_beside.then_some((*noun, number, after));
    }
    let rest = &text[word.start..];
    if word.text == "第" {
        let (number, after) = number_at(text, words, at + 1)?;
        let rest = text[words[after - 1].end()..].trim_start();
        let (counter, noun) = COUNTERS_ZH.iter().find(|(known, _)| rest.starts_with(known))?;
        return Some((*noun, number, after + counter.chars().count()));
    }
    let (noun_text, noun) = NOUNS_ZH.iter().find(|(known, _)| rest.starts_with(known))?;
    let first = at + noun_text.chars().count();
    let between = text.get(word.start + noun_text.len()..words.get(first)?.start)?;
    let (number, after) = number_at(text, words, first)?;
    between.trim().is_empty().then_some((*noun, number, after))
}

/// Returns the number at a word, "2.1" included, and the word after it.
fn number_at(text: &str, words: &[Word<'_>], at: usize) -> Option<(Number, usize)> {
    let word = words.get(at)?;
    if word.is_han() {
        let place = "一二三四五六七八九十".chars().position(|c| word.text.starts_with(c))?;
        return Some(([u32::try_from(place).ok()? + 1, 0], at + 1));
    }
    let first = word.number()?;
    let second = words.get(at + 1).filter(|next| text[word.end()..next.start] == *".");
    match second.and_then(Word::number) {
        Some(second) => Some(([first, second], at + 2)),
        None => Some(([first, 0], at + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EdgeKind, tests::edges_of};
    use super::*;

    fn named(text: &str) -> Vec<(Noun, Number)> {
        mentions(text, &Word::all(text))
    }

    #[test]
    fn numbers_are_named_in_many_ways() {
        for (text, expected) in [
            ("go back to step 3", vec![(Noun::Step, [3, 0])]),
            ("Step-3 and section 2.1.", vec![(Noun::Step, [3, 0]), (Noun::Section, [2, 1])]),
            ("steps 2-4", vec![(Noun::Step, [2, 0]), (Noun::Step, [4, 0])]),
            ("Steps 1 and 2", vec![(Noun::Step, [1, 0]), (Noun::Step, [2, 0])]),
            ("fig. 7", vec![(Noun::Figure, [7, 0])]),
            ("见步骤 3", vec![(Noun::Step, [3, 0])]),
            ("第三步和第2章", vec![(Noun::Step, [3, 0]), (Noun::Section, [2, 0])]),
            ("图2、表 1", vec![(Noun::Figure, [2, 0]), (Noun::Table, [1, 0])]),
            ("a step\n3 of", vec![]),
            ("steps are 3", vec![]),
            ("第一次", vec![]),
            ("step 2026", vec![]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn headings_call_themselves_by_noun_and_number() {
        for (title, expected) in [
            ("Step 3: Run", Some((Some(Noun::Step), [3, 0]))),
            ("3. Run", Some((None, [3, 0]))),
            ("2.1 Run", Some((None, [2, 1]))),
            ("三、运行", Some((None, [3, 0]))),
            ("第3步 运行", Some((Some(Noun::Step), [3, 0]))),
            ("Run", None),
            ("3 ways", None),
        ] {
            assert_eq!(name_of(title), expected, "{title}");
        }
    }

    #[test]
    fn a_number_leads_to_its_heading_item_or_caption() {
        let references = |body: &str| edges_of(body, EdgeKind::Reference);
        let body = "## Step 1: Open\n\nA.\n\n## Step 2: Close\n\nB.\n\n## End\n\nRepeat step 1.\n";
        assert_eq!(references(body), [(2, 0)]);
        let body = "## 1. Open\n\nA.\n\n## 2. Close\n\nAs in section 1, step 2.\n";
        assert_eq!(references(body), [(1, 0)]);
        let long = "word ".repeat(160);
        let body = format!("# A\n\n1. a {long}\n2. b {long}\n3. c {long}\n\nThen repeat step 2.\n");
        assert_eq!(references(&body), [(3, 1)]);
        let body = "# A\n\nSee Table 2.\n\n# B\n\nTable 1: Sizes\n\n# C\n\n**Table 2** Colours\n";
        assert_eq!(references(body), [(0, 2)]);
        assert_eq!(references("# 甲\n\n参见图 1。\n\n# 乙\n\n图 1：结构\n"), [(0, 1)]);
        assert!(references("# A\n\n1. Do it.\n2. Repeat step 1.\n").is_empty());
    }
}
