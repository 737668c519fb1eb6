//! The numbers of nodes, and their coins.

use crate::data::mix;

/// Index of a node: layers count from 1, nodes of a layer from 0.
pub(super) fn place(layer: usize, index: usize) -> usize {
    layer * (layer - 1) / 2 + index
}

/// Number of whole layers with `n_nodes` nodes.
pub(super) fn n_layers_of(n_nodes: usize) -> usize {
    let mut n_layers = 0;
    while place(n_layers + 2, 0) <= n_nodes {
        n_layers += 1;
    }
    n_layers
}

/// The coin of a row at a node, from the hash of its content.
#[inline]
pub(super) fn coin_at(content: u64, layer: usize, node: usize) -> u64 {
    mix(content ^ mix(place(layer, node) as u64))
}
