//! [`FullPager`]: the body from its top, as an agent without a pager would read it.

use super::{Page, PageRequest, Pager, outline::Outline};

/// Returns the nodes from the top of the body up to the first that exceeds the budget, whatever
/// the query: the whole body where it fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FullPager;

impl Pager for FullPager {
    fn identity(&self) -> String {
        "full".to_owned()
    }

    fn page(&self, request: &PageRequest<'_>) -> Page {
        let mut outline = Outline::new(request);
        for node_idx in 0..request.nodes.nodes.len() {
            if !outline.is_had(node_idx) && !outline.select(node_idx) {
                break;
            }
        }
        outline.into_page()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{page_of, page_without};
    use super::*;

    #[test]
    fn stops_at_the_first_node_that_does_not_fit() {
        let body = "one two\n\nthree four five six seven\n\neight\n";
        assert_eq!(page_of(&FullPager, body, "eight", 4).to_markdown(), "one two\n\n[...]\n");
        assert_eq!(page_of(&FullPager, body, "eight", 100).nodes.len(), 3);
    }

    #[test]
    fn goes_on_after_what_the_agent_has() {
        let body = "one two\n\nthree four\n\nfive six\n";
        for (had, shown) in [("0", vec![1, 2]), ("1", vec![0, 2]), ("0-1", vec![2])] {
            let page = page_without(&FullPager, body, "six", 100, &had.parse().unwrap());
            let positions: Vec<u32> = page.nodes.iter().map(|node| node.position).collect();
            assert_eq!(positions, shown, "without {had}");
        }
    }
}
