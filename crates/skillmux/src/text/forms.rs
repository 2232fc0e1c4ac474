//! Forms of English words that the stemmer keeps apart: irregular ones, British spellings, plurals of acronyms.

use std::borrow::Cow;

/// A form and the word that it is read as; sorted.
const IRREGULAR: &[(&str, &str)] = &[
    ("analyses", "analyze"),
    ("analysis", "analyze"),
    ("artefact", "artifact"),
    ("artefacts", "artifact"),
    ("ate", "eat"),
    ("began", "begin"),
    ("begun", "begin"),
    ("bought", "buy"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("catalogue", "catalog"),
    ("catalogues", "catalog"),
    ("caught", "catch"),
    ("centre", "center"),
    ("centres", "center"),
    ("children", "child"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("dbs", "db"),
    ("dialogue", "dialog"),
    ("dialogues", "dialog"),
    ("drawn", "draw"),
    ("drew", "draw"),
    ("eaten", "eat"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("grew", "grow"),
    ("grey", "gray"),
    ("grown", "grow"),
    ("hidden", "hide"),
    ("indices", "index"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("lent", "lend"),
    ("licence", "license"),
    ("licences", "license"),
    ("lost", "lose"),
    ("matrices", "matrix"),
    ("paid", "pay"),
    ("programme", "program"),
    ("programmes", "program"),
    ("prs", "pr"),
    ("ran", "run"),
    ("rebuilt", "rebuild"),
    ("rewritten", "rewrite"),
    ("rewrote", "rewrite"),
    ("sent", "send"),
    ("shrank", "shrink"),
    ("shrunk", "shrink"),
    ("slept", "sleep"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("summaries", "summarize"),
    ("summary", "summarize"),
    ("syntheses", "synthesize"),
    ("synthesis", "synthesize"),
    ("taught", "teach"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("tore", "tear"),
    ("torn", "tear"),
    ("vertices", "vertex"),
    ("vms", "vm"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Starts of words that Americans write with `or`.
const WITH_OUR: [&str; 9] = [
    "behaviour",
    "colour",
    "favour",
    "flavour",
    "harbour",
    "honour",
    "humour",
    "labour",
    "neighbour",
];

/// What may follow the `s` of a British verb, as in `organised`.
const VERB_ENDINGS: [&str; 9] = ["able", "ation", "ations", "e", "ed", "er", "ers", "es", "ing"];

/// Fewest letters before the ending of such a verb; `raise` and `wise` are none.
const MIN_VERB_START: usize = 3;

/// Returns the word that the stemmer is to see in place of a lower-cased English one: `write` for `wrote`, `color` for
/// `colour`, `optimize` for `optimise`, `csv` for `csvs`.
///
/// All forms of one word get one answer, so a wrong guess (`promize`) parts nothing that belongs together.
pub(super) fn regular(word: &str) -> Cow<'_, str> {
    if let Ok(found) = IRREGULAR.binary_search_by_key(&word, |(form, _)| form) {
        return IRREGULAR[found].1.into();
    }
    if let Some(acronym) = word.strip_suffix('s').filter(|_| is_plural_acronym(word)) {
        return acronym.into();
    }
    if let Some(start) = WITH_OUR.into_iter().find(|start| word.starts_with(start)) {
        let (before, rest) = (&start[..start.len() - "our".len()], &word[start.len()..]);
        return format!("{before}or{rest}").into();
    }
    let ending = VERB_ENDINGS
        .into_iter()
        .find(|ending| word.strip_suffix(ending).is_some_and(is_british_verb));
    match ending {
        Some(ending) => {
            let start = &word[..word.len() - ending.len() - 1];
            format!("{start}z{ending}").into()
        }
        None => word.into(),
    }
}

/// Returns whether a word is the plural of an acronym without a vowel, such as `pdfs`.
fn is_plural_acronym(word: &str) -> bool {
    let is_vowel = |byte| matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    word.len() > 3 && word != "https" && !word.ends_with("ss") && !word.bytes().any(is_vowel)
}

/// Returns whether a verb without its ending, such as `optimis` or `analys`, is one that Americans write with `z`.
/// `revise` and `concise` are none, and keep the stem of `revision`.
fn is_british_verb(verb: &str) -> bool {
    let Some(start) = verb.strip_suffix("is").or_else(|| verb.strip_suffix("ys")) else {
        return false;
    };
    start.len() >= MIN_VERB_START && !start.ends_with(['a', 'c', 'e', 'o', 'u', 'v'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_binary_search_finds_every_form() {
        assert!(IRREGULAR.is_sorted_by_key(|(form, _)| form));
    }

    #[test]
    fn forms_of_a_word_are_read_as_it() {
        for (form, word) in [
            ("wrote", "write"),
            ("analysis", "analyze"),
            ("analysing", "analyzing"),
            ("colourful", "colorful"),
            ("behaviours", "behaviors"),
            ("organisations", "organizations"),
            ("optimise", "optimize"),
            ("pdfs", "pdf"),
            ("prs", "pr"),
        ] {
            assert_eq!(regular(form), word);
        }
    }

    #[test]
    fn words_that_only_look_like_them_stay() {
        for word in [
            "raise", "noises", "wise", "revise", "concise", "appraise", "https", "css", "dns",
            "bless", "rhythms", "analyst", "hour", "contour", "crisis", "class",
        ] {
            assert_eq!(regular(word), word);
        }
    }
}
