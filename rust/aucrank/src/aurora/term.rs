//! Binary terms of one or two features.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// A term of one feature, by its index among those of the feature.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{BinaryFeature, Literal, Rule, TermTest};
///
/// let features = [
///     BinaryFeature { rule: Rule::AtLeast(vec![1.5, 3.0]), missing: false },
///     BinaryFeature { rule: Rule::AtLeast(vec![10.0]), missing: true },
/// ];
/// let literal = Literal { feature: 1, slot: 1 };
/// assert_eq!(features[literal.feature].tests()[literal.slot], TermTest::Missing);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Literal {
    /// The raw feature.
    pub feature: usize,
    /// Its index among the terms of the feature.
    pub slot: usize,
}

/// A binary term.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{BinaryTerm, Literal};
///
/// let (first, second) = (Literal { feature: 0, slot: 2 }, Literal { feature: 3, slot: 0 });
/// assert_eq!(BinaryTerm::First(first).literals().len(), 1);
/// let both = BinaryTerm::And(first, second);
/// assert_eq!(both.literals().map(|literal| literal.feature).collect::<Vec<_>>(), [0, 3]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
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
