//! Parameters of a forest.

use serde::{Deserialize, Serialize};

use super::bootstrap::BootstrapParams;
use super::ranking_forest::{Aggregation, RankingForest};
use crate::RankError;
use crate::tree::fit::TreeRankParams;
use crate::tree::split::{CutCriterion, SplitRule};

/// When a forest stops growing before it has all its trees.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{EarlyStopping, ForestParams, fit_forest};
/// # use aucrank::tree::{Aggregation, BootstrapParams, GrowParams, LeafRankParams, SplitRule};
/// # use aucrank::tree::TreeRankParams;
///
/// // Every tree separates the classes, so the AUC soon cannot rise any more.
/// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2 * 100 + row)).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value > 100.0).collect();
/// let columns = Columns::from_column_major(&values, 40)?;
/// let labels = Labels::new(&positive, None)?;
/// # let grow = GrowParams::default();
/// # let tree = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(5)));
/// # let params = ForestParams {
/// #     tree, leaf_sizes: Vec::new(), criteria: Vec::new(), n_trees: 500, aggregation: Aggregation::Eta,
/// #     bootstrap: Some(BootstrapParams { share: 1.0 }), out_of_bag: true, early_stopping: None,
/// # };
/// let early_stopping = Some(EarlyStopping { n_iter_no_change: 5, tol: 0.0 });
/// let params = ForestParams { n_trees: 500, early_stopping, ..params };
/// let forest = fit_forest(&columns, &labels, &params, None, &Interrupt::default())?;
/// assert!(forest.trees().len() < 500);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyStopping {
    /// Number of trees that may be added without raising the out-of-bag AUC by more than `tol`.
    pub n_iter_no_change: usize,
    /// Least rise of the AUC that counts.
    pub tol: f64,
}

/// Parameters of a forest.
///
/// For an example see [`fit_forest`](crate::tree::fit_forest).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForestParams {
    /// How each tree is grown; its pruning is not used. Its seed is that of the forest.
    pub tree: TreeRankParams,
    /// Candidate sizes of leaf, ascending: the one whose trees rank their out-of-bag rows best, the
    /// smallest of ties, replaces that of `tree`; this needs a bootstrap. An earlier forest keeps
    /// its size. Empty to use that of `tree`.
    #[serde(default)]
    pub leaf_sizes: Vec<u64>,
    /// Candidate criteria: the one whose trees rank their out-of-bag rows best, the first of ties,
    /// replaces that of `tree`; this needs a bootstrap. An earlier forest keeps its criterion.
    /// Empty to use that of `tree`.
    #[serde(default)]
    pub criteria: Vec<CutCriterion>,
    /// Number of trees; at least 1.
    pub n_trees: usize,
    /// How rows are drawn for each tree; `None` if each sees all of them.
    pub bootstrap: Option<BootstrapParams>,
    /// How the trees are combined to one score.
    pub aggregation: Aggregation,
    /// Whether to compute the AUC on out-of-bag rows; this needs a bootstrap.
    pub out_of_bag: bool,
    /// When to stop early, which needs a bootstrap too.
    pub early_stopping: Option<EarlyStopping>,
}

impl ForestParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        self.tree.validate()?;
        if self.n_trees == 0 {
            return bad("n_trees", "0".to_owned(), "at least 1");
        }
        let split = self.tree.split.rule();
        if !split.is_of_stumps() {
            return bad("split", split.name().to_owned(), "made of stumps in a forest");
        }
        if self.leaf_sizes.first() == Some(&0) || !self.leaf_sizes.is_sorted_by(|a, b| a < b) {
            return bad("leaf_sizes", format!("{:?}", self.leaf_sizes), "positive and ascending");
        }
        match self.bootstrap {
            Some(BootstrapParams { share }) if !(share > 0.0 && share <= 1.0) => {
                bad("share", share.to_string(), "in (0, 1]")
            }
            None if self.out_of_bag
                || self.early_stopping.is_some()
                || !self.leaf_sizes.is_empty()
                || !self.criteria.is_empty() =>
            {
                bad("bootstrap", "none".to_owned(), "given where rows out of bag are requested")
            }
            _ if self.early_stopping.is_some() && self.aggregation == Aggregation::Kendall => bad(
                "aggregation",
                "kendall".to_owned(),
                "another one for early stopping: a consensus is formed of all trees",
            ),
            _ => Ok(()),
        }
    }
}

/// The trees to choose among.
#[derive(Debug)]
pub(super) struct Choices {
    /// For each criterion, the trees of each size of leaf.
    pub(super) trees: Vec<TreeRankParams>,
    pub(super) n_sizes: usize,
}

impl Choices {
    /// Criterion for the cuts of one of the trees.
    pub(super) fn criterion(&self, tree: usize) -> CutCriterion {
        match &self.trees[tree].split {
            SplitRule::Stumps(stumps) => stumps.criterion,
            SplitRule::Dyadic(_) | SplitRule::Classifier => CutCriterion::Youden,
        }
    }
}

impl ForestParams {
    /// The trees to choose among; only one if there is nothing to choose.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if the earlier forest does not record its size of leaf.
    pub(super) fn choices(&self, earlier: Option<&RankingForest>) -> Result<Choices, RankError> {
        let (mut sizes, mut criteria) = (self.leaf_sizes.clone(), self.criteria.clone());
        if let Some(earlier) = earlier {
            if !sizes.is_empty() {
                let size = earlier.min_samples_leaf.ok_or(RankError::BadParameter {
                    name: "the earlier forest",
                    value: "of leaves of unknown size".to_owned(),
                    rule: "one that gives the size where it was to be chosen",
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

/// The tree whose splits keep at least `size` rows on each side; a split by a single stump applies
/// it to the stump.
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
