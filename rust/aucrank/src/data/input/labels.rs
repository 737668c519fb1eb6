//! Classes and weights of the rows.

use std::sync::Arc;

use crate::data::accumulate::ClassSums;
use crate::data::dealing::blocks::{LabelBlocks, RowBlocks};
use crate::data::input::weights::{FixedScale, FixedWeights};
use crate::{RankError, parallel};

/// Whole weights up to this total are counts of copies that a learner may treat individually.
pub(crate) const MOST_COPIES: u64 = 1 << 32;

/// Which rows are positive, and how much each counts.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassSums, Labels};
///
/// let labels = Labels::new(&[false, true, true], Some(&[2.0, 1.0, 3.0]))?;
/// // Whole weights are numbers of copies.
/// assert_eq!(labels.total(), ClassSums { pos: 4, neg: 2, rows: 6 });
/// assert_eq!(labels.class_rows(), [2, 4]);
///
/// let err = Labels::new(&[true, true], None).unwrap_err();
/// assert!(err.to_string().starts_with("y has one class only"));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Labels<'a> {
    positive: &'a [bool],
    weights: Option<FixedWeights>,
    total: ClassSums,
    blocks: Option<Arc<LabelBlocks>>,
}

impl<'a> Labels<'a> {
    /// Checks that both classes have weight.
    ///
    /// # Errors
    ///
    /// [`RankError`] for a bad weight, lengths that differ, or a class without rows or without
    /// weight.
    pub fn new(positive: &'a [bool], weights: Option<&[f64]>) -> Result<Self, RankError> {
        if let Some(weights) = weights
            && weights.len() != positive.len()
        {
            return Err(RankError::LengthMismatch {
                name: "sample_weight",
                found: weights.len(),
                expected: positive.len(),
            });
        }
        let n_pos = positive.iter().filter(|&&p| p).count();
        let n_neg = positive.len() - n_pos;
        if n_pos == 0 || n_neg == 0 {
            return Err(RankError::OneClass { n_pos, n_neg });
        }
        Self::of_fixed(positive, weights.map(FixedWeights::new).transpose()?)
    }

    /// Labels of a part of the rows, which may have one class only.
    pub(crate) fn of_part(positive: &'a [bool], weights: Option<FixedWeights>) -> Self {
        let mut labels = Self { positive, weights, total: ClassSums::default(), blocks: None };
        labels.total = (0..positive.len()).map(|row| labels.sums(row)).sum();
        labels
    }

    /// Labels of a part of the rows, with weights in the unit of the whole, `None` if every row
    /// counts once.
    pub(crate) fn in_scale(
        positive: &'a [bool],
        weights: Option<&[f64]>,
        scale: Option<FixedScale>,
    ) -> Self {
        let weights = weights.zip(scale).map(|(w, scale)| FixedWeights::in_scale(w, scale));
        Self::of_part(positive, weights)
    }

    /// The same labels with a weight of zero for all rows but those kept.
    ///
    /// # Errors
    ///
    /// [`RankError::ClassWithoutWeight`].
    pub(crate) fn among(&self, kept: impl Fn(usize) -> bool) -> Result<Self, RankError> {
        let weights = match &self.weights {
            Some(weights) => weights.among(kept),
            None => FixedWeights::counts((0..self.n_rows()).map(|row| kept(row).into()).collect()),
        };
        Ok(Self { blocks: self.blocks.clone(), ..Self::of_fixed(self.positive, Some(weights))? })
    }

    /// The same labels where each row of positive weight counts once, if these weights are equal
    /// and not whole: for learners to which the unit of the weights makes no difference.
    pub(crate) fn counted_once(&self) -> Option<Self> {
        let units = self.weights.as_ref().filter(|weights| !weights.is_whole())?.units();
        let mut positive = units.iter().filter(|&&units| units > 0);
        let first = positive.next();
        let counts = || units.iter().map(|&units| u64::from(units > 0)).collect();
        positive.all(|units| Some(units) == first).then(|| Self {
            blocks: self.blocks.clone(),
            ..Self::of_part(self.positive, Some(FixedWeights::counts(counts())))
        })
    }

    /// The same labels of rows that are dealt into folds by groups or by time.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`].
    pub fn in_blocks(self, blocks: RowBlocks<'_>) -> Result<Self, RankError> {
        blocks.check_length(self.n_rows())?;
        let blocks = LabelBlocks::new(blocks, self.weighted_rows());
        Ok(self.dealt_by(Arc::new(blocks)))
    }

    /// The same labels of rows in blocks of times, of which no model without a range of times
    /// learns from a row in this range, or no farther from it than the gap: where an outcome is
    /// known a year later, rows of the year before the range tell what happened in it.
    ///
    /// The times must be [`rising_bits`](crate::data::rising_bits); the gap is in their unit. Of
    /// more than 2^14 times, near ones are taken together, and the gap is a little wider. No effect
    /// on other rows.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] for a gap that is negative or not finite.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::Interrupt;
    /// use aucrank::data::{Columns, Folds, Labels, RowBlocks, rising_bits};
    ///
    /// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 1)?;
    /// let positive = [false, true, false, true, false, true, false, true];
    /// let years = [2001.0, 2001.0, 2002.0, 2002.0, 2003.0, 2003.0, 2004.0, 2004.0];
    /// let labels = Labels::new(&positive, None)?
    ///     .in_blocks(RowBlocks::Times(&years.map(rising_bits)))?
    ///     .with_gap(1.0)?;
    /// let folds = Folds::deal(&columns, &labels, 4, 0, &Interrupt::default())?;
    /// let parts = folds.parts(&labels, 0)?;
    /// assert_eq!((parts.held_out, parts.kept), (vec![0, 1], vec![4, 5, 6, 7]));
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    pub fn with_gap(mut self, gap: f64) -> Result<Self, RankError> {
        if !(gap >= 0.0 && gap.is_finite()) {
            let (name, rule) = ("gap", "finite and not negative");
            return Err(RankError::BadParameter { name, value: gap.to_string(), rule });
        }
        self.blocks =
            self.blocks.map(|blocks| Arc::new(Arc::unwrap_or_clone(blocks).with_gap(gap)));
        Ok(self)
    }

    /// Whether a model without a range of times learns from fewer rows than all others.
    pub(crate) fn has_gap(&self) -> bool {
        self.blocks.as_ref().is_some_and(|blocks| blocks.gap().is_some())
    }

    /// Removes rows too near in time to held-out rows; see [`Labels::with_gap`].
    pub(crate) fn leave_gap(&self, kept: &mut Vec<u32>, held_out: &[u32]) {
        if let Some(blocks) = &self.blocks {
            blocks.leave_gap(kept, held_out);
        }
    }

    /// The rows of positive weight, with their sums.
    pub(in crate::data) fn weighted_rows(&self) -> impl Iterator<Item = (u32, ClassSums)> {
        self.rows().into_iter().map(|row| (row, self.sums(row as usize)))
    }

    /// The same labels of rows whose blocks were found before.
    pub(crate) fn dealt_by(self, blocks: Arc<LabelBlocks>) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// Blocks by which rows are dealt, unless each by its own content.
    pub(crate) fn blocks(&self) -> Option<&LabelBlocks> {
        self.blocks.as_deref()
    }

    /// Checks that both classes have weight.
    pub(crate) fn of_fixed(
        positive: &'a [bool],
        weights: Option<FixedWeights>,
    ) -> Result<Self, RankError> {
        let labels = Self::of_part(positive, weights);
        labels.total.check_classes()?;
        Ok(labels)
    }

    /// Number of rows, those of weight zero included.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.positive.len()
    }

    /// Which rows are positive.
    #[must_use]
    pub fn positive(&self) -> &'a [bool] {
        self.positive
    }

    /// The weights, or `None` if every row counts once.
    #[must_use]
    pub fn weights(&self) -> Option<&FixedWeights> {
        self.weights.as_ref()
    }

    /// How many copies each row stands for, if weights are counts; `None` without weights, or if
    /// they are not whole or too large.
    pub(crate) fn copies(&self) -> Option<&[u64]> {
        let counts = |weights: &&FixedWeights| {
            weights.is_whole() && self.total.pos + self.total.neg <= MOST_COPIES
        };
        self.weights.as_ref().filter(counts).map(FixedWeights::units)
    }

    /// Binary exponent of the unit of class weight.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.weights.as_ref().map_or(0, FixedWeights::exponent)
    }

    /// Class weight of all rows.
    #[must_use]
    pub fn total(&self) -> ClassSums {
        self.total
    }

    /// Contribution of a row to the sums of its cell. A row of whole weight k counts as k rows; if
    /// some weight is not whole, every row of positive weight counts as one.
    #[must_use]
    pub fn sums(&self, row: usize) -> ClassSums {
        let (weight, rows) = self.weights.as_ref().map_or((1, 1), |weights| weights.counted(row));
        ClassSums::of_row(self.positive[row], weight, rows)
    }

    /// Number of rows of each class, negatives first, as [`Labels::sums`] counts them.
    #[must_use]
    pub fn class_rows(&self) -> [u64; 2] {
        let mut rows = [0; 2];
        for (row, &positive) in self.positive.iter().enumerate() {
            rows[usize::from(positive)] += self.sums(row).rows;
        }
        rows
    }

    /// Rows of positive weight, in order.
    #[must_use]
    pub fn rows(&self) -> Vec<u32> {
        let all = 0..self.n_rows() as u32;
        match &self.weights {
            None => all.collect(),
            Some(weights) => all.filter(|&row| weights.units()[row as usize] > 0).collect(),
        }
    }
}

mod sealed {
    pub trait SealedLabel {}
}

/// A type whose values may be class labels.
///
/// # Examples
///
/// ```
/// use aucrank::data::{Label, positive_rows};
///
/// fn share_of_positives<T: Label>(labels: &[T]) -> Option<f64> {
///     let positive = positive_rows(labels)?;
///     Some(positive.iter().filter(|&&p| p).count() as f64 / labels.len() as f64)
/// }
///
/// assert_eq!(share_of_positives(&[-1_i8, 1, 1, 1]), Some(0.75));
/// assert_eq!(share_of_positives(&[0.0, 0.5]), None);
/// ```
pub trait Label: sealed::SealedLabel + Copy + PartialEq + Sync {
    /// The label of the positive class.
    const ONE: Self;
    /// Whether the value is 0.
    fn is_zero(self) -> bool;
    /// Whether the value is -1.
    fn is_minus_one(self) -> bool;
}

macro_rules! label {
    ($($type:ty: $minus_one:expr;)*) => {$(
        impl sealed::SealedLabel for $type {}
        impl Label for $type {
            const ONE: Self = 1 as $type;

            #[inline]
            #[allow(clippy::float_cmp, reason = "labels are exact")]
            fn is_zero(self) -> bool {
                self == 0 as $type
            }

            #[inline]
            #[allow(clippy::float_cmp, reason = "labels are exact")]
            fn is_minus_one(self) -> bool {
                let minus_one: Option<$type> = $minus_one;
                minus_one.is_some_and(|label| self == label)
            }
        }
    )*};
}

label! {
    u8: None;
    i8: Some(-1);
    i32: Some(-1);
    i64: Some(-1);
    f32: Some(-1.0);
    f64: Some(-1.0);
}

/// Rows per task; inputs with fewer rows stay on the calling thread.
const CHUNK: usize = 1 << 16;

/// Which rows are positive, if the labels are 0 and 1 or -1 and 1 only; `None` for any other label.
///
/// # Examples
///
/// ```
/// use aucrank::data::positive_rows;
///
/// assert_eq!(positive_rows(&[0, 1, 1]), Some(vec![false, true, true]));
/// assert_eq!(positive_rows(&[-1.0, 1.0]), Some(vec![false, true]));
/// assert_eq!(positive_rows(&[1, 2]), None);
/// ```
#[must_use]
pub fn positive_rows<T: Label>(labels: &[T]) -> Option<Vec<bool>> {
    let mut positive = vec![false; labels.len()];
    let fill = |(positive, labels): (&mut [bool], &[T])| {
        let (mut zero_one, mut sign) = (true, true);
        for (positive, &label) in positive.iter_mut().zip(labels) {
            *positive = label == T::ONE;
            zero_one &= *positive | label.is_zero();
            sign &= *positive | label.is_minus_one();
        }
        (zero_one, sign)
    };
    let both = |a: (bool, bool), b: (bool, bool)| (a.0 & b.0, a.1 & b.1);
    let (zero_one, sign) = if labels.len() < CHUNK {
        fill((&mut positive, labels))
    } else {
        let parts = positive.chunks_mut(CHUNK).zip(labels.chunks(CHUNK)).collect();
        parallel::map(parts, fill).into_iter().fold((true, true), both)
    };
    (zero_one || sign).then_some(positive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_without_weight_is_named() {
        let err = Labels::new(&[true, false, false], Some(&[0.0, 1.0, 2.0])).unwrap_err();
        assert_eq!(err, RankError::ClassWithoutWeight { class: "positive" });
        let err = Labels::new(&[true, true], None).unwrap_err();
        assert_eq!(err, RankError::OneClass { n_pos: 2, n_neg: 0 });
    }

    #[test]
    fn kept_rows_keep_their_weight_and_the_others_have_none() {
        let positive = [true, false, true, false];
        for weights in [None, Some(&[2.0, 1.0, 0.5, 1.0][..])] {
            let all = Labels::new(&positive, weights).unwrap();
            let some = all.among(|row| row < 2).unwrap();
            assert_eq!(some.rows(), [0, 1]);
            assert_eq!(some.total(), all.sums(0) + all.sums(1));
            assert_eq!((some.sums(1), some.exponent()), (all.sums(1), all.exponent()));
            let err = all.among(|row| row != 1 && row != 3).unwrap_err();
            assert_eq!(err, RankError::ClassWithoutWeight { class: "negative" });
        }
    }

    #[test]
    fn rows_of_weight_zero_do_not_count() {
        let labels = Labels::new(&[true, false, true, false], Some(&[2.0, 1.0, 0.0, 1.0])).unwrap();
        assert_eq!(labels.rows(), [0, 1, 3]);
        assert_eq!(labels.total(), ClassSums { pos: 2, neg: 2, rows: 4 });
        assert_eq!(labels.class_rows(), [2, 2]);
    }
}

#[cfg(test)]
mod tests_of_binary {
    use super::*;

    #[test]
    fn only_the_two_usual_pairs_of_labels_are_accepted() {
        assert_eq!(positive_rows(&[1_i64, -1, 1]), Some(vec![true, false, true]));
        assert_eq!(positive_rows(&[1_u8, 0]), Some(vec![true, false]));
        assert_eq!(positive_rows(&[-0.0_f32, 1.0]), Some(vec![false, true]));
        assert_eq!(positive_rows(&[1_i32, 0, -1]), None);
        assert_eq!(positive_rows(&[255_u8, 1]), None);
        assert_eq!(positive_rows(&[0.0, f64::NAN]), None);
        assert_eq!(positive_rows(&[0.0, 0.5]), None);
    }

    #[test]
    fn a_label_far_down_is_found() {
        let mut labels = vec![0_i8; 3 * CHUNK];
        labels[2 * CHUNK + 7] = 1;
        let positive = positive_rows(&labels).unwrap();
        assert_eq!(positive.iter().position(|&p| p), Some(2 * CHUNK + 7));
        labels[2 * CHUNK + 9] = -1;
        assert_eq!(positive_rows(&labels), None);
    }
}
