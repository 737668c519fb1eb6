//! What the tree of a file is asked before it is believed.

use super::ranking_tree::RankingTree;
use super::split_form::adds_up;

impl RankingTree {
    /// Whether the nodes form a tree whose sums add up: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        self.frame().check()?;
        self.check_nodes()
    }

    /// The same of a tree whose frame is known to be right.
    pub(in crate::tree) fn check_nodes(&self) -> Result<(), String> {
        let Some(root) = self.nodes().first() else {
            return Err("the tree has no nodes".to_owned());
        };
        // A bootstrap may draw heavy rows often: more than 2^53, the limit of the weights themselves.
        let limit = 1_u64 << 60;
        if root.sums.pos == 0 || root.sums.neg == 0 || root.sums.pos.max(root.sums.neg) > limit {
            return Err("the root of the tree lacks a class".to_owned());
        }
        let mut next = vec![0];
        for (number, node) in self.nodes().iter().enumerate() {
            if next.pop() != Some(number) {
                return Err(format!("node {number} is not in its place"));
            }
            if node.sums.pos == 0 && node.sums.neg == 0 {
                return Err(format!("node {number} has no rows"));
            }
            let Some(split) = &node.split else { continue };
            let sums_of = |child: usize| self.nodes().get(child).map(|node| node.sums);
            let children = (sums_of(split.left()), sums_of(split.right()));
            let (Some(left), Some(right)) = children else {
                return Err(format!("a child of node {number} does not exist"));
            };
            if !adds_up(node.sums, left, right) {
                return Err(format!("the children of node {number} do not add up to it"));
            }
            // Pruning adds up gains; no split is made without one.
            if node.sums.gain(left) < 0 {
                return Err(format!("the split of node {number} ranks its sides the wrong way"));
            }
            next.extend([split.right(), split.left()]);
            let checked = split.form.check(self.frame(), node.sums, left);
            checked.map_err(|what| format!("the split of node {number}: {what}"))?;
        }
        if !next.is_empty() {
            return Err("a node is missing at the end".to_owned());
        }
        let classifiers = self.classifiers();
        if !classifiers.is_sorted_by(|a, b| a < b) {
            return Err("the numbers of the classifiers do not rise".to_owned());
        }
        if classifiers.is_empty() || classifiers.len() == self.nodes().len() / 2 {
            Ok(())
        } else {
            Err("classifiers split some of the nodes only".to_owned())
        }
    }
}
