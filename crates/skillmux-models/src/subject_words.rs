//! [`SubjectList`]: which words name a subject, looked up in a sorted list; and which name rivals.

use std::{cmp::Ordering, collections::HashMap, sync::LazyLock};

use skillmux::model::{Kind, SubjectWords};

/// What each word of the list of rivals names.
static KINDS: LazyLock<HashMap<&str, Kind>> = LazyLock::new(|| {
    let kinds = (0..).zip(skillmux_lexicons::RIVALS.lines());
    let things = kinds.flat_map(|(kind, line)| {
        (0..).zip(line.split(' ')).map(move |(thing, names)| (Kind { kind, thing }, names))
    });
    things.flat_map(|(kind, names)| names.split('/').map(move |name| (name, kind))).collect()
});

/// A list of lines, each a word of small ASCII letters and digits, a tab, and its weight in
/// hundredths, by the bytes of the word. It is searched as it is, so that nothing has to be read
/// first.
pub(crate) struct SubjectList(pub(crate) &'static str);

impl SubjectList {
    /// Returns the weight of a word; `None` if the list does not have it.
    fn find(&self, word: &str) -> Option<f32> {
        let mut rest = self.0;
        while !rest.is_empty() {
            let middle = rest.floor_char_boundary(rest.len() / 2);
            let start = rest[..middle].rfind('\n').map_or(0, |end| end + 1);
            let end = rest[start..].find('\n').map_or(rest.len(), |length| start + length + 1);
            let (known, weight) = rest[start..end].trim_end().split_once('\t')?;
            match word.cmp(known) {
                Ordering::Less => rest = &rest[..start],
                Ordering::Equal => return weight.parse().ok().map(|weight: f32| weight / 100.0),
                Ordering::Greater => rest = &rest[end..],
            }
        }
        None
    }

    /// Returns whether the list has a word, which is then no typing error.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.find(word).is_some()
    }
}

impl SubjectWords for SubjectList {
    /// A plural that the list does not have is its singular.
    fn weight(&self, word: &str) -> f32 {
        let singular = || self.find(word.strip_suffix('s')?);
        self.find(word).or_else(singular).unwrap_or(0.0)
    }

    fn kind(&self, word: &str) -> Option<Kind> {
        KINDS.get(word).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_list_is_found_and_no_other() {
        let list = SubjectList("add\t1\nadd2\t3\nbot\t90\nkicad\t7\nvhdl\t5\n");
        for (word, expected) in [
            ("add", Some(0.01)),
            ("add2", Some(0.03)),
            ("bot", Some(0.9)),
            ("kicad", Some(0.07)),
            ("vhdl", Some(0.05)),
            ("", None),
            ("a", None),
            ("addd", None),
            ("kica", None),
            ("zoo", None),
        ] {
            assert_eq!(list.find(word), expected, "{word}");
        }
        assert_eq!(SubjectList("").find("add"), None);
    }

    #[test]
    fn the_list_of_the_binary_is_sorted_and_whole() {
        let list = SubjectList(skillmux_lexicons::SUBJECTS);
        let lines: Vec<(&str, &str)> =
            list.0.lines().map(|line| line.split_once('\t').unwrap()).collect();
        assert!(lines.is_sorted_by(|a, b| a.0 < b.0));
        for (word, weight) in lines {
            assert_eq!(list.find(word), Some(weight.parse::<f32>().unwrap() / 100.0));
        }
    }

    #[test]
    fn each_name_has_one_kind_and_rivals_are_told_from_other_names() {
        let is_name = |c: char| matches!(c, 'a'..='z' | '0'..='9');
        let names =
            skillmux_lexicons::RIVALS.split([' ', '/', '\n']).filter(|name| !name.is_empty());
        assert_eq!(names.clone().count(), KINDS.len(), "a name stands twice");
        assert!(names.clone().all(|name| name.chars().all(is_name)));
        let kind = |word| SubjectList("").kind(word).unwrap();
        assert!(kind("mysql").is_rival_of(kind("postgres")));
        assert!(!kind("postgresql").is_rival_of(kind("postgres")));
        assert!(!kind("jira").is_rival_of(kind("postgres")));
        assert_eq!(SubjectList("").kind("table"), None);
    }

    #[test]
    fn names_of_tools_weigh_and_words_for_every_day_do_not() {
        let list = SubjectList(skillmux_lexicons::SUBJECTS);
        for word in ["make", "the", "table", "tables", "zzyzx"] {
            assert!(list.weight(word).abs() < f32::EPSILON, "{word}");
        }
        for word in ["kubernetes", "kicad", "mikrotik"] {
            assert!(list.weight(word) > 0.1, "{word}");
        }
    }
}
