//! [`ValuePager`]: nodes by how likely each is needed.

mod features;
mod lines;
mod scene;
mod weights;

use std::sync::Arc;

use super::{Page, PageRequest, Pager, companion::together, outline::Outline, scene::Scene, share};
use crate::{model::Encoder, skill::Node};

pub use features::NodeFeatures;
pub use weights::NodeWeights;

/// Part of the budget that nodes may take because another one cannot be read without them.
const COMPANION_SHARE: f32 = 0.5;

/// Most selected nodes that others may repeat.
const MAX_REPEATED: usize = 512;

/// Selects the nodes that a learned value holds for needed (`SkillPager` §3.2, with a learned relevance).
///
/// Each node has a probability `p` that the answer to the query needs it, by logistic regression over [`NodeFeatures`]. A page lacks
/// nothing with the probability `∏ (1 − p)` over the nodes that are left out, if they are needed independently of each other. So each
/// next node is the one with the largest
///
/// `−ln(1 − p(n)) · (1 − max sim(s, n)) / √cost(n)`
///
/// over the selected nodes `s`, as long as one fits. `sim` is the cosine squared of tf-idf vectors, as in
/// [`MmrPager`](super::MmrPager); the cost is the tokens of the node and of the headings above it that are not shown yet. A body that
/// fits is returned whole, and a node comes with those that it cannot be read without, as there.
///
/// The square root stands between the most likely nodes and the most for the tokens; it was chosen by cross-validation on the cases
/// that the weights are fitted to.
///
/// Of a body of more than 4096 nodes, only the first 4096 are candidates. An encoder that fails counts as one that knows no word.
#[derive(Debug, Clone)]
pub struct ValuePager {
    weights: NodeWeights,
    encoder: Arc<dyn Encoder>,
}

impl ValuePager {
    /// Returns a pager with these weights, which were fitted with this encoder.
    pub fn new(weights: NodeWeights, encoder: Arc<dyn Encoder>) -> Self {
        Self { weights, encoder }
    }
}

impl Pager for ValuePager {
    fn identity(&self) -> String {
        "value".to_owned()
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let mut pages = self.pages(std::slice::from_ref(request), request.budget_tokens);
        pages.pop().expect("there is a page for each request")
    }

    /// A body that fits its equal share is shown whole, the shortest first. Of the others each has its best node first; then the
    /// node that is worth most among all is next, as long as one fits.
    fn pages(&self, requests: &[PageRequest<'_>], budget_tokens: u32) -> Vec<Page> {
        let mut left = budget_tokens;
        let mut outlines: Vec<Option<Outline<'_>>> =
            requests.iter().map(|request| Some(Outline::new(request))).collect();
        let full_tokens: Vec<u32> = outlines.iter().flatten().map(Outline::full_tokens).collect();
        let mut shortest_first: Vec<usize> = (0..requests.len()).collect();
        shortest_first.sort_by_key(|at| full_tokens[*at]);
        let n_whole = shortest_first.iter().zip((1..=requests.len()).rev());
        let n_whole = n_whole
            .take_while(|(at, n_left)| {
                let fits = full_tokens[**at] <= share(left, *n_left);
                left -= if fits { full_tokens[**at] } else { 0 };
                fits
            })
            .count();
        let (whole, cut) = shortest_first.split_at(n_whole);
        let mut pages: Vec<Option<Page>> = requests.iter().map(|_| None).collect();
        for at in whole {
            pages[*at] = outlines[*at].take().map(Outline::into_whole_page);
        }
        let companion_tokens = COMPANION_SHARE * share(left, cut.len()) as f32;
        let mut cut = cut.to_vec();
        cut.sort_unstable();
        let mut selections: Vec<Selection<'_>> = Vec::with_capacity(cut.len());
        for at in &cut {
            let outline = outlines[*at].take().expect("each outline is taken once");
            selections.push(Selection::new(self, &requests[*at], outline));
        }
        for selection in &mut selections {
            if let Some((best, _)) = selection.best(left) {
                left -= selection.take(best, left, companion_tokens);
            }
        }
        loop {
            let best_of = |(at, selection): (usize, &Selection<'_>)| {
                selection.best(left).map(|(node_idx, worth)| (at, node_idx, worth))
            };
            let bests = selections.iter().enumerate().filter_map(best_of);
            // Of equals the first stays.
            let Some((at, best, _)) =
                bests.reduce(|best, next| if next.2 > best.2 { next } else { best })
            else {
                break;
            };
            left -= selections[at].take(best, left, companion_tokens);
        }
        for (at, selection) in cut.into_iter().zip(selections) {
            pages[at] = Some(selection.outline.into_page());
        }
        pages.into_iter().flatten().collect()
    }
}

/// A page that grows.
struct Selection<'a> {
    outline: Outline<'a>,
    nodes: &'a [Node],
    scene: Scene,
    value: Vec<f32>,
    /// How much each node repeats the selected ones, in `[0, 1]`.
    redundancy: Vec<f32>,
    is_open: Vec<bool>,
    n_selected: usize,
}

impl<'a> Selection<'a> {
    fn new(pager: &ValuePager, request: &PageRequest<'a>, outline: Outline<'a>) -> Self {
        let scene = Scene::new(request, &outline);
        let features = scene::features(request, &outline, &scene, &*pager.encoder);
        let value: Vec<f32> = features.iter().map(|of| pager.weights.loss_without(of)).collect();
        Self {
            nodes: &request.nodes.nodes,
            redundancy: vec![0.0; value.len()],
            is_open: (0..value.len()).map(|idx| outline.text(idx).is_some()).collect(),
            n_selected: 0,
            outline,
            scene,
            value,
        }
    }

    /// Returns the node that is worth most among those that fit, and what it is worth.
    fn best(&self, left_tokens: u32) -> Option<(usize, f32)> {
        let worth = |idx: usize| {
            let cost = self.outline.cost(idx);
            let new = self.value[idx] * (1.0 - self.redundancy[idx]);
            (cost <= left_tokens).then(|| (idx, new / (cost.max(1) as f32).sqrt()))
        };
        let worths = (0..self.value.len()).filter(|idx| self.is_open[*idx]).filter_map(worth);
        // Of equals the first in the source stays.
        worths.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Selects a node with those that it cannot be read without, and returns what they cost.
    fn take(&mut self, node_idx: usize, left_tokens: u32, companion_tokens: f32) -> u32 {
        let before = self.outline.n_tokens();
        self.outline.set_left(left_tokens);
        for selected in together(&self.outline, self.nodes, node_idx, companion_tokens) {
            self.outline.select(selected);
            self.is_open[selected] = false;
            self.n_selected += 1;
            if self.n_selected > MAX_REPEATED {
                continue;
            }
            let cosines = self.scene.nodes[selected].cosines(&self.scene.nodes);
            for (redundancy, cosine) in self.redundancy.iter_mut().zip(cosines) {
                *redundancy = redundancy.max(cosine * cosine);
            }
        }
        self.outline.n_tokens() - before
    }
}

/// Returns the features of the first 4096 nodes of a body, as [`ValuePager`] has them.
pub fn node_features(request: &PageRequest<'_>, encoder: &dyn Encoder) -> Vec<NodeFeatures> {
    let outline = Outline::new(request);
    let scene = Scene::new(request, &outline);
    scene::features(request, &outline, &scene, encoder)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{super::tests::page_of, *};
    use crate::{
        error::{Error, Result},
        model::EncoderIdentity,
        page::TermSource,
        skill::NodeTree,
    };

    /// Knows that cats, dogs and fish are animals, and nothing else.
    #[derive(Debug)]
    struct Animals(EncoderIdentity);

    impl Encoder for Animals {
        fn identity(&self) -> &EncoderIdentity {
            &self.0
        }

        fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
            if texts.iter().any(|text| text.contains("broken")) {
                return Err(Error::Encoder {
                    name: "animals".to_owned(),
                    hint: None,
                    source: "it is broken".into(),
                });
            }
            let animals = ["animal", "cat", "dog", "fish"];
            let row = |text: &&str| {
                let text = text.to_lowercase();
                if animals.iter().any(|animal| text.contains(animal)) {
                    [1.0, 0.0]
                } else {
                    [0.0, 1.0]
                }
            };
            Ok(texts.iter().flat_map(row).collect())
        }
    }

    pub(in crate::page) fn pager() -> ValuePager {
        let weights = NodeFeatures {
            best_line: 2.0,
            place_by_words: 1.0,
            words_before: 0.5,
            meaning: 3.0,
            heading_meaning: 1.0,
            ..NodeFeatures::default()
        };
        let identity = EncoderIdentity { name: "animals".into(), dim: 2, fingerprint: "1".into() };
        ValuePager::new(NodeWeights { bias: -1.0, weights }, Arc::new(Animals(identity)))
    }

    fn texts(body: &str, query: &str, budget: u32) -> Vec<String> {
        let page = page_of(&pager(), body, query, budget);
        page.nodes.into_iter().map(|node| node.text).collect()
    }

    #[test]
    fn words_and_meaning_choose() {
        let body = "Stones lie there.\n\nDogs bark loudly.\n\nClouds pass.\n";
        assert_eq!(texts(body, "which animal is loud", 5), ["Dogs bark loudly."]);
        assert_eq!(texts(body, "clouds", 4), ["Clouds pass."]);
    }

    #[test]
    fn of_two_that_say_the_same_one_is_shown() {
        let body = "Stones fall down.\n\nStones fall down.\n\nOld stones are round.\n";
        assert_eq!(texts(body, "stones", 12), ["Stones fall down.", "Old stones are round."]);
    }

    #[test]
    fn a_body_that_fits_is_whole() {
        let body = "Dogs bark.\n\nClouds pass.\n";
        assert_eq!(texts(body, "clouds", 600).len(), 2);
        assert_eq!(texts(body, "clouds", 4), ["Clouds pass."]);
    }

    #[test]
    fn several_skills_share_a_budget_by_what_their_parts_are_worth() {
        let bodies = [
            "Clouds pass over.\n\nClouds bring rain.\n\nClouds are white things.\n",
            "Stones lie there.\n\nHills are old things.\n\nTrees stand still.\n",
            "Small.\n",
        ];
        let pages = |budget: u32| {
            let skills = bodies.map(super::super::tests::skill);
            let trees = bodies.map(NodeTree::parse);
            let terms = TermSource {
                terms: &|text, visit| text.to_lowercase().split([' ', '.']).for_each(visit),
                idf: &|term| if term.is_empty() { 0.0 } else { 1.0 },
            };
            let requests: Vec<PageRequest<'_>> = skills
                .iter()
                .zip(&trees)
                .map(|(skill, nodes)| PageRequest {
                    skill,
                    nodes,
                    query: "clouds",
                    terms: &terms,
                    budget_tokens: 0,
                })
                .collect();
            let pages = pager().pages(&requests, budget);
            assert!(pages.iter().map(|page| page.n_tokens).sum::<u32>() <= budget);
            pages.iter().map(|page| page.nodes.len()).collect::<Vec<_>>()
        };
        assert_eq!(pages(0), [0, 0, 0]);
        // The small one is whole, each of the others has a part, and the rest goes to the clouds.
        assert_eq!((pages(18), pages(24)), (vec![2, 1, 1], vec![3, 1, 1]));
        assert_eq!(pages(999), [3, 3, 1]);
    }

    #[test]
    fn words_decide_where_the_encoder_fails() {
        let body = "Stones lie there.\n\nClouds pass.\n\nDogs bark.\n";
        assert_eq!(texts(body, "broken clouds", 4), ["Clouds pass."]);
    }
}
