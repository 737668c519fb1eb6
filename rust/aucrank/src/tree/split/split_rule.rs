//! The list of split rules.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::classifier::ByClassifiers;
use super::dyadic::DyadicParams;
use super::leafrank::LeafRankParams;
use super::rule::{PreparedRule, Rule};
use crate::data::RowTally;
use crate::external::ExternalFitter;
use crate::tree::model::RankingTree;
use crate::tree::prune::Complexity;
use crate::tree::sample::Sample;
use crate::{Interrupt, RankError};

/// For each rule a line: its variant, with its parameters or, after `=`, the type that stands for it.
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
        ///     fit(&columns, &labels, &TreeRankParams::new(grow, rule), &Interrupt::default())
        ///         .map(|fitted| fitted.tree.auc())
        /// };
        /// // One threshold sets the negative row apart; half of the range has it and another.
        /// assert_eq!(auc(SplitRule::Stumps(LeafRankParams::orthogonal(1)))?, 1.0);
        /// assert_eq!(auc(SplitRule::Dyadic(DyadicParams { level: Some(1) }))?, 2.5 / 3.0);
        /// # Ok::<(), aucrank::RankError>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        pub enum SplitRule {
            $($(#[$doc])* $rule $(($type))?,)*
        }

        /// Any [`PreparedRule`].
        #[derive(Debug)]
        pub(in crate::tree) enum AnyPrepared<'a> {
            $($rule(<$($type)? $($unit)? as Rule>::Prepared<'a>),)*
        }

        impl SplitRule {
            /// The rule itself.
            pub(in crate::tree) fn rule(&self) -> &dyn Rule {
                match self {
                    $(Self::$rule $(($params))? => $($params)? $(&$unit)?,)*
                }
            }

            /// See [`Rule::prepare`].
            pub(in crate::tree) fn prepare<'a>(
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
            pub(in crate::tree) fn rule(&self) -> &dyn PreparedRule {
                match self {
                    $(Self::$rule(rule) => rule,)*
                }
            }

            /// See [`PreparedRule::grow`].
            pub(in crate::tree) fn grow<R: RowTally + Copy>(
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
    /// By a classifier from outside, for [`fit_by_classifiers`](crate::tree::fit_by_classifiers).
    Classifier = ByClassifiers,
}

impl Complexity {
    /// That of a split rule; `None` where no penalty is known.
    #[must_use]
    pub fn of(split: &SplitRule) -> Option<Self> {
        split.rule().complexity()
    }
}
