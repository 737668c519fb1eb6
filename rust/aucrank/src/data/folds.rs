//! Dealing rows into folds by what they hold.

use rayon::prelude::*;

use super::columns::{Column, Columns};
use super::labels::Labels;

/// Fold of a row that has no weight, and so is in none.
pub const NO_FOLD: u16 = u16::MAX;

/// Deals the distinct rows (values and class) of each class into `n_folds` folds, in the order of a
/// seeded hash of their content.
///
/// So a row of weight k and k copies of it are dealt alike, the order of the rows does not matter,
/// and duplicates never sit on both sides of a split. Returns the fold of every row, [`NO_FOLD`] for
/// rows of weight zero.
#[must_use]
pub fn deal_folds(columns: &Columns<'_>, labels: &Labels<'_>, n_folds: u16, seed: u64) -> Vec<u16> {
    let mut rows: Vec<(bool, u64, u32)> = labels
        .rows()
        .into_par_iter()
        .map(|row| (labels.positive()[row as usize], content_hash(columns, row as usize, seed), row))
        .collect();
    rows.par_sort_unstable();
    let mut folds = vec![NO_FOLD; labels.n_rows()];
    for class in rows.chunk_by(|a, b| a.0 == b.0) {
        for (place, copies) in class.chunk_by(|a, b| a.1 == b.1).enumerate() {
            for &(_, _, row) in copies {
                folds[row as usize] = (place % usize::from(n_folds)) as u16;
            }
        }
    }
    folds
}

/// Number of distinct rows of the class that has fewer: the most folds that leave both classes in each.
#[must_use]
pub fn n_distinct_of_rarer_class(columns: &Columns<'_>, labels: &Labels<'_>) -> usize {
    let mut rows: Vec<(bool, u64)> = labels
        .rows()
        .into_par_iter()
        .map(|row| (labels.positive()[row as usize], content_hash(columns, row as usize, 0)))
        .collect();
    rows.par_sort_unstable();
    rows.dedup();
    let n_pos = rows.iter().filter(|(positive, _)| *positive).count();
    n_pos.min(rows.len() - n_pos)
}

/// Hash of the values of a row. Equal numbers hash alike: 0.0 and -0.0, a number in either width,
/// any NaN.
fn content_hash(columns: &Columns<'_>, row: usize, seed: u64) -> u64 {
    columns.iter().fold(mix(seed), |hash, column| {
        let word = match column {
            Column::F64(values) => number_word(values.get(row)),
            Column::F32(values) => number_word(values.get(row)),
            Column::Codes { codes, .. } => u64::from(codes[row]),
        };
        mix(hash ^ word)
    })
}

fn number_word(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014) after its step.
fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A content fixes its fold: (value, class) -> fold.
    fn folds_by_content(values: &[f64], positive: &[bool], weights: Option<&[f64]>) -> Vec<(u64, bool, u16)> {
        let columns = Columns::from_row_major(values, 1).unwrap();
        let labels = Labels::new(positive, weights).unwrap();
        let folds = deal_folds(&columns, &labels, 5, 3);
        let mut by_content: Vec<_> = (0..values.len())
            .filter(|&row| folds[row] != NO_FOLD)
            .map(|row| (values[row].to_bits(), positive[row], folds[row]))
            .collect();
        by_content.sort_unstable();
        by_content.dedup();
        by_content
    }

    #[test]
    fn order_copies_and_weights_do_not_matter() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 60)).collect();
        let positive: Vec<bool> = (0..200).map(|i| i % 3 == 0).collect();
        let reference = folds_by_content(&values, &positive, None);
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let reversed_positive: Vec<bool> = positive.iter().rev().copied().collect();
        assert_eq!(reference, folds_by_content(&reversed, &reversed_positive, None));
        let weights: Vec<f64> = (0..200).map(|i| f64::from(1 + i % 4)).collect();
        assert_eq!(reference, folds_by_content(&values, &positive, Some(&weights)));
    }

    #[test]
    fn classes_are_spread_evenly() {
        let values: Vec<f64> = (0..1003).map(f64::from).collect();
        let positive: Vec<bool> = (0..1003).map(|i| i % 10 == 0).collect();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let folds = deal_folds(&columns, &labels, 10, 0);
        for class in [true, false] {
            let sizes: Vec<usize> = (0..10)
                .map(|k| (0..1003).filter(|&r| positive[r] == class && folds[r] == k).count())
                .collect();
            let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(high - low <= 1, "{sizes:?}");
        }
    }
}
