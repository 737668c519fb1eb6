//! Layered branching programs, the model of `MartiRank` and `SMartiRank`, and their scores.
//!
//! A program takes O(T^2) small steps per row, most of them alike: compare a number, split a mass
//! by one of two probabilities. Rows are processed in tiles, column by column, and the masses of a
//! node are contiguous for all rows of a tile, so that a step is a few vector instructions for
//! several rows.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::chance::{Chance, MOST_ROW_BITS, split_mass};
use super::params::{MOST_ROUNDS, ProgramScore, Routing};
use super::places::{coin_at, place};
use crate::boost::term::Term;
use crate::boost::two_sided::TwoSided;
use crate::data::{ClassMasses, Columns, FeatureSteps, FeatureTerm, coin, times_power_of_two};
use crate::external::ExternalModels;
use crate::formula::{Formula, Opaque, Program, ProgramNode};
use crate::{RankError, parallel};

/// Maximum mass of a class, up to which sums are exact in `f64`.
const MOST_MASS: u64 = 1 << 53;

/// Bound on the exponents of units of mass, which covers all finite weights.
const EXPONENTS: i32 = 1200;

/// A layered branching program (paper 3 Figure 2). From node `i` of layer `t` a row goes to node
/// `i` of layer `t + 1`, or to node `i + 1` if the classifier predicts "positive"; `i` is the
/// number of votes for "positive" so far.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::fit_marti_rank;
/// # use aucrank::boost::{ThresholdCriterion, MartiParams, ProgramScore, Routing, WeakRankerParams};
/// # use aucrank::data::BinningParams;
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let params = MartiParams {
/// #     binning: BinningParams::default(), weak_ranker: WeakRankerParams::Feature, n_rounds: 3,
/// #     criterion: ThresholdCriterion::Sum, routing: Routing::Expected, score: ProgramScore::Votes,
/// #     noise_rate: Some(0.0), epsilon: None, min_samples_class: 0.0, sample_size: None, seed: 0,
/// # };
/// let program = fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default())?;
/// // Three layers of classifiers, and one of ends.
/// assert_eq!((program.n_rounds(), program.nodes().count()), (3, 1 + 2 + 3 + 4));
/// // The first classifier separates the classes: the others need not vote.
/// assert_eq!((program.twice_votes(2, 0), program.twice_votes(2, 1)), (Some(0), Some(2 * 3)));
/// let scores = program.score(&columns, None)?;
/// assert!(scores[1] < 0.0 && scores[2] > 0.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BranchingProgram {
    pub(super) n_levels: Vec<Option<u32>>,
    /// Number of layers of classifiers; the terminal nodes are one more layer.
    pub(super) n_rounds: usize,
    pub(super) routing: Routing,
    pub(super) score: ProgramScore,
    pub(super) seed: u64,
    /// Layer by layer.
    pub(super) nodes: Vec<MartiNode>,
    /// A row starts with 2 to this power units of mass.
    pub(super) row_bits: u32,
    /// Binary exponent of the unit of mass.
    pub(super) exponent: i32,
    pub(super) threshold: f64,
    /// The share of flipped labels that the fit assumed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) noise_rate: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "a signature of serde's")]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A node of a branching program.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::fit_marti_rank;
/// # use aucrank::boost::{ThresholdCriterion, MartiParams, ProgramScore, Routing, WeakRankerParams};
/// # use aucrank::data::BinningParams;
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true, true], None)?;
/// # let params = MartiParams {
/// #     binning: BinningParams::default(), weak_ranker: WeakRankerParams::Feature, n_rounds: 3,
/// #     criterion: ThresholdCriterion::Sum, routing: Routing::Expected, score: ProgramScore::Votes,
/// #     noise_rate: Some(0.0), epsilon: None, min_samples_class: 0.0, sample_size: None, seed: 0,
/// # };
/// let program = fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default())?;
/// // Rows of each class at the root, and where it says "positive".
/// let rows = |layer, index| {
///     let masses = program.node(layer, index).masses;
///     [masses.neg, masses.pos].map(|mass| mass as f64 * program.unit())
/// };
/// assert_eq!((rows(1, 0), rows(2, 1)), ([2.0, 3.0], [0.0, 3.0]));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MartiNode {
    /// Mass of each class that reached the node in the fit, in units of [`BranchingProgram::unit`].
    pub masses: ClassMasses,
    /// What happens there.
    pub kind: NodeKind,
}

/// What happens to a row at a node.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{NodeKind, fit_marti_rank};
/// # use aucrank::boost::{ThresholdCriterion, MartiParams, ProgramScore, Routing, WeakRankerParams};
/// # use aucrank::data::BinningParams;
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let params = MartiParams {
/// #     binning: BinningParams::default(), weak_ranker: WeakRankerParams::Feature, n_rounds: 3,
/// #     criterion: ThresholdCriterion::Sum, routing: Routing::Expected, score: ProgramScore::Votes,
/// #     noise_rate: Some(0.0), epsilon: None, min_samples_class: 0.0, sample_size: None, seed: 0,
/// # };
/// let program = fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default())?;
/// // The first classifier makes no mistake, so that one class is left at each of the next nodes.
/// let NodeKind::Ranker { cut, .. } = &program.node(1, 0).kind else { unreachable!() };
/// assert_eq!((cut.low, cut.high, cut.error), (0.0, 1.0, 0.0));
/// assert_eq!(program.node(2, 0).kind, NodeKind::Frozen { positive: false });
/// assert_eq!(program.node(2, 1).kind, NodeKind::Frozen { positive: true });
/// assert_eq!(program.node(3, 1).kind, NodeKind::Unreached);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A ranker, cut into a two-sided classifier, sends it on.
    Ranker {
        /// The probability of going right, "positive".
        term: Term,
        /// How the ranking is cut.
        cut: TwoSided,
    },
    /// No ranker is better than chance: a fair coin sends it on.
    Coin,
    /// The path ends early, at a label.
    Frozen {
        /// Whether the label is "positive".
        positive: bool,
    },
    /// The path ends in the last layer.
    Terminal,
    /// No training row reached the node. A row that does gets half of the remaining votes
    /// (DECISIONS B11).
    Unreached,
}

impl BranchingProgram {
    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// Number of layers of classifiers, the paper's T; layer T + 1 is that of the terminal nodes.
    #[must_use]
    pub fn n_rounds(&self) -> usize {
        self.n_rounds
    }

    /// The share of flipped labels that the fit assumed: the given one, or the guess that was
    /// chosen.
    #[must_use]
    pub fn noise_rate(&self) -> f64 {
        self.noise_rate
    }

    /// How rows pass through the program.
    #[must_use]
    pub fn routing(&self) -> Routing {
        self.routing
    }

    /// The raw score from which a row is predicted as positive, which is subtracted from the score.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Sets the raw score from which a row is predicted as positive, such as that of even odds.
    pub(crate) fn set_threshold(&mut self, threshold: f64) {
        self.threshold = threshold;
    }

    /// All nodes, layer by layer, with their layers (from 1) and indices (from 0).
    pub fn nodes(&self) -> impl Iterator<Item = (usize, usize, &MartiNode)> {
        let places = (1..=self.n_rounds + 1).flat_map(|layer| (0..layer).map(move |i| (layer, i)));
        places.zip(&self.nodes).map(|((layer, index), node)| (layer, index, node))
    }

    /// A node.
    ///
    /// # Panics
    ///
    /// If there is none: layers are 1 to T + 1, and layer t has nodes 0 to t - 1.
    #[must_use]
    pub fn node(&self, layer: usize, index: usize) -> &MartiNode {
        assert!((1..=self.n_rounds + 1).contains(&layer) && index < layer, "no such node");
        &self.nodes[place(layer, index)]
    }

    /// The unit of mass, in the unit of the training weights; without weights, in rows.
    #[must_use]
    pub fn unit(&self) -> f64 {
        times_power_of_two(1.0, self.exponent)
    }

    /// Twice the votes of a path that ends at a node, including the remaining ones; `None` if paths
    /// continue.
    #[must_use]
    pub fn twice_votes(&self, layer: usize, index: usize) -> Option<u64> {
        let left = self.n_rounds + 1 - layer;
        let twice = match self.node(layer, index).kind {
            NodeKind::Ranker { .. } | NodeKind::Coin => return None,
            NodeKind::Frozen { positive: true } => 2 * (index + left),
            NodeKind::Frozen { positive: false } | NodeKind::Terminal => 2 * index,
            NodeKind::Unreached => 2 * index + left,
        };
        Some(twice as u64)
    }

    /// For each feature the contribution of its classifiers to the AUC: the advantage of each over
    /// chance, `(1 - p_pos - p_neg) / 2`, times the share of all pairs of a positive and a negative
    /// row that are both in its node; the mean over the layers. The share of a tree is divided
    /// among its features by their squared gains. `None` if a ranker combines features in a way
    /// that cannot be attributed.
    #[must_use]
    pub fn importances(&self) -> Option<Vec<f64>> {
        let pairs = |masses: ClassMasses| masses.pos as f64 * masses.neg as f64;
        let all = pairs(self.nodes[0].masses) * self.n_rounds as f64;
        let mut importances = vec![0.0; self.n_levels.len()];
        for node in &self.nodes {
            if let NodeKind::Ranker { term, cut } = &node.kind {
                // Rates under noise are estimates, which may add up to more than 1.
                let advantage = (0.5 * (1.0 - cut.p_pos - cut.p_neg)).max(0.0);
                term.share_out(advantage * pairs(node.masses) / all, &mut importances)?;
            }
        }
        Some(importances)
    }

    /// Numbers of the external rankers of the program.
    #[must_use]
    pub fn external_rankers(&self) -> Vec<usize> {
        let number = |node: &MartiNode| match &node.kind {
            NodeKind::Ranker { term, .. } => term.external_number(),
            _ => None,
        };
        self.nodes.iter().filter_map(number).collect()
    }

    pub(super) fn terms_mut(&mut self) -> impl Iterator<Item = &mut Term> {
        self.nodes.iter_mut().filter_map(|node| match &mut node.kind {
            NodeKind::Ranker { term, .. } => Some(term),
            _ => None,
        })
    }

    /// Checks the consistency of a program read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let n_layers = self.n_rounds.saturating_add(1);
        if !(1..=MOST_ROUNDS).contains(&self.n_rounds) || self.nodes.len() != place(n_layers + 1, 0)
        {
            return Err(format!("{} nodes for {} rounds", self.nodes.len(), self.n_rounds));
        }
        if !(1..=MOST_ROW_BITS).contains(&self.row_bits) {
            return Err(format!("a row of {} bits", self.row_bits));
        }
        if !(-EXPONENTS..=EXPONENTS).contains(&self.exponent) {
            return Err(format!("a unit of 2^{}", self.exponent));
        }
        if !self.threshold.is_finite() {
            return Err("a threshold that is not a number".to_owned());
        }
        for (layer, index, node) in self.nodes() {
            node.check(layer == n_layers, &self.n_levels)
                .map_err(|what| format!("node {index} of layer {layer}: {what}"))?;
        }
        if matches!(self.nodes[0].kind, NodeKind::Unreached) {
            return Err("no row".to_owned());
        }
        Ok(())
    }
}

impl MartiNode {
    fn check(&self, is_last: bool, n_levels: &[Option<u32>]) -> Result<(), String> {
        let ClassMasses { pos, neg } = self.masses;
        if pos.max(neg) > MOST_MASS {
            return Err("too large a mass".to_owned());
        }
        let is_end = matches!(self.kind, NodeKind::Terminal);
        let is_unreached = matches!(self.kind, NodeKind::Unreached);
        if is_unreached != (pos + neg == 0) {
            return Err("a kind that its masses belie".to_owned());
        }
        if !is_unreached && is_end != is_last {
            return Err("a kind that its layer belies".to_owned());
        }
        let NodeKind::Ranker { term, cut } = &self.kind else { return Ok(()) };
        let rates = [cut.low, cut.high, cut.zeta, cut.p_pos, cut.p_neg, cut.error];
        if !rates.iter().all(|rate| (0.0..=1.0).contains(rate)) {
            return Err("a cut whose rates are none".to_owned());
        }
        term.check(n_levels)?;
        match term.all_values().find(|value| !(0.0..=1.0).contains(value)) {
            Some(value) => Err(format!("{value} is not a chance")),
            None => Ok(()),
        }
    }
}

impl BranchingProgram {
    /// The mean worth of the ends of a row.
    pub(in crate::boost) fn worth_formula(&self) -> Result<Program, Opaque> {
        if self.routing == Routing::Sampled {
            return Err(Opaque::RandomWalk);
        }
        let mut layers = vec![Vec::new(); self.n_rounds + 1];
        for (layer, index, node) in self.nodes() {
            layers[layer - 1].push(match &node.kind {
                NodeKind::Ranker { term, .. } => ProgramNode::Split(term.formula()),
                NodeKind::Coin => ProgramNode::Split(Formula::Constant(0.5)),
                _ => ProgramNode::End(self.worth(layer, index, node)),
            });
        }
        Ok(Program { row_bits: self.row_bits, layers })
    }
}

/// Rows scored together.
const TILE_ROWS: usize = 512;

/// The action of a node on a row.
#[derive(Debug)]
enum NodeAction<'p> {
    /// A threshold test on a number.
    Number { column: usize, threshold: f64, low: Chance, high: Chance, missing: Chance },
    /// Any other function of one feature.
    Feature { column: usize, term: &'p FeatureTerm },
    /// The probabilities from another kind of ranker, evaluated on all rows beforehand.
    Rows(Vec<Chance>),
    /// A fair coin.
    Coin,
    /// The end of a path, with its worth.
    End(u32),
}

/// A program prepared for fast scoring.
#[derive(Debug)]
struct ProgramScorer<'p> {
    program: &'p BranchingProgram,
    /// Layer by layer.
    steps: Vec<NodeAction<'p>>,
    /// Features in use, ascending.
    features: Vec<usize>,
}

/// Buffers for a tile of rows.
#[derive(Debug, Default)]
struct ProgramTile {
    /// Values by column.
    values: Vec<f64>,
    has_missing: Vec<bool>,
    /// Masses by node.
    masses: Vec<u32>,
    chances: Vec<Chance>,
}

impl BranchingProgram {
    /// Score of each row, above 0 if it is predicted as positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity, and errors of external rankers.
    pub fn score(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        if let Some(err) = columns.infinite_value() {
            return Err(err);
        }
        let scorer = ProgramScorer::new(self, columns, external)?;
        let mut scores = vec![0.0; columns.n_rows()];
        let of_tile = |tile: &mut ProgramTile, (number, scores): (usize, &mut [f64])| {
            columns.check_interrupt()?;
            let first = number * TILE_ROWS;
            scorer.score_rows(columns, first..first + scores.len(), tile, scores);
            Ok(())
        };
        let tiles = scores.chunks_mut(TILE_ROWS).enumerate().collect();
        let done: Result<(), RankError> =
            parallel::map_with(tiles, 1, ProgramTile::default, of_tile).into_iter().collect();
        done.map(|()| scores)
    }
}

impl<'p> ProgramScorer<'p> {
    fn new(
        program: &'p BranchingProgram,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Self, RankError> {
        let mut features: Vec<usize> = Vec::new();
        for node in &program.nodes {
            if let NodeKind::Ranker { term: Term::Feature(term), .. } = &node.kind {
                features.push(term.feature);
            }
        }
        features.sort_unstable();
        features.dedup();
        let column = |feature: usize| features.partition_point(|&tested| tested < feature);
        let nodes = program.nodes();
        let steps = nodes.map(|(layer, index, node)| {
            Ok(match &node.kind {
                NodeKind::Ranker { term: Term::Feature(term), .. } => {
                    step_of(term, column(term.feature))
                }
                NodeKind::Ranker { term, .. } => {
                    let mut chances = vec![0.0; columns.n_rows()];
                    term.add_values(columns, external, &mut chances)?;
                    NodeAction::Rows(chances.into_iter().map(Chance::new).collect())
                }
                NodeKind::Coin => NodeAction::Coin,
                _ => NodeAction::End(program.worth(layer, index, node)),
            })
        });
        let steps = steps.collect::<Result<_, RankError>>()?;
        Ok(Self { program, steps, features })
    }

    fn score_rows(
        &self,
        columns: &Columns<'_>,
        rows: Range<usize>,
        tile: &mut ProgramTile,
        scores: &mut [f64],
    ) {
        tile.read(columns, &self.features, rows.clone());
        let mut sums = [0_u64; TILE_ROWS];
        let sums = &mut sums[..rows.len()];
        match self.program.routing {
            Routing::Expected => self.spread(tile, rows, sums),
            Routing::Sampled => {
                for (place, (row, sum)) in rows.zip(sums.iter_mut()).enumerate() {
                    let coin = coin(columns, row, self.program.seed);
                    *sum = u64::from(self.walk(tile, place, row, coin)) << self.program.row_bits;
                }
            }
        }
        for (score, &sum) in scores.iter_mut().zip(&*sums) {
            *score = self.program.score_of(sum) - self.program.threshold;
        }
    }

    /// Sums the worth of all ends, times the mass that reaches them.
    fn spread(&self, tile: &mut ProgramTile, rows: Range<usize>, sums: &mut [u64]) {
        let n_rows = sums.len();
        let n_layers = self.program.n_rounds + 1;
        tile.masses.resize((n_layers + 1) * n_rows, 0);
        tile.masses[..n_rows].fill(1 << self.program.row_bits);
        tile.chances.resize(n_rows, Chance::HALF);
        let (masses, chances) = (&mut tile.masses, &mut tile.chances[..n_rows]);
        for layer in 1..=n_layers {
            masses[layer * n_rows..(layer + 1) * n_rows].fill(0);
            // From the last node on: a node's left part must be written before the node below adds
            // to it.
            for node in (0..layer).rev() {
                let (here, next) = masses[node * n_rows..].split_at_mut(n_rows);
                let next = &mut next[..n_rows];
                let column = |column: usize| &tile.values[column * n_rows..(column + 1) * n_rows];
                match &self.steps[place(layer, node)] {
                    NodeAction::Number { column: tested, threshold, low, high, missing } => {
                        let values = column(*tested);
                        let side = |value: f64| if value >= *threshold { *high } else { *low };
                        if tile.has_missing[*tested] {
                            let chance =
                                |value: f64| if value.is_nan() { *missing } else { side(value) };
                            split_mass(here, next, values, chance);
                        } else {
                            split_mass(here, next, values, side);
                        }
                    }
                    NodeAction::Feature { column: tested, term } => {
                        for (chance, &value) in chances.iter_mut().zip(column(*tested)) {
                            *chance = Chance::new(term.value(value));
                        }
                        split_mass(here, next, chances, |chance| chance);
                    }
                    NodeAction::Rows(of_row) => {
                        split_mass(here, next, &of_row[rows.clone()], |chance| chance);
                    }
                    NodeAction::Coin => {
                        chances.fill(Chance::HALF);
                        split_mass(here, next, chances, |chance| chance);
                    }
                    NodeAction::End(worth) => {
                        for (sum, mass) in sums.iter_mut().zip(here) {
                            *sum += u64::from(*mass) * u64::from(*worth);
                            *mass = 0;
                        }
                    }
                }
            }
        }
    }

    /// The worth of the end of the single path of a row.
    fn walk(&self, tile: &ProgramTile, place_in_tile: usize, row: usize, coin: u64) -> u32 {
        let n_rows = tile.values.len().checked_div(self.features.len()).unwrap_or(0);
        let mut node = 0;
        for layer in 1..=self.program.n_rounds + 1 {
            let chance = match &self.steps[place(layer, node)] {
                NodeAction::Number { column, threshold, low, high, missing } => {
                    let value = tile.values[column * n_rows + place_in_tile];
                    if value.is_nan() {
                        *missing
                    } else if value >= *threshold {
                        *high
                    } else {
                        *low
                    }
                }
                NodeAction::Feature { column, term } => {
                    Chance::new(term.value(tile.values[column * n_rows + place_in_tile]))
                }
                NodeAction::Rows(of_row) => of_row[row],
                NodeAction::Coin => Chance::HALF,
                NodeAction::End(worth) => return *worth,
            };
            node += usize::from(chance.falls_right(coin_at(coin, layer, node)));
        }
        unreachable!("in the last layer ways end")
    }
}

fn step_of(term: &FeatureTerm, column: usize) -> NodeAction<'_> {
    match &term.steps {
        FeatureSteps::Numeric { thresholds, values } if thresholds.len() == 1 => {
            NodeAction::Number {
                column,
                threshold: thresholds[0],
                low: Chance::new(values[0]),
                high: Chance::new(values[1]),
                missing: Chance::new(term.missing),
            }
        }
        _ => NodeAction::Feature { column, term },
    }
}

impl BranchingProgram {
    /// Contribution of the end of a path to the score, in units of [`BranchingProgram::score_of`].
    pub(super) fn worth(&self, layer: usize, index: usize, node: &MartiNode) -> u32 {
        let twice_votes = self.twice_votes(layer, index).expect("ways end here") as u32;
        match (self.score, &node.kind) {
            (ProgramScore::Votes, _) => twice_votes,
            (ProgramScore::Sign, NodeKind::Frozen { positive }) => u32::from(*positive),
            // A draw counts as positive (DECISIONS B15).
            (ProgramScore::Sign, _) => u32::from(twice_votes as usize >= self.n_rounds),
            (ProgramScore::NodeRate, kind) => {
                let is_unreached = matches!(kind, NodeKind::Unreached);
                let masses = if is_unreached { self.nodes[0].masses } else { node.masses };
                let (pos, neg) = (masses.pos as f64, masses.neg as f64);
                (pos / (pos + neg) * f64::from(1_u32 << 31)).round() as u32
            }
        }
    }

    fn score_of(&self, sum: u64) -> f64 {
        score_of(self.score, self.row_bits, sum)
    }

    /// The factor of the mean worth of a row, and the term that is then added. The product is
    /// exact.
    pub(in crate::boost) fn scale_of_worth(&self) -> (f64, f64) {
        scale_of_worth(self.score)
    }
}

#[inline]
fn scale_of_worth(score: ProgramScore) -> (f64, f64) {
    match score {
        ProgramScore::Votes => (0.5, 0.0),
        ProgramScore::Sign => (2.0, -1.0),
        ProgramScore::NodeRate => (1.0 / (1_u64 << 31) as f64, 0.0),
    }
}

/// The score from a sum of worths, each times its mass, if the mass of a row is 2 to the power of
/// `row_bits`. Equal sums give equal scores, since sums are integers.
#[inline]
pub(super) fn score_of(score: ProgramScore, row_bits: u32, sum: u64) -> f64 {
    let mean = sum as f64 / (1_u64 << row_bits) as f64;
    let (factor, constant) = scale_of_worth(score);
    factor * mean + constant
}

impl ProgramTile {
    fn read(&mut self, columns: &Columns<'_>, features: &[usize], rows: Range<usize>) {
        self.values.resize(features.len() * rows.len(), 0.0);
        self.has_missing.clear();
        for (values, &feature) in self.values.chunks_mut(rows.len()).zip(features) {
            columns[feature].read(rows.clone(), &mut *values);
            self.has_missing.push(values.iter().any(|value| value.is_nan()));
        }
    }
}
