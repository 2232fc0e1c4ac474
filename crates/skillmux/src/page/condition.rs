//! [`StepAfterCondition`]: a numbered step in one node with a condition of the step before it.

use super::markers::{Line, number_of};

/// Words that open such a condition: those that join a paragraph with what follows it.
const WORDS: [&str; 5] = ["if", "when", "unless", "otherwise", "else"];
const WORDS_ZH: [&str; 5] = ["如果", "若", "当", "否则", "一旦"];

/// A node that begins with a paragraph such as "If it fails, call us.", and then has a numbered
/// step that is not the first of its list.
///
/// A condition stands below the step that it is about. Nodes join it with what follows, which here
/// is the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepAfterCondition {
    /// Byte after the condition.
    pub(super) condition_end: usize,
    /// First byte of the step.
    pub(super) step_start: usize,
}

impl StepAfterCondition {
    pub(super) fn of(text: &str) -> Option<Self> {
        if !opens_condition(text) {
            return None;
        }
        let mut lines = Line::all(text).skip_while(|line| !line.text.trim().is_empty());
        let condition = text[..lines.next()?.start].trim_end();
        let step = lines.find(|line| !line.text.trim().is_empty())?;
        number_of(step.text).filter(|number| *number > 1)?;
        // "If it is locked:" announces the step.
        let is_announcement = condition.trim_end_matches(['*', '_']).ends_with([':', '：']);
        (!is_announcement)
            .then_some(Self { condition_end: condition.len(), step_start: step.start })
    }
}

/// Returns the text of a node without a condition of the step before it.
pub(super) fn own_text(text: &str) -> &str {
    StepAfterCondition::of(text).map_or(text, |node| &text[node.step_start..])
}

fn opens_condition(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '\t', '*', '_']);
    let word = &text[..text.bytes().take_while(u8::is_ascii_alphabetic).count()];
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
        || WORDS_ZH.iter().any(|known| text.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_before_a_later_step_is_of_the_step_before() {
        for text in [
            "If it fails, call us.\n\n3. Go on.\n   More.",
            "   **Unless** it stops,\n   wait.\n\n   \n12) Go on.",
            "如果失败，停止。\n\n3. 继续",
        ] {
            let node = StepAfterCondition::of(text).unwrap();
            assert_eq!(text[..node.condition_end], *text.split("\n\n").next().unwrap());
            let number = own_text(text).split(['.', ')']).next().unwrap();
            assert!(["3", "12"].contains(&number), "{text}");
        }
    }

    #[test]
    fn other_texts_are_their_own() {
        for text in [
            "",
            "If it fails, call us.",
            "If it fails, call us.\n3. Go on.",
            "If it is locked:\n\n2. Unlock it.",
            "If it is locked\n\n1. Unlock it.\n2. Open it.",
            "If it is locked\n\n- unlock it",
            "Iffy.\n\n3. Go on.",
            "2. Stop.\n\n3. Go on.",
        ] {
            assert_eq!(StepAfterCondition::of(text), None, "{text}");
            assert_eq!(own_text(text), text);
        }
    }
}
