//! Tells requests that ask for nothing.

use super::words::words;
use crate::text::is_spaceless;

/// Words that greet, thank, agree or steer the conversation; sorted.
const SMALL_TALK: [&str; 63] = [
    "again", "alright", "and", "awesome", "bye", "carry", "cheers", "continue", "cool", "do",
    "evening", "everyone", "fine", "go", "good", "goodbye", "great", "haha", "hello", "hey", "hi",
    "how", "i", "is", "it", "job", "just", "keep", "lol", "lot", "m", "makes", "morning", "much",
    "nice", "night", "no", "nope", "now", "ok", "okay", "on", "perfect", "please", "right", "s",
    "see", "sense", "so", "sorry", "stop", "sure", "thank", "thanks", "that", "there", "very",
    "wait", "well", "worked", "works", "yes", "you",
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

/// Returns whether a task is made of greetings, thanks and the like alone: it asks for nothing, but
/// as a command, such as `/next`.
pub(crate) fn is_small_talk(task: &str) -> bool {
    if task.trim_start().starts_with('/') {
        return false;
    }
    let characters: String = task.chars().filter(|c| is_spaceless(*c)).collect();
    let is_chinese_talk =
        characters.is_empty() || CHINESE_SMALL_TALK.binary_search(&characters.as_str()).is_ok();
    is_chinese_talk && words(task).all(|word| SMALL_TALK.binary_search(&word.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_and_thanks_are_small_talk() {
        assert!(SMALL_TALK.is_sorted() && CHINESE_SMALL_TALK.is_sorted());
        for talk in ["hi", "Good morning!", "thanks, that works great", "ok, go on"] {
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
