//! The signs that weights may have where the score is bound to rise or to fall with a feature.
//!
//! A threshold `x >= t` rises with `x`, and so do "and" and "or" of it with another term. So a term
//! that asks for a threshold of a bound feature may have a weight of the sign of its direction, or
//! none where it asks for two that are bound in opposite directions. The sum of such terms keeps to
//! every direction, at all values. Whether a value is missing is asked freely.

use super::binary_feature::BinaryFeature;
use super::term::BinaryTerm;
use crate::data::direction;

/// What the sign of a weight may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Sign {
    /// Any.
    #[default]
    Free,
    /// Not negative.
    Positive,
    /// Not positive.
    Negative,
    /// None: the weight is zero.
    Neither,
}

impl Sign {
    /// That of a term over features of which some are bound, see
    /// [`AuroraParams::monotonic`](super::AuroraParams::monotonic).
    pub fn of(term: BinaryTerm, features: &[BinaryFeature], monotonic: &[i8]) -> Self {
        let of_literals = term.literals().map(|literal| {
            let is_threshold = features[literal.feature].are_thresholds(literal.slot, literal.slot);
            match direction(monotonic, literal.feature) {
                1 if is_threshold => Self::Positive,
                -1 if is_threshold => Self::Negative,
                _ => Self::Free,
            }
        });
        of_literals.fold(Self::Free, |one, other| match (one, other) {
            (Self::Free, sign) | (sign, Self::Free) => sign,
            (one, other) if one == other => one,
            _ => Self::Neither,
        })
    }

    /// Whether a weight may be of the sign of a number.
    pub fn allows(self, number: f64) -> bool {
        match self {
            Self::Free => true,
            Self::Positive => number >= 0.0,
            Self::Negative => number <= 0.0,
            Self::Neither => number == 0.0,
        }
    }

    /// The allowed sign, 1 or -1; that of the number where it is free.
    pub fn toward(self, number: f64) -> f64 {
        match self {
            Self::Positive => 1.0,
            Self::Negative => -1.0,
            Self::Free | Self::Neither => number.signum(),
        }
    }
}

/// A weight of less than this share of the norm lies on its bound.
const ON_BOUND: f64 = 1e-9;

/// Removes from a direction what would lead weights on their bounds across them.
pub(super) fn hold_back(direction: &mut [f64], weights: &[f64], radius: f64, signs: &[Sign]) {
    for ((d, weight), sign) in direction.iter_mut().zip(weights).zip(signs) {
        if !sign.allows(*d) && weight.abs() <= ON_BOUND * radius {
            *d = 0.0;
        }
    }
}

/// For each weight the first angle of a great circle at which it comes to its bound; infinity where
/// that never happens. `across` is the direction of the circle, with the norm of the weights.
pub(super) fn angles_to_bounds(weights: &[f64], across: &[f64], signs: &[Sign]) -> Vec<f64> {
    let angle = |((&weight, &across), sign): ((&f64, &f64), &Sign)| {
        if *sign == Sign::Free || weight == 0.0 && across == 0.0 {
            return f64::INFINITY;
        }
        weight.abs().atan2(-across * sign.toward(weight))
    };
    weights.iter().zip(across).zip(signs).map(angle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::binary_feature::Rule;
    use crate::aurora::term::Literal;

    /// Three numbers, two of which have missing values, and a category.
    fn features() -> Vec<BinaryFeature> {
        let number = |missing| BinaryFeature { rule: Rule::AtLeast(vec![1.0, 2.0]), missing };
        let levels = Rule::Equals { levels: vec![0, 1], n_levels: 2 };
        vec![
            number(true),
            number(true),
            number(false),
            BinaryFeature { rule: levels, missing: false },
        ]
    }

    #[test]
    fn a_term_has_the_sign_with_which_it_keeps_to_all_directions() {
        let (features, monotonic) = (features(), [1, -1, 0, 0]);
        let literals: Vec<Literal> = (0..4)
            .flat_map(|feature| {
                (0..features[feature].n_terms()).map(move |slot| Literal { feature, slot })
            })
            .collect();
        // The value of a feature at its codes: 0, 1, 2 and missing.
        let is_on = |literal: Literal, codes: [usize; 4]| {
            features[literal.feature].codes_on(literal.slot).contains(&codes[literal.feature])
        };
        let rows: Vec<[usize; 4]> = (0..4 * 4 * 3 * 2)
            .map(|row| [row % 4, row / 4 % 4, row / 16 % 3, row / 48 % 2])
            .collect();
        let mut met = [0; 4];
        let pairs = literals.iter().flat_map(|a| literals.iter().map(move |b| (*a, *b)));
        for (a, b) in pairs {
            for term in [BinaryTerm::First(a), BinaryTerm::And(a, b), BinaryTerm::Or(a, b)] {
                let value = |codes: [usize; 4]| match term {
                    BinaryTerm::First(a) => is_on(a, codes),
                    BinaryTerm::And(a, b) => is_on(a, codes) && is_on(b, codes),
                    BinaryTerm::Or(a, b) => is_on(a, codes) || is_on(b, codes),
                };
                // Whether it rises, or falls, somewhere along a bound feature, missing values aside.
                let [mut may_be_positive, mut may_be_negative] = [true; 2];
                for (feature, sign) in [(0, 1), (1, -1)] {
                    for row in rows.iter().filter(|row| row[feature] < 2) {
                        let mut next = *row;
                        next[feature] += 1;
                        let step = i32::from(value(next)) - i32::from(value(*row));
                        may_be_positive &= step * sign >= 0;
                        may_be_negative &= step * sign <= 0;
                    }
                }
                let sign = Sign::of(term, &features, &monotonic);
                met[sign as usize] += 1;
                assert!(may_be_positive || !sign.allows(1.0), "{term:?}");
                assert!(may_be_negative || !sign.allows(-1.0), "{term:?}");
                if matches!(term, BinaryTerm::First(_)) {
                    assert_eq!(sign.allows(1.0), may_be_positive);
                    assert_eq!(sign.allows(-1.0), may_be_negative);
                }
            }
        }
        assert!(met.iter().all(|&n| n > 3), "{met:?}");
    }

    #[test]
    fn a_weight_meets_its_bound_where_its_sinusoid_is_zero() {
        let signs = [Sign::Positive, Sign::Negative, Sign::Free, Sign::Positive, Sign::Negative];
        let weights = [0.5, -1.0, 2.0, 0.0, 0.0];
        let across = [-1.5, -0.5, -9.0, 0.0, -2.0];
        let angles = angles_to_bounds(&weights, &across, &signs);
        for place in [0, 1, 4] {
            let (sin, cos) = angles[place].sin_cos();
            assert!((cos * weights[place] + sin * across[place]).abs() < 1e-15);
            let (sin, cos) = (0.9 * angles[place]).sin_cos();
            assert!(signs[place].allows(cos * weights[place] + sin * across[place]));
        }
        assert_eq!((angles[2], angles[3]), (f64::INFINITY, f64::INFINITY));
        let mut direction = [-1.0, 1.0, 1.0, -1.0, -1.0];
        hold_back(&mut direction, &weights, 3.0, &signs);
        assert_eq!(direction, [-1.0, 1.0, 1.0, 0.0, -1.0]);
    }
}
