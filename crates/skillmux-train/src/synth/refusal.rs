//! [`Refusal`]: why an answer of a model is not taken.

use super::text::Language;

/// Longest part of a text that a refusal repeats.
const MAX_QUOTED_CHARS: usize = 80;

/// Why an answer is not taken; its text is told to the model, which may try again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub(super) enum Refusal {
    #[error("it holds no JSON object of the form {form}")]
    Form { form: &'static str },
    #[error("it holds control characters or marks that hide or turn text")]
    ControlCharacter,
    #[error("the {what} has {n} {unit}, but must have {min} to {max}")]
    Length { what: &'static str, n: usize, unit: &'static str, min: usize, max: usize },
    #[error("the {what} is not in {}", language.name())]
    Language { what: &'static str, language: Language },
    #[error("it says `{name}`, which is what the skill is called")]
    Name { name: String },
    #[error("it speaks of a skill (`{phrase}`), of which whoever asks knows nothing")]
    SpeaksOfSkill { phrase: &'static str },
    #[error("it has a placeholder, `{}`, where a concrete case is asked for", quoted(text))]
    Placeholder { text: String },
    #[error("it copies the document: `{}`", quoted(run))]
    Copied { run: String },
    #[error("it is word for word one that was written before")]
    SameText,
    #[error("it is too much like one that was written before")]
    Duplicate,
    #[error("it asks in other words for what one asks for that was written before")]
    SameMeaning,
    #[error("`order` must name all of the letters shown, {letters}, each once and no others")]
    Permutation { letters: String },
    #[error("`order` has {second} before {first}, but {second} takes what {first} makes")]
    Order { first: char, second: char },
    #[error("it asks for nothing")]
    NoRequest,
    #[error("there are no words for one of its skills in one language")]
    NoQuery,
    #[error("`rejected` and `also` name {letter}, which is not one of the candidates shown")]
    NotShown { letter: String },
    #[error("`{letter}` is named twice")]
    NamedTwice { letter: char },
    #[error("`{why}` is none of the reasons: {reasons}")]
    Reason { why: String, reasons: String },
    #[error("`with` must be one of the letters of the skills that are right, and not `{letter}`")]
    NotRight { letter: String },
    #[error("it says of no candidate what it is")]
    NothingSaid,
    #[error("`skills` must name two to four of the letters shown, each once, and A among them")]
    Skills,
    #[error(
        "the name `{}` is not 1 to 64 lower-case letters, digits and single hyphens between them",
        quoted(name)
    )]
    NameForm { name: String },
    #[error("the name `{name}` is taken by another skill")]
    NameTaken { name: String },
    #[error("the body has {n} sections with a heading, but must have {min} at least")]
    Sections { n: usize, min: usize },
    #[error("the body begins with front matter, which is given apart")]
    FrontMatter,
    #[error("it does what `{name}` does")]
    SameFunction { name: String },
    #[error("it has no words in common with the reference, and would not be confused with it")]
    Unrelated,
}

impl Refusal {
    /// Returns the name by which refusals are counted.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Form { .. } => "no JSON of the form asked for",
            Self::ControlCharacter => "control characters",
            Self::Length { .. } => "too short or too long",
            Self::Language { .. } => "another language",
            Self::Name { .. } => "says the skill's name",
            Self::SpeaksOfSkill { .. } => "speaks of skills",
            Self::Placeholder { .. } => "has a placeholder",
            Self::Copied { .. } => "copies the skill",
            Self::SameText => "the same text as an earlier one",
            Self::Duplicate => "like an earlier one",
            Self::SameMeaning => "the same meaning as an earlier one",
            Self::Permutation { .. } => "not all skills once",
            Self::Order { .. } => "against the order of a dependency",
            Self::NoRequest => "asks for nothing",
            Self::NoQuery => "no words for a skill",
            Self::NotShown { .. } => "no candidate that was shown",
            Self::NamedTwice { .. } => "names a candidate twice",
            Self::Reason { .. } => "no reason of the list",
            Self::NotRight { .. } => "with a skill that is not right",
            Self::NothingSaid => "says nothing of the candidates",
            Self::Skills => "other skills than shown",
            Self::NameForm { .. } => "malformed name",
            Self::NameTaken { .. } => "name of another skill",
            Self::Sections { .. } => "too few sections",
            Self::FrontMatter => "front matter in the body",
            Self::SameFunction { .. } => "does the same as a skill",
            Self::Unrelated => "unrelated to the skill",
        }
    }
}

/// What became of an answer, or of a part of it.
#[derive(Debug)]
pub(super) enum Checked<T> {
    /// It is taken.
    Accepted(T),
    /// It is not.
    Refused(Refusal),
}

impl<T> Checked<T> {
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> Checked<U> {
        match self {
            Self::Accepted(taken) => Checked::Accepted(f(taken)),
            Self::Refused(refusal) => Checked::Refused(refusal),
        }
    }
}

impl<T> From<Result<T, Refusal>> for Checked<T> {
    fn from(result: Result<T, Refusal>) -> Self {
        match result {
            Ok(taken) => Self::Accepted(taken),
            Err(refusal) => Self::Refused(refusal),
        }
    }
}

fn quoted(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARS).collect()
}
