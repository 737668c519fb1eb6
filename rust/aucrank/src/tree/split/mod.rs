//! Split rules, one per file: their list, and the interface that each provides to a fit.
//!
//! - `stump`: the best stump of a cell, from its histogram; `criterion`: the criteria of cuts, and
//!   the partition-based rule, which merges cells into two sides (paper 2 Fig. 4);
//! - `leafrank`: a small tree of stumps whose cells are merged (paper 2 Fig. 5), or a single stump;
//!   `dyadic`: the rule on dyadic cubes; `classifier`: splits by external classifiers (paper 2 Fig.
//!   6).

mod classifier;
mod criterion;
mod dyadic;
mod leafrank;
pub(super) mod stump;

pub use criterion::CutCriterion;
pub use dyadic::DyadicParams;
pub use leafrank::{Cuts, LeafRankParams};
pub(super) use leafrank::{LeafRankSplitter, level_units};
pub(super) use stump::StumpTerms;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use super::model::{CubeGrid, RankingTree};
use super::prune::Complexity;
use super::sample::{Sample, places_by_codes};
use crate::data::{Binned, RowTally};
use crate::external::ExternalFitter;
use crate::{Interrupt, RankError};
use classifier::ByClassifiers;

/// One line per rule: its variant, with its parameters or, after `=`, the type that represents it.
macro_rules! split_rules {
    ($($(#[$doc:meta])* $rule:ident $(($params:ident: $type:ident))? $(= $unit:ident)?,)*) => {
        /// How a node is split.
        ///
        /// # Examples
        ///
        /// ```
        /// use aucrank::Interrupt;
        /// use aucrank::data::{Columns, Labels};
        /// use aucrank::tree::{
        ///     DyadicParams, GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit,
        /// };
        ///
        /// let columns = Columns::from_row_major(&[1.0, 2.0, 7.0, 8.0], 1)?;
        /// let labels = Labels::new(&[false, true, true, true], None)?;
        /// let auc = |rule| {
        ///     let grow =
        ///         GrowParams { max_depth: 1, min_samples_leaf: 1, ..GrowParams::default() };
        ///     fit((&columns, &labels), &TreeRankParams::new(grow, rule), &Interrupt::default())
        ///         .map(|fitted| fitted.tree.auc())
        /// };
        /// // One threshold sets the negative row apart; half of the range has it and another.
        /// assert_eq!(auc(SplitRule::Stumps(LeafRankParams::orthogonal(1)))?, 1.0);
        /// assert_eq!(auc(SplitRule::Dyadic(DyadicParams { level: Some(1) }))?, 2.5 / 3.0);
        /// # Ok::<(), aucrank::RankError>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum SplitRule {
            $($(#[$doc])* $rule $(($type))?,)*
        }

        /// Any [`PreparedRule`].
        #[derive(Debug)]
        pub(super) enum AnyPrepared<'a> {
            $($rule(<$($type)? $($unit)? as RuleParams>::Prepared<'a>),)*
        }

        impl SplitRule {
            /// The rule itself.
            pub(super) fn rule(&self) -> &dyn RuleParams {
                match self {
                    $(Self::$rule $(($params))? => $($params)? $(&$unit)?,)*
                }
            }

            /// See [`RuleParams::prepare`].
            pub(super) fn prepare<'a>(
                &self,
                sample: &Sample<'a, ()>,
                seed: u64,
                classifiers: Option<&'a dyn ExternalFitter>,
                interrupt: &Interrupt,
            ) -> Result<AnyPrepared<'a>, RankError> {
                Ok(match self {
                    $(Self::$rule $(($params))? => {
                        let rule = $($params)? $(&$unit)?;
                        AnyPrepared::$rule(rule.prepare(sample, seed, classifiers, interrupt)?)
                    })*
                })
            }
        }

        impl AnyPrepared<'_> {
            /// The rule itself.
            pub(super) fn rule(&self) -> &dyn PreparedRule {
                match self {
                    $(Self::$rule(rule) => rule,)*
                }
            }

            /// See [`PreparedRule::grow`].
            pub(super) fn grow<R: RowTally + Copy>(
                &self,
                sample: &Sample<'_, R>,
                rows: Vec<u32>,
                seed: u64,
                interrupt: &Interrupt,
            ) -> Result<RankingTree, RankError> {
                match self {
                    $(Self::$rule(rule) => rule.grow(sample, rows, seed, interrupt),)*
                }
            }
        }
    };
}

split_rules! {
    /// By a small tree of stumps whose cells are merged into two sides, or by a single stump.
    Stumps(params: LeafRankParams),
    /// By a union of dyadic cubes.
    Dyadic(params: DyadicParams),
    /// By an external classifier, for [`fit_by_classifiers`](super::fit_by_classifiers).
    Classifier = ByClassifiers,
}

impl Complexity {
    /// The complexity of a split rule; `None` if no penalty is known.
    #[must_use]
    pub fn of(split: &SplitRule) -> Option<Self> {
        split.rule().complexity()
    }
}

/// Parameters of a split rule.
pub(super) trait RuleParams {
    /// The rule prepared for the rows of a fit, shared by all its trees.
    type Prepared<'a>: PreparedRule
    where
        Self: Sized;

    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// Checks the parameters.
    fn validate(&self) -> Result<(), RankError>;

    /// Whether it tests single features by stumps: only then can it obey constraints, use cell
    /// means, consider a subset of the features, and split the trees of a forest.
    fn is_of_stumps(&self) -> bool {
        false
    }

    /// Complexity of its splits; `None` if no penalty is known for it.
    fn complexity(&self) -> Option<Complexity> {
        None
    }

    /// Prepares the rule for the rows of a fit with this `seed`; `classifiers` are those of the
    /// caller, if any.
    fn prepare<'a>(
        &self,
        sample: &Sample<'a, ()>,
        seed: u64,
        classifiers: Option<&'a dyn ExternalFitter>,
        interrupt: &Interrupt,
    ) -> Result<Self::Prepared<'a>, RankError>
    where
        Self: Sized;
}

/// A rule prepared for the rows of a fit.
pub(super) trait PreparedRule: Debug + Sync {
    /// Grows a tree on some of the rows.
    fn grow<R: RowTally + Copy>(
        &self,
        sample: &Sample<'_, R>,
        rows: Vec<u32>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError>
    where
        Self: Sized;

    /// The grid of cubes, if nodes are split by cubes.
    fn grid(&self) -> Option<&CubeGrid> {
        None
    }

    /// Place in the ranking of the leaf of each of some rows of the fit.
    fn places(
        &self,
        binned: &Binned,
        tree: &RankingTree,
        rows: &[u32],
    ) -> Result<Vec<u32>, RankError> {
        Ok(places_by_codes(binned, tree, rows, None))
    }

    /// Frees data kept elsewhere for a trial tree.
    fn forget(&self, _tree: &RankingTree) {}
}
