//! Branching programs in layers: what `MartiRank` and `SMartiRank` learn.

use serde::{Deserialize, Serialize};

use super::params::{ProgramScore, Routing};
use crate::boost::term::Term;
use crate::boost::two_sided::TwoSided;
use crate::data::{ClassMasses, times_power_of_two};

/// A branching program in layers (paper 3 Figure 2). From node `i` of layer `t` a row goes to node
/// `i` of layer `t + 1`, or to node `i + 1` where the classifier says "positive"; `i` is the number
/// of votes for "positive" so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchingProgram {
    pub(super) n_levels: Vec<Option<u32>>,
    /// Layers of classifiers; the terminal nodes are one layer more.
    pub(super) n_rounds: usize,
    pub(super) routing: Routing,
    pub(super) score: ProgramScore,
    pub(super) seed: u64,
    /// Layer by layer.
    pub(super) nodes: Vec<Node>,
    /// A row sets out with 2 to this power units of mass.
    pub(super) row_bits: u32,
    /// Power of two that a unit of mass stands for.
    pub(super) exponent: i32,
    pub(super) threshold: f64,
}

/// A node of a branching program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Mass of each class that reached the node in the fit, in units of [`BranchingProgram::unit`].
    pub masses: ClassMasses,
    /// What happens there.
    pub kind: NodeKind,
}

/// What happens to a row at a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A ranker, cut into a two-sided classifier, sends it on.
    Ranker {
        /// The chance to go right, "positive".
        term: Term,
        /// How the ranking was cut.
        cut: TwoSided,
    },
    /// No ranker is better than chance: a fair coin sends it on.
    Coin,
    /// Its way ends early, at a label.
    Frozen {
        /// Whether the label is "positive".
        positive: bool,
    },
    /// Its way ends in the last layer.
    Terminal,
    /// No training row came here. A row that does gets half of the votes that are left
    /// (DECISIONS B11).
    Unreached,
}

/// Place of a node: layers count from 1, nodes of a layer from 0.
pub(super) fn place(layer: usize, index: usize) -> usize {
    layer * (layer - 1) / 2 + index
}

impl BranchingProgram {
    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// Layers of classifiers, the paper's T; layer T + 1 is that of the terminal nodes.
    #[must_use]
    pub fn n_rounds(&self) -> usize {
        self.n_rounds
    }

    /// How rows walk.
    #[must_use]
    pub fn routing(&self) -> Routing {
        self.routing
    }

    /// What a row scores.
    #[must_use]
    pub fn score_kind(&self) -> ProgramScore {
        self.score
    }

    /// The score from which on a row is called positive, before it is subtracted.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// All nodes, layer by layer, with their layers (from 1) and indices (from 0).
    pub fn nodes(&self) -> impl Iterator<Item = (usize, usize, &Node)> {
        let places = (1..=self.n_rounds + 1).flat_map(|layer| (0..layer).map(move |i| (layer, i)));
        places.zip(&self.nodes).map(|((layer, index), node)| (layer, index, node))
    }

    /// A node.
    ///
    /// # Panics
    ///
    /// If there is none: layers are 1 to T + 1, and layer t has nodes 0 to t - 1.
    #[must_use]
    pub fn node(&self, layer: usize, index: usize) -> &Node {
        assert!((1..=self.n_rounds + 1).contains(&layer) && index < layer, "no such node");
        &self.nodes[place(layer, index)]
    }

    /// Mass in the unit of the weights of the training rows: of rows, where they had none.
    #[must_use]
    pub fn unit(&self) -> f64 {
        times_power_of_two(1.0, self.exponent)
    }

    /// Twice the votes of a way that ends at a node, those that are left included; `None` where ways
    /// go on.
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

    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
