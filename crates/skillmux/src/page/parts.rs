//! [`PartList`]: parts of a skill by their positions, short enough to be passed around.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use crate::{error::Error, text::clipped};

/// Most characters of a wrong part that an error repeats.
const MAX_SHOWN_CHARS: usize = 40;

/// Parts of a skill by their positions among its nodes, from 0: `0-3,7`.
///
/// It is a text that a page prints, and that the next call passes back, so that no part is sent
/// twice.
///
/// ```
/// use skillmux::page::PartList;
///
/// let parts: PartList = "7, 0-2, 3".parse()?;
///
/// assert_eq!(parts.to_string(), "0-3,7");
/// assert!(parts.contains(2) && !parts.contains(4));
/// # Ok::<(), skillmux::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartList {
    /// Rising, with at least one part between two of them.
    ranges: Vec<RangeInclusive<u32>>,
}

static NO_PARTS: PartList = PartList { ranges: Vec::new() };

impl PartList {
    /// Returns the list without a part.
    pub fn none() -> &'static Self {
        &NO_PARTS
    }

    /// Tells whether it has no part.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Tells whether it has a part.
    pub fn contains(&self, position: u32) -> bool {
        let after = self.ranges.partition_point(|range| *range.end() < position);
        self.ranges.get(after).is_some_and(|range| range.contains(&position))
    }

    /// Returns the parts of both lists.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        Self::from_ranges(self.ranges.iter().chain(&others.ranges).cloned().collect())
    }

    fn from_ranges(mut ranges: Vec<RangeInclusive<u32>>) -> Self {
        ranges.sort_unstable_by_key(|range| *range.start());
        let mut joined: Vec<RangeInclusive<u32>> = Vec::new();
        for range in ranges {
            match joined.last_mut() {
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*range.end().max(last.end());
                }
                _ => joined.push(range),
            }
        }
        Self { ranges: joined }
    }
}

impl FromIterator<u32> for PartList {
    fn from_iter<I: IntoIterator<Item = u32>>(positions: I) -> Self {
        Self::from_ranges(positions.into_iter().map(|position| position..=position).collect())
    }
}

impl fmt::Display for PartList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, range) in self.ranges.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{}", range.start())?;
            if range.end() > range.start() {
                write!(f, "-{}", range.end())?;
            }
        }
        Ok(())
    }
}

impl FromStr for PartList {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let range = |part: &str| {
            let (start, end) = part.split_once('-').unwrap_or((part, part));
            let (start, end) = (start.trim().parse().ok()?, end.trim().parse().ok()?);
            (start <= end).then_some(start..=end)
        };
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let refused = |part: &str| Error::PartUnknown { part: clipped(part, MAX_SHOWN_CHARS) };
        let ranges = parts.map(|part| range(part).ok_or_else(|| refused(part)));
        Ok(Self::from_ranges(ranges.collect::<Result<_, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_written() {
        for (text, written) in [
            ("", ""),
            (" , ", ""),
            ("3", "3"),
            ("5-6,1,2-4", "1-6"),
            ("0-9,3-4,11", "0-9,11"),
            ("4294967295,0-4294967294", "0-4294967295"),
        ] {
            let parts: PartList = text.parse().unwrap();
            assert_eq!(parts.to_string(), written);
            assert_eq!(parts.is_empty(), written.is_empty());
        }
        let both = "0-2,9".parse::<PartList>().unwrap().with(&"3,8".parse().unwrap());
        assert_eq!(both.to_string(), "0-3,8-9");
        let parts: PartList = [9, 1, 0, 9].into_iter().collect();
        let held: Vec<u32> = (0..12).filter(|position| parts.contains(*position)).collect();
        assert_eq!((parts.to_string().as_str(), held), ("0-1,9", vec![0, 1, 9]));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["a", "1-", "-1", "3-2", "1;2", "4294967296", "1.5"] {
            let error = text.parse::<PartList>().unwrap_err();
            assert!(matches!(error, Error::PartUnknown { .. }), "{text}: {error}");
        }
    }
}
