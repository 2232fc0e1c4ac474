//! [`SpecSeries`]: systems that differ in one number.

use super::spec::{SystemSpec, malformed};
use crate::error::Error;

/// Systems that differ in one number, as `page:default/{20,40,60}%`: what a sweep measures.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecSeries {
    /// The text that names all of them.
    pub name: String,
    /// The numbers, as they were written; one empty text if nothing differs.
    pub labels: Vec<String>,
    /// A system for each number.
    pub specs: Vec<SystemSpec>,
}

impl SpecSeries {
    /// Reads a spec with a list in braces, or one without.
    ///
    /// # Errors
    /// [`Error::SpecMalformed`] if there is more than one list, or one without an end, and what
    /// [`SystemSpec::parse`] says.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let name = text.trim();
        let expected = "one list in braces, such as `page:default/{20,40}%`";
        let (head, list, tail) = match name.split_once('{') {
            None if name.contains('}') => return Err(malformed(name, expected)),
            None => (name, "", ""),
            Some((head, rest)) => {
                let (list, tail) = rest.split_once('}').ok_or_else(|| malformed(name, expected))?;
                if list.trim().is_empty() || [head, list, tail].concat().contains(['{', '}']) {
                    return Err(malformed(name, expected));
                }
                (head, list, tail)
            }
        };
        let labels: Vec<String> = list.split(',').map(|label| label.trim().to_owned()).collect();
        let spec = |label: &String| SystemSpec::parse(&format!("{head}{label}{tail}"));
        let specs = labels.iter().map(spec).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), labels, specs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_stands_for_a_system_each() {
        let names = |text: &str| -> Vec<String> {
            let series = SpecSeries::parse(text).unwrap();
            series.specs.iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(" page:default/{20, 40}%"), ["page:default/20%", "page:default/40%"]);
        assert_eq!(names("page:mmr"), ["page:mmr"]);
        assert_eq!(SpecSeries::parse("page:mmr/{8,9}").unwrap().labels, ["8", "9"]);
    }

    #[test]
    fn lists_that_do_not_end_are_refused() {
        for text in
            ["page:mmr/{8", "page:mmr/8}", "page:mmr/{}", "{a}{b}", "{a{b}}", "page:mmr/{8,}"]
        {
            assert!(SpecSeries::parse(text).is_err(), "{text}");
        }
    }
}
