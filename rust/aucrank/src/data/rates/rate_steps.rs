//! Thresholds on the rates of categories, which are sets of categories.
//!
//! A question whether the rate of a row's category is below a threshold is, once the fit is over, one
//! whether its category is among some: those of a rate below the threshold by all rows of the fit. A
//! missing value, and a category that the fit did not see, has the mean rate and goes where that goes.

use crate::data::binning::cuts::quantile_cuts;
use crate::data::dealing::folds::Folds;
use crate::data::input::labels::Labels;
use crate::data::input::level_set::LevelSet;
use crate::data::rates::fold_rates::FoldRates;

/// Most steps of rates, whose numbers are bytes.
const MOST_STEPS: usize = 250;

/// A feature of categories as the rates of some of them describe it, if they are informative beyond chance: its
/// rates in at most so many steps, and no more than [`MOST_STEPS`], and the step of each row. Rows learned from have the step
/// of the other folds, all others that of all rows learned from.
pub(crate) fn coded_rates(
    (codes, n_levels): (&[u32], u32),
    (labels, training, folds): (&Labels<'_>, &[u32], &Folds),
    most: usize,
    are_meant: impl Fn(u32) -> bool,
) -> Option<(RateSteps, Vec<u8>)> {
    let rates = FoldRates::of(codes, n_levels, labels, training, folds);
    let steps = RateSteps::informative(&rates, most, are_meant)?;
    let mut of_row: Vec<u8> = codes.iter().map(|&code| steps.of_level(code) as u8).collect();
    for row in training.iter().map(|&row| row as usize) {
        of_row[row] = steps.step(rates.outside(codes[row], folds.of_row[row])) as u8;
    }
    Some((steps, of_row))
}

/// The rates of a feature's categories in steps.
#[derive(Debug)]
pub(crate) struct RateSteps {
    /// Ascending.
    cuts: Vec<f64>,
    /// For each cut the categories below it, but where the mean is below it: then all but those that
    /// are not.
    below: Vec<LevelSet>,
    /// For each cut all other categories.
    not_below: Vec<LevelSet>,
    /// The step of each category by all rows.
    of_level: Vec<u32>,
    /// The step of the mean.
    of_mean: u32,
}

impl RateSteps {
    /// Those of rates that are informative beyond chance, at most so many, and no more than [`MOST_STEPS`].
    pub(crate) fn informative(
        rates: &FoldRates,
        most: usize,
        are_meant: impl Fn(u32) -> bool,
    ) -> Option<Self> {
        if !rates.are_informative(&are_meant) {
            return None;
        }
        Self::new(rates, most.min(MOST_STEPS), are_meant)
    }

    /// At most `most` steps of nearly equal mass. Each threshold parts some categories that are meant
    /// from the mean: the others alone need no sets. `None` if there is no threshold left.
    ///
    /// Of thresholds with the same categories below them one is kept: they are the same question once
    /// the fit is over.
    pub(crate) fn new(
        rates: &FoldRates,
        most: usize,
        are_meant: impl Fn(u32) -> bool,
    ) -> Option<Self> {
        let mut cuts = quantile_cuts(rates.weighted(), most);
        let seen = (0..rates.n_levels()).filter(|&level| rates.is_seen(level));
        let mut sorted: Vec<(f64, u32)> = seen.map(|level| (rates.overall(level), level)).collect();
        sorted.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut n_last = None;
        cuts.retain(|&cut| {
            let n_below = sorted.partition_point(|(rate, _)| *rate < cut);
            let listed = if cut > 0.0 { &sorted[n_below..] } else { &sorted[..n_below] };
            let tells = listed.iter().any(|(_, level)| are_meant(*level));
            let is_new = n_last != Some((cut > 0.0, n_below));
            n_last = Some((cut > 0.0, n_below));
            tells && is_new
        });
        if cuts.is_empty() {
            return None;
        }
        let below = cuts.iter().map(|&cut| {
            let n_below = sorted.partition_point(|(rate, _)| *rate < cut);
            let codes = |listed: &[(f64, u32)]| -> Vec<u32> {
                listed.iter().map(|(_, level)| *level).collect()
            };
            if cut > 0.0 {
                LevelSet::all_but(codes(&sorted[n_below..]))
            } else {
                LevelSet::only(codes(&sorted[..n_below]))
            }
        });
        let below: Vec<LevelSet> = below.collect();
        let not_below = below.iter().map(LevelSet::complement).collect();
        let mut steps = Self { below, not_below, cuts, of_level: Vec::new(), of_mean: 0 };
        steps.of_mean = steps.step(0.0);
        steps.of_level =
            (0..rates.n_levels()).map(|level| steps.step(rates.overall(level))).collect();
        Some(steps)
    }

    /// The thresholds, ascending.
    pub(crate) fn cuts(&self) -> &[f64] {
        &self.cuts
    }

    /// The number of thresholds that a rate is not below.
    pub(crate) fn step(&self, rate: f64) -> u32 {
        self.cuts.partition_point(|&cut| cut <= rate) as u32
    }

    /// The step of a category by all rows; of a missing value, and of any that is out of range, that of
    /// the mean.
    pub(crate) fn of_level(&self, code: u32) -> u32 {
        self.of_level.get(code as usize).copied().unwrap_or(self.of_mean)
    }

    /// Number of categories.
    pub(crate) fn n_levels(&self) -> u32 {
        self.of_level.len() as u32
    }

    /// The step of a missing value.
    pub(crate) fn of_mean(&self) -> u32 {
        self.of_mean
    }

    /// The categories of the first so many steps, at least 1 and not all.
    pub(crate) fn before(&self, step: u32) -> &LevelSet {
        &self.below[step as usize - 1]
    }

    /// The categories of the steps from one on, at least 1 and not all.
    pub(crate) fn from(&self, step: u32) -> &LevelSet {
        &self.not_below[step as usize - 1]
    }

    /// The step that [`RateSteps::before`] gives a set for, if there is one.
    pub(crate) fn find(&self, set: &LevelSet) -> Option<u32> {
        // Below the mean sets grow from cut to cut, and above it what they leave out shrinks.
        let n_low = self.cuts.partition_point(|&cut| cut <= 0.0);
        let n_listed = set.listed().len();
        let place = if set.lists_others() {
            let high = &self.below[n_low..];
            n_low + high.partition_point(|other| other.listed().len() > n_listed)
        } else {
            self.below[..n_low].partition_point(|other| other.listed().len() < n_listed)
        };
        (self.below.get(place)? == set).then_some(place as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Folds, Labels, MISSING_CODE, mix};

    /// Rates of 300 rows of some forty categories, most of them in few rows.
    fn rates(seed: u64) -> FoldRates {
        let draw = |row: u64, what: u64| mix(mix(seed ^ row) ^ what);
        let code = |row: u64| match draw(row, 1) % 10 {
            0 => MISSING_CODE,
            1..4 => (draw(row, 2) % 3) as u32,
            _ => (draw(row, 2) % 40) as u32,
        };
        let codes: Vec<u32> = (0..300).map(code).collect();
        let positive: Vec<bool> = (0..300)
            .map(|row| draw(row, 3) % 40 < u64::from(codes[row as usize].min(39)))
            .collect();
        let labels = Labels::new(&positive, None).unwrap();
        let folds = Folds { of_row: (0..300).map(|row| (row % 5) as u16).collect(), n_folds: 5 };
        FoldRates::of(&codes, 41, &labels, &labels.rows(), &folds)
    }

    #[test]
    fn a_threshold_is_the_set_of_the_categories_of_a_lower_rate() {
        for seed in 0..20 {
            let rates = rates(seed);
            let steps = RateSteps::new(&rates, 50, |_| true).unwrap();
            assert!(steps.cuts().is_sorted_by(|a, b| a < b) && steps.cuts().len() < 50);
            for (place, &cut) in steps.cuts().iter().enumerate() {
                let step = place as u32 + 1;
                let set = steps.before(step);
                for level in 0..41 {
                    // A category without rows has the mean rate.
                    let rate = if rates.is_seen(level) { rates.overall(level) } else { 0.0 };
                    assert_eq!(set.contains(level), rate < cut);
                    assert_eq!(set.contains(level), steps.of_level(level) < step);
                }
                assert!(
                    (0..41).all(|level| steps.from(step).contains(level) != set.contains(level))
                );
                assert_eq!(set.contains(7000), 0.0 < cut);
                assert_eq!(steps.of_level(MISSING_CODE) < step, 0.0 < cut);
                assert_eq!(steps.find(set), Some(step));
            }
            assert_eq!(steps.find(&LevelSet::only([0, 40])), None);
            assert_eq!(steps.find(&LevelSet::all_but([])), None);
        }
    }

    #[test]
    fn no_set_is_made_twice_or_of_categories_that_need_none() {
        for seed in 0..20 {
            let rates = rates(seed);
            let steps = RateSteps::new(&rates, 50, |level| level >= 3).unwrap();
            let sets: Vec<&LevelSet> =
                (1..=steps.cuts().len() as u32).map(|step| steps.before(step)).collect();
            assert!(sets.windows(2).all(|pair| pair[0] != pair[1]));
            assert!(sets.iter().all(|set| set.listed().iter().any(|&level| level >= 3)));
            assert!(RateSteps::new(&rates, 50, |_| false).is_none());
        }
    }
}
