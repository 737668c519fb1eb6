//! The sum of trees of two features: a table.

use std::borrow::Cow;

use serde::Serialize;

use super::fit_rows::{CHUNK_ROWS, FitRows};
use super::loss::{counted, logistic, share, softplus};
use super::tree::{GradientNode, GradientTree};
use crate::boost::BoostError;
use crate::data::LevelSet;
use crate::formula::{Condition, DecisionTree, Rule, Test, TreeNode};
use crate::roc::TopNegatives;
use crate::{RankError, parallel};

/// Maximum number of cells of a table: more than any fit with 255 bins has.
const MOST_CELLS: usize = 1 << 20;

/// A function of two features.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, Interactions, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// // Positive where exactly one of two features is 1: neither is informative alone.
/// // The third is a number of each row, so that no two rows are copies of each other.
/// let values: Vec<f64> = (0..80)
///     .flat_map(|row| [row % 2, row / 2 % 2, row * 37 % 80].map(f64::from))
///     .collect();
/// let positive: Vec<bool> = values.chunks(3).map(|row| row[0] != row[1]).collect();
/// let columns = Columns::from_row_major(&values, 3)?;
/// let labels = Labels::new(&positive, None)?;
/// let interactions = Interactions::Pairs(1);
/// let params = GradientParams { n_rounds: 20, interactions, ..GradientParams::default() };
/// let extras = GradientExtras::default();
/// let model =
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())?;
///
/// let term = &model.pair_terms()?[0];
/// assert_eq!(term.features(), [0, 1]);
/// // Places 0, 1 and missing of either feature.
/// let at = |first: usize, second: usize| term.values[first * 3 + second];
/// assert!(at(0, 1) > at(0, 0) && at(1, 0) > at(1, 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairTerm {
    /// The two features, ascending, with the distinguished values.
    pub axes: [Axis; 2],
    /// The values, row by row of the places of the first axis.
    pub values: Vec<f64>,
}

/// The distinguished values of a feature of a [`PairTerm`]. Each group of values has a place; the
/// last is that of missing values.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{Axis, AxisPlaces};
///
/// // Below 18, from 18 to 65, from 65 on, and missing.
/// let ages = Axis { feature: 0, known: AxisPlaces::Numeric { thresholds: vec![18.0, 65.0] } };
/// assert_eq!(ages.n_places(), 4);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// The feature.
    pub feature: usize,
    /// Its known values.
    pub known: AxisPlaces,
}

/// Places of known values.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{Axis, AxisPlaces};
///
/// // Categories 0 and 2, category 5, all others, and missing.
/// let known = AxisPlaces::Categorical { groups: vec![vec![0, 2], vec![5]], has_others: true };
/// assert_eq!(Axis { feature: 1, known }.n_places(), 4);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisPlaces {
    /// Places of a number.
    Numeric {
        /// Ascending; a number equal to a threshold is above it.
        thresholds: Vec<f64>,
    },
    /// Places of a category.
    Categorical {
        /// The codes of each place, ascending.
        groups: Vec<Vec<u32>>,
        /// Whether all other categories have a place, after these.
        has_others: bool,
    },
}

impl Axis {
    /// The values of a feature that some tests distinguish; tests of other features are ignored.
    fn of<'t>(
        feature: usize,
        n_levels: Option<u32>,
        tests: impl Iterator<Item = &'t Test>,
    ) -> Self {
        let tests = tests.filter(|test| test.feature == feature);
        let known = if let Some(n_levels) = n_levels {
            let mut sets: Vec<&LevelSet> = tests.filter_map(Test::levels).collect();
            sets.sort_unstable_by(|a, b| a.listed().cmp(b.listed()));
            sets.dedup_by(|a, b| a.listed() == b.listed());
            // Categories on the same lists cannot be distinguished, nor can those on no list.
            let mut lists: Vec<(u32, usize)> = (0..)
                .zip(&sets)
                .flat_map(|(list, set)| set.listed().iter().map(move |&level| (level, list)))
                .collect();
            lists.sort_unstable();
            let mut listed: Vec<(Vec<usize>, u32)> = lists
                .chunk_by(|a, b| a.0 == b.0)
                .map(|of| (of.iter().map(|(_, list)| *list).collect(), of[0].0))
                .collect();
            // Even a feature without categories has a place for known values.
            let has_others = listed.len() < n_levels.max(1) as usize;
            listed.sort_unstable();
            let mut groups: Vec<Vec<u32>> = listed
                .chunk_by(|a, b| a.0 == b.0)
                .map(|of| of.iter().map(|(_, level)| *level).collect())
                .collect();
            groups.sort_unstable();
            AxisPlaces::Categorical { groups, has_others }
        } else {
            let mut thresholds: Vec<f64> = tests.filter_map(Test::threshold).collect();
            thresholds.sort_unstable_by(f64::total_cmp);
            thresholds.dedup();
            AxisPlaces::Numeric { thresholds }
        };
        Self { feature, known }
    }

    /// Number of places, that of missing values included.
    #[must_use]
    pub fn n_places(&self) -> usize {
        1 + match &self.known {
            AxisPlaces::Numeric { thresholds } => thresholds.len() + 1,
            AxisPlaces::Categorical { groups, has_others } => {
                groups.len() + usize::from(*has_others)
            }
        }
    }

    /// The place of a raw value; NaN is missing.
    fn place(&self, raw: f64, place_of_level: &[usize]) -> usize {
        if raw.is_nan() {
            return self.n_places() - 1;
        }
        match &self.known {
            AxisPlaces::Numeric { thresholds } => thresholds.partition_point(|&cut| cut <= raw),
            // The last known place is that of the others.
            AxisPlaces::Categorical { .. } => {
                place_of_level.get(raw as usize).copied().unwrap_or(self.n_places() - 2)
            }
        }
    }

    /// For categories the place of each code up to the last that is listed.
    fn place_of_level(&self) -> Vec<usize> {
        let AxisPlaces::Categorical { groups, .. } = &self.known else { return Vec::new() };
        let n_listed = groups.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut places = vec![self.n_places() - 2; n_listed];
        for (place, group) in groups.iter().enumerate() {
            for &level in group {
                places[level as usize] = place;
            }
        }
        places
    }

    /// A raw value of each place.
    fn raw_values(&self) -> Vec<f64> {
        let mut raw: Vec<f64> = match &self.known {
            AxisPlaces::Numeric { thresholds } => {
                std::iter::once(f64::NEG_INFINITY).chain(thresholds.iter().copied()).collect()
            }
            AxisPlaces::Categorical { groups, has_others } => {
                let mut raw: Vec<f64> = groups.iter().map(|group| f64::from(group[0])).collect();
                if *has_others {
                    let mut listed: Vec<u32> = groups.concat();
                    listed.sort_unstable();
                    let other = (0..).zip(&listed).find(|(code, listed)| code != *listed);
                    raw.push(other.map_or(listed.len() as f64, |(code, _)| f64::from(code)));
                }
                raw
            }
        };
        raw.push(f64::NAN);
        raw
    }

    /// The test that sends the known places before a middle one left.
    fn before(&self, middle: usize, first: usize) -> Test {
        let left = match &self.known {
            AxisPlaces::Numeric { thresholds } => Rule::Below(thresholds[middle - 1]),
            AxisPlaces::Categorical { groups, .. } => {
                Rule::Levels(LevelSet::only(groups[first..middle].concat()))
            }
        };
        Test { feature: self.feature, left, missing_left: false }
    }
}

impl Test {
    fn levels(&self) -> Option<&LevelSet> {
        match &self.left {
            Rule::Levels(levels) => Some(levels),
            _ => None,
        }
    }
}

impl PairTerm {
    /// The table of zeros for trees that test these two features, given their numbers of
    /// categories, if it has at most `most_cells` cells.
    fn empty(
        features: [usize; 2],
        n_levels: &[Option<u32>],
        trees: &[Cow<'_, GradientTree>],
        most_cells: usize,
    ) -> Option<Self> {
        let axes = features.map(|feature| {
            let tests = trees.iter().flat_map(|tree| tree.tests().map(|(test, _)| test));
            Axis::of(feature, n_levels[feature], tests)
        });
        let [n_rows, n_columns] = axes.each_ref().map(Axis::n_places);
        let n_cells = n_rows.saturating_mul(n_columns);
        (n_cells <= most_cells).then(|| Self { axes, values: vec![0.0; n_cells] })
    }

    /// The sum of trees that test these two features, given their numbers of categories.
    pub(super) fn sum(
        features: [usize; 2],
        n_levels: &[Option<u32>],
        trees: &[Cow<'_, GradientTree>],
    ) -> Result<Self, RankError> {
        let table = Self::empty(features, n_levels, trees, MOST_CELLS);
        let table =
            table.ok_or(RankError::Boost(BoostError::LargeTable(features[0], features[1])))?;
        Ok(table.plus(trees))
    }

    /// The same, if the table has no more cells than the trees have leaves.
    pub(super) fn small_sum(
        features: [usize; 2],
        n_levels: &[Option<u32>],
        trees: &[Cow<'_, GradientTree>],
    ) -> Option<Self> {
        let n_leaves: usize = trees.iter().map(|tree| tree.n_leaves()).sum();
        Some(Self::empty(features, n_levels, trees, n_leaves.min(MOST_CELLS))?.plus(trees))
    }

    /// The table with the values of trees added to it.
    fn plus(self, trees: &[Cow<'_, GradientTree>]) -> Self {
        let Self { axes, mut values } = self;
        let first = axes[0].feature;
        let [n_rows, n_columns] = axes.each_ref().map(Axis::n_places);
        let raw = axes.each_ref().map(Axis::raw_values);
        for tree in trees {
            // A node, and the places of either axis that reach it.
            let mut waiting = vec![(0, [n_rows, n_columns].map(|n| (0..n).collect::<Vec<_>>()))];
            while let Some((node, places)) = waiting.pop() {
                match &tree.nodes()[node] {
                    GradientNode::Leaf { value, .. } => {
                        for row in &places[0] {
                            let row = &mut values[row * n_columns..][..n_columns];
                            places[1].iter().for_each(|&column| row[column] += value);
                        }
                    }
                    GradientNode::Split { test, right, .. } => {
                        let axis = usize::from(test.feature != first);
                        let goes_left = |place: &usize| test.goes_left_by(raw[axis][*place]);
                        let (mut on_left, mut on_right) = (places.clone(), places);
                        on_left[axis].retain(goes_left);
                        on_right[axis].retain(|place| !goes_left(place));
                        waiting.extend([(*right, on_right), (node + 1, on_left)]);
                    }
                }
            }
        }
        Self { axes, values }
    }

    /// The two features, ascending.
    #[must_use]
    pub fn features(&self) -> [usize; 2] {
        self.axes.each_ref().map(|axis| axis.feature)
    }

    /// The value of many rows, given as the raw values of the two features.
    pub(super) fn reader(&self) -> impl Fn([f64; 2]) -> f64 + '_ {
        let places = self.axes.each_ref().map(Axis::place_of_level);
        let n_columns = self.axes[1].n_places();
        move |raw| {
            let [row, column] = [0, 1].map(|k| self.axes[k].place(raw[k], &places[k]));
            self.values[row * n_columns + column]
        }
    }

    /// The table as a tree: places of the first feature, halved until one is left, and below each
    /// those of the second. It has no weights of training rows.
    pub(super) fn formula(&self) -> DecisionTree {
        let mut nodes = Vec::new();
        let n_columns = self.axes[1].n_places();
        halve(&self.axes[0], &mut nodes, &mut |row, nodes| {
            halve(&self.axes[1], nodes, &mut |column, nodes| {
                let value = self.values[row * n_columns + column];
                nodes.push(TreeNode::Leaf { weight: 0.0, value });
            });
        });
        DecisionTree { nodes }
    }
}

/// Adds a tree that finds the place of a value; `end` adds the subtree of each place.
fn halve(axis: &Axis, nodes: &mut Vec<TreeNode>, end: &mut impl FnMut(usize, &mut Vec<TreeNode>)) {
    let n_known = axis.n_places() - 1;
    let root = nodes.len();
    let feature = axis.feature;
    let is_known = Test { feature, left: Rule::Known(true), missing_left: false };
    push_branch(nodes, is_known);
    // A range of known places, and the branch with this right side.
    let mut waiting = vec![(0..n_known, None)];
    while let Some((places, above)) = waiting.pop() {
        if let Some(above) = above {
            set_right(nodes, above);
        }
        if places.len() == 1 {
            end(places.start, nodes);
            continue;
        }
        let middle = usize::midpoint(places.start, places.end);
        let place = nodes.len();
        push_branch(nodes, axis.before(middle, places.start));
        waiting.extend([(middle..places.end, Some(place)), (places.start..middle, None)]);
    }
    set_right(nodes, root);
    end(n_known, nodes);
}

/// Adds a branch whose left side comes next.
fn push_branch(nodes: &mut Vec<TreeNode>, test: Test) {
    let condition = Condition::Test(test);
    nodes.push(TreeNode::Branch { weight: 0.0, condition, left: nodes.len() + 1, right: 0 });
}

/// Makes the next node the right side of a branch.
fn set_right(nodes: &mut [TreeNode], place: usize) {
    let next = nodes.len();
    if let TreeNode::Branch { right, .. } = &mut nodes[place] {
        *right = next;
    }
}

/// Cells of the grid.
const CELLS: usize = 2048;

/// Derivatives of the mean over pairs, by cell and class.
pub(super) struct PairGrid {
    grid: GridOfPair,
    /// For each class, negatives first, and each cell.
    derivatives: [Vec<(f64, f64)>; 2],
}

#[derive(Clone, Copy)]
struct GridOfPair {
    low: f64,
    width: f64,
}

impl GridOfPair {
    fn over(low: f64, high: f64) -> Self {
        Self { low, width: (high - low) / (CELLS - 1) as f64 }
    }

    #[inline]
    fn cell(self, score: f64) -> usize {
        if self.width > 0.0 {
            (((score - self.low) / self.width + 0.5) as usize).min(CELLS - 1)
        } else {
            0
        }
    }

    /// Differences of scores from `1 - CELLS` to `CELLS - 1` cells, each mapped.
    fn of_differences<T>(self, of: impl Fn(f64) -> T) -> Vec<T> {
        let cells = CELLS as i32;
        (1 - cells..cells).map(|cells| of(f64::from(cells) * self.width)).collect()
    }
}

impl PairGrid {
    /// From the scores of the training rows.
    pub(super) fn new(scores: &[f64], rows: &FitRows<'_>, max_fpr: f64) -> Self {
        let chunks = || rows.training().chunks(CHUNK_ROWS).collect::<Vec<_>>();
        let ranges = parallel::map(chunks(), |chunk: &[u32]| {
            chunk.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &row| {
                (low.min(scores[row as usize]), high.max(scores[row as usize]))
            })
        });
        let low = ranges.iter().fold(f64::INFINITY, |low, range| low.min(range.0));
        let high = ranges.iter().fold(f64::NEG_INFINITY, |high, range| high.max(range.1));
        let grid = GridOfPair::over(low, high);
        let counts = parallel::map(chunks(), |chunk: &[u32]| {
            let mut masses = [vec![0_u64; CELLS], vec![0_u64; CELLS]];
            for row in chunk.iter().map(|&row| row as usize) {
                masses[usize::from(rows.positive()[row])][grid.cell(scores[row])] += rows.mass(row);
            }
            masses
        });
        let mut masses = [vec![0; CELLS], vec![0; CELLS]];
        for part in &counts {
            for (sum, part) in masses.iter_mut().zip(part) {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
        Self::of(grid, &masses, max_fpr)
    }

    fn of(grid: GridOfPair, masses: &[Vec<u64>; 2], max_fpr: f64) -> Self {
        let totals = masses.each_ref().map(|masses| masses.iter().sum::<u64>());
        let top = top_cells(&masses[0], max_fpr);
        let part = |class: usize, cell: usize| if class == 0 { part(top, cell) } else { 1.0 };
        let occupied = [0, 1].map(|class| {
            let masses = masses[class].iter().enumerate();
            let counted = masses.map(|(cell, &mass)| (cell, part(class, cell) * mass as f64));
            counted.filter(|(_, mass)| *mass > 0.0).collect::<Vec<_>>()
        });
        let half = 0.5 * counted(totals, max_fpr);
        let totals = totals.map(|total| total as f64);
        // The cells have equal width, so that a difference of scores is a number of cells: the
        // logistic function is computed once for each of 4095, and pairs of cells are at most 2^22,
        // however many rows there are.
        let table = grid.of_differences(|difference| {
            let rate = logistic(difference);
            (rate, rate * (1.0 - rate))
        });
        let of_class = |class: usize| {
            let mut derivatives = vec![(0.0, 0.0); CELLS];
            let own: Vec<usize> = occupied[class].iter().map(|(cell, _)| *cell).collect();
            let found = parallel::map_with(
                own.clone(),
                16,
                || (),
                |(), cell: usize| {
                    let (mut first, mut second) = (0.0, 0.0);
                    for &(other, mass) in &occupied[1 - class] {
                        // The score of the negative row less that of the positive one.
                        let (negative, positive) =
                            if class == 0 { (cell, other) } else { (other, cell) };
                        let (rate, curve) = table[CELLS - 1 + negative - positive];
                        first += mass * rate;
                        second += mass * curve;
                    }
                    let scale = half / (share(max_fpr) * totals[0]) / totals[1] * part(class, cell);
                    (if class == 0 { scale * first } else { -scale * first }, scale * second)
                },
            );
            own.into_iter().zip(found).for_each(|(cell, found)| derivatives[cell] = found);
            derivatives
        };
        Self { grid, derivatives: [of_class(0), of_class(1)] }
    }

    #[inline]
    pub(super) fn derivatives(&self, score: f64, positive: bool) -> (f64, f64) {
        self.derivatives[usize::from(positive)][self.grid.cell(score)]
    }

    /// The mean loss of a counted pair of rows, given as score, class and mass.
    pub(super) fn mean_loss(
        rows: impl Iterator<Item = (f64, usize, u64)> + Clone,
        max_fpr: f64,
    ) -> f64 {
        let (low, high) = rows.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |range, row| {
            (range.0.min(row.0), range.1.max(row.0))
        });
        let grid = GridOfPair::over(low, high);
        let mut masses = [vec![0_u64; CELLS], vec![0_u64; CELLS]];
        rows.for_each(|(score, class, mass)| masses[class][grid.cell(score)] += mass);
        let table = grid.of_differences(softplus);
        let top = top_cells(&masses[0], max_fpr);
        let mut sum = 0.0;
        for (negative, &neg) in masses[0].iter().enumerate().filter(|(_, mass)| **mass > 0) {
            let neg = part(top, negative) * neg as f64;
            for (positive, &pos) in masses[1].iter().enumerate().filter(|(_, mass)| **mass > 0) {
                sum += neg * pos as f64 * table[CELLS - 1 + negative - positive];
            }
        }
        let totals = masses.map(|masses| masses.iter().sum::<u64>() as f64);
        sum / (share(max_fpr) * totals[0]) / totals[1]
    }
}

/// The part by which the negatives of each cell count; `None` for all in full.
fn top_cells(negatives: &[u64], max_fpr: f64) -> Option<TopNegatives> {
    let cells = || (0..).map(f64::from).zip(negatives.iter().copied()).filter(|cell| cell.1 > 0);
    (max_fpr < 1.0).then(|| TopNegatives::of(cells().collect(), max_fpr))
}

/// The part by which the negatives of a cell count.
#[inline]
fn part(top: Option<TopNegatives>, cell: usize) -> f64 {
    top.map_or(1.0, |top| top.part(cell as f64))
}
