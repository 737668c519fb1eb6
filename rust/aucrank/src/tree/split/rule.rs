//! What a fit asks of a split rule.
//!
//! A rule is a file: parameters that implement [`Rule`], and what they become once there are rows, a
//! [`PreparedRule`]. It is known by a line in the list of `split_rule`.

use std::fmt::Debug;

use crate::data::{Binned, RowTally};
use crate::external::ExternalFitter;
use crate::tree::model::{CubeGrid, RankingTree};
use crate::tree::prune::Complexity;
use crate::tree::sample::{Sample, places_by_codes};
use crate::{Interrupt, RankError};

/// A split rule by its parameters.
pub(in crate::tree) trait Rule {
    /// The rule once there are rows: what all trees of a fit share.
    type Prepared<'a>: PreparedRule
    where
        Self: Sized;

    /// What messages call it.
    fn name(&self) -> &'static str;

    /// Checks the parameters.
    fn validate(&self) -> Result<(), RankError>;

    /// Whether it asks single features by stumps: only then can it heed constraints and cell means,
    /// look at some of the features, and split the trees of a forest.
    fn is_of_stumps(&self) -> bool {
        false
    }

    /// How rich its splits can be; `None` where no penalty is known for it.
    fn complexity(&self) -> Option<Complexity> {
        None
    }

    /// Gets ready for the rows of a fit, of which `seed` is the seed; `classifiers` are there where the
    /// caller has some.
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

/// A rule with what it knows of the rows of a fit.
pub(in crate::tree) trait PreparedRule: Debug + Sync {
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

    /// How space is cut in cubes, where nodes are split by cubes.
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

    /// Lets go of what is kept elsewhere for a tree that was grown to be measured.
    fn forget(&self, _tree: &RankingTree) {}
}
