//! [`NodeFeatures`]: what speaks for a node as an answer to a query.

use crate::features::features;

features! {
    /// One number for each feature: its values for a node, or the weights of a
    /// [`NodeWeights`](super::NodeWeights).
    ///
    /// *Words* are tf-idf vectors over the terms of the index, as in
    /// [`MmrPager`](crate::page::MmrPager). *Meaning* is how near a node is to the query, in
    /// `[-1, 1]`:
    ///
    /// - by an [`Encoder`](crate::model::Encoder), the cosine of their vectors;
    /// - by a [`TokenEncoder`](crate::model::TokenEncoder), which reads a node below its headings,
    ///   the mean over the tokens of the query of the largest cosine with a token of the node (late
    ///   interaction). A token counts more if fewer nodes have it.
    pub struct NodeFeatures {
        /// Cosine of the words of the query and of the headings above, over the largest one of the
        /// body, in `[0, 1]`.
        heading_words,
        /// Match of the words of the query with the best line, over that of the best line of the
        /// body, in `[0, 1]`.
        best_line,
        /// 1 over the place of the node by words, in `[0, 1]`; 0 if it shares no word with the
        /// query.
        place_by_words,
        /// Words of the node before in the same section, over those of the best node, in `[0, 1]`.
        words_before,
        /// Words of the node after in the same section, over those of the best node, in `[0, 1]`.
        words_after,
        /// Meaning of the node, less that of the best node, in `[-2, 0]`.
        meaning,
        /// 1 over the place of the node by meaning, in `[0, 1]`.
        place_by_meaning,
        /// Meaning of the headings above, less that of the best headings, in `[-2, 0]`; 0 by tokens.
        heading_meaning,
        /// Mean meaning of the nodes of the section, in standard deviations from the mean of the
        /// body.
        section_meaning,
        /// Share of the tokens of the query to which the node is nearest, in `[0, 1]`; nodes that
        /// are about as near have a part each. 0 without a token encoder.
        token_share,
        /// Meaning of the node for the clause of the query that it answers best, less that of the
        /// best node for this clause, in `[-2, 0]`. Like all features of clauses, it is by the
        /// tokens of the clause, and 0 without a token encoder.
        #[serde(default)]
        clause_meaning,
        /// 1 over the best place of the node by the meaning for a clause, in `[0, 1]`.
        #[serde(default)]
        place_by_clause,
        /// How far the meaning of the node for a clause is above the mean of the body, in standard
        /// deviations, for the clause where that is most.
        #[serde(default)]
        clause_rise,
        /// The largest share of a clause that the node has, in `[0, 1]`: nodes that are about as
        /// near have a part each.
        #[serde(default)]
        best_clause_share,
        /// The mean share over the clauses, in `[0, 1]`.
        #[serde(default)]
        clause_share,
        /// 1 if it is an example.
        is_example,
        /// 1 if it is about errors.
        is_error_handling,
        /// 1 if it is background.
        is_concept,
        /// `ln(1 + tokens)`, fifths.
        length,
        /// Its position over the number of nodes, in `[0, 1]`.
        position,
        /// `ln` of the number of nodes, fifths.
        n_nodes,
    }
}
