//! What a forest chooses by its rows out of bag: how large leaves are to be, and by what cuts are chosen.
//!
//! Where a class can be told from columns alone, the smallest leaves rank best; where labels are noise in
//! part, or one class is rare, leaves of many rows do. In many columns an impurity finds pure sets of few
//! rows, which count for little in the AUC of a single cut. Neither suits all data, and rows that trees
//! have not seen tell which does.

use super::params::ForestParams;
use super::ranking_forest::RankingForest;
use crate::RankError;
use crate::tree::fit::TreeRankParams;
use crate::tree::split::{CutCriterion, SplitRule};

/// Trees that are grown of each kind: a row is judged by about 22 of them. By fewer, large leaves win too
/// often, for a single tree of small ones says little; the choice by 100 is no better.
pub(super) const TRIAL_TREES: usize = 60;

/// The trees to choose among.
#[derive(Debug)]
pub(super) struct Choices {
    /// For each criterion those of each size of leaf.
    pub(super) trees: Vec<TreeRankParams>,
    pub(super) n_sizes: usize,
}

impl Choices {
    /// By what the cuts of one of the trees are chosen.
    pub(super) fn criterion(&self, tree: usize) -> CutCriterion {
        match &self.trees[tree].split {
            SplitRule::Stumps(stumps) => stumps.criterion,
            SplitRule::Dyadic(_) | SplitRule::Classifier => CutCriterion::Youden,
        }
    }
}

impl ForestParams {
    /// The trees to choose among; one alone where there is nothing to choose.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if the earlier forest does not tell its size of leaf.
    pub(super) fn choices(&self, earlier: Option<&RankingForest>) -> Result<Choices, RankError> {
        let (mut sizes, mut criteria) = (self.leaf_sizes.clone(), self.criteria.clone());
        if let Some(earlier) = earlier {
            if !sizes.is_empty() {
                let size = earlier.min_samples_leaf.ok_or(RankError::BadParameter {
                    name: "the earlier forest",
                    value: "of leaves of unknown size".to_owned(),
                    rule: "one that tells the size where it was to be chosen",
                })?;
                sizes = vec![size];
            }
            if !criteria.is_empty() {
                criteria = vec![earlier.criterion];
            }
        }
        let of_sizes: Vec<TreeRankParams> = if sizes.is_empty() {
            vec![self.tree.clone()]
        } else {
            sizes.iter().map(|&size| with_leaves_of(&self.tree, size)).collect()
        };
        let trees = if criteria.is_empty() {
            of_sizes.clone()
        } else {
            let with = |&criterion| of_sizes.iter().map(move |tree| with_cuts_by(tree, criterion));
            criteria.iter().flat_map(with).collect()
        };
        Ok(Choices { trees, n_sizes: of_sizes.len() })
    }
}

/// The tree whose splits keep so many rows on each side. So does a single stump, where the sides are its own.
fn with_leaves_of(tree: &TreeRankParams, size: u64) -> TreeRankParams {
    let mut tree = tree.clone();
    tree.grow.min_samples_leaf = size;
    if let SplitRule::Stumps(stumps) = &mut tree.split
        && stumps.max_depth == 1
    {
        stumps.min_samples_leaf = stumps.min_samples_leaf.max(size);
    }
    tree
}

fn with_cuts_by(tree: &TreeRankParams, criterion: CutCriterion) -> TreeRankParams {
    let mut tree = tree.clone();
    if let SplitRule::Stumps(stumps) = &mut tree.split {
        stumps.criterion = criterion;
    }
    tree
}
