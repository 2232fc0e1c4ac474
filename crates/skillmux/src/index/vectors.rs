//! The vectors of the skills of a generation, in the order of the table.
//!
//! `vectors.bin` has two parts a skill, `transformer.bin` one. A file is a header (`magic [8] |
//! n_skills u32 | dim u32`), for bytes a scale `f32` for each part of each skill, and for each part
//! of each skill one number a dimension, of the kind that the magic says; all numbers are
//! little-endian. A scale below 0 stands for a skill that has no vectors yet. A row depends on the
//! text of its skill only, so that an updated index holds the same bytes as one that was built at
//! once.

use std::path::Path;

use memmap2::Mmap;
use rayon::prelude::*;

use super::{
    damage::{Damage, PartError},
    dot, files,
    layout::{TRANSFORMER, VECTORS},
    quantised::QueryVector,
    table::SkillIdx,
    vector_kind::VectorKind,
};
use crate::{
    error::{Error, Result},
    model::Encoder,
};

/// A file of vectors: its name, how it begins, and the kind of its numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VectorFile {
    pub(crate) name: &'static str,
    magic: [u8; 8],
    kind: VectorKind,
}

impl VectorFile {
    /// Returns the file of the vectors of the parts of each skill.
    pub(crate) const fn of_parts(kind: VectorKind) -> Self {
        let magic = match kind {
            VectorKind::Int8 => *b"smxvect1",
            VectorKind::F16 => *b"smxvech1",
            VectorKind::F32 => *b"smxvecs1",
        };
        Self { name: VECTORS, magic, kind }
    }
}

/// The vector of the whole text of each skill.
pub(crate) const TEXTS_FILE: VectorFile =
    VectorFile { name: TRANSFORMER, magic: *b"smxtran1", kind: VectorKind::Int8 };

/// Parts of a skill in a file of [parts](VectorFile::of_parts).
pub(crate) const N_PARTS: usize = Part::ALL.len();

/// Scale of a skill that has no vectors yet.
const MISSING: f32 = -1.0;

/// Skills, or parts of skills, that are read together: for several queries, memory brings them once.
const N_BLOCK_ROWS: usize = 512;

const HEADER_BYTES: usize = 16;
const SCALE_BYTES: usize = 4;

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

/// Returns the vectors of texts.
pub(crate) fn encode(encoder: &dyn Encoder, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
    checked(encoder, &encoder.encode(texts)?, texts.len())
}

/// Returns the vectors of queries.
pub(crate) fn encode_queries(encoder: &dyn Encoder, queries: &[&str]) -> Result<Vec<QueryVector>> {
    let vectors = checked(encoder, &encoder.encode_queries(queries)?, queries.len())?;
    Ok(vectors.into_iter().map(QueryVector::of).collect())
}

/// Returns the vector of a query.
pub(crate) fn encode_query(encoder: &dyn Encoder, query: &str) -> Result<QueryVector> {
    Ok(encode_queries(encoder, &[query])?.remove(0))
}

fn checked(encoder: &dyn Encoder, numbers: &[f32], n_texts: usize) -> Result<Vec<Vec<f32>>> {
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
    Ok(numbers.chunks(dim).map(<[f32]>::to_vec).collect())
}

/// Vectors of one skill, as they are stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VectorRow<const N: usize> {
    /// 1 for kinds without scales.
    scales: [f32; N],
    numbers: Box<[u8]>,
}

impl<const N: usize> VectorRow<N> {
    /// Returns the row of a skill that has no vectors yet.
    pub(crate) fn missing(dim: u32) -> Self {
        Self { scales: [MISSING; N], numbers: vec![0; N * dim as usize].into() }
    }

    /// Returns whether the skill has no vectors yet.
    pub(crate) fn is_missing(&self) -> bool {
        self.scales.iter().any(|scale| *scale < 0.0)
    }

    /// Returns the row of a skill from the vectors of its parts, in order.
    pub(crate) fn of(kind: VectorKind, parts: &[Vec<f32>; N]) -> Self {
        let mut numbers = Vec::new();
        let scales = parts.each_ref().map(|part| kind.store(part, &mut numbers));
        Self { scales, numbers: numbers.into() }
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
    let n_row_bytes = n_row_bytes::<N>(file.kind, dim as usize);
    let mut bytes = Vec::with_capacity(HEADER_BYTES + rows.len() * n_row_bytes);
    bytes.extend(file.magic);
    bytes.extend(n_skills.to_le_bytes());
    bytes.extend(dim.to_le_bytes());
    if file.kind.is_scaled() {
        for row in rows {
            bytes.extend(row.scales.iter().flat_map(|scale| scale.to_le_bytes()));
        }
    }
    for row in rows {
        bytes.extend(&row.numbers);
    }
    files::replace(&folder.join(file.name), &bytes)
}

/// Returns the size of a skill in a file, in bytes.
fn n_row_bytes<const N: usize>(kind: VectorKind, dim: usize) -> usize {
    let n_scale_bytes = if kind.is_scaled() { SCALE_BYTES } else { 0 };
    N * (n_scale_bytes + dim * kind.n_bytes())
}

/// Reads the vectors of a generation.
pub(crate) struct Vectors<const N: usize> {
    bytes: Mmap,
    n_skills: u32,
    kind: VectorKind,
    /// Size of the numbers of a part, in bytes.
    n_part_bytes: usize,
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
        let n_row_bytes = n_row_bytes::<N>(file.kind, dim);
        let n_bytes = (n_skills as usize).checked_mul(n_row_bytes);
        let n_bytes = n_bytes.and_then(|n_bytes| n_bytes.checked_add(HEADER_BYTES));
        if dim == 0 || !bytes.starts_with(&header) || n_bytes != Some(bytes.len()) {
            return Err(Damage::new(file.name, "does not hold the vectors of the skills").into());
        }
        let n_part_bytes = dim * file.kind.n_bytes();
        Ok(Self { bytes, n_skills, kind: file.kind, n_part_bytes })
    }

    /// Returns the vectors of a skill; `None` if there is no such skill.
    pub(crate) fn row(&self, idx: SkillIdx) -> Option<VectorRow<N>> {
        if idx.0 >= self.n_skills {
            return None;
        }
        let n = N * self.n_part_bytes;
        let numbers = self.numbers().get(idx.0 as usize * n..)?.get(..n)?;
        let scales = std::array::from_fn(|part| self.scale(idx.0 as usize, part));
        Some(VectorRow { scales, numbers: numbers.into() })
    }

    /// Returns the cosines of the parts of a skill with a query; 0 where there is no such skill.
    pub(crate) fn cosines(&self, idx: SkillIdx, query: &QueryVector) -> [f32; N] {
        self.cosines_of(&[idx], query)[0]
    }

    /// Returns the mean cosine of the parts of every skill with a query.
    pub(crate) fn similarities(&self, query: &QueryVector) -> Vec<f32> {
        self.scan(&[query], N).remove(0)
    }

    /// Returns for each query the `n` skills whose descriptions are closest, each with the mean
    /// cosine of its parts. Most skills with the highest means are among them. Reads half of the
    /// numbers, once for all queries.
    pub(crate) fn closest(&self, queries: &[&QueryVector], n: usize) -> Vec<Vec<(SkillIdx, f32)>> {
        let scanned = self.scan(queries, 1).into_par_iter().zip(queries);
        scanned.map(|(descriptions, query)| self.closest_of(&descriptions, query, n)).collect()
    }

    /// Returns the [`closest`](Self::closest) skills by the cosines of their descriptions.
    fn closest_of(
        &self,
        descriptions: &[f32],
        query: &QueryVector,
        n: usize,
    ) -> Vec<(SkillIdx, f32)> {
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
    pub(crate) fn cosines_of(&self, skills: &[SkillIdx], query: &QueryVector) -> Vec<[f32; N]> {
        let n = N * self.n_part_bytes;
        let row = |idx: &SkillIdx| {
            let start = idx.0 as usize * n;
            self.numbers().get(start..start + n)
        };
        let rows = skills.iter().filter_map(row);
        let parts = rows.flat_map(|row| row.chunks_exact(self.n_part_bytes));
        let mut dots = self.dots(parts, query).into_iter();
        let mut cosines = vec![[0.0; N]; skills.len()];
        for (idx, cosines) in skills.iter().zip(&mut cosines) {
            if idx.0 < self.n_skills {
                for (part, cosine) in cosines.iter_mut().enumerate() {
                    let dot = dots.next().unwrap_or_default();
                    *cosine = dot * self.factor(idx.0 as usize, part, query);
                }
            }
        }
        cosines
    }

    /// Returns for each query the mean cosine of the first parts of every skill; of 1 part or of
    /// all.
    fn scan(&self, queries: &[&QueryVector], n_parts: usize) -> Vec<Vec<f32>> {
        let n_row = N / n_parts * self.n_part_bytes;
        let dots_of = |block: &[u8]| -> Vec<Vec<f32>> {
            let rows = || block.chunks_exact(n_row).map(|row| &row[..self.n_part_bytes]);
            queries.iter().map(|query| self.dots(rows(), query)).collect()
        };
        let blocks: Vec<_> = self.numbers().par_chunks(N_BLOCK_ROWS * n_row).map(dots_of).collect();
        let cosines = |(at, query): (usize, &&QueryVector)| {
            let dots: Vec<f32> = blocks.iter().flat_map(|block| &block[at]).copied().collect();
            let of_skill = |(skill, dots): (usize, &[f32])| {
                let mut sum = 0.0;
                for (part, dot) in dots.iter().enumerate() {
                    sum += dot * self.factor(skill, part, query);
                }
                sum / n_parts as f32
            };
            dots.chunks_exact(n_parts).enumerate().map(of_skill).collect()
        };
        queries.iter().enumerate().map(cosines).collect()
    }

    /// Returns the dot product of each row of numbers with a query, without the
    /// [factor](Self::factor).
    fn dots<'r>(&self, rows: impl Iterator<Item = &'r [u8]>, query: &QueryVector) -> Vec<f32> {
        match self.kind {
            VectorKind::Int8 => {
                let dots = dot::of_bytes(rows, &query.quantised.steps).into_iter();
                dots.map(|dot| dot as f32).collect()
            }
            VectorKind::F16 => dot::of_halves(rows, &query.numbers),
            VectorKind::F32 => dot::of_singles(rows, &query.numbers),
        }
    }

    /// Returns by what a dot product of stored numbers is less than that of the vectors.
    fn factor(&self, skill: usize, part: usize, query: &QueryVector) -> f32 {
        if self.kind.is_scaled() { self.scale(skill, part) * query.quantised.scale } else { 1.0 }
    }

    fn scale(&self, skill: usize, part: usize) -> f32 {
        if !self.kind.is_scaled() {
            return 1.0;
        }
        let at = HEADER_BYTES + (skill * N + part) * SCALE_BYTES;
        let bytes = self.bytes[at..at + SCALE_BYTES].try_into().expect("the length was checked");
        f32::from_le_bytes(bytes)
    }

    fn numbers(&self) -> &[u8] {
        let n_scales = if self.kind.is_scaled() { self.n_skills as usize * N } else { 0 };
        &self.bytes[HEADER_BYTES + n_scales * SCALE_BYTES..]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write_rows(
        dir: &Path,
        kind: VectorKind,
        dim: u32,
        rows: &[VectorRow<N_PARTS>],
    ) -> Vectors<N_PARTS> {
        let file = VectorFile::of_parts(kind);
        write(dir, file, dim, &rows.iter().collect::<Vec<_>>()).unwrap();
        Vectors::open(dir, file, u32::try_from(rows.len()).unwrap(), dim).unwrap()
    }

    fn rows(kind: VectorKind) -> Vec<VectorRow<N_PARTS>> {
        let unit = [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8], [-0.6, 0.0, 0.8], [0.0; 3]];
        let [a, b, c, d] = unit.map(|vector| vector.to_vec());
        vec![VectorRow::of(kind, &[a, b]), VectorRow::of(kind, &[c, d])]
    }

    #[test]
    fn cosines_are_those_of_the_vectors_and_zero_vectors_have_none() {
        for kind in VectorKind::ALL {
            let dir = tempfile::tempdir().unwrap();
            let vectors = write_rows(dir.path(), kind, 3, &rows(kind));
            let query = QueryVector::of(vec![0.8, 0.0, 0.6]);
            let expected = [[0.8, 0.48], [0.0, 0.0]];
            let similarities = vectors.similarities(&query);
            let other = QueryVector::of(vec![-0.8, 0.6, 0.0]);
            let closest = vectors.closest(&[&query, &other], 1);
            assert_eq!(closest[0], [(SkillIdx(0), similarities[0])]);
            assert_eq!(closest[1], [(SkillIdx(1), vectors.similarities(&other)[1])]);
            assert_eq!(vectors.closest(&[&query], 9)[0].len(), 2);
            for (idx, expected) in (0..).map(SkillIdx).zip(expected) {
                let found = vectors.cosines(idx, &query);
                for (found, expected) in found.iter().zip(expected) {
                    // Each side is off by half a step of 1/127 at most in three numbers.
                    assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
                }
                let mean = f32::midpoint(found[0], found[1]);
                assert!((similarities[idx.0 as usize] - mean).abs() < 1e-6);
            }
            let nothing = vectors.similarities(&QueryVector::of(vec![0.0; 3]));
            assert!(nothing.iter().all(|similarity| similarity.abs() < 1e-9));
            assert!(vectors.cosines(SkillIdx(2), &query).iter().all(|cosine| cosine.abs() < 1e-9));
        }
    }

    fn unit_vector(dim: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0_f32..1.0, dim).prop_map(|mut vector| {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
            for x in &mut vector {
                *x /= length;
            }
            vector
        })
    }

    /// Returns the mean dot product of two parts with a query, added up in double precision.
    fn naive(parts: &[Vec<f32>; N_PARTS], query: &[f32]) -> f64 {
        let dot = |part: &Vec<f32>| -> f64 {
            part.iter().zip(query).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        parts.iter().map(dot).sum::<f64>() / 2.0
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_scan_gives_the_products_of_the_vectors(
            (query, skills) in (1..200_usize).prop_flat_map(|dim| {
                let skill = [unit_vector(dim), unit_vector(dim)];
                (unit_vector(dim), prop::collection::vec(skill, 1..6))
            }),
        ) {
            // A byte is off by half a step, which is 1/127 of the largest number or less.
            let tolerances = [0.02, 1e-3, 1e-5];
            for (kind, tolerance) in VectorKind::ALL.into_iter().zip(tolerances) {
                let dir = tempfile::tempdir().unwrap();
                let rows: Vec<_> = skills.iter().map(|parts| VectorRow::of(kind, parts)).collect();
                let dim = u32::try_from(query.len()).unwrap();
                let vectors = write_rows(dir.path(), kind, dim, &rows);
                let vector = QueryVector::of(query.clone());
                let found = vectors.similarities(&vector);
                prop_assert_eq!(found.len(), skills.len());
                for (found, parts) in found.iter().zip(&skills) {
                    let expected = naive(parts, &query);
                    prop_assert!((f64::from(*found) - expected).abs() < tolerance, "{} {expected}", found);
                }
                let all: Vec<SkillIdx> = (0..).map(SkillIdx).take(skills.len()).collect();
                let cosines = vectors.cosines_of(&all, &vector);
                let means = cosines.iter().map(|parts| parts.iter().sum::<f32>() / 2.0);
                prop_assert_eq!(means.collect::<Vec<f32>>(), found);
                let descriptions = vectors.scan(&[&vector], 1).remove(0);
                let of = |idx: &SkillIdx| vectors.cosines(*idx, &vector)[0];
                prop_assert_eq!(all.iter().map(of).collect::<Vec<f32>>(), descriptions);
            }
        }
    }

    #[test]
    fn a_scan_gives_every_skill_of_every_block_to_every_query() {
        // More than two blocks of parts, and the last one is not whole.
        let n = N_BLOCK_ROWS + 3;
        let angle = |at: usize| vec![(at as f32).cos(), (at as f32).sin()];
        let rows: Vec<_> =
            (0..n).map(|at| VectorRow::of(VectorKind::F32, &[angle(at), angle(7 * at)])).collect();
        let dir = tempfile::tempdir().unwrap();
        let vectors = write_rows(dir.path(), VectorKind::F32, 2, &rows);
        let queries = [0, 3].map(|at| QueryVector::of(angle(at)));
        for n_parts in [1, N_PARTS] {
            let found = vectors.scan(&queries.each_ref(), n_parts);
            for (found, query) in found.iter().zip(&queries) {
                assert_eq!(found.len(), n);
                for (idx, found) in (0..).map(SkillIdx).zip(found) {
                    let cosines = vectors.cosines(idx, query);
                    let mean = cosines[..n_parts].iter().sum::<f32>() / n_parts as f32;
                    assert!((found - mean).abs() < 1e-6, "{idx:?}: {found} is not {mean}");
                }
            }
        }
    }

    #[test]
    fn a_row_that_was_read_is_the_one_that_was_written() {
        for kind in VectorKind::ALL {
            let dir = tempfile::tempdir().unwrap();
            let rows = rows(kind);
            let vectors = write_rows(dir.path(), kind, 3, &rows);
            let read: Vec<_> = (0..).map_while(|idx| vectors.row(SkillIdx(idx))).collect();
            assert_eq!(read, rows);
        }
    }

    #[test]
    fn vectors_of_other_skills_dimensions_or_kinds_are_refused() {
        let refused = |dir: &Path, kind, n_skills, dim| {
            let file = VectorFile::of_parts(kind);
            let opened = Vectors::<N_PARTS>::open(dir, file, n_skills, dim);
            assert!(matches!(opened, Err(PartError::Damaged(_))), "{kind:?} {n_skills} {dim}");
        };
        for kind in VectorKind::ALL {
            let dir = tempfile::tempdir().unwrap();
            write_rows(dir.path(), kind, 3, &rows(kind));
            for (n_skills, dim) in [(3, 3), (1, 3), (2, 2), (2, 0), (u32::MAX, u32::MAX)] {
                refused(dir.path(), kind, n_skills, dim);
            }
            for other in VectorKind::ALL.into_iter().filter(|other| *other != kind) {
                refused(dir.path(), other, 2, 3);
            }
            let path = dir.path().join(VECTORS);
            let bytes = std::fs::read(&path).unwrap();
            for n_bytes in [0, 8, HEADER_BYTES, bytes.len() - 1] {
                std::fs::write(&path, &bytes[..n_bytes]).unwrap();
                refused(dir.path(), kind, 2, 3);
            }
        }
    }
}
