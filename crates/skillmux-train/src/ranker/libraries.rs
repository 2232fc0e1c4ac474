//! [`SmallLibraries`]: samples of an index, as users have them.

use std::{fs::File, io::Write as _, path::Path, sync::Arc};

use rustc_hash::FxHashSet;
use skillmux::{
    index::{EncodeStep, Index, SkillIdx, UpdateOptions},
    library::Library,
    model::Encoder,
};

use super::data::RankerData;
use crate::{
    error::{Error, Result},
    random::Random,
};

/// Share of a sample that some query asks for; the rest is drawn by chance.
const RIGHT_SHARE: f32 = 0.35;

const SEED: u64 = 1;

/// Makes indexes of samples, which are gone with the folder that they are made in.
///
/// The queries are dealt out: each sample holds the right skills of some, and others by chance.
/// Ids, texts and vectors are those of the index that is sampled.
pub struct SmallLibraries<'a> {
    /// What is sampled. It must have the vectors of both encoders.
    pub index: &'a Index,
    /// Makes the vectors of names, descriptions and bodies.
    pub encoder: Arc<dyn Encoder>,
    /// Made the vectors of whole texts.
    pub transformer: Arc<dyn Encoder>,
    /// The queries.
    pub data: &'a RankerData,
}

impl SmallLibraries<'_> {
    /// Returns indexes of so many skills each, made in an empty folder; none for a size of the
    /// whole index and more.
    ///
    /// # Errors
    /// [`Error::Write`], and what the index says.
    pub fn of_size(&self, n_skills: usize, folder: &Path) -> Result<Vec<Index>> {
        if n_skills >= self.index.n_skills() {
            return Ok(Vec::new());
        }
        let mut random = Random::new(SEED ^ n_skills as u64);
        let mut right = self.data.right_skills(self.index)?;
        for at in (1..right.len()).rev() {
            right.swap(at, random.below(at + 1));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let n_right = usize::max((n_skills as f32 * RIGHT_SHARE) as usize, 1);
        let mut indexes = Vec::new();
        for (number, right) in right.chunks(n_right).enumerate() {
            let mut skills: FxHashSet<SkillIdx> = right.iter().copied().collect();
            while skills.len() < n_skills {
                let drawn = random.below(self.index.n_skills());
                // An index numbers its skills with 32 bits.
                skills.extend(u32::try_from(drawn).map(SkillIdx));
            }
            let mut skills: Vec<SkillIdx> = skills.into_iter().collect();
            skills.sort_unstable();
            indexes.push(self.make(&skills, &folder.join(format!("{n_skills}-{number}")))?);
        }
        Ok(indexes)
    }

    fn make(&self, skills: &[SkillIdx], folder: &Path) -> Result<Index> {
        let failed = |source| Error::Write { path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let shard = folder.join("skills.jsonl");
        let mut file = File::create(&shard).map_err(failed)?;
        for idx in skills {
            let skill = self.index.skill(*idx)?.skill;
            let row = serde_json::json!({
                "skill_id": skill.id, "name": skill.name, "description": skill.description,
                "body": skill.body,
            });
            writeln!(file, "{row}").map_err(failed)?;
        }
        drop(file);
        let path = folder.join("index");
        let options = UpdateOptions {
            encoder: Some(Arc::clone(&self.encoder)),
            transformer: Some(self.transformer.identity().clone()),
            ..UpdateOptions::default()
        };
        Index::update(&path, &Library::open([&shard])?, &options, &mut |_| ())?;
        let transformer = self.transformer.as_ref();
        Index::encode(&path, transformer, Some(self.index), &mut |_, _| EncodeStep::Continue)?;
        Ok(Index::open(&path)?)
    }
}
