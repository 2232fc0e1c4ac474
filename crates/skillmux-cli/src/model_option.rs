//! [`ModelOption`]: which model of the user's own a file or a folder holds.

/// Which model of the user's own a file or a folder holds: the option that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelOption {
    Encoder,
    Transformer,
    Ranker,
    Abstention,
    Asking,
    Composer,
    Pager,
    Work,
}

impl ModelOption {
    /// Returns its name in the settings file, which is that of the command that trains it as well,
    /// and the option of the command line.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Encoder => ("encoder", "--encoder"),
            Self::Transformer => ("transformer", "--transformer-weights"),
            Self::Ranker => ("ranker", "--ranker"),
            Self::Abstention => ("abstention", "--abstention"),
            Self::Asking => ("asking", "--asking-weights"),
            Self::Composer => ("composer", "--composer-weights"),
            Self::Pager => ("pager", "--pager-weights"),
            Self::Work => ("work", "--work-weights"),
        }
    }

    /// Returns what writes its file or its folder.
    fn writer(self) -> String {
        match self {
            Self::Transformer => "training/transformer/export.py".to_owned(),
            _ => format!("`skillmux train {}`", self.names().0),
        }
    }

    /// Returns what the user can do where nothing can be read.
    pub(crate) fn place_hint(self) -> String {
        let ((setting, option), writer) = (self.names(), self.writer());
        let what = match self {
            Self::Encoder => {
                format!(
                    "a file that {writer} wrote, the folder of a published model, its id, or a URL"
                )
            }
            Self::Transformer => format!("a folder that {writer} wrote"),
            _ => format!("a file that {writer} wrote"),
        };
        format!("{option}, or `{setting}` in the settings file, names {what}")
    }

    /// Returns what the user can do where something else was read.
    pub(crate) fn form_hint(self) -> String {
        let what = if self == Self::Transformer { "folder" } else { "file" };
        let writer = self.writer();
        format!("{writer} writes such a {what}; one of an earlier version may have to be made anew")
    }
}
