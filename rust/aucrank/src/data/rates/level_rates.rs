//! Shrinkage of the class rates of categories.
//!
//! A learner that may send every category to the side that its own rows prefer fits noise: the best
//! subset of `K` uninformative categories gains about as much as `sqrt(K)` random thresholds of a
//! number. So before a learner chooses by them, the rates of categories are shrunk towards the rate
//! of their cell, by an amount that depends on their own spread.
//!
//! Let `z_k^2` be the squared deviation of the positives of category `k` from their expectation
//! under the rate of the cell, divided by its variance if the category is uninformative, and `Q`
//! the sum over `K` categories: by chance it is about `K - 1`, with standard deviation
//! `s = sqrt(2 sum of (1 - 1/n_k))`. Rates are shrunk by the estimator of James and Stein (1961) in
//! the form of Efron and Morris (1975), which estimates how much of `Q` is chance, with a safety
//! margin:
//!
//! ```text
//! noise = c (K - 1) + CAUTION sqrt(c) s,        c = 1 - FREE mean of (1 - 1/n_k) / (K - 1),
//! ```
//!
//! and 0 where `c` is not positive: up to five categories of several rows each offer no more choice
//! than a threshold of a number. If `Q` is no larger than `noise`, the categories cannot be
//! distinguished from chance. Otherwise the rate of each is that of its own rows together with `h`
//! times as many rows as the cell has, at the rate of the cell, with `h = noise / (K (Q - noise))`:
//! a large category is shrunk less than a small one.
//!
//! In a column of more than six categories, those with fewer than [`LEAST_LEVEL_ROWS`] training
//! rows count as unseen, and so as missing. These constants are measured
//! (`benches/studies/levels_study.py`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::accumulate::{ClassMasses, ClassSums};
use crate::data::input::labels::Labels;

/// Number of categories, after the first, without penalty. The best subset of `K` equal
/// uninformative categories gains `sqrt((K - 1) n p q / 2 pi)` on average, and the best threshold
/// of an uninformative number 0.87 `sqrt(n p q)` (the mean of the Kolmogorov-Smirnov statistic):
/// equal at six categories.
const FREE: f64 = 5.0;

/// Number of standard deviations by which the spread of categories must exceed chance.
const CAUTION: f64 = 4.0;

/// Share of the gain of a set of categories that must be left after shrinkage for the set to be
/// taken. Measured by `benches/studies/levels_study.py`: at one half a column of 300 levels of
/// noise costs boosted trees 0.004 of AUC on bank marketing (10 % positives), at one third 0.020,
/// without a bound 0.022.
pub(crate) const LEAST_KEPT: f64 = 0.5;

/// Training rows that a category needs for a rate of its own.
pub(in crate::data) const LEAST_LEVEL_ROWS: u64 = 10;

/// How the class rates of categories are estimated.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Binned, BinningParams, Column, Columns, FeatureBins, Labels, LevelRates};
///
/// // Seven categories: ten rows of each of the first six, and a single one of the last.
/// let codes: Vec<u32> = (0..61).map(|row| row / 10).collect();
/// let positive: Vec<bool> = (0..61).map(|row| row % 2 == 0).collect();
/// let columns = Columns::new(vec![Column::Codes { codes: &codes, n_levels: 7 }], 61)?;
/// let labels = Labels::new(&positive, None)?;
/// let has_rare = |level_rates| -> Result<bool, aucrank::RankError> {
///     let params = BinningParams { level_rates, ..BinningParams::default() };
///     let binned = Binned::new(&columns, &labels, params, &Interrupt::default())?;
///     Ok(matches!(&binned.features()[0], FeatureBins::Categorical { rare: Some(_), .. }))
/// };
/// assert!(has_rare(LevelRates::Shrunken)?);
/// assert!(!has_rare(LevelRates::Raw)?);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelRates {
    /// From their rows, shrunk towards the rate of the cell; rare categories count as missing.
    #[default]
    Shrunken,
    /// From their rows alone, as in the papers, which search all subsets of categories.
    Raw,
}

impl LevelRates {
    /// Which categories have too few rows for a rate of their own, given the rows of each; `None`
    /// if there are none.
    pub(crate) fn rare(self, rows_of_level: &[u64]) -> Option<Arc<[bool]>> {
        let is_rare = |&rows: &u64| rows > 0 && rows < LEAST_LEVEL_ROWS;
        let n_levels = rows_of_level.iter().filter(|&&rows| rows > 0).count();
        let asks_many = self == Self::Shrunken && n_levels as f64 > FREE + 1.0;
        (asks_many && rows_of_level.iter().any(is_rare))
            .then(|| rows_of_level.iter().map(is_rare).collect())
    }
}

/// Effective weight of a single row of each class, which gives the variance due to chance: for each
/// class, negatives first, the sum of the squared weights over the sum of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowUnits([f64; 2]);

impl RowUnits {
    /// Units of all rows of a fit.
    pub(crate) fn of_labels(labels: &Labels<'_>) -> Self {
        Self::of((0..labels.n_rows()).map(|row| (labels.sums(row), 1)))
    }

    /// Units of rows given by their contribution to the sums of a cell and how often each was
    /// drawn.
    pub(crate) fn of(rows: impl Iterator<Item = (ClassSums, u32)>) -> Self {
        let mut squares = RowSquares::default();
        rows.for_each(|(sums, times)| squares.add(sums, times));
        squares.units()
    }

    /// Sum of `1 / n` over both classes, `n` being the effective number of rows in these sums.
    pub(crate) fn sum_of_inverse_sizes(&self, total: ClassSums) -> f64 {
        let [neg, pos] = self.0;
        neg / total.neg as f64 + pos / total.pos as f64
    }

    /// Checks values read from a file.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.0.iter().all(|unit| unit.is_finite() && *unit > 0.0) {
            return Ok(());
        }
        Err("the units of the rows are not finite and above 0".to_owned())
    }
}

/// The sums from which [`RowUnits`] are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowSquares {
    /// For each class the sum of the weights and of their squares, as integers, so that the order
    /// of the rows does not matter.
    of_class: [[u128; 2]; 2],
}

impl RowSquares {
    /// Adds a row. A row of weight k is k rows, whereas a row that a bootstrap drew twice is one
    /// row of double weight.
    pub(crate) fn add(&mut self, sums: ClassSums, times: u32) {
        let copies = u128::from(sums.rows.max(1));
        for ([sum, squares], mass) in self.of_class.iter_mut().zip([sums.neg, sums.pos]) {
            let mass = u128::from(mass) * u128::from(times);
            *sum += mass;
            *squares += mass * mass / copies;
        }
    }

    /// Adds `n_rows` equal rows.
    pub(crate) fn add_equal(&mut self, sums: ClassSums, n_rows: u64) {
        let mut one = Self::default();
        one.add(sums, 1);
        for own in one.of_class.iter_mut().flatten() {
            *own *= u128::from(n_rows);
        }
        self.merge(&one);
    }

    /// The weight of each of so many rows, if these are equal.
    pub(crate) fn of_equal(&self, n_rows: u64) -> Option<u64> {
        let [sum, squares] = [0, 1].map(|i| self.of_class[0][i] + self.of_class[1][i]);
        let mass = sum.checked_div(n_rows.into())?;
        // Then the sum of the squares of differences from it is 0.
        let are_equal = mass * u128::from(n_rows) == sum && mass * sum == squares;
        are_equal.then_some(mass as u64)
    }

    /// Adds the rows of both.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (own, more) in self.of_class.iter_mut().flatten().zip(other.of_class.iter().flatten()) {
            *own += more;
        }
    }

    /// The sums as words, the lower half of each first.
    pub(crate) fn to_words(self) -> [u64; 8] {
        let sums = self.of_class.as_flattened();
        std::array::from_fn(|i| (sums[i / 2] >> (64 * (i % 2))) as u64)
    }

    /// Reads sums written by [`RowSquares::to_words`].
    pub(crate) fn from_words(words: &[u64; 8]) -> Self {
        let sum = |i: usize| u128::from(words[i]) | u128::from(words[i + 1]) << 64;
        Self { of_class: [[sum(0), sum(2)], [sum(4), sum(6)]] }
    }

    /// Squares divided by sums.
    pub(crate) fn units(&self) -> RowUnits {
        RowUnits(self.of_class.map(|[sum, squares]| squares as f64 / sum.max(1) as f64))
    }
}

/// Strength of the shrinkage of the categories of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RateShrinkage {
    /// Class masses of the whole cell.
    cell: ClassMasses,
    /// Mass at the rate of the cell that is added to each category.
    added: f64,
}

impl RateShrinkage {
    /// Estimates the shrinkage from the categories of a cell, the missing value being one of them.
    /// `None` if they do not differ by more than chance.
    pub(crate) fn of(
        levels: impl Iterator<Item = ClassMasses> + Clone,
        units: &RowUnits,
    ) -> Option<Self> {
        let cell: ClassMasses = levels.clone().sum();
        let face_value = Some(Self { cell, added: 0.0 });
        let [neg, pos] = [cell.neg as f64, cell.pos as f64];
        let total = neg + pos;
        if neg == 0.0 || pos == 0.0 {
            return face_value;
        }
        // In units in which the cell has mass 1, so that nothing overflows.
        let (p, q) = (pos / total, neg / total);
        let RowUnits([unit_neg, unit_pos]) = *units;
        let chance = p * q * (unit_pos * q + unit_neg * p) / total;
        let n_rows = p * q / chance;
        let (mut n_levels, mut pairs, mut spread) = (0.0, 0.0, 0.0);
        for level in levels {
            let (level_pos, level_neg) = (level.pos as f64 / total, level.neg as f64 / total);
            let share = level_pos + level_neg;
            let deviation = cell.gain(level) as f64 / (total * total);
            // The contribution of single rows to the square, whatever their category, is replaced
            // by its mean, so that a category of one row does not contribute.
            let of_rows = (unit_pos * level_pos * q * q + unit_neg * level_neg * p * p) / total;
            spread += 1.0 + (deviation * deviation - of_rows) / (share * chance);
            n_levels += 1.0;
            pairs += 1.0 - 1.0 / (share * n_rows).max(1.0);
        }
        let charged = 1.0 - FREE * pairs / n_levels / (n_levels - 1.0);
        if charged <= 0.0 || charged.is_nan() {
            return face_value;
        }
        let noise = charged * (n_levels - 1.0) + CAUTION * (charged * 2.0 * pairs).sqrt();
        let added = total * noise / (n_levels * (spread - noise));
        (spread > noise).then_some(Self { cell, added })
    }

    /// No shrinkage of the categories of a cell.
    pub(crate) fn none(cell: ClassMasses) -> Self {
        Self { cell, added: 0.0 }
    }

    /// Whether rates are left as they are.
    pub(crate) fn is_none(&self) -> bool {
        self.added == 0.0
    }

    /// Excess of the shrunken rate of a category over that of the cell, by which categories are
    /// sorted.
    pub(crate) fn excess(&self, level: ClassMasses) -> f64 {
        self.cell.gain(level) as f64 / ((level.pos + level.neg) as f64 + self.added)
    }

    /// The categories with rows by their shrunken rates, given the sums of all; those of one rate
    /// in their order. `None` if what this order promises is mostly chance.
    pub(crate) fn order(&self, sums: &[ClassSums]) -> Option<Vec<usize>> {
        let total: ClassSums = sums.iter().copied().sum();
        let mut order: Vec<usize> = (0..sums.len()).filter(|&code| sums[code].rows > 0).collect();
        let gain = |&code: &usize| total.gain(sums[code]).unsigned_abs() as f64;
        let kept = |code: &usize| self.kept(sums[*code].into()) * gain(code);
        if order.iter().map(kept).sum::<f64>() < LEAST_KEPT * order.iter().map(gain).sum::<f64>() {
            return None;
        }
        let excess: Vec<f64> = sums.iter().map(|&sums| self.excess(sums.into())).collect();
        order.sort_by(|&a, &b| excess[a].total_cmp(&excess[b]));
        Some(order)
    }

    /// Weight of its own rows in the shrunken rate of a category.
    pub(crate) fn kept(&self, level: ClassMasses) -> f64 {
        let mass = (level.pos + level.neg) as f64;
        mass / (mass + self.added)
    }

    /// The class masses of a category with the same total, at the shrunken rate.
    pub(crate) fn shrink(&self, level: ClassMasses) -> ClassMasses {
        if self.is_none() {
            return level;
        }
        let mass = level.pos + level.neg;
        let at_rate_of_cell = self.cell.pos as f64 / (self.cell.pos + self.cell.neg) as f64;
        let kept = self.kept(level);
        let pos = kept * level.pos as f64 + (1.0 - kept) * at_rate_of_cell * mass as f64;
        let pos = (pos.round() as u64).min(mass);
        ClassMasses { pos, neg: mass - pos }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    /// A pseudo-random number from 0 to 1.
    fn unit(seed: u64) -> f64 {
        (mix(seed) >> 11) as f64 * 2_f64.powi(-53)
    }

    /// Class sums by category of rows assigned to categories at random, with the given rates.
    fn dealt(n_rows: u64, n_levels: u64, seed: u64, rate: impl Fn(u64) -> f64) -> Vec<ClassSums> {
        let mut levels = vec![ClassSums::default(); n_levels as usize];
        for row in 0..n_rows {
            let level = mix(mix(seed) ^ row) % n_levels;
            let positive = unit(mix(!seed) ^ row) < rate(level);
            levels[level as usize] += ClassSums::of_row(positive, 1, 1);
        }
        levels.retain(|sums| sums.rows > 0);
        levels
    }

    fn masses(levels: &[ClassSums]) -> impl Iterator<Item = ClassMasses> + Clone {
        levels.iter().map(|&sums| sums.into())
    }

    /// Units of the rows of some categories, each weighing `weight`.
    fn units_of(levels: &[ClassSums], weight: u64) -> RowUnits {
        let of_level = |sums: &ClassSums| {
            let pos = ClassSums { pos: weight, neg: 0, rows: 1 };
            let neg = ClassSums { pos: 0, neg: weight, rows: 1 };
            let pos = std::iter::repeat_n((pos, 1), sums.pos as usize);
            pos.chain(std::iter::repeat_n((neg, 1), sums.neg as usize))
        };
        RowUnits::of(levels.iter().flat_map(of_level))
    }

    fn shrinkage(levels: &[ClassSums]) -> Option<RateShrinkage> {
        RateShrinkage::of(masses(levels), &units_of(levels, 1))
    }

    #[test]
    fn uninformative_categories_are_seldom_kept_however_many_they_are() {
        for (n_rows, n_levels) in [(200, 10), (1000, 30), (1000, 300), (2000, 1500), (500, 100_000)]
        {
            let kept = (0..200).filter(|&seed| {
                let levels = dealt(n_rows, n_levels, seed, |_| 0.3);
                shrinkage(&levels).is_some_and(|found| {
                    let gain: f64 = levels
                        .iter()
                        .map(|&level| {
                            let deviation = found.cell.gain(level.into()) as f64;
                            found.kept(level.into()) * deviation.max(0.0)
                        })
                        .sum();
                    // A fifth of what the best threshold of an uninformative number gains.
                    let (pos, neg) = (found.cell.pos as f64, found.cell.neg as f64);
                    gain > 0.174 * (pos * neg * (pos + neg)).sqrt()
                })
            });
            let kept = kept.count();
            assert!(kept < 20, "{kept} of 200 for {n_levels} categories of {n_rows} rows");
        }
    }

    #[test]
    fn a_law_over_many_categories_is_kept() {
        for seed in 0..20 {
            let levels = dealt(3000, 30, seed, |level| unit(level + 1000));
            let found = shrinkage(&levels).expect("a law");
            assert!(levels.iter().all(|&level| found.kept(level.into()) > 0.9));
        }
    }

    #[test]
    fn equal_categories_are_shrunk_by_the_estimator_of_efron_and_morris() {
        // Ten categories of 100 rows with these positives.
        let positives = [10, 20, 25, 30, 30, 35, 40, 45, 50, 65];
        let levels = positives.map(|pos| ClassSums { pos, neg: 100 - pos, rows: 100 });
        let found = shrinkage(&levels).unwrap();
        let rate = 0.35;
        let chance = 100.0 * rate * (1.0 - rate);
        // The squares of single rows are replaced by their mean.
        let of_rows =
            |pos: u64| pos as f64 * (1.0 - rate) * (1.0 - rate) + (100 - pos) as f64 * rate * rate;
        let spread: f64 = positives
            .iter()
            .map(|&pos| 1.0 + ((pos as f64 - 35.0).powi(2) - of_rows(pos)) / chance)
            .sum();
        let deviation = (2.0 * 10.0 * 0.99_f64).sqrt();
        let charged = 1.0 - FREE * 0.99 / 9.0;
        let noise = 9.0 * charged + CAUTION * charged.sqrt() * deviation;
        for level in levels {
            let kept = found.kept(level.into());
            assert!((kept - (spread - noise) / spread).abs() < 1e-12, "{kept}");
            let excess = found.excess(level.into()) / 1000.0;
            assert!((excess - kept * (level.eta() - rate)).abs() < 1e-12, "{excess}");
            let shrunk = found.shrink(level.into());
            let expected = 100.0 * (rate + kept * (level.eta() - rate));
            assert!((shrunk.pos as f64 - expected).abs() <= 0.5 && shrunk.pos + shrunk.neg == 100);
        }
    }

    #[test]
    fn a_few_categories_are_taken_at_face_value() {
        for parts in
            [&[(1, 9), (9, 1)][..], &[(5, 5), (6, 6)], &[(1, 2), (2, 1), (3, 3)], &[(9, 1); 5]]
        {
            let levels: Vec<ClassSums> =
                parts.iter().map(|&(pos, neg)| ClassSums { pos, neg, rows: pos + neg }).collect();
            assert!(shrinkage(&levels).unwrap().is_none());
        }
    }

    #[test]
    fn a_row_in_each_category_is_uninformative() {
        let levels: Vec<ClassSums> =
            (0..400).map(|row| ClassSums::of_row(row % 3 == 0, 1, 1)).collect();
        let kept = shrinkage(&levels).map_or(0.0, |found| found.kept(levels[0].into()));
        assert!(kept < 0.01, "{kept}");
    }

    #[test]
    fn the_unit_of_the_weights_and_the_names_of_the_classes_do_not_matter() {
        let levels = dealt(600, 12, 5, |level| 0.2 + 0.05 * level as f64);
        let found = shrinkage(&levels).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * a.abs();
        let tripled: Vec<ClassSums> = levels
            .iter()
            .map(|sums| ClassSums { pos: 3 * sums.pos, neg: 3 * sums.neg, rows: sums.rows })
            .collect();
        let heavier = RateShrinkage::of(masses(&tripled), &units_of(&levels, 3)).unwrap();
        let swapped: Vec<ClassSums> = levels
            .iter()
            .map(|sums| ClassSums { pos: sums.neg, neg: sums.pos, rows: sums.rows })
            .collect();
        let swapped = shrinkage(&swapped).unwrap();
        assert!(close(3.0 * found.added, heavier.added));
        assert!(close(found.added, swapped.added));
    }

    #[test]
    fn copies_count_as_rows_but_draws_of_one_row_as_one_heavier_row() {
        let row = ClassSums { pos: 0, neg: 3, rows: 3 };
        let pos = (ClassSums::of_row(true, 1, 1), 1);
        let copies = RowUnits::of([(row, 1), pos].into_iter());
        assert_eq!(copies, RowUnits([1.0; 2]));
        let drawn = RowUnits::of([(ClassSums::of_row(false, 1, 1), 3), pos].into_iter());
        assert_eq!(drawn, RowUnits([3.0, 1.0]));
    }
}
