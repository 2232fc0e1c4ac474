//! How systems can be written.

use super::assembly::{Assembly, RankingForm};

/// Every form of a spec, and what it stands for.
const FORMS: [(&str, &str); 10] = [
    ("default", "the whole router, as `skillmux route` runs it"),
    ("tfidf[:nd|:full]", "cosine of TF-IDF vectors; `nd` is name and description only"),
    ("dense[:nd|:full]", "cosine of an encoder's vectors"),
    ("rrf(A,B,...)", "reciprocal rank fusion of systems"),
    (
        "score(A*0.7,B,...)",
        "weighted sum of their scores, each scaled to [0, 1]; `zscore` by deviation",
    ),
    ("trec:FILE", "rankings from a TREC run"),
    ("judge(A)", "a chat model chooses from the best 20 of A"),
    (
        "page:METHOD[/TOKENS or SHARE%]",
        "pages the skill of the task: default, mmr, skill-pager[/lambda=0.7][/k=20], full-document, \
         head, chunk, chunk-topk, greedy-graph or topk-dep",
    ),
    ("vote(A)", "a chat model votes three times on whether what A shows suffices"),
    ("A@K, A@best-k, A@oracle-k", "the first skills of A's ranking as the set to load"),
];

/// Returns every form that a spec can have, with what it stands for; rankings are those of the
/// assembly.
pub fn system_forms(assembly: &dyn Assembly) -> Vec<(String, String)> {
    let rankings = assembly.rankings().into_iter().map(|RankingForm { form, help }| {
        // A form that ends in a path has no room for a text of the skills.
        if form.ends_with("FILE") { (form, help) } else { (format!("{form}[:nd|:full]"), help) }
    });
    let own = FORMS.iter().map(|(form, help)| ((*form).to_owned(), (*help).to_owned()));
    let mut forms: Vec<(String, String)> = own.collect();
    forms.splice(1..1, rankings);
    forms
}

/// Returns the forms alone; without an assembly, one stands for all rankings.
pub(super) fn known_forms(assembly: Option<&dyn Assembly>) -> Vec<String> {
    if let Some(assembly) = assembly {
        return system_forms(assembly).into_iter().map(|(form, _)| form).collect();
    }
    let mut forms: Vec<String> = FORMS.iter().map(|(form, _)| (*form).to_owned()).collect();
    forms.insert(1, "RANKING[:nd|:full]".to_owned());
    forms
}
