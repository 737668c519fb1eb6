//! Sums of class weight, from which learners decide, and sums along a score: rows that tie, and
//! pools whose shares of positives rise.
//!
//! - `source`: the sums as learners read them; `cells`: positions of the rows of each cell;
//! - `histogram`: sums by bin of a cell; `mass_histogram`: masses by bin of many sets of rows.

pub(super) mod cells;
pub(super) mod histogram;
pub(super) mod mass_histogram;
pub(super) mod source;

use std::cmp::Ordering;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

use super::input::labels::Labels;
use crate::RankError;

/// Class weight of a set of rows, in units of [`Labels::exponent`], and its number of rows.
///
/// # Examples
///
/// ```
/// use std::cmp::Ordering;
///
/// use aucrank::data::ClassSums;
///
/// let all = ClassSums { pos: 3, neg: 2, rows: 5 };
/// let left = ClassSums { pos: 2, neg: 0, rows: 2 };
/// assert_eq!((all.eta(), all - left), (0.6, ClassSums { pos: 1, neg: 2, rows: 3 }));
/// assert!(all.is_mixed() && !left.is_mixed());
/// assert_eq!(left.cmp_eta(all), Ordering::Greater);
/// // Split off, the part raises the AUC from 1/2 by 4 / (2 * 3 * 2), to 5/6.
/// assert_eq!(all.gain(left), 4);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassSums {
    /// Weight of the positive rows.
    pub pos: u64,
    /// Weight of the negative rows.
    pub neg: u64,
    /// Number of rows, as [`Labels::sums`] counts them.
    pub rows: u64,
}

impl ClassSums {
    pub(crate) fn of_row(positive: bool, weight: u64, rows: u64) -> Self {
        let (pos, neg) = if positive { (weight, 0) } else { (0, weight) };
        Self { pos, neg, rows }
    }

    /// Sums of `n` equal sets.
    #[inline]
    pub(crate) fn times(self, n: u64) -> Self {
        Self { pos: self.pos * n, neg: self.neg * n, rows: self.rows * n }
    }

    /// Checks that both classes have weight.
    pub(crate) fn check_classes(self) -> Result<(), RankError> {
        match self {
            Self { pos: 0, .. } => Err(RankError::ClassWithoutWeight { class: "positive" }),
            Self { neg: 0, .. } => Err(RankError::ClassWithoutWeight { class: "negative" }),
            _ => Ok(()),
        }
    }

    /// Whether both classes are present: a set that can be split.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        self.pos > 0 && self.neg > 0
    }

    /// `N_C P' - P_C N'` for a part of this set: by how much splitting the part off to the left
    /// raises the AUC, in units of `1/(2PN)` of the whole sample (the Lambda of paper 2 Fig. 2
    /// times PN). Exact.
    #[must_use]
    pub fn gain(self, part: Self) -> i128 {
        // Of integers (DECISIONS G5): a product of weights of 53 bits each is no longer exact in
        // `f64`, and a tie of two splits would be decided by rounding.
        i128::from(self.neg) * i128::from(part.pos) - i128::from(self.pos) * i128::from(part.neg)
    }

    /// Compares sets by eta, the share of the positive class, without a division.
    #[must_use]
    pub fn cmp_eta(self, other: Self) -> Ordering {
        let cross = |a: Self, b: Self| u128::from(a.pos) * u128::from(b.neg);
        cross(self, other).cmp(&cross(other, self))
    }

    /// Share of the positive class: the estimate of eta.
    #[must_use]
    pub fn eta(self) -> f64 {
        self.pos as f64 / (self.pos + self.neg) as f64
    }
}

impl Add for ClassSums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { pos: self.pos + other.pos, neg: self.neg + other.neg, rows: self.rows + other.rows }
    }
}

impl Sub for ClassSums {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { pos: self.pos - other.pos, neg: self.neg - other.neg, rows: self.rows - other.rows }
    }
}

impl AddAssign for ClassSums {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for ClassSums {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl std::iter::Sum for ClassSums {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

/// The content of a histogram bin. There are several forms, since a histogram pass is memory-bound.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassMasses, ClassSums, Tally};
///
/// fn sum<T: Tally>(bins: &[T]) -> ClassSums {
///     let mut all = T::default();
///     bins.iter().for_each(|&bin| all += bin);
///     all.sums()
/// }
///
/// // Masses do not say of how many rows they are.
/// let bins = [ClassMasses { pos: 5, neg: 1 }, ClassMasses { pos: 0, neg: 2 }];
/// assert_eq!(sum(&bins), ClassSums { pos: 5, neg: 3, rows: 0 });
/// ```
pub trait Tally:
    Copy + Default + Debug + PartialEq + Send + Sync + AddAssign + SubAssign + 'static
{
    /// Number of words of a bin that is sent.
    const WORDS: usize;

    /// The class sums of the bin.
    fn sums(self) -> ClassSums;

    /// Appends the bin as words.
    fn put(self, words: &mut Vec<u64>);

    /// The bin written by [`Tally::put`].
    ///
    /// # Panics
    ///
    /// Unless there are [`Tally::WORDS`] words.
    fn of(words: &[u64]) -> Self;
}

/// Counts of both classes in one word, for rows that count once each: a row is one addition.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassSums, CountedRows, Counts, RowTally, Tally};
///
/// let rows = CountedRows(&[true, false, true]);
/// let mut counts = Counts::default();
/// (0..3).for_each(|row| counts += rows.of(row));
/// assert_eq!(counts.sums(), ClassSums { pos: 2, neg: 1, rows: 3 });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts(u64);

impl AddAssign for Counts {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        // Row numbers have 32 bits, so that the number of rows never carries into that of the
        // positives.
        self.0 += other.0;
    }
}

impl SubAssign for Counts {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        // A part has at most the rows and at most the positives of the whole: neither half borrows.
        self.0 -= other.0;
    }
}

impl Tally for Counts {
    const WORDS: usize = 1;

    #[inline]
    fn sums(self) -> ClassSums {
        let (pos, rows) = (self.0 >> 32, self.0 & u64::from(u32::MAX));
        ClassSums { pos, neg: rows - pos, rows }
    }

    fn put(self, words: &mut Vec<u64>) {
        words.push(self.0);
    }

    fn of(words: &[u64]) -> Self {
        Self(words[0])
    }
}

impl Tally for ClassSums {
    const WORDS: usize = 3;

    #[inline]
    fn sums(self) -> ClassSums {
        self
    }

    fn put(self, words: &mut Vec<u64>) {
        words.extend([self.pos, self.neg, self.rows]);
    }

    fn of(words: &[u64]) -> Self {
        Self { pos: words[0], neg: words[1], rows: words[2] }
    }
}

/// Contribution of each row to its bins.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassSums, RowTally};
///
/// /// Every row counts as negative, such as one without a label.
/// struct Unlabelled;
///
/// impl RowTally for Unlabelled {
///     type Tally = ClassSums;
///
///     fn of(&self, _row: usize) -> ClassSums {
///         ClassSums { pos: 0, neg: 1, rows: 1 }
///     }
/// }
///
/// let total: ClassSums = (0..3).map(|row| Unlabelled.of(row)).sum();
/// assert_eq!(total, ClassSums { pos: 0, neg: 3, rows: 3 });
/// ```
pub trait RowTally: Sync {
    /// Content of a bin.
    type Tally: Tally;

    /// Contribution of one row.
    fn of(&self, row: usize) -> Self::Tally;
}

/// Rows that count once each.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassSums, CountedRows, RowTally, Tally};
///
/// let rows = CountedRows(&[true, false]);
/// assert_eq!(rows.of(0).sums(), ClassSums { pos: 1, neg: 0, rows: 1 });
/// assert_eq!(rows.of(1).sums(), ClassSums { pos: 0, neg: 1, rows: 1 });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CountedRows<'a>(pub &'a [bool]);

impl RowTally for CountedRows<'_> {
    type Tally = Counts;

    #[inline]
    fn of(&self, row: usize) -> Counts {
        Counts(u64::from(self.0[row]) << 32 | 1)
    }
}

/// Mass of each class without the number of rows: half the size of [`ClassSums`], and one addition.
///
/// # Examples
///
/// ```
/// use aucrank::data::ClassMasses;
///
/// let (low, high) = (ClassMasses { pos: 1, neg: 3 }, ClassMasses { pos: 2, neg: 1 });
/// // High over low: 2 * 3 pairs are won and 1 * 1 is lost.
/// assert_eq!(low.gain(high), 5);
/// assert_eq!([low, high].into_iter().sum::<ClassMasses>(), ClassMasses { pos: 3, neg: 4 });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassMasses {
    /// Of the positive rows.
    pub pos: u64,
    /// Of the negative rows.
    pub neg: u64,
}

impl ClassMasses {
    /// `P' N - N' P` of another set. For a part of this set, `TPR - FPR` of the part in units of
    /// `1/PN`; for a set that ranks above this one, the number of concordant less that of
    /// discordant pairs between them. Exact.
    #[must_use]
    pub fn gain(self, other: Self) -> i128 {
        i128::from(other.pos) * i128::from(self.neg) - i128::from(other.neg) * i128::from(self.pos)
    }

    /// `2 P N (AUC - 1/2)` of groups in ascending order of the score; exact.
    pub(crate) fn area(groups: impl IntoIterator<Item = Self>) -> i128 {
        let (mut below, mut area) = (Self::default(), 0);
        for group in groups {
            area += below.gain(group);
            below += group;
        }
        area
    }
}

impl From<ClassSums> for ClassMasses {
    #[inline]
    fn from(sums: ClassSums) -> Self {
        Self { pos: sums.pos, neg: sums.neg }
    }
}

impl AddAssign for ClassMasses {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.pos += other.pos;
        self.neg += other.neg;
    }
}

impl SubAssign for ClassMasses {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.pos -= other.pos;
        self.neg -= other.neg;
    }
}

impl std::iter::Sum for ClassMasses {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }
}

impl Tally for ClassMasses {
    const WORDS: usize = 2;

    #[inline]
    fn sums(self) -> ClassSums {
        ClassSums { pos: self.pos, neg: self.neg, rows: 0 }
    }

    fn put(self, words: &mut Vec<u64>) {
        words.extend([self.pos, self.neg]);
    }

    fn of(words: &[u64]) -> Self {
        Self { pos: words[0], neg: words[1] }
    }
}

/// Rows that count by a mass, which the learner changes from round to round.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassMasses, MassRows, RowTally};
///
/// let rows = MassRows { positive: &[true, false], masses: &[7, 4] };
/// assert_eq!(rows.of(0), ClassMasses { pos: 7, neg: 0 });
/// assert_eq!(rows.of(1), ClassMasses { pos: 0, neg: 4 });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct MassRows<'a> {
    /// Which rows are positive.
    pub positive: &'a [bool],
    /// Mass of each row.
    pub masses: &'a [u64],
}

impl RowTally for MassRows<'_> {
    type Tally = ClassMasses;

    #[inline]
    fn of(&self, row: usize) -> ClassMasses {
        // Without a branch, since the classes of rows are unpredictable.
        let pos = self.masses[row] * u64::from(self.positive[row]);
        ClassMasses { pos, neg: self.masses[row] - pos }
    }
}

/// Rows that count by a mass in the class sums, and by their weight in the number of rows.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassSums, Labels, ReweightedRows, RowTally};
///
/// let labels = Labels::new(&[true, false], Some(&[2.0, 1.0]))?;
/// let rows = ReweightedRows { labels: &labels, masses: &[7, 4] };
/// // The first row is two, of a mass of 7 together.
/// assert_eq!(rows.of(0), ClassSums { pos: 7, neg: 0, rows: 2 });
/// assert_eq!(rows.of(1), ClassSums { pos: 0, neg: 4, rows: 1 });
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ReweightedRows<'a> {
    /// Which rows are positive, and how many rows each counts as.
    pub labels: &'a Labels<'a>,
    /// Mass of each row.
    pub masses: &'a [u64],
}

impl RowTally for ReweightedRows<'_> {
    type Tally = ClassSums;

    #[inline]
    fn of(&self, row: usize) -> ClassSums {
        let rows = self.labels.sums(row).rows;
        ClassSums::of_row(self.labels.positive()[row], self.masses[row], rows)
    }
}

/// Rows that count by their weight.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassSums, Labels, RowTally, WeightedRows};
///
/// let labels = Labels::new(&[true, false], Some(&[2.0, 1.0]))?;
/// let rows = WeightedRows(&labels);
/// assert_eq!(rows.of(0), ClassSums { pos: 2, neg: 0, rows: 2 });
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct WeightedRows<'a>(pub &'a Labels<'a>);

impl RowTally for WeightedRows<'_> {
    type Tally = ClassSums;

    #[inline]
    fn of(&self, row: usize) -> ClassSums {
        self.0.sums(row)
    }
}

/// The sum of parts, or `None` on overflow.
pub(crate) fn sum_checked(parts: &[ClassSums]) -> Option<ClassSums> {
    parts.iter().try_fold(ClassSums::default(), |sum, part| {
        let pos = sum.pos.checked_add(part.pos)?;
        let neg = sum.neg.checked_add(part.neg)?;
        Some(ClassSums { pos, neg, rows: sum.rows.checked_add(part.rows)? })
    })
}

/// Checks class sums of training rows read from a file: weights must add up to no more than fixed
/// point allows, in a unit that a weight can have.
///
/// # Errors
///
/// What is wrong, in words.
pub(crate) fn check_weight(total: ClassSums, exponent: i32) -> Result<(), String> {
    const MOST: u64 = 1 << 53;
    let weight = total.pos.checked_add(total.neg);
    if weight.is_none_or(|weight| weight > MOST) || total.rows > MOST {
        return Err("the training rows weigh too much".to_owned());
    }
    if !(-1200..=1100).contains(&exponent) {
        return Err(format!("weights in units of 2^{exponent}"));
    }
    Ok(())
}

/// The class sums of each score, ascending; rows of weight zero do not contribute.
///
/// # Errors
///
/// [`RankError`] if the lengths differ or a score is NaN.
pub(crate) fn score_groups(
    scores: &[f64],
    labels: &Labels<'_>,
) -> Result<Vec<(f64, ClassSums)>, RankError> {
    if scores.len() != labels.n_rows() {
        let (found, expected) = (scores.len(), labels.n_rows());
        return Err(RankError::LengthMismatch { name: "y_score", found, expected });
    }
    if let Some(row) = scores.iter().position(|score| score.is_nan()) {
        return Err(RankError::NanScore(row));
    }
    let rows = labels.rows();
    // Adding 0 makes -0 the same as 0.
    let scored = rows.iter().map(|&row| (scores[row as usize] + 0.0, labels.sums(row as usize)));
    let mut scored: Vec<(f64, ClassSums)> = scored.collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let tied = scored.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    Ok(tied.map(|tied| (tied[0].0, tied.iter().map(|(_, sums)| *sums).sum())).collect())
}

/// Rows of neighbouring scores with one common share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pool {
    /// Class sums of its rows.
    pub sums: ClassSums,
    /// Lowest score.
    pub low: f64,
    /// Highest score.
    pub high: f64,
}

/// Isotonic regression of the positive share by pooling adjacent violators: pools of scores with
/// the class sums of their rows, whose shares of positives strictly rise; sorts the scores.
pub(crate) fn rising_pools(scored: &mut [(f64, ClassSums)]) -> Vec<Pool> {
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pools: Vec<Pool> = Vec::new();
    for tied in scored.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let mut sums: ClassSums = tied.iter().map(|(_, sums)| *sums).sum();
        let (mut low, high) = (tied[0].0, tied[0].0);
        while let Some(below) = pools.last()
            && below.sums.cmp_eta(sums).is_ge()
        {
            sums += below.sums;
            low = below.low;
            pools.pop();
        }
        pools.push(Pool { sums, low, high });
    }
    pools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_bin_agree() {
        let positive = [true, false, true, true];
        let labels = Labels::new(&positive, None).unwrap();
        let (mut counts, mut sums) = (Counts::default(), ClassSums::default());
        for row in 0..4 {
            counts += CountedRows(&positive).of(row);
            sums += WeightedRows(&labels).of(row);
        }
        assert_eq!(counts.sums(), sums);
        assert_eq!(sums, ClassSums { pos: 3, neg: 1, rows: 4 });
        counts -= CountedRows(&positive).of(1);
        assert_eq!(counts.sums(), ClassSums { pos: 3, neg: 0, rows: 3 });
    }

    #[test]
    fn the_area_is_that_of_the_pairs() {
        let groups = [(1, 3), (0, 2), (4, 1)].map(|(pos, neg)| ClassMasses { pos, neg });
        // Concordant less discordant, pair by pair.
        assert_eq!(ClassMasses::area(groups), (4 * 5) - (2 + 1));
    }

    #[test]
    fn the_gains_of_a_part_and_its_rest_cancel() {
        let whole = ClassSums { pos: 7, neg: 12, rows: 19 };
        let part = ClassSums { pos: 5, neg: 3, rows: 8 };
        assert_eq!(whole.gain(part), 12 * 5 - 7 * 3);
        assert_eq!(whole.gain(part), -whole.gain(whole - part));
    }
}
