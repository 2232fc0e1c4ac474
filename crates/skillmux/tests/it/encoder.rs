//! Indexes with vectors: which encoder made them, and what an encoder may not do.

use std::sync::Arc;

use skillmux::{
    Error, Result,
    index::{Index, UpdateMode, UpdateOptions, UpdateOutcome, UpdateReport, VectorKind},
    model::{Encoder, EncoderIdentity},
    query::Query,
    rerank::KeepOrder,
    retrieve::{DenseRetriever, Retriever},
    route::{Ranker, Router, Stages},
};

use crate::{
    library::{Line, Workshop, options, sample},
    term_encoder::TermEncoder,
};

fn update(workshop: &Workshop, encoder: Option<Arc<dyn Encoder>>) -> Result<UpdateReport> {
    let library = workshop.write(&sample());
    let options = UpdateOptions { encoder, ..options(UpdateMode::Incremental) };
    Index::update(&workshop.index_path(), &library, &options, &mut |_| {})
}

fn mismatch(result: Result<impl Sized>) -> (Option<EncoderIdentity>, EncoderIdentity) {
    match result.map(drop) {
        Err(error @ Error::EncoderMismatch { .. }) => {
            assert_eq!(error.hint().unwrap(), "make the index again");
            let Error::EncoderMismatch { found, given, .. } = error else { unreachable!() };
            (found.map(|found| *found), *given)
        }
        other => panic!("{other:?}"),
    }
}

/// Returns stages that rank by vectors alone.
fn by_vectors(encoder: TermEncoder) -> Stages {
    let dense = DenseRetriever::new(Arc::new(encoder));
    Stages { ranker: Ranker::new(Box::new(dense), Box::new(KeepOrder)), ..Stages::default() }
}

#[test]
fn vectors_of_another_encoder_are_refused() {
    let index = Workshop::with(&sample()).open().unwrap();
    let other = TermEncoder::new("2");
    let dense = |encoder| DenseRetriever::new(Arc::new(encoder));
    let (found, given) = mismatch(dense(TermEncoder::new("2")).check(&index));
    assert_eq!(found.as_ref(), index.manifest().encoder.as_ref());
    assert_eq!(&given, other.identity());
    mismatch(Router::new(index, by_vectors(other)));
}

#[test]
fn an_index_without_an_encoder_has_no_vectors() {
    let workshop = Workshop::new();
    update(&workshop, None).unwrap();
    let index = workshop.open().unwrap();
    assert_eq!(index.manifest().encoder, None);
    assert!(!index.manifest().files.contains_key("vectors.bin"));
    let (found, _) = mismatch(DenseRetriever::new(Arc::new(TermEncoder::new("1"))).check(&index));
    assert_eq!(found, None);
}

#[test]
fn an_update_with_another_encoder_makes_the_index_anew() {
    let workshop = Workshop::with(&sample());
    for encoder in [Some(TermEncoder::new("2")), None, Some(TermEncoder::new("1"))] {
        let encoder = encoder.map(|encoder| Arc::new(encoder) as Arc<dyn Encoder>);
        let identity = encoder.as_ref().map(|encoder| encoder.identity().clone());
        let report = update(&workshop, encoder).unwrap();
        assert_eq!((report.outcome, report.n_unchanged), (UpdateOutcome::Committed, 0));
        assert_eq!(workshop.open().unwrap().manifest().encoder, identity);
    }
}

fn update_as(workshop: &Workshop, lines: &[Line], vectors: Option<VectorKind>) -> UpdateReport {
    let library = workshop.write(lines);
    let options = UpdateOptions { vectors, ..options(UpdateMode::Incremental) };
    Index::update(&workshop.index_path(), &library, &options, &mut |_| {}).unwrap()
}

fn vectors_of(workshop: &Workshop) -> Vec<u8> {
    let path = std::fs::read_dir(workshop.index_path()).unwrap().map(|entry| entry.unwrap().path());
    let newest = path.filter(|path| path.is_dir()).max().unwrap();
    std::fs::read(newest.join("vectors.bin")).unwrap()
}

#[test]
fn an_update_keeps_the_kind_of_the_vectors_and_equals_a_rebuild() {
    let (first, all) = (sample()[2..].to_vec(), sample());
    let mut sizes = Vec::new();
    for kind in VectorKind::ALL {
        let (grown, built) = (Workshop::new(), Workshop::new());
        update_as(&grown, &first, Some(kind));
        let report = update_as(&grown, &all, None);
        assert_eq!((report.n_added, report.n_unchanged), (2, first.len()));
        let report = update_as(&grown, &all, Some(kind));
        assert_eq!(report.outcome, UpdateOutcome::Unchanged);
        update_as(&built, &all, Some(kind));
        assert_eq!(grown.open().unwrap().manifest().vectors, kind);
        assert_eq!(vectors_of(&grown), vectors_of(&built));
        sizes.push(vectors_of(&built).len());
    }
    let n_numbers = 2 * 24 * all.len();
    assert_eq!(sizes, [16 + 8 * all.len() + n_numbers, 16 + 2 * n_numbers, 16 + 4 * n_numbers]);
}

#[test]
fn another_kind_of_vectors_makes_the_index_anew_and_another_encoder_keeps_the_kind() {
    let workshop = Workshop::with(&sample());
    let report = update_as(&workshop, &sample(), Some(VectorKind::F32));
    assert_eq!((report.outcome, report.n_unchanged), (UpdateOutcome::Committed, 0));
    let exact = vectors_of(&workshop);
    update(&workshop, Some(Arc::new(TermEncoder::new("2")))).unwrap();
    assert_eq!(workshop.open().unwrap().manifest().vectors, VectorKind::F32);
    assert_eq!(vectors_of(&workshop).len(), exact.len());
    assert_ne!(vectors_of(&workshop), exact);
}

#[test]
fn vectors_of_every_kind_find_the_same_skills() {
    let found = |kind| {
        let workshop = Workshop::new();
        update_as(&workshop, &sample(), Some(kind));
        let router =
            Router::new(workshop.open().unwrap(), by_vectors(TermEncoder::new("1"))).unwrap();
        let search = router.search(&Query::new("clean messy tables").unwrap(), 2).unwrap();
        assert!(!search.candidates.is_empty());
        search.candidates
    };
    let exact = found(VectorKind::F32);
    for kind in [VectorKind::Int8, VectorKind::F16] {
        for (found, exact) in found(kind).iter().zip(&exact) {
            assert_eq!(found.skill, exact.skill);
            assert!((found.score - exact.score).abs() < 0.01);
        }
    }
}

#[test]
fn a_router_keeps_its_generation_when_the_encoder_of_the_index_changes() {
    let workshop = Workshop::with(&sample());
    let stages = by_vectors(TermEncoder::new("1"));
    let router = Router::new(workshop.open().unwrap(), stages).unwrap();
    let query = Query::new("clean messy tables").unwrap();
    let before = router.search(&query, 3).unwrap();
    assert!(!before.candidates.is_empty());
    update(&workshop, None).unwrap();
    mismatch(router.refresh());
    assert!(!router.refresh().unwrap(), "it is not opened again");
    assert_eq!(router.search(&query, 3).unwrap(), before);
}

/// Gives one number too few, or one that is none.
struct Broken(EncoderIdentity, Vec<f32>);

impl Encoder for Broken {
    fn identity(&self) -> &EncoderIdentity {
        &self.0
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
        Ok(texts.iter().flat_map(|_| self.1.clone()).collect())
    }
}

#[test]
fn an_encoder_that_breaks_its_contract_is_told() {
    let identity =
        EncoderIdentity { name: "broken".to_owned(), dim: 2, fingerprint: String::new() };
    for row in [vec![1.0], vec![1.0, f32::NAN], vec![]] {
        let workshop = Workshop::new();
        let encoder: Arc<dyn Encoder> = Arc::new(Broken(identity.clone(), row));
        let error = update(&workshop, Some(encoder)).unwrap_err();
        assert!(matches!(&error, Error::EncoderAnswer { name, .. } if name == "broken"), "{error}");
    }
}
