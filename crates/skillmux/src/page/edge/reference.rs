//! References: which nodes a node names.

use std::collections::HashMap;

use super::{
    Edge, EdgeKind, compared, identifier,
    number::Numbers,
    passage::{Passage, nearest},
    words::Word,
};
use crate::{page::scene::is_contents, skill::NodeTree};

/// Most words of a title that is looked for.
const MAX_TITLE_WORDS: usize = 12;

/// Fewest words, and Chinese characters, of a title that counts wherever it stands.
const PLAIN_WORDS: usize = 3;
const PLAIN_CHARACTERS: usize = 5;

/// What stands before the name of another place.
const SEE: [&str; 5] = ["see", "refer", "section", "consult", "chapter"];
const SEE_ZH: [&str; 8] = ["见", "参考", "参阅", "参照", "按照", "根据", "查看", "遵循"];

/// What stands after it.
const PLACES: [&str; 7] =
    ["section", "sections", "chapter", "heading", "appendix", "above", "below"];
const PLACES_ZH: [&str; 6] = ["一节", "章节", "小节", "部分", "一章", "这节"];

/// Words before a name that "see" is looked for in.
const MAX_SEE_WORDS: usize = 3;

/// Adds an edge from each node to those that it names.
pub(super) fn add(body: &str, tree: &NodeTree, edges: &mut Vec<Edge>) {
    let nodes = compared(tree);
    let first_in = tree.first_nodes(nodes.len());
    let titles = Titles::new(body, tree, &first_in);
    let numbers = Numbers::new(body, tree, &first_in);
    for (from, node) in nodes.iter().enumerate() {
        let text = node.text(body).unwrap_or("");
        // A table of contents names every section and refers to none.
        if is_contents(text) {
            continue;
        }
        let passage = Passage {
            node: from,
            section: node.section,
            around: tree.sections_of(node).collect(),
            text,
            words: Word::all(text),
        };
        let mut add = |to: usize| edges.extend(Edge::new(from, to, EdgeKind::Reference));
        titles.named(&passage, &mut add);
        titles.linked(&passage, &mut add);
        numbers.named(&passage, &mut add);
    }
    identifier::add(body, nodes, edges);
}

/// The titles of sections that have a node.
struct Titles<'a> {
    /// Sections by the hash of the words of their title, each with its first node, rising.
    by_words: HashMap<u64, Vec<Title<'a>>>,
    /// Number of words of the longest title that begins with a word, by its hash.
    n_words: HashMap<u64, usize>,
    /// Sections by their anchor, with the first node.
    by_anchor: HashMap<String, (usize, usize)>,
}

struct Title<'a> {
    section: usize,
    first_node: usize,
    words: Vec<Word<'a>>,
}

impl<'a> Titles<'a> {
    fn new(body: &'a str, tree: &NodeTree, first_in: &[Option<usize>]) -> Self {
        let mut titles =
            Self { by_words: HashMap::new(), n_words: HashMap::new(), by_anchor: HashMap::new() };
        let has_links = body.contains("](#");
        for (section, first_node) in first_in.iter().enumerate() {
            let Some(first_node) = *first_node else { continue };
            let title = tree.sections[section].title(body);
            if has_links {
                titles.by_anchor.entry(anchor(title)).or_insert((section, first_node));
            }
            let words = without_number(&Word::all(title)).to_vec();
            let Some(first) = words.first().filter(|_| words.len() <= MAX_TITLE_WORDS) else {
                continue;
            };
            let longest = titles.n_words.entry(first.hash()).or_default();
            *longest = words.len().max(*longest);
            let same = titles.by_words.entry(joined(&words)).or_default();
            same.push(Title { section, first_node, words });
        }
        titles
    }

    /// Calls `add` with the first node of each section whose title stands in a text.
    fn named(&self, passage: &Passage<'_>, add: &mut dyn FnMut(usize)) {
        let Passage { node, around, text, words, .. } = passage;
        let mut at = 0;
        while at < words.len() {
            let n_words = self.n_words.get(&words[at].hash()).copied().unwrap_or(0);
            let longest = n_words.min(words.len() - at);
            let found = (1..=longest).rev().find_map(|n_words| {
                let named = &words[at..at + n_words];
                let same = self.by_words.get(&joined(named))?;
                let is_same = |title: &&Title<'_>| {
                    title.words.len() == n_words
                        && title.words.iter().zip(named).all(|(a, b)| a.is(b))
                };
                let title = nearest(same, *node, |title| title.first_node);
                let title = title.filter(is_same)?;
                is_meant(text, words, at, &title.words).then_some((title, n_words))
            });
            let Some((title, n_words)) = found else {
                at += 1;
                continue;
            };
            if !around.contains(&title.section) {
                add(title.first_node);
            }
            at += n_words;
        }
    }

    /// Calls `add` with the first node of each section that a text links to.
    fn linked(&self, passage: &Passage<'_>, add: &mut dyn FnMut(usize)) {
        for link in passage.text.split("](#").skip(1) {
            let anchor = link.split([')', ' ', '\n']).next().unwrap_or("");
            let target = self.by_anchor.get(&anchor.to_lowercase());
            if let Some((_, first_node)) = target.filter(|(of, _)| !passage.around.contains(of)) {
                add(*first_node);
            }
        }
    }
}

/// Tells whether a title is meant as such where its words stand in a text.
fn is_meant(text: &str, words: &[Word<'_>], at: usize, title: &[Word<'_>]) -> bool {
    let n_words = title.len();
    let n_characters = title.iter().filter(|word| word.is_han()).count();
    let is_long =
        if n_characters > 0 { n_characters >= PLAIN_CHARACTERS } else { n_words >= PLAIN_WORDS };
    if is_long {
        return true;
    }
    let (start, end) = (words[at].start, words[at + n_words - 1].end());
    let named = words[at..at + n_words].iter();
    let is_capital = |word: &Word<'_>| word.text.starts_with(char::is_uppercase);
    let is_name = n_words > 1
        && title[1..].iter().any(is_capital)
        && named.zip(title).all(|(a, b)| a.text == b.text);
    is_name
        || is_enclosed(&text[..start], &text[end..])
        || has_word_beside(text, words, at, n_words)
}

/// Tells whether what stands before and after a name are quotes, or marks of code, bold or a link.
fn is_enclosed(before: &str, after: &str) -> bool {
    const PAIRS: [(char, char); 8] = [
        ('"', '"'),
        ('`', '`'),
        ('*', '*'),
        ('[', ']'),
        ('“', '”'),
        ('「', '」'),
        ('《', '》'),
        ('‘', '’'),
    ];
    let (before, after) = (before.chars().next_back(), after.chars().next());
    PAIRS.iter().any(|(open, close)| before == Some(*open) && after == Some(*close))
}

/// Tells whether "see" stands before a name, or "section" after it, in the same sentence.
fn has_word_beside(text: &str, words: &[Word<'_>], at: usize, n_words: usize) -> bool {
    let start = words[at].start;
    let is_apart = |between: &str| between.contains(['\n', '.', ';', '。', '；']);
    let before = &words[at.saturating_sub(MAX_SEE_WORDS)..at];
    if before.iter().any(|word| word.is_one_of(&SEE) && !is_apart(&text[word.start..start])) {
        return true;
    }
    let rest = &text[words[at + n_words - 1].end()..];
    if words.get(at + n_words).is_some_and(|next| {
        next.is_one_of(&PLACES) && !is_apart(&rest[..next.start + rest.len() - text.len()])
    }) {
        return true;
    }
    let marks = |c: char| c.is_whitespace() || matches!(c, '“' | '”' | '「' | '」' | '：' | ':');
    let before = text[..start].trim_end_matches(marks);
    let after = rest.trim_start_matches(marks);
    SEE_ZH.iter().any(|see| before.ends_with(see))
        || PLACES_ZH.iter().any(|place| after.starts_with(place))
}

/// Returns the words of a title without the number that it begins with, and the noun before that.
fn without_number<'a, 'b>(words: &'b [Word<'a>]) -> &'b [Word<'a>] {
    let n_numbers =
        |from: usize| words[from..].iter().take_while(|word| word.number().is_some()).count();
    let noun = usize::from(words.first().is_some_and(|word| {
        word.is_one_of(&["step", "phase", "stage", "part"]) && n_numbers(1) > 0
    }));
    let skipped = noun + n_numbers(noun);
    &words[skipped..]
}

/// Returns one hash for words in their order.
fn joined(words: &[Word<'_>]) -> u64 {
    words.iter().fold(0, |joined: u64, word| joined.rotate_left(5).wrapping_mul(31) ^ word.hash())
}

/// Returns the anchor of a title, as GitHub makes it: lower case, joined by `-`, without
/// punctuation.
fn anchor(title: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    let kept = title.chars().filter(is_kept).map(|c| if c == ' ' { '-' } else { c });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::edges_of;
    use super::*;

    /// Returns whether a text refers to the section of a title, which stands after it.
    fn refers(text: &str, title: &str) -> bool {
        let body = format!("# A\n\n{text}\n\n## B\n\nWords.\n\n## {title}\n\nMore.\n");
        let edges = edges_of(&body, EdgeKind::Reference);
        assert!(edges.is_empty() || edges == [(0, 2)], "{edges:?}");
        !edges.is_empty()
    }

    #[test]
    fn long_titles_count_wherever_they_stand() {
        assert!(refers("Then roll back the release as below.", "Roll back the release"));
        assert!(refers("Roll Back The Release first.", "3. Roll back the release"));
        assert!(refers("先完成数据备份和恢复。", "数据备份和恢复"));
        assert!(!refers("Then roll back the releases.", "Roll back the release"));
    }

    #[test]
    fn short_titles_count_where_they_are_marked() {
        for text in [
            "See Rollback.",
            "see the \"rollback\" part",
            "This is in **Rollback**.",
            "Use `rollback` for it.",
            "It is in the rollback section.",
            "Refer to the rollback steps.",
        ] {
            assert!(refers(text, "Rollback"), "{text}");
        }
        for text in ["A rollback is dear.", "See it. Rollback is dear.", "Rollbacks, see there."] {
            assert!(!refers(text, "Rollback"), "{text}");
        }
        assert!(refers("详见「回滚」", "回滚") && refers("参考回滚部分", "回滚"));
        assert!(!refers("回滚很慢。", "回滚"));
    }

    #[test]
    fn two_words_count_as_they_are_written() {
        assert!(refers("As in Error Handling, wait.", "Error Handling"));
        assert!(!refers("It has error handling.", "Error Handling"));
        assert!(!refers("Error handling is hard.", "Error handling"));
    }

    #[test]
    fn links_lead_to_their_anchor() {
        assert!(refers("Go [on](#b-c--d).", "B C & D"));
        assert!(!refers("Go [on](#other).", "B C & D"));
        assert!(!refers("- [B](#b)\n- [More](#more)", "More"));
    }

    #[test]
    fn no_section_refers_to_itself_and_the_nearest_name_is_meant() {
        let body = "## Send the mail\n\nSend the mail now.\n\n## B\n\nSend the mail.\n\n## C\n\n\
                    Words.\n\n## Send the mail\n\nAgain.\n";
        assert_eq!(edges_of(body, EdgeKind::Reference), [(1, 0)]);
    }

    #[test]
    fn of_items_the_nearest_is_found() {
        let items = [2, 5, 9];
        let of = |to| *nearest(&items, to, |item| *item).unwrap();
        assert_eq!((of(0), of(3), of(7), of(8), of(20)), (2, 2, 5, 9, 9));
        assert_eq!(nearest(&[] as &[usize], 3, |item| *item), None);
    }
}
