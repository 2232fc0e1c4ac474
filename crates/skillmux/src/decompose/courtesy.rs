//! [`without_courtesies`]: a task without greetings, thanks and the like at its ends.

use std::sync::LazyLock;

use regex::Regex;

use super::{head, request_start::is_base_form, tail, verbs::VERBS};
use crate::text::is_spaceless;

/// Most phrases of courtesy at an end of a task.
const MAX_PHRASES: usize = 8;

/// Most words of a name behind a greeting, or below a letter.
const MAX_NAME_WORDS: usize = 3;

/// Most characters of one in Chinese.
const MAX_CHINESE_NAME: usize = 4;

/// Most lines below `--` that are a signature, and most bytes of each.
const MAX_SIGNATURE_LINES: usize = 8;
const MAX_SIGNATURE_BYTES: usize = 80;

/// A word that agrees.
const ACKNOWLEDGED: &str = "(?:ok|okay|k|yes|yeah|yep|no|nope|sure|alright|right|great|cool|nice|\
                            good|perfect|awesome|amazing|wonderful|excellent|lovely|brilliant|lgtm|\
                            well|wow|hm+|so|fine)";

/// A greeting, before a name or alone.
static GREETING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?:hi|hello|hey|heya|hiya|howdy|greetings|dear|good (?:morning|afternoon|evening|day))",
    )
});

/// Words behind a greeting that are no names.
const ADDRESSED: [&str; 14] = [
    "again",
    "all",
    "assistant",
    "bro",
    "buddy",
    "everybody",
    "everyone",
    "folks",
    "friend",
    "friends",
    "guys",
    "mate",
    "team",
    "there",
];

/// A phrase at the beginning or the end that asks for nothing.
static COURTESY: LazyLock<Regex> = LazyLock::new(|| {
    let thanks = r"(?:thanks|thank you|thank u|thx|ty|cheers)";
    let of_thanks = "(?: (?:so |very )?much| a (?:lot|bunch|million|ton)| again| in advance| kindly\
                     | for (?:all |the )?(?:your |the )?(?:help|time|support|patience|work))*";
    let free = "(?:free|around|available|ready)|(?:a |some |the )?(?:free |spare )?(?:minute|min\
                |moment|sec|second|time|chance|opportunity)s?";
    let message =
        "(?:e-?mail|mail|message|call|chat|conversation|discussion|meeting|phone call|note|talk)";
    let question = "(?:question|favou?r|request|ask|task|thing)";
    let small = "(?:quick|small|simple|short|last|final|tiny|little|silly|stupid|other|more)";
    pattern(
        &[
            &format!("(?:{ACKNOWLEDGED} )*(?:and )?(?:so |many |big )?{thanks}{of_thanks}"),
            "(?:(?:it'?s|it is|there'?s|there is|this is|i'm in|i am in) )?(?:absolutely )?\
             (?:no|not|nothing)(?: (?:super|so|too|that|very|really|big|great))? (?:rush|hurry\
             |urgent|urgency|pressure|worries|problem|stress)(?: at all)?(?: here| though)?",
            "take your time",
            "never ?mind",
            &format!("(?:when|whenever|if|once|as soon as) you(?:'ve got|'re| are| have| get| find\
                      | got) (?:{free})"),
            "(?:only )?if (?:you (?:don'?t mind|can|could|may|please|would)|possible|that'?s (?:ok\
             |okay|alright|possible|fine)|it'?s (?:ok|okay|possible|not too much trouble))",
            "when(?:ever)? (?:you can|possible|it suits you)",
            "(?:(?:i'?m|i am) )?(?:so |very |really )?sorry(?: again)?(?: to (?:bother|disturb\
             |interrupt|trouble)(?: you)?(?: again)?| for (?:bothering|disturbing) you(?: again)?\
             | for the (?:trouble|bother))?",
            "excuse me|pardon me",
            &format!("(?:just )?(?:a |an|one |my )?{small} {question}(?: for you)?"),
            &format!("(?:i|we)(?: have|'ve got|'ve) (?:a |an|one )(?:{small} )?{question}(?: for you)?"),
            "(?:i |we )?(?:really )?hope (?:you|this|all|everything|your (?-u:\\w)+)(?: (?-u:\\w)+){0,5} (?:well\
             |ok|okay|great|good|fine|safe|day|week|weekend|evening|morning)",
            "how are you(?: doing)?(?: today)?|how'?s it going|what'?s up|long time no see",
            "(?:(?:it|that|this) (?:is|would be) )?(?:much|really|highly|greatly|very much)? ?\
             appreciated",
            "any (?:help|hint|advice) (?:is|would be) (?:much |really |greatly |very |highly )?\
             (?:appreciated|welcome|great)",
            "(?:i|we)(?: would|'d)? (?:really |very much |greatly )?appreciate (?:it|that|this|your \
             help|any help)(?: a lot| very much)?",
            "(?:that|it|this)(?: would|'d) be (?:really |so |very )?(?:great|awesome|lovely|perfect\
             |nice|amazing|super|wonderful|helpful|a great help)",
            "you(?:'re| are) the best|you rock",
            "have a (?:nice|good|great|lovely) (?:day|weekend|one|evening|week)",
            "pretty please|please|pls|plz",
            "asap|as soon as (?:possible|you can)",
            "dear (?:sirs?|madam|sir ?/ ?madam|sir or madam)|to whom it may concern",
            &format!("(?:(?:i'm|i am|we're|we are|just) )*(?:following up on|(?:as )?per|referring to) (?:my|our|your) \
                      (?:(?:last|previous|earlier|recent) )?{message}(?: (?:yesterday|today|last week|this morning))?"),
            &format!("as (?:discussed|agreed|mentioned|promised|announced)(?: (?:in|at|on|during|by) (?:my |our |the |your )?(?:(?:last|previous|\
                      yesterday's|today's|monday's|friday's|recent|weekly) )?{message})?(?: (?:yesterday|today|earlier|before|last week))?"),
            "(?:and )?(?:see|talk to) you (?:all )?(?:soon|later|tomorrow|then|next week|on monday|at the meeting|in the meeting)",
            "(?:i am |i'm )?looking forward to (?:it|hearing from you|(?:your|a) (?:quick )?(?:reply|answer|response|feedback))",
            "(?:please )?let me know (?:if (?:you have any (?:further )?questions|you need (?:anything|more)(?: else)?(?: from me)?|anything is \
             (?:unclear|missing))|when (?:it's|it is|you're|you are) (?:done|ready|finished)|what you think|how it goes)",
            "(?:so )?sorry (?:for|about) my (?:bad |poor |broken )?(?:english|typos|spelling)",
            "sent from my (?-u:\\w)+(?: (?-u:\\w)+){0,3}|get outlook for (?:ios|android|mac)",
        ]
        .map(|phrase| format!("(?:{phrase})"))
        .join("|"),
    )
});

/// A phrase at the beginning that agrees to what was before, or asks for help and does not say what
/// for.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    let me = "(?: me| us)";
    let with = "(?: (?:with|on) (?:this|something|that|it|a task|one thing))";
    let asked = "(?:can|could|would|will) (?:you|u) (?:please |kindly |maybe |possibly )*";
    let wanted = "(?:i|we)(?: need|'d like|'d love| could use| would like| want)";
    let some = "(?:your |some |a bit of |a little |a )?";
    pattern(&format!(
        "{ACKNOWLEDGED}(?: {ACKNOWLEDGED})*\
         |(?:that|this|it)(?: all)? (?:worked|works|helped|helps|looks good|sounds good|is good\
         |is great|was great|was perfect)(?: (?:well|great|perfectly|fine|now|a lot|first time))?\
         |{asked}(?:help|assist){me}?(?: out)?{with}?(?: please)?\
         |(?:please )?help{me}(?: out)?(?: please)?{with}?\
         |{wanted} {some}(?:help|hand|assistance)(?: here)?{with}?"
    ))
});

/// Words at the end of a letter, before a name.
static SIGN_OFF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?:many |kind |best |warm |with (?:kind |best )?)?(?:regards|thanks|wishes)|cheers|best\
         |thank you|thx|sincerely(?: yours)?|yours(?: truly| sincerely)?|take care",
    )
});

/// The same as [`COURTESY`] and [`OPENING`] in Chinese.
static CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?:你|您|大家|各位)好[呀啊]?|嗨|哈喽|哈啰|(?:早上|上午|下午|晚上)好|早安|(?:大家)?辛苦(?:你|您|大家)?[了啦]\
         |(?:非常|十分|多|先|提前)?(?:感谢|谢谢?|谢过)(?:你|您|大家|各位)?[了啦]?|麻烦(?:你|您)?[了啦]\
         |拜托(?:你|您)?[了啦]?|不(?:着)?急(?:的)?|不用(?:着)?急|别着急|慢慢来|(?:等)?(?:你|您)?有(?:空|时间)(?:的时候|时|的话)?\
         (?:请|麻烦)?(?:帮我|帮忙)?(?:看(?:一|一下|下)?)?|(?:不好意思|抱歉)?打扰(?:一下|你了|您了|了)|不好意思|抱歉|请问(?:一下)?|劳驾\
         |好的?[呀吧]?|嗯+|行|没(?:问题|关系|事)|(?:非常)?(?:感激不尽|万分感谢)\
         |(?:各位)?(?:大佬|大神)们?(?:求助|求帮忙|帮帮忙|好)?|求助|(?:冒昧|贸然)打扰(?:一下|你了|您了|了)?|在吗|在么\
         |此致|敬礼|(?:顺)?[祝颂]商祺|祝好|祝(?:你|您)?(?:工作)?(?:顺利|愉快)|发自我的 ?(?:iphone|ipad|手机|华为手机|小米手机)|(?:请|麻烦)?(?:帮我|帮忙)(?:看(?:一|一下|下))",
    )
});

/// Words before a request in the same phrase: `could you please`. `help me` tells that somebody
/// wants something, so it stays.
static LEAD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "(?i)^(?:(?:please|kindly|pls|plz) )*(?:(?:can|could|would|will) (?:you|u) |(?:i(?:'d| \
         would) like|i need|i want) you to )?(?:(?:please|kindly|pls|plz|maybe|possibly|perhaps) )*",
    )
    .expect("the pattern is well-formed")
});

/// The same in Chinese, before `help me`.
static CHINESE_LEAD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "^((?:麻烦|劳烦|拜托)?(?:你|您)?(?:能不能|能否|可不可以|可以|是否可以|能)?请?(?:你|您)?)帮",
    )
    .expect("the pattern is well-formed")
});

/// Words at the end of a phrase that ask for nothing: `write it please`.
const TRAILERS: [&str; 8] =
    ["asap", "please", "pls", "plz", "thank you in advance", "thanks in advance", "thanks", "thx"];

/// Words that may join a courtesy to what comes next without a mark: `no hurry but sort it`, `when
/// you have time could you sort it`.
const NEXT: [&str; 10] =
    ["but", "can you", "could you", "please", "pls", "so", "then", "will you", "would you", "also"];

/// Words that join and say nothing.
const JOINTS: [&str; 2] = ["but", "so"];

fn pattern(phrases: &str) -> Regex {
    Regex::new(&format!("^(?:{phrases})$")).expect("the pattern is well-formed")
}

/// Returns a task without greetings, thanks, excuses and words such as `no rush` at its beginning
/// and its end. The task itself if it asks for nothing else.
pub(crate) fn without_courtesies(task: &str) -> &str {
    let rest = without_ending(without_signature(without_opening(task)));
    if rest.contains(char::is_alphanumeric) { rest } else { task }
}

/// Returns a text without the words before a request that ask for it: `could you please`. The text
/// itself if no request follows.
pub(crate) fn without_lead(text: &str) -> &str {
    let text = text.trim_start();
    let lead = LEAD.find(head(text)).map_or(0, |lead| lead.end());
    if lead > 0 {
        let rest = &text[lead..];
        let verb = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let is_request = is_base_form(&verb.to_ascii_lowercase());
        return if is_request { rest } else { text };
    }
    let lead = CHINESE_LEAD.captures(head(text)).and_then(|found| found.get(1));
    &text[lead.map_or(0, |lead| lead.end())..]
}

/// Returns a text without the Chinese full stops and exclamation marks at its end: what is made of
/// a short task hangs on them too much. The text itself if it has nothing else.
pub(crate) fn without_chinese_stop(text: &str) -> &str {
    let rest = text.trim_end().trim_end_matches(['\u{3002}', '\u{ff01}']);
    if rest.is_empty() { text } else { rest }
}

fn without_opening(task: &str) -> &str {
    let mut rest = task;
    for _ in 0..MAX_PHRASES {
        let text = rest.trim_start_matches(is_between);
        let Some(length) = opening(text) else { break };
        rest = &text[length..];
    }
    // A task without courtesies stays as it is.
    if rest.len() == task.len() { task } else { behind_joint(rest.trim_start_matches(is_between)) }
}

/// Returns how many bytes the courtesy has with which a text begins.
fn opening(text: &str) -> Option<usize> {
    let text = head(text);
    let end = text.find(is_mark).unwrap_or(text.len());
    let phrase = &text[..end];
    let joined = NEXT.iter().flat_map(|words| {
        let is_word = |at: &usize| {
            let (before, after) = (&phrase[..*at], &phrase[*at + words.len()..]);
            before.ends_with(' ') && after.starts_with(' ')
        };
        phrase.match_indices(words).map(|(at, _)| at).filter(is_word)
    });
    let mut ends: Vec<usize> = joined.chain([end]).collect();
    ends.sort_unstable();
    ends.into_iter().find(|end| is_courtesy(&phrase[..*end], true))
}

/// Returns a text without a word at its beginning that joins it to what was before.
fn behind_joint(text: &str) -> &str {
    let joint = JOINTS.iter().find_map(|joint| text.strip_prefix(joint)?.strip_prefix(' '));
    joint.unwrap_or(text)
}

/// Returns a text without the signature of a mail: short lines below a line of two hyphens, of which
/// none begins with a verb.
fn without_signature(task: &str) -> &str {
    let end = tail(task);
    let begin = task.len() - end.len();
    let Some(found) = ["\n--\n", "\n-- \n"].iter().filter_map(|line| end.rfind(line)).max() else {
        return task;
    };
    let lines = || end[found..].lines().filter(|line| !line.trim().is_empty());
    let asks = |line: &str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        let first = first.to_ascii_lowercase();
        line.contains(is_spaceless) || VERBS.binary_search(&first.as_str()).is_ok()
    };
    let is_signature = lines().count() <= MAX_SIGNATURE_LINES
        && lines().skip(1).all(|line| line.len() <= MAX_SIGNATURE_BYTES && !asks(line));
    if is_signature { task[..begin + found].trim_end() } else { task }
}

fn without_ending(task: &str) -> &str {
    let mut rest = task;
    for _ in 0..MAX_PHRASES {
        let text = rest.trim_end_matches(is_between);
        let (before, phrase) = last_phrase(text);
        // What a colon announces is meant: `translate into German: thanks a lot`.
        if before.trim_end().ends_with([':', '\u{ff1a}']) {
            break;
        }
        let is_signed = is_name(phrase) && {
            let (_, sign_off) = last_phrase(before.trim_end_matches(is_between));
            SIGN_OFF.is_match(&plain(sign_off))
        };
        if is_signed || is_courtesy(phrase, false) || SIGN_OFF.is_match(&plain(phrase)) {
            rest = before;
            continue;
        }
        let lower = tail(text).to_ascii_lowercase();
        let trailer = TRAILERS
            .iter()
            .find(|words| lower.strip_suffix(**words).is_some_and(|before| before.ends_with(' ')));
        match trailer {
            Some(words) => rest = text[..text.len() - words.len()].trim_end(),
            None => break,
        }
    }
    if rest.len() == task.len() { task } else { rest.trim_end_matches(is_loose) }
}

/// Returns the last phrase of a text, and what is before it with the mark between.
fn last_phrase(text: &str) -> (&str, &str) {
    let end = tail(text);
    let start =
        end.char_indices().rev().find(|(_, c)| is_mark(*c)).map(|(at, c)| at + c.len_utf8());
    text.split_at(text.len() - end.len() + start.unwrap_or(0))
}

fn is_courtesy(phrase: &str, is_opening: bool) -> bool {
    let phrase = phrase.trim_matches(is_between);
    let lower = plain(phrase);
    if lower.is_empty() {
        return false;
    }
    COURTESY.is_match(&lower)
        || CHINESE.is_match(&lower)
        || is_opening && (OPENING.is_match(&lower) || is_greeting(phrase, &lower))
}

/// Returns whether a phrase greets, and names at most who is greeted.
fn is_greeting(phrase: &str, lower: &str) -> bool {
    let words = lower.match_indices(' ').map(|(at, _)| at).chain([lower.len()]);
    words.into_iter().any(|end| {
        let name = phrase.get(end..).unwrap_or_default().trim();
        GREETING.is_match(&lower[..end])
            && (name.is_empty()
                || ADDRESSED.contains(&name.to_ascii_lowercase().as_str())
                || is_chinese_name(name)
                || is_name(name))
    })
}

/// Returns whether a word may name somebody in Chinese: `hi 小王`.
fn is_chinese_name(word: &str) -> bool {
    word.chars().all(is_spaceless) && word.chars().count() <= MAX_CHINESE_NAME
}

/// Returns whether words may name somebody: few words with a capital letter, none of them a verb.
fn is_name(words: &str) -> bool {
    let is_part = |word: &str| {
        let lower = word.to_ascii_lowercase();
        let mut characters = word.chars();
        characters.next().is_some_and(char::is_uppercase)
            && characters.as_str().contains(char::is_lowercase)
            && characters.all(|c| c.is_alphabetic() && c.is_lowercase() || c == '-')
            && lower != "world"
            && VERBS.binary_search(&lower.as_str()).is_err()
    };
    let words = words.trim();
    let n_words = words.split_whitespace().count();
    (1..=MAX_NAME_WORDS).contains(&n_words) && words.split_whitespace().all(is_part)
}

/// Returns a phrase as patterns have it: in small letters, with plain apostrophes.
fn plain(phrase: &str) -> String {
    phrase.trim_matches(is_between).to_ascii_lowercase().replace('\u{2019}', "'")
}

/// Returns whether a character ends a phrase.
fn is_mark(c: char) -> bool {
    matches!(c, ',' | '.' | '!' | '?' | ';' | ':' | '\n' | '~' | '…' | '—' | '–')
        || matches!(c, '，' | '。' | '！' | '？' | '；' | '：' | '、' | '～')
        || is_emoji(c)
}

/// Returns whether a character may stand between a courtesy and the rest.
fn is_between(c: char) -> bool {
    c.is_whitespace() || is_mark(c) || c == '-'
}

/// Returns whether a mark has nothing to join once a courtesy behind it is gone.
fn is_loose(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | ':' | '，' | '、' | '；' | '：' | '-' | '—' | '–')
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::growth::assert_linear;

    #[test]
    fn greetings_thanks_and_the_like_ask_for_nothing() {
        for (task, rest) in [
            ("No rush, write an invoice", "write an invoice"),
            ("write an invoice, no rush", "write an invoice"),
            ("Hi! Whenever you have a minute: merge the PDFs", "merge the PDFs"),
            ("hello Anna, how are you? merge the PDFs. Cheers, Ben", "merge the PDFs."),
            (
                "Hi there\n\nHope you are doing well.\nMerge the PDFs.\n\nBest regards\nBen Kay",
                "Merge the PDFs.",
            ),
            ("no hurry but merge the PDFs", "merge the PDFs"),
            ("when you get a chance could you merge them", "could you merge them"),
            (
                "Please, could you kindly help me with this? Merge them. Thanks a lot!",
                "Merge them.",
            ),
            ("ok great, thanks, that worked. now merge them", "now merge them"),
            ("merge them pls 🙏", "merge them"),
            ("Sorry to bother you, but merge them", "merge them"),
            ("What changed since May? Thanks", "What changed since May?"),
            ("你好，不着急，合并文件，谢谢！", "合并文件"),
            ("大家好，辛苦了。合并文件", "合并文件"),
            ("Hi 小王，冒昧打扰，合并文件\n发自我的iPhone", "合并文件"),
            (
                "Dear Sir/Madam,\nas discussed in our last call, merge them.\nLet me know if you have any questions.\n-- \nJane Doe\nAcme, Berlin\nsales@acme.example",
                "merge them.",
            ),
            (
                "I'm following up on my last email: merge them. Looking forward to your reply!",
                "merge them.",
            ),
            ("Sorry for my bad English, merge them\nSent from my iPhone", "merge them"),
        ] {
            assert_eq!(without_courtesies(task), rest, "{task}");
        }
    }

    #[test]
    fn what_only_looks_like_a_courtesy_stays() {
        for task in [
            "thanks!",
            "你好",
            "write a thank you letter",
            "Thank you letter for a client",
            "Hello World in Rust",
            "Dear Santa letter for my son",
            "1. merge them\n2. split them",
            "First, merge them",
            "help: the build fails",
            "good morning mail to the team",
            "if you have the file, merge it",
            "  no tests exist, write some ",
            "fix it? no.",
            "set up the dev environment, then Docker",
            "translate into German: thanks a lot",
            "a follow up mail on our last call",
            "merge these\n--\nsplit those",
            "merge these\n--\nand a long line of eighty characters and more is no signature, but a part of what is asked",
        ] {
            assert_eq!(without_courtesies(task), task, "{task}");
        }
    }

    #[test]
    fn what_leads_to_a_request_is_told_from_a_question() {
        for (text, rest) in [
            ("could you please write an invoice", "write an invoice"),
            ("Can you help me to write it", "help me to write it"),
            ("I'd like you to write it", "write it"),
            ("please write it", "write it"),
            ("麻烦你帮我写发票", "帮我写发票"),
            ("你能不能帮我写发票", "帮我写发票"),
            ("could you", "could you"),
            ("can you, then, write it", "can you, then, write it"),
            ("canned food", "canned food"),
        ] {
            assert_eq!(without_lead(text), rest, "{text}");
        }
    }

    #[test]
    fn a_chinese_text_ends_without_a_mark() {
        for (text, rest) in
            [("压缩图片。", "压缩图片"), ("压缩图片！ ", "压缩图片"), ("a.", "a."), ("。", "。")]
        {
            assert_eq!(without_chinese_stop(text), rest);
        }
    }

    #[test]
    fn a_long_task_takes_linear_time() {
        for unit in ["hi, ", "thanks. ", "a", " ", "no rush but ", "\n", "好的，", "please "] {
            assert_linear(unit, 60_000, |task| {
                without_courtesies(task);
            });
        }
    }

    proptest! {
        #[test]
        fn what_is_left_is_a_part_of_the_task(task in r"(hi|thanks|, |\. |no rush|é|你好|，|merge it|please| ){0,8}|.*") {
            let rest = without_courtesies(&task);
            prop_assert!(task.contains(rest));
            prop_assert_eq!(rest.contains(char::is_alphanumeric), task.contains(char::is_alphanumeric));
            without_lead(&task);
        }
    }
}
