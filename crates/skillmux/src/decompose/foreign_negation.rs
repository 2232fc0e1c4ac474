//! [`refused_at`]: what a task in another language than English and Chinese says is not to be used.

use std::ops::Range;

use super::{
    head,
    phrase::{begins_phrase, begins_with},
};
use crate::text::is_hiragana;

/// What words of another language rule out.
pub(super) struct Refused {
    /// Bytes of the words and of what they rule out; of the words alone, if they rule out nothing.
    pub(super) range: Range<usize>,
    /// Bytes of what is ruled out.
    pub(super) object: Option<Range<usize>>,
}

/// Words after which it is named: German, French, Spanish, Portuguese, Italian, Russian. Longer ones come
/// before those that they begin with.
const STARTS: [&str; 68] = [
    "vergiss",
    "vergesst",
    "oublie",
    "ohne",
    "anstelle von",
    "anstatt",
    "statt mit",
    "statt",
    "nicht mit",
    "bitte nicht",
    "n'utilise pas",
    "n\u{2019}utilise pas",
    "n'utilisez pas",
    "n\u{2019}utilisez pas",
    "ne pas utiliser",
    "ne veux pas de",
    "ne veux pas",
    "ne voulons pas de",
    "pas besoin de",
    "pas avec",
    "au lieu de",
    "plutôt que",
    "sans utiliser",
    "sans passer par",
    "sans",
    "sin usar",
    "sin utilizar",
    "sin",
    "no uses",
    "no usar",
    "no utilices",
    "no utilizar",
    "no quiero",
    "no queremos",
    "no necesito",
    "en vez de",
    "en lugar de",
    "sem usar",
    "sem utilizar",
    "sem",
    "não use",
    "não usar",
    "não quero",
    "não queremos",
    "não preciso de",
    "em vez de",
    "senza usare",
    "senza",
    "non usare",
    "non utilizzare",
    "non voglio",
    "invece di",
    "al posto di",
    "без использования",
    "без",
    "Без использования",
    "Без",
    "не используй",
    "Не используй",
    "не хочу использовать",
    "Не хочу использовать",
    "не хочу",
    "Не хочу",
    "не нужен",
    "не нужна",
    "не нужны",
    "вместо",
    "Вместо",
];

/// Words that do so at the begin of a phrase, and tell a state elsewhere: `es gibt keine Tests`.
/// Longer ones come first here, too.
const PHRASE_STARTS: [&str; 10] = [
    "kein",
    "keine",
    "keinen",
    "keinem",
    "keiner",
    "nicht in",
    "nicht als",
    "nicht",
    "pas de",
    "pas en",
];

/// Words after which a phrase may begin.
const JOINTS: [&str; 20] = [
    "und",
    "aber",
    "bitte",
    "brauche",
    "brauchen",
    "möchte",
    "möchten",
    "verwende",
    "benutze",
    "nutze",
    "verwenden",
    "benutzen",
    "nutzen",
    "nimm",
    "will",
    "wollen",
    "et",
    "mais",
    "pero",
    "ma",
];

/// Words that may stand before it and are no part of it.
const ARTICLES: [&str; 31] = [
    "a", "gli", "il", "lo", "uno", "as", "das", "de", "dem", "den", "der", "des", "die", "du",
    "ein", "eine", "einem", "einen", "einer", "el", "la", "las", "le", "les", "los", "o", "os",
    "um", "uma", "un", "une",
];

/// Words that end it.
const ENDS: [&str; 52] = [
    "aber",
    "als",
    "am",
    "an",
    "and",
    "auf",
    "aus",
    "avec",
    "bei",
    "bitte",
    "com",
    "con",
    "dans",
    "e",
    "em",
    "en",
    "et",
    "für",
    "im",
    "in",
    "mais",
    "mas",
    "mit",
    "na",
    "no",
    "nur",
    "oder",
    "or",
    "ou",
    "para",
    "pero",
    "por",
    "pour",
    "puis",
    "sino",
    "solo",
    "sondern",
    "sur",
    "und",
    "von",
    "y",
    "zu",
    "а",
    "в",
    "для",
    "и",
    "или",
    "на",
    "но",
    "с",
    "через",
    "только",
];

/// Verbs behind it: `ohne Docker zu verwenden`.
const USES: [&str; 6] =
    ["benutzen", "nutzen", "verwenden", "zu benutzen", "zu nutzen", "zu verwenden"];

/// Ends of verbs that say what is not to happen: `sans perdre de données`.
const INFINITIVES: [&str; 8] = ["ar", "er", "ir", "or", "re", "ать", "еть", "ить"];

/// What `sans` stands beside in names of type faces.
const FACES: [&str; 6] = ["comic", "fira", "noto", "open", "pt", "source"];

/// Words behind it in Japanese.
const JAPANESE: [&str; 18] = [
    "を使わないで",
    "を使わずに",
    "を使わず",
    "は使わないで",
    "は使わずに",
    "は使わず",
    "を使用せずに",
    "を使用せず",
    "は使わない",
    "は不要",
    "はいらない",
    "はいりません",
    "は要らない",
    "なしで",
    "抜きで",
    "ではなく",
    "じゃなく",
    "以外で",
];

/// Words behind it in Korean; particles stand between.
const KOREAN: [&str; 8] = [
    " 없이",
    " 말고",
    " 사용하지 말고",
    " 사용하지 않고",
    " 쓰지 말고",
    " 쓰지 않고",
    " 빼고",
    " 제외하고",
];
const PARTICLES: [char; 4] = ['을', '를', '은', '는'];

/// English words before a name: `the SEM images` are no images that are not wanted.
const ENGLISH_ARTICLES: [&str; 5] = ["an", "of", "our", "the", "this"];

/// What begins like [`STARTS`], and rules nothing out.
const IDIOMS: [&str; 11] = [
    "bitte nicht vergessen",
    "ohne fehler",
    "oublie pas",
    "sans faute",
    "ohne weiteres",
    "ohne zweifel",
    "sans cesse",
    "sans doute",
    "sem dúvida",
    "sin duda",
    "sin embargo",
];

/// Most words of what is ruled out.
const MAX_WORDS: usize = 3;

/// Returns what is ruled out by words that begin here, or that stand here behind it, from the byte
/// `from` on. `lower` has no capital ASCII letter.
pub(super) fn refused_at(lower: &str, at: usize, from: usize) -> Option<Refused> {
    let rest = head(&lower[at..]);
    let is_at = |words: &&&str| begins_with(rest, words);
    let before = &lower[from..at];
    if rest.starts_with(char::is_alphabetic)
        && !before.ends_with(char::is_alphanumeric)
        && let Some(words) = STARTS.iter().find(is_at).or_else(|| {
            PHRASE_STARTS.iter().find(is_at).filter(|_| begins_foreign_phrase(lower, at))
        })
    {
        let end = at + words.len();
        let is_face = *words == "sans"
            && (FACES.contains(&last_word(before)) || rest[words.len()..].starts_with('-'));
        // `plot sin(x)`, `the SEM images`.
        let is_word =
            rest[words.len()..].starts_with('(') || ENGLISH_ARTICLES.contains(&last_word(before));
        let is_other = is_word || is_face || IDIOMS.iter().any(|idiom| rest.starts_with(idiom));
        return Some(match object(&lower[end..]).filter(|_| !is_other) {
            Some((object, used)) => Refused {
                range: at..end + used,
                object: Some(end + object.start..end + object.end),
            },
            None => Refused { range: at..end, object: None },
        });
    }
    let is_behind = |words: &&&str| rest.starts_with(**words);
    let (words, start) = if let Some(words) = JAPANESE.iter().find(is_behind) {
        (words, before.trim_end_matches(is_of_japanese_noun).len())
    } else {
        (KOREAN.iter().find(is_behind)?, before.rfind(' ').map_or(0, |space| space + 1))
    };
    let noun = before[start..].trim_end_matches(PARTICLES);
    let object = (!noun.is_empty()).then(|| from + start..from + start + noun.len());
    let begin = object.as_ref().map_or(at, |object| object.start);
    Some(Refused { range: begin..at + words.len(), object })
}

fn begins_foreign_phrase(lower: &str, at: usize) -> bool {
    begins_phrase(lower, at) || JOINTS.contains(&last_word(&lower[..at]))
}

fn last_word(text: &str) -> &str {
    text.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("")
}

/// Tells whether a character may be one of a noun in Japanese: anything but the small letters of
/// grammar, and marks.
fn is_of_japanese_noun(c: char) -> bool {
    (c.is_alphanumeric() || matches!(c, '-' | '.' | 'ー')) && !is_hiragana(c)
}

/// Returns the bytes of what is ruled out after the words that do so, and how many bytes belong to
/// it; `None` if nothing is named, or a condition.
fn object(after: &str) -> Option<(Range<usize>, usize)> {
    let after = head(after);
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for word in after.split_inclusive(char::is_whitespace) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let place = at + word.find(bare).unwrap_or(0);
        if !(bare.is_empty() || words.is_empty() && ARTICLES.contains(&bare)) {
            if ENDS.contains(&bare) || USES.contains(&bare) {
                break;
            }
            words.push(place..place + bare.len());
        }
        at += word.len();
        let is_marked = word.trim_end().ends_with(|c: char| !c.is_alphanumeric());
        if is_marked && !words.is_empty() || words.len() > MAX_WORDS {
            break;
        }
    }
    let object = words.first()?.start..words.last()?.end;
    let rest = &after[object.end..];
    let used = USES.iter().find(|use_| rest.trim_start().starts_with(**use_));
    let used = used.map_or(0, |use_| rest.len() - rest.trim_start().len() + use_.len());
    // `ohne Daten zu verlieren`, `sin perder datos`: what must not happen, and nothing to rule out.
    let is_aim = used == 0 && rest.trim_start().starts_with("zu ");
    let first = &after[words[0].clone()];
    let is_verb = words.len() > 1 && INFINITIVES.iter().any(|end| first.ends_with(end));
    let is_object = words.len() <= MAX_WORDS && !is_aim && !is_verb;
    is_object.then_some((object.clone(), object.end + used))
}

#[cfg(test)]
mod tests {
    use super::super::negation::{negations, without};

    fn read(task: &str) -> (Vec<&str>, String) {
        let found = negations(task);
        let rest = without(task, &found);
        (found.into_iter().map(|negation| &task[negation.object]).collect(), rest)
    }

    #[test]
    fn what_is_not_to_be_used_is_ruled_out() {
        for (task, object, rest) in [
            ("Richte den Dienst ein, ohne Docker", "Docker", "Richte den Dienst ein"),
            ("Deploy das, aber nicht mit Docker", "Docker", "Deploy das, aber"),
            ("Mach Folien, aber nicht in PowerPoint", "PowerPoint", "Mach Folien, aber"),
            ("Mach eine Tabelle, keine Präsentation", "Präsentation", "Mach eine Tabelle"),
            ("Bitte nicht Docker verwenden, sondern systemd", "Docker", "sondern systemd"),
            ("ohne den Docker zu benutzen, starte es", "Docker", "starte es"),
            ("Nutze systemd statt Docker", "Docker", "Nutze systemd"),
            ("déploie l'API sans Docker", "Docker", "déploie l'API"),
            ("n'utilise pas Docker, prends systemd", "Docker", "prends systemd"),
            ("un tableau, pas de diapositives", "diapositives", "un tableau"),
            ("despliega sin docker en el servidor", "docker", "despliega  en el servidor"),
            ("no uses docker, usa systemd", "docker", "usa systemd"),
            ("faça o deploy sem o Docker", "Docker", "faça o deploy"),
            ("Вместо Docker, возьми systemd", "Docker", "возьми systemd"),
            ("Без использования Docker, разверни это", "Docker", "разверни это"),
            ("разверни без Docker на сервере", "Docker", "разверни  на сервере"),
            ("Dockerを使わずにデプロイして", "Docker", "デプロイして"),
            ("報告書を作って、スライドなしで", "スライド", "報告書を作って"),
            ("Ich will keine Folien, nur eine Tabelle", "Folien", "Ich will , nur eine Tabelle"),
            (
                "je ne veux pas de diapositives, fais un tableau",
                "diapositives",
                "je , fais un tableau",
            ),
            ("no quiero docker, despliega la api", "docker", "despliega la api"),
            ("não quero docker, faça o deploy", "docker", "faça o deploy"),
            ("distribuisci il servizio senza il Docker", "Docker", "distribuisci il servizio"),
            ("не хочу Docker, разверни это", "Docker", "разверни это"),
            ("Vergiss Docker, nimm systemd", "Docker", "nimm systemd"),
            (
                "Wir verwenden kein Docker, richte systemd ein",
                "Docker",
                "Wir verwenden , richte systemd ein",
            ),
            ("oublie docker, prends systemd", "docker", "prends systemd"),
            ("не хочу использовать Docker, разверни это", "Docker", "разверни это"),
            ("スライドは不要、報告書を作って", "スライド", "報告書を作って"),
            ("Docker 빼고 배포해 줘", "Docker", "배포해 줘"),
            ("Docker 없이 배포해 줘", "Docker", "배포해 줘"),
            ("Docker를 사용하지 말고 배포해 줘", "Docker", "배포해 줘"),
        ] {
            assert_eq!(read(task), (vec![object], rest.to_owned()), "{task}");
        }
    }

    #[test]
    fn states_conditions_and_names_rule_nothing_out() {
        for task in [
            "es gibt keine Tests, schreib welche",
            "migriere die Tabelle, ohne Daten zu verlieren",
            "der Container startet nicht",
            "migrer la table sans perdre de données",
            "il n'y a pas de tests",
            "migra la tabla sin perder datos",
            "set the text in Open Sans and bold",
            "a sans-serif type face",
            "plot sin and cos",
            "plot sin(x) from 0 to 3",
            "please analyse the SEM images of the sample",
            "ordena la tabla, sin embargo conserva la primera fila",
            "テストがない",
            "schreib die Tests, bitte nicht vergessen",
            "n'oublie pas les tests",
            "не хочу терять данные при миграции",
        ] {
            assert_eq!(read(task), (vec![], task.to_owned()), "{task}");
        }
    }
}
