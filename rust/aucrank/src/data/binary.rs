//! Detection of labels that already are 0 and 1, or -1 and 1.

use crate::parallel;

mod sealed {
    pub trait Sealed {}
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
pub trait Label: sealed::Sealed + Copy + PartialEq + Sync {
    /// The label of the positive class.
    const ONE: Self;
    /// Whether the value is 0.
    fn is_zero(self) -> bool;
    /// Whether the value is -1.
    fn is_minus_one(self) -> bool;
}

macro_rules! label {
    ($($type:ty: $minus_one:expr;)*) => {$(
        impl sealed::Sealed for $type {}
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
    fn only_the_two_usual_pairs_of_labels_are_taken() {
        assert_eq!(positive_rows(&[1_i64, -1, 1]), Some(vec![true, false, true]));
        assert_eq!(positive_rows(&[1_u8, 0]), Some(vec![true, false]));
        assert_eq!(positive_rows(&[-0.0_f32, 1.0]), Some(vec![false, true]));
        assert_eq!(positive_rows(&[1_i32, 0, -1]), None);
        assert_eq!(positive_rows(&[255_u8, 1]), None);
        assert_eq!(positive_rows(&[0.0, f64::NAN]), None);
        assert_eq!(positive_rows(&[0.0, 0.5]), None);
    }

    #[test]
    fn a_label_far_down_is_seen() {
        let mut labels = vec![0_i8; 3 * CHUNK];
        labels[2 * CHUNK + 7] = 1;
        let positive = positive_rows(&labels).unwrap();
        assert_eq!(positive.iter().position(|&p| p), Some(2 * CHUNK + 7));
        labels[2 * CHUNK + 9] = -1;
        assert_eq!(positive_rows(&labels), None);
    }
}
