//! Which subtree to keep, by rows that the tree was not grown on (DECISIONS T21).

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::cross_validate::CvParams;
use super::path::{PruningPath, PruningStep};
use super::penalize::PenaltyParams;
use crate::RankError;
use crate::data::{ClassSums, Columns, Labels};
use crate::tree::model::RankingTree;

/// Which of the training rows are held out, where no others are given.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{PruningRule, TreeRankParams, ValidationParams, fit};
/// # use aucrank::tree::{GrowParams, LeafRankParams, SplitRule};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 11.0, 12.0, 13.0], 1)?;
/// let labels = Labels::new(&[false, false, false, true, true, true], None)?;
/// # let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// # let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let pruning = ValidationParams { fraction: 1.0 / 3.0, seed: 0 };
/// let params = TreeRankParams { pruning: Some(PruningRule::Validation(pruning)), ..params };
/// let fitted = fit(&columns, &labels, &params, &Interrupt::default())?;
/// // One of the three rows of each class is held out.
/// assert_eq!(fitted.tree.total().rows, 4);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct ValidationParams {
    /// Share of the distinct rows of each class that is held out; between 0 and 1.
    pub fraction: f64,
    /// Seed by which rows are dealt.
    pub seed: u64,
}

impl ValidationParams {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        if self.fraction > 0.0 && self.fraction < 1.0 {
            return Ok(());
        }
        Err(RankError::BadParameter {
            name: "fraction",
            value: self.fraction.to_string(),
            rule: "between 0 and 1",
        })
    }
}

/// What was found for each tree of the nested path.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let tree = fit(&columns, &labels, &params, &Interrupt::default())?.tree;
/// // On these rows the classes are the other way round.
/// let others = Labels::new(&[true, false, true, false], None)?;
/// let (pruned, found) = tree.best_on(&columns, &others)?;
/// // The root ties all rows, the whole tree ranks every pair wrong.
/// assert_eq!((found.auc[0], found.auc[found.chosen]), (0.0, 0.5));
/// assert_eq!((found.steps[found.chosen].n_leaves, pruned.n_leaves()), (1, 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Validation {
    /// The trees of the path.
    pub steps: Vec<PruningStep>,
    /// AUC of each on the rows held out.
    pub auc: Vec<f64>,
    /// Index of the step that was kept: the largest AUC, ties to the smaller tree.
    pub chosen: usize,
}

impl Validation {
    /// Scores the trees of the path on rows given by their class sums in each node of the largest, by
    /// their AUC up to `max_fpr`.
    pub(in crate::tree) fn on_sums(
        tree: &RankingTree,
        sums: &[ClassSums],
        max_fpr: f64,
    ) -> (RankingTree, Self) {
        let path = PruningPath::of(tree);
        let auc: Vec<f64> =
            path.aucs_up_to(max_fpr, tree, sums).into_iter().map(|(auc, _)| auc).collect();
        let best = auc.iter().copied().fold(0.0, f64::max);
        let chosen = auc.iter().rposition(|&auc| auc >= best).unwrap_or(0);
        (path.tree(tree, chosen), Self { steps: tree.pruning_path(), auc, chosen })
    }

    pub(in crate::tree) fn check(&self, tree: &RankingTree) -> Result<(), String> {
        let chosen = self.steps.get(self.chosen).map(|step| step.n_leaves);
        if self.auc.len() == self.steps.len() && chosen == Some(tree.n_leaves()) {
            Ok(())
        } else {
            Err("the table of the validation does not suit the tree".to_owned())
        }
    }
}

impl RankingTree {
    /// The tree of the nested path that has the largest AUC on the given rows, ties to the smaller
    /// one, and the AUCs of all. Subtrees outside the path are not searched.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, hold infinity, or
    /// have another number of rows than the labels.
    ///
    /// # Examples
    ///
    /// ```
    /// # use aucrank::data::{Columns, Labels};
    /// # use aucrank::tree::{TreeRankParams, GrowParams, LeafRankParams, SplitRule, fit};
    /// # let grow = GrowParams { max_depth: 3, min_samples_leaf: 1, ..GrowParams::default() };
    /// # let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
    /// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
    /// let labels = Labels::new(&[false, true, false, true], None).unwrap();
    /// let tree = fit(&columns, &labels, &params, &aucrank::Interrupt::default()).unwrap().tree;
    /// assert_eq!(tree.n_leaves(), 4);
    ///
    /// let others = Labels::new(&[false, false, true, true], None).unwrap();
    /// let (best, found) = tree.best_on(&columns, &others).unwrap();
    /// assert_eq!((best.n_leaves(), found.auc[found.chosen]), (2, 0.75));
    /// ```
    pub fn best_on(
        &self,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
    ) -> Result<(Self, Validation), RankError> {
        self.best_up_to(1.0, columns, labels)
    }

    /// The same by the AUC up to `max_fpr`.
    pub(in crate::tree) fn best_up_to(
        &self,
        max_fpr: f64,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
    ) -> Result<(Self, Validation), RankError> {
        let (found, expected) = (columns.n_rows(), labels.n_rows());
        if found != expected {
            return Err(RankError::LengthMismatch { name: "X", found, expected });
        }
        let leaves = self.leaves();
        let mut sums = vec![ClassSums::default(); self.nodes().len()];
        for (row, place) in self.apply(columns, None)?.into_iter().enumerate() {
            sums[leaves[place as usize]] += labels.sums(row);
        }
        self.add_up(&mut sums);
        Ok(Validation::on_sums(self, &sums, max_fpr))
    }
}

/// How a tree is pruned.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{PruningRule, TreeRankParams, ValidationParams, fit};
/// # use aucrank::tree::{GrowParams, LeafRankParams, SplitRule};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// # let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let pruning = PruningRule::Validation(ValidationParams { fraction: 0.5, seed: 0 });
/// let params = TreeRankParams { pruning: Some(pruning), ..params };
/// let fitted = fit(&columns, &labels, &params, &Interrupt::default())?;
/// assert!(fitted.validation.is_some() && fitted.cross_validation.is_none());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum PruningRule {
    /// By the price of a leaf that cross-validates best.
    CrossValidation(CvParams),
    /// By a penalty on the number of leaves.
    Penalty(PenaltyParams),
    /// By rows that the tree is not grown on.
    Validation(ValidationParams),
}

impl PruningRule {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::CrossValidation(params) => params.validate(),
            Self::Penalty(params) => params.validate(),
            Self::Validation(params) => params.validate(),
        }
    }
}
