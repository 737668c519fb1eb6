//! One pass over the rows: the step of a layer, and the sums of the learner.

use super::fit::MartiParams;
use super::in_memory::Start;
use super::learner::{Outcome, RowChance, TwoSidedLearner};
use super::program::{coin_at, place};
use super::walk::{ENDED, MassTile, NodePlaces, ProgramWalk, TILE_ROWS, TilePlaces, set_out};
use crate::data::{ClassMasses, Columns, Labels, content_hashes};
use crate::parallel::prelude::*;
use crate::{Interrupt, RankError, parallel};

/// Minimum number of rows per thread.
const PART_ROWS: usize = 16 * TILE_ROWS;

impl ProgramWalk<'_> {
    /// One pass: rows take the step given by the layer `before`, and the learner, if given,
    /// accumulates its sums. Also returns the mass of each class in each node. `earlier` are the
    /// nodes of all layers before that one.
    pub(super) fn step<L: TwoSidedLearner>(
        &mut self,
        earlier: &[(ClassMasses, Outcome<L::Classifier>)],
        before: &[Outcome<L::Classifier>],
        learner: Option<&L>,
        interrupt: &Interrupt,
    ) -> Result<(Vec<ClassMasses>, Option<L::Sums>), RankError> {
        let n_nodes = before.len() + 1;
        let part_rows =
            self.n_rows().div_ceil(crate::parallel::current_num_threads()).max(PART_ROWS);
        let part_rows = part_rows.next_multiple_of(TILE_ROWS);
        let (positive, start) = (self.positive, &self.start);
        let empty = || PassSums {
            masses: [vec![0; n_nodes], vec![0; n_nodes]],
            learner: learner.map(|learner| learner.empty(n_nodes)),
        };
        let parts: Vec<PassSums<L::Sums>> = match &mut self.places {
            NodePlaces::Spread { masses, stride } => {
                let stride = *stride;
                let parts = masses.chunks_mut(part_rows * stride).enumerate().collect();
                parallel::try_map(parts, |(part, masses): (usize, &mut [u32])| {
                    let mut sums = empty();
                    let mut chances = vec![Chance::HALF; TILE_ROWS];
                    for (tile, masses) in masses.chunks_mut(TILE_ROWS * stride).enumerate() {
                        interrupt.check()?;
                        let first = part * part_rows + tile * TILE_ROWS;
                        let positive = &positive[first..first + masses.len() / stride];
                        spread(before.iter(), first, masses, &mut chances[..positive.len()]);
                        let places = TilePlaces::Spread(masses);
                        sums.add(learner, &MassTile { start, first, positive, n_nodes, places });
                    }
                    Ok(sums)
                })?
            }
            NodePlaces::Recomputed => {
                let parts = positive.chunks(part_rows).enumerate().collect();
                parallel::try_map(parts, |(part, positive): (usize, &[bool])| {
                    let mut sums = empty();
                    let mut chances = vec![Chance::HALF; TILE_ROWS];
                    let mut all_masses = vec![0; TILE_ROWS * n_nodes];
                    for (tile, positive) in positive.chunks(TILE_ROWS).enumerate() {
                        interrupt.check()?;
                        let first = part * part_rows + tile * TILE_ROWS;
                        let n_rows = positive.len();
                        let chances = &mut chances[..n_rows];
                        let masses = &mut all_masses[..n_nodes * n_rows];
                        let layers = (1..before.len()).map(|layer| {
                            let nodes = &earlier[place(layer, 0)..place(layer + 1, 0)];
                            nodes.iter().map(|(_, outcome)| outcome)
                        });
                        spread_from_root(start, layers, first, masses, chances);
                        spread(before.iter(), first, masses, chances);
                        let places = TilePlaces::Spread(masses);
                        sums.add(learner, &MassTile { start, first, positive, n_nodes, places });
                    }
                    Ok(sums)
                })?
            }
            NodePlaces::Single { nodes, coins } => {
                let parts = nodes.chunks_mut(part_rows).zip(coins.chunks(part_rows)).enumerate();
                parallel::try_map(parts.collect(), |(part, (nodes, coins))| {
                    let mut sums = empty();
                    let tiles = nodes.chunks_mut(TILE_ROWS).zip(coins.chunks(TILE_ROWS));
                    for (tile, (nodes, coins)) in tiles.enumerate() {
                        interrupt.check()?;
                        let first = part * part_rows + tile * TILE_ROWS;
                        move_on(before, first, nodes, coins);
                        let positive = &positive[first..first + nodes.len()];
                        let places = TilePlaces::Single { nodes };
                        sums.add(learner, &MassTile { start, first, positive, n_nodes, places });
                    }
                    Ok(sums)
                })?
            }
        };
        let mut parts = parts.into_iter();
        let mut sums = parts.next().unwrap_or_else(empty);
        for part in parts {
            let more = part.masses.iter().flatten();
            sums.masses.iter_mut().flatten().zip(more).for_each(|(sum, more)| *sum += more);
            if let (Some(learner), Some(sums), Some(more)) =
                (learner, &mut sums.learner, part.learner)
            {
                learner.merge(sums, more);
            }
        }
        let [neg, pos] = sums.masses;
        let masses = neg.into_iter().zip(pos).map(|(neg, pos)| ClassMasses { pos, neg });
        Ok((masses.collect(), sums.learner))
    }
}

/// The sums of a pass.
struct PassSums<S> {
    /// Mass in each node of each class, negatives first.
    masses: [Vec<u64>; 2],
    learner: Option<S>,
}

impl<S> PassSums<S> {
    fn add<L: TwoSidedLearner<Sums = S>>(&mut self, learner: Option<&L>, tile: &MassTile<'_>) {
        tile.add_to_nodes(&mut self.masses);
        if let (Some(learner), Some(sums)) = (learner, &mut self.learner) {
            learner.add(sums, tile);
        }
    }
}

/// Spreads some rows over the layer after others, from the root on.
#[inline]
pub(super) fn spread_from_root<'o, C: RowChance + 'o, O>(
    start: &Start<'_>,
    layers: impl Iterator<Item = O>,
    first: usize,
    masses: &mut [u32],
    chances: &mut [Chance],
) where
    O: DoubleEndedIterator<Item = &'o Outcome<C>> + ExactSizeIterator,
{
    let (root, others) = masses.split_at_mut(chances.len());
    set_out(start, first, root);
    others.fill(0);
    for outcomes in layers {
        spread(outcomes, first, masses, chances);
    }
}

/// Splits the masses of some rows; `chances` is scratch memory with an element per row.
#[inline]
pub(super) fn spread<'o, C: RowChance + 'o>(
    before: impl DoubleEndedIterator<Item = &'o Outcome<C>> + ExactSizeIterator,
    first: usize,
    masses: &mut [u32],
    chances: &mut [Chance],
) {
    let n_rows = chances.len();
    // From the last node on: a node's left part must be written before the node below adds to it.
    for (node, outcome) in before.enumerate().rev() {
        let (here, next) = masses[node * n_rows..].split_at_mut(n_rows);
        match outcome {
            Outcome::Classifier(classifier) => classifier.chances(first..first + n_rows, chances),
            Outcome::Coin => chances.fill(Chance::HALF),
            Outcome::Frozen { .. } | Outcome::Terminal | Outcome::Unreached => {
                here.fill(0);
                continue;
            }
        }
        split_mass(here, next, chances, |chance| chance);
    }
}

/// Sends each of some rows to the next layer.
fn move_on<C: RowChance>(before: &[Outcome<C>], first: usize, nodes: &mut [u32], coins: &[u64]) {
    if before.is_empty() {
        return;
    }
    for ((row, node), &coin) in (first..).zip(nodes).zip(coins) {
        if *node == ENDED {
            continue;
        }
        let chance = match &before[*node as usize] {
            Outcome::Classifier(classifier) => classifier.chance(row),
            Outcome::Coin => Chance::HALF,
            Outcome::Frozen { .. } | Outcome::Terminal | Outcome::Unreached => {
                *node = ENDED;
                continue;
            }
        };
        *node += u32::from(chance.falls_right(coin_at(coin, before.len(), *node as usize)));
    }
}

/// When a node is frozen: its label then decides for the rows that reach it.
///
/// A class is rare in a node that almost none of its mass reaches, and a node where one class is
/// rare gets the label of the other (DECISIONS E8). If both are rare, the label is that of the
/// class with the larger share in the node, and negative if the shares are equal (B9). Without any
/// rule a class is rare only if it has no mass (B8).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{Freezing, MartiBoostParams, Outcome, marti_boost};
/// # use aucrank::boost::{Chance, Layer, MassTile, RowChance, TwoSidedLearner};
/// use aucrank::data::{Columns, Labels};
///
/// # struct Half;
/// # impl RowChance for Half {
/// #     fn chance(&self, _row: usize) -> Chance { Chance::HALF }
/// # }
/// # struct Learner;
/// # impl TwoSidedLearner for Learner {
/// #     type Classifier = Half;
/// #     type Sums = ();
/// #     fn empty(&self, _: usize) {}
/// #     fn add(&self, (): &mut (), _: &MassTile<'_>) {}
/// #     fn merge(&self, (): &mut (), (): ()) {}
/// #     fn learn(
/// #         &self, (): (), layer: &Layer<'_>,
/// #     ) -> Result<Vec<Option<Half>>, aucrank::RankError> {
/// #         Ok(layer.open().iter().map(|_| Some(Half)).collect())
/// #     }
/// # }
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0], 1)?;
/// let labels = Labels::new(&[false, true, true, true, true], None)?;
/// // A node needs two rows of each class, and only one is negative.
/// let freezing = Freezing { min_rows: 2.0, ..Freezing::default() };
/// let params = MartiBoostParams { n_rounds: 1, freezing, ..MartiBoostParams::default() };
/// let done = marti_boost(&columns, &labels, &params, &Learner, &Interrupt::default())?;
/// assert!(matches!(done.nodes[0].1, Outcome::Frozen { positive: true }));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Freezing {
    /// A class is rare if less than `epsilon / (T (T + 1))` of its mass reaches the node
    /// (inequality 2). Under noise, where that is an estimate, `epsilon / (4 T (T + 1))` or less.
    pub epsilon: Option<f64>,
    /// A class is rare if fewer of its rows reach the node than this, each counting by the share
    /// that does.
    pub min_rows: f64,
    /// Share of flipped labels. Masses are then estimates of those by true labels; negative
    /// estimates count as zero (B10).
    pub noise_rate: f64,
}

/// Relative error of the number of rows in a node: their parts are rounded at each step, and so is
/// their sum.
const ROUNDING: f64 = 1e-6;

/// The masses that reach a node, relative to those at the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// Mass of each class that reaches the node.
    pub(super) node: ClassMasses,
    /// Mass of each class at the root.
    pub(super) total: ClassMasses,
    /// Rows of each class at the root, negatives first.
    pub(super) rows: [f64; 2],
}

impl Freezing {
    /// The rules of a fit at a share of flipped labels.
    pub(super) fn of(params: &MartiParams, noise_rate: f64) -> Self {
        Self { epsilon: params.epsilon, min_rows: params.min_samples_class, noise_rate }
    }

    /// The label of a node to be frozen, `true` for positive.
    pub(super) fn label(&self, reach: &Reach, n_rounds: usize) -> Option<bool> {
        let [neg_is_rare, pos_is_rare] = [false, true].map(|c| self.is_rare(reach, c, n_rounds));
        let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
        match (neg_is_rare, pos_is_rare) {
            (false, false) => None,
            (true, false) => Some(true),
            (false, true) => Some(false),
            (true, true) => Some(
                cross(reach.node.pos, reach.total.neg) > cross(reach.node.neg, reach.total.pos),
            ),
        }
    }

    fn is_rare(&self, reach: &Reach, class: bool, n_rounds: usize) -> bool {
        let (node, total) = (self.clean(reach.node, class), self.clean(reach.total, class));
        let n_nodes = (n_rounds * (n_rounds + 1)) as f64;
        let is_below = self.epsilon.is_some_and(|epsilon| {
            if self.noise_rate > 0.0 {
                node * 4.0 * n_nodes <= epsilon * total
            } else {
                node * n_nodes < epsilon * total
            }
        });
        let least = self.min_rows * total * (1.0 - ROUNDING);
        node <= 0.0 || is_below || node * reach.rows[usize::from(class)] < least
    }

    /// Estimated mass of a class by true labels.
    fn clean(&self, masses: ClassMasses, class: bool) -> f64 {
        let (pos, neg) = (masses.pos as f64, masses.neg as f64);
        let seen = if class { pos } else { neg };
        (seen - self.noise_rate * (pos + neg)).max(0.0) / (1.0 - 2.0 * self.noise_rate)
    }
}

/// Binary digits of a probability. With masses of as many digits, a product fits in 64 bits and is
/// that of two 32-bit numbers, which vector units multiply.
const BITS: u32 = 31;

/// Maximum binary digits of the mass of a row.
pub(super) const MOST_ROW_BITS: u32 = 31;

/// A probability in fixed point, a multiple of 2^-31.
///
/// # Examples
///
/// ```
/// use aucrank::boost::Chance;
///
/// assert_eq!(Chance::new(0.25).value(), 0.25);
/// assert_eq!(Chance::HALF.value(), 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chance(u32);

impl Chance {
    /// 0.
    pub const NEVER: Self = Self(0);
    /// A fair coin.
    pub const HALF: Self = Self(1 << (BITS - 1));
    /// 1.
    pub const ALWAYS: Self = Self(1 << BITS);

    /// The multiple of 2^-31 nearest to a probability.
    ///
    /// # Panics
    ///
    /// If `chance` is not in [0, 1].
    #[must_use]
    pub fn new(chance: f64) -> Self {
        assert!((0.0..=1.0).contains(&chance), "{chance} is not a chance");
        Self((chance * f64::from(Self::ALWAYS.0)).round() as u32)
    }

    /// The probability as a float; exact.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ALWAYS.0)
    }

    /// The multiple of 2^-31.
    pub(super) fn units(self) -> u32 {
        self.0
    }

    /// From a multiple of 2^-31; `None` above 1.
    pub(super) fn of_units(units: u32) -> Option<Self> {
        (units <= Self::ALWAYS.0).then_some(Self(units))
    }

    /// The part of a mass of at most 2^31 that goes right; the rest goes left, so that mass is
    /// preserved.
    #[inline]
    pub(super) fn right_of(self, mass: u32) -> u32 {
        ((u64::from(mass) * u64::from(self.0) + (1 << (BITS - 1))) >> BITS) as u32
    }

    /// Whether a coin falls right, given the hash that decides the flip.
    #[inline]
    pub(super) fn falls_right(self, hash: u64) -> bool {
        hash >> (u64::BITS - BITS) < u64::from(self.0)
    }
}

/// Splits masses by the probabilities that `chance` returns.
#[inline]
pub(super) fn split_mass<T: Copy>(
    here: &mut [u32],
    next: &mut [u32],
    of: &[T],
    chance: impl Fn(T) -> Chance,
) {
    for ((here, next), &of) in here.iter_mut().zip(next).zip(of) {
        let right = chance(of).right_of(*here);
        *here -= right;
        *next += right;
    }
}

/// The rows of each class in the order of a content hash. A sample starts at a random position and
/// wraps around: the order of the rows does not matter, copies of a row are adjacent, and a sample
/// costs no more than its size.
#[derive(Debug)]
pub(super) struct SampleRing {
    /// For each class, negatives first, hashes with rows, ascending.
    classes: [Vec<(u64, u32)>; 2],
    /// Maximum number of distinct rows of each class.
    size: usize,
}

impl SampleRing {
    pub(super) fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        start: &Start<'_>,
        size: usize,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let of_class = |class: bool| {
            let has_mass = |row: usize| start.mass(row) > 0 && labels.positive()[row] == class;
            let rows: Vec<u32> =
                (0..labels.n_rows() as u32).filter(|&row| has_mass(row as usize)).collect();
            let mut hashed = content_hashes(columns, &rows, seed, interrupt)?;
            hashed.par_sort_unstable();
            Ok(hashed)
        };
        Ok(Self { classes: [of_class(false)?, of_class(true)?], size })
    }

    /// Rows of a class that satisfy `is_wanted`, from a position on.
    pub(super) fn rows(
        &self,
        class: bool,
        place: u64,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let ring = &self.classes[usize::from(class)];
        let first = ring.partition_point(|&(hash, _)| hash < place);
        let (mut rows, mut n_distinct, mut last) = (Vec::new(), 0, None);
        for &(hash, row) in ring[first..].iter().chain(&ring[..first]) {
            if !is_wanted(row) {
                continue;
            }
            if last != Some(hash) {
                if n_distinct == self.size {
                    break;
                }
                (n_distinct, last) = (n_distinct + 1, Some(hash));
            }
            rows.push(row);
        }
        rows
    }
}

#[cfg(test)]
mod tests_of_freezing {
    use super::*;

    fn reach(pos: u64, neg: u64) -> Reach {
        let total = ClassMasses { pos: 1200, neg: 2400 };
        Reach { node: ClassMasses { pos, neg }, total, rows: [2400.0, 1200.0] }
    }

    #[test]
    fn without_a_rule_a_node_of_one_class_gets_its_label() {
        let rule = Freezing::default();
        assert_eq!(rule.label(&reach(5, 0), 3), Some(true));
        assert_eq!(rule.label(&reach(0, 5), 3), Some(false));
        assert_eq!(rule.label(&reach(1, 1), 3), None);
    }

    #[test]
    fn inequality_2_is_strict() {
        // epsilon / (T (T + 1)) = 1/120 of 1200 and 2400 is 10 and 20.
        let rule = Freezing { epsilon: Some(0.1), ..Freezing::default() };
        assert_eq!(rule.label(&reach(10, 20), 3), None);
        assert_eq!(rule.label(&reach(9, 20), 3), Some(false));
        assert_eq!(rule.label(&reach(10, 19), 3), Some(true));
    }

    #[test]
    fn if_both_are_rare_the_larger_share_wins_and_a_tie_is_negative() {
        let rule = Freezing { epsilon: Some(0.1), ..Freezing::default() };
        assert_eq!(rule.label(&reach(5, 9), 3), Some(true));
        assert_eq!(rule.label(&reach(5, 10), 3), Some(false));
        assert_eq!(rule.label(&reach(5, 11), 3), Some(false));
    }

    #[test]
    fn under_noise_true_masses_are_compared_and_equality_freezes() {
        // With a quarter flipped, (pos, neg) is observed as (3 pos + neg, pos + 3 neg) / 4.
        let rule = Freezing { epsilon: Some(0.4), noise_rate: 0.25, ..Freezing::default() };
        let noisy = |pos: u64, neg: u64| ClassMasses { pos: 3 * pos + neg, neg: pos + 3 * neg };
        let total = noisy(1200, 2400);
        // epsilon / (4 T (T + 1)) = 1/120.
        let label = |pos, neg| {
            let reach = Reach { node: noisy(pos, neg), total, rows: [0.0; 2] };
            rule.label(&reach, 3)
        };
        assert_eq!(label(11, 21), None);
        assert_eq!(label(10, 21), Some(false));
        assert_eq!(label(11, 20), Some(true));
        // Fewer positives than noise alone would produce: none.
        let node = ClassMasses { pos: 10, neg: 90 };
        let rule = Freezing { noise_rate: 0.25, ..Freezing::default() };
        assert_eq!(rule.label(&Reach { node, total, rows: [0.0; 2] }, 3), Some(false));
    }

    #[test]
    fn rounding_loses_no_row() {
        // Two of n rows: 2 / 49 * 49 is below 2. And one row that lost a unit of mass.
        let rule = Freezing { min_rows: 2.0, ..Freezing::default() };
        for n in 2..400_u32 {
            let mass = u64::from(n) << 31;
            let total = ClassMasses { pos: mass, neg: mass };
            let rows = [f64::from(n); 2];
            for lost in 0..3 {
                let node = ClassMasses { pos: (2 << 31) - lost, neg: (2 << 31) - lost };
                assert_eq!(rule.label(&Reach { node, total, rows }, 3), None, "{n}");
            }
            let node = ClassMasses { pos: 199 << 24, neg: 2 << 31 };
            assert_eq!(rule.label(&Reach { node, total, rows }, 3), Some(false));
        }
    }

    #[test]
    fn few_rows_of_a_class_freeze() {
        let rule = Freezing { min_rows: 10.0, ..Freezing::default() };
        assert_eq!(rule.label(&reach(10, 10), 3), None);
        assert_eq!(rule.label(&reach(9, 10), 3), Some(false));
        assert_eq!(rule.label(&reach(10, 9), 3), Some(true));
    }
}

#[cfg(test)]
mod tests_of_chance {
    use super::*;

    #[test]
    fn a_chance_of_0_or_1_sends_nothing_or_all_right() {
        for mass in [0, 1, 2, 12_345, 1 << 31] {
            assert_eq!(Chance::NEVER.right_of(mass), 0);
            assert_eq!(Chance::ALWAYS.right_of(mass), mass);
        }
        assert_eq!(Chance::HALF.right_of(1 << 31), 1 << 30);
        for hash in [0, 1 << 40, u64::MAX] {
            assert!(!Chance::NEVER.falls_right(hash) && Chance::ALWAYS.falls_right(hash));
        }
        assert!(Chance::HALF.falls_right(u64::MAX / 2) && !Chance::HALF.falls_right(1 << 63));
    }

    #[test]
    fn the_part_that_goes_right_is_the_nearest_whole_number() {
        for mass in [1, 3, 1000, 99_999_999, 1 << 31] {
            for chance in [1e-9, 0.1, 1.0 / 3.0, 0.5, 0.999_999] {
                let chance = Chance::new(chance);
                let exact = f64::from(mass) * chance.value();
                assert!((f64::from(chance.right_of(mass)) - exact).abs() <= 0.5, "{mass}");
            }
        }
    }
}

#[cfg(test)]
mod tests_of_node_sample {
    use super::*;

    #[test]
    fn a_sample_has_the_requested_distinct_rows_with_all_their_copies() {
        let values = [1.0, 2.0, 1.0, 3.0, 4.0, 2.0, 9.0];
        let positive = [true, true, true, true, true, true, false];
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let start = Start::new(&labels).unwrap();
        let interrupt = Interrupt::default();
        let ring = SampleRing::new(&columns, &labels, &start, 2, 5, &interrupt).unwrap();
        let mut seen = [false; 7];
        for place in 0..200 {
            let place = crate::data::mix(place);
            let rows = ring.rows(true, place, |_| true);
            let held = |value: f64| rows.iter().filter(|&&r| values[r as usize] == value).count();
            let kinds = [1.0, 2.0, 3.0, 4.0].map(held);
            assert_eq!(kinds.iter().filter(|&&n| n > 0).count(), 2);
            assert!([0, 2].contains(&kinds[0]) && [0, 2].contains(&kinds[1]));
            for &row in &rows {
                seen[row as usize] = true;
            }
            // Rows that are not wanted do not count towards the size.
            let rows = ring.rows(true, place, |row| row == 3 || row == 4);
            assert_eq!(rows.len(), 2);
        }
        assert_eq!(seen, positive, "every row of the class is in some sample");
    }
}
