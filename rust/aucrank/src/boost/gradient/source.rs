//! What a fit learns from: rows in memory, or rows elsewhere that are queried.
//!
//! All that a fit decides it decides by sums, which either gives alike. A bag waits for sums in an `async`
//! function: those of rows in memory are there at once, and bags of rows elsewhere wait side by side,
//! so that one question serves all of them.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::bags::{BagFit, RoundTerms};
use super::category_pairs::PairChoice;
use super::fit::Begun;
use super::grow::{Grown, TreePlan};
use super::pair_steps::PairSteps;
use super::params::GradientParams;
use super::rows::RowMass;
use super::tree::GradientTree;
use crate::data::{Columns, below, content_hashes, mix};
use crate::{Interrupt, RankError};

/// The rows of a fit, which bags learn from.
pub(super) trait FitSource {
    type Bag: BagSource;

    /// The rows of one bag.
    type Dealt;

    /// Number of all rows, as they count.
    fn n_rows(&self) -> u64;

    fn interrupt(&self) -> &Interrupt;

    /// The rows of each bag; some may be held out.
    fn deal(&self, params: &GradientParams) -> Result<Vec<Self::Dealt>, RankError>;

    /// Bags that learn from all rows.
    fn deal_all(&self, params: &GradientParams) -> Result<Vec<Self::Dealt>, RankError>;

    /// Whether rounds of an earlier fit come first.
    fn goes_on(&self) -> bool;

    /// Chooses whether trees test pairs of categories, given what is known of the first bag; rows of which
    /// they are not known do not.
    fn choose_pairs(
        &self,
        _params: &GradientParams,
        dealt: Vec<Self::Dealt>,
        begun: Option<Begun<StateOf<Self>>>,
    ) -> Result<PairChoice<Self::Dealt, StateOf<Self>>, RankError>
    where
        Self: Sized,
    {
        Ok(PairChoice { dealt, begun })
    }

    /// Begins with the rounds of an earlier fit, if there is one.
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
    /// What is known of the rows after some rounds.
    type State;

    /// What the rows that it learns from come to.
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

    /// Grows a tree on the gradients at the scores of rows that are drawn by its seed, or of all rows.
    async fn grow(&mut self, plan: TreePlan<'_>, draws: bool) -> Result<Grown, RankError>;

    /// Adds the values of the tree that was grown last to all scores. What the held-out rows say then,
    /// if there are any. The next tree, if there is one, will be that of `next`.
    async fn add(&mut self, grown: Grown, next: NextTree) -> Result<Option<f64>, RankError>;

    /// Takes the values of some trees, the last ones, off again.
    fn take_off(&mut self, trees: &[GradientTree]) -> Result<(), RankError>;

    fn into_state(self) -> Self::State;

    fn take_up(&mut self, state: Self::State);

    /// Does some work with each of several bags.
    fn side_by_side<'a>(
        bags: Vec<&mut BagFit<'a, Self>>,
        work: impl AsyncFn(&mut BagFit<'a, Self>) -> Result<(), RankError> + Sync,
    ) -> Result<(), RankError>;
}

/// The tree of a round: the features that it may test, and its seed.
pub(super) struct NextTree {
    pub(super) features: Vec<usize>,
    pub(super) seed: u64,
}

/// What is known of the rows of a fit after some rounds.
pub(super) type StateOf<F> = <<F as FitSource>::Bag as BagSource>::State;

/// The result of what does not wait for anything.
pub(super) fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => found,
        Poll::Pending => unreachable!("rows in memory have their sums"),
    }
}

/// Draws of rows, tree by tree.
#[derive(Debug)]
pub(super) struct RowDraws {
    training: Arc<[u32]>,
    /// Hash of the content of each training row: copies are drawn together. Empty if all rows are
    /// taken.
    hashes: Vec<u64>,
    draw: Draw,
}

/// Which rows a tree learns from.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct Draw {
    bound: u64,
}

impl Draw {
    /// A share of them.
    pub(super) fn share(subsample: f64) -> Self {
        Self { bound: (subsample * 2_f64.powi(64)) as u64 }
    }

    /// Whether a row is drawn, given the hash of its content.
    #[inline]
    pub(super) fn takes(self, seed: u64, hash: u64) -> bool {
        mix(seed ^ hash) < self.bound
    }
}

impl RowDraws {
    pub(super) fn new(
        columns: &Columns<'_>,
        training: Arc<[u32]>,
        params: &GradientParams,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let hashes = if params.subsample < 1.0 {
            let hashes = content_hashes(columns, &training, seed, interrupt)?;
            hashes.into_iter().map(|(hash, _)| hash).collect()
        } else {
            Vec::new()
        };
        Ok(Self { training, hashes, draw: Draw::share(params.subsample) })
    }

    /// Draws the rows that a tree learns from; the other training rows are `others`. Both ascend.
    pub(super) fn rows(&self, seed: u64, drawn: &mut Vec<u32>, others: &mut Vec<u32>) {
        drawn.clear();
        others.clear();
        if self.hashes.is_empty() {
            drawn.extend_from_slice(&self.training);
            return;
        }
        for (&row, &hash) in self.training.iter().zip(&self.hashes) {
            if self.draw.takes(seed, hash) {
                drawn.push(row);
            } else {
                others.push(row);
            }
        }
    }
}

/// Draws of features, tree by tree.
#[derive(Debug)]
pub(super) struct FeatureDraws {
    max_features: Option<usize>,
    n_features: usize,
}

impl FeatureDraws {
    pub(super) fn new(n_features: usize, params: &GradientParams) -> Self {
        let max_features = params.max_features.filter(|&max| max < n_features);
        Self { max_features, n_features }
    }

    /// Number of all features.
    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Whether a tree may test a part of the features only.
    pub(super) fn are_partial(&self) -> bool {
        self.max_features.is_some()
    }

    /// The features that a tree may test, ascending.
    pub(super) fn features(&self, seed: u64) -> Vec<usize> {
        let mut features: Vec<usize> = (0..self.n_features).collect();
        let Some(number) = self.max_features else { return features };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for place in 0..number {
            let other = place + below(&mut random, self.n_features - place);
            features.swap(place, other);
        }
        features.truncate(number);
        features.sort_unstable();
        features
    }
}
