//! The layers of a branching program as a formula.

use super::params::Routing;
use super::program::{BranchingProgram, NodeKind};
use crate::formula::{Formula, Opaque, Program, ProgramNode};

impl BranchingProgram {
    /// The mean worth of the ends of a row.
    pub(in crate::boost) fn worth_formula(&self) -> Result<Program, Opaque> {
        if self.routing == Routing::Sampled {
            return Err(Opaque::RandomWalk);
        }
        let mut layers = vec![Vec::new(); self.n_rounds + 1];
        for (layer, index, node) in self.nodes() {
            layers[layer - 1].push(match &node.kind {
                NodeKind::Ranker { term, .. } => ProgramNode::Split(term.formula()),
                NodeKind::Coin => ProgramNode::Split(Formula::Constant(0.5)),
                _ => ProgramNode::End(self.worth(layer, index, node)),
            });
        }
        Ok(Program { row_bits: self.row_bits, layers })
    }
}
