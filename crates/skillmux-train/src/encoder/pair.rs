//! [`PairKind`]: which texts belong together.

/// Which texts a pair is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairKind {
    /// A query and a skill that answers it.
    Query,
    /// Name and description, and the body.
    Description,
    /// Name and heading, and the section below.
    Heading,
    /// Descriptions and bodies in two languages.
    Translation,
    /// A section in two languages.
    TranslatedSection,
}

impl PairKind {
    pub(super) const N: usize = 5;

    pub(super) const ALL: [Self; Self::N] =
        [Self::Query, Self::Description, Self::Heading, Self::Translation, Self::TranslatedSection];

    /// Returns the name that the plot of a run has.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Description => "description",
            Self::Heading => "heading",
            Self::Translation => "translation",
            Self::TranslatedSection => "translated section",
        }
    }
}
