//! Counts the tokens that a chat model is sent for the kinds of the parts of a skill.
//!
//! `cargo run --release -p skillmux-models --example chat_kind_cost -- INDEX N_SKILLS`. The skills
//! are spread evenly over the index. No model is asked: what would be sent is counted, and an
//! answer of the right form is counted as one. Tokens are estimates.

#![expect(clippy::print_stdout, reason = "a program whose output is its result")]

use std::{
    error::Error,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use skillmux::{
    index::Index,
    model::{ChatModel, ChatRequest},
    skill::{ChatKinds, KindClassifier, KindFailure, SkillId},
    text::estimate_tokens,
};

/// Counts what it is asked, and says that each part is a step.
#[derive(Default)]
struct Counter {
    requests: AtomicU32,
    tokens_read: AtomicU32,
    tokens_written: AtomicU32,
}

impl ChatModel for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn complete(&self, request: &ChatRequest) -> skillmux::Result<String> {
        let texts = request.messages.iter().map(|message| message.text.as_str());
        let n_read: u32 = texts.map(estimate_tokens).sum();
        let document: serde_json::Value =
            serde_json::from_str(&request.messages[1].text).expect("a question is JSON");
        let n_parts = document["parts"].as_array().map_or(0, Vec::len);
        let answer = serde_json::json!(vec!["step"; n_parts]).to_string();
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.tokens_read.fetch_add(n_read, Ordering::Relaxed);
        self.tokens_written.fetch_add(estimate_tokens(&answer), Ordering::Relaxed);
        Ok(answer)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [index, n_skills] = &arguments[..] else {
        return Err("two arguments: INDEX N_SKILLS".into());
    };
    let (index, n_skills): (Index, usize) = (Index::open(Path::new(index))?, n_skills.parse()?);
    let ids: Vec<SkillId> = index.ids().collect::<Result<_, _>>()?;
    let mut counts: [Vec<u32>; 4] = Default::default();
    for at in 0..n_skills {
        let indexed = index.skill(index.find(&ids[at * ids.len() / n_skills])?)?;
        if indexed.nodes.nodes.is_empty() {
            continue;
        }
        let counter = Arc::new(Counter::default());
        let on_failure = |failure: &KindFailure<'_>| println!("failed: {}", failure.error);
        let kinds = ChatKinds::new(Arc::clone(&counter) as _, Box::new(on_failure));
        kinds.kinds(&indexed.skill.body, &indexed.nodes);
        let n_parts = u32::try_from(indexed.nodes.nodes.len())?;
        let of = [&counter.requests, &counter.tokens_read, &counter.tokens_written];
        let of = of.map(|count| count.load(Ordering::Relaxed));
        for (counts, count) in counts.iter_mut().zip([n_parts, of[0], of[1], of[2]]) {
            counts.push(count);
        }
    }
    println!("{} skills with a body", counts[0].len());
    let names = ["parts", "requests", "tokens sent", "tokens of the answers"];
    for (name, counts) in names.iter().zip(&mut counts) {
        counts.sort_unstable();
        let at = |percent: usize| counts[(counts.len() - 1) * percent / 100];
        let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        println!("{name}: mean {mean:.1}, median {}, p99 {}", at(50), at(99));
    }
    Ok(())
}
