//! [`KindClassifier`]: tells the kinds of nodes.

use super::tree::{NodeKind, NodeTree};

/// Tells the kinds of the nodes of a body.
///
/// An implementation returns one kind a node, in the order of the nodes, and the same ones for the
/// same body as long as it lives. It panics on no body, and on no tree, not even that of another
/// body. It never fails: what it cannot tell, the rules do.
pub trait KindClassifier: Send + Sync {
    /// Returns the name of the classifier.
    fn identity(&self) -> String;

    /// Returns the kind of each node. The kinds that the nodes have are those of [`KindRules`].
    fn kinds(&self, body: &str, tree: &NodeTree) -> Vec<NodeKind>;
}

/// The rules of [`NodeTree::parse`]: an index keeps what they say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindRules;

impl KindClassifier for KindRules {
    fn identity(&self) -> String {
        "rules".to_owned()
    }

    fn kinds(&self, _body: &str, tree: &NodeTree) -> Vec<NodeKind> {
        tree.nodes.iter().map(|node| node.kind).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::node::{
        KindWeights, N_KIND_FEATURES,
        chat::tests::{all_examples, scripted},
    };

    /// Runs over every implementation.
    #[test]
    fn a_classifier_says_one_kind_a_node_whatever_the_body() {
        let weights = NodeKind::ALL.map(|kind| (kind, vec![0; N_KIND_FEATURES]));
        let learned = KindWeights::new(weights.into_iter().collect()).unwrap();
        let (chat, _) = scripted(|_, request| Ok(all_examples(request)));
        let (silent, _) = scripted(|_, _| Ok(String::new()));
        let classifiers: [&dyn KindClassifier; 4] = [&KindRules, &learned, &chat, &silent];
        let body = "# A\n\nIf it fails:\n\n```sh\nls\n```\n\n## 步骤\n\n1. 运行它。\n\n| a |\n|---|\n| b |\n";
        for classifier in classifiers {
            for (body, of) in [(body, body), ("", ""), ("é", body), (body, "x\n\ny")] {
                let tree = NodeTree::parse(of);
                let kinds = classifier.kinds(body, &tree);
                assert_eq!(kinds.len(), tree.nodes.len(), "{}", classifier.identity());
                assert_eq!(kinds, classifier.kinds(body, &tree));
            }
        }
    }
}
