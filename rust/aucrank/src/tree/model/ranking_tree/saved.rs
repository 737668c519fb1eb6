//! The saved form of a ranking tree.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::RankingTree;
use crate::tree::model::{CubeGrid, LeafOrder, Node, TreeFrame};

/// A ranking tree as it is saved.
#[derive(Deserialize)]
pub(super) struct SavedRankingTree {
    n_levels: Vec<Option<u32>>,
    has_missing: Vec<bool>,
    exponent: i32,
    leaf_order: LeafOrder,
    #[serde(default)]
    monotonic: Vec<i8>,
    #[serde(default)]
    grid: Option<CubeGrid>,
    nodes: Vec<Node>,
}

impl From<SavedRankingTree> for RankingTree {
    fn from(saved: SavedRankingTree) -> Self {
        let SavedRankingTree {
            n_levels,
            has_missing,
            exponent,
            leaf_order,
            monotonic,
            grid,
            nodes,
        } = saved;
        let frame = TreeFrame { n_levels, has_missing, exponent, leaf_order, monotonic, grid };
        Self { frame: Arc::new(frame), nodes }
    }
}

impl Serialize for RankingTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SavedModel<'a> {
            #[serde(flatten)]
            frame: &'a TreeFrame,
            nodes: &'a [Node],
        }
        SavedModel { frame: &self.frame, nodes: &self.nodes }.serialize(serializer)
    }
}

impl RankingTree {
    /// Nodes that are numbered from the root on, left before right.
    pub(in crate::tree) fn of_numbered(frame: Arc<TreeFrame>, nodes: Vec<Node>) -> Self {
        Self { frame, nodes }
    }

    /// The tree as JSON text: the same as in a saved model.
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`], which no fitted tree meets.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}
