//! [`MmrPager`]: nodes that serve the query and do not repeat each other.

use super::{
    Page, PageRequest, Pager,
    companion::together,
    outline::{Extent, Outline},
    scene::{MAX_COMPARED, Repeats, Scene},
};
use crate::skill::{Node, NodeKind};

/// Weights and limits of [`MmrPager`].
#[derive(Debug, Clone, PartialEq)]
pub struct MmrConfig {
    /// A body of up to this many tokens is returned whole, where it fits the budget; `u32::MAX`
    /// returns every body whole that fits: an agent that reads all of a skill misses nothing.
    pub whole_tokens: u32,
    /// Weight of relevance against diversity in `[0, 1]`, λ of `SkillPager` §3.2, Eq. 2; 0.7 is the
    /// knee of its Table 6.
    pub lambda: f32,
    /// Lowest score that is still selected, 0 in `SkillPager` §3.2, Eq. 3; more saves tokens, and
    /// from about 0.1 leaves out what matches the query by kind alone.
    pub min_score: f32,
    /// Most nodes of a body of up to [`large_nodes`](Self::large_nodes) nodes: 20 in `SkillPager`
    /// §3.2, Eq. 4.
    pub max_nodes: usize,
    /// Most nodes of a larger body: 60 in Eq. 4.
    pub max_nodes_large: usize,
    /// Most nodes of a body that is not large (Eq. 4).
    pub large_nodes: usize,
    /// Weight of the headings above a node against its own text, which weighs 1.
    pub heading_weight: f32,
    /// Relevance of a node by its kind alone.
    pub prior: KindPrior,
    /// Part of the budget in `[0, 1]` that nodes may take because another one cannot be read
    /// without them: its code, the steps before it, the head of its table, its conditions. 0
    /// selects each node for itself.
    pub companion_share: f32,
}

impl Default for MmrConfig {
    fn default() -> Self {
        Self {
            whole_tokens: u32::MAX,
            lambda: 0.7,
            min_score: 0.0,
            max_nodes: usize::MAX,
            max_nodes_large: usize::MAX,
            large_nodes: 100,
            heading_weight: 0.5,
            prior: KindPrior::default(),
            companion_share: 0.5,
        }
    }
}

impl MmrConfig {
    /// Returns the weights and limits of `SkillPager` §3.2: 20 nodes, or 60 of a body of more than
    /// 100, each for itself, and by its text alone.
    pub fn skill_pager() -> Self {
        let prior = KindPrior {
            step: 0.0,
            example: 0.0,
            param: 0.0,
            precondition: 0.0,
            error_handling: 0.0,
            concept: 0.0,
        };
        Self {
            whole_tokens: 0,
            max_nodes: 20,
            max_nodes_large: 60,
            heading_weight: 0.0,
            prior,
            companion_share: 0.0,
            ..Self::default()
        }
    }
}

/// Relevance of each kind of node to any query, on a scale where the node that matches the query
/// best has about 1.
///
/// The paper has no prior. It is small enough that a match in words outranks it, and decides
/// where nothing matches: what to ensure and what to do come first. Background has none: it stays
/// among the candidates and is selected where the query asks for it (`SkillPager` §5.2.2).
#[derive(Debug, Clone, PartialEq)]
pub struct KindPrior {
    /// For [`NodeKind::Step`].
    pub step: f32,
    /// For [`NodeKind::Example`].
    pub example: f32,
    /// For [`NodeKind::Param`].
    pub param: f32,
    /// For [`NodeKind::Precondition`].
    pub precondition: f32,
    /// For [`NodeKind::ErrorHandling`].
    pub error_handling: f32,
    /// For [`NodeKind::Concept`], and for any kind that is not listed.
    pub concept: f32,
}

impl Default for KindPrior {
    fn default() -> Self {
        Self {
            step: 0.15,
            example: 0.06,
            param: 0.08,
            precondition: 0.15,
            error_handling: 0.06,
            concept: 0.0,
        }
    }
}

impl KindPrior {
    /// Returns the prior of `kind`.
    pub fn of(&self, kind: NodeKind) -> f32 {
        match kind {
            NodeKind::Step => self.step,
            NodeKind::Example => self.example,
            NodeKind::Param => self.param,
            NodeKind::Precondition => self.precondition,
            NodeKind::ErrorHandling => self.error_handling,
            NodeKind::Concept => self.concept,
        }
    }
}

/// Selects nodes by maximal marginal relevance (`SkillPager` §3.2): each next node is the one that
/// serves the query most and repeats the selected ones least.
///
/// A node `n` scores `λ · rel(n) − (1 − λ) · max sim(s, n)` over the selected nodes `s` (Eq. 2),
/// and selection ends when the best score is below [`MmrConfig::min_score`] (Eq. 3), at
/// [`MmrConfig::max_nodes`], or when nothing more fits the budget; a node that does not fit is
/// passed over for the next best. A body that fits is returned whole.
///
/// Where the paper has embeddings, cosines are those of tf-idf vectors, and that changes two
/// things. `sim` is the cosine squared: nodes on the topic of the query share its words, which
/// alone is no repetition. And relevance is
///
/// `rel(n) = cos(q, n) / c + heading_weight · cos(q, headings above n) / h + prior(kind of n)`
///
/// where `c` and `h` are the largest of these cosines in the skill, so that a short query and a
/// long one are alike in scale.
///
/// A node comes with those that it cannot be read without: the text before code, the code after
/// text, the steps before a numbered one, the head of a table, and short conditions beside a step.
/// If they take more than [`MmrConfig::companion_share`] of the budget, or do not fit, it comes
/// with its code or the text before it; if that does not fit either, alone.
///
/// A query that shares no term with the body is answered by the priors alone, without the
/// penalty for repeats and without a lowest score: preconditions and steps from the top.
///
/// Of a body of more than 4096 nodes, only the first 4096 are candidates.
///
/// Cost: one pass over the terms of the body, then nodes times selected nodes; 0.5 ms for a body
/// of 60 nodes, 2 ms for one of 400.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MmrPager {
    config: MmrConfig,
}

impl MmrPager {
    /// Returns a pager with these weights; a weight that is NaN or infinite counts as 0.
    pub fn new(mut config: MmrConfig) -> Self {
        let KindPrior { step, example, param, precondition, error_handling, concept } =
            &mut config.prior;
        for weight in [
            &mut config.lambda,
            &mut config.min_score,
            &mut config.heading_weight,
            &mut config.companion_share,
            step,
            example,
            param,
            precondition,
            error_handling,
            concept,
        ] {
            if !weight.is_finite() {
                *weight = 0.0;
            }
        }
        Self { config }
    }

    /// Returns each node's relevance, and whether the query shares a term with the skill.
    fn relevances(&self, scene: &Scene, nodes: &[Node]) -> (Vec<f32>, bool) {
        let largest = |cosines: &[f32]| cosines.iter().copied().fold(0.0, f32::max);
        let (text_scale, heading_scale) =
            (largest(&scene.text_cosines), largest(&scene.heading_cosines));
        if text_scale.max(heading_scale) <= f32::EPSILON {
            return (nodes.iter().map(|node| self.config.prior.of(node.kind)).collect(), false);
        }
        let relevance = |(node, text): (&Node, &f32)| {
            let section = node.section.and_then(|idx| scene.heading_cosines.get(idx as usize));
            let heading = section.copied().unwrap_or(0.0) / heading_scale.max(f32::EPSILON);
            text / text_scale.max(f32::EPSILON)
                + self.config.heading_weight * heading
                + self.config.prior.of(node.kind)
        };
        (nodes.iter().zip(&scene.text_cosines).map(relevance).collect(), true)
    }
}

impl Pager for MmrPager {
    fn identity(&self) -> String {
        "mmr".to_owned()
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let mut outline = Outline::new(request);
        let n_nodes = request.nodes.nodes.len();
        if outline.open_tokens() <= self.config.whole_tokens.min(request.budget_tokens) {
            return outline.into_whole_page();
        }
        let scene = Scene::new(request, &outline);
        let (relevance, matches) = self.relevances(&scene, &request.nodes.nodes);
        // With nothing to match, the penalty would choose by what differs, and the floor nothing.
        let MmrConfig { lambda, min_score, .. } = self.config;
        let (lambda, min_score) = if matches { (lambda, min_score) } else { (1.0, f32::MIN) };
        let is_large = n_nodes > self.config.large_nodes;
        let max_nodes = if is_large { self.config.max_nodes_large } else { self.config.max_nodes };
        let companion_tokens = self.config.companion_share * request.budget_tokens as f32;
        let n_compared = n_nodes.min(MAX_COMPARED);
        let mut repeats = Repeats::new(n_compared);
        for had in (0..n_compared).filter(|idx| outline.is_had(*idx)) {
            repeats.add(&scene, had);
        }
        let mut n_selected = 0;
        while n_selected < max_nodes {
            let score =
                |idx: usize| lambda * relevance[idx] - (1.0 - lambda) * repeats.of_nodes[idx];
            let fits =
                |idx: &usize| outline.is_open(*idx) && outline.cost(*idx) <= outline.left_tokens();
            let scored = (0..n_compared).filter(fits).map(|idx| (idx, score(idx)));
            // Of equal scores the first in the source stays.
            let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
            let Some((best, _)) = best.filter(|(_, score)| *score >= min_score) else {
                break;
            };
            let mut all = together(&outline, &request.nodes.nodes, best, companion_tokens).choices;
            if all.len() > max_nodes - n_selected {
                all = vec![(best, Extent::Whole)];
            }
            for (selected, extent) in all {
                outline.select_as(selected, extent);
                n_selected += 1;
                repeats.add(&scene, selected);
            }
        }
        outline.into_page()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::page_of;
    use super::*;

    fn never_whole() -> MmrConfig {
        MmrConfig { whole_tokens: 0, ..MmrConfig::default() }
    }

    fn texts(config: MmrConfig, body: &str, query: &str, budget: u32) -> Vec<String> {
        let page = page_of(&MmrPager::new(config), body, query, budget);
        page.nodes.into_iter().map(|node| node.text).collect()
    }

    #[test]
    fn nodes_that_match_the_query_come_first() {
        let body = "Cats sleep.\n\nDogs bark.\n\nFish swim.\n";
        assert_eq!(texts(never_whole(), body, "fish", 4), ["Fish swim."]);
    }

    #[test]
    fn a_table_of_contents_matches_nothing() {
        let body = "- [Fish](#fish)\n- [Cats](#cats)\n\nSome fish swim about in here.\n";
        assert_eq!(texts(never_whole(), body, "fish", 9), ["Some fish swim about in here."]);
    }

    #[test]
    fn headings_make_their_nodes_relevant() {
        let body = "## Fish\n\nThey swim.\n\n## Birds\n\nThey fly.\n";
        assert_eq!(texts(never_whole(), body, "birds", 7), ["They fly."]);
    }

    #[test]
    fn repeats_lose_to_what_is_new() {
        let body = "Merge two scans.\n\nMerge two scans, too.\n\nAll scans have pages.\n";
        let config = MmrConfig { lambda: 0.5, ..never_whole() };
        let selected = texts(config, body, "merge scans", 11);
        assert_eq!(selected, ["Merge two scans.", "All scans have pages."]);
    }

    #[test]
    fn a_query_without_a_match_gets_steps_from_the_top() {
        let body = "Scans are images.\n\n- Open one.\n\nMore on images.\n\n- Close it.\n\nYou must own it.\n";
        let selected = texts(never_whole(), body, "quantum", 16);
        assert_eq!(selected, ["- Open one.", "- Close it.", "You must own it."]);
        let strict = MmrConfig { min_score: 0.9, ..never_whole() };
        assert_eq!(texts(strict, "Scans are images.\n", "quantum", 9).len(), 1);
    }

    #[test]
    fn code_comes_with_the_text_before_it() {
        let body = "Rotate the pages like so.\n\n```\nabc\n```\n\nOther words.\n\n- And\n- these\n";
        let selected = texts(never_whole(), body, "rotate", 15);
        assert_eq!(selected, ["Rotate the pages like so.", "```\nabc\n```"]);
        assert_eq!(texts(never_whole(), body, "abc", 15), selected);
    }

    #[test]
    fn a_node_that_does_not_fit_is_passed_over() {
        let body = format!("Fish {}\n\nFish swim.\n", "swim on ".repeat(90));
        assert_eq!(texts(never_whole(), &body, "fish", 20), ["Fish swim."]);
    }

    #[test]
    fn only_the_paper_caps_the_number_of_nodes() {
        let body = |n: u8| (0..n).map(|n| format!("fish w{n}")).collect::<Vec<_>>().join("\n\n");
        assert_eq!(texts(MmrConfig::skill_pager(), &body(100), "fish", 9_000).len(), 20);
        assert_eq!(texts(MmrConfig::skill_pager(), &body(101), "fish", 9_000).len(), 60);
        assert_eq!(texts(never_whole(), &body(101), "fish", 9_000).len(), 101);
    }

    #[test]
    fn code_past_the_last_compared_node_is_no_partner() {
        let body = format!("{}Fish swim.\n\n```\nfish\n```\n", "x\n\n".repeat(MAX_COMPARED - 1));
        let config = MmrConfig { max_nodes_large: 2, companion_share: 1.0, ..never_whole() };
        assert_eq!(texts(config, &body, "fish", 50), ["x", "Fish swim."]);
    }

    #[test]
    fn bodies_are_whole_unless_the_budget_is_shorter() {
        let body = "Cats sleep.\n\nDogs bark.\n\nFish swim.\n";
        assert_eq!(texts(MmrConfig::default(), body, "fish", 600).len(), 3);
        assert_eq!(texts(MmrConfig::default(), body, "fish", 4).len(), 1);
    }

    #[test]
    fn weights_that_are_no_numbers_count_as_zero() {
        let config = MmrConfig { lambda: f32::NAN, heading_weight: f32::INFINITY, ..never_whole() };
        let pager = MmrPager::new(config);
        assert_eq!(pager.config.lambda.to_bits(), 0);
        assert_eq!(pager.config.heading_weight.to_bits(), 0);
    }
}
