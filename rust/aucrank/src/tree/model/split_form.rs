//! Forms of the test that sends the rows of a node left or right.
//!
//! A new form is a variant of [`SplitForm`] with its case in the methods below, a field of
//! [`SavedSplit`](super::node) and a step of [`Router`](super::Router).

use serde::{Deserialize, Serialize};

use super::cubes::Cubes;
use super::ranking_tree::TreeFrame;
use crate::data::{ClassSums, direction};
use crate::formula::{Rule, Test};

/// A node of the tree of stumps inside a split.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{ClassSums, Columns, Labels};
/// use aucrank::tree::{
///     GrowParams, LeafRankParams, SplitForm, SplitNode, SplitRule, TreeRankParams, fit,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, true, false], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let split = LeafRankParams { max_depth: 2, ..LeafRankParams::orthogonal(1) };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(split));
/// let tree = fit((&columns, &labels), &params, &Interrupt::default())?.tree;
/// let split = tree.nodes()[0].split.as_ref().expect("the classes differ");
/// let SplitForm::Cuts(nodes) = &split.form else { unreachable!("two stumps are needed") };
/// assert_eq!(nodes[0].sums(), ClassSums { pos: 2, neg: 2, rows: 4 });
/// // What goes left has the positive rows, and them alone.
/// let left = nodes.iter().filter(|node| matches!(node, SplitNode::Part { goes_left: true, .. }));
/// let sums: ClassSums = left.map(SplitNode::sums).sum();
/// assert_eq!(sums, ClassSums { pos: 2, neg: 0, rows: 2 });
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitNode {
    /// A stump; its sides come later in the list.
    Cut {
        /// Class sums of the rows that reach it.
        sums: ClassSums,
        /// The test.
        test: Test,
        /// Place of the left side in the list.
        left: usize,
        /// Place of the right side in the list.
        right: usize,
    },
    /// A part of the node, and the side that it was merged into.
    Part {
        /// Class sums of the part.
        sums: ClassSums,
        /// Whether it belongs to the left side.
        goes_left: bool,
    },
}

impl SplitNode {
    /// Class sums of the rows that reach this place.
    #[must_use]
    pub fn sums(&self) -> ClassSums {
        match self {
            Self::Cut { sums, .. } | Self::Part { sums, .. } => *sums,
        }
    }
}

/// The test that sends a row of a node left or right.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitForm, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, true, false], None)?;
/// let form_of = |split| {
///     let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(split));
///     let tree = fit((&columns, &labels), &params, &Interrupt::default())
///         .map(|fitted| fitted.tree);
///     tree.map(|tree| tree.nodes()[0].split.clone().expect("the classes differ").form)
/// };
/// let single = LeafRankParams::orthogonal(1);
/// assert!(matches!(form_of(single)?, SplitForm::Stump(test) if test.feature == 0));
/// let deeper = LeafRankParams { max_depth: 2, ..single };
/// // Two stumps and three parts.
/// assert!(matches!(form_of(deeper)?, SplitForm::Cuts(nodes) if nodes.len() == 5));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitForm {
    /// A single test.
    Stump(Test),
    /// A tree of stumps, its root first, left before right, whose parts are merged into two sides.
    Cuts(Vec<SplitNode>),
    /// Dyadic cubes, each on its side.
    Cubes(Cubes),
    /// A classifier outside the tree.
    Classifier {
        /// Its number; these increase from node to node.
        number: usize,
        /// Whether the rows that it predicts as positive go left; if not, the others do.
        positive_left: bool,
    },
}

impl SplitForm {
    /// The tests of single features; none for cubes and classifiers, which test many at once.
    pub(in crate::tree) fn tests(&self) -> impl Iterator<Item = &Test> {
        let (stump, cuts) = match self {
            Self::Stump(test) => (Some(test), &[][..]),
            Self::Cuts(cuts) => (None, &cuts[..]),
            Self::Cubes(_) | Self::Classifier { .. } => (None, &[][..]),
        };
        let cuts = cuts.iter().filter_map(|cut| match cut {
            SplitNode::Cut { test, .. } => Some(test),
            SplitNode::Part { .. } => None,
        });
        stump.into_iter().chain(cuts)
    }

    /// The tests of single features, mutable.
    pub(in crate::tree) fn tests_mut(&mut self) -> impl Iterator<Item = &mut Test> {
        let (stump, cuts) = match self {
            Self::Stump(test) => (Some(test), &mut [][..]),
            Self::Cuts(cuts) => (None, &mut cuts[..]),
            Self::Cubes(_) | Self::Classifier { .. } => (None, &mut [][..]),
        };
        let cuts = cuts.iter_mut().filter_map(|cut| match cut {
            SplitNode::Cut { test, .. } => Some(test),
            SplitNode::Part { .. } => None,
        });
        stump.into_iter().chain(cuts)
    }

    /// Whether it consists of tests of one feature each.
    pub(in crate::tree) fn asks_single_features(&self) -> bool {
        matches!(self, Self::Stump(_) | Self::Cuts(_))
    }

    /// Number of the classifier, if it is one.
    pub(in crate::tree) fn classifier(&self) -> Option<usize> {
        match self {
            Self::Classifier { number, .. } => Some(*number),
            Self::Stump(_) | Self::Cuts(_) | Self::Cubes(_) => None,
        }
    }

    /// Each tested feature with the gain of its test; `gain` is that of the split.
    pub(super) fn gains(&self, gain: i128) -> impl Iterator<Item = (usize, i128)> {
        let (stump, cuts) = match self {
            Self::Stump(test) => (Some((test.feature, gain)), &[][..]),
            Self::Cuts(cuts) => (None, &cuts[..]),
            Self::Cubes(_) | Self::Classifier { .. } => (None, &[][..]),
        };
        let cuts = cuts.iter().filter_map(|cut| match cut {
            SplitNode::Cut { sums, test, left, .. } => {
                Some((test.feature, sums.gain(cuts[*left].sums())))
            }
            SplitNode::Part { .. } => None,
        });
        stump.into_iter().chain(cuts)
    }

    /// Checks, in a loaded tree, that it can split a node into a left side of the sums `left`.
    pub(super) fn check(
        &self,
        frame: &TreeFrame,
        node: ClassSums,
        left: ClassSums,
    ) -> Result<(), String> {
        match self {
            Self::Stump(test) => check_test(frame, test),
            Self::Cuts(cuts) => check_cuts(frame, cuts, node, left),
            Self::Cubes(cubes) => match &frame.grid {
                Some(grid) => cubes.check(grid),
                None => Err("cubes without their grid".to_owned()),
            },
            Self::Classifier { .. } => Ok(()),
        }
    }
}

fn check_test(frame: &TreeFrame, test: &Test) -> Result<(), String> {
    match frame.n_levels.get(test.feature) {
        None => Err(format!("asks feature {}", test.feature)),
        Some(n_levels) if !test.suits(*n_levels) => Err("does not suit its feature".to_owned()),
        Some(_) if !allows(&frame.monotonic, test) => {
            Err("runs against the constraint of its feature".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn check_cuts(
    frame: &TreeFrame,
    cuts: &[SplitNode],
    node: ClassSums,
    left_side: ClassSums,
) -> Result<(), String> {
    if cuts.first().map(SplitNode::sums) != Some(node) {
        return Err("the stumps do not cover the node".to_owned());
    }
    let mut next = vec![0];
    let mut merged = ClassSums::default();
    for (place, cut) in cuts.iter().enumerate() {
        if next.pop() != Some(place) {
            return Err(format!("stump {place} is not in its place"));
        }
        match cut {
            SplitNode::Cut { sums, test, left, right } => {
                let of = |side: usize| cuts.get(side).map(SplitNode::sums);
                let (Some(on_left), Some(on_right)) = (of(*left), of(*right)) else {
                    return Err(format!("a side of stump {place} does not exist"));
                };
                if !adds_up(*sums, on_left, on_right) {
                    return Err(format!("the sides of stump {place} do not add up to it"));
                }
                check_test(frame, test).map_err(|what| format!("stump {place} {what}"))?;
                next.extend([*right, *left]);
            }
            SplitNode::Part { sums, goes_left: true } => merged += *sums,
            SplitNode::Part { .. } => {}
        }
    }
    if next.is_empty() && merged == left_side {
        Ok(())
    } else {
        Err("its parts do not make up its sides".to_owned())
    }
}

/// Whether two sides add up to the whole.
pub(super) fn adds_up(whole: ClassSums, left: ClassSums, right: ClassSums) -> bool {
    let sum = |of: fn(ClassSums) -> u64| of(left).checked_add(of(right)) == Some(of(whole));
    sum(|s| s.pos) && sum(|s| s.neg) && sum(|s| s.rows)
}

/// Whether a test of a number obeys the direction of its feature. The side of missing values is
/// free.
pub(in crate::tree) fn allows(monotonic: &[i8], test: &Test) -> bool {
    match test.left {
        Rule::Below(_) => direction(monotonic, test.feature) <= 0,
        Rule::AtLeast(_) => direction(monotonic, test.feature) >= 0,
        Rule::Known(_) | Rule::Levels(_) => true,
    }
}

/// Whether a constraint orders the sides of a test.
pub(in crate::tree) fn orders(monotonic: &[i8], test: &Test) -> bool {
    let asks_value = !matches!(test.left, Rule::Known(_));
    asks_value && direction(monotonic, test.feature) != 0
}

/// Eta of every node of a tree, clipped to the bounds that the splits above it set.
///
/// `sides` gives the left and right node of a split and whether a constraint orders them; a node
/// comes before those below it. Clipping depends only on the sums of the nodes above, so a node has
/// the same value in every subtree that contains it.
pub(in crate::tree) fn clipped_etas(
    sums: impl Iterator<Item = ClassSums>,
    sides: impl Fn(usize) -> Option<(usize, usize, bool)>,
) -> Vec<f64> {
    let mut etas: Vec<f64> = sums.map(ClassSums::eta).collect();
    let mut bounds = vec![(0.0, 1.0); etas.len()];
    for node in 0..etas.len() {
        let Some((left, right, is_ordered)) = sides(node) else { continue };
        let (low, high) = bounds[node];
        etas[left] = etas[left].clamp(low, high);
        etas[right] = etas[right].clamp(low, high);
        // The left side of a split has the larger eta, even after clipping and rounding.
        let middle = f64::midpoint(etas[left], etas[right]);
        (bounds[left], bounds[right]) =
            if is_ordered { ((middle, high), (low, middle)) } else { ((low, high), (low, high)) };
    }
    etas
}

#[cfg(test)]
mod tests_of_monotone {
    use super::*;

    fn sums(pos: u64, neg: u64) -> ClassSums {
        ClassSums { pos, neg, rows: pos + neg }
    }

    #[test]
    fn etas_are_clipped_at_the_middle_of_ordered_sides() {
        // The root separates 3/4 from 1/4; both sides are split again, without an order.
        let nodes = [(8, 8), (6, 2), (4, 0), (2, 2), (2, 6), (2, 0), (0, 6)];
        let nodes = || nodes.iter().map(|&(pos, neg)| sums(pos, neg));
        let sides = |root_is_ordered: bool| {
            move |node: usize| match node {
                0 => Some((1, 4, root_is_ordered)),
                1 => Some((2, 3, false)),
                4 => Some((5, 6, false)),
                _ => None,
            }
        };
        let plain = clipped_etas(nodes(), sides(false));
        assert_eq!(plain, [0.5, 0.75, 1.0, 0.5, 0.25, 1.0, 0.0]);
        let clipped = clipped_etas(nodes(), sides(true));
        assert_eq!(clipped, [0.5, 0.75, 1.0, 0.5, 0.25, 0.5, 0.0]);
    }
}
