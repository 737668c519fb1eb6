//! The split of a node as it is saved.

use serde::Deserialize;

use super::NodeSplit;
use crate::formula::Test;
use crate::tree::model::{Cubes, SplitForm, SplitNode};

/// A split as it is saved. A flattened form would be read by way of a copy that takes many times the
/// memory of the text; so would a flattened frame.
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
