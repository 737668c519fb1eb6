//! How large leaves are to be: sizes are tried, and the rows out of bag choose.
//!
//! Where a class can be told from columns alone, the smallest leaves rank best; where labels are noise in
//! part, or one class is rare, leaves of many rows do. No single size suits all data, and rows that trees
//! have not seen tell which one does.

use super::params::ForestParams;
use super::ranking_forest::RankingForest;
use crate::RankError;
use crate::tree::fit::TreeRankParams;
use crate::tree::split::SplitRule;

/// Trees that are grown of each size: a row is judged by about 22 of them. By fewer, large leaves win too
/// often, for a single tree of small ones says little; the choice by 100 is no better.
pub(super) const TRIAL_TREES: usize = 60;

impl ForestParams {
    /// The trees to choose among, one for each size; one alone where there is nothing to choose.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if the earlier forest does not tell its size.
    pub(super) fn trees_to_try(
        &self,
        earlier: Option<&RankingForest>,
    ) -> Result<Vec<TreeRankParams>, RankError> {
        if self.leaf_sizes.is_empty() {
            return Ok(vec![self.tree.clone()]);
        }
        let Some(earlier) = earlier else {
            return Ok(self
                .leaf_sizes
                .iter()
                .map(|&size| with_leaves_of(&self.tree, size))
                .collect());
        };
        let size = earlier.min_samples_leaf.ok_or(RankError::BadParameter {
            name: "the earlier forest",
            value: "of leaves of unknown size".to_owned(),
            rule: "one that tells the size where it was to be chosen",
        })?;
        Ok(vec![with_leaves_of(&self.tree, size)])
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
