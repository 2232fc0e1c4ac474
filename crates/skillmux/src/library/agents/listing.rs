//! What fits into the list of skills that an agent shows its model.

use super::profile::{Listing, Trim};

/// A skill that an agent would list.
#[expect(clippy::struct_field_names, reason = "names carry units")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Characters of its name.
    pub(super) name_chars: usize,
    /// Characters of its description.
    pub(super) description_chars: usize,
    /// Characters of its path.
    pub(super) path_chars: usize,
}

/// What an agent shows of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Its whole description.
    Whole,
    /// So many characters of its description.
    Start(usize),
    /// Nothing, or its name alone.
    Nothing,
}

impl Listing {
    /// Returns what is shown of each skill, in their order: the strongest first.
    ///
    /// Where the rule of the agent is not known, the last skills are left out.
    pub(super) fn shown(&self, lines: &[Line]) -> Vec<Shown> {
        let most = self.max_description_chars.unwrap_or(usize::MAX);
        let n_most = self.max_skills.unwrap_or(usize::MAX).min(lines.len());
        let bare = |line: &Line| {
            let path_chars = if self.has_paths { line.path_chars } else { 0 };
            self.line_chars + line.name_chars + path_chars
        };
        let described: Vec<usize> =
            lines.iter().map(|line| line.description_chars.min(most)).collect();
        let longest = match self.trim {
            Trim::Evenly => {
                let left = self.max_chars.saturating_sub(lines[..n_most].iter().map(bare).sum());
                level(&described[..n_most], left)
            }
            Trim::End | Trim::Unknown => usize::MAX,
        };
        let mut left = self.max_chars;
        let mut is_full = false;
        let shown = |(at, line): (usize, &Line)| {
            let n_shown = described[at].min(longest);
            let n_chars = bare(line) + n_shown;
            is_full |= at >= n_most || n_chars > left;
            if is_full {
                return Shown::Nothing;
            }
            left -= n_chars;
            if n_shown < line.description_chars { Shown::Start(n_shown) } else { Shown::Whole }
        };
        lines.iter().enumerate().map(shown).collect()
    }
}

/// Returns the most characters of each description so that all together have at most `left`.
fn level(described: &[usize], left: usize) -> usize {
    let mut sorted = described.to_vec();
    sorted.sort_unstable();
    let mut left = left;
    for (at, n_chars) in sorted.iter().enumerate() {
        let n_open = sorted.len() - at;
        if n_chars * n_open > left {
            return left / n_open;
        }
        left -= n_chars;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::{Shown::*, *};

    fn listing(max_chars: usize, trim: Trim) -> Listing {
        Listing {
            max_chars,
            line_chars: 1,
            has_paths: false,
            max_description_chars: None,
            max_skills: None,
            trim,
        }
    }

    fn lines(described: &[usize]) -> Vec<Line> {
        let line = |&description_chars| Line { name_chars: 4, description_chars, path_chars: 9 };
        described.iter().map(line).collect()
    }

    #[test]
    fn the_last_skills_are_left_out() {
        let skills = lines(&[10, 20, 3]);
        assert_eq!(listing(48, Trim::End).shown(&skills), [Whole, Whole, Whole]);
        assert_eq!(listing(47, Trim::Unknown).shown(&skills), [Whole, Whole, Nothing]);
        // A later skill that would fit is left out, too.
        assert_eq!(listing(39, Trim::End).shown(&skills), [Whole, Nothing, Nothing]);
    }

    #[test]
    fn paths_count_where_they_are_shown() {
        let with_paths = Listing { has_paths: true, ..listing(48, Trim::End) };
        assert_eq!(with_paths.shown(&lines(&[10, 15])), [Whole, Nothing]);
        assert_eq!(with_paths.shown(&lines(&[10, 10])), [Whole, Whole]);
    }

    #[test]
    fn the_number_of_skills_and_the_length_of_one_are_limited() {
        let few = Listing { max_skills: Some(1), ..listing(100, Trim::End) };
        assert_eq!(few.shown(&lines(&[1, 1])), [Whole, Nothing]);
        let short = Listing { max_description_chars: Some(8), ..listing(100, Trim::Unknown) };
        assert_eq!(short.shown(&lines(&[8, 9])), [Whole, Start(8)]);
    }

    #[test]
    fn descriptions_are_cut_to_one_length() {
        let skills = lines(&[10, 2, 30]);
        assert_eq!(listing(57, Trim::Evenly).shown(&skills), [Whole, Whole, Whole]);
        assert_eq!(listing(56, Trim::Evenly).shown(&skills), [Whole, Whole, Start(29)]);
        assert_eq!(listing(31, Trim::Evenly).shown(&skills), [Start(7), Whole, Start(7)]);
        // Names alone are too much.
        assert_eq!(listing(12, Trim::Evenly).shown(&skills), [Start(0), Start(0), Nothing]);
    }
}
