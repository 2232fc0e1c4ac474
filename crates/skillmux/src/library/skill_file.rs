//! Reads the bytes of a `SKILL.md` into the texts of a skill, and fills in what its author left
//! out.

use super::{
    decode::{self, Decoded},
    front_matter,
    report::Issue,
};

/// Longest description that is taken from the body, in characters; the limit of the Agent Skills
/// specification for a written one.
const MAX_DESCRIPTION_CHARS: usize = 1024;

/// The texts of one `SKILL.md`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SkillFile {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: String,
    pub(super) license: Option<String>,
    /// Whether the model is not to load the skill by itself.
    pub(super) is_for_user_only: bool,
    /// What had to be repaired.
    pub(super) issues: Vec<Issue>,
}

/// Reads a `SKILL.md` that lies in a folder of the given name.
///
/// The error is the reason to skip the file: it is not text, or has nothing to say.
pub(super) fn parse(bytes: Vec<u8>, folder: &str) -> Result<SkillFile, Issue> {
    let Decoded { text, mut issues } = decode::decode(bytes)?;
    let document = front_matter::parse(&text);
    let body = document.body.trim_start_matches('\n');
    let is_present = document.front_matter.is_some();
    let written = document.front_matter.unwrap_or_default();
    if written.description.is_none() && body.trim().is_empty() {
        return Err(Issue::Empty);
    }
    if !is_present {
        issues.push(Issue::FrontMatterMissing);
    }
    if let Some(detail) = written.repaired {
        issues.push(Issue::FrontMatterRepaired { detail });
    }
    let (license, is_for_user_only) = (written.license, written.is_for_user_only);
    let name = match written.name.map(|name| decode::on_one_line(&name)) {
        Some(name) if !name.is_empty() => {
            if !is_valid_name(&name) {
                issues.push(Issue::NameInvalid { name: name.clone() });
            } else if name != folder {
                issues.push(Issue::NameDiffersFromFolder {
                    name: name.clone(),
                    folder: folder.to_owned(),
                });
            }
            name
        }
        _ => {
            if is_present {
                issues.push(Issue::NameMissing);
            }
            Some(decode::on_one_line(folder))
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "unnamed".to_owned())
        }
    };
    let description = written.description.unwrap_or_else(|| {
        if is_present {
            issues.push(Issue::DescriptionMissing);
        }
        first_paragraph(body)
    });
    let body = body.to_owned();
    Ok(SkillFile { name, description, body, license, is_for_user_only, issues })
}

/// Returns true for 1-64 characters of `a-z`, `0-9` and single hyphens between them.
fn is_valid_name(name: &str) -> bool {
    name.len() <= 64
        && name.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// Returns the first paragraph of prose on one line; empty where there is none.
fn first_paragraph(body: &str) -> String {
    let mut paragraph = String::new();
    let mut fence = None;
    for line in body.lines() {
        let line_start = line.trim_start();
        if let Some(open) = fence {
            if line_start.starts_with(open) {
                fence = None;
            }
            continue;
        }
        fence = ["```", "~~~"].into_iter().find(|open| line_start.starts_with(open));
        if fence.is_some() || !is_prose(line) {
            if !paragraph.is_empty() {
                break;
            }
            continue;
        }
        paragraph.push_str(line_start);
        paragraph.push(' ');
    }
    decode::truncated(&decode::on_one_line(&paragraph), MAX_DESCRIPTION_CHARS).trim_end().to_owned()
}

/// Returns true where the line is neither blank, nor a heading, list, quote, table, ruler or code.
fn is_prose(line: &str) -> bool {
    let text = line.trim();
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = digits.len() < text.len() && digits.starts_with(['.', ')']);
    let is_item = ["- ", "* ", "+ "].iter().any(|marker| text.starts_with(marker));
    let is_code = line.starts_with("    ") || line.starts_with('\t');
    let is_ruler = text.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' '));
    !(is_ruler || is_item || is_code || is_numbered || text.starts_with(['#', '>', '|', '<']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> SkillFile {
        parse(text.as_bytes().to_vec(), "pdf-forms").unwrap()
    }

    #[test]
    fn a_well_formed_file_needs_no_repair() {
        let file = read("---\nname: pdf-forms\ndescription: Fills forms.\n---\n\n# PDF\r\n");
        assert_eq!(file.name, "pdf-forms");
        assert_eq!(file.description, "Fills forms.");
        assert_eq!(file.body, "# PDF\n");
        assert_eq!(file.issues, []);
    }

    #[test]
    fn without_front_matter_folder_and_first_paragraph_fill_in() {
        let file =
            read("# Title\n\n```sh\nnot this\n```\n- nor this\n\nFills PDF\nforms.\n\nMore.\n");
        assert_eq!(file.name, "pdf-forms");
        assert_eq!(file.description, "Fills PDF forms.");
        assert!(file.body.starts_with("# Title\n"));
        assert_eq!(file.issues, [Issue::FrontMatterMissing]);
    }

    #[test]
    fn missing_fields_are_filled_in_one_by_one() {
        let file = read("---\nlicense: MIT\n---\nFills forms.\n");
        assert_eq!((&*file.name, &*file.description), ("pdf-forms", "Fills forms."));
        assert_eq!(file.issues, [Issue::NameMissing, Issue::DescriptionMissing]);
    }

    #[test]
    fn a_long_first_paragraph_is_cut_between_characters() {
        let file = read(&"读".repeat(3000));
        assert_eq!(file.description.chars().count(), MAX_DESCRIPTION_CHARS);
    }

    #[test]
    fn names_that_break_the_rules_are_kept_and_reported() {
        let issues = |name: &str| read(&format!("---\nname: {name}\ndescription: d\n---\n")).issues;
        for name in ["PDF", "a--b", "-a", "a-", "a_b", &"a".repeat(65)] {
            assert_eq!(issues(name), [Issue::NameInvalid { name: name.to_owned() }]);
        }
        assert_eq!(
            issues("other"),
            [Issue::NameDiffersFromFolder { name: "other".into(), folder: "pdf-forms".into() }]
        );
    }

    #[test]
    fn a_file_without_description_and_body_is_empty() {
        for text in ["", " \n\n", "---\nname: a\n---\n\n", "---\n---\n"] {
            assert_eq!(parse(text.as_bytes().to_vec(), "a"), Err(Issue::Empty), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
            let _ = parse(bytes, "folder");
        }

        #[test]
        fn the_text_behind_arbitrary_front_matter_is_kept(
            yaml in "[a-z:'\"|>{}\\[\\]&*#!%@, \t\n-]{0,120}",
            body in "[a-z#`\n -]{0,60}",
        ) {
            let body = format!("{body}\nend");
            let text = format!("---\nname: x\n{yaml}\n---\n{body}");
            let file = parse(text.into_bytes(), "folder").unwrap();
            prop_assert!(file.body.ends_with(body.trim_start_matches('\n')));
            prop_assert!(!file.name.is_empty());
        }

        #[test]
        fn front_matter_that_is_not_closed_loses_no_text(
            text in "(# [a-z]{1,9}\n|[A-Z][a-z ]{0,20}\\.\n|\n){0,6}",
            rest in "[a-z#`\n -]{0,60}",
        ) {
            let body = format!("# Title\nIMPORTANT\n{text}---\n{rest}\nend");
            let text = format!("---\nname: x\ndescription: y\n\n{body}");
            let file = parse(text.into_bytes(), "folder").unwrap();
            prop_assert_eq!(file.body, body);
            prop_assert_eq!(file.description, "y");
        }
    }
}
