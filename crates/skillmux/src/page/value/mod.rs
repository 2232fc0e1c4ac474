//! [`ValuePager`]: nodes by how likely each is needed.

mod clauses;
mod features;
mod lines;
mod meaning;
mod numbers;
mod scene;
mod weights;

use std::{ops::Range, sync::Arc};

use self::meaning::{LastBodies, Meaning};
use super::{
    LeftOutSection, Page, PageRequest, Pager,
    companion::{guards_around, together},
    outline::{Extent, Outline},
    scene::{Repeats, Scene},
    share,
};
use crate::{
    model::{Encoder, TokenEncoder, fingerprint},
    skill::Node,
};

pub use features::NodeFeatures;
pub use weights::{LeftOutValue, NodeWeights, PagerWeights, SufficiencyWeights};

/// Part of the budget that nodes may take because another one cannot be read without them.
const COMPANION_SHARE: f32 = 0.5;

/// Part of these tokens that the headings of the steps before a numbered section may take.
const HEADING_SHARE: f32 = 0.1;

/// Most tokens of a section that is selected whole.
const MAX_UNIT_TOKENS: u32 = 300;

/// The same in tenths of the budget.
const UNIT_TENTHS: u32 = 6;

/// Selects the nodes that a learned value holds for needed (`SkillPager` §3.2, with a learned
/// relevance).
///
/// Each node has a probability `p` that the answer to the query needs it, by logistic regression
/// over [`NodeFeatures`]. A page lacks nothing with the probability `∏ (1 − p)` over the nodes that
/// are left out, if they are needed independently of each other.
///
/// Nodes are selected in units: what a section has of its own, if that is at most 300 tokens and
/// six tenths of the budget; of a longer section each node, with those that it cannot be read
/// without, as in [`MmrPager`](super::MmrPager). So few sections are cut, and what stands together
/// is read together. A node whose companions do not fit, not even in short, is left out, unless it
/// is the first. The next unit is the one with the largest
///
/// `Σ −ln(1 − p(n)) · (1 − max sim(s, n)) / √cost`
///
/// over its nodes `n` and the selected nodes `s`, as long as one fits. `sim` is the cosine squared
/// of tf-idf vectors; the cost is the tokens of the nodes and of the headings above them that are
/// not shown yet. A body that fits is returned whole. While nothing is selected, a node of a
/// section that does not fit is a unit, too.
///
/// The square root stands between the most likely nodes and the most for the tokens; it was chosen
/// by cross-validation on the cases that the weights are fitted to.
///
/// Of a body of more than 4096 nodes, only the first 4096 are candidates. An encoder that fails
/// counts as one that knows no word.
///
/// [With a token encoder](Self::with_tokens) nodes are compared token by token, which tells more
/// and takes longer. It does not read bodies of more than 256 nodes, nor queries that say nothing
/// to it; these are compared as without it. Clones share what was read.
#[derive(Debug, Clone)]
pub struct ValuePager {
    texts: Reading<dyn Encoder>,
    tokens: Option<Reading<dyn TokenEncoder>>,
    last: Arc<LastBodies>,
}

/// An encoder that reads nodes, and the weights that were fitted with it.
#[derive(Debug)]
struct Reading<E: ?Sized> {
    weights: NodeWeights,
    encoder: Arc<E>,
}

impl<E: ?Sized> Clone for Reading<E> {
    fn clone(&self) -> Self {
        Self { weights: self.weights.clone(), encoder: Arc::clone(&self.encoder) }
    }
}

/// The features of the first 4096 nodes of a body for a query, and what weighs them.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeValues {
    /// In the order of the nodes.
    pub features: Vec<NodeFeatures>,
    /// Those of the encoder that has read the nodes.
    pub weights: NodeWeights,
}

impl ValuePager {
    /// Returns a pager with these weights, which were fitted with this encoder.
    pub fn new(weights: NodeWeights, encoder: Arc<dyn Encoder>) -> Self {
        Self { texts: Reading { weights, encoder }, tokens: None, last: Arc::default() }
    }

    /// Returns the pager with an encoder that reads tokens, and the weights that were fitted with
    /// it.
    #[must_use]
    pub fn with_tokens(self, weights: NodeWeights, encoder: Arc<dyn TokenEncoder>) -> Self {
        Self { tokens: Some(Reading { weights, encoder }), last: Arc::default(), ..self }
    }

    /// Returns the pager with other weights, for each way in which it reads nodes: to fit them.
    #[must_use]
    pub fn with_weights(mut self, weights: NodeWeights) -> Self {
        if let Some(tokens) = &mut self.tokens {
            tokens.weights = weights.clone();
        }
        self.texts.weights = weights;
        self
    }

    /// Returns what the pager makes of the nodes of a body.
    pub fn values(&self, request: &PageRequest<'_>) -> NodeValues {
        let outline = Outline::new(request);
        self.values_in(request, &outline, &Scene::new(request, &outline))
    }

    fn values_in(
        &self,
        request: &PageRequest<'_>,
        outline: &Outline<'_>,
        scene: &Scene,
    ) -> NodeValues {
        let by_tokens = self.tokens.as_ref().and_then(|Reading { weights, encoder }| {
            Some((Meaning::of_tokens(request, outline, &**encoder, &self.last)?, weights))
        });
        let (meaning, weights) = by_tokens.unwrap_or_else(|| {
            let Reading { weights, encoder } = &self.texts;
            (Meaning::of_texts(request, outline, &**encoder), weights)
        });
        NodeValues {
            features: scene::features(request, outline, scene, &meaning),
            weights: weights.clone(),
        }
    }
}

impl Pager for ValuePager {
    fn identity(&self) -> String {
        let of_texts = format!("value {}", fingerprint(&self.texts.weights));
        match &self.tokens {
            None => of_texts,
            Some(Reading { weights, encoder }) => {
                let encoder = encoder.identity().short();
                format!("{of_texts} tokens {encoder} {}", fingerprint(weights))
            }
        }
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let mut pages = self.pages(std::slice::from_ref(request), request.budget_tokens);
        pages.pop().expect("there is a page for each request")
    }

    /// A body that fits its equal share is shown whole, the shortest first. Of the others each has
    /// its best unit first, if one fits; then the unit that is worth most among all is next, as
    /// long as one fits.
    fn pages(&self, requests: &[PageRequest<'_>], budget_tokens: u32) -> Vec<Page> {
        let outlines: Vec<Outline<'_>> = requests.iter().map(Outline::new).collect();
        let open_tokens: Vec<u32> = outlines.iter().map(Outline::open_tokens).collect();
        let (is_whole, mut left) = whole_ones(&open_tokens, budget_tokens);
        let n_cut = is_whole.iter().filter(|is_whole| !**is_whole).count();
        let share_tokens = share(left, n_cut);
        let companion_tokens = COMPANION_SHARE * share_tokens as f32;
        let mut drafts: Vec<Draft<'_>> = outlines
            .into_iter()
            .zip(requests)
            .zip(is_whole)
            .map(|((outline, request), is_whole)| {
                if is_whole {
                    Draft::Whole(outline)
                } else {
                    Draft::Cut(Box::new(Selection::new(self, request, outline, share_tokens)))
                }
            })
            .collect();
        let mut cut: Vec<&mut Selection<'_>> = drafts.iter_mut().filter_map(Draft::cut).collect();
        for selection in &mut cut {
            if let Some((best, _)) = selection.best(left) {
                left -= selection.take(best, left, companion_tokens);
            }
        }
        while let Some((at, best)) = best_of_all(&cut, left) {
            left -= cut[at].take(best, left, companion_tokens);
        }
        let page = |draft| match draft {
            Draft::Whole(outline) => self.whole_page(outline),
            Draft::Cut(selection) => selection.into_page(),
        };
        drafts.into_iter().map(page).collect()
    }
}

impl ValuePager {
    fn whole_page(&self, outline: Outline<'_>) -> Page {
        Page {
            sufficiency: self.texts.weights.sufficiency.map(|_| 1.0),
            ..outline.into_whole_page()
        }
    }
}

/// Tells which bodies fit an equal share of the tokens, the shortest first, and returns what they
/// leave to the others.
fn whole_ones(sizes: &[u32], budget_tokens: u32) -> (Vec<bool>, u32) {
    let mut shortest_first: Vec<usize> = (0..sizes.len()).collect();
    shortest_first.sort_by_key(|at| sizes[*at]);
    let (mut is_whole, mut left) = (vec![false; sizes.len()], budget_tokens);
    for (at, n_left) in shortest_first.into_iter().zip((1..=sizes.len()).rev()) {
        if sizes[at] > share(left, n_left) {
            break;
        }
        is_whole[at] = true;
        left -= sizes[at];
    }
    (is_whole, left)
}

/// Returns the unit that is worth most, and the position of its page; of equals the first.
fn best_of_all(cut: &[&mut Selection<'_>], left_tokens: u32) -> Option<(usize, Range<usize>)> {
    let best_of = |(at, selection): (usize, &&mut Selection<'_>)| {
        selection.best(left_tokens).map(|(unit, worth)| (at, unit, worth))
    };
    let bests = cut.iter().enumerate().filter_map(best_of);
    let (at, unit, _) = bests.reduce(|best, next| if next.2 > best.2 { next } else { best })?;
    Some((at, unit))
}

/// A page under way.
enum Draft<'a> {
    Whole(Outline<'a>),
    Cut(Box<Selection<'a>>),
}

impl<'a> Draft<'a> {
    fn cut(&mut self) -> Option<&mut Selection<'a>> {
        match self {
            Self::Whole(_) => None,
            Self::Cut(selection) => Some(selection),
        }
    }
}

/// A page that grows.
struct Selection<'a> {
    outline: Outline<'a>,
    nodes: &'a [Node],
    scene: Scene,
    weights: NodeWeights,
    value: Vec<f32>,
    repeats: Repeats,
    /// The share of the budget that this page would have alone.
    share_tokens: u32,
    /// What is selected together, in the order of the source.
    units: Vec<Range<usize>>,
}

impl<'a> Selection<'a> {
    fn new(
        pager: &ValuePager,
        request: &PageRequest<'a>,
        outline: Outline<'a>,
        share_tokens: u32,
    ) -> Self {
        let scene = Scene::new(request, &outline);
        let NodeValues { features, weights } = pager.values_in(request, &outline, &scene);
        let value: Vec<f32> = features.iter().map(|of| weights.loss_without(of)).collect();
        let mut repeats = Repeats::new(value.len());
        for had in (0..value.len()).filter(|idx| outline.is_had(*idx)) {
            repeats.add(&scene, had);
        }
        let nodes = &request.nodes.nodes;
        let max_tokens = MAX_UNIT_TOKENS.min(share_tokens.saturating_mul(UNIT_TENTHS) / 10);
        let units = units(&nodes[..value.len()], max_tokens);
        Self { outline, nodes, scene, weights, value, repeats, share_tokens, units }
    }

    /// Returns the unit that is worth most among those that fit, and what it is worth. While
    /// nothing is selected, a node of a section that does not fit is a unit, too.
    fn best(&self, left_tokens: u32) -> Option<(Range<usize>, f32)> {
        let best = |units: &mut dyn Iterator<Item = Range<usize>>| {
            let worths =
                units.filter_map(|unit| Some((unit.clone(), self.worth(unit, left_tokens)?)));
            // Of equals the first in the source stays.
            worths.reduce(|best, next| if next.1 > best.1 { next } else { best })
        };
        let found = best(&mut self.units.iter().cloned());
        if found.is_none() && self.outline.n_tokens() == 0 {
            return best(&mut (0..self.value.len()).map(|idx| idx..idx + 1));
        }
        found
    }

    /// Returns what the nodes of a unit are worth that are not selected yet; `None` if there are
    /// none, or they do not fit.
    fn worth(&self, unit: Range<usize>, left_tokens: u32) -> Option<f32> {
        let open = self.open(unit);
        let cost = self.outline.cost_of(&open);
        if open.is_empty() || cost > left_tokens {
            return None;
        }
        let new =
            open.iter().map(|(idx, _)| self.value[*idx] * (1.0 - self.repeats.of_nodes[*idx]));
        Some(new.sum::<f32>() / (cost.max(1) as f32).sqrt())
    }

    fn open(&self, unit: Range<usize>) -> Vec<(usize, Extent)> {
        unit.filter(|idx| self.outline.is_open(*idx)).map(|idx| (idx, Extent::Whole)).collect()
    }

    /// Selects a unit with what it cannot be read without, and returns what that costs. A node
    /// whose companions do not fit is a unit no more, unless nothing else is selected.
    fn take(&mut self, unit: Range<usize>, left_tokens: u32, companion_tokens: f32) -> u32 {
        let before = self.outline.n_tokens();
        self.outline.set_left(left_tokens);
        let first = unit.start;
        let choices = if unit.len() == 1 {
            let all = together(&self.outline, self.nodes, first, companion_tokens);
            if !all.is_complete && before > 0 {
                self.units.retain(|other| *other != unit);
                return 0;
            }
            all.choices
        } else {
            self.open(unit)
        };
        for (selected, extent) in choices {
            self.select(selected, extent);
        }
        for guard in guards_around(&self.outline, self.nodes, first) {
            let cost = self.outline.cost_of(&[(guard, Extent::Whole)]);
            if self.outline.is_open(guard) && cost as f32 <= companion_tokens {
                self.select(guard, Extent::Whole);
            }
        }
        self.outline.show_steps_before(first, HEADING_SHARE * companion_tokens);
        self.outline.n_tokens() - before
    }

    fn select(&mut self, node_idx: usize, extent: Extent) {
        if self.outline.select_as(node_idx, extent) && extent == Extent::Whole {
            self.repeats.add(&self.scene, node_idx);
        }
    }

    fn into_page(self) -> Page {
        let is_left_out = |idx: &usize| self.outline.is_open(*idx);
        let left_out = (0..self.value.len()).filter(is_left_out);
        let losses = left_out.map(|idx| (self.value[idx], self.nodes[idx].n_tokens));
        let left_out = LeftOutValue::of(losses, self.outline.full_tokens());
        let best = (0..self.value.len())
            .reduce(|best, next| if self.value[next] > self.value[best] { next } else { best });
        let best_left_out = best.filter(is_left_out).and_then(|idx| {
            let n_tokens = self.outline.cost_alone(idx);
            let heading = self.outline.heading_of(idx);
            (n_tokens > self.share_tokens).then_some(LeftOutSection { heading, n_tokens })
        });
        let sufficiency = self.weights.sufficiency.map(|weights| weights.probability(&left_out));
        Page { best_left_out, sufficiency, ..self.outline.into_page() }
    }
}

/// Returns what is selected together: the nodes of each section that has no more tokens of its own,
/// and each node of other sections.
fn units(nodes: &[Node], max_tokens: u32) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let mut start = 0;
    for section in nodes.chunk_by(|a, b| a.section == b.section) {
        let end = start + section.len();
        let n_tokens = section.iter().map(|node| node.n_tokens).fold(0, u32::saturating_add);
        if n_tokens <= max_tokens {
            units.push(start..end);
        } else {
            units.extend((start..end).map(|idx| idx..idx + 1));
        }
        start = end;
    }
    units
}

#[cfg(test)]
pub(super) mod tests {
    use super::{super::tests::page_of, meaning::tests::Letters, *};
    use crate::{
        error::{Error, Result},
        model::{EncoderIdentity, Trees},
        page::{PartList, TermSource},
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
        ValuePager::new(
            NodeWeights { bias: -1.0, weights, trees: Trees::default(), sufficiency: None },
            Arc::new(Animals(identity)),
        )
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
                    had: PartList::none(),
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
    fn what_is_needed_most_and_does_not_fit_is_named() {
        let body = format!("# A\n\nStones lie.\n\n## Dogs\n\nDogs {}.\n", "bark ".repeat(80));
        let page = page_of(&pager(), &body, "dogs bark", 30);
        let best = page.best_left_out.unwrap();
        assert_eq!((best.heading.as_str(), best.n_tokens > 30), ("Dogs", true));
        assert_eq!(page_of(&pager(), &body, "stones", 30).best_left_out, None);
        assert_eq!(page_of(&pager(), &body, "dogs bark", 300).best_left_out, None);
    }

    #[test]
    fn a_page_that_leaves_out_less_is_likelier_to_suffice() {
        let weights = SufficiencyWeights { bias: 0.5, sum: -1.0, largest: -0.5, share: -2.0 };
        let value = pager();
        let weights = NodeWeights { sufficiency: Some(weights), ..value.texts.weights.clone() };
        let pager = ValuePager::new(weights, value.texts.encoder);
        let body = "Stones lie there.\n\nDogs bark loudly.\n\nClouds pass.\n";
        let likely = |budget| page_of(&pager, body, "dogs", budget).sufficiency.unwrap();
        assert!(likely(0) < likely(5) && likely(5) < likely(9) && likely(9) < likely(99));
        assert!((likely(99) - 1.0).abs() < 1e-6);
        assert_eq!(page_of(&self::pager(), body, "dogs", 5).sufficiency, None);
    }

    #[test]
    fn short_sections_are_selected_whole() {
        let body = "# A\n\n## Stones\n\nStones lie.\n\nThey are old.\n\n## Dogs\n\nDogs bark.\n\nThey run.\n";
        assert_eq!(texts(body, "dogs bark", 16), ["Dogs bark.", "They run."]);
        let nodes = NodeTree::parse(body).nodes;
        let tokens = |at: usize| nodes[at].n_tokens + nodes[at + 1].n_tokens;
        assert!(tokens(2) < tokens(0));
        assert_eq!(units(&nodes, tokens(0)), [0..2, 2..4]);
        assert_eq!(units(&nodes, tokens(2)), [0..1, 1..2, 2..4]);
        assert_eq!(units(&nodes, 0).len(), 4);
    }

    #[test]
    fn tokens_are_compared_where_an_encoder_reads_them() {
        let value = pager();
        let weights = NodeFeatures { meaning: 3.0, token_share: 1.0, ..NodeFeatures::default() };
        let weights = NodeWeights { bias: -1.0, weights, ..value.texts.weights.clone() };
        let pager = value.with_tokens(weights, Arc::new(Letters::default()));
        let shown = |body: &str, query: &str| {
            let page = page_of(&pager, body, query, 3);
            page.nodes.into_iter().map(|node| node.text).collect::<Vec<_>>()
        };
        let body = "Xxx.\n\nYyy.\n\nZzz.\n";
        assert_eq!(shown(body, "yyyy"), ["Yyy."]);
        assert_eq!(shown(body, "z"), ["Zzz."]);
        // Of a body of many nodes, words decide.
        let long = format!("{}{body}", "Www.\n\n".repeat(256));
        assert_eq!(shown(&long, "yyyy").len(), 1);
        assert_ne!(shown(&long, "yyyy"), ["Yyy."]);
    }

    #[test]
    fn a_clone_reads_no_body_again() {
        let (value, encoder) = (pager(), Arc::new(Letters::default()));
        let pager = value.clone().with_tokens(value.texts.weights, encoder.clone());
        let body = "Xxx.\n\nYyy.\n\nZzz.\n";
        let page = page_of(&pager, body, "yyyy", 3);
        let n_read = encoder.n_read();
        assert!(n_read > 0);
        assert_eq!(page_of(&pager.clone(), body, "yyyy", 3), page);
        assert_eq!(encoder.n_read(), n_read);
    }

    #[test]
    fn words_decide_where_the_encoder_fails() {
        let body = "Stones lie there.\n\nClouds pass.\n\nDogs bark.\n";
        assert_eq!(texts(body, "broken clouds", 4), ["Clouds pass."]);
    }
}
