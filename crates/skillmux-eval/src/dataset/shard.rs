//! Writes skills as a shard of JSON Lines, as [`skillmux::library::Library`] reads them.

use std::io::{self, Write};

use skillmux::skill::Skill;

/// Writes skills as JSON Lines, in a file whose name must end in `.jsonl` to be read as a library.
///
/// # Errors
/// Those of the output.
pub fn write_shard(mut out: impl Write, skills: &[Skill]) -> io::Result<()> {
    for skill in skills {
        out.write_all(&shard_line(skill))?;
    }
    out.flush()
}

/// Returns the line of a skill, with its end.
pub(crate) fn shard_line(skill: &Skill) -> Vec<u8> {
    let line = serde_json::json!({
        "skill_id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "body": skill.body,
        "source": skill.source,
    });
    let mut line = line.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use skillmux::{library::Library, skill::SkillId};

    use super::*;

    #[test]
    fn what_is_written_is_read_as_a_library() {
        let skill = Skill {
            id: SkillId::new("zh/合同"),
            name: "合同".to_owned(),
            description: "Reads \"contracts\"\nand more".to_owned(),
            body: "# One\n\n\u{2028}two".to_owned(),
            source: "tests".to_owned(),
        };
        let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
        write_shard(&mut file, std::slice::from_ref(&skill)).unwrap();
        let mut found = Vec::new();
        let library = Library::open([file.path()]).unwrap();
        library
            .scan(&mut |scanned| {
                found.push(scanned.skill);
                Ok(())
            })
            .unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].id, &found[0].body), (&skill.id, &skill.body));
    }
}
