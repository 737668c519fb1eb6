//! Sources of training rows: rows in memory, or rows elsewhere that are queried.
//!
//! A fit makes all decisions by sums, which both sources return identically. A bag waits for sums
//! in an `async` function: those of rows in memory are available immediately, and bags of rows
//! elsewhere wait concurrently, so that one question serves all of them.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::bags::{BagFit, RoundTerms};
use super::category_pairs::{PairChoice, PairSteps};
use super::fit::Begun;
use super::grow::{Grown, TreePlan};
use super::params::GradientParams;
use super::rate_columns::BoosterRates;
use super::tree::GradientTree;
use crate::data::{Binned, Columns, Labels, below, content_hashes, mix};
use crate::{Interrupt, RankError};

/// Number of rows per task over all rows.
pub(super) const CHUNK_ROWS: usize = 1 << 14;

/// Masses add up to at most this, so that their products with derivatives do not overflow.
pub(super) const MOST_MASS: u64 = 1 << 40;

/// The training rows of a model, with their masses.
#[derive(Debug)]
pub(super) struct FitRows<'a> {
    pub(super) binned: Cow<'a, Binned>,
    /// The columns of codes of rates.
    pub(super) rates: BoosterRates,
    labels: &'a Labels<'a>,
    /// Rows of positive mass, ascending.
    training: Arc<[u32]>,
    /// Mass of every row; `None` if all that count have mass 1.
    masses: Option<Vec<u64>>,
    mass: RowMass,
}

/// Conversion of weights of rows to masses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowMassScale {
    shift: u32,
}

impl RowMassScale {
    /// For rows of `total` units of weight. Counts of copies are unchanged unless they are very
    /// large.
    pub(super) fn of(total: u64) -> Self {
        Self { shift: (u64::BITS - total.leading_zeros()).saturating_sub(MOST_MASS.ilog2()) }
    }

    /// The mass of a row of `units` units.
    #[inline]
    pub(super) fn mass(self, units: u64) -> u64 {
        let half = 1_u64.unbounded_shl(self.shift) >> 1;
        if units == 0 { 0 } else { (units + half).unbounded_shr(self.shift).max(1) }
    }
}

/// Totals of the training rows of a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowMass {
    /// Mass of each class, negatives first.
    pub(super) of_classes: [u64; 2],
    /// Number of rows, counting copies.
    pub(super) n_rows: u64,
}

impl RowMass {
    /// Number of rows per unit of mass: rows weigh 1 on average, and copies 1 each.
    pub(super) fn unit(self) -> f64 {
        self.n_rows as f64 / self.of_classes.iter().sum::<u64>() as f64
    }
}

impl<'a> FitRows<'a> {
    /// `training` are rows of positive weight, ascending.
    pub(super) fn new(binned: &'a Binned, labels: &'a Labels<'a>, training: Arc<[u32]>) -> Self {
        let coded = (BoosterRates::default(), Cow::Borrowed(binned));
        Self::with_rates(coded, labels, training)
    }

    /// With columns of rates, and the codes including them.
    pub(super) fn with_rates(
        (rates, binned): (BoosterRates, Cow<'a, Binned>),
        labels: &'a Labels<'a>,
        training: Arc<[u32]>,
    ) -> Self {
        let scale = RowMassScale::of(training.iter().map(|&row| mass_of(labels, row)).sum());
        let masses = labels
            .weights()
            .map(|weights| weights.units().iter().map(|&units| scale.mass(units)).collect());
        let listed = Arc::clone(&training);
        let mass = RowMass { of_classes: [0; 2], n_rows: 0 };
        let mut rows = Self { binned, rates, labels, training, masses, mass };
        for row in listed.iter().map(|&row| row as usize) {
            rows.mass.of_classes[usize::from(labels.positive()[row])] += rows.mass(row);
            rows.mass.n_rows += rows.count(row);
        }
        rows
    }

    /// Adds the values of a tree to the scores of all rows, as split in this fit.
    pub(super) fn add_values(
        &self,
        tree: &GradientTree,
        columns: &Columns<'_>,
        scores: &mut [f64],
    ) -> Result<(), RankError> {
        self.rates.add_values(tree, columns, (&self.binned, &self.training), scores)
    }

    pub(super) fn training(&self) -> &Arc<[u32]> {
        &self.training
    }

    pub(super) fn positive(&self) -> &'a [bool] {
        self.labels.positive()
    }

    /// Whether every row counts once.
    pub(super) fn are_equal(&self) -> bool {
        self.masses.is_none()
    }

    #[inline]
    pub(super) fn mass(&self, row: usize) -> u64 {
        self.masses.as_ref().map_or(1, |masses| masses[row])
    }

    /// Number of copies of a row.
    #[inline]
    pub(super) fn count(&self, row: usize) -> u64 {
        if self.masses.is_none() { 1 } else { self.labels.sums(row).rows }
    }

    /// Number of rows, counting copies.
    pub(super) fn count_all(&self, rows: &[u32]) -> u64 {
        if self.masses.is_none() {
            return rows.len() as u64;
        }
        rows.iter().map(|&row| self.count(row as usize)).sum()
    }

    /// The mass of some rows.
    pub(super) fn mass_of(&self, rows: &[u32]) -> u64 {
        if self.masses.is_none() {
            return rows.len() as u64;
        }
        rows.iter().map(|&row| self.mass(row as usize)).sum()
    }

    /// Totals of the rows.
    pub(super) fn total(&self) -> RowMass {
        self.mass
    }

    /// Mass of each class, negatives first.
    pub(super) fn class_masses(&self) -> [u64; 2] {
        self.mass.of_classes
    }

    /// As [`Mass::unit`].
    pub(super) fn mass_unit(&self) -> f64 {
        self.mass.unit()
    }
}

fn mass_of(labels: &Labels<'_>, row: u32) -> u64 {
    labels.weights().map_or(1, |weights| weights.units()[row as usize])
}

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

    /// Chooses whether trees test pairs of categories, given the known rounds of the first bag; by
    /// default they do not.
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
    async fn grow(&mut self, plan: TreePlan<'_>, draws: bool) -> Result<Grown, RankError>;

    /// Adds the values of the last tree to all scores. Returns the measure on held-out rows, if
    /// there are any. The next tree, if there is one, will be that of `next`.
    async fn add(&mut self, grown: Grown, next: NextTree) -> Result<Option<f64>, RankError>;

    /// Subtracts the values of the last trees again.
    fn take_off(&mut self, trees: &[GradientTree]) -> Result<(), RankError>;

    fn into_state(self) -> Self::State;

    fn take_up(&mut self, state: Self::State);

    /// Runs work on several bags concurrently.
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

/// State of the rows of a fit after some rounds.
pub(super) type StateOf<F> = <<F as FitSource>::Bag as BagSource>::State;

/// The result of a future that is ready immediately.
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

/// The rule that draws the rows of a tree.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Draw {
    bound: u64,
}

impl Draw {
    /// Draws a share of the rows.
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

    /// Draws the rows of a tree; the other training rows are `others`. Both are ascending.
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

    /// Whether a tree may test only a part of the features.
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
