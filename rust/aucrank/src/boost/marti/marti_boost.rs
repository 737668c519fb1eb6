//! Basic `MartiBoost` (paper 3 section 4) over any two-sided classifiers: rows go right on
//! "positive" and left on "negative", layer by layer, and each node learns from the rows that reach
//! it.
//!
//! A layer costs one pass over the rows: tile by tile, rows take the step given by the classifiers
//! of the layer before, and the learner accumulates its sums. Sums are of integers, and the mass of
//! a row is split without a remainder: the result does not depend on the order of the rows or the
//! number of threads, and copies of a row are equivalent to one row of their total weight.

use crate::parallel::prelude::*;

use super::freezing::Freezing;
use super::learner::TwoSidedLearner;
use super::outcome::Outcome;
use super::sample_ring::SampleRing;
use super::start::Start;
use super::walk::{Layer, LayerRows, OpenLayer, ProgramWalk, boost_layers, seed_of};
use crate::data::{ClassMasses, Columns, Labels, mix};
use crate::{Interrupt, RankError};

/// Parameters of `MartiBoost`.
///
/// For an example see [`marti_boost`].
#[derive(Debug, Clone, Default)]
pub struct MartiBoostParams {
    /// Number of layers of classifiers.
    pub n_rounds: usize,
    /// Rules by which nodes are frozen.
    pub freezing: Freezing,
    /// Whether each row takes a single path, by coins that are a hash of its content and the seed,
    /// instead of all paths by their probabilities.
    pub is_sampled: bool,
    /// Maximum number of distinct rows of each class sampled at a node; `None` for all.
    pub sample_size: Option<usize>,
    /// Random seed.
    pub seed: u64,
}

/// The nodes of a fitted `MartiBoost` program.
///
/// For an example see [`marti_boost`].
#[derive(Debug, Clone, PartialEq)]
pub struct BoostedLayers<C> {
    /// Layer by layer: layer t, counted from 1, has nodes 0 to t - 1.
    pub nodes: Vec<(ClassMasses, Outcome<C>)>,
    /// A row starts with 2 to this power units of mass, or its share of that by weight.
    pub row_bits: u32,
    /// Binary exponent of the unit of mass, relative to the unit of the weights.
    pub exponent: i32,
}

/// Runs Basic `MartiBoost`, or by its rules of freezing `SMartiBoost`, over a learner of two-sided
/// classifiers. With an advantage of gamma at every node, the shares of positive rows that end
/// below T/2 votes and of negative rows that end above decrease as exp(-2 T gamma^2) (paper 3 Lemma
/// 7).
///
/// Takes `n_rounds + 1` passes over the rows.
///
/// # Errors
///
/// [`RankError`] from the learner, when interrupted, or if weights leave a class without mass.
///
/// # Examples
///
/// A learner that always tests whether the only feature is above 2, with one mistake in four:
///
/// ```
/// use aucrank::boost::{
///     Chance, Layer, MartiBoostParams, MassTile, RowChance, TwoSidedLearner, marti_boost,
/// };
/// use aucrank::data::{Columns, Labels};
/// use aucrank::{Interrupt, RankError};
///
/// const X: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
///
/// struct Above2;
///
/// impl RowChance for Above2 {
///     fn chance(&self, row: usize) -> Chance {
///         Chance::new(if X[row] > 2.0 { 0.75 } else { 0.25 })
///     }
/// }
///
/// struct Learner;
///
/// impl TwoSidedLearner for Learner {
///     type Classifier = Above2;
///     type Sums = ();
///
///     fn empty(&self, _: usize) {}
///     fn add(&self, (): &mut (), _: &MassTile<'_>) {}
///     fn merge(&self, (): &mut (), (): ()) {}
///     fn learn(&self, (): (), layer: &Layer<'_>) -> Result<Vec<Option<Above2>>, RankError> {
///         Ok(layer.open().iter().map(|_| Some(Above2)).collect())
///     }
/// }
///
/// let columns = Columns::from_row_major(&X, 1).unwrap();
/// let labels = Labels::new(&[false, false, true, true], None).unwrap();
/// let params = MartiBoostParams { n_rounds: 2, ..MartiBoostParams::default() };
/// let done = marti_boost(&columns, &labels, &params, &Learner, &Interrupt::default()).unwrap();
/// // A positive row gets two votes with a chance of 9/16.
/// let (masses, _) = done.nodes[5];
/// assert_eq!(masses.pos, 2 * (9 << (done.row_bits - 4)));
/// ```
pub fn marti_boost<L: TwoSidedLearner>(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &MartiBoostParams,
    learner: &L,
    interrupt: &Interrupt,
) -> Result<BoostedLayers<L::Classifier>, RankError> {
    let start = Start::new(labels)?;
    let (row_bits, exponent) = (start.row_bits, start.exponent);
    let ring = match params.sample_size {
        Some(size) => {
            Some(SampleRing::new(columns, labels, &start, size, mix(params.seed), interrupt)?)
        }
        None => None,
    };
    let walk = if params.is_sampled {
        ProgramWalk::sampled(columns, labels, start, params.seed)
    } else {
        let recomputes_masses = ring.is_none() && learner.learns_from_sums_only();
        ProgramWalk::expected(labels, start, params.n_rounds, recomputes_masses)
    };
    let class_rows = labels.class_rows().map(|rows| rows as f64);
    let mut rows = LearnerInMemory {
        walk,
        ring,
        learner,
        class_rows,
        seed: params.seed,
        sums: None,
        interrupt,
    };
    let nodes = boost_layers(&mut rows, params.n_rounds, &params.freezing, interrupt)?;
    Ok(BoostedLayers { nodes, row_bits, exponent })
}

/// Rows in memory.
struct LearnerInMemory<'a, L: TwoSidedLearner> {
    walk: ProgramWalk<'a>,
    ring: Option<SampleRing>,
    learner: &'a L,
    class_rows: [f64; 2],
    seed: u64,
    /// Sums of the last step.
    sums: Option<L::Sums>,
    interrupt: &'a Interrupt,
}

impl<L: TwoSidedLearner> LayerRows for LearnerInMemory<'_, L> {
    type Classifier = L::Classifier;

    fn class_rows(&self) -> [f64; 2] {
        self.class_rows
    }

    fn step(
        &mut self,
        earlier: &[(ClassMasses, Outcome<L::Classifier>)],
        before: &[Outcome<L::Classifier>],
        learns: bool,
    ) -> Result<Vec<ClassMasses>, RankError> {
        let learner = learns.then_some(self.learner);
        let (masses, sums) = self.walk.step(earlier, before, learner, self.interrupt)?;
        self.sums = sums;
        Ok(masses)
    }

    fn estimates(
        &mut self,
        layer: usize,
        total: ClassMasses,
        masses: &[ClassMasses],
    ) -> Result<Vec<ClassMasses>, RankError> {
        let Some(ring) = &self.ring else { return Ok(masses.to_vec()) };
        let estimate =
            |node| estimate(&self.walk, ring, total, node, seed_of(self.seed, layer, node));
        Ok((0..layer).into_par_iter().map(estimate).collect())
    }

    fn learn(&mut self, layer: &OpenLayer<'_>) -> Result<Vec<Option<L::Classifier>>, RankError> {
        let sums = self.sums.take().expect("of the step before");
        let layer = Layer {
            walk: &self.walk,
            number: layer.number,
            open: layer.open,
            masses: layer.masses,
            estimates: layer.estimates,
            ring: self.ring.as_ref(),
            seed: self.seed,
        };
        self.learner.learn(sums, &layer)
    }

    fn settle(&self, classifier: &mut L::Classifier) {
        if !self.walk.recomputes_masses() {
            self.learner.settle(classifier);
        }
    }
}

/// Mass of each class in a node, estimated from the share of a sample of the class in the node.
fn estimate(
    walk: &ProgramWalk<'_>,
    ring: &SampleRing,
    total: ClassMasses,
    node: usize,
    from: u64,
) -> ClassMasses {
    let of_class = |class: bool, total: u64| {
        let (mut here, mut all) = (0, 0);
        for row in ring.rows(class, from, |_| true) {
            here += walk.mass(row as usize, node);
            all += walk.mass_at_start(row as usize);
        }
        share_of(total, here, all)
    };
    ClassMasses { pos: of_class(true, total.pos), neg: of_class(false, total.neg) }
}

/// The part of a total in proportion to the mass `here` in a sample of mass `all`.
pub(super) fn share_of(total: u64, here: u64, all: u64) -> u64 {
    let product = u128::from(here) * u128::from(total);
    product.checked_div(u128::from(all)).unwrap_or(0) as u64
}
