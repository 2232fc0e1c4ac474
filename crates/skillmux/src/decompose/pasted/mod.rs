//! [`pasted`]: tells the request of a user from what is pasted with it.

mod line;

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use self::line::LineKind;
use super::{
    clauses,
    request_start::{asks, asks_anywhere},
};
use crate::text::{first_words, is_spaceless};

/// Fewest bytes of a task in which something is looked for that is pasted: a shorter one is read as a
/// whole. Chosen with a look at `pasted-fit.jsonl` and `pasted-tasks.jsonl` of `datasets/`, and at
/// `fixtures/user-tasks.jsonl`.
const MIN_BYTES: usize = 450;

/// Least share of a task that is no prose by its look, where that is pasted.
const MIN_NON_PROSE_SHARE: f32 = 0.4;

/// Fewest bytes of pasted prose.
const MIN_PROSE_BYTES: usize = 500;

/// Least share of a task that is pasted prose.
const MIN_PROSE_SHARE: f32 = 0.8;

/// Largest share of the clauses of pasted prose that ask for something: a task with more is all of
/// the user's own.
const MAX_ASKING_SHARE: f32 = 0.3;

/// Most words of a request about pasted prose.
const MAX_WORDS_ABOUT_PROSE: usize = 60;

/// Most words of a block before or behind pasted code that a user says of it.
const MAX_WORDS_BESIDE_CODE: usize = 60;

/// Fewest lines of speech that make a chat.
const MIN_SPEECHES: usize = 3;

/// Fewest lines that look like the head of a mail, and are one.
const MIN_MAIL_HEADS: usize = 2;

/// Least points of a block that is read as the request, beside blocks that are no prose.
const MIN_POINTS: i32 = 24;

/// Most characters of a word at the beginning of what is pasted: an encoded file is one word.
const MAX_CHARS_A_WORD: usize = 12;

/// Words by which a request says that something is pasted.
static POINTING: LazyLock<Regex> = LazyLock::new(|| {
    let english = "this|these|above|below|following|attached|past(e|ed|ing)|here(['’]s| is| are)?";
    pattern(&format!(r"(?i)\b({english})\b|下面|以下|上面|如下|这|附|上述"))
});

/// Words of a user who speaks of himself, or of him to whom the request is made.
static PERSONAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(i|i['’](m|d|ll|ve)|me|my|mine|we|us|our|you|your)\b|我|你|咱|您")
});

/// Words of a question or of a request, wherever they stand in a sentence.
static WONDERING: LazyLock<Regex> = LazyLock::new(|| {
    let english = "what|how|why|which|who|where|when";
    pattern(&format!(r"(?i)\b({english})\b|怎么|哪|什么|如何|吗|帮|麻烦|请|给我"))
});

/// Beginnings of the first and of the last line of a letter.
static COURTESY: LazyLock<Regex> = LazyLock::new(|| {
    let words =
        "hi|hello|hey|dear|(kind |best )?regards|best|(many )?thanks|thank you|cheers|sincerely";
    pattern(&format!(r"(?i)^\W*({words})\b"))
});

/// Words of a request to do what the rest says: then all of it is the task.
static DOING: LazyLock<Regex> = LazyLock::new(|| {
    let all = "(all( of)? )?(this|these|that|those|it|them)";
    let english = [
        "implement(ing)?",
        &format!("do {all}"),
        "do (what|as)",
        "carry (this|these|it|them) out|carry out (this|these|the)",
        "work (through|on|off) (this|these|the)",
        &format!("(get|have) {all} done"),
        &format!("take care of {all}"),
        &format!("help( me| us)? with {all}"),
        "these (two|three|four|five|six|seven|things|tasks|steps|points|wishes)",
    ];
    let rest = "(以上|上面|上述|下面|以下|这)";
    let chinese = format!("这[些几两二三四五六]?[件个]?(事|任务)|(完成|实现|处理|按照?){rest}");
    pattern(&format!(r"(?i)\b({})\b|{chinese}", english.join("|")))
});

/// Beginnings of a block that thanks or excuses itself.
static THANKS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^\W*((many )?thanks|thank you|sorry|apologies|谢谢|感谢|多谢|抱歉|不好意思)")
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is right")
}

/// What a user asks, and what is pasted with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    /// Bytes of the blocks that are read as the request, in their order.
    pub request: Vec<Range<usize>>,
    /// Bytes of the other blocks, in their order. Blank lines belong to none.
    pub material: Vec<Range<usize>>,
}

impl Pasted {
    /// Returns the pieces of the request, joined by line breaks. `task` is the text that was given
    /// to [`pasted`].
    ///
    /// # Panics
    /// If the ranges do not fit the task.
    pub fn request_of(&self, task: &str) -> String {
        let pieces: Vec<&str> = self.request.iter().map(|range| &task[range.clone()]).collect();
        pieces.join("\n")
    }

    /// Returns the first `n_words` words of the material, and at most twelve times as many
    /// characters. Two Chinese, Japanese or Korean characters count as one word. `task` is the text
    /// that was given to [`pasted`].
    ///
    /// # Panics
    /// If the ranges do not fit the task.
    pub fn beginning_of_material(&self, task: &str, n_words: usize) -> String {
        let lines = self.material.iter().map(|range| &task[range.clone()]);
        let characters = lines.flat_map(|text| text.chars().chain(['\n']));
        let beginning: String = characters.take(n_words.saturating_mul(MAX_CHARS_A_WORD)).collect();
        first_words(&beginning, n_words).trim_end().to_owned()
    }
}

/// Returns what a task asks, and what is pasted with it: a log, code, a table, a mail, an article.
/// `None` if the task has fewer than 450 bytes, if no block is read as the request, or if all are.
///
/// A block is lines of one kind without a blank line between them.
///
/// - If at least two fifths of the bytes are code, logs, tables or quotations, or if there is a chat
///   or the head of a mail (two lines and more): each block of prose has points, for standing
///   first or last, for asking something, for words such as `my`. Those with enough points are the
///   request. Beside code, short blocks at both ends belong to it, too; of a mail or a chat, only
///   those before and the last one, if there are such.
/// - Else only the first and the last block can be the request: they have at most 60 words, ask for
///   something, and point at the rest (`this`, `below`). The rest has at least 500 bytes and four
///   fifths of the task, and at most three tenths of its clauses ask for something. It is no such
///   request to do what the rest says (`implement this`), nor are thanks.
///
/// ```
/// use skillmux::decompose::pasted;
///
/// let log = "2026-03-01 10:22:07 ERROR worker-3: upstream timed out, retry 4 of 5\n".repeat(8);
/// let task = format!("{log}\nwhy does it hang, and how do we stop that?");
/// let found = pasted(&task).unwrap();
/// assert_eq!(found.request_of(&task), "why does it hang, and how do we stop that?");
/// assert_eq!(found.beginning_of_material(&task, 3), "2026-03-01 10:22:07 ERROR");
/// ```
pub fn pasted(task: &str) -> Option<Pasted> {
    if task.len() < MIN_BYTES {
        return None;
    }
    let blocks = blocks(task);
    if blocks.is_empty() {
        return None;
    }
    let requests = if has_mail(&blocks) || blocks.iter().any(|block| block.kind == LineKind::Speech)
    {
        within_talk(&blocks)
    } else if non_prose_share(&blocks) >= MIN_NON_PROSE_SHARE {
        beside_code(&blocks)
    } else {
        about_prose(&blocks)
    };
    let (mut request, mut material) = (Vec::new(), Vec::new());
    for (at, Block { range, .. }) in blocks.into_iter().enumerate() {
        if requests.contains(&at) { request.push(range) } else { material.push(range) }
    }
    let is_both = !request.is_empty() && !material.is_empty();
    is_both.then_some(Pasted { request, material })
}

/// Lines of one kind that stand together.
struct Block<'t> {
    kind: LineKind,
    range: Range<usize>,
    text: &'t str,
    n_lines: usize,
}

/// Returns the blocks of a task in their order.
fn blocks(task: &str) -> Vec<Block<'_>> {
    let kinds = kinds(task);
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut start, mut is_apart) = (0, true);
    for (line, kind) in task.split_inclusive('\n').zip(kinds) {
        let range = start..start + line.trim_end().len();
        start += line.len();
        if kind == LineKind::Blank {
            is_apart = true;
            continue;
        }
        match blocks.last_mut().filter(|last| !is_apart && last.kind == kind) {
            Some(last) => {
                last.range.end = range.end;
                last.text = &task[last.range.clone()];
                last.n_lines += 1;
            }
            None => blocks.push(Block { kind, text: &task[range.clone()], range, n_lines: 1 }),
        }
        is_apart = false;
    }
    blocks
}

/// Returns the kind of each line; a few lines of speech are prose with a colon.
fn kinds(task: &str) -> Vec<LineKind> {
    let mut is_fenced = false;
    let kind = |line: &str| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        if is_fenced || is_fence { LineKind::NonProse } else { LineKind::of(line) }
    };
    let mut kinds: Vec<LineKind> = task.split_inclusive('\n').map(kind).collect();
    if kinds.iter().filter(|kind| **kind == LineKind::Speech).count() < MIN_SPEECHES {
        let speeches = kinds.iter_mut().filter(|kind| **kind == LineKind::Speech);
        speeches.for_each(|kind| *kind = LineKind::Prose);
    }
    kinds
}

fn n_bytes<'b>(blocks: impl Iterator<Item = &'b Block<'b>>) -> usize {
    blocks.map(|block| block.range.len()).sum()
}

/// Returns whether there is the head of a mail.
fn has_mail(blocks: &[Block<'_>]) -> bool {
    let heads = blocks.iter().filter(|block| block.kind == LineKind::MailHead);
    heads.map(|block| block.n_lines).sum::<usize>() >= MIN_MAIL_HEADS
}

/// Returns the share of the bytes that are no prose.
fn non_prose_share(blocks: &[Block<'_>]) -> f32 {
    let is_non_prose = |block: &&Block<'_>| match block.kind {
        LineKind::NonProse | LineKind::MailHead | LineKind::Speech => true,
        LineKind::Blank | LineKind::Prose | LineKind::Item => false,
    };
    n_bytes(blocks.iter().filter(is_non_prose)) as f32 / n_bytes(blocks.iter()).max(1) as f32
}

/// Returns the blocks that look like the request, beside code, logs and tables: who pastes these
/// speaks before them and behind them, also of what is not wanted.
fn beside_code(blocks: &[Block<'_>]) -> Vec<usize> {
    let last = blocks.len().saturating_sub(1);
    let is_own = |at: &usize| {
        let Block { kind, text, .. } = &blocks[*at];
        let is_end = *at == 0 || *at == last;
        let is_told = *kind == LineKind::Prose || *at == 0 && *kind == LineKind::Item;
        is_end && is_told && n_words(text) <= MAX_WORDS_BESIDE_CODE
    };
    let asking: Vec<usize> = of_points(blocks);
    if asking.is_empty() {
        return asking;
    }
    (0..blocks.len()).filter(|at| asking.contains(at) || is_own(at)).collect()
}

/// Returns the blocks that look like the request, in a text with a mail or a chat: before it or
/// behind it, else within it.
fn within_talk(blocks: &[Block<'_>]) -> Vec<usize> {
    let last = blocks.len().saturating_sub(1);
    let is_talk = |block: &Block<'_>| matches!(block.kind, LineKind::MailHead | LineKind::Speech);
    let start = blocks.iter().position(is_talk).unwrap_or(0);
    let asking = of_points(blocks);
    let outside: Vec<usize> =
        asking.iter().copied().filter(|at| *at < start || *at == last).collect();
    if outside.is_empty() { asking } else { outside }
}

/// Returns the blocks with enough points.
fn of_points(blocks: &[Block<'_>]) -> Vec<usize> {
    (0..blocks.len()).filter(|at| points(blocks, *at) >= MIN_POINTS).collect()
}

/// Returns how much a block looks like the request, beside blocks that are no prose. The points are
/// set by hand, with a look at `datasets/pasted-fit.jsonl`.
fn points(blocks: &[Block<'_>], at: usize) -> i32 {
    let Block { kind, text, .. } = &blocks[at];
    if *kind != LineKind::Prose {
        return i32::MIN;
    }
    let n_words = n_words(text);
    let is_question = is_question(text);
    let is_asking = is_question || asks_anywhere(text) || WONDERING.is_match(text);
    let (is_first, is_last) = (at == 0, at + 1 == blocks.len());
    let points = [
        (is_first, 20),
        (is_last, 20),
        (is_asking, 15),
        (!is_asking, -7),
        (is_question, 10),
        (PERSONAL.is_match(text), 5),
        (text.trim_start().starts_with(char::is_lowercase), 7),
        (is_first && text.ends_with([':', '：']), 10),
        (n_words > 70, -10),
        (n_words > 120, -25),
        (n_words < 3, -10),
        (n_words < 8 && COURTESY.is_match(text), -30),
    ];
    points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum()
}

/// Returns the first and the last block, as far as they ask for something about the rest, which is
/// prose; none if the rest asks for much, or is what is to be done.
fn about_prose(blocks: &[Block<'_>]) -> Vec<usize> {
    let n_all = n_bytes(blocks.iter());
    let is_about = |at: &usize| {
        let Block { kind, range, text, .. } = &blocks[*at];
        let n_rest = n_all - range.len();
        *kind == LineKind::Prose
            && n_rest >= MIN_PROSE_BYTES
            && n_rest as f32 >= MIN_PROSE_SHARE * n_all as f32
            && n_words(text) <= MAX_WORDS_ABOUT_PROSE
            && POINTING.is_match(text)
            && (is_question(text) || asks_anywhere(text) && !THANKS.is_match(text))
    };
    let mut ends = vec![0, blocks.len().saturating_sub(1)];
    ends.dedup();
    ends.retain(is_about);
    if ends.iter().any(|at| DOING.is_match(blocks[*at].text)) {
        return Vec::new();
    }
    let rest = (0..blocks.len()).filter(|at| !ends.contains(at)).map(|at| blocks[at].text);
    let (mut n_asking, mut n_clauses) = (0, 0);
    for text in rest {
        for clause in clauses(text) {
            n_clauses += 1;
            n_asking += usize::from(asks(&text[clause.range]));
        }
    }
    if n_asking as f32 > MAX_ASKING_SHARE * n_clauses as f32 {
        ends.clear();
    }
    ends
}

fn is_question(text: &str) -> bool {
    text.contains(['?', '？'])
}

/// Returns the number of words; two characters of writing without spaces are a word.
fn n_words(text: &str) -> usize {
    let n_spaceless = text.chars().filter(|c| is_spaceless(*c)).count();
    let is_word = |word: &&str| word.contains(|c: char| c.is_alphanumeric() && !is_spaceless(c));
    text.split_whitespace().filter(is_word).count() + n_spaceless / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "Traceback (most recent call last):\n  File \"jobs/nightly.py\", line 41, in \
                         run\n    rows = load(path)\n  File \"jobs/load.py\", line 12, in load\n    \
                         return parse(open(path))\nUnicodeDecodeError: 'utf-8' codec can't decode \
                         byte 0xe9 in position 3310: invalid continuation byte\n[exit 1] 00:04:11\n[retry \
                         2/3] 00:14:11 -> exit 1\n[retry 3/3] 00:24:11 -> exit 1\n[alert] \
                         nightly/load: 3 failures in 24h, paging ops-2 (pager_id=4471)";

    const MAIL: &str = "From: Ines\nTo: Otto\nSubject: Thursday\n\nHi Otto,\n\nthe hall is ours from \
                        six. Please bring the long cable, and ask Mina whether she has a second \
                        lamp.\n\nThe caterer wants a number by noon. I said forty, which is more \
                        than will come, but better so. The hall wants to be paid in advance, I \
                        have the bill here. Mina also asks where the vans can stand, since the \
                        yard is closed until Monday and the street is narrow.\n\nBest,\nInes";

    const ARTICLE: &str = "The mill stood idle for thirty years.\n\nIts wheel had rotted, and the \
                           race was dry.\n\nThen a baker from the next village bought the ruin for \
                           the price of a used car. She had read of the stones, which were said to \
                           be the best of the valley.\n\nThe first flour came in spring. It was \
                           grey and coarse, and the bread that was made of it was gone by eight \
                           o'clock.\n\nToday the mill grinds two days a week. On the other days \
                           children are shown how a wheel turns a stone, and in the yard they bake \
                           their own rolls in an oven of clay.";

    /// Returns what is asked, or nothing.
    fn request(task: &str) -> Option<String> {
        let found = pasted(task)?;
        // Nothing is lost, and nothing counts twice.
        let mut all: Vec<Range<usize>> = [found.request.clone(), found.material.clone()].concat();
        all.sort_by_key(|range| range.start);
        assert!(all.windows(2).all(|pair| pair[0].end <= pair[1].start), "{all:?}");
        let n_said = all.iter().map(|range| task[range.clone()].split_whitespace().count());
        assert_eq!(n_said.sum::<usize>(), task.split_whitespace().count());
        Some(found.request_of(task))
    }

    #[test]
    fn a_request_stands_before_or_behind_what_is_pasted() {
        for asked in ["nightly job died again, fix it pls", "这个任务昨晚又挂了，帮我看看怎么修"]
        {
            for material in [TRACE, MAIL] {
                let (first, last) =
                    (format!("{asked}\n\n{material}"), format!("{material}\n\n{asked}"));
                assert_eq!(request(&first).as_deref(), Some(asked), "{first}");
                assert_eq!(request(&last).as_deref(), Some(asked), "{last}");
            }
            let fenced = format!("{asked}\n```\n{ARTICLE}\n```");
            assert_eq!(request(&fenced).as_deref(), Some(asked));
        }
        let around = format!("this ran last night:\n{TRACE}\n\nwhat do I have to change?");
        let expected = "this ran last night:\nwhat do I have to change?";
        assert_eq!(request(&around).as_deref(), Some(expected));
    }

    #[test]
    fn a_blank_text_has_no_request() {
        assert_eq!(pasted(&" \n".repeat(300)), None);
        assert_eq!(pasted(&"\u{3000}".repeat(300)), None);
    }

    #[test]
    fn what_a_user_says_beside_code_is_all_part_of_the_request() {
        let (state, rest) = ("The shop is slow since Monday.", "Any ideas? But no docker!");
        let expected = format!("{state}\n{rest}");
        assert_eq!(request(&format!("{state}\n\n{TRACE}\n\n{rest}")), Some(expected));
        let (list, rest) = ("1. tune the database\n2. write a load test", "Please be brief.");
        let expected = format!("{list}\n{rest}");
        assert_eq!(request(&format!("{list}\n\n{TRACE}\n\n{rest}")), Some(expected));
    }

    #[test]
    fn the_body_of_a_mail_is_no_request_if_one_stands_beside_it() {
        let asked = "can you answer her for me?";
        let question = MAIL.replace("\n\nBest", " Is that all right for you?\n\nBest");
        assert_eq!(request(&format!("{asked}\n\n{question}")).as_deref(), Some(asked));
        assert_eq!(request(&format!("{question}\n\n{asked}")).as_deref(), Some(asked));
        let within = MAIL.replace("\n\nBest", "\n\nRobot, could you book the hall?\n\nBest");
        assert_eq!(request(&within).as_deref(), Some("Robot, could you book the hall?"));
    }

    #[test]
    fn a_request_about_prose_points_at_it() {
        let asked = "Make five questions for a quiz out of this, please.";
        for task in [format!("{asked}\n\n{ARTICLE}"), format!("{ARTICLE}\n\n{asked}")] {
            assert_eq!(request(&task).as_deref(), Some(asked));
        }
        // Nothing tells a last paragraph of the same text from this.
        assert_eq!(request(&format!("{ARTICLE}\n\nMake five questions for a quiz.")), None);
    }

    #[test]
    fn a_text_that_is_to_be_carried_out_is_no_paste() {
        for asked in [
            "Please implement this ticket step by step and show me the plan first.",
            "Can you do all of this by Thursday?",
            "Please read what stands below, then carry it out.",
            "Can you help me with this?",
            "Please put these three things into a sensible order.",
            "这三件事情请您帮我安排一下先后顺序。",
            "Thank you so much for your help with this letter!",
            "Sorry for this long text, please be patient.",
        ] {
            assert_eq!(request(&format!("{ARTICLE}\n\n{asked}")), None, "{asked}");
            assert_eq!(request(&format!("{asked}\n\n{ARTICLE}")), None, "{asked}");
        }
        for asked in ["Sorry, but can you summarise this?", "帮我把这篇文章翻译成英文。"]
        {
            assert_eq!(request(&format!("{ARTICLE}\n\n{asked}")).as_deref(), Some(asked));
        }
    }

    #[test]
    fn a_task_of_the_users_own_words_is_no_paste() {
        let own = "We have moved our shop to another host, and this is what is left to do.\n\n\
                   - Set up the backups, once a night.\n- Move the mail, without losing any.\n\
                   - Write a page for customers that says what is new.\n- Check that old links \
                   work.\n\nStart with the mail. Then tell me how long the rest takes. Ask me before \
                   you delete anything. Keep the old host until we have paid the last bill, and \
                   send me a list of what you have done.\n\nCould \
                   you please also draw a picture of this for my colleagues?";
        assert!(own.len() > MIN_BYTES);
        assert_eq!(request(own), None);
        assert_eq!(request(TRACE), None, "nothing is asked");
        assert_eq!(request("fix this\n\nTypeError: x is undefined"), None, "it is short");
    }

    #[test]
    fn a_long_word_does_not_fill_the_beginning() {
        let task = format!("{}\n\nwhat is encoded in this?", "QUJD".repeat(200));
        let found = pasted(&task).unwrap();
        assert_eq!(found.beginning_of_material(&task, 10).len(), 120);
        let task = format!("帮我看一下这段日志\n\n{}", "错误：连接超时 10.2.3.4:8080\n".repeat(30));
        let found = pasted(&task).unwrap();
        assert_eq!(found.beginning_of_material(&task, 4), "错误：连接超时 10.2.3.4:8080");
    }
}
