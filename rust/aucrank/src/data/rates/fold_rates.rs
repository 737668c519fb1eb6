//! Class rates of the categories of one feature, computed for each fold of the rows from the
//! others.
//!
//! A category of few rows has no reliable rate, but many such categories are informative: sorted by
//! their rates, they are a number. A learner that reads for a row a rate that includes its own
//! label learns to trust the label. So each row is given the rate of its category in the *other*
//! folds, as in stacking (Wolpert, 1992, <https://doi.org/10.1016/S0893-6080(05)80023-1>; for rates
//! of categories Micci-Barreca, 2001, <https://doi.org/10.1145/507533.507538>).
//!
//! With `p` of the `n` rows of a category positive and the rate `r` of all rows of the same folds,
//! a category has the excess `(p - n r) / (n + 10)`: its rate, shrunk by [`SHRINKAGE`] rows at `r`,
//! less `r`. The excess and not the rate, since `r` differs from fold to fold with the labels of
//! the fold that is left out: a category without rows elsewhere has the excess 0 in every fold, and
//! is uninformative. A missing value has 0, too, as has a category that is not in the fit.
//!
//! Of uninformative categories the sum of `(y - r) e` over rows of label `y` and excess `e` is 0 on
//! average, for the label of a row is not in its excess, with variance `2 r (1 - r)` times the sum
//! of `e^2`: twice, since each of two rows of a category counts in the excess of the other. So
//! [`FoldRates::are_informative`] tests whether to learn from rates: by [`CAUTION`] standard
//! deviations.

use crate::data::accumulate::{ClassMasses, ClassSums};
use crate::data::dealing::folds::{Folds, NO_FOLD};
use crate::data::input::columns::Columns;
use crate::data::input::labels::Labels;
use crate::{Interrupt, RankError};

/// Folds that the rows of a fit are dealt to.
pub(crate) const N_RATE_FOLDS: u16 = 5;

/// Combined by exclusive or with the seed of a learner's own draws, so that the folds of rates have
/// another seed: rows that it holds out would be taken from the first fold.
pub(crate) const SEED_OF_RATES: u64 = 0x464F_4C44;

/// Rows at the mean rate that each category is shrunk by.
const SHRINKAGE: f64 = 10.0;

/// Number of standard deviations by which rates must be more informative than chance. On real data
/// those that are informative exceed it several times over.
const CAUTION: f64 = 3.0;

/// The class rates of the categories of a feature.
#[derive(Debug)]
pub(crate) struct FoldRates {
    n_folds: usize,
    /// For each category the masses of each fold, then those of all.
    of_level: Vec<ClassMasses>,
    /// The masses of all rows outside each fold, then those of all.
    others: Vec<ClassMasses>,
    /// Mass by which the rates are shrunk.
    added: f64,
    /// Mean mass of a row, by mass.
    unit: f64,
}

/// The folds by which rates are learned; `None` if no row can be left out.
pub(crate) fn deal_for_rates(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Option<Folds>, RankError> {
    let folds = Folds::deal(columns, labels, N_RATE_FOLDS, seed, interrupt)?;
    Ok((folds.n_folds > 1).then_some(folds))
}

impl FoldRates {
    /// Adds up some rows, given the codes of all.
    pub(crate) fn of(
        codes: &[u32],
        n_levels: u32,
        labels: &Labels<'_>,
        rows: &[u32],
        folds: &Folds,
    ) -> Self {
        let n_folds = usize::from(folds.n_folds);
        let mut of_level = vec![ClassMasses::default(); n_levels as usize * (n_folds + 1)];
        let mut totals = vec![ClassMasses::default(); n_folds + 1];
        let (mut n_rows, mut squares) = (0, 0);
        for row in rows.iter().map(|&row| row as usize) {
            let (sums, fold) = (labels.sums(row), folds.of_row[row]);
            debug_assert_ne!(fold, NO_FOLD, "the rows of a fit have weight");
            for place in [usize::from(fold), n_folds] {
                totals[place] += sums.into();
                if codes[row] < n_levels {
                    of_level[codes[row] as usize * (n_folds + 1) + place] += sums.into();
                }
            }
            n_rows += sums.rows;
            // A row of weight k is k rows.
            let mass = u128::from(sums.pos + sums.neg);
            squares += mass * mass / u128::from(sums.rows.max(1));
        }
        Self::of_masses(of_level, totals, n_rows, squares)
    }

    /// From sums: those of each category in each fold, those of each fold, and the squared masses
    /// of rows, each divided by the number of rows it counts as.
    pub(crate) fn of_sums(of_level: &[ClassSums], of_fold: &[ClassSums], squares: u128) -> Self {
        let with_total = |of_folds: &[ClassSums]| {
            let mut masses: Vec<ClassMasses> = of_folds.iter().map(|&sums| sums.into()).collect();
            masses.push(of_folds.iter().copied().sum::<ClassSums>().into());
            masses
        };
        let of_level = of_level.chunks(of_fold.len().max(1)).flat_map(with_total).collect();
        let n_rows = of_fold.iter().map(|sums| sums.rows).sum();
        Self::of_masses(of_level, with_total(of_fold), n_rows, squares)
    }

    fn of_masses(
        of_level: Vec<ClassMasses>,
        mut totals: Vec<ClassMasses>,
        n_rows: u64,
        squares: u128,
    ) -> Self {
        let n_folds = totals.len() - 1;
        let all = totals[n_folds];
        for total in &mut totals[..n_folds] {
            let mut rest = all;
            rest -= *total;
            *total = rest;
        }
        let total = (all.pos + all.neg) as f64;
        let (added, unit) = (SHRINKAGE * total / n_rows.max(1) as f64, squares as f64 / total);
        Self { n_folds, of_level, others: totals, added, unit }
    }

    /// Number of categories.
    pub(crate) fn n_levels(&self) -> u32 {
        (self.of_level.len() / (self.n_folds + 1)) as u32
    }

    fn masses(&self, level: u32, place: usize) -> ClassMasses {
        self.of_level[level as usize * (self.n_folds + 1) + place]
    }

    fn excess(&self, level: ClassMasses, all: ClassMasses) -> f64 {
        let (mass, total) = ((level.pos + level.neg) as f64, (all.pos + all.neg) as f64);
        // Sums are integers, so that the order of the rows does not matter.
        if total == 0.0 { 0.0 } else { all.gain(level) as f64 / total / (mass + self.added) }
    }

    /// The excess of a category over all folds; 0 for a missing value.
    pub(crate) fn overall(&self, level: u32) -> f64 {
        if level >= self.n_levels() {
            return 0.0;
        }
        self.excess(self.masses(level, self.n_folds), self.others[self.n_folds])
    }

    /// The excess of a category by the rows outside a fold; 0 for a missing value.
    pub(crate) fn outside(&self, level: u32, fold: u16) -> f64 {
        if level >= self.n_levels() {
            return 0.0;
        }
        let fold = usize::from(fold);
        let mut level_masses = self.masses(level, self.n_folds);
        level_masses -= self.masses(level, fold);
        self.excess(level_masses, self.others[fold])
    }

    /// The mass of a category.
    pub(crate) fn mass(&self, level: u32) -> u64 {
        let ClassMasses { pos, neg } = self.masses(level, self.n_folds);
        pos + neg
    }

    /// The mass of missing values.
    pub(crate) fn missing_mass(&self) -> u64 {
        let ClassMasses { pos, neg } = self.others[self.n_folds];
        pos + neg - (0..self.n_levels()).map(|level| self.mass(level)).sum::<u64>()
    }

    /// Whether the rates of some categories, by the rows outside each fold, are informative for the
    /// rows in it beyond chance.
    pub(crate) fn are_informative(&self, are_meant: impl Fn(u32) -> bool) -> bool {
        let all = self.others[self.n_folds];
        let total = (all.pos + all.neg) as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for level in (0..self.n_levels()).filter(|&level| are_meant(level)) {
            for fold in 0..self.n_folds {
                let masses = self.masses(level, fold);
                let excess = self.outside(level, fold as u16);
                sum += all.gain(masses) as f64 / total * excess;
                squares += (masses.pos + masses.neg) as f64 * excess * excess;
            }
        }
        let of_label = all.pos as f64 / total * (all.neg as f64 / total) * self.unit;
        sum > CAUTION * (2.0 * of_label * squares).sqrt()
    }

    /// For the rows of the fit, with their masses: the excess of their category outside their fold,
    /// and 0 if it is missing.
    pub(crate) fn weighted(&self) -> Vec<(f64, u64)> {
        let mut found = Vec::new();
        for level in 0..self.n_levels() {
            for fold in 0..self.n_folds {
                let ClassMasses { pos, neg } = self.masses(level, fold);
                if pos + neg > 0 {
                    found.push((self.outside(level, fold as u16), pos + neg));
                }
            }
        }
        if self.missing_mass() > 0 {
            found.push((0.0, self.missing_mass()));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::{MISSING_CODE, mix};

    /// The definition, row by row, of rows that each count `copies` times.
    fn by_rows(
        rows: &[(u32, bool, u16, u32)],
        is_counted: impl Fn(u16) -> bool,
        level: u32,
    ) -> f64 {
        let counted = || rows.iter().filter(|(_, _, fold, _)| is_counted(*fold));
        let sum = |is_in: &dyn Fn(u32, bool) -> bool| -> f64 {
            let rows = counted().filter(|(code, positive, ..)| is_in(*code, *positive));
            rows.map(|(.., copies)| f64::from(*copies)).sum()
        };
        let rate = sum(&|_, positive| positive) / sum(&|_, _| true);
        let n = sum(&|code, _| code == level);
        let p = sum(&|code, positive| code == level && positive);
        (p + 10.0 * rate) / (n + 10.0) - rate
    }

    proptest! {
        #[test]
        fn rates_are_those_of_the_rows_of_the_other_folds(
            rows in prop::collection::vec((0..4_u32, any::<bool>(), 0..3_u16, 1..4_u32), 12..60),
        ) {
            // Each fold has rows of both classes.
            let mut rows = rows;
            for (place, row) in rows.iter_mut().take(6).enumerate() {
                (row.1, row.2) = (place % 2 == 0, place as u16 / 2);
            }
            // The last code is missing, and one category has no rows.
            let codes: Vec<u32> =
                rows.iter().map(|row| if row.0 == 3 { MISSING_CODE } else { row.0 }).collect();
            let positive: Vec<bool> = rows.iter().map(|row| row.1).collect();
            let weights: Vec<f64> = rows.iter().map(|row| f64::from(row.3)).collect();
            let labels = Labels::new(&positive, Some(&weights)).unwrap();
            let folds = Folds { of_row: rows.iter().map(|row| row.2).collect(), n_folds: 3 };
            let found = FoldRates::of(&codes, 4, &labels, &labels.rows(), &folds);
            for level in 0..3 {
                let expected = by_rows(&rows, |_| true, level);
                prop_assert!((found.overall(level) - expected).abs() < 1e-12);
                for fold in 0..3 {
                    let expected = by_rows(&rows, |other| other != fold, level);
                    prop_assert!((found.outside(level, fold) - expected).abs() < 1e-12);
                }
            }
            prop_assert!(found.mass(3) == 0 && found.overall(3) == 0.0);
            let total: u64 = found.weighted().iter().map(|(_, mass)| mass).sum();
            prop_assert_eq!(total, labels.total().pos + labels.total().neg);
        }
    }

    /// Rates of a sample of `n_rows` rows, in five folds, with informative categories or not.
    fn drawn(n_rows: u64, n_levels: u64, seed: u64, tell: bool, copies: f64) -> FoldRates {
        let draw = |row: u64, what: u64| mix(mix(mix(seed) ^ row) ^ what);
        let codes: Vec<u32> = (0..n_rows).map(|row| (draw(row, 1) % n_levels) as u32).collect();
        let positive: Vec<bool> = (0..n_rows)
            .map(|row| {
                let code = u64::from(codes[row as usize]);
                draw(row, 2) % 100 < if tell { mix(code) % 60 } else { 30 }
            })
            .collect();
        let weights = vec![copies; n_rows as usize];
        let labels = Labels::new(&positive, Some(&weights)).unwrap();
        let of_row = (0..n_rows).map(|row| (draw(row, 3) % 5) as u16).collect();
        let folds = Folds { of_row, n_folds: 5 };
        FoldRates::of(&codes, n_levels as u32, &labels, &labels.rows(), &folds)
    }

    #[test]
    fn rates_of_noise_are_seldom_informative_and_those_of_a_law_are() {
        for (n_rows, n_levels) in [(300, 100), (2000, 300), (6000, 1500)] {
            let tell = (0..300).filter(|&seed| {
                drawn(n_rows, n_levels, seed, false, 1.0).are_informative(|_| true)
            });
            assert!(tell.count() <= 3, "{n_levels} categories of {n_rows} rows");
            // Weights that are not counts of copies do not make rates more certain.
            let tell = (0..300).filter(|&seed| {
                drawn(n_rows, n_levels, seed, false, 0.37).are_informative(|_| true)
            });
            assert!(tell.count() <= 3, "{n_levels} categories of {n_rows} rows");
        }
        assert!((0..30).all(|seed| drawn(6000, 1000, seed, true, 1.0).are_informative(|_| true)));
        assert!(!drawn(6000, 1000, 0, true, 1.0).are_informative(|_| false));
    }

    #[test]
    fn the_label_of_a_row_is_not_in_its_own_rate() {
        let codes: Vec<u32> = (0..40).map(|row| row % 8).collect();
        let mut positive: Vec<bool> = (0..40).map(|row| row % 3 == 0).collect();
        let folds = Folds { of_row: (0..40).map(|row| row / 8).collect(), n_folds: 5 };
        let outside = |positive: &[bool]| {
            let labels = Labels::new(positive, None).unwrap();
            let found = FoldRates::of(&codes, 8, &labels, &labels.rows(), &folds);
            found.outside(3, 1).to_bits()
        };
        let before = outside(&positive);
        // All labels of the fold, and not only that of one row.
        for row in (8..16).chain(11..12) {
            positive[row] = !positive[row];
            assert_eq!(outside(&positive), before);
        }
        positive[19] = !positive[19];
        assert_ne!(outside(&positive), before);
    }
}
