//! Forms of English words that the stemmer keeps apart: irregular ones, British spellings, plurals
//! of acronyms, and nouns of verbs (`conversion`, `notification`).

use std::borrow::Cow;

/// A form and the word that it is read as; sorted.
const IRREGULAR: &[(&str, &str)] = &[
    ("aluminium", "aluminum"),
    ("analogue", "analog"),
    ("analogues", "analog"),
    ("analyses", "analyze"),
    ("analysis", "analyze"),
    ("appendices", "appendix"),
    ("approval", "approve"),
    ("approvals", "approve"),
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
    ("cheque", "check"),
    ("cheques", "check"),
    ("children", "child"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("comparison", "compare"),
    ("comparisons", "compare"),
    ("conversion", "convert"),
    ("conversions", "convert"),
    ("cosy", "cozy"),
    ("crises", "crisis"),
    ("criteria", "criterion"),
    ("curricula", "curriculum"),
    ("cvs", "cv"),
    ("dbs", "db"),
    ("defence", "defense"),
    ("deletion", "delete"),
    ("deliveries", "deliver"),
    ("delivery", "deliver"),
    ("description", "describe"),
    ("descriptions", "describe"),
    ("diagnoses", "diagnose"),
    ("diagnosis", "diagnose"),
    ("dialogue", "dialog"),
    ("dialogues", "dialog"),
    ("discovery", "discover"),
    ("drawn", "draw"),
    ("drew", "draw"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("eaten", "eat"),
    ("explanation", "explain"),
    ("explanations", "explain"),
    ("fallen", "fall"),
    ("feet", "foot"),
    ("fell", "fall"),
    ("fibre", "fiber"),
    ("fibres", "fiber"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("formulae", "formula"),
    ("found", "find"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("gave", "give"),
    ("given", "give"),
    ("gone", "go"),
    ("grew", "grow"),
    ("grey", "gray"),
    ("grown", "grow"),
    ("halves", "half"),
    ("heard", "hear"),
    ("held", "hold"),
    ("hidden", "hide"),
    ("hung", "hang"),
    ("hypotheses", "hypothesis"),
    ("indices", "index"),
    ("jewellery", "jewelry"),
    ("kept", "keep"),
    ("kerb", "curb"),
    ("knew", "know"),
    ("known", "know"),
    ("led", "lead"),
    ("lent", "lend"),
    ("licence", "license"),
    ("licences", "license"),
    ("litre", "liter"),
    ("litres", "liter"),
    ("lost", "lose"),
    ("made", "make"),
    ("maintenance", "maintain"),
    ("maths", "math"),
    ("matrices", "matrix"),
    ("men", "man"),
    ("met", "meet"),
    ("metre", "meter"),
    ("metres", "meter"),
    ("mice", "mouse"),
    ("mould", "mold"),
    ("moulds", "mold"),
    ("offence", "offense"),
    ("overridden", "override"),
    ("overrode", "override"),
    ("overwritten", "overwrite"),
    ("overwrote", "overwrite"),
    ("paid", "pay"),
    ("parentheses", "parenthesis"),
    ("pcs", "pc"),
    ("people", "person"),
    ("persons", "person"),
    ("phenomena", "phenomenon"),
    ("plough", "plow"),
    ("pms", "pm"),
    ("practise", "practice"),
    ("practised", "practice"),
    ("practising", "practice"),
    ("programme", "program"),
    ("programmes", "program"),
    ("pronunciation", "pronounce"),
    ("proven", "prove"),
    ("prs", "pr"),
    ("pyjamas", "pajamas"),
    ("quizzes", "quiz"),
    ("ran", "run"),
    ("rebuilt", "rebuild"),
    ("recovery", "recover"),
    ("redone", "redo"),
    ("reminder", "remind"),
    ("reminders", "remind"),
    ("removal", "remove"),
    ("renewal", "renew"),
    ("renewals", "renew"),
    ("retrieval", "retrieve"),
    ("rewritten", "rewrite"),
    ("rewrote", "rewrite"),
    ("risen", "rise"),
    ("rose", "rise"),
    ("said", "say"),
    ("sceptic", "skeptic"),
    ("sceptical", "skeptic"),
    ("schemata", "schema"),
    ("seen", "see"),
    ("sent", "send"),
    ("shelves", "shelf"),
    ("shown", "show"),
    ("shrank", "shrink"),
    ("shrunk", "shrink"),
    ("slept", "sleep"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("stood", "stand"),
    ("stuck", "stick"),
    ("submission", "submit"),
    ("submissions", "submit"),
    ("subscription", "subscribe"),
    ("subscriptions", "subscribe"),
    ("summaries", "summarize"),
    ("summary", "summarize"),
    ("swept", "sweep"),
    ("syntheses", "synthesize"),
    ("synthesis", "synthesize"),
    ("taken", "take"),
    ("taught", "teach"),
    ("theatre", "theater"),
    ("theatres", "theater"),
    ("theses", "thesis"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("tore", "tear"),
    ("torn", "tear"),
    ("transcript", "transcribe"),
    ("transcription", "transcribe"),
    ("transcriptions", "transcribe"),
    ("transcripts", "transcribe"),
    ("tvs", "tv"),
    ("tyre", "tire"),
    ("tyres", "tire"),
    ("understood", "understand"),
    ("undone", "undo"),
    ("vertices", "vertex"),
    ("vms", "vm"),
    ("went", "go"),
    ("women", "woman"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Starts of words that Americans write with `or`.
const WITH_OUR: [&str; 18] = [
    "armour",
    "behaviour",
    "colour",
    "endeavour",
    "favour",
    "flavour",
    "harbour",
    "honour",
    "humour",
    "labour",
    "neighbour",
    "odour",
    "parlour",
    "rumour",
    "savour",
    "tumour",
    "vapour",
    "vigour",
];

/// What may follow the `s` of a British verb, as in `organised`.
const VERB_ENDINGS: [&str; 9] = ["able", "ation", "ations", "e", "ed", "er", "ers", "es", "ing"];

/// Fewest letters before the ending of such a verb; `raise` and `wise` are none.
const MIN_VERB_START: usize = 3;

/// Returns the word that the stemmer is to see in place of a lower-cased English one: `write` for
/// `wrote`, `color` for `colour`, `optimize` for `optimise`, `csv` for `csvs`.
///
/// All forms of one word get one answer, so a wrong guess (`promize`) parts nothing that belongs
/// together.
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
    if let Some(start) = stem_of_ification(word) {
        return format!("{start}ify").into();
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

/// Returns what `ify` follows in the verb of a noun such as `notification`.
fn stem_of_ification(word: &str) -> Option<&str> {
    word.strip_suffix("ifications").or_else(|| word.strip_suffix("ification"))
}

/// Returns whether a word is the plural of an acronym without a vowel, such as `pdfs`.
fn is_plural_acronym(word: &str) -> bool {
    let is_vowel = |byte| matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    word.len() > 3 && word != "https" && !word.ends_with("ss") && !word.bytes().any(is_vowel)
}

/// Returns whether a verb without its ending, such as `optimis` or `analys`, is one that Americans
/// write with `z`. `revise` and `concise` are none, and keep the stem of `revision`.
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
            ("notifications", "notify"),
            ("rumoured", "rumored"),
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
