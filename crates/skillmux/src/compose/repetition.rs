//! [`repetition`]: why a skill adds nothing to others.

use super::{ComposeRequest, Considered, DropReason};

/// Bodies with more than this in common repeat each other, in `[0, 1]`.
pub(super) const MAX_SIMILARITY: f32 = 0.6;

/// Returns why a skill adds nothing to the loaded ones, if it does not.
pub(super) fn repetition<'a>(
    request: &ComposeRequest<'_>,
    max_similarity: f32,
    loaded: impl IntoIterator<Item = &'a Considered>,
    skill: &Considered,
) -> Option<DropReason> {
    loaded.into_iter().find_map(|earlier| {
        let (of, id) = (earlier.id(), skill.id());
        // Of two skills with one name an agent can load but one; forks keep their name.
        if of == id {
            Some(DropReason::LoadedBefore)
        } else if skill.name.eq_ignore_ascii_case(&earlier.name) {
            Some(DropReason::SameName { of: of.clone() })
        } else if (request.similarity)(of, id) > max_similarity {
            Some(DropReason::NearDuplicate { of: of.clone() })
        } else {
            None
        }
    })
}
