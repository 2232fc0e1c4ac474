//! [`Links`]: links that lead out of the folders of skills, and when they are told.

use std::{fs, path::Path, sync::Once};

use skillmux::{
    index::UpdateReport,
    library::{Finding, Issue, ScanReport},
    text::printable,
};

use crate::{
    kept,
    render::paint::{NOTE, grouped, styled},
};

/// The links that lead out of the folders of skills, and are passed over.
pub(crate) struct Links {
    /// Where they are, sorted.
    places: Vec<String>,
}

impl Links {
    /// Returns those that a scan found.
    pub(crate) fn of(scan: &ScanReport) -> Self {
        let links = scan.skipped.iter().filter(|finding| is_link(finding));
        let mut places: Vec<String> = links.map(|finding| finding.location.clone()).collect();
        places.sort_unstable();
        Self { places }
    }

    /// Says on standard error, once, that there are some, with the first one.
    pub(crate) fn tell(&self) {
        // A server reads its skills more than once.
        static TOLD: Once = Once::new();
        let Some(first) = self.places.first() else { return };
        TOLD.call_once(|| {
            anstream::eprintln!(
                "{} links that lead out of the folders of skills are passed over ({}), such as `{}`; put the skill \
                 there in place of the link, or name the folder that it leads to as a source, too",
                styled(NOTE, "note:"),
                grouped(self.places.len()),
                printable(first)
            );
        });
    }

    /// Says so if they are others than at the update before this one of an index in the cache, or
    /// if that is new, and keeps them for the next update.
    pub(crate) fn tell_changed(&self, index: &Path, report: &UpdateReport) {
        if self.keep(index) || report.n_before == 0 {
            self.tell();
        }
    }

    /// Keeps them for the next update of an index in the cache, beside its folder, and returns
    /// whether they are others than before.
    pub(crate) fn keep(&self, index: &Path) -> bool {
        let path = kept::links_file(index);
        let digest = match self.places.as_slice() {
            [] => String::new(),
            places => blake3::hash(places.join("\0").as_bytes()).to_hex().to_string(),
        };
        if fs::read_to_string(&path).unwrap_or_default() == digest {
            return false;
        }
        // Where it fails, they are told once more.
        let _ = fs::write(path, digest);
        true
    }
}

/// Returns whether something was passed over because it is a link that leads elsewhere.
pub(crate) fn is_link(finding: &Finding) -> bool {
    finding.issue == Issue::OutsideRoot
}
