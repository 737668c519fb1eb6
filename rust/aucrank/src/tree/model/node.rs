//! A node of a ranking tree.

use serde::{Deserialize, Serialize};

use super::split_form::SplitForm;
use crate::data::ClassSums;

/// How a node is split.
///
/// # Examples
///
/// ```
/// use aucrank::tree::{NodeSplit, Rule, SplitForm, Test};
///
/// let test = Test { feature: 0, left: Rule::AtLeast(2.5), missing_left: false };
/// let split = NodeSplit::new(SplitForm::Stump(test.clone()), 1, 2);
/// assert_eq!((split.left(), split.right()), (1, 2));
/// assert_eq!(split.form, SplitForm::Stump(test));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "saved::SavedSplit")]
pub struct NodeSplit {
    /// The test that sends a row left or right.
    #[serde(flatten)]
    pub form: SplitForm,
    // Four bytes each, since a forest has many nodes.
    left: u32,
    right: u32,
}

impl NodeSplit {
    /// A split whose sides lead to the nodes `left` and `right`. A tree has fewer than 2^32 nodes.
    #[must_use]
    pub fn new(form: SplitForm, left: usize, right: usize) -> Self {
        debug_assert!(u32::try_from(left.max(right)).is_ok());
        Self { form, left: left as u32, right: right as u32 }
    }

    /// Node of the side that ranks higher.
    #[inline]
    #[must_use]
    pub fn left(&self) -> usize {
        self.left as usize
    }

    /// Node of the side that ranks lower.
    #[inline]
    #[must_use]
    pub fn right(&self) -> usize {
        self.right as usize
    }

    pub(super) fn set_left(&mut self, node: usize) {
        self.left = node as u32;
    }

    pub(in crate::tree) fn set_right(&mut self, node: usize) {
        self.right = node as u32;
    }
}

/// A node of the ranking tree; a leaf has no split.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{ClassSums, Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let tree = fit((&columns, &labels), &params, &Interrupt::default())?.tree;
/// let [root, left, right] = tree.nodes() else { unreachable!("one split separates the classes") };
/// assert_eq!(root.sums, ClassSums { pos: 2, neg: 2, rows: 4 });
/// assert_eq!(left.sums, ClassSums { pos: 2, neg: 0, rows: 2 });
/// assert!(root.split.is_some() && left.split.is_none() && right.split.is_none());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Class sums of the training rows in the node.
    pub sums: ClassSums,
    /// How it is split.
    pub split: Option<NodeSplit>,
}

/// The split of a node as it is saved.
mod saved {
    use serde::Deserialize;

    use super::NodeSplit;
    use crate::formula::Test;
    use crate::tree::model::{Cubes, SplitForm, SplitNode};

    /// A split as it is saved. With `flatten`, the form would be read through a copy that takes
    /// many times the memory of the text; likewise the frame.
    #[derive(Deserialize)]
    pub(super) struct SavedSplit {
        stump: Option<Test>,
        cuts: Option<Vec<SplitNode>>,
        cubes: Option<Cubes>,
        classifier: Option<SavedClassifier>,
        left: u32,
        right: u32,
    }

    /// [`SplitForm::Classifier`] as it is saved.
    #[derive(Deserialize)]
    struct SavedClassifier {
        number: usize,
        positive_left: bool,
    }

    impl TryFrom<SavedSplit> for NodeSplit {
        type Error = &'static str;

        fn try_from(saved: SavedSplit) -> Result<Self, Self::Error> {
            let SavedSplit { stump, cuts, cubes, classifier, left, right } = saved;
            let form = match (stump, cuts, cubes, classifier) {
                (Some(test), None, None, None) => SplitForm::Stump(test),
                (None, Some(cuts), None, None) => SplitForm::Cuts(cuts),
                (None, None, Some(cubes), None) => SplitForm::Cubes(cubes),
                (None, None, None, Some(SavedClassifier { number, positive_left })) => {
                    SplitForm::Classifier { number, positive_left }
                }
                _ => return Err("a split is not of one form"),
            };
            Ok(Self { form, left, right })
        }
    }
}
