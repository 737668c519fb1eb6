//! Branching programs in layers.

use serde::Serialize;

use super::{Formula, Opaque};

/// Binary digits of a chance.
const CHANCE_BITS: u32 = 31;

/// A branching program: a row sets out with a mass at node 0 of the first layer, and every node sends
/// a share of what it gets to the node of the same place in the next layer, the rest to the one after.
/// Masses are whole numbers, so the sum does not depend on the order of the nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Program {
    /// A row sets out with 2 to this power units of mass.
    pub row_bits: u32,
    /// Layer `t` has nodes 0 to `t`; those of the last are all ends.
    pub layers: Vec<Vec<ProgramNode>>,
}

/// A node of a branching program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramNode {
    /// The share of the mass that goes on to the node after, from 0 to 1: rounded to a multiple of
    /// 2^-31, its product with the mass rounded to a whole number, halves up.
    Split(Formula),
    /// An end that is worth so much.
    End(u32),
}

impl Program {
    /// The mean worth of the ends, weighted by the mass that comes there.
    pub(super) fn value(&self, row: &[f64]) -> Result<f64, Opaque> {
        let one = 1_u64 << CHANCE_BITS;
        let mut masses = vec![1_u64 << self.row_bits];
        let mut sum = 0;
        for layer in &self.layers {
            let mut next = vec![0; masses.len() + 1];
            for (place, (node, mass)) in layer.iter().zip(masses).enumerate() {
                match node {
                    ProgramNode::End(worth) => sum += mass * u64::from(*worth),
                    ProgramNode::Split(share) => {
                        let share = (share.value(row)? * one as f64).round() as u64;
                        let right = (mass * share + one / 2) / one;
                        next[place] += mass - right;
                        next[place + 1] += right;
                    }
                }
            }
            masses = next;
        }
        Ok(sum as f64 / (1_u64 << self.row_bits) as f64)
    }
}
