//! [`PageBudget`]: how many tokens a page may take.

use std::{fmt, str::FromStr};

/// How many tokens a page may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageBudget {
    /// So many.
    Tokens(u32),
    /// A share of the tokens of the whole body, in percent, from 1 to 100.
    Percent(u32),
}

impl PageBudget {
    /// Tokens of a page where a spec says nothing.
    pub(crate) const DEFAULT: Self = Self::Tokens(2_000);

    /// Returns the tokens for a body of `full_tokens`.
    pub(super) fn tokens(self, full_tokens: u32) -> u32 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Percent(percent) => {
                let tokens = u64::from(full_tokens) * u64::from(percent) / 100;
                u32::try_from(tokens).unwrap_or(u32::MAX)
            }
        }
    }
}

impl FromStr for PageBudget {
    type Err = ();

    /// Reads `800` or `40%`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let number = |digits: &str| digits.parse().ok().filter(|number| *number > 0).ok_or(());
        match text.strip_suffix('%') {
            Some(percent) => number(percent).and_then(|percent| {
                if percent <= 100 { Ok(Self::Percent(percent)) } else { Err(()) }
            }),
            None => number(text).map(Self::Tokens),
        }
    }
}

impl fmt::Display for PageBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(tokens) => write!(f, "{tokens}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_tokens_or_shares_of_the_body() {
        for (text, full, tokens) in
            [("800", 50, 800), ("40%", 1_000, 400), ("100%", u32::MAX, u32::MAX)]
        {
            let budget: PageBudget = text.parse().unwrap();
            assert_eq!((budget.to_string().as_str(), budget.tokens(full)), (text, tokens));
        }
        for text in ["0", "0%", "101%", "-1", "%", "a", "4.5%"] {
            assert!(text.parse::<PageBudget>().is_err(), "{text}");
        }
    }
}
