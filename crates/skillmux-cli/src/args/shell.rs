//! Arguments of `skillmux completions` and `man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the script
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ManArgs {
    /// Folder for the pages, such as ~/.local/share/man/man1; made if it is not there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
