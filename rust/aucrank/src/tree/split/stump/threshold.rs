//! The best threshold of a number, of all or of one that is drawn.

use super::candidate::Stump;
use super::cell_means::{CellMeans, add_to_bin, known_and_missing};
use crate::data::{ClassSums, CodeRule, CodeTest, FeatureSums, Tally, mix};
use crate::tree::split::criterion::CutCriterion;

/// The thresholds of a number by which a cell may be cut.
pub(super) struct Thresholds<'a> {
    pub(super) feature: usize,
    pub(super) cuts: &'a [f64],
    pub(super) cell: ClassSums,
    pub(super) min_rows: u64,
    /// As in [`StumpTerms::monotonic`].
    ///
    /// [`StumpTerms::monotonic`]: super::candidate::StumpTerms::monotonic
    pub(super) direction: i8,
    /// The seed of the only threshold that is tried; `None` to try all.
    pub(super) draw: Option<u64>,
    pub(super) criterion: CutCriterion,
}

impl Thresholds<'_> {
    /// Known values below or from a threshold on; missing ones on the side where they gain, or with
    /// the larger side where there are none to learn from (DECISIONS T18). What they gain in AUC does not
    /// depend on the threshold; by an impurity it does, and both sides are tried.
    ///
    /// `bins` are the occupied codes.
    pub(super) fn best(
        &self,
        bins: impl Iterator<Item = (u32, ClassSums)> + Clone,
    ) -> Option<Stump> {
        let Self { feature, cuts, cell, min_rows, direction, criterion, .. } = *self;
        let missing_code = cuts.len() as u32 + 1;
        let last = bins.clone().last().filter(|(code, _)| *code == missing_code);
        let missing = last.map_or(ClassSums::default(), |(_, sums)| sums);
        let missing_gains = missing.rows > 0 && cell.gain(missing) >= 0;
        let tries_both = missing.rows > 0 && criterion != CutCriterion::Youden;
        let sides_of_missing = [Some(missing_gains), tries_both.then_some(!missing_gains)];
        let drawn = self.draw.map(|seed| {
            let mut known = bins.clone().map(|(code, _)| code).filter(|&code| code < missing_code);
            let first = known.next().unwrap_or(0);
            first + 1 + below_of(seed, known.last().map_or(1, |last| last - first))
        });

        let mut best: Option<(Stump, (u32, u32))> = None;
        let mut consider = |known_left: ClassSums, rule: fn(u32) -> CodeRule, gap: (u32, u32)| {
            for goes_left in sides_of_missing.into_iter().flatten() {
                let left = if goes_left { known_left + missing } else { known_left };
                let gain = cell.gain(left);
                if gain <= 0 || left.rows < min_rows || cell.rows - left.rows < min_rows {
                    continue;
                }
                let missing_left =
                    if missing.rows > 0 { goes_left } else { 2 * left.rows >= cell.rows };
                let test = CodeTest { feature, rule: rule(gap.0), missing_left };
                let stump = Stump { test, left, gain, merit: criterion.merit(cell, left) };
                if stump.beats(best.as_ref().map(|(best, _)| best)) {
                    best = Some((stump, gap));
                }
            }
        };

        let mut below = ClassSums::default();
        let mut previous = None;
        for (code, bin) in bins {
            // The missing code comes last: all known values then lie below it.
            if let Some(previous) = previous {
                if code == missing_code {
                    let beyond = (missing_code, missing_code);
                    consider(below, CodeRule::Below, beyond);
                    consider(ClassSums::default(), CodeRule::AtLeast, beyond);
                    break;
                }
                let gap = match drawn {
                    None => Some((previous + 1, code)),
                    Some(bound) => (previous < bound && bound <= code).then_some((bound, bound)),
                };
                if let Some(gap) = gap {
                    if direction <= 0 {
                        consider(below, CodeRule::Below, gap);
                    }
                    if direction >= 0 {
                        consider(cell - missing - below, CodeRule::AtLeast, gap);
                    }
                }
            }
            below += bin;
            previous = Some(code);
        }
        best.map(|(mut stump, gap)| {
            match &mut stump.test.rule {
                CodeRule::Below(bound) | CodeRule::AtLeast(bound) => *bound = middle_of(gap, cuts),
                CodeRule::Levels(_) => {}
            }
            stump
        })
    }

    /// The same where missing values count as the mean of the known ones: they have its place in the
    /// order of the values, and go where its answer leads.
    pub(super) fn best_by_mean<T: Tally>(
        &self,
        means: &CellMeans,
        sums: FeatureSums<'_, T>,
    ) -> Option<Stump> {
        let Self { feature, cuts, .. } = *self;
        let missing_code = cuts.len() as u32 + 1;
        let (bins, missing) = known_and_missing(sums, missing_code);
        let known: ClassSums = bins.iter().map(|(_, sums)| *sums).sum();
        if bins.len() < 2 {
            return None;
        }
        let sum = sums.value_sum().expect("the source sums values where means are wanted");
        let mean = means.scales[feature].mean(sum, known.pos + known.neg);
        let mean_code = cuts.partition_point(|&cut| cut <= mean) as u32;
        let stump_with = |code: u32| {
            let mut bins = bins.clone();
            add_to_bin(&mut bins, code, missing);
            let mut stump = self.best(bins.into_iter())?;
            stump.test.missing_left = stump.test.goes_left(code, missing_code);
            Some(stump)
        };
        if missing.rows == 0 {
            return stump_with(mean_code);
        }
        let stumps = means.codes_of_missing(feature, &bins, mean, mean_code).filter_map(stump_with);
        // Of equal ones the lower threshold.
        stumps.reduce(|best, other| {
            let is_equal = !best.beats(Some(&other)) && bound(&other) < bound(&best);
            if other.beats(Some(&best)) || is_equal { other } else { best }
        })
    }
}

/// A number below `n`, by a seed.
fn below_of(seed: u64, n: u32) -> u32 {
    ((u128::from(mix(seed)) * u128::from(n)) >> 64) as u32
}

/// Where a stump cuts the codes of a number.
fn bound(stump: &Stump) -> u32 {
    match stump.test.rule {
        CodeRule::Below(bound) | CodeRule::AtLeast(bound) => bound,
        CodeRule::Levels(_) => unreachable!("levels have no order to cut"),
    }
}

/// A gap of empty bins leaves a choice of cuts; the one nearest to its middle is taken, as for a
/// midpoint between values.
fn middle_of((first, last): (u32, u32), cuts: &[f64]) -> u32 {
    if first == last {
        return first;
    }
    // Bound b stands for cut b - 1.
    let cuts = &cuts[first as usize - 1..last as usize];
    let (low, high) = (cuts[0], cuts[cuts.len() - 1]);
    let middle = low / 2.0 + high / 2.0;
    let above = cuts.partition_point(|&cut| cut < middle).min(cuts.len() - 1);
    let below = above.saturating_sub(1);
    let nearest = if middle - cuts[below] <= cuts[above] - middle { below } else { above };
    first + nearest as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(positive: bool) -> ClassSums {
        ClassSums { pos: positive.into(), neg: (!positive).into(), rows: 1 }
    }

    #[test]
    fn a_drawn_threshold_lies_between_the_values_and_each_is_drawn() {
        let cuts = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5];
        // Codes 1, 2 and 5 of seven bins, and missing values.
        let bins = [(1, row(false)), (2, row(true)), (5, row(true)), (7, row(false))];
        let cell = bins.iter().map(|(_, sums)| *sums).sum();
        let mut met = [0; 8];
        for seed in 0..4000 {
            let numbers = Thresholds {
                feature: 0,
                cuts: &cuts,
                cell,
                min_rows: 1,
                direction: 0,
                draw: Some(mix(seed)),
                criterion: CutCriterion::Youden,
            };
            let stump = numbers.best(bins.into_iter()).unwrap();
            met[bound(&stump) as usize] += 1;
            let left = |code: &u32| stump.test.goes_left(*code, 7);
            let expected = bins.iter().filter(|(code, _)| left(code)).map(|(_, sums)| *sums).sum();
            assert_eq!((stump.left, stump.gain), (expected, cell.gain(expected)));
        }
        // Bounds 2 to 5 are drawn alike. From 3 on the sides are worth no more than whether the
        // value is known, which is always tried: bound 7.
        assert_eq!(met[..2], [0, 0]);
        assert_eq!(met.iter().sum::<i32>(), 4000);
        assert!((900..1100).contains(&met[2]), "{met:?}");
        let rest = [met[3], met[4], met[5], met[7]];
        assert_eq!(rest.iter().sum::<i32>(), 4000 - met[2]);
    }

    #[test]
    fn a_gap_in_the_cell_is_cut_at_its_middle() {
        let cuts = [0.5, 1.5, 2.5, 9.0];
        assert_eq!(middle_of((2, 2), &cuts), 2);
        assert_eq!(middle_of((1, 3), &cuts), 2);
        // The middle of 0.5 and 9.0 is 4.75, and 2.5 is the nearest cut.
        assert_eq!(middle_of((1, 4), &cuts), 3);
    }
}
