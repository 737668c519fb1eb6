//! Sources of training rows: rows in memory, or rows elsewhere that are queried.
//!
//! A fit makes all decisions by sums, which both sources return identically. Bags run in tasks of
//! their own: those of rows elsewhere wait for sums concurrently, and their questions are joined.
use super::bags::{BagFit, RoundTerms};
use super::fit_rows::RowMass;
use super::grow::TreePlan;
use super::grown::Grown;
use super::pair_steps::PairSteps;
use super::params::GradientParams;
use super::sums::LeafGradients;
use super::tree::GradientTree;
use crate::{Interrupt, RankError};

/// The rows of a fit, which bags learn from.
pub(super) trait FitSource {
    type Bag: BagSource;

    /// The rows of one bag.
    type Dealt;

    /// Number of all rows, counting copies.
    fn n_rows(&self) -> u64;

    fn interrupt(&self) -> &Interrupt;

    /// The rows of each bag; some may be held out.
    fn deal(&self, params: &GradientParams) -> Result<Vec<Self::Dealt>, RankError>;

    /// Bags that train on all rows.
    fn deal_all(&self, params: &GradientParams) -> Result<Vec<Self::Dealt>, RankError>;

    /// Whether this is a warm start.
    fn goes_on(&self) -> bool;

    /// For each feature its number of categories, or `None` if it is numeric.
    fn n_levels(&self) -> Vec<Option<u32>>;

    /// Whether rows of a bag are held out.
    fn has_held_out(&self, bag: &Self::Dealt) -> bool;

    /// The same rows, with columns of the rates of pairs of categories of some features.
    fn recoded(
        &self,
        params: &GradientParams,
        dealt: &[Self::Dealt],
        pairs: &[[usize; 2]],
    ) -> Result<Vec<Self::Dealt>, RankError>;

    /// Lets bags that train on all rows test these pairs of features.
    fn set_pairs(&self, pairs: Vec<[usize; 2]>);

    /// Decrease of the log loss of the held-out rows of a bag from one state to another, and its
    /// standard error.
    fn gain(
        &self,
        bag: &Self::Dealt,
        before: &StateOf<Self>,
        after: &StateOf<Self>,
    ) -> Result<[f64; 2], RankError>;

    /// By how much one Newton step by the categories of each pair of features lowers the log loss of
    /// the held-out rows of a bag, to first order and in standard deviations.
    fn merits(
        &self,
        bag: &Self::Dealt,
        state: &StateOf<Self>,
        pairs: &[[usize; 2]],
    ) -> Result<Vec<f64>, RankError>;

    /// Starts with the rounds of an earlier fit, if there is one.
    fn replay(&self, bags: &mut [BagFit<'_, Self::Bag>]) -> Result<(), RankError>;

    /// The bags before their first round.
    fn begin<'a>(
        &'a self,
        params: &'a GradientParams,
        dealt: &[Self::Dealt],
        terms: RoundTerms<'a>,
    ) -> Result<Vec<BagFit<'a, Self::Bag>>, RankError>;
}

/// The rows of a bag, with their scores.
pub(super) trait BagSource: Sized {
    /// State of the rows after some rounds.
    type State;

    /// How a task reaches the rows.
    type Line<'l>: Copy;

    /// Totals of its training rows.
    fn total(&self) -> RowMass;

    /// For each feature its number of categories, or `None` if it is numeric.
    fn n_levels(&self) -> Vec<Option<u32>>;

    /// The pairs of categories that trees may test.
    fn pairs(&self) -> Vec<PairSteps> {
        Vec::new()
    }

    /// Gives all rows the same score.
    fn start(&mut self, score: f64);

    /// Whether rows are held out.
    fn has_held_out(&self) -> bool;

    /// Grows a tree on the gradients at the scores of rows drawn by its seed, or of all rows.
    fn grow(
        &mut self,
        line: Self::Line<'_>,
        plan: TreePlan<'_>,
        draws: bool,
    ) -> Result<Grown, RankError>;

    /// Adds the values of the last tree to all scores. Returns the measure on held-out rows, if
    /// there are any. The next tree, if there is one, will be that of `next`.
    fn add(
        &mut self,
        line: Self::Line<'_>,
        grown: Grown,
        next: NextTree,
    ) -> Result<Option<f64>, RankError>;

    /// Subtracts the values of the last trees again.
    fn take_off(&mut self, trees: &[GradientTree]) -> Result<(), RankError>;

    /// Totals of all rows of the fit.
    fn total_of_all(&self, line: Self::Line<'_>) -> Result<RowMass, RankError>;

    /// Gives all rows of the fit the same score, to set the values of the leaves again.
    fn restart(&mut self, score: f64);

    /// For each leaf of a tree, from left to right, the sums of all rows of the fit at the scores
    /// that they have since.
    fn leaf_sums(
        &mut self,
        line: Self::Line<'_>,
        number: usize,
    ) -> Result<Vec<LeafGradients>, RankError>;

    /// Adds other values of the leaves of that tree to these scores.
    fn add_leaves(&mut self, number: usize, values: &[f64]);

    fn into_state(self) -> Self::State;

    fn take_up(&mut self, state: Self::State);

    /// Runs work on several bags concurrently.
    fn side_by_side<'a>(
        bags: Vec<&mut BagFit<'a, Self>>,
        work: impl Fn(&mut BagFit<'a, Self>, Self::Line<'_>) -> Result<(), RankError> + Sync,
    ) -> Result<(), RankError>;
}

/// The tree of a round: the features that it may test, and its seed.
pub(super) struct NextTree {
    pub(super) features: Vec<usize>,
    pub(super) seed: u64,
}

/// State of the rows of a fit after some rounds.
pub(super) type StateOf<F> = <<F as FitSource>::Bag as BagSource>::State;
