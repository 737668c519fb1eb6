//! The list of pruning rules.

use serde::{Deserialize, Serialize};

use super::cross_validate::CvParams;
use super::penalize::PenaltyParams;
use super::validate::ValidationParams;
use crate::RankError;

/// How a tree is pruned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruningRule {
    /// By the price of a leaf that cross-validates best.
    CrossValidation(CvParams),
    /// By a penalty on the number of leaves.
    Penalty(PenaltyParams),
    /// By rows that the tree is not grown on.
    Validation(ValidationParams),
}

impl PruningRule {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::CrossValidation(params) => params.validate(),
            Self::Penalty(params) => params.validate(),
            Self::Validation(params) => params.validate(),
        }
    }
}
