//! The words by which requests are told.

/// Words between a mark and the verb.
pub(super) const LINKS: [&str; 13] = [
    "afterwards",
    "also",
    "and",
    "finally",
    "from",
    "it",
    "lastly",
    "next",
    "or",
    "please",
    "plus",
    "that",
    "then",
];

/// What stands between two pieces of work, and is none: another one follows, whatever its verb.
pub(super) const CONNECTORS: [&str; 31] = [
    "after that",
    "after this",
    "after which",
    "afterwards",
    "and then",
    "as soon as that is done",
    "at the end",
    "before that",
    "btw",
    "finally",
    "in the end",
    "lastly",
    "oh and",
    "once done",
    "once it is done",
    "once that is done",
    "once that's done",
    "once this is done",
    "once you are done",
    "once you have that",
    "then",
    "when done",
    "when finished",
    "when it is done",
    "when that is done",
    "when that's done",
    "when this is done",
    "when you are done",
    "when you're done",
    "while you are at it",
    "while you're at it",
];

/// Words before a thing that a verb is done to.
pub(super) const DETERMINERS: [&str; 24] = [
    "a", "all", "an", "another", "any", "each", "every", "how", "it", "its", "me", "my", "our",
    "that", "the", "their", "them", "these", "this", "those", "us", "what", "whether", "your",
];

/// Words that may stand before one of [`DETERMINERS`], and are no verbs.
pub(super) const NO_VERBS: [&str; 71] = [
    "about",
    "above",
    "across",
    "after",
    "against",
    "all",
    "along",
    "although",
    "among",
    "and",
    "around",
    "as",
    "at",
    "because",
    "before",
    "behind",
    "below",
    "beside",
    "besides",
    "between",
    "beyond",
    "both",
    "but",
    "by",
    "despite",
    "down",
    "during",
    "especially",
    "even",
    "except",
    "for",
    "from",
    "given",
    "half",
    "if",
    "in",
    "into",
    "is",
    "just",
    "like",
    "maybe",
    "near",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "onto",
    "or",
    "over",
    "per",
    "perhaps",
    "since",
    "so",
    "than",
    "through",
    "throughout",
    "till",
    "to",
    "under",
    "unless",
    "until",
    "up",
    "upon",
    "when",
    "while",
    "with",
    "without",
];

/// Words that a wish or a question begins with, before one of [`PERSONS`]: `could we`, `how do I`.
pub(super) const ASKING: [&str; 16] = [
    "are", "can", "could", "did", "do", "does", "have", "how", "is", "should", "what", "which",
    "who", "why", "will", "would",
];

/// Who asks, or is asked about.
pub(super) const PERSONS: [&str; 8] =
    ["anybody", "anyone", "else", "i", "it", "there", "we", "you"];

/// What a person who wants something says of it, after `I` or `we`.
pub(super) const WISHES: [&str; 6] = ["need", "require", "should", "want", "wish", "would"];

/// Words that a thing begins with, in a list of things that are wanted; so does a number.
pub(super) const COUNTS: [&str; 17] = [
    "a",
    "an",
    "another",
    "eight",
    "five",
    "four",
    "half",
    "nine",
    "one",
    "seven",
    "several",
    "six",
    "some",
    "something",
    "ten",
    "three",
    "two",
];

/// Words that a thing begins with which was spoken of before. In a list that goes on, it is a thing
/// of its own all the same.
pub(super) const DEFINITE: [&str; 5] = ["his", "her", "my", "our", "the"];

/// Words that tell when or where a request is to be done, before its verb: `at noon send it`.
pub(super) const WHEN: [&str; 14] = [
    "after",
    "at",
    "before",
    "by",
    "each",
    "every",
    "from",
    "in",
    "meanwhile",
    "on",
    "then",
    "today",
    "tomorrow",
    "tonight",
];

/// Words after a verb of a request, whatever the verb.
pub(super) const OBJECTS: [&str; 4] = ["it", "me", "them", "us"];

/// Words before a verb that asks for nothing: `who send it`, `to send it`.
pub(super) const SUBJECTS: [&str; 16] = [
    "can", "could", "i", "may", "must", "not", "people", "should", "that", "they", "to", "we",
    "which", "who", "will", "you",
];

/// Words for those whom a story is about.
pub(super) const TELLERS: [&str; 6] = ["he", "i", "it", "she", "they", "we"];

/// What they did: words that are no base form as well, and do not end with `ed`.
pub(super) const PAST: [&str; 34] = [
    "became", "began", "bought", "broke", "brought", "came", "did", "died", "drove", "fell",
    "felt", "forgot", "found", "gave", "got", "had", "kept", "knew", "left", "lost", "met", "ran",
    "rang", "said", "sat", "saw", "sold", "spoke", "stood", "told", "took", "was", "went", "were",
];

/// Words that a question begins with.
pub(super) const QUESTIONS: [&str; 7] = ["how", "what", "when", "where", "which", "who", "why"];

/// Words beside a person in a question: `should we`, `can I`.
pub(super) const AUXILIARIES: [&str; 9] =
    ["am", "are", "can", "could", "did", "do", "must", "should", "would"];

/// What somebody does who is spoken of.
pub(super) const WANTS: [&str; 7] =
    ["asked", "expect", "expects", "need", "needs", "want", "wants"];

/// Verbs that a condition begins with, after `but`: `but keep the order`.
pub(super) const CONDITIONS: [&str; 8] =
    ["be", "do", "don't", "go", "keep", "leave", "make", "use"];

/// Words by which a task asks for something, wherever they stand.
pub(super) const ASKING_PHRASES: [&str; 32] = [
    "any idea",
    "any way",
    "can you",
    "could you",
    "help",
    "how can",
    "how come",
    "how do",
    "how should",
    "how to",
    "i'd like",
    "need",
    "needs",
    "no idea how",
    "please",
    "pls",
    "plz",
    "should be",
    "there a way",
    "want",
    "wanna",
    "wants",
    "where do",
    "why are",
    "why do",
    "why does",
    "why is",
    "would be good",
    "would be great",
    "would be lovely",
    "would be nice",
    "would like",
];

/// The same in Chinese.
pub(super) const CHINESE_PHRASES: [&str; 16] = [
    "一下",
    "希望",
    "帮",
    "怎么",
    "想",
    "把",
    "求",
    "给我",
    "能不能",
    "能否",
    "要把",
    "请",
    "需要",
    "麻烦",
    "如何",
    "可以吗",
];

/// Words that a condition begins with.
pub(super) const CONDITION_STARTS: [&str; 9] = [
    "as soon as ",
    "if ",
    "in case ",
    "once ",
    "unless ",
    "until ",
    "when ",
    "whenever ",
    "whereas ",
];

/// Words of place and time with which something leads to a request.
pub(super) const OPENERS: [&str; 10] =
    ["after", "at", "before", "by", "during", "for", "from", "in", "on", "whereas"];

/// What some things are counted by in Chinese.
pub(super) const MEASURES: [char; 14] =
    ['个', '份', '副', '套', '封', '张', '段', '条', '篇', '组', '首', '幅', '项', '集'];

/// Words that a request in Chinese begins with.
pub(super) const CHINESE_ASKING: [&str; 20] = [
    "请",
    "帮",
    "麻烦",
    "把",
    "给",
    "先",
    "再",
    "然后",
    "接着",
    "最后",
    "另外",
    "还要",
    "还有",
    "同时",
    "顺便",
    "需要",
    "我要",
    "我想",
    "希望",
    "能不能",
];
