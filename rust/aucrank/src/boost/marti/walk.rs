//! The distribution of the rows of a fit over the nodes of a layer.
//!
//! Rows step together in tiles, in which the masses of a node are contiguous for all rows, so that
//! a step is a few vector instructions for several rows. If there are few layers, and the
//! classifiers can be evaluated on all rows, masses are not stored: in each layer they are
//! recomputed from the root, tile by tile, which takes about as long as reading stored ones.

use super::chance::Chance;
use super::freezing::{Freezing, Reach};
use super::outcome::Outcome;
use super::places::place;
use super::sample_ring::SampleRing;
use super::start::Start;
use crate::boost::term::{LevelBudget, Term};
use crate::boost::two_sided::{ThresholdCriterion, TwoSided, two_sided};
use crate::boost::weak::feature::{Best, BinRule};
use crate::boost::weak::{RankGroups, WeakRanking};
use crate::data::{Binned, ClassMasses, Columns, Labels, MassHistogram, RowUnits, coin, mix};
use crate::{FitPart, Interrupt, RankError, parallel};

/// Rows that step together: their masses stay in the first-level cache.
pub(super) const TILE_ROWS: usize = 512;

/// Maximum number of layers for which masses are recomputed: the steps of a row grow as the cube of
/// the layers.
const MOST_LAYERS_RECOMPUTED: usize = 16;

/// The nodes of rows in one layer.
#[derive(Debug)]
pub(super) enum NodePlaces {
    /// Rows are spread over all nodes: tile by tile, the masses of the rows for each node.
    Spread { masses: Vec<u32>, stride: usize },
    /// The same, recomputed instead of stored.
    Recomputed,
    /// Each row is in one node.
    Single { nodes: Vec<u32>, coins: Vec<u64> },
}

/// The rows of a fit during the walk.
#[derive(Debug)]
pub(super) struct ProgramWalk<'a> {
    pub(super) positive: &'a [bool],
    pub(super) start: Start<'a>,
    pub(super) places: NodePlaces,
}

impl<'a> ProgramWalk<'a> {
    /// All rows at the root, to be spread over the nodes. Masses are recomputed in each pass if the
    /// learner needs only their sums and every classifier remains available.
    pub(super) fn expected(
        labels: &Labels<'a>,
        start: Start<'a>,
        n_rounds: usize,
        recomputes_masses: bool,
    ) -> Self {
        let places = if recomputes_masses && n_rounds <= MOST_LAYERS_RECOMPUTED {
            NodePlaces::Recomputed
        } else {
            let stride = n_rounds + 1;
            let mut masses = vec![0; labels.n_rows() * stride];
            for (tile, masses) in masses.chunks_mut(TILE_ROWS * stride).enumerate() {
                let n_rows = masses.len() / stride;
                set_out(&start, tile * TILE_ROWS, &mut masses[..n_rows]);
            }
            NodePlaces::Spread { masses, stride }
        };
        Self { positive: labels.positive(), start, places }
    }

    /// Whether classifiers are evaluated again in later layers.
    pub(super) fn recomputes_masses(&self) -> bool {
        matches!(self.places, NodePlaces::Recomputed)
    }

    /// All rows at the root, to take one path each.
    pub(super) fn sampled(
        columns: &Columns<'_>,
        labels: &Labels<'a>,
        start: Start<'a>,
        seed: u64,
    ) -> Self {
        let coins = parallel::values(labels.n_rows(), |row| coin(columns, row, seed));
        let nodes = vec![0; labels.n_rows()];
        Self { positive: labels.positive(), start, places: NodePlaces::Single { nodes, coins } }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.positive.len()
    }

    /// Mass of a row in a node.
    pub(super) fn mass(&self, row: usize, node: usize) -> u64 {
        let mass = match &self.places {
            NodePlaces::Spread { masses, stride } => {
                let first = row - row % TILE_ROWS;
                let n_rows = TILE_ROWS.min(self.n_rows() - first);
                masses[first * stride + node * n_rows + row % TILE_ROWS]
            }
            NodePlaces::Recomputed => {
                unreachable!("nobody asks for masses that are not remembered")
            }
            NodePlaces::Single { nodes, .. } if nodes[row] as usize == node => self.start.mass(row),
            NodePlaces::Single { .. } => 0,
        };
        u64::from(mass) * u64::from(self.start.copies(row))
    }

    /// Mass of a row at the root.
    pub(super) fn mass_at_start(&self, row: usize) -> u64 {
        self.start.total_mass(row)
    }

    /// Mass of every row in a node.
    pub(super) fn masses(&self, node: usize) -> Vec<u64> {
        parallel::values(self.n_rows(), |row| self.mass(row, node))
    }

    /// All rows, tile by tile.
    pub(super) fn tiles(&self, n_nodes: usize) -> impl Iterator<Item = MassTile<'_>> {
        (0..self.n_rows()).step_by(TILE_ROWS).map(move |first| {
            let rows = first..self.n_rows().min(first + TILE_ROWS);
            let places = match &self.places {
                NodePlaces::Spread { masses, stride } => {
                    TilePlaces::Spread(&masses[rows.start * stride..rows.end * stride])
                }
                NodePlaces::Recomputed => {
                    unreachable!("nobody asks for masses that are not remembered")
                }
                NodePlaces::Single { nodes, .. } => {
                    TilePlaces::Single { nodes: &nodes[rows.clone()] }
                }
            };
            MassTile { start: &self.start, first, positive: &self.positive[rows], n_nodes, places }
        })
    }
}

/// Places some rows at the root.
pub(super) fn set_out(start: &Start<'_>, first: usize, root: &mut [u32]) {
    for (row, mass) in (first..).zip(root) {
        *mass = start.mass(row);
    }
}

/// A layer whose nodes are about to learn.
///
/// # Examples
///
/// A learner that inspects its layers, and finds no classifier better than chance:
///
/// ```
/// use aucrank::boost::{Layer, MartiBoostParams, MassTile, TwoSidedLearner, marti_boost};
/// # use aucrank::boost::{Chance, RowChance};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::{Interrupt, RankError};
///
/// # struct Half;
/// # impl RowChance for Half {
/// #     fn chance(&self, _row: usize) -> Chance { Chance::HALF }
/// # }
/// struct Learner;
///
/// impl TwoSidedLearner for Learner {
///     type Classifier = Half;
///     type Sums = ();
///
///     fn empty(&self, _: usize) {}
///     fn add(&self, (): &mut (), _: &MassTile<'_>) {}
///     fn merge(&self, (): &mut (), (): ()) {}
///
///     fn learn(&self, (): (), layer: &Layer<'_>) -> Result<Vec<Option<Half>>, RankError> {
///         // Layer t has nodes 0 to t - 1; coins send some of every row to each of them.
///         assert_eq!(layer.open(), (0..layer.number()).collect::<Vec<_>>());
///         assert_eq!(layer.rows(0), [0, 1, 2, 3]);
///         let of_node = layer.class_masses()[0];
///         assert_eq!(layer.masses(0).iter().sum::<u64>(), of_node.pos + of_node.neg);
///         Ok(layer.open().iter().map(|_| None).collect())
///     }
/// }
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let params = MartiBoostParams { n_rounds: 3, ..MartiBoostParams::default() };
/// marti_boost(&columns, &labels, &params, &Learner, &Interrupt::default())?;
/// # Ok::<(), RankError>(())
/// ```
#[derive(Debug)]
pub struct Layer<'a> {
    pub(super) walk: &'a ProgramWalk<'a>,
    pub(super) number: usize,
    pub(super) open: &'a [usize],
    pub(super) masses: &'a [ClassMasses],
    pub(super) estimates: &'a [ClassMasses],
    pub(super) ring: Option<&'a SampleRing>,
    pub(super) seed: u64,
}

impl Layer<'_> {
    /// Its number, counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The nodes that learn, ascending: those reached and not frozen.
    #[must_use]
    pub fn open(&self) -> &[usize] {
        self.open
    }

    /// Mass of each class in each node of the layer.
    #[must_use]
    pub fn class_masses(&self) -> &[ClassMasses] {
        self.masses
    }

    /// Mass of each class in each node, as estimated from the samples of the nodes.
    #[must_use]
    pub fn estimates(&self) -> &[ClassMasses] {
        self.estimates
    }

    /// Mass of every row in a node.
    #[must_use]
    pub fn masses(&self, node: usize) -> Vec<u64> {
        self.walk.masses(node)
    }

    /// Rows that a node learns from, ascending: all that have mass there, or a sample of them.
    #[must_use]
    pub fn rows(&self, node: usize) -> Vec<u32> {
        let has_mass = |row: u32| self.walk.mass(row as usize, node) > 0;
        let Some(ring) = self.ring else {
            return (0..self.walk.n_rows() as u32).filter(|&row| has_mass(row)).collect();
        };
        let from = self.seed_of(node);
        let mut rows = ring.rows(false, from, has_mass);
        rows.extend(ring.rows(true, from, has_mass));
        rows.sort_unstable();
        rows
    }

    /// A random seed for a node.
    #[must_use]
    pub fn seed_of(&self, node: usize) -> u64 {
        seed_of(self.seed, self.number, node)
    }
}

/// A random seed for a node of a layer.
pub(super) fn seed_of(seed: u64, layer: usize, node: usize) -> u64 {
    mix(seed ^ mix(place(layer, node) as u64))
}

/// Rows that go through a program, layer by layer.
pub(super) trait LayerRows {
    /// The classifier that sends rows on at a node.
    type Classifier;

    /// Number of rows of each class at the root, negatives first.
    fn class_rows(&self) -> [f64; 2];

    /// Takes the rows to the layer after `before`, whose nodes come after `earlier` ones; returns
    /// the mass of each class in each of its nodes. If it `learns`, sums are collected as well.
    fn step(
        &mut self,
        earlier: &[(ClassMasses, Outcome<Self::Classifier>)],
        before: &[Outcome<Self::Classifier>],
        learns: bool,
    ) -> Result<Vec<ClassMasses>, RankError>;

    /// Estimates the mass of each class in each node, if nodes learn from samples; `total` is the
    /// mass at the root.
    fn estimates(
        &mut self,
        layer: usize,
        total: ClassMasses,
        masses: &[ClassMasses],
    ) -> Result<Vec<ClassMasses>, RankError>;

    /// A classifier for each of the open nodes, from the sums of the last step.
    fn learn(&mut self, layer: &OpenLayer<'_>) -> Result<Vec<Option<Self::Classifier>>, RankError>;

    /// Frees data of a classifier that only the rows needed, after its last step.
    fn settle(&self, classifier: &mut Self::Classifier) {
        let _ = classifier;
    }
}

/// A layer whose open nodes learn.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenLayer<'a> {
    /// Counted from 1.
    pub(super) number: usize,
    /// The nodes that learn, ascending.
    pub(super) open: &'a [usize],
    pub(super) masses: &'a [ClassMasses],
    pub(super) estimates: &'a [ClassMasses],
}

/// The nodes of layers, each with the mass of each class that reaches it.
pub(super) type LayerNodes<C> = Vec<(ClassMasses, Outcome<C>)>;

/// Learns all layers, and returns their nodes.
pub(super) fn boost_layers<R: LayerRows>(
    rows: &mut R,
    n_rounds: usize,
    freezing: &Freezing,
    interrupt: &Interrupt,
) -> Result<LayerNodes<R::Classifier>, RankError> {
    let class_rows = rows.class_rows();
    let mut nodes: LayerNodes<R::Classifier> = Vec::new();
    let mut before: Vec<Outcome<R::Classifier>> = Vec::new();
    let mut total = ClassMasses::default();
    for layer in 1..=n_rounds + 1 {
        let masses = rows.step(&nodes, &before, layer <= n_rounds)?;
        for (node, outcome) in (place(layer, 0) - before.len()..).zip(&mut before) {
            if let Outcome::Classifier(classifier) = outcome {
                rows.settle(classifier);
            }
            nodes[node].1 = std::mem::replace(outcome, Outcome::Unreached);
        }
        if layer == 1 {
            total = masses[0];
        }
        let estimates = rows.estimates(layer, total, &masses)?;
        before = masses
            .iter()
            .zip(&estimates)
            .map(|(masses, &node)| {
                if masses.pos + masses.neg == 0 {
                    return Outcome::Unreached;
                }
                if layer > n_rounds {
                    return Outcome::Terminal;
                }
                let label = freezing.label(&Reach { node, total, rows: class_rows }, n_rounds);
                label.map_or(Outcome::Coin, |positive| Outcome::Frozen { positive })
            })
            .collect();
        if layer <= n_rounds {
            let is_open = |&node: &usize| matches!(before[node], Outcome::Coin);
            let open: Vec<usize> = (0..layer).filter(is_open).collect();
            let task =
                OpenLayer { number: layer, open: &open, masses: &masses, estimates: &estimates };
            let found = rows.learn(&task)?;
            for (node, classifier) in open.into_iter().zip(found) {
                if let Some(classifier) = classifier {
                    before[node] = Outcome::Classifier(classifier);
                }
            }
        }
        nodes.extend(masses.into_iter().map(|masses| (masses, Outcome::Unreached)));
        if layer <= n_rounds {
            // The program needs all of its layers.
            let (number, most) = (layer, Some(n_rounds));
            interrupt.part_done(&FitPart { unit: "layer", number, most, figures: &[] })?;
        }
    }
    let last = nodes.len() - before.len();
    for (node, outcome) in nodes[last..].iter_mut().zip(before) {
        node.1 = outcome;
    }
    Ok(nodes)
}

/// Node of a row whose path has ended.
pub(super) const ENDED: u32 = u32::MAX;

/// A tile of rows in a layer, with their masses in its nodes.
///
/// # Examples
///
/// The [`add`](crate::boost::TwoSidedLearner::add) of a learner that needs the mass of the positive
/// rows of each node:
///
/// ```
/// use aucrank::boost::MassTile;
///
/// fn add(positive_masses: &mut [u64], tile: &MassTile<'_>) {
///     assert_eq!(positive_masses.len(), tile.n_nodes());
///     tile.for_each(|row, node, mass| {
///         if tile.is_positive(row) {
///             positive_masses[node] += mass;
///         }
///     });
/// }
/// ```
#[derive(Debug)]
pub struct MassTile<'a> {
    pub(super) start: &'a Start<'a>,
    pub(super) first: usize,
    pub(super) positive: &'a [bool],
    pub(super) n_nodes: usize,
    pub(super) places: TilePlaces<'a>,
}

#[derive(Debug)]
pub(super) enum TilePlaces<'a> {
    /// The masses of the rows, for each node.
    Spread(&'a [u32]),
    /// The node of each row.
    Single { nodes: &'a [u32] },
}

impl MassTile<'_> {
    /// Number of nodes of the layer.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.positive.len()
    }

    /// Whether a row is positive, by its number in the sample.
    #[must_use]
    pub fn is_positive(&self, row: usize) -> bool {
        self.positive[row - self.first]
    }

    /// Calls `add` with row, node and mass for each nonzero mass.
    pub fn for_each(&self, mut add: impl FnMut(usize, usize, u64)) {
        match self.places {
            TilePlaces::Spread(masses) => {
                let nodes = masses.chunks_exact(self.n_rows()).take(self.n_nodes);
                for (node, masses) in nodes.enumerate() {
                    for (row, &mass) in (self.first..).zip(masses).filter(|(_, mass)| **mass > 0) {
                        add(row, node, u64::from(mass) * u64::from(self.start.copies(row)));
                    }
                }
            }
            TilePlaces::Single { nodes } => {
                for (row, &node) in (self.first..).zip(nodes) {
                    let mass = self.start.total_mass(row);
                    if node != ENDED && mass > 0 {
                        add(row, node as usize, mass);
                    }
                }
            }
        }
    }

    /// Adds the rows to the sums of each class, negatives first, over the nodes.
    pub(super) fn add_to_nodes(&self, sums: &mut [Vec<u64>; 2]) {
        let TilePlaces::Spread(masses) = self.places else {
            self.for_each(|row, node, mass| sums[usize::from(self.is_positive(row))][node] += mass);
            return;
        };
        let [neg, pos] = sums;
        let of_nodes = masses.chunks_exact(self.n_rows());
        for ((neg, pos), masses) in neg.iter_mut().zip(pos).zip(of_nodes) {
            for ((row, &is_positive), &mass) in (self.first..).zip(self.positive).zip(masses) {
                let mass = u64::from(mass) * u64::from(self.start.copies(row));
                let of_pos = mass * u64::from(is_positive);
                *pos += of_pos;
                *neg += mass - of_pos;
            }
        }
    }

    /// Adds the rows to a histogram; `by_row` is scratch memory.
    pub(super) fn add_to(
        &self,
        histogram: &mut MassHistogram,
        binned: &Binned,
        by_row: &mut Vec<u64>,
    ) {
        let TilePlaces::Spread(masses) = self.places else {
            self.for_each(|row, node, mass| {
                histogram.add_to_one(binned, row, self.is_positive(row), node, mass);
            });
            return;
        };
        let width = MassHistogram::width(self.n_nodes);
        by_row.resize(self.n_rows() * width, 0);
        let of_nodes = masses.chunks_exact(self.n_rows()).take(self.n_nodes);
        for (node, masses) in of_nodes.enumerate() {
            let places = by_row.iter_mut().skip(node).step_by(width);
            for ((row, &mass), place) in (self.first..).zip(masses).zip(places) {
                *place = u64::from(mass) * u64::from(self.start.copies(row));
            }
        }
        histogram.add(binned, self.first, self.positive, by_row);
    }
}

/// Least advantage of a ranking over a coin.
const LEAST_ADVANTAGE: f64 = 1e-12;

/// Chooses features by the masses of their bins, and cuts rankings.
#[derive(Debug)]
pub(super) struct Cutter {
    criterion: ThresholdCriterion,
    noise_rate: f64,
    /// Budget for the values of categories in the terms of all nodes.
    budget: LevelBudget,
}

/// A ranking that was cut.
#[derive(Debug)]
pub(super) struct Cut {
    /// The probability of going right.
    pub(super) term: Term,
    pub(super) two_sided: TwoSided,
    pub(super) groups: RankGroups,
    /// The probability of each group.
    pub(super) values: Vec<f64>,
}

impl Cutter {
    pub(super) fn new(criterion: ThresholdCriterion, noise_rate: f64) -> Self {
        Self { criterion, noise_rate, budget: LevelBudget::default() }
    }

    /// Reserves the values of the term of one more node.
    pub(super) fn spend(&self, term: &Term) -> Result<(), RankError> {
        self.budget.spend(term)
    }

    /// Cuts a ranking; `None` if it is no better than a coin. Samples hold the classes in other
    /// proportions than the population: `natural` are the masses that they represent.
    pub(super) fn cut(
        &self,
        binned: &Binned,
        mut ranking: WeakRanking,
        natural: Option<ClassMasses>,
    ) -> Option<Cut> {
        let sums = match natural {
            Some(natural) => rescaled(&ranking.sums, natural),
            None => std::mem::take(&mut ranking.sums),
        };
        // An error means that noise alone explains a class, so that there is nothing to learn.
        let cut = two_sided(&sums, self.criterion, self.noise_rate).ok()?;
        if cut.error >= 0.5 - LEAST_ADVANTAGE {
            return None;
        }
        let [low, high] = [cut.low, cut.high].map(Chance::new);
        let chance = |group: usize| if group < cut.n_low { low } else { high };
        // A probability converts to a float and back without loss.
        let values: Vec<f64> = (0..sums.len()).map(|group| chance(group).value()).collect();
        let features = binned.features();
        let (term, groups) = ranking.into_term(features, &values, Chance::HALF.value());
        Some(Cut { term, two_sided: cut, groups, values })
    }
}

/// The best one-byte features of some nodes.
pub(super) fn best_narrow(
    rule: BinRule,
    binned: &Binned,
    histogram: &MassHistogram,
    open: &[usize],
    units: &[Option<RowUnits>],
) -> Vec<Best> {
    let best_of = |&node: &usize| {
        let mut best = Best::default();
        for feature in 0..binned.features().len() {
            if let Some(occupied) = histogram.occupied(binned, feature, node) {
                best.ask(binned, feature, occupied, units[node].as_ref(), rule);
            }
        }
        best
    };
    parallel::map(open.iter().collect(), best_of)
}

/// Masses of the codes of one wide feature in some nodes.
#[derive(Debug, Clone)]
pub(crate) struct WideSums {
    n_nodes: usize,
    /// By code, then by node.
    pub(super) sums: Vec<ClassMasses>,
}

/// Memory in bytes for the sums of one wide feature over a batch of nodes; more nodes take further
/// passes over the rows.
const WIDE_BYTES: usize = 64 << 20;

impl WideSums {
    /// Number of nodes to sum at once.
    pub(super) fn n_at_once(n_codes: usize) -> usize {
        (WIDE_BYTES / (n_codes * size_of::<ClassMasses>())).max(1)
    }

    pub(super) fn new(n_codes: usize, n_nodes: usize) -> Self {
        Self { n_nodes, sums: vec![ClassMasses::default(); n_codes * n_nodes] }
    }

    #[inline]
    pub(super) fn add(&mut self, code: u32, node: usize, positive: bool, mass: u64) {
        let sum = &mut self.sums[code as usize * self.n_nodes + node];
        if positive { sum.pos += mass } else { sum.neg += mass }
    }

    pub(super) fn merge(&mut self, more: &Self) {
        self.sums.iter_mut().zip(&more.sums).for_each(|(own, more)| *own += *more);
    }

    /// Compares each of the best features, one for each node, to this one.
    pub(super) fn ask<'a>(
        &self,
        rule: BinRule,
        binned: &Binned,
        feature: usize,
        best: impl Iterator<Item = (&'a mut Best, Option<&'a RowUnits>)>,
    ) {
        for (node, (best, units)) in best.enumerate() {
            let of_node = self.sums.iter().skip(node).step_by(self.n_nodes).copied();
            best.ask(binned, feature, (0..).zip(of_node), units, rule);
        }
    }
}

/// Groups rescaled to the given total masses of the classes.
fn rescaled(groups: &[ClassMasses], natural: ClassMasses) -> Vec<ClassMasses> {
    let total: ClassMasses = groups.iter().copied().sum();
    let scaled = |mass: u64, from: u64, to: u64| {
        let product = u128::from(mass) * u128::from(to) + u128::from(from / 2);
        product.checked_div(u128::from(from)).unwrap_or(0) as u64
    };
    let of_group = |group: &ClassMasses| ClassMasses {
        pos: scaled(group.pos, total.pos, natural.pos),
        neg: scaled(group.neg, total.neg, natural.neg),
    };
    groups.iter().map(of_group).collect()
}
