//! [`of_clauses`]: how near nodes are to the clauses of a query, each by itself.

use super::numbers::{places, shares, standardised};

/// How near a node is to the clauses of a query; see [`NodeFeatures`](super::NodeFeatures).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OfClauses {
    pub(super) meaning: f32,
    pub(super) place: f32,
    pub(super) rise: f32,
    pub(super) best_share: f32,
    pub(super) share: f32,
}

/// Returns how near each node is to the clauses, from the meaning of each node for each clause,
/// `[clauses, nodes]`. Nothing without a clause.
pub(super) fn of_clauses(meanings: &[Vec<f32>]) -> Vec<OfClauses> {
    let farthest = OfClauses {
        meaning: f32::NEG_INFINITY,
        place: 0.0,
        rise: f32::NEG_INFINITY,
        best_share: 0.0,
        share: 0.0,
    };
    let n_nodes = meanings.first().map_or(0, Vec::len);
    let mut of_nodes = vec![farthest; n_nodes];
    for of_clause in meanings {
        let best = of_clause.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let (places, rises) = (places(of_clause), standardised(of_clause));
        let shares = shares(of_clause);
        for (idx, node) in of_nodes.iter_mut().enumerate() {
            node.meaning = node.meaning.max(of_clause[idx] - best);
            node.place = node.place.max(1.0 / places[idx]);
            node.rise = node.rise.max(rises[idx]);
            node.best_share = node.best_share.max(shares[idx]);
            node.share += shares[idx] / meanings.len() as f32;
        }
    }
    of_nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_counts_by_the_clause_that_it_answers_best() {
        // The second node is nearest to the second clause, the third to none.
        let of_nodes = of_clauses(&[vec![0.9, 0.2, 0.5], vec![0.1, 0.8, 0.5]]);
        let [first, second, third] = of_nodes[..] else { panic!() };
        for node in [first, second] {
            assert!(node.meaning.abs() < 1e-6 && (node.place - 1.0).abs() < 1e-6, "{node:?}");
            assert!(node.rise > 1.0 && node.best_share > 0.99, "{node:?}");
            assert!((node.share - 0.5).abs() < 0.01, "{node:?}");
        }
        assert!((third.meaning + 0.3).abs() < 1e-6 && (third.place - 0.5).abs() < 1e-6);
        assert!(third.best_share < 0.01 && third.share < 0.01);
        assert!((of_nodes.iter().map(|node| node.share).sum::<f32>() - 1.0).abs() < 1e-5);
        assert!(of_clauses(&[]).is_empty());
    }
}
