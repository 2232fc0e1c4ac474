//! Vectors of whole texts: made after an update, kept by the next one, and never needed to answer.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use skillmux::{
    Error, Result,
    index::{EncodeReport, EncodeStep, Index, UpdateMode, UpdateOptions, UpdateOutcome},
    model::{Encoder, EncoderIdentity},
    query::Query,
    retrieve::{
        Candidate, Feature, PoolRetriever, QUERY_TRANSFORMER, RetrieveRequest, Retriever, Signals,
    },
    skill::SkillId,
};

use crate::{
    library::{Line, Workshop, options, sample},
    rankers::encoder,
    term_encoder::TermEncoder,
};

fn transformer() -> TermEncoder {
    TermEncoder::new("transformer")
}

/// Returns a library of so many skills.
fn lines(n: usize) -> Vec<Line> {
    let line = |at: usize| {
        let topic = ["invoices", "contracts", "slides", "tables", "containers"][at % 5];
        let name = format!("{topic}-{at}");
        Line::new(&name, &name, &format!("Works on {topic} number {at}"), "Read them first.\n")
    };
    (0..n).map(line).collect()
}

fn update(workshop: &Workshop, lines: &[Line], transformer: Option<EncoderIdentity>) {
    let library = workshop.write(lines);
    let options = UpdateOptions { transformer, ..options(UpdateMode::Incremental) };
    Index::update(&workshop.index_path(), &library, &options, &mut |_| {}).unwrap();
}

fn encode(workshop: &Workshop) -> Result<EncodeReport> {
    Index::encode(&workshop.index_path(), &transformer(), None, &mut |_, _| EncodeStep::Continue)
}

fn n_missing(workshop: &Workshop) -> Option<u32> {
    workshop.open().unwrap().manifest().transformer.as_ref().map(|found| found.n_missing)
}

fn n_slots(workshop: &Workshop) -> u32 {
    workshop.open().unwrap().manifest().n_slots
}

/// Returns what is measured of each candidate, by id.
fn signals(workshop: &Workshop, task: &str) -> BTreeMap<SkillId, Signals> {
    let index = workshop.open().unwrap();
    let query = Query::new(task).unwrap();
    let retriever = PoolRetriever::new(Some(encoder())).with_transformer(Arc::new(transformer()));
    let request = RetrieveRequest { index: &index, query: &query, named: &[], k: 0 };
    let found = retriever.retrieve(&request).unwrap();
    found.into_iter().map(|candidate| (candidate.skill, candidate.signals)).collect()
}

/// Returns whether the transformer is asked, and its cosine of the best skill by it.
fn cosine(workshop: &Workshop, task: &str) -> (f32, f32) {
    let found = signals(workshop, task);
    let value = |name| found.values().filter_map(|signals| signals.get(name)).fold(0.0, f32::max);
    (value(QUERY_TRANSFORMER), value(Feature::Transformer.as_str()))
}

#[test]
fn an_index_answers_without_the_vectors_until_all_are_made() {
    let workshop = Workshop::new();
    update(&workshop, &lines(200), Some(transformer().identity().clone()));
    assert_eq!(n_missing(&workshop), None);
    assert_eq!(cosine(&workshop, "works on invoices"), (0.0, 0.0));
    let mut seen = Vec::new();
    let report = Index::encode(&workshop.index_path(), &transformer(), None, &mut |n, of| {
        seen.push((n, of));
        EncodeStep::Stop
    });
    assert_eq!(report.unwrap(), EncodeReport { n_encoded: 64, n_known: 0, n_missing: 136 });
    assert_eq!(seen, [(64, 200)]);
    assert_eq!(n_missing(&workshop), Some(136));
    assert_eq!(cosine(&workshop, "works on invoices"), (0.0, 0.0));
    assert_eq!(encode(&workshop).unwrap().n_encoded, 136);
    assert_eq!(n_missing(&workshop), Some(0));
    let (is_asked, best) = cosine(&workshop, "works on invoices");
    assert!(is_asked > 0.5 && best > 0.5, "{best}");
    workshop.open().unwrap().verify().unwrap();
}

#[test]
fn a_query_that_the_transformer_cannot_read_stands_between_others() {
    let workshop = Workshop::new();
    update(&workshop, &lines(60), Some(transformer().identity().clone()));
    encode(&workshop).unwrap();
    let index = workshop.open().unwrap();
    let queries =
        ["works on invoices", "🦀", "read the tables first"].map(|q| Query::new(q).unwrap());
    let retriever = PoolRetriever::new(Some(encoder())).with_transformer(Arc::new(transformer()));
    let request = |query| RetrieveRequest { index: &index, query, named: &[], k: 0 };
    let requests = queries.each_ref().map(request);
    let together = retriever.retrieve_all(&requests).unwrap();
    let is_read = |found: &[Candidate]| {
        let mut shares = found.iter().filter_map(|found| found.signals.get(QUERY_TRANSFORMER));
        shares.any(|share| share > 0.0)
    };
    assert_eq!(
        together.iter().map(|found| is_read(found)).collect::<Vec<_>>(),
        [true, false, true]
    );
    for (together, request) in together.iter().zip(&requests) {
        assert_eq!(*together, retriever.retrieve(request).unwrap());
    }
}

#[test]
fn an_update_keeps_the_vectors_of_texts_that_stay() {
    let workshop = Workshop::new();
    let identity = transformer().identity().clone();
    update(&workshop, &lines(20), Some(identity.clone()));
    assert_eq!(encode(&workshop).unwrap().n_encoded, 20);
    assert_eq!(encode(&workshop).unwrap(), EncodeReport { n_encoded: 0, n_known: 0, n_missing: 0 });
    update(&workshop, &lines(30)[5..], Some(identity.clone()));
    assert_eq!(n_missing(&workshop), Some(10));
    assert_eq!(encode(&workshop).unwrap().n_encoded, 10);

    let rebuilt = Workshop::new();
    update(&rebuilt, &lines(30)[5..], Some(identity));
    encode(&rebuilt).unwrap();
    let task = "works on tables";
    assert_eq!(cosine(&workshop, task), cosine(&rebuilt, task));
}

#[test]
fn an_index_that_is_made_anew_after_it_shrank_keeps_the_vectors() {
    let workshop = Workshop::new();
    let identity = transformer().identity().clone();
    update(&workshop, &lines(1500), Some(identity.clone()));
    assert_eq!(encode(&workshop).unwrap().n_encoded, 1500);
    update(&workshop, &lines(50), Some(identity.clone()));
    assert_eq!((n_missing(&workshop), n_slots(&workshop)), (Some(0), 1500));
    // 1,500 slots are more than 1,000 and four times the skills.
    update(&workshop, &lines(51), Some(identity.clone()));
    assert_eq!((n_missing(&workshop), n_slots(&workshop)), (Some(1), 51));
    assert_eq!(encode(&workshop).unwrap().n_encoded, 1);

    let rebuilt = Workshop::new();
    update(&rebuilt, &lines(51), Some(identity));
    encode(&rebuilt).unwrap();
    for name in ["vectors.bin", "transformer.bin"] {
        let file = |workshop: &Workshop| workshop.open().unwrap().manifest().files[name].clone();
        assert_eq!(file(&workshop), file(&rebuilt), "{name}");
    }
}

#[test]
fn what_is_measured_does_not_depend_on_the_order_in_which_skills_were_indexed() {
    let (updated, rebuilt) = (Workshop::new(), Workshop::new());
    update(&updated, &lines(30)[20..], None);
    update(&updated, &lines(30), None);
    update(&rebuilt, &lines(30), None);
    // Skills of one topic have the same words of such a task.
    for task in ["works on tables", "works on invoices, then on tables"] {
        assert_eq!(signals(&updated, task), signals(&rebuilt, task), "{task}");
    }
}

#[test]
fn vectors_of_another_transformer_are_not_used_and_dropped_where_none_is_wanted() {
    let workshop = Workshop::new();
    update(&workshop, &lines(8), Some(transformer().identity().clone()));
    let other = TermEncoder::new("other");
    Index::encode(&workshop.index_path(), &other, None, &mut |_, _| EncodeStep::Continue).unwrap();
    assert_eq!(cosine(&workshop, "works on tables"), (0.0, 0.0));
    assert_eq!(encode(&workshop).unwrap().n_encoded, 8);
    assert!(cosine(&workshop, "works on tables").0 > 0.5);
    update(&workshop, &lines(8), None);
    assert_eq!(n_missing(&workshop), None);
    assert!(!workshop.open().unwrap().manifest().files.contains_key("transformer.bin"));
}

#[test]
fn what_another_index_knows_is_taken_over() {
    let (whole, part) = (Workshop::new(), Workshop::new());
    update(&whole, &lines(30), None);
    encode(&whole).unwrap();
    update(&part, &lines(40)[20..], None);
    let known = whole.open().unwrap();
    let encode = || {
        let path = part.index_path();
        Index::encode(&path, &transformer(), Some(&known), &mut |_, _| EncodeStep::Continue)
    };
    assert_eq!(encode().unwrap(), EncodeReport { n_encoded: 10, n_known: 10, n_missing: 0 });
    assert_eq!(n_missing(&part), Some(0));
    let encoded = part.open().unwrap();
    assert_eq!(encode().unwrap(), EncodeReport { n_encoded: 0, n_known: 0, n_missing: 0 });
    assert!(encoded.is_current().unwrap(), "there was nothing to take over");
}

#[test]
fn the_generation_to_go_back_to_is_the_one_before_the_update() {
    let workshop = Workshop::new();
    update(&workshop, &sample(), None);
    update(&workshop, &lines(100), None);
    let report =
        Index::encode(&workshop.index_path(), &transformer(), None, &mut |_, _| EncodeStep::Commit);
    assert_eq!(report.unwrap().n_missing, 0);
    assert_eq!(workshop.open().unwrap().n_skills(), 100);
    Index::restore(&workshop.index_path()).unwrap().unwrap();
    assert_eq!(workshop.open().unwrap().n_skills(), sample().len());
}

/// Fails after some texts.
struct Failing(TermEncoder, Mutex<usize>);

impl Encoder for Failing {
    fn identity(&self) -> &EncoderIdentity {
        self.0.identity()
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
        let mut left = self.1.lock().unwrap();
        if *left < texts.len() {
            return Ok(vec![f32::NAN; texts.len() * self.0.dim()]);
        }
        *left -= texts.len();
        self.0.encode(texts)
    }
}

#[test]
fn what_was_committed_before_a_failure_is_not_lost() {
    let workshop = Workshop::new();
    update(&workshop, &lines(200), None);
    let failing = Failing(transformer(), Mutex::new(150));
    let failed =
        Index::encode(&workshop.index_path(), &failing, None, &mut |_, _| EncodeStep::Commit);
    assert!(matches!(failed, Err(Error::EncoderAnswer { .. })), "{failed:?}");
    assert_eq!(n_missing(&workshop), Some(200 - 128));
    assert_eq!(encode(&workshop).unwrap().n_encoded, 200 - 128);
    let library = workshop.write(&lines(200));
    let options = UpdateOptions {
        transformer: Some(transformer().identity().clone()),
        ..options(UpdateMode::Incremental)
    };
    let report = Index::update(&workshop.index_path(), &library, &options, &mut |_| {}).unwrap();
    assert_eq!(report.outcome, UpdateOutcome::Unchanged);
}

#[test]
fn there_must_be_an_index_to_encode() {
    let workshop = Workshop::new();
    assert!(matches!(encode(&workshop), Err(Error::IndexMissing { .. })));
}
