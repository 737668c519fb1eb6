//! Training rows prepared for the ascent: standardised, equal rows merged, in blocks.
//!
//! A block stores its features one after the other, so that scores and gradients are sums over
//! contiguous columns. Rows are in the order of their content, which makes every floating-point sum
//! the same for any order of the input, any number of copies and any number of threads.

use std::borrow::Cow;

use crate::data::{Column, Columns, Labels, ValueMoments, content_hashes};
use crate::parallel::prelude::*;
use crate::{Interrupt, RankError, parallel};

/// Number of partial sums of a dot product.
const LANES: usize = 8;

/// Distinct rows, the negative ones first.
#[derive(Debug)]
pub(super) struct RankOptRows {
    /// Blocks of equal size; the last one may be shorter.
    blocks: Vec<RowChunk>,
    n_features: usize,
    n_neg: usize,
    positive: Vec<bool>,
    /// Weight of each row, as an integer and as a float.
    weights: Vec<u64>,
    units: Vec<f64>,
    shares: Vec<f64>,
}

impl RankOptRows {
    /// The rows of positive weight, with their raw values.
    ///
    /// Another thread may write to the data meanwhile: the fit uses these copies only, so that a
    /// value never changes.
    pub(super) fn copied(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let hashed = content_hashes(columns, &labels.rows(), 0, interrupt)?;
        let class = |(hash, row)| (labels.positive()[row as usize], hash, row);
        let mut by_content: Vec<(bool, u64, u32)> = hashed.into_iter().map(class).collect();
        // In the order of the content, for sums that do not depend on the order of the input.
        // Negative rows come first: a class is a range.
        by_content.par_sort_unstable();
        let (mut first_rows, mut positive, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for copies in by_content.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let weight = |&(_, _, row): &(bool, u64, u32)| {
                let sums = labels.sums(row as usize);
                sums.pos + sums.neg
            };
            first_rows.push(copies[0].2);
            positive.push(copies[0].0);
            weights.push(copies.iter().map(weight).sum::<u64>());
        }
        let units: Vec<f64> = weights.iter().map(|&weight| weight as f64).collect();
        let total = labels.total();
        let share = |(&units, &positive): (&f64, &bool)| {
            units / if positive { total.pos } else { total.neg } as f64
        };
        Ok(Self {
            blocks: RowChunk::copied(columns, &first_rows, interrupt)?,
            n_features: columns.n_features(),
            n_neg: positive.iter().filter(|&&positive| !positive).count(),
            shares: units.iter().zip(&positive).map(share).collect(),
            positive,
            weights,
            units,
        })
    }

    /// Mean and standard deviation of each feature.
    pub(super) fn moments(&self, interrupt: &Interrupt) -> Result<Vec<ValueMoments>, RankError> {
        let of_feature = |feature: usize| {
            interrupt.check()?;
            let columns: Vec<_> = self.blocks.iter().map(|block| block.column(feature)).collect();
            let rows = || {
                let values = columns.iter().flat_map(|column| column.iter().copied());
                values.zip(self.weights.iter().copied())
            };
            Ok(ValueMoments::of_weighted(rows))
        };
        (0..self.n_features).into_par_iter().map(of_feature).collect()
    }

    /// The same rows restricted to the given features, each standardised by its mean and deviation.
    pub(super) fn standardised(mut self, features: &[usize], moments: &[ValueMoments]) -> Self {
        let of_block = |block: RowChunk| {
            block.restricted(features, |place, values| {
                values.for_each(|value| standardise(value, moments[features[place]]));
            })
        };
        self.blocks = parallel::map(self.blocks, of_block);
        self.n_features = features.len();
        self
    }

    pub(super) fn len(&self) -> usize {
        self.positive.len()
    }

    /// Number of negative rows; they come first.
    pub(super) fn n_neg(&self) -> usize {
        self.n_neg
    }

    pub(super) fn positive(&self) -> &[bool] {
        &self.positive
    }

    /// Weight of each row, in units of [`Labels::exponent`].
    pub(super) fn units(&self) -> &[f64] {
        &self.units
    }

    /// Weight of each row as a share of that of its class.
    pub(super) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Weighted sum of the features of each row.
    pub(super) fn scores(
        &self,
        weights: &[f64],
        scores: &mut [f64],
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let blocks = self.blocks.par_iter().zip(scores.par_chunks_mut(BLOCK_ROWS));
        blocks.try_for_each(|(block, scores)| {
            interrupt.check()?;
            scores.fill(0.0);
            for (feature, weight) in weights.iter().enumerate() {
                for (score, value) in scores.iter_mut().zip(&*block.column(feature)) {
                    *score += weight * value;
                }
            }
            Ok(())
        })
    }

    /// Slope in the weight of each feature, from those in the score of each row.
    pub(super) fn gradient(
        &self,
        slopes: &[f64],
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, RankError> {
        let blocks = self.blocks.par_iter().zip(slopes.par_chunks(BLOCK_ROWS));
        let parts = blocks.map(|(block, slopes)| {
            interrupt.check()?;
            let slope = |feature: usize| dot(&block.column(feature), slopes);
            Ok((0..self.n_features).map(slope).collect())
        });
        let parts: Vec<Vec<f64>> = parts.collect::<Result<_, RankError>>()?;
        let mut gradient = vec![0.0; self.n_features];
        for part in parts {
            for (sum, part) in gradient.iter_mut().zip(part) {
                *sum += part;
            }
        }
        Ok(gradient)
    }

    /// The scores with one feature replaced by its mean.
    pub(super) fn without(&self, feature: usize, weight: f64, scores: &[f64]) -> Vec<f64> {
        let mut without = scores.to_vec();
        let blocks = self.blocks.par_iter().zip(without.par_chunks_mut(BLOCK_ROWS));
        blocks.for_each(|(block, scores)| {
            for (score, value) in scores.iter_mut().zip(&*block.column(feature)) {
                *score -= weight * value;
            }
        });
        without
    }
}

fn standardise(value: &mut f64, ValueMoments { mean, deviation }: ValueMoments) {
    let from_mean = *value - mean;
    // The difference of large numbers of opposite signs may overflow.
    *value = if from_mean.is_finite() {
        from_mean / deviation
    } else {
        *value / deviation - mean / deviation
    };
}

/// Dot product, summed in an order that depends on the length only.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
impl RankOptRows {
    /// Rows without features, each class in the order given.
    pub(super) fn of_weights(positive: &[bool], weights: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..positive.len()).collect();
        order.sort_by_key(|&row| positive[row]);
        let n_neg = positive.iter().filter(|&&positive| !positive).count();
        let units: Vec<f64> = order.iter().map(|&row| weights[row]).collect();
        let (neg, pos) = units.split_at(n_neg);
        let share = |units: &[f64]| -> Vec<f64> {
            let total: f64 = units.iter().sum();
            units.iter().map(|units| units / total).collect()
        };
        Self {
            blocks: Vec::new(),
            n_features: 0,
            n_neg,
            shares: [share(neg), share(pos)].concat(),
            positive: order.iter().map(|&row| positive[row]).collect(),
            weights: units.iter().map(|&units| units as u64).collect(),
            units,
        }
    }
}

/// Rows of a block.
pub(super) const BLOCK_ROWS: usize = 1024;

/// Some consecutive rows.
#[derive(Debug, PartialEq)]
pub(super) struct RowChunk {
    n_rows: usize,
    form: BlockForm,
}

#[derive(Debug, PartialEq)]
enum BlockForm {
    /// One column after the other.
    Dense(Vec<f64>),
    Sparse(Vec<SparseColumn>),
}

/// Rows in a block and their values, in ascending order of the rows; other rows have the value
/// `other`.
#[derive(Debug, Clone, PartialEq)]
struct SparseColumn {
    entries: Vec<(u16, f64)>,
    other: f64,
}

impl RowChunk {
    /// Copies rows of columns of numbers, which were checked to be finite.
    ///
    /// # Errors
    ///
    /// [`RankError::Changed`] if they no longer are, because another thread writes to them;
    /// [`RankError::Interrupted`].
    pub(super) fn copied(
        columns: &Columns<'_>,
        rows: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Vec<Self>, RankError> {
        if columns.iter().any(Column::is_sparse) {
            return Self::copied_sparse(columns, rows, interrupt);
        }
        let of_block = |rows: &[u32]| {
            interrupt.check()?;
            let mut values = vec![0.0; rows.len() * columns.n_features()];
            for (places, column) in values.chunks_exact_mut(rows.len()).zip(columns) {
                column.read_each(rows, places);
            }
            let is_finite = values.iter().all(|value| value.is_finite());
            let block = Self { n_rows: rows.len(), form: BlockForm::Dense(values) };
            is_finite.then_some(block).ok_or(RankError::Changed)
        };
        parallel::try_map(rows.chunks(BLOCK_ROWS).collect(), of_block)
    }

    fn copied_sparse(
        columns: &Columns<'_>,
        rows: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Vec<Self>, RankError> {
        let mut place_of_row = vec![u32::MAX; columns.n_rows()];
        for (&row, place) in rows.iter().zip(0..) {
            place_of_row[row as usize] = place;
        }
        let of_column = |column: &Column<'_>| {
            interrupt.check()?;
            let none = SparseColumn { entries: Vec::new(), other: 0.0 };
            let mut parts = vec![none; rows.len().div_ceil(BLOCK_ROWS)];
            let mut is_finite = true;
            column.for_entries(&mut |row, value| {
                // A row out of range was written by another thread after the checks.
                let place = place_of_row.get(row).map_or(usize::MAX, |&place| place as usize);
                if let Some(part) = parts.get_mut(place / BLOCK_ROWS) {
                    part.entries.push(((place % BLOCK_ROWS) as u16, value));
                    is_finite &= value.is_finite();
                }
            });
            for part in &mut parts {
                part.entries.sort_unstable_by_key(|&(row, _)| row);
                part.entries.shrink_to_fit();
            }
            is_finite.then_some(parts).ok_or(RankError::Changed)
        };
        let by_column = parallel::try_map(columns.iter().collect(), of_column)?;
        let mut blocks: Vec<Vec<SparseColumn>> =
            rows.chunks(BLOCK_ROWS).map(|_| Vec::with_capacity(columns.n_features())).collect();
        for parts in by_column {
            blocks.iter_mut().zip(parts).for_each(|(block, part)| block.push(part));
        }
        let sized = blocks.into_iter().zip(rows.chunks(BLOCK_ROWS));
        Ok(sized
            .map(|(columns, rows)| Self { n_rows: rows.len(), form: BlockForm::Sparse(columns) })
            .collect())
    }

    /// The values of a feature.
    pub(super) fn column(&self, feature: usize) -> Cow<'_, [f64]> {
        match &self.form {
            BlockForm::Dense(values) => {
                let start = feature * self.n_rows;
                Cow::Borrowed(&values[start..start + self.n_rows])
            }
            BlockForm::Sparse(columns) => {
                let SparseColumn { entries, other } = &columns[feature];
                let mut values = vec![*other; self.n_rows];
                for &(row, value) in entries {
                    values[usize::from(row)] = value;
                }
                Cow::Owned(values)
            }
        }
    }

    /// Only the given features, with values transformed by `change`, which gets the place of the
    /// feature among them.
    pub(super) fn restricted(
        self,
        features: &[usize],
        change: impl Fn(usize, &mut dyn Iterator<Item = &mut f64>),
    ) -> Self {
        let n_rows = self.n_rows;
        let form = match self.form {
            BlockForm::Dense(all) => {
                let columns = features.iter().map(|feature| feature * n_rows);
                let mut values: Vec<f64> =
                    columns.flat_map(|start| all[start..start + n_rows].to_vec()).collect();
                for (place, column) in values.chunks_exact_mut(n_rows).enumerate() {
                    change(place, &mut column.iter_mut());
                }
                BlockForm::Dense(values)
            }
            BlockForm::Sparse(mut all) => {
                let none = SparseColumn { entries: Vec::new(), other: 0.0 };
                let taken = |(place, &feature): (usize, &usize)| {
                    let mut column = std::mem::replace(&mut all[feature], none.clone());
                    let entries = column.entries.iter_mut().map(|(_, value)| value);
                    change(place, &mut entries.chain([&mut column.other]));
                    column
                };
                BlockForm::Sparse(features.iter().enumerate().map(taken).collect())
            }
        };
        Self { n_rows, form }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn rows_of(values: &[f64], positive: &[bool], weights: Option<&[f64]>) -> RankOptRows {
        let columns = Columns::from_row_major(values, 2).unwrap();
        let labels = Labels::new(positive, weights).unwrap();
        let interrupt = Interrupt::default();
        let rows = RankOptRows::copied(&columns, &labels, &interrupt).unwrap();
        let moments = rows.moments(&interrupt).unwrap();
        rows.standardised(&[0, 1], &moments)
    }

    fn sample(n: usize) -> (Vec<f64>, Vec<bool>) {
        let draw = |i: usize, bound: u64| (mix(i as u64) % bound) as f64;
        let values = (0..2 * n).map(|i| draw(i, 1000) + if i % 2 == 0 { 5e3 } else { 0.0 });
        (values.collect(), (0..n).map(|i| draw(i + 3 * n, 3) == 0.0).collect())
    }

    #[test]
    fn each_class_and_each_feature_is_standardised_and_weighed() {
        let (values, positive) = sample(3000);
        let rows = rows_of(&values, &positive, None);
        assert_eq!(rows.units().iter().sum::<f64>(), 3000.0);
        assert_eq!(rows.n_neg(), rows.positive().iter().filter(|p| !**p).count());
        let interrupt = Interrupt::default();
        let mut scores = vec![0.0; rows.len()];
        for weights in [[1.0, 0.0], [0.0, 1.0]] {
            rows.scores(&weights, &mut scores, &interrupt).unwrap();
            let mean = dot(&scores, rows.units()) / 3000.0;
            let square: f64 = scores.iter().zip(rows.units()).map(|(s, u)| u * s * s).sum();
            assert!(mean.abs() < 1e-12 && (square / 3000.0 - 1.0).abs() < 1e-7);
        }
        for class in [false, true] {
            let shares = rows.shares().iter().zip(rows.positive()).filter(|(_, p)| **p == class);
            assert!((shares.map(|(share, _)| share).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn scores_and_gradient_are_a_matrix_and_its_transpose() {
        let (values, positive) = sample(2500);
        let rows = rows_of(&values, &positive, None);
        let interrupt = Interrupt::default();
        let slopes: Vec<f64> = (0..rows.len()).map(|i| (i % 17) as f64 - 8.0).collect();
        let gradient = rows.gradient(&slopes, &interrupt).unwrap();
        let mut scores = vec![0.0; rows.len()];
        rows.scores(&[0.25, -2.0], &mut scores, &interrupt).unwrap();
        let (one, other) = (dot(&scores, &slopes), 0.25 * gradient[0] - 2.0 * gradient[1]);
        assert!((one - other).abs() < 1e-9 * one.abs().max(1.0), "{one} {other}");
        let mut single = scores.clone();
        rows.scores(&[0.0, -2.0], &mut single, &interrupt).unwrap();
        let without = rows.without(0, 0.25, &scores);
        assert!(without.iter().zip(&single).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn moments_are_those_of_the_data_and_features_may_be_left_out() {
        let (values, positive) = sample(2500);
        let weights: Vec<f64> = (0..2500).map(|i| (mix(i) % 4) as f64).collect();
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let labels = Labels::new(&positive, Some(&weights)).unwrap();
        let interrupt = Interrupt::default();
        let rows = || RankOptRows::copied(&columns, &labels, &interrupt).unwrap();
        let moments = rows().moments(&interrupt).unwrap();
        assert_eq!(moments, ValueMoments::of(&columns, &labels, &interrupt).unwrap());
        let (all, second) =
            (rows().standardised(&[0, 1], &moments), rows().standardised(&[1], &moments));
        let scores = |rows: &RankOptRows, weights: &[f64]| {
            let mut scores = vec![0.0; rows.len()];
            rows.scores(weights, &mut scores, &interrupt).unwrap();
            scores
        };
        assert_eq!(scores(&all, &[0.0, 1.0]), scores(&second, &[1.0]));
        let none = rows().standardised(&[], &moments);
        assert_eq!(scores(&none, &[]), vec![0.0; none.len()]);
    }

    #[test]
    fn a_value_that_is_no_longer_finite_is_an_error() {
        let (mut values, positive) = sample(50);
        for bad in [f64::NAN, f64::INFINITY] {
            values[7] = bad;
            let columns = Columns::from_row_major(&values, 2).unwrap();
            let labels = Labels::new(&positive, None).unwrap();
            let found = RankOptRows::copied(&columns, &labels, &Interrupt::default());
            assert_eq!(found.unwrap_err(), RankError::Changed);
        }
    }

    #[test]
    fn copies_are_one_row_of_their_weight_in_any_order() {
        let (values, positive) = sample(50);
        let weights: Vec<f64> = (0..50).map(|i| (mix(i) % 4) as f64).collect();
        let of_weights = rows_of(&values, &positive, Some(&weights));
        let (mut repeated, mut labels) = (Vec::new(), Vec::new());
        for row in (0..50).rev() {
            for _ in 0..weights[row] as usize {
                repeated.extend_from_slice(&values[2 * row..2 * row + 2]);
                labels.push(positive[row]);
            }
        }
        let of_copies = rows_of(&repeated, &labels, None);
        assert_eq!(of_copies.blocks, of_weights.blocks);
        assert_eq!(of_copies.units, of_weights.units);
        assert_eq!(of_copies.shares, of_weights.shares);
        assert_eq!(of_copies.positive, of_weights.positive);
    }
}

#[cfg(test)]
mod tests_of_blocks {
    use super::*;
    use crate::data::mix;

    #[test]
    fn sparse_and_dense_blocks_have_the_same_columns() {
        let (n_rows, n_features) = (2500, 3);
        let value = |row: usize, feature: usize| match mix((row * 3 + feature) as u64) % 7 {
            0 => row as f64,
            1 => -0.0,
            _ => 0.0,
        };
        let (mut starts, mut known, mut values) = (vec![0], Vec::new(), Vec::new());
        for feature in 0..n_features {
            for row in (0..n_rows).filter(|&row| value(row, feature).to_bits() != 0) {
                known.push(row as u32);
                values.push(value(row, feature));
            }
            starts.push(known.len());
        }
        let dense: Vec<f64> =
            (0..n_rows * n_features).map(|i| value(i % n_rows, i / n_rows)).collect();
        let interrupt = Interrupt::default();
        // Some rows, in another order.
        let mut rows: Vec<u32> = (0..n_rows as u32).filter(|row| row % 5 > 0).collect();
        rows.sort_unstable_by_key(|&row| mix(row.into()));
        let [sparse, dense] = [
            Columns::from_sparse(&starts, &known, &values, n_rows).unwrap(),
            Columns::from_column_major(&dense, n_rows).unwrap(),
        ]
        .map(|columns| RowChunk::copied(&columns, &rows, &interrupt).unwrap());
        assert_eq!((sparse.len(), dense.len()), (2, 2));
        let bits = |block: &RowChunk, feature: usize| -> Vec<u64> {
            block.column(feature).iter().map(|value| value.to_bits()).collect()
        };
        for (sparse, dense) in sparse.into_iter().zip(dense) {
            assert!(matches!(sparse.form, BlockForm::Sparse(_)));
            assert!((0..n_features).all(|j| bits(&sparse, j) == bits(&dense, j)));
            let change = |place: usize, values: &mut dyn Iterator<Item = &mut f64>| {
                values.for_each(|value| *value = (*value - 3.0) * place as f64);
            };
            let (sparse, dense) =
                (sparse.restricted(&[2, 0], change), dense.restricted(&[2, 0], change));
            assert!((0..2).all(|j| bits(&sparse, j) == bits(&dense, j)));
        }
    }
}
