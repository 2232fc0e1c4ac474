//! What fits into the list of skills that an agent shows its model.

use super::profile::{Listing, Trim};

/// A skill that an agent would list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Characters of its name.
    pub(super) name_chars: usize,
    /// Characters of its description.
    pub(super) description_chars: usize,
    /// Characters of its path.
    pub(super) path_chars: usize,
    /// How often it was used, as far as that is known.
    pub(super) n_uses: u64,
}

/// What an agent shows of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Its whole description.
    Whole,
    /// So many characters of its description.
    Start(usize),
    /// Its name alone.
    Name,
    /// Nothing.
    Nothing,
}

impl Listing {
    /// Returns what the agent itself shows of each skill, in their order: the strongest first.
    pub(super) fn shown(&self, lines: &[Line]) -> Vec<Shown> {
        let n_most = self.max_skills.unwrap_or(usize::MAX).min(lines.len());
        let listed = &lines[..n_most];
        let mut shown = match self.trim {
            Trim::Evenly => self.trimmed_evenly(listed),
            Trim::LeastUsed => self.trimmed_by_use(listed),
            Trim::AllDescriptions => self.trimmed_at_once(listed),
        };
        shown.resize(lines.len(), Shown::Nothing);
        shown
    }

    /// Returns the characters of a line without a description, but with what stands around one.
    pub(super) fn bare_chars(&self, name_chars: usize, path_chars: usize) -> usize {
        self.line_chars + name_chars + if self.has_paths { path_chars } else { 0 }
    }

    /// Returns how many characters of a description of so many an agent shows at most.
    pub(super) fn capped(&self, description_chars: usize) -> usize {
        self.max_description_chars.map_or(description_chars, |most| description_chars.min(most))
    }

    /// Returns the characters that are left for the lines of skills.
    pub(super) fn chars_for_lines(&self) -> usize {
        self.max_chars.saturating_sub(self.head_chars)
    }

    fn bare(&self, line: &Line) -> usize {
        self.bare_chars(line.name_chars, line.path_chars)
    }

    fn start(&self, line: &Line, n_chars: usize) -> Shown {
        let n_shown = self.capped(line.description_chars).min(n_chars);
        if n_shown < line.description_chars { Shown::Start(n_shown) } else { Shown::Whole }
    }

    /// All descriptions are cut to the same length; then the last skills go.
    fn trimmed_evenly(&self, lines: &[Line]) -> Vec<Shown> {
        let described: Vec<usize> =
            lines.iter().map(|line| self.capped(line.description_chars)).collect();
        let mut left = self.chars_for_lines();
        let longest =
            level(&described, left.saturating_sub(lines.iter().map(|it| self.bare(it)).sum()));
        let mut is_full = false;
        let shown = |line: &Line| {
            let n_shown = self.capped(line.description_chars).min(longest);
            let n_chars = self.bare(line) + n_shown;
            is_full |= n_chars > left;
            if is_full {
                return Shown::Nothing;
            }
            left -= n_chars;
            self.start(line, n_shown)
        };
        lines.iter().map(shown).collect()
    }

    /// All names stay. The descriptions of the skills that were used most stay, too; among equals
    /// those of the strongest.
    fn trimmed_by_use(&self, lines: &[Line]) -> Vec<Shown> {
        let names: usize = lines.iter().map(|line| self.bare(line)).sum();
        let mut left = self.chars_for_lines().saturating_sub(names);
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(lines[at].n_uses));
        let mut shown = vec![Shown::Name; lines.len()];
        for at in order {
            let n_chars = self.capped(lines[at].description_chars);
            if n_chars > left {
                break;
            }
            left -= n_chars;
            shown[at] = self.start(&lines[at], n_chars);
        }
        shown
    }

    /// If one description does not fit, all go; then the last skills.
    fn trimmed_at_once(&self, lines: &[Line]) -> Vec<Shown> {
        let whole = |line: &Line| self.bare(line) + self.capped(line.description_chars);
        let mut left = self.chars_for_lines();
        if lines.iter().map(whole).sum::<usize>() <= left {
            return lines.iter().map(|line| self.start(line, usize::MAX)).collect();
        }
        let mut is_full = false;
        let shown = |line: &Line| {
            let n_chars = self.bare(line).saturating_sub(self.description_line_chars);
            is_full |= n_chars > left;
            if is_full {
                return Shown::Nothing;
            }
            left -= n_chars;
            Shown::Name
        };
        lines.iter().map(shown).collect()
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
    use crate::library::agents::profile::Remedy;

    fn listing(max_chars: usize, trim: Trim) -> Listing {
        Listing {
            max_chars,
            head_chars: 0,
            line_chars: 1,
            description_line_chars: 0,
            has_paths: false,
            max_description_chars: None,
            max_skills: None,
            trim,
            remedy: Remedy::NameOverrides,
        }
    }

    fn lines(described: &[usize]) -> Vec<Line> {
        let line = |&description_chars| Line {
            name_chars: 4,
            description_chars,
            path_chars: 9,
            n_uses: 0,
        };
        described.iter().map(line).collect()
    }

    #[test]
    fn descriptions_of_skills_that_are_used_least_go_and_names_stay() {
        let mut skills = lines(&[10, 20, 3]);
        assert_eq!(listing(48, Trim::LeastUsed).shown(&skills), [Whole, Whole, Whole]);
        assert_eq!(listing(47, Trim::LeastUsed).shown(&skills), [Whole, Whole, Name]);
        // A later description that would fit is left out, too.
        assert_eq!(listing(39, Trim::LeastUsed).shown(&skills), [Whole, Name, Name]);
        skills[2].n_uses = 1;
        assert_eq!(listing(39, Trim::LeastUsed).shown(&skills), [Whole, Name, Whole]);
        assert_eq!(listing(3, Trim::LeastUsed).shown(&skills), [Name, Name, Name]);
    }

    #[test]
    fn all_descriptions_go_at_once() {
        let list = |max_chars| Listing {
            head_chars: 2,
            description_line_chars: 1,
            ..listing(max_chars, Trim::AllDescriptions)
        };
        let skills = lines(&[10, 20, 3]);
        assert_eq!(list(50).shown(&skills), [Whole, Whole, Whole]);
        assert_eq!(list(49).shown(&skills), [Name, Name, Name]);
        assert_eq!(list(13).shown(&skills), [Name, Name, Nothing]);
    }

    #[test]
    fn paths_count_where_they_are_shown() {
        let with_paths = Listing { has_paths: true, ..listing(48, Trim::LeastUsed) };
        assert_eq!(with_paths.shown(&lines(&[10, 15])), [Whole, Name]);
        assert_eq!(with_paths.shown(&lines(&[10, 10])), [Whole, Whole]);
    }

    #[test]
    fn the_number_of_skills_and_the_length_of_one_are_limited() {
        let few = Listing { max_skills: Some(1), ..listing(100, Trim::AllDescriptions) };
        assert_eq!(few.shown(&lines(&[1, 1])), [Whole, Nothing]);
        let short = Listing { max_description_chars: Some(8), ..listing(100, Trim::LeastUsed) };
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
