//! Changes of a file, line by line.

use std::path::Path;

use similar::TextDiff;
use skillmux::text::printable;

use super::paint::{BAD, GOOD, NOTE, STRONG, styled};

const NOTHING: &str = "/dev/null";

/// Shows the change of a file as a unified diff; `None` is a file that is not there.
pub(crate) fn diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = path.display().to_string();
    let header =
        |text: Option<&str>| if text.is_some() { name.clone() } else { NOTHING.to_owned() };
    let lines = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let unified = lines.unified_diff().header(&header(before), &header(after)).to_string();
    unified
        .lines()
        .map(|line| {
            let line = printable(line);
            let styled = match line.as_bytes().first() {
                _ if line.starts_with("+++") || line.starts_with("---") => styled(STRONG, &line),
                Some(b'+') => styled(GOOD, &line),
                Some(b'-') => styled(BAD, &line),
                Some(b'@') => styled(NOTE, &line),
                _ => line,
            };
            styled + "\n"
        })
        .collect()
}
