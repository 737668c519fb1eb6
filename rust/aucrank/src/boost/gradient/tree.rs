//! A tree with a value in each leaf, and its form for rows of codes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::grow::Grown;
use super::histogram::Sides;
use super::source::FitRows;
use super::sums::{PackedSums, UnitSums};
use crate::data::{
    Binned, CodeRule, CodeTest, Column, Columns, FeatureBins, LARGEST_SUM, Labels, LevelSet,
    MISSING_CODE, are_many, is_snapped, least_level_rows,
};
use crate::formula::{Rule, Test};
use crate::{Interrupt, RankError, parallel};

/// A binary tree of tests of single features with a number in each leaf.
///
/// For an example see [`GradientNode`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GradientTree {
    /// The root first; after a split its left side, then its right side.
    nodes: Vec<GradientNode>,
}

/// A node of a [`GradientTree`].
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientNode, GradientParams, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::formula::Rule;
///
/// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
/// let columns = Columns::from_column_major(&values, 40)?;
/// let labels = Labels::new(&positive, None)?;
/// let params = GradientParams { n_rounds: 1, subsample: 1.0, ..GradientParams::default() };
/// let extras = GradientExtras::default();
/// let model = fit_gradient_boosting(&columns, &labels, &params, &extras, &Interrupt::default())?;
/// let [GradientNode::Split { test, right: 2, .. }, leaves @ ..] = model.trees()[0].nodes() else {
///     unreachable!("the first leaf comes before the second")
/// };
/// assert!(matches!(test.left, Rule::Below(0.5) | Rule::AtLeast(0.5)));
/// assert!(leaves.iter().all(|leaf| matches!(leaf, GradientNode::Leaf { weight: 20.0, .. })));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GradientNode {
    /// A test; the node on its left is the next.
    Split {
        /// The test.
        test: Test,
        /// Place of the node on its right.
        right: usize,
        /// Decrease of the loss of the rows, to second order.
        gain: f64,
    },
    /// A leaf.
    Leaf {
        /// Contribution to the score.
        value: f64,
        /// Weight of its training rows.
        weight: f64,
    },
}

impl GradientTree {
    pub(super) fn new(nodes: Vec<GradientNode>) -> Self {
        Self { nodes }
    }

    /// The nodes: the root first, after a split its left side, then its right side.
    #[must_use]
    pub fn nodes(&self) -> &[GradientNode] {
        &self.nodes
    }

    /// Number of leaves.
    #[must_use]
    pub fn n_leaves(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    /// The least and the greatest value of a leaf.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        self.values().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
            [low.min(value), high.max(value)]
        })
    }

    /// Decrease of the loss of the rows by its splits, to second order.
    #[must_use]
    pub fn gain(&self) -> f64 {
        self.tests().fold(0.0, |sum, (_, gain)| sum + gain)
    }

    /// The same tree with mapped values of its leaves.
    pub(super) fn map_values(mut self, of: impl Fn(f64) -> f64) -> Self {
        for node in &mut self.nodes {
            if let GradientNode::Leaf { value, .. } = node {
                *value = of(*value);
            }
        }
        self
    }

    /// Maps the features that it tests.
    pub(super) fn map_features(&mut self, of: impl Fn(usize) -> usize) {
        for node in &mut self.nodes {
            if let GradientNode::Split { test, .. } = node {
                test.feature = of(test.feature);
            }
        }
    }

    /// The values of its leaves, from left to right.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.nodes.iter().filter_map(|node| match node {
            GradientNode::Leaf { value, .. } => Some(*value),
            GradientNode::Split { .. } => None,
        })
    }

    /// The largest absolute value of a leaf.
    pub(super) fn largest_value(&self) -> f64 {
        self.values().fold(0.0, |largest, value| largest.max(value.abs()))
    }

    /// Its tests, with their gains.
    pub(super) fn tests(&self) -> impl Iterator<Item = (&Test, f64)> {
        self.nodes.iter().filter_map(|node| match node {
            GradientNode::Split { test, gain, .. } => Some((test, *gain)),
            GradientNode::Leaf { .. } => None,
        })
    }

    /// For each node the weight of its training rows.
    pub(super) fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().rev() {
            weights[place] = match node {
                GradientNode::Leaf { weight, .. } => *weight,
                GradientNode::Split { right, .. } => weights[place + 1] + weights[*right],
            };
        }
        weights
    }

    /// The value of the leaf of a row, given whether tests send it left.
    pub(super) fn value(&self, goes_left: impl Fn(&Test) -> bool) -> f64 {
        self.value_by_place(|_, test| goes_left(test))
    }

    /// The same, given the place of each test, too.
    pub(super) fn value_by_place(&self, goes_left: impl Fn(usize, &Test) -> bool) -> f64 {
        let mut place = 0;
        loop {
            match &self.nodes[place] {
                GradientNode::Leaf { value, .. } => return *value,
                GradientNode::Split { test, right, .. } => {
                    place = if goes_left(place, test) { place + 1 } else { *right };
                }
            }
        }
    }

    /// Checks a tree read from a file, given the number of categories of each feature.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let mut next = vec![0];
        for (place, node) in self.nodes.iter().enumerate() {
            if next.pop() != Some(place) {
                return Err(format!("node {place} is not in its place"));
            }
            match node {
                GradientNode::Split { test, right, gain } => {
                    let suits = n_levels.get(test.feature).is_some_and(|&n| test.suits(n));
                    if !suits {
                        return Err(format!("the question of node {place} suits no feature"));
                    }
                    if !(gain.is_finite() && *gain >= 0.0) {
                        return Err(format!("the gain of node {place} is {gain}"));
                    }
                    next.extend([*right, place + 1]);
                }
                GradientNode::Leaf { value, weight } => {
                    if !(is_snapped(*value) && value.abs() <= LARGEST_SUM) {
                        return Err(format!("{value} is not a value of a leaf"));
                    }
                    if !(*weight > 0.0 && *weight <= 2_f64.powi(60)) {
                        return Err(format!("the weight of node {place} is {weight}"));
                    }
                }
            }
        }
        if next.is_empty() { Ok(()) } else { Err("a node is missing at the end".to_owned()) }
    }
}

/// Gradient and hessian of each row, times its mass.
#[derive(Debug)]
pub(super) enum Derivatives<P, S> {
    /// For rows of mass 1, if both fit one word.
    Packed(P),
    Plain(S),
}

/// Derivatives of all rows of a tree.
type OfTree = Derivatives<Vec<PackedSums>, Vec<UnitSums>>;

/// Derivatives of the rows of a node.
pub(super) type OfNode<'a> = Derivatives<&'a [PackedSums], &'a [UnitSums]>;

/// The rows that a tree is grown on; those of a node are contiguous and ascending.
#[derive(Debug)]
pub(super) struct TreeRows {
    pub(super) rows: Vec<u32>,
    pub(super) derivatives: OfTree,
    /// As long as the rows; buffer for those on the right of a split.
    other_rows: Vec<u32>,
    others: OfTree,
}

/// The rows of a node.
#[derive(Debug)]
pub(super) struct NodeRows<'a> {
    pub(super) rows: &'a [u32],
    pub(super) derivatives: OfNode<'a>,
}

impl TreeRows {
    /// No rows yet.
    pub(super) fn new(are_packed: bool) -> Self {
        let derivatives = || {
            if are_packed { OfTree::Packed(Vec::new()) } else { OfTree::Plain(Vec::new()) }
        };
        Self {
            rows: Vec::new(),
            derivatives: derivatives(),
            other_rows: Vec::new(),
            others: derivatives(),
        }
    }

    /// Allocates space for the derivatives of the rows, and for splitting them.
    pub(super) fn resize(&mut self) {
        let n_rows = self.rows.len();
        self.other_rows.resize(n_rows, 0);
        for derivatives in [&mut self.derivatives, &mut self.others] {
            match derivatives {
                Derivatives::Packed(packed) => packed.resize(n_rows, PackedSums::default()),
                Derivatives::Plain(plain) => plain.resize(n_rows, UnitSums::default()),
            }
        }
    }

    pub(super) fn are_packed(&self) -> bool {
        matches!(self.derivatives, Derivatives::Packed(_))
    }

    pub(super) fn of(&self, range: Range<usize>) -> NodeRows<'_> {
        let derivatives = match &self.derivatives {
            Derivatives::Packed(packed) => OfNode::Packed(&packed[range.clone()]),
            Derivatives::Plain(plain) => OfNode::Plain(&plain[range.clone()]),
        };
        NodeRows { rows: &self.rows[range], derivatives }
    }

    /// Moves the rows of a node that go left to the front; both sides keep their order. Returns the
    /// number of rows on the left, and their count including copies.
    pub(super) fn part(
        &mut self,
        range: Range<usize>,
        sides: &Sides,
        data: &FitRows<'_>,
        columns: &CodeColumns,
    ) -> (usize, u64) {
        let rows = (&mut self.rows[range.clone()], &mut self.other_rows[range.clone()]);
        let n_left = match (&mut self.derivatives, &mut self.others) {
            (Derivatives::Packed(packed), Derivatives::Packed(others)) => sides.part(
                data,
                columns,
                rows,
                (&mut packed[range.clone()], &mut others[range.clone()]),
            ),
            (Derivatives::Plain(plain), Derivatives::Plain(others)) => sides.part(
                data,
                columns,
                rows,
                (&mut plain[range.clone()], &mut others[range.clone()]),
            ),
            _ => unreachable!("both are of one kind"),
        };
        (n_left, data.count_all(&self.rows[range.start..range.start + n_left]))
    }

    /// Merges the two sides of a node again.
    pub(super) fn merge(&mut self, range: Range<usize>, n_left: usize) {
        let rows = &mut self.rows[range.clone()];
        let left = &mut self.other_rows[..n_left];
        left.copy_from_slice(&rows[..n_left]);
        match (&mut self.derivatives, &mut self.others) {
            (Derivatives::Packed(packed), Derivatives::Packed(others)) => {
                merge(rows, left, &mut packed[range], &mut others[..n_left]);
            }
            (Derivatives::Plain(plain), Derivatives::Plain(others)) => {
                merge(rows, left, &mut plain[range], &mut others[..n_left]);
            }
            _ => unreachable!("both are of one kind"),
        }
    }
}

/// Merges ascending rows: those in `left` with those in `rows` after as many places.
fn merge<D: Copy>(rows: &mut [u32], left: &[u32], derivatives: &mut [D], of_left: &mut [D]) {
    of_left.copy_from_slice(&derivatives[..left.len()]);
    let (mut next_left, mut next_right) = (0, left.len());
    for place in 0..rows.len() {
        if next_left == left.len() {
            break;
        }
        // The place that is read is never before the place that is written.
        if next_right < rows.len() && rows[next_right] < left[next_left] {
            (rows[place], derivatives[place]) = (rows[next_right], derivatives[next_right]);
            next_right += 1;
        } else {
            (rows[place], derivatives[place]) = (left[next_left], of_left[next_left]);
            next_left += 1;
        }
    }
}

impl NodeRows<'_> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// A tree of tests of codes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CodeTree(Vec<CodeNode>);

/// The root first; after a split its left side, then its right side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum CodeNode {
    Split { test: CodeTest, right: usize },
    Leaf(f64),
}

/// The same tree, prepared for codes of given features.
pub(super) struct CodeWalk(Vec<CodeStep>);

#[expect(clippy::large_enum_variant, reason = "a box would be one more look-up at each step")]
enum CodeStep {
    Split(Sides, usize),
    Leaf(f64),
}

impl CodeTree {
    pub(super) fn of(grown: &Grown) -> Self {
        let node = |(test, node): (&Option<(CodeTest, usize)>, &GradientNode)| match (test, node) {
            (Some((test, right)), _) => CodeNode::Split { test: test.clone(), right: *right },
            (None, GradientNode::Leaf { value, .. }) => CodeNode::Leaf(*value),
            (None, GradientNode::Split { .. }) => unreachable!("the nodes are those of the tree"),
        };
        Self(grown.tests.iter().zip(grown.tree.nodes()).map(node).collect())
    }

    /// Checks a received tree, and prepares it for codes of these features.
    pub(super) fn walk(&self, features: &[FeatureBins]) -> Result<CodeWalk, RankError> {
        let bad = |why: &str| Err(RankError::BadAnswer(format!("a tree {why}")));
        if !matches!(self.0.last(), Some(CodeNode::Leaf(_))) {
            return bad("does not end with a leaf");
        }
        for (place, node) in self.0.iter().enumerate() {
            match node {
                CodeNode::Split { test, right } => {
                    if *right <= place || *right >= self.0.len() {
                        return bad("leads nowhere");
                    }
                    if test.feature >= features.len() {
                        return bad("is of other rows");
                    }
                }
                CodeNode::Leaf(value) if !value.is_finite() => return bad("has no value"),
                CodeNode::Leaf(_) => {}
            }
        }
        Ok(self.ready(features))
    }

    fn ready(&self, features: &[FeatureBins]) -> CodeWalk {
        let step = |node: &CodeNode| match node {
            CodeNode::Split { test, right } => CodeStep::Split(Sides::new(test, features), *right),
            CodeNode::Leaf(value) => CodeStep::Leaf(*value),
        };
        CodeWalk(self.0.iter().map(step).collect())
    }
}

impl CodeWalk {
    pub(super) fn new(grown: &Grown, features: &[FeatureBins]) -> Self {
        CodeTree::of(grown).ready(features)
    }

    /// The value of the leaf of a row.
    #[inline]
    pub(super) fn value(&self, binned: &Binned, row: u32) -> f64 {
        let mut place = 0;
        loop {
            match &self.0[place] {
                CodeStep::Split(sides, right) => {
                    place = if sides.goes_left(binned, row) { place + 1 } else { *right };
                }
                CodeStep::Leaf(value) => return *value,
            }
        }
    }
}

/// Minimum size of a matrix for which columns pay, in bytes.
const LEAST_CODES: usize = 1 << 20;

/// One in this many features may have a column.
const SHARE: usize = 8;

/// The columns.
#[derive(Debug)]
pub(super) struct CodeColumns {
    of_feature: Vec<Option<Vec<u8>>>,
    /// Rows that each feature without a column has split.
    n_parted: Vec<usize>,
    /// Columns that may still be made.
    n_free: usize,
}

impl CodeColumns {
    pub(super) fn new(data: &FitRows<'_>) -> Self {
        let n_features = data.binned.features().len();
        let is_large = data.binned.n_rows() * n_features >= LEAST_CODES;
        Self {
            of_feature: vec![None; n_features],
            n_parted: vec![0; n_features],
            n_free: if is_large { n_features / SHARE } else { 0 },
        }
    }

    pub(super) fn get(&self, feature: usize) -> Option<&[u8]> {
        self.of_feature[feature].as_deref()
    }

    /// Counts rows that a feature is about to split; it may have a column from then on.
    pub(super) fn count(&mut self, feature: usize, n_rows: usize, data: &FitRows<'_>) {
        if self.n_free == 0 || self.of_feature[feature].is_some() {
            return;
        }
        self.n_parted[feature] += n_rows;
        // Copying a column takes about as long as splitting as many rows without it.
        if self.n_parted[feature] >= data.binned.n_rows() {
            let codes = data.binned.narrow_codes(0..data.binned.n_rows(), feature);
            self.of_feature[feature] = codes.map(Iterator::collect);
            self.n_free -= 1;
        }
    }
}

/// Maximum number of categories of a feature with their own code.
const MOST_LEVELS: usize = 254;

/// The categorical features of a fit in few codes.
#[derive(Debug)]
pub(super) struct LevelCodes {
    /// For each categorical feature the few codes of its rows.
    of_row: Vec<Option<Vec<u32>>>,
    pub(super) kept: KeptLevels,
}

/// The categories with their own code.
#[derive(Debug)]
pub(super) struct KeptLevels {
    /// For each categorical feature, the categories with a code, in the order of their codes.
    pub(super) of_feature: Vec<Option<Vec<u32>>>,
    /// Whether the other categories of a feature hold many rows.
    are_rare_many: Vec<bool>,
}

impl KeptLevels {
    /// From the number of all rows and, for each categorical feature, those of each category.
    pub(super) fn new(rows_of_levels: &[Option<Vec<u64>>], n_rows: u64) -> Self {
        let least = least_level_rows(n_rows);
        let of_feature = |rows_of_level: &Option<Vec<u64>>| {
            let Some(rows_of_level) = rows_of_level else { return (None, false) };
            let rows = |&level: &u32| rows_of_level[level as usize];
            let levels = 0..rows_of_level.len() as u32;
            let mut kept: Vec<u32> = levels.filter(|level| rows(level) >= least).collect();
            if kept.len() > MOST_LEVELS {
                kept.sort_by_key(|level| std::cmp::Reverse(rows(level)));
                kept.truncate(MOST_LEVELS);
                kept.sort_unstable();
            }
            let n_rare = rows_of_level.iter().sum::<u64>() - kept.iter().map(rows).sum::<u64>();
            (Some(kept), are_many(n_rare, n_rows))
        };
        let (of_feature, are_rare_many) = rows_of_levels.iter().map(of_feature).unzip();
        Self { of_feature, are_rare_many }
    }

    /// The features whose categories without a code hold many rows, ascending.
    pub(super) fn with_rare_levels(&self) -> Vec<usize> {
        (0..self.of_feature.len()).filter(|&feature| self.are_rare_many[feature]).collect()
    }

    /// Whether a category lacks its own code.
    pub(super) fn is_rare(&self, feature: usize, level: u32) -> bool {
        let kept = self.of_feature[feature].as_ref();
        kept.is_some_and(|kept| kept.binary_search(&level).is_err())
    }

    /// The test of raw values that is equivalent to one of codes.
    pub(super) fn raw_test(&self, test: &CodeTest, features: &[FeatureBins]) -> Test {
        let feature = test.feature;
        let (CodeRule::Levels(codes), Some(kept)) = (&test.rule, &self.of_feature[feature]) else {
            return Test::of_codes(test, &features[feature]);
        };
        // Categories without a code go with missing values.
        let is_listed = |code: u32| codes.contains(code) != test.missing_left;
        let levels = (0..).zip(kept).filter(|(code, _)| is_listed(*code)).map(|(_, level)| *level);
        let left =
            if test.missing_left { LevelSet::all_but(levels) } else { LevelSet::only(levels) };
        Test { feature, left: Rule::Levels(left), missing_left: test.missing_left }
    }
}

impl LevelCodes {
    pub(super) fn new(columns: &Columns<'_>, labels: &Labels<'_>) -> Result<Self, RankError> {
        if columns.n_rows() != labels.n_rows() {
            let (found, expected) = (columns.n_rows(), labels.n_rows());
            return Err(RankError::LengthMismatch { name: "X", found, expected });
        }
        let rows = labels.rows();
        let rows_of_levels = |feature: usize| {
            let Column::Codes { codes, n_levels } = columns[feature] else { return Ok(None) };
            let mut rows_of_level = vec![0; n_levels as usize];
            for row in rows.iter().map(|&row| row as usize) {
                let code = codes[row];
                if code == MISSING_CODE {
                    continue;
                }
                match rows_of_level.get_mut(code as usize) {
                    Some(n_rows) => *n_rows += labels.sums(row).rows,
                    None => {
                        return Err(RankError::BadCode { column: feature, row, code, n_levels });
                    }
                }
            }
            Ok(Some(rows_of_level))
        };
        let features: Vec<usize> = (0..columns.n_features()).collect();
        let rows_of_levels = parallel::try_map(features.clone(), rows_of_levels)?;
        let kept = KeptLevels::new(&rows_of_levels, labels.total().rows);
        let few = |feature: usize| {
            let (Column::Codes { codes, n_levels }, Some(kept)) =
                (columns[feature], &kept.of_feature[feature])
            else {
                return None;
            };
            let mut code_of_level = vec![MISSING_CODE; n_levels as usize];
            for (code, &level) in (0..).zip(kept) {
                code_of_level[level as usize] = code;
            }
            let few =
                |&code: &u32| code_of_level.get(code as usize).copied().unwrap_or(MISSING_CODE);
            Some(codes.iter().map(few).collect())
        };
        Ok(Self { of_row: parallel::map(features, few), kept })
    }

    /// The columns with few codes instead of categories.
    pub(super) fn columns<'c>(
        &'c self,
        columns: &Columns<'c>,
        interrupt: &Interrupt,
    ) -> Result<Columns<'c>, RankError> {
        let few = columns.iter().zip(&self.of_row).zip(&self.kept.of_feature).map(
            |((column, codes), kept)| match (codes, kept) {
                (Some(codes), Some(kept)) => Column::Codes { codes, n_levels: kept.len() as u32 },
                _ => *column,
            },
        );
        columns.with_features(few.collect(), interrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_is_sorting_by_row() {
        let sides = [vec![0, 3, 4, 9], vec![1, 2, 5, 6, 7, 8]];
        for (left, right) in [(0, 1), (1, 0)] {
            let mut tree = TreeRows::new(true);
            tree.rows = [vec![77], sides[left].clone(), sides[right].clone()].concat();
            tree.resize();
            let word =
                |row: u32| PackedSums::from(UnitSums { gradient: i64::from(row), hessian: 1 });
            tree.derivatives =
                Derivatives::Packed(tree.rows.iter().map(|&row| word(row)).collect());
            tree.merge(1..11, sides[left].len());
            assert_eq!(tree.rows[1..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
            let NodeRows { rows, derivatives: OfNode::Packed(words) } = tree.of(0..11) else {
                panic!("packed")
            };
            assert!(rows.iter().zip(words).all(|(&row, &found)| found == word(row)));
        }
    }
}
