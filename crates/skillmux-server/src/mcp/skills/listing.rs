//! [`skill_page`] and [`resource_page`]: all skills, a page at a time.

use rmcp::model::{Resource, SKILL_MD, Skill as Entry, SkillResources};
use skillmux::{
    Result,
    index::{Index, SkillIdx},
    route::Router,
    skill::SkillId,
    text::{clipped, printable},
};

use super::{
    MAX_BYTES,
    address::{self, file_uri, root_uri},
    served::{entry_at, front_matter_of},
};

/// Most skills on a page.
const MAX_ON_PAGE: usize = 50;

/// Most skills that are looked at for a page, those that are not served among them.
const MAX_LOOKED_AT: usize = 500;

/// Longest description, in characters: what the Agent Skills specification allows.
const MAX_DESCRIPTION_CHARS: usize = 1024;

/// What a cursor begins with; after it comes the id of the last skill that was looked at. So a page
/// goes on at the right place when skills have come or gone.
const CURSOR: &str = "after:";

/// Some of the skills, and where the next ones begin.
#[derive(Debug)]
pub(in crate::mcp) struct Page<T> {
    /// The skills, sorted by id.
    pub(in crate::mcp) items: Vec<T>,
    /// Cursor of the next page, if there is one.
    pub(in crate::mcp) next: Option<String>,
}

impl<T> Page<T> {
    /// Returns the only page where there are no skills.
    pub(in crate::mcp) fn empty() -> Self {
        Self { items: Vec::new(), next: None }
    }
}

/// Returns entries of skills, with the digests of their files; `None` for a cursor that no page
/// gave.
///
/// # Errors
/// As for [`Index::skill`].
pub(in crate::mcp) fn skill_page(
    router: &Router,
    cursor: Option<&str>,
) -> Result<Option<Page<Entry>>> {
    let index = router.index();
    let mut n_bytes = 0;
    page(&index, cursor, |idx| {
        let item = entry_at(router, &index, idx, &mut n_bytes)?;
        Ok(Looked { item, is_enough: n_bytes > MAX_BYTES })
    })
}

/// Returns the `SKILL.md` of skills as resources; `None` for a cursor that no page gave.
///
/// # Errors
/// As for [`Index::skill`].
pub(in crate::mcp) fn resource_page(
    router: &Router,
    cursor: Option<&str>,
) -> Result<Option<Page<Resource>>> {
    let index = router.index();
    let mut n_bytes = 0;
    page(&index, cursor, |idx| {
        let item = resource_at(router, &index, idx, &mut n_bytes)?;
        Ok(Looked { item, is_enough: n_bytes > MAX_BYTES })
    })
}

/// What was found at a position.
struct Looked<T> {
    item: Option<T>,
    /// Whether the page is full, whatever its length.
    is_enough: bool,
}

fn page<T>(
    index: &Index,
    cursor: Option<&str>,
    mut look_at: impl FnMut(SkillIdx) -> Result<Looked<T>>,
) -> Result<Option<Page<T>>> {
    let first = match cursor {
        None => 0,
        Some(cursor) => {
            let Some(id) = cursor.strip_prefix(CURSOR).map(SkillId::new) else { return Ok(None) };
            index.search(&id)?.map_or_else(|next| next.0, |last| last.0 + 1)
        }
    };
    let end = u32::try_from(index.n_skills()).unwrap_or(u32::MAX);
    let mut items = Vec::new();
    for (n, idx) in (first..end).enumerate() {
        let Looked { item, is_enough } = look_at(SkillIdx(idx))?;
        items.extend(item);
        let is_full = items.len() == MAX_ON_PAGE || n + 1 == MAX_LOOKED_AT || is_enough;
        if is_full && idx + 1 < end {
            let next = Some(format!("{CURSOR}{}", index.id(SkillIdx(idx))?));
            return Ok(Some(Page { items, next }));
        }
    }
    Ok(Some(Page { items, next: None }))
}

/// Returns the `SKILL.md` of a skill as a resource, where its entry is listed, too. Its other
/// files are counted and measured, not read.
fn resource_at(
    router: &Router,
    index: &Index,
    idx: SkillIdx,
    n_bytes: &mut u64,
) -> Result<Option<Resource>> {
    let skill = index.skill(idx)?.skill;
    if router.is_blocked(&skill.id)? {
        return Ok(None);
    }
    let Some(root) = root_uri(&skill.id, &skill.name) else { return Ok(None) };
    let uri = file_uri(&root, SKILL_MD);
    let description = clipped(&printable(&skill.description), MAX_DESCRIPTION_CHARS);
    // Another skill may have this address.
    if address::find(index, &uri)?.is_none_or(|address| address.idx != idx) {
        return Ok(None);
    }
    let name = skill.name.clone();
    let Some(fields) = front_matter_of(router, skill, n_bytes) else { return Ok(None) };
    let is_valid = Entry::new(&*uri, fields, SkillResources::Dynamic).validate().is_ok();
    let resource =
        || Resource::new(uri, name).with_description(description).with_mime_type("text/markdown");
    Ok(is_valid.then(resource))
}
