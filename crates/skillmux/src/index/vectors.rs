//! The vectors of the skills of a generation, in the order of the table.
//!
//! `vectors.bin` has two parts a skill, `transformer.bin` one. A file is a header (`magic [8] | n_skills u32 | dim u32`), a scale `f32` for each part of
//! each skill, and for each part of each skill one signed byte a dimension; all numbers are
//! little-endian. A scale below 0 stands for a skill that has no vectors yet. A row depends on the text of its skill only, so that an updated index holds the
//! same bytes as one that was built at once.

use std::path::Path;

use memmap2::Mmap;

use super::{
    damage::{Damage, PartError},
    files,
    layout::{TRANSFORMER, VECTORS},
    table::SkillIdx,
};
use crate::{
    error::{Error, Result},
    model::Encoder,
};

/// A file of vectors: its name and how it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VectorFile {
    pub(crate) name: &'static str,
    magic: [u8; 8],
}

/// The vectors of the parts of each skill.
pub(crate) const PARTS_FILE: VectorFile = VectorFile { name: VECTORS, magic: *b"smxvect1" };

/// The vector of the whole text of each skill.
pub(crate) const TEXTS_FILE: VectorFile = VectorFile { name: TRANSFORMER, magic: *b"smxtran1" };

/// Parts of a skill in [`PARTS_FILE`].
pub(crate) const N_PARTS: usize = Part::ALL.len();

/// Scale of a skill that has no vectors yet.
const MISSING: f32 = -1.0;

const HEADER_BYTES: usize = 16;
const SCALE_BYTES: usize = 4;

/// Most of a quantised number; -128 is not used, so that both signs have the same steps.
const MAX_STEP: f32 = 127.0;

/// Part of a skill that has a vector of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Name and description.
    Description,
    /// The Markdown text.
    Body,
}

impl Part {
    /// All parts, in the order in which they are stored.
    pub(crate) const ALL: [Self; 2] = [Self::Description, Self::Body];
}

/// A vector in steps of its scale.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantised {
    scale: f32,
    /// Within 127 of 0; wider than they are stored, for products of these are fast.
    steps: Vec<i16>,
}

impl Quantised {
    /// Rounds a vector to 127 steps either side of 0.
    pub(crate) fn of(vector: &[f32]) -> Self {
        let most = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let scale = most / MAX_STEP;
        let step = |x: &f32| if scale > 0.0 { nearest(x / scale) } else { 0 };
        Self { scale, steps: vector.iter().map(step).collect() }
    }

    /// Returns whether the vector says nothing.
    pub(crate) fn is_zero(&self) -> bool {
        self.scale <= 0.0
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the value is within 127 of 0")]
fn nearest(x: f32) -> i16 {
    x.round().clamp(-MAX_STEP, MAX_STEP) as i16
}

/// Returns the vectors of texts.
pub(crate) fn encode(encoder: &dyn Encoder, texts: &[&str]) -> Result<Vec<Quantised>> {
    quantised(encoder, &encoder.encode(texts)?, texts.len())
}

/// Returns the vectors of queries.
pub(crate) fn encode_queries(encoder: &dyn Encoder, queries: &[&str]) -> Result<Vec<Quantised>> {
    quantised(encoder, &encoder.encode_queries(queries)?, queries.len())
}

/// Returns the vector of a query.
pub(crate) fn encode_query(encoder: &dyn Encoder, query: &str) -> Result<Quantised> {
    Ok(encode_queries(encoder, &[query])?.remove(0))
}

fn quantised(encoder: &dyn Encoder, numbers: &[f32], n_texts: usize) -> Result<Vec<Quantised>> {
    let dim = encoder.dim();
    let is_sound = dim > 0
        && n_texts.checked_mul(dim) == Some(numbers.len())
        && numbers.iter().all(|x| x.is_finite());
    if !is_sound {
        return Err(Error::EncoderAnswer {
            name: encoder.identity().name.clone(),
            n_numbers: numbers.len(),
            n_texts,
            dim,
        });
    }
    Ok(numbers.chunks(dim).map(Quantised::of).collect())
}

/// Vectors of one skill, as they are stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VectorRow<const N: usize> {
    scales: [f32; N],
    steps: Box<[u8]>,
}

impl<const N: usize> VectorRow<N> {
    /// Returns the row of a skill that has no vectors yet.
    pub(crate) fn missing(dim: u32) -> Self {
        Self { scales: [MISSING; N], steps: vec![0; N * dim as usize].into() }
    }

    /// Returns whether the skill has no vectors yet.
    pub(crate) fn is_missing(&self) -> bool {
        self.scales.iter().any(|scale| *scale < 0.0)
    }

    /// Returns the row of a skill from the vectors of its parts, in order.
    pub(crate) fn of(parts: &[Quantised; N]) -> Self {
        let bytes = parts.iter().flat_map(|part| &part.steps).map(|step| step.to_le_bytes()[0]);
        Self { scales: parts.each_ref().map(|part| part.scale), steps: bytes.collect() }
    }
}

/// Writes the vectors of all skills of the generation in `folder`, in order.
pub(crate) fn write<const N: usize>(
    folder: &Path,
    file: VectorFile,
    dim: u32,
    rows: &[&VectorRow<N>],
) -> Result<()> {
    let n_skills = u32::try_from(rows.len()).expect("slots are 32-bit numbers");
    let n_row_bytes = N * (SCALE_BYTES + dim as usize);
    let mut bytes = Vec::with_capacity(HEADER_BYTES + rows.len() * n_row_bytes);
    bytes.extend(file.magic);
    bytes.extend(n_skills.to_le_bytes());
    bytes.extend(dim.to_le_bytes());
    for row in rows {
        bytes.extend(row.scales.iter().flat_map(|scale| scale.to_le_bytes()));
    }
    for row in rows {
        bytes.extend(&row.steps);
    }
    files::replace(&folder.join(file.name), &bytes)
}

/// Reads the vectors of a generation.
pub(crate) struct Vectors<const N: usize> {
    bytes: Mmap,
    n_skills: u32,
    dim: usize,
}

impl<const N: usize> Vectors<N> {
    /// Maps the vectors of so many skills of the generation in `folder`.
    pub(crate) fn open(
        folder: &Path,
        file: VectorFile,
        n_skills: u32,
        dim: u32,
    ) -> Result<Self, PartError> {
        let bytes = files::map(folder, file.name)?;
        let mut header = file.magic.to_vec();
        header.extend(n_skills.to_le_bytes());
        header.extend(dim.to_le_bytes());
        let dim = dim as usize;
        let n_row_bytes = N * (SCALE_BYTES + dim);
        let n_bytes = (n_skills as usize).checked_mul(n_row_bytes);
        let n_bytes = n_bytes.and_then(|n_bytes| n_bytes.checked_add(HEADER_BYTES));
        if dim == 0 || !bytes.starts_with(&header) || n_bytes != Some(bytes.len()) {
            return Err(Damage::new(file.name, "does not hold the vectors of the skills").into());
        }
        Ok(Self { bytes, n_skills, dim })
    }

    /// Returns the vectors of a skill; `None` if there is no such skill.
    pub(crate) fn row(&self, idx: SkillIdx) -> Option<VectorRow<N>> {
        if idx.0 >= self.n_skills {
            return None;
        }
        let n = N * self.dim;
        let steps = self.steps().get(idx.0 as usize * n..)?.get(..n)?;
        let scales = std::array::from_fn(|part| self.scale(idx.0 as usize, part));
        Some(VectorRow { scales, steps: steps.into() })
    }

    /// Returns the cosines of the parts of a skill with a query; 0 where there is no such skill.
    pub(crate) fn cosines(&self, idx: SkillIdx, query: &Quantised) -> [f32; N] {
        let skill = idx.0 as usize;
        std::array::from_fn(|part| {
            let start = (skill * N + part) * self.dim;
            let steps = self.steps().get(start..start + self.dim).unwrap_or(&[]);
            if steps.is_empty() { 0.0 } else { self.cosine(skill, part, steps, query) }
        })
    }

    /// Returns the mean cosine of the parts of every skill with a query.
    pub(crate) fn similarities(&self, query: &Quantised) -> Vec<f32> {
        self.scan(query, N)
    }

    /// Returns skills with the mean cosines of their parts, of which most have the highest there
    /// are: those of the `n` skills whose descriptions are closest. Reads half as much.
    pub(crate) fn closest(&self, query: &Quantised, n: usize) -> Vec<(SkillIdx, f32)> {
        let descriptions = self.scan(query, 1);
        let mut closest: Vec<SkillIdx> = (0..self.n_skills).map(SkillIdx).collect();
        if n < closest.len() {
            let of = |skill: &SkillIdx| descriptions[skill.0 as usize];
            closest.select_nth_unstable_by(n, |a, b| of(b).total_cmp(&of(a)).then(a.cmp(b)));
            closest.truncate(n);
        }
        let mean = |(skill, cosines): (SkillIdx, [f32; N])| {
            (skill, cosines.iter().sum::<f32>() / N as f32)
        };
        let cosines = self.cosines_of(&closest, query);
        closest.into_iter().zip(cosines).map(mean).collect()
    }

    /// Returns the cosines of the parts of each of these skills with a query; as for
    /// [`cosines`](Self::cosines), but faster for many.
    pub(crate) fn cosines_of(&self, skills: &[SkillIdx], query: &Quantised) -> Vec<[f32; N]> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions, as was just asked.
            #[expect(unsafe_code, reason = "the function needs instructions that not all have")]
            return unsafe { self.cosines_by_avx2(skills, query) };
        }
        self.cosines_portably(skills, query)
    }

    /// The same, compiled with wider instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn cosines_by_avx2(&self, skills: &[SkillIdx], query: &Quantised) -> Vec<[f32; N]> {
        self.cosines_portably(skills, query)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
    fn cosines_portably(&self, skills: &[SkillIdx], query: &Quantised) -> Vec<[f32; N]> {
        let n = N * self.dim;
        let mut cosines = vec![[0.0; N]; skills.len()];
        // Loops, for closures would be compiled without the wider instructions.
        for (idx, cosines) in skills.iter().zip(&mut cosines) {
            let skill = idx.0 as usize;
            let Some(row) = self.steps().get(skill * n..(skill + 1) * n) else { continue };
            for (part, steps) in row.chunks_exact(self.dim).enumerate() {
                cosines[part] = self.cosine(skill, part, steps, query);
            }
        }
        cosines
    }

    /// Returns the mean cosine of the first parts of every skill with a query.
    fn scan(&self, query: &Quantised, n_parts: usize) -> Vec<f32> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions, as was just asked.
            #[expect(unsafe_code, reason = "the function needs instructions that not all have")]
            return unsafe { self.scan_by_avx2(query, n_parts) };
        }
        self.scan_portably(query, n_parts)
    }

    /// The same, compiled with wider instructions: half of the time.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn scan_by_avx2(&self, query: &Quantised, n_parts: usize) -> Vec<f32> {
        self.scan_portably(query, n_parts)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
    fn scan_portably(&self, query: &Quantised, n_parts: usize) -> Vec<f32> {
        let mut means = Vec::with_capacity(self.n_skills as usize);
        // Loops, for closures would be compiled without the wider instructions.
        for (skill, row) in self.steps().chunks_exact(self.dim * N).enumerate() {
            let mut sum = 0.0;
            for (part, steps) in row[..n_parts * self.dim].chunks_exact(self.dim).enumerate() {
                sum += self.cosine(skill, part, steps, query);
            }
            means.push(sum / n_parts as f32);
        }
        means
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
    fn cosine(&self, skill: usize, part: usize, steps: &[u8], query: &Quantised) -> f32 {
        dot(steps, &query.steps) as f32 * (self.scale(skill, part) * query.scale)
    }

    fn scale(&self, skill: usize, part: usize) -> f32 {
        let at = HEADER_BYTES + (skill * N + part) * SCALE_BYTES;
        let bytes = self.bytes[at..at + SCALE_BYTES].try_into().expect("the length was checked");
        f32::from_le_bytes(bytes)
    }

    fn steps(&self) -> &[u8] {
        &self.bytes[HEADER_BYTES + self.n_skills as usize * N * SCALE_BYTES..]
    }
}

/// Steps that are multiplied at once.
const N_LANES: usize = 16;

/// Returns the dot product, which has no rounding; compiles to vector instructions.
///
/// Two products are added as 16-bit numbers, which they fit into: 2 · 127 · 127 is 32,258.
#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn dot(stored: &[u8], query: &[i16]) -> i32 {
    let (stored_pairs, stored_rest) = stored.as_chunks::<{ 2 * N_LANES }>();
    let (query_pairs, query_rest) = query.as_chunks::<{ 2 * N_LANES }>();
    let mut sums = [0_i32; N_LANES];
    for (a, b) in stored_pairs.iter().zip(query_pairs) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let first = product(a[lane], b[lane]);
            let second = product(a[lane + N_LANES], b[lane + N_LANES]);
            *sum += i32::from(first.wrapping_add(second));
        }
    }
    let mut total = 0;
    for sum in sums {
        total += sum;
    }
    for (a, b) in stored_rest.iter().zip(query_rest) {
        total += i32::from(product(*a, *b));
    }
    total
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "is compiled with the instructions of its caller")]
fn product(stored: u8, query: i16) -> i16 {
    i16::from(i8::from_le_bytes([stored])).wrapping_mul(query)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_rows(dir: &Path, rows: &[VectorRow<N_PARTS>]) -> Vectors<N_PARTS> {
        write(dir, PARTS_FILE, 3, &rows.iter().collect::<Vec<_>>()).unwrap();
        let n_skills = u32::try_from(rows.len()).unwrap();
        Vectors::open(dir, PARTS_FILE, n_skills, 3).unwrap()
    }

    fn rows() -> Vec<VectorRow<N_PARTS>> {
        let unit = [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8], [-0.6, 0.0, 0.8], [0.0; 3]];
        let parts = unit.map(|vector| Quantised::of(&vector));
        vec![
            VectorRow::of(&[parts[0].clone(), parts[1].clone()]),
            VectorRow::of(&[parts[2].clone(), parts[3].clone()]),
        ]
    }

    #[test]
    fn cosines_are_those_of_the_vectors_and_zero_vectors_have_none() {
        let dir = tempfile::tempdir().unwrap();
        let vectors = write_rows(dir.path(), &rows());
        let query = Quantised::of(&[0.8, 0.0, 0.6]);
        let expected = [[0.8, 0.48], [0.0, 0.0]];
        let similarities = vectors.similarities(&query);
        let closest = vectors.closest(&query, 1);
        assert_eq!(closest, [(SkillIdx(0), similarities[0])]);
        assert_eq!(vectors.closest(&query, 9).len(), 2);
        for (idx, expected) in (0..).map(SkillIdx).zip(expected) {
            let found = vectors.cosines(idx, &query);
            for (found, expected) in found.iter().zip(expected) {
                // Each side is off by half a step of 1/127 at most in three numbers.
                assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
            }
            let mean = f32::midpoint(found[0], found[1]);
            assert!((similarities[idx.0 as usize] - mean).abs() < 1e-6);
        }
        let nothing = vectors.similarities(&Quantised::of(&[0.0; 3]));
        assert!(nothing.iter().all(|similarity| similarity.abs() < 1e-9));
        assert!(vectors.cosines(SkillIdx(2), &query).iter().all(|cosine| cosine.abs() < 1e-9));
    }

    #[test]
    fn a_row_that_was_read_is_the_one_that_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let rows = rows();
        let vectors = write_rows(dir.path(), &rows);
        let read: Vec<_> = (0..).map_while(|idx| vectors.row(SkillIdx(idx))).collect();
        assert_eq!(read, rows);
    }

    #[test]
    fn vectors_of_other_skills_or_dimensions_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        write_rows(dir.path(), &rows());
        for (n_skills, dim) in [(3, 3), (1, 3), (2, 2), (2, 0), (u32::MAX, u32::MAX)] {
            let opened = Vectors::<N_PARTS>::open(dir.path(), PARTS_FILE, n_skills, dim);
            assert!(matches!(opened, Err(PartError::Damaged(_))), "{n_skills} {dim}");
        }
    }
}
