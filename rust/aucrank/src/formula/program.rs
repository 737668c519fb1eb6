//! Branching programs in layers.

#[cfg(feature = "serde")]
use serde::Serialize;

use super::{Formula, Opaque};

/// Binary digits of a chance.
const CHANCE_BITS: u32 = 31;

/// A branching program: a row sets out with a mass at node 0 of the first layer, and every node sends
/// a share of what it gets to the node of the same place in the next layer, the rest to the one after.
/// Masses are whole numbers, so the sum does not depend on the order of the nodes.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, Program, ProgramNode};
///
/// // A quarter of the mass goes on to the node after, whose end is worth 1.
/// let split = ProgramNode::Split(Formula::Constant(0.25));
/// let ends = vec![ProgramNode::End(0), ProgramNode::End(1)];
/// let program = Program { row_bits: 10, layers: vec![vec![split], ends] };
/// assert_eq!(Formula::Program(program).value(&[]), Ok(0.25));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct Program {
    /// A row sets out with 2 to this power units of mass.
    pub row_bits: u32,
    /// Layer `t` has nodes 0 to `t`; those of the last are all ends.
    pub layers: Vec<Vec<ProgramNode>>,
}

/// A node of a branching program.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Condition, Formula, Program, ProgramNode, Rule, Test};
///
/// // Rows from 2 on go to the node after, all others stay at the place of theirs.
/// let test = Test { feature: 0, left: Rule::AtLeast(2.0), missing_left: false };
/// let share = Formula::Indicator { condition: Condition::Test(test), value: 1.0 };
/// let ends = vec![ProgramNode::End(3), ProgramNode::End(5)];
/// let layers = vec![vec![ProgramNode::Split(share)], ends];
/// let formula = Formula::Program(Program { row_bits: 10, layers });
/// assert_eq!((formula.value(&[1.0]), formula.value(&[2.0])), (Ok(3.0), Ok(5.0)));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize), serde(rename_all = "snake_case"))]
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
