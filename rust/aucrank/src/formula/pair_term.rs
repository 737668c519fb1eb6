//! A function of two features: a table.

use serde::{Deserialize, Serialize};

use super::test::{Condition, Rule, Test};
use super::tree::{DecisionTree, TreeNode};
use crate::data::LevelSet;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
/// use aucrank::formula::{Axis, AxisPlaces};
///
/// // Below 18, from 18 to 65, from 65 on, and missing.
/// let ages = Axis { feature: 0, known: AxisPlaces::Numeric { thresholds: vec![18.0, 65.0] } };
/// assert_eq!(ages.n_places(), 4);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
/// use aucrank::formula::{Axis, AxisPlaces};
///
/// // Categories 0 and 2, category 5, all others, and missing.
/// let known = AxisPlaces::Categorical { groups: vec![vec![0, 2], vec![5]], has_others: true };
/// assert_eq!(Axis { feature: 1, known }.n_places(), 4);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

    /// Checks what was read from a file, given the number of categories of each feature.
    fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let feature = self.feature;
        match (&self.known, n_levels.get(feature)) {
            (AxisPlaces::Numeric { thresholds }, Some(None)) => {
                let are_finite = thresholds.iter().all(|threshold| threshold.is_finite());
                if !(are_finite && thresholds.is_sorted_by(|a, b| a < b)) {
                    return Err(format!("the thresholds of feature {feature} do not ascend"));
                }
            }
            (AxisPlaces::Categorical { groups, has_others }, Some(Some(n_levels))) => {
                let mut listed = groups.concat();
                listed.sort_unstable();
                let are_distinct = listed.is_sorted_by(|a, b| a < b);
                if !are_distinct
                    || groups.iter().any(Vec::is_empty)
                    || listed.last().is_some_and(|last| last >= n_levels)
                    || (groups.is_empty() && !has_others)
                {
                    return Err(format!("the places of feature {feature} are not its categories"));
                }
            }
            _ => return Err(format!("feature {feature} of a table is of another kind")),
        }
        Ok(())
    }

    /// The places of many raw values; NaN is missing.
    pub(crate) fn reader(&self) -> impl Fn(f64) -> usize + Sync + '_ {
        let place_of_level = self.place_of_level();
        move |raw| self.place(raw, &place_of_level)
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
    pub(crate) fn raw_values(&self) -> Vec<f64> {
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

impl PairTerm {
    /// Checks what was read from a file, given the number of categories of each feature. The range
    /// of values is checked by the caller.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(crate) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        for axis in &self.axes {
            axis.check(n_levels)?;
        }
        let [first, second] = self.features();
        if first >= second {
            return Err(format!("features {first} and {second} of a table are not in order"));
        }
        let n_places: Vec<usize> = self.axes.iter().map(Axis::n_places).collect();
        if n_places[0].checked_mul(n_places[1]) != Some(self.values.len()) {
            return Err(format!("a table of features {first} and {second} lacks cells"));
        }
        Ok(())
    }

    /// The two features, ascending.
    #[must_use]
    pub fn features(&self) -> [usize; 2] {
        self.axes.each_ref().map(|axis| axis.feature)
    }

    /// The value of many rows, given as the raw values of the two features.
    pub(crate) fn reader(&self) -> impl Fn([f64; 2]) -> f64 + Sync + '_ {
        let [of_first, of_second] = self.axes.each_ref().map(Axis::reader);
        let n_columns = self.axes[1].n_places();
        move |[first, second]| self.values[of_first(first) * n_columns + of_second(second)]
    }

    /// The table as a tree: places of the first feature, halved until one is left, and below each
    /// those of the second. It has no weights of training rows.
    pub(crate) fn formula(&self) -> DecisionTree {
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
