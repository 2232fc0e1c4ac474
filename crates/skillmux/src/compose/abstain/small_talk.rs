//! Tells requests that ask for nothing.

use super::words::words;
use crate::text::is_spaceless;

/// Words that greet, thank, agree or steer the conversation; sorted.
const SMALL_TALK: [&str; 105] = [
    "again",
    "ahead",
    "alright",
    "and",
    "awesome",
    "bro",
    "bye",
    "carry",
    "cheers",
    "continue",
    "cool",
    "course",
    "deal",
    "do",
    "done",
    "evening",
    "everyone",
    "exactly",
    "fine",
    "first",
    "go",
    "good",
    "goodbye",
    "got",
    "gotcha",
    "great",
    "haha",
    "hello",
    "hey",
    "hi",
    "hm",
    "hmm",
    "how",
    "huh",
    "i",
    "is",
    "it",
    "job",
    "just",
    "k",
    "keep",
    "last",
    "later",
    "lgtm",
    "lol",
    "lot",
    "love",
    "m",
    "makes",
    "man",
    "moment",
    "morning",
    "much",
    "nah",
    "nevermind",
    "next",
    "nice",
    "night",
    "no",
    "nope",
    "now",
    "nvm",
    "of",
    "ok",
    "okay",
    "on",
    "one",
    "option",
    "perfect",
    "ping",
    "please",
    "right",
    "s",
    "second",
    "see",
    "sense",
    "so",
    "sorry",
    "sounds",
    "stop",
    "sure",
    "thank",
    "thanks",
    "that",
    "there",
    "third",
    "this",
    "thx",
    "try",
    "ty",
    "uh",
    "um",
    "very",
    "wait",
    "well",
    "what",
    "worked",
    "works",
    "wow",
    "yeah",
    "yep",
    "yes",
    "yo",
    "you",
    "yup",
];

/// The same in Chinese, without punctuation; sorted.
const CHINESE_SMALL_TALK: [&str; 20] = [
    "你好",
    "停",
    "停下",
    "再见",
    "可以",
    "哈哈",
    "嗯",
    "好",
    "好吧",
    "好的",
    "对",
    "对的",
    "您好",
    "收到",
    "早上好",
    "晚安",
    "没事",
    "继续",
    "谢谢",
    "谢谢你",
];

/// Returns whether a task is made of greetings, thanks, numbers and the like alone: it asks for
/// nothing, but as a command, such as `/next`.
pub(crate) fn is_small_talk(task: &str) -> bool {
    if task.trim_start().starts_with('/') {
        return false;
    }
    let characters: String = task.chars().filter(|c| is_spaceless(*c)).collect();
    let is_chinese_talk =
        characters.is_empty() || CHINESE_SMALL_TALK.binary_search(&characters.as_str()).is_ok();
    let is_talk = |word: &str| {
        word.bytes().all(|c| c.is_ascii_digit()) || SMALL_TALK.binary_search(&word).is_ok()
    };
    is_chinese_talk && words(task).all(|word| is_talk(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_and_thanks_are_small_talk() {
        assert!(SMALL_TALK.is_sorted() && CHINESE_SMALL_TALK.is_sorted());
        for talk in [
            "hi",
            "Good morning!",
            "thanks, that works great",
            "yes, go ahead",
            "2+2",
            "12:30 - 14:15",
            "👍",
        ] {
            assert!(is_small_talk(talk), "{talk}");
        }
        for talk in ["好的", "继续", "谢谢！"] {
            assert!(is_small_talk(talk), "{talk}");
        }
        for task in ["stop the server", "good morning email", "继续写周报", "pdf", "/hi"] {
            assert!(!is_small_talk(task), "{task}");
        }
    }
}
