//! The columns of the files of TREC.

use std::{
    borrow::Cow,
    fmt::{self, Write},
};

/// A file of columns, a line an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrecFormat {
    /// Rankings, see [`Run`](crate::Run).
    Run,
    /// Judgements, see [`Qrels`](crate::Qrels).
    Qrels,
}

impl TrecFormat {
    /// Returns the number of columns.
    pub(crate) fn n_columns(self) -> usize {
        match self {
            Self::Run => 6,
            Self::Qrels => 4,
        }
    }
}

impl fmt::Display for TrecFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "a TREC run",
            Self::Qrels => "qrels",
        })
    }
}

/// Writes an id as one column.
pub(crate) fn escape(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for c in id.chars() {
        if c == '%' || c.is_whitespace() {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns the id that a column stands for.
///
/// A `%` that does not begin the code of a byte, and codes that are no UTF-8, stay as they are:
/// they come from a tool that does not escape.
pub(crate) fn unescape(column: &str) -> Cow<'_, str> {
    if !column.contains('%') {
        return Cow::Borrowed(column);
    }
    let mut bytes = Vec::with_capacity(column.len());
    let mut rest = column.as_bytes();
    while let [first, tail @ ..] = rest {
        let byte = match tail {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = byte {
            bytes.push(high << 4 | low);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(column), Cow::Owned)
}

/// Returns the value of a hexadecimal digit.
fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_written_by_us_stays_as_it_is() {
        assert_eq!(unescape("100%/%zz%4"), "100%/%zz%4");
        assert_eq!(unescape("%FF"), "%FF");
    }
}
