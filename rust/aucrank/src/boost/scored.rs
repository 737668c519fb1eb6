//! Terms over rankers whose score is a number: linear ones, and those that live outside the core.

use serde::{Deserialize, Serialize};

use super::weak::linear::LinearRanker;

/// Where the score of a row comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowScorer {
    /// A linear ranker.
    Linear(LinearRanker),
    /// A ranker outside the core, by its number.
    Outside(usize),
}

/// A value for each score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Two values.
    Cut {
        /// Scores equal to it are high.
        threshold: f64,
        /// The value of scores below.
        low: f64,
        /// The value of the others.
        high: f64,
    },
    /// 0 up to `low`, `gain` from `high` on, straight in between.
    Clip {
        /// Highest score of value 0.
        low: f64,
        /// Lowest score of value `gain`.
        high: f64,
        /// The value at the top.
        gain: f64,
    },
}

/// A function of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredTerm {
    /// The score.
    pub scorer: RowScorer,
    /// What is made of it.
    pub shape: Shape,
}
