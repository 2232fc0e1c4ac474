//! Writes the golden index of the present format; see `tests/it/golden.rs`.

use std::{fs, path::Path};

use skillmux::{
    index::{FORMAT_VERSION, Index, UpdateOptions},
    library::Library,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let index = golden.join(format!("format-{FORMAT_VERSION}"));
    if index.exists() {
        fs::remove_dir_all(&index)?;
    }
    let library = Library::open([golden.join("library")])?;
    let sources = vec!["library".to_owned()];
    let options = UpdateOptions { sources, n_threads: 1, ..UpdateOptions::default() };
    Index::update(&index, &library, &options, &mut |_| {})?;
    // Only a writer needs it.
    fs::remove_file(index.join("LOCK"))?;
    Ok(())
}
