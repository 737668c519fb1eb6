//! A raw feature as binary terms.

use std::ops::{AddAssign, Range};

use serde::{Deserialize, Serialize};

use crate::data::{Bins, Column, MISSING_CODE};

/// The tests of the terms of a feature.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{BinaryFeature, BinaryRule};
///
/// let of_number = BinaryFeature { rule: BinaryRule::AtLeast(vec![1.5, 3.0]), missing: false };
/// let rule = BinaryRule::Equals { levels: vec![0, 2], n_levels: 5 };
/// let of_category = BinaryFeature { rule, missing: false };
/// assert_eq!((of_number.n_terms(), of_category.n_terms()), (2, 2));
/// // Intervals or categories, and what is missing.
/// assert_eq!((of_number.n_codes(), of_category.n_codes()), (4, 6));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BinaryRule {
    /// `x >= t` for each threshold, ascending.
    AtLeast(Vec<f64>),
    /// `x = level` for each of these codes, ascending; the feature has `n_levels`.
    Equals {
        /// Codes.
        levels: Vec<u32>,
        /// Number of categories.
        n_levels: u32,
    },
}

/// The test of a term.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{BinaryFeature, BinaryRule, TermTest};
///
/// let feature = BinaryFeature { rule: BinaryRule::AtLeast(vec![1.5]), missing: true };
/// assert_eq!(feature.tests(), [TermTest::AtLeast(1.5), TermTest::Missing]);
/// let rule = BinaryRule::Equals { levels: vec![2], n_levels: 5 };
/// let feature = BinaryFeature { rule, missing: false };
/// assert_eq!(feature.tests(), [TermTest::Equals(2)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TermTest {
    /// The number is at least this.
    AtLeast(f64),
    /// The value is the category of this code.
    Equals(u32),
    /// The value is missing.
    Missing,
}

/// A raw feature as binary terms: those of its rule, then the one of missing values.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{BinaryFeature, BinaryRule};
/// use aucrank::data::Columns;
///
/// let feature = BinaryFeature { rule: BinaryRule::AtLeast(vec![1.5, 3.0]), missing: true };
/// let columns = Columns::from_row_major(&[1.0, 1.5, 9.0, f64::NAN], 1)?;
/// assert_eq!(feature.codes(&columns[0], &[0, 1, 2, 3]), [0, 1, 2, 3]);
/// // At least 1.5, at least 3, missing.
/// assert_eq!([0, 1, 2].map(|term| feature.codes_on(term)), [1..3, 2..3, 3..4]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinaryFeature {
    /// The tests of its terms.
    pub rule: BinaryRule,
    /// Whether there is a term for missing values.
    pub missing: bool,
}

impl BinaryFeature {
    /// Number of terms.
    #[must_use]
    pub fn n_terms(&self) -> usize {
        let known = match &self.rule {
            BinaryRule::AtLeast(thresholds) => thresholds.len(),
            BinaryRule::Equals { levels, .. } => levels.len(),
        };
        known + usize::from(self.missing)
    }

    /// The test of each term.
    #[must_use]
    pub fn tests(&self) -> Vec<TermTest> {
        let mut tests: Vec<TermTest> = match &self.rule {
            BinaryRule::AtLeast(thresholds) => {
                thresholds.iter().copied().map(TermTest::AtLeast).collect()
            }
            BinaryRule::Equals { levels, .. } => {
                levels.iter().copied().map(TermTest::Equals).collect()
            }
        };
        tests.extend(self.missing.then_some(TermTest::Missing));
        tests
    }

    /// Number of codes.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        match &self.rule {
            BinaryRule::AtLeast(thresholds) => thresholds.len() + 2,
            BinaryRule::Equals { n_levels, .. } => *n_levels as usize + 1,
        }
    }

    /// The codes for which a term is on, which are always contiguous.
    #[inline]
    #[must_use]
    pub fn codes_on(&self, term: usize) -> Range<usize> {
        let missing = self.n_codes() - 1;
        match &self.rule {
            BinaryRule::AtLeast(thresholds) if term < thresholds.len() => term + 1..missing,
            BinaryRule::Equals { levels, .. } if term < levels.len() => {
                let level = levels[term] as usize;
                level..level + 1
            }
            _ => missing..missing + 1,
        }
    }

    /// For each term, the sum over the rows for which it is on, given the sums by code.
    pub(super) fn sums_on<T: Copy + Default + AddAssign>(&self, by_code: &[T]) -> Vec<T> {
        let mut sums = match &self.rule {
            BinaryRule::AtLeast(thresholds) => {
                let mut above = T::default();
                let reached = by_code[1..=thresholds.len()].iter().rev().map(|&sum| {
                    above += sum;
                    above
                });
                let mut sums: Vec<T> = reached.collect();
                sums.reverse();
                sums
            }
            BinaryRule::Equals { levels, .. } => {
                levels.iter().map(|&level| by_code[level as usize]).collect()
            }
        };
        sums.extend(self.missing.then(|| by_code[self.n_codes() - 1]));
        sums
    }

    /// Bins whose indices are the codes.
    pub(super) fn bins(&self) -> Bins {
        match &self.rule {
            BinaryRule::AtLeast(thresholds) => {
                Bins::Numeric { cuts: thresholds.clone(), special: Vec::new() }
            }
            BinaryRule::Equals { n_levels, .. } => {
                let n_bins = *n_levels as usize;
                Bins::Categorical { bin_of_level: (0..n_bins).collect(), n_bins }
            }
        }
    }

    /// Checks a feature read from a file, given its number of categories.
    pub(super) fn check(&self, n_levels: Option<u32>) -> Result<(), String> {
        match (&self.rule, n_levels) {
            (BinaryRule::AtLeast(thresholds), None) => {
                if !thresholds.iter().all(|threshold| threshold.is_finite()) {
                    return Err("a threshold is not a finite number".to_owned());
                }
                if !thresholds.is_sorted_by(|low, high| low < high) {
                    return Err("thresholds are not in strictly ascending order".to_owned());
                }
            }
            (BinaryRule::Equals { levels, n_levels: found }, Some(n_levels)) => {
                if *found != n_levels {
                    return Err(format!("terms of {found} categories, expected {n_levels}"));
                }
                if !levels.is_sorted_by(|low, high| low < high) {
                    return Err("categories are not in strictly ascending order".to_owned());
                }
                if let Some(level) = levels.last().filter(|&&level| level >= n_levels) {
                    return Err(format!("a term of category {level}, and there are {n_levels}"));
                }
            }
            (BinaryRule::AtLeast(_), Some(_)) => return Err("thresholds of a category".to_owned()),
            (BinaryRule::Equals { .. }, None) => return Err("categories of a number".to_owned()),
        }
        Ok(())
    }

    /// Whether two terms are both thresholds: their conjunction is then the higher one, and their
    /// disjunction the lower one.
    pub(super) fn are_thresholds(&self, a: usize, b: usize) -> bool {
        matches!(&self.rule, BinaryRule::AtLeast(thresholds) if a.max(b) < thresholds.len())
    }

    /// The code of a number.
    #[inline]
    fn code_of_number(&self, value: f64) -> usize {
        let BinaryRule::AtLeast(thresholds) = &self.rule else { return self.n_codes() - 1 };
        if value.is_nan() {
            return thresholds.len() + 1;
        }
        thresholds.partition_point(|&threshold| threshold <= value)
    }

    /// The codes of some rows of a column: that of a number is the count of thresholds it reaches,
    /// that of a category is its own, and the last is that of missing values. They are not
    /// truncated if [`Binarizer::check_codes`](super::Binarizer::check_codes) passes.
    #[must_use]
    pub fn codes(&self, column: &Column<'_>, rows: &[u32]) -> Vec<u16> {
        let missing = (self.n_codes() - 1) as u16;
        match column {
            Column::F64(values) => rows
                .iter()
                .map(|&row| self.code_of_number(values.get(row as usize)) as u16)
                .collect(),
            Column::F32(values) => rows
                .iter()
                .map(|&row| self.code_of_number(values.get(row as usize)) as u16)
                .collect(),
            Column::Codes { codes, .. } => rows
                .iter()
                .map(|&row| match codes[row as usize] {
                    MISSING_CODE => missing,
                    code => (code as u16).min(missing),
                })
                .collect(),
        }
    }
}

/// A term of one feature, by its index among those of the feature.
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{BinaryFeature, Literal, BinaryRule, TermTest};
///
/// let features = [
///     BinaryFeature { rule: BinaryRule::AtLeast(vec![1.5, 3.0]), missing: false },
///     BinaryFeature { rule: BinaryRule::AtLeast(vec![10.0]), missing: true },
/// ];
/// let literal = Literal { feature: 1, slot: 1 };
/// assert_eq!(features[literal.feature].tests()[literal.slot], TermTest::Missing);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BinaryTerm {
    /// A term of one feature.
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

    /// 1 for rows where it is on, else 0, given the same for its literals.
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
