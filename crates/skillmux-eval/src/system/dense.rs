//! [`Dense`]: cosine of an encoder's vectors, by an exact scan.

use rayon::prelude::*;
use skillmux::{
    index::{Index, SkillIdx},
    model::{Encoder, EncoderIdentity, dot},
};

use super::{
    contract::System,
    engine::{best_ids, query_of},
    skill_text::{SkillText, text_of},
};
use crate::{answer::Answer, error::Error, task::Task};

/// Skills that are encoded at a time.
const BATCH_SKILLS: usize = 64;

/// Ranks by the cosine of one vector a skill with that of the task.
///
/// A skill or task whose vector is all zero, for its text says nothing to the encoder, is like
/// nothing, and is left out.
pub(super) struct Dense<'a> {
    index: &'a Index,
    encoder: &'a dyn Encoder,
    text: SkillText,
    /// `[n_skills, dim]`, row-major.
    vectors: Vec<f32>,
}

impl<'a> Dense<'a> {
    /// Encodes all skills.
    pub(super) fn open(
        text: SkillText,
        index: &'a Index,
        encoder: &'a dyn Encoder,
    ) -> Result<Self, Error> {
        let dim = encoder.dim();
        let skills: Vec<SkillIdx> = index.skills().collect();
        let mut vectors = vec![0.0; skills.len() * dim];
        // A row has a number at least, so that an encoder without dimensions is no reason to panic.
        let rows = vectors.par_chunks_mut(BATCH_SKILLS * dim.max(1));
        rows.zip(skills.par_chunks(BATCH_SKILLS)).try_for_each(|(rows, batch)| {
            let read = |idx: &SkillIdx| Ok(text_of(&index.skill(*idx)?.skill, text, index));
            let texts = batch.iter().map(read).collect::<Result<Vec<String>, Error>>()?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            rows.copy_from_slice(&checked(encoder, encoder.encode(&texts)?, texts.len())?);
            Ok::<(), Error>(())
        })?;
        Ok(Self { index, encoder, text, vectors })
    }
}

impl System for Dense<'_> {
    fn name(&self) -> String {
        format!("dense{}", self.text.suffix())
    }

    fn config(&self) -> String {
        let EncoderIdentity { name, dim, fingerprint } = self.encoder.identity();
        format!("dense encoder={name} {fingerprint} dim={dim} text={}", self.text.as_str())
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        let query = query_of(task)?;
        let vector = self.encoder.encode_queries(&[query.text()])?;
        let vector = checked(self.encoder, vector, 1)?;
        if is_zero(&vector) {
            return Ok(Answer::of_ranking([]));
        }
        let rows = self.vectors.chunks_exact(vector.len());
        let found = (0..).map(SkillIdx).zip(rows).filter(|(_, row)| !is_zero(row));
        let scored = found.map(|(skill, row)| (skill, dot(row, &vector)));
        Ok(Answer::of_ranking(best_ids(self.index, scored, depth)?))
    }
}

/// Returns the vectors if their numbers are as many as they must be, and finite.
fn checked(encoder: &dyn Encoder, vectors: Vec<f32>, n_texts: usize) -> Result<Vec<f32>, Error> {
    let n_expected = n_texts * encoder.dim();
    let n_finite = vectors.iter().filter(|number| number.is_finite()).count();
    if vectors.len() == n_expected && n_finite == n_expected {
        return Ok(vectors);
    }
    let encoder = encoder.identity().name.clone();
    Err(Error::BadVectors { encoder, n_finite, n_expected })
}

fn is_zero(vector: &[f32]) -> bool {
    vector.iter().all(|number| *number == 0.0)
}
