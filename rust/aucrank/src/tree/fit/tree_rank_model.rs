//! The fitted tree with what its pruning found.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::formula::Formula;
use crate::tree::model::RankingTree;
use crate::tree::prune::{CrossValidation, Penalization, Validation};

/// A fitted tree, and how it was chosen.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let fitted = fit(&columns, &labels, &params, &Interrupt::default())?;
/// assert_eq!((fitted.tree.n_leaves(), fitted.tree.auc()), (2, 1.0));
/// // It was not pruned.
/// assert_eq!((fitted.cross_validation, fitted.validation), (None, None));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TreeRankModel {
    /// The tree.
    pub tree: RankingTree,
    /// What cross-validation found. `None` where it was not asked for, or where a class has a single
    /// distinct row, so that no fold can be left out; the tree is then as it was grown.
    pub cross_validation: Option<CrossValidation>,
    /// What the penalty made of each number of leaves, where it was asked for.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub penalization: Option<Penalization>,
    /// What was found on the rows held out, where they were asked for and there were any.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub validation: Option<Validation>,
}

impl TreeRankModel {
    /// A tree as it was grown.
    pub(in crate::tree) fn unpruned(tree: RankingTree) -> Self {
        Self { tree, cross_validation: None, penalization: None, validation: None }
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        self.tree.n_levels()
    }

    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        Formula::Tree(self.tree.formula(&self.tree.leaf_scores()))
    }

    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        self.tree.check()?;
        self.penalization.iter().try_for_each(|found| found.check(&self.tree))?;
        self.validation.iter().try_for_each(|found| found.check(&self.tree))?;
        let Some(found) = &self.cross_validation else { return Ok(()) };
        let n_steps = found.steps.len();
        let fits = found.mean_auc.len() == n_steps && found.standard_error.len() == n_steps;
        if fits && found.chosen < n_steps {
            Ok(())
        } else {
            Err("the table of the cross-validation has columns of several lengths".to_owned())
        }
    }
}
