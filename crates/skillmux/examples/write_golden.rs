//! Writes the golden index of the present format; see `tests/it/golden.rs`.

#[path = "../tests/support/term_encoder.rs"]
mod term_encoder;

use std::{fs, path::Path, sync::Arc};

use skillmux::{
    index::{FORMAT_VERSION, Index, UpdateOptions},
    library::Library,
    model::Encoder,
};
use term_encoder::TermEncoder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let index = golden.join(format!("format-{FORMAT_VERSION}"));
    if index.exists() {
        fs::remove_dir_all(&index)?;
    }
    let library = Library::open([golden.join("library")])?;
    let sources = vec!["library".to_owned()];
    let encoder: Arc<dyn Encoder> = Arc::new(TermEncoder::new("1"));
    let options =
        UpdateOptions { sources, n_threads: 1, encoder: Some(encoder), ..UpdateOptions::default() };
    Index::update(&index, &library, &options, &mut |_| {})?;
    // Only a writer needs it.
    fs::remove_file(index.join("LOCK"))?;
    Ok(())
}
