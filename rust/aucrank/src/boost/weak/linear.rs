//! A linear weak ranker.

use serde::{Deserialize, Serialize};

/// A weighted sum of the features, a missing value counting as the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearRanker {
    /// For each feature its weight, 0 for categorical ones.
    pub coefficients: Vec<f64>,
    /// For each feature the value that a missing one counts as.
    pub means: Vec<f64>,
}
