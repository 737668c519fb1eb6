//! The terms of a score, packed eight to a byte.
//!
//! A score is a sum over terms, and so a sum over bytes of a function of the byte: with a table of
//! its 256 values, eight terms cost one lookup per row. The derivative with respect to eight
//! weights is one histogram over the values of the byte. Terms of one and of two features are
//! treated alike, and 200 terms take 25 bytes per row.

use std::sync::Arc;

use super::binary_feature::BinaryFeature;
use super::binary_feature::BinaryTerm;
use crate::data::direction;
use crate::parallel::prelude::*;

/// Rows processed at a time: the output stays in the cache from column to column.
const BLOCK: usize = 1024;

/// Least number of blocks that are worth a task of their own.
const BLOCKS_OF_TASK: usize = 4;

/// Columns processed at a time.
const LANES: usize = 4;

/// Rows from which groups of columns are tasks of their own.
const PARALLEL_ROWS: usize = 4096;

/// Rows where each of some terms is on. A clone shares all columns until a term is added to it.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedTerms {
    columns: Vec<Arc<Vec<u8>>>,
    n_terms: usize,
}

/// Terms with the signs that their weights may have; no signs if all are free.
#[derive(Debug, Clone, Copy)]
pub(super) struct SignedTerms<'a> {
    pub terms: &'a PackedTerms,
    pub signs: &'a [Sign],
}

#[cfg(test)]
impl<'a> SignedTerms<'a> {
    /// Terms whose weights are free.
    pub fn free(terms: &'a PackedTerms) -> Self {
        Self { terms, signs: &[] }
    }
}

impl PackedTerms {
    /// Adds a term, given as 1 where it is on and 0 elsewhere.
    pub fn push(&mut self, on: &[u8]) {
        let place = self.n_terms % 8;
        self.n_terms += 1;
        if place == 0 {
            self.columns.push(Arc::new(on.to_vec()));
            return;
        }
        let column = self.columns.last_mut().expect("a byte that is not full");
        for (byte, on) in Arc::make_mut(column).iter_mut().zip(on) {
            *byte |= on << place;
        }
    }

    /// Sums the weights of the terms that are on in each row.
    pub fn scores(&self, weights: &[f64], out: &mut [f64]) {
        debug_assert_eq!(weights.len(), self.n_terms);
        out.fill(0.0);
        let tables: Vec<[f64; 256]> = weights.chunks(8).map(table).collect();
        let blocks = out.par_chunks_mut(BLOCK).enumerate().with_min_len(BLOCKS_OF_TASK);
        blocks.for_each(|(number, out)| {
            let start = number * BLOCK;
            for (columns, tables) in self.columns.chunks(LANES).zip(tables.chunks(LANES)) {
                let end = start + out.len();
                if let ([a, b, c, d], [ta, tb, tc, td]) = (columns, tables) {
                    let bytes = a[start..end].iter().zip(&b[start..end]);
                    let bytes = bytes.zip(c[start..end].iter().zip(&d[start..end]));
                    for (out, ((&a, &b), (&c, &d))) in out.iter_mut().zip(bytes) {
                        // Two sums that do not wait for each other.
                        *out += (ta[usize::from(a)] + tb[usize::from(b)])
                            + (tc[usize::from(c)] + td[usize::from(d)]);
                    }
                } else {
                    for (column, table) in columns.iter().zip(tables) {
                        for (out, &byte) in out.iter_mut().zip(&column[start..end]) {
                            *out += table[usize::from(byte)];
                        }
                    }
                }
            }
        });
    }

    /// Sums the slopes of the rows for which each term is on, among those whose bit is set. Of the
    /// terms from number `first` on.
    pub fn gradient_where(&self, bits: &[u64], slopes: &[f64], first: usize) -> Vec<f64> {
        let mut rows = Vec::with_capacity(slopes.len());
        for (number, &word) in bits.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                rows.push(64 * number + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
        let columns = &self.columns[first / 8..];
        let mut gradient = Vec::with_capacity(8 * columns.len());
        for columns in columns.chunks(LANES) {
            let mut sums = [[0.0; 256]; LANES];
            if let ([a, b, c, d], [sa, sb, sc, sd]) = (columns, &mut sums) {
                for &row in &rows {
                    let slope = slopes[row];
                    sa[usize::from(a[row])] += slope;
                    sb[usize::from(b[row])] += slope;
                    sc[usize::from(c[row])] += slope;
                    sd[usize::from(d[row])] += slope;
                }
            } else {
                for (column, sums) in columns.iter().zip(&mut sums) {
                    for &row in &rows {
                        sums[usize::from(column[row])] += slopes[row];
                    }
                }
            }
            gradient.extend(sums[..columns.len()].iter().flat_map(by_bit));
        }
        gradient.truncate(self.n_terms - first / 8 * 8);
        gradient.drain(..first % 8);
        gradient
    }

    /// Sums the slopes of the rows for which each term is on.
    pub fn gradient(&self, slopes: &[f64]) -> Vec<f64> {
        let of_columns = |columns: &[Arc<Vec<u8>>]| {
            let mut sums = [[0.0; 256]; LANES];
            if let ([a, b, c, d], [sa, sb, sc, sd]) = (columns, &mut sums) {
                let bytes = a.iter().zip(b.iter()).zip(c.iter().zip(d.iter()));
                for (&slope, ((&a, &b), (&c, &d))) in slopes.iter().zip(bytes) {
                    sa[usize::from(a)] += slope;
                    sb[usize::from(b)] += slope;
                    sc[usize::from(c)] += slope;
                    sd[usize::from(d)] += slope;
                }
            } else {
                for (column, sums) in columns.iter().zip(&mut sums) {
                    for (&slope, &byte) in slopes.iter().zip(column.iter()) {
                        sums[usize::from(byte)] += slope;
                    }
                }
            }
            sums[..columns.len()].iter().flat_map(by_bit).collect::<Vec<f64>>()
        };
        let least = if slopes.len() < PARALLEL_ROWS { usize::MAX } else { 1 };
        let groups = self.columns.par_chunks(LANES).with_min_len(least);
        let mut gradient: Vec<f64> = groups.flat_map_iter(of_columns).collect();
        gradient.truncate(self.n_terms);
        gradient
    }
}

/// Sums over the values of a byte that have each bit.
fn by_bit(sums: &[f64; 256]) -> [f64; 8] {
    std::array::from_fn(|bit| {
        let on = sums.iter().enumerate().filter(|(byte, _)| byte >> bit & 1 == 1);
        on.map(|(_, sum)| sum).sum()
    })
}

/// Sum of up to eight weights for each subset of them.
fn table(weights: &[f64]) -> [f64; 256] {
    let mut table = [0.0; 256];
    for byte in 1..1_usize << weights.len() {
        table[byte] = table[byte & (byte - 1)] + weights[byte.trailing_zeros() as usize];
    }
    table
}

/// Allowed sign of a weight.
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
    /// The sign of a term over features, some of them bound, see
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

    /// Whether a weight may have the sign of a number.
    pub fn allows(self, number: f64) -> bool {
        match self {
            Self::Free => true,
            Self::Positive => number >= 0.0,
            Self::Negative => number <= 0.0,
            Self::Neither => number == 0.0,
        }
    }

    /// The allowed sign, 1 or -1; that of the number if it is free.
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

/// Removes the components of a direction that would lead weights on their bounds across them.
pub(super) fn hold_back(direction: &mut [f64], weights: &[f64], radius: f64, signs: &[Sign]) {
    for ((d, weight), sign) in direction.iter_mut().zip(weights).zip(signs) {
        if !sign.allows(*d) && weight.abs() <= ON_BOUND * radius {
            *d = 0.0;
        }
    }
}

/// For each weight the first angle of a great circle at which it reaches its bound; infinity if it
/// never does. `across` is the direction of the circle, with the norm of the weights.
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
    use crate::data::mix;

    #[test]
    fn scores_and_gradients_are_sums_over_terms() {
        for n_terms in [1, 7, 8, 9, 33, 70] {
            let n = 2500;
            let on =
                |term: usize, row: usize| u8::from(mix((term * n + row) as u64).is_multiple_of(3));
            let mut terms = PackedTerms::default();
            for term in 0..n_terms {
                terms.push(&(0..n).map(|row| on(term, row)).collect::<Vec<u8>>());
            }
            // Integers, whose sums are exact in any order.
            let weights: Vec<f64> = (0..n_terms).map(|term| (term * term) as f64 - 50.0).collect();
            let slopes: Vec<f64> = (0..n).map(|row| (row % 101) as f64 - 40.0).collect();
            let mut scores = vec![f64::NAN; n];
            terms.scores(&weights, &mut scores);
            for (row, &score) in scores.iter().enumerate() {
                let expected: f64 =
                    (0..n_terms).map(|term| weights[term] * f64::from(on(term, row))).sum();
                assert_eq!(score, expected, "row {row} of {n_terms} terms");
            }
            let gradient: Vec<f64> = (0..n_terms)
                .map(|term| (0..n).map(|row| slopes[row] * f64::from(on(term, row))).sum())
                .collect();
            assert_eq!(terms.gradient(&slopes), gradient);
            let set = |row: usize| !mix(row as u64).is_multiple_of(5);
            let bits: Vec<u64> = (0..n.div_ceil(64))
                .map(|word| {
                    let rows = (64 * word..n).take(64);
                    rows.map(|row| u64::from(set(row)) << (row % 64)).sum()
                })
                .collect();
            let among: Vec<f64> =
                (0..n).map(|row| if set(row) { slopes[row] } else { 0.0 }).collect();
            let expected = terms.gradient(&among);
            for first in [0, n_terms / 2, n_terms - 1] {
                assert_eq!(terms.gradient_where(&bits, &slopes, first), expected[first..]);
            }
        }
    }

    #[test]
    fn a_term_added_to_a_clone_is_not_shared() {
        let mut terms = PackedTerms::default();
        terms.push(&[1, 0, 1]);
        let mut clone = terms.clone();
        clone.push(&[0, 1, 1]);
        let mut scores = [0.0; 3];
        terms.scores(&[1.0], &mut scores);
        assert_eq!(scores, [1.0, 0.0, 1.0]);
        clone.scores(&[1.0, 4.0], &mut scores);
        assert_eq!(scores, [1.0, 4.0, 5.0]);
    }
}

#[cfg(test)]
mod tests_of_signs {
    use super::*;
    use crate::aurora::binary_feature::BinaryRule;
    use crate::aurora::binary_feature::Literal;

    /// Three numbers, two of which have missing values, and a category.
    fn features() -> Vec<BinaryFeature> {
        let number = |missing| BinaryFeature { rule: BinaryRule::AtLeast(vec![1.0, 2.0]), missing };
        let levels = BinaryRule::Equals { levels: vec![0, 1], n_levels: 2 };
        vec![
            number(true),
            number(true),
            number(false),
            BinaryFeature { rule: levels, missing: false },
        ]
    }

    #[test]
    fn a_term_has_the_sign_that_obeys_all_directions() {
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
                // Whether it rises, or falls, somewhere along a bound feature, apart from missing
                // values.
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
    fn a_weight_reaches_its_bound_where_its_sinusoid_is_zero() {
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
