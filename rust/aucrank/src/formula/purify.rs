//! A function of two features, split into functions of either feature and a pure rest.
//!
//! The split of a table v into effects r of the rows, effects c of the columns and a rest is not
//! unique. The rest is pure if its weighted mean along each row and each column is 0 (the
//! functional ANOVA: Lengerich et al., "Purifying interaction effects with the functional ANOVA",
//! 2020, <https://arxiv.org/abs/1911.04974>): the effects are the sum of functions of one feature
//! that is nearest to the table by weighted least squares. Their equations, with the effects of
//! the rows eliminated, are solved by conjugate gradients: means taken along rows and columns in
//! turn converge to the same, but need thousands of turns where two features say nearly the same.

use super::pair_term::{Axis, AxisPlaces, PairTerm};
use crate::data::{FeatureSteps, FeatureTerm, snap};

impl PairTerm {
    /// Takes from the table what its features add alone, given the weight of each cell. What
    /// remains has a weighted mean of 0 along each row and each column, up to rounding: all values
    /// remain multiples of their unit, so that the sum is the same to the bit. `n_levels` are the
    /// numbers of categories of all features.
    pub(crate) fn take_effects(
        &mut self,
        weights: &[u64],
        n_levels: &[Option<u32>],
    ) -> [FeatureTerm; 2] {
        let n_columns = self.axes[1].n_places();
        let effects = effects(&self.values, weights, n_columns);
        let [of_rows, of_columns] = effects.map(|of| of.into_iter().map(snap).collect::<Vec<_>>());
        for (values, of_row) in self.values.chunks_exact_mut(n_columns).zip(&of_rows) {
            for (value, of_column) in values.iter_mut().zip(&of_columns) {
                *value -= of_row + of_column;
            }
        }
        let term = |axis: &Axis, values: &[f64]| axis.steps(values, n_levels[axis.feature]);
        [term(&self.axes[0], &of_rows), term(&self.axes[1], &of_columns)]
    }
}

impl Axis {
    /// The step function with these values at the places, given the number of categories.
    fn steps(&self, values: &[f64], n_levels: Option<u32>) -> FeatureTerm {
        let place = self.reader();
        let steps = match &self.known {
            AxisPlaces::Numeric { thresholds } => FeatureSteps::Numeric {
                thresholds: thresholds.clone(),
                values: values[..=thresholds.len()].to_vec(),
            },
            AxisPlaces::Categorical { .. } => FeatureSteps::Categorical {
                values: (0..n_levels.unwrap_or(0)).map(|code| values[place(code.into())]).collect(),
            },
        };
        FeatureTerm { feature: self.feature, steps, missing: values[place(f64::NAN)] }
    }
}

/// The effects of the rows and of the columns of a table. Each have half of its weighted mean as
/// theirs. A row without weight has as its effect the mean of its values less the effects of the
/// columns, by the weights of these; so has a column.
fn effects(values: &[f64], weights: &[u64], n_columns: usize) -> [Vec<f64>; 2] {
    let table = WeightedTable::new(values, weights, n_columns);
    let [n_rows, _] = table.totals.each_ref().map(Vec::len);
    if table.total == 0.0 {
        return [vec![0.0; n_rows], vec![0.0; n_columns]];
    }
    let half = 0.5 * table.mean(0, &table.means_of_rows(&vec![0.0; n_columns]));
    let mut of_columns = table.effects_of_columns();
    let excess = table.mean(1, &of_columns) - half;
    for effect in &mut of_columns {
        *effect -= excess;
    }
    let mut of_rows = table.means_of_rows(&of_columns);
    for (row, effect) in of_rows.iter_mut().enumerate() {
        if table.totals[0][row] == 0.0 {
            let rest = |column: usize| values[row * n_columns + column] - of_columns[column];
            *effect = table.mean(1, &(0..n_columns).map(rest).collect::<Vec<_>>());
        }
    }
    for (column, effect) in of_columns.iter_mut().enumerate() {
        if table.totals[1][column] == 0.0 {
            let rest = |row: usize| values[row * n_columns + column] - of_rows[row];
            *effect = table.mean(0, &(0..n_rows).map(rest).collect::<Vec<_>>());
        }
    }
    [of_rows, of_columns]
}

/// Values with weights.
struct WeightedTable<'a> {
    values: &'a [f64],
    weights: Vec<f64>,
    /// Of the rows, and of the columns.
    totals: [Vec<f64>; 2],
    total: f64,
}

impl<'a> WeightedTable<'a> {
    fn new(values: &'a [f64], weights: &[u64], n_columns: usize) -> Self {
        let weights: Vec<f64> = weights.iter().map(|&weight| weight as f64).collect();
        let of_rows: Vec<f64> =
            weights.chunks_exact(n_columns).map(|row| row.iter().sum()).collect();
        let mut of_columns = vec![0.0; n_columns];
        for row in weights.chunks_exact(n_columns) {
            of_columns.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
        }
        let total = of_rows.iter().sum();
        Self { values, weights, totals: [of_rows, of_columns], total }
    }

    /// The rows: their values, their weights and their totals.
    fn rows(&self) -> impl Iterator<Item = (&[f64], &[f64], f64)> {
        let n_columns = self.totals[1].len();
        let rows = self.values.chunks_exact(n_columns).zip(self.weights.chunks_exact(n_columns));
        rows.zip(&self.totals[0]).map(|((values, weights), total)| (values, weights, *total))
    }

    /// The weighted mean of numbers of the rows (0), or of the columns (1).
    fn mean(&self, axis: usize, numbers: &[f64]) -> f64 {
        dot(&self.totals[axis], numbers) / self.total
    }

    /// The weighted mean of each row, less the effects of the columns; 0 without weight.
    fn means_of_rows(&self, of_columns: &[f64]) -> Vec<f64> {
        let mean = |(values, weights, total): (&[f64], &[f64], f64)| {
            let rest = values.iter().zip(of_columns).map(|(value, effect)| value - effect);
            let sum: f64 = rest.zip(weights).map(|(rest, weight)| rest * weight).sum();
            if total > 0.0 { sum / total } else { 0.0 }
        };
        self.rows().map(mean).collect()
    }

    /// Effects of the columns that solve the equations, up to a constant; 0 without weight.
    fn effects_of_columns(&self) -> Vec<f64> {
        // Scaled by the roots of the totals, the matrix is I - B'B with entries of B at most 1, so
        // that few steps are enough.
        let inverse = |totals: &[f64]| -> Vec<f64> {
            totals.iter().map(|&total| if total > 0.0 { 1.0 / total.sqrt() } else { 0.0 }).collect()
        };
        let [of_rows, of_columns] = self.totals.each_ref().map(|totals| inverse(totals));
        let no_effects = vec![0.0; of_columns.len()];
        let means = self.means_of_rows(&no_effects);
        let mut right = no_effects.clone();
        for ((values, weights, _), mean) in self.rows().zip(&means) {
            for (sum, (value, weight)) in right.iter_mut().zip(values.iter().zip(weights)) {
                *sum += weight * (value - mean);
            }
        }
        right.iter_mut().zip(&of_columns).for_each(|(sum, scale)| *sum *= scale);
        let times_matrix = |x: &[f64]| -> Vec<f64> {
            let scaled: Vec<f64> = x.iter().zip(&of_columns).map(|(x, scale)| x * scale).collect();
            let mut out = vec![0.0; x.len()];
            for ((_, weights, _), scale) in self.rows().zip(&of_rows) {
                let of_row = scale * scale * dot(weights, &scaled);
                out.iter_mut().zip(weights).for_each(|(out, weight)| *out += of_row * weight);
            }
            let scaled = out.into_iter().zip(&of_columns);
            scaled.zip(x).map(|((sum, scale), x)| x - sum * scale).collect()
        };
        let squares = self.weights.iter().zip(self.values).map(|(weight, v)| weight * v * v);
        let enough = TOLERANCE * TOLERANCE * squares.sum::<f64>();
        let solution = conjugate_gradients(times_matrix, right, enough);
        solution.iter().zip(&of_columns).map(|(x, scale)| x * scale).collect()
    }
}

/// Size of a residual that is rounding, compared with the values: of a right side that is 0 but
/// for rounding, steps would make arbitrary effects.
const TOLERANCE: f64 = 1e-14;

/// Solves linear equations with a positive semidefinite matrix that have a solution, until the
/// square of the residual is at most `enough`.
fn conjugate_gradients(
    times_matrix: impl Fn(&[f64]) -> Vec<f64>,
    right: Vec<f64>,
    enough: f64,
) -> Vec<f64> {
    let mut solution = vec![0.0; right.len()];
    let mut residual = right;
    let mut direction = residual.clone();
    let mut square = dot(&residual, &residual);
    // As many steps as unknowns are enough without rounding.
    for _ in 0..4 * solution.len() + 10 {
        if square <= enough {
            break;
        }
        let image = times_matrix(&direction);
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            break;
        }
        let step = square / curvature;
        solution.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= step * i);
        let next = dot(&residual, &residual);
        let share = next / square;
        direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + share * *d);
        square = next;
    }
    solution
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums of multiples of a power of two are exact")]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// The pure part by its definition: weighted means along rows and columns are taken off in
    /// turn until none is left.
    fn by_turns(values: &[f64], weights: &[u64], n_columns: usize) -> Vec<f64> {
        let mut rest = values.to_vec();
        let n_rows = values.len() / n_columns;
        let rows = (0..n_rows).map(|row| (0..n_columns).map(|k| row * n_columns + k).collect());
        let columns = (0..n_columns).map(|k| (0..n_rows).map(|row| row * n_columns + k).collect());
        let lines: Vec<Vec<usize>> = rows.chain(columns).collect();
        let mut largest = 1.0;
        while largest > 1e-13 {
            largest = 0.0_f64;
            for line in &lines {
                let total: u64 = line.iter().map(|&cell| weights[cell]).sum();
                let sum: f64 = line.iter().map(|&cell| weights[cell] as f64 * rest[cell]).sum();
                let mean = if total > 0 { sum / total as f64 } else { 0.0 };
                for &cell in line {
                    rest[cell] -= mean;
                }
                largest = largest.max(mean.abs());
            }
        }
        rest
    }

    struct TableDraw(Xoshiro256PlusPlus);

    impl TableDraw {
        fn below(&mut self, n: u64) -> u64 {
            self.0.next_u64() % n
        }

        fn value(&mut self) -> f64 {
            snap(self.below(1 << 20) as f64 / f64::from(1 << 18) - 2.0)
        }

        /// A number, or a category of six codes in three places and that of the others.
        fn axis(&mut self, feature: usize) -> Axis {
            let known = if self.below(2) == 0 {
                let n = self.below(4);
                AxisPlaces::Numeric { thresholds: (0..n).map(|cut| cut as f64).collect() }
            } else {
                AxisPlaces::Categorical { groups: vec![vec![0, 3], vec![1]], has_others: true }
            };
            Axis { feature, known }
        }
    }

    const N_LEVELS: [Option<u32>; 2] = [Some(6), Some(6)];

    #[test]
    fn the_pure_part_is_that_of_means_taken_off_in_turn() {
        let mut draw = TableDraw(Xoshiro256PlusPlus::seed_from_u64(0));
        for _ in 0..40 {
            let axes = [draw.axis(0), draw.axis(1)];
            let [n_rows, n_columns] = axes.each_ref().map(Axis::n_places);
            let values: Vec<f64> = (0..n_rows * n_columns).map(|_| draw.value()).collect();
            // Many cells, some rows and some columns have no weight.
            let lines = [n_rows, n_columns].map(|n| (0..n).map(|_| draw.below(4)).collect());
            let [rows, columns]: [Vec<u64>; 2] = lines;
            let weights: Vec<u64> = (0..values.len())
                .map(|cell| {
                    let line = rows[cell / n_columns].min(columns[cell % n_columns]);
                    line.min(1) * draw.below(4) * (1 + draw.below(100))
                })
                .collect();
            let mut term = PairTerm { axes: axes.clone(), values: values.clone() };
            let singles = term.take_effects(&weights, &N_LEVELS);
            let expected = by_turns(&values, &weights, n_columns);
            for cell in (0..values.len()).filter(|&cell| weights[cell] > 0) {
                let (found, expected) = (term.values[cell], expected[cell]);
                assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
            }
            // The sum is the same to the bit at any value of either feature.
            let (before, after) = (PairTerm { axes, values }, term);
            for first in [f64::NAN, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0] {
                for second in [f64::NAN, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0] {
                    let both = [first, second];
                    let alone = singles[0].value(both[0]) + singles[1].value(both[1]);
                    assert_eq!(before.reader()(both), alone + after.reader()(both));
                }
            }
        }
    }

    #[test]
    fn lines_without_weight_have_the_mean_by_the_weights_of_the_others() {
        // A product; the last row and the last column are those of missing values.
        let axis = |feature| Axis { feature, known: AxisPlaces::Numeric { thresholds: vec![0.0] } };
        let values = vec![1.0, -1.0, 5.0, -1.0, 1.0, 3.0, 8.0, 2.0, 1.0];
        let mut term = PairTerm { axes: [axis(0), axis(1)], values };
        let weights = [1, 1, 0, 1, 1, 0, 0, 0, 0];
        let [first, second] = term.take_effects(&weights, &[None, None]);
        assert_eq!([first.missing, second.missing], [5.0, 4.0]);
        assert_eq!(term.values, [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 3.0, -3.0, -8.0]);
        let mut without = PairTerm { axes: [axis(0), axis(1)], values: vec![1.0; 9] };
        without.take_effects(&[0; 9], &[None, None]);
        assert_eq!(without.values, [1.0; 9]);
    }

    #[test]
    fn means_are_zero_where_two_features_say_nearly_the_same() {
        let n = 40;
        let thresholds: Vec<f64> = (0..n - 2).map(f64::from).collect();
        let axis = |feature| Axis {
            feature,
            known: AxisPlaces::Numeric { thresholds: thresholds.clone() },
        };
        let n = n as usize;
        let mut draw = TableDraw(Xoshiro256PlusPlus::seed_from_u64(1));
        let values: Vec<f64> = (0..n * n).map(|_| draw.value()).collect();
        let weights: Vec<u64> = (0..n * n)
            .map(|cell| match (cell / n).abs_diff(cell % n) {
                0 => 1000,
                1 => 20,
                _ => 0,
            })
            .collect();
        let mut term = PairTerm { axes: [axis(0), axis(1)], values };
        term.take_effects(&weights, &[None, None]);
        for line in 0..n {
            let of_row: Vec<usize> = (0..n).map(|k| line * n + k).collect();
            let of_column: Vec<usize> = (0..n).map(|k| k * n + line).collect();
            for cells in [of_row, of_column] {
                let total: u64 = cells.iter().map(|&cell| weights[cell]).sum();
                let sum: f64 =
                    cells.iter().map(|&cell| weights[cell] as f64 * term.values[cell]).sum();
                assert!((sum / total as f64).abs() < 1e-9, "{}", sum / total as f64);
            }
        }
    }
}
