//! [`front_matter`]: all that the author of a skill wrote above its text.

use rmcp::model::SkillFrontmatter;
use serde_json::Value;
use skillmux::library::strict_front_matter;

/// Returns the front matter of a `SKILL.md`, with the fields that skillmux does not know; `None`
/// where it is no valid YAML or has no name or no description. The index is more lenient, but a
/// client compares this with the file.
pub(super) fn front_matter(document: &str) -> Option<SkillFrontmatter> {
    let text = document.strip_prefix('\u{feff}').unwrap_or(document);
    let (first, block) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut end = 0;
    for line in block.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return read(&block[..end]);
        }
        end += line.len();
    }
    None
}

fn read(yaml: &str) -> Option<SkillFrontmatter> {
    let value: Value = strict_front_matter(yaml)?;
    let front_matter: SkillFrontmatter = serde_json::from_value(value).ok()?;
    (!front_matter.description.trim().is_empty()).then_some(front_matter)
}

/// Returns a `SKILL.md` of a skill that has no file, and its front matter. `text` is what follows.
pub(super) fn document(name: &str, description: &str, text: &str) -> (String, SkillFrontmatter) {
    // YAML reads JSON.
    let quoted = |text: &str| Value::from(text).to_string();
    let document =
        format!("---\nname: {}\ndescription: {}\n---\n\n{text}", quoted(name), quoted(description));
    (document, SkillFrontmatter::new(name, description))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_of_the_author_is_there() {
        let text = "---\r\nname: tea\r\ndescription: How to brew\r\nlicense: MIT\r\nmetadata:\r\n  version: \"1.0\"\r\n  n: 3\r\n---\r\nText";
        assert_eq!(
            serde_json::to_value(front_matter(text).unwrap()).unwrap(),
            json!({
                "name": "tea", "description": "How to brew", "license": "MIT",
                "metadata": { "version": "1.0", "n": 3 }
            })
        );
    }

    #[test]
    fn what_a_client_could_not_compare_is_refused() {
        // Each line repeats the one before six times.
        let line = |i: usize| {
            let aliases = vec![format!("*b{}", i - 1); 6].join(",");
            format!("b{i}: &b{i} [{aliases}]")
        };
        let lines: Vec<String> = (1..9).map(line).collect();
        let bomb =
            format!("---\nname: a\ndescription: d\nb0: &b0 [x,x,x]\n{}\n---\n", lines.join("\n"));
        for text in [
            "",
            "# Tea",
            "---\nname: a\ndescription: d\n",
            "---\nname: a\n---\n",
            "---\nname: a\ndescription: ''\n---\n",
            "---\nname: 7\ndescription: d\n---\n",
            "---\nname: a: b\ndescription: [\n---\n",
            "---\n- a\n---\n",
            &bomb,
            &format!("---\nname: a\ndescription: {}\n---\n", "x".repeat(64 << 10)),
        ] {
            assert_eq!(front_matter(text), None, "{}", &text[..text.len().min(80)]);
        }
    }

    #[test]
    fn a_document_that_is_made_says_what_its_front_matter_says() {
        let description = "Brew: \"tea\"\n---\n# not \\ a comment, 茶\ttoo: yes";
        let (text, expected) = document("tea", description, "Boil.");
        assert_eq!(front_matter(&text).unwrap(), expected);
        assert_eq!(expected.description, description);
        assert!(text.ends_with("\n---\n\nBoil."));
    }
}
