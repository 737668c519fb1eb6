//! Binary terms of one or two features.

use serde::{Deserialize, Serialize};

/// A term of one feature, by its index among those of the feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Literal {
    /// The raw feature.
    pub feature: usize,
    /// Its index among the terms of the feature.
    pub slot: usize,
}

/// A binary term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BinaryTerm {
    /// Of one feature.
    First(Literal),
    /// Both are on.
    And(Literal, Literal),
    /// At least one is on.
    Or(Literal, Literal),
}

impl BinaryTerm {
    /// The one or two literals that it uses.
    #[must_use]
    pub fn literals(&self) -> impl ExactSizeIterator<Item = Literal> + Clone {
        let (pair, n) = match *self {
            Self::First(a) => ([a, a], 1),
            Self::And(a, b) | Self::Or(a, b) => ([a, b], 2),
        };
        pair.into_iter().take(n)
    }

    /// Where it is on, 1 or 0, given where its literals are.
    pub(super) fn on(&self, of: impl Fn(Literal) -> Vec<u8>) -> Vec<u8> {
        let mut on;
        match *self {
            Self::First(a) => on = of(a),
            Self::And(a, b) => {
                on = of(a);
                on.iter_mut().zip(of(b)).for_each(|(a, b)| *a &= b);
            }
            Self::Or(a, b) => {
                on = of(a);
                on.iter_mut().zip(of(b)).for_each(|(a, b)| *a |= b);
            }
        }
        on
    }
}
