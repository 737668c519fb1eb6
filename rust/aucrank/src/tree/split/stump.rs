//! Stumps: a cell cut in two by a test of one feature.
//!
//! The best stump of a cell is found from its histogram and obeys the constraints: a threshold of a
//! number, with cell means for missing values, or a set of categories.

use std::cmp::{Ordering, Reverse};

use super::criterion::{CutCriterion, Merit, best_run, best_union};
use crate::data::{
    Binned, ClassSums, CodeRule, CodeTest, Columns, FeatureBins, FeatureSums, Histogram,
    LEAST_KEPT, LevelSet, RateShrinkage, RowUnits, Tally, ValueScale, direction, mix,
};

/// Best stump over the features of a histogram, each side holding at least `min_rows` rows; `None`
/// if none gains.
pub(in crate::tree) fn best_stump<T: Tally>(
    features: &[FeatureBins],
    histogram: &Histogram<T>,
    cell: ClassSums,
    min_rows: u64,
    terms: StumpTerms<'_>,
) -> Option<Stump> {
    let mut best: Option<Stump> = None;
    for (feature, sums) in histogram.features().filter(|(feature, _)| terms.may_ask(*feature)) {
        let direction = direction(terms.monotonic, feature);
        let found = match (&features[feature], terms.means) {
            (FeatureBins::Numeric { cuts }, means) => {
                let draw = terms.draw.map(|seed| seed ^ mix(feature as u64));
                let criterion = terms.criterion;
                let numbers =
                    CellThresholds { feature, cuts, cell, min_rows, direction, draw, criterion };
                match means {
                    None => numbers.best(sums.occupied()),
                    Some(means) => numbers.best_by_mean(means, sums),
                }
            }
            (bins @ FeatureBins::Categorical { .. }, scales) => {
                let (units, criterion) = (terms.level_units, terms.criterion);
                let levels = LevelSets { feature, bins, units, cell, min_rows, criterion };
                match scales {
                    None => levels.best(sums.occupied(), None),
                    Some(_) => levels.best_by_mode(sums),
                }
            }
        };
        if let Some(stump) = found
            && stump.beats(best.as_ref())
        {
            best = Some(stump);
        }
    }
    best
}

/// A stump and its effect on its cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tree) struct Stump {
    pub(in crate::tree) test: CodeTest,
    pub(in crate::tree) left: ClassSums,
    /// [`ClassSums::gain`] of the left side; positive.
    pub(in crate::tree) gain: i128,
    /// Its value by the criterion: with the full gain, except for a set of categories that was
    /// chosen on the same rows, where the gain is shrunken.
    pub(in crate::tree) merit: Merit,
}

impl Stump {
    /// Larger merit first, then the larger left side (paper 1 Remark 9). Of equal stumps the first
    /// is kept: lower feature, lower threshold, "below goes left" (DECISIONS T3).
    fn beats(&self, other: Option<&Self>) -> bool {
        let key = |stump: &Self| (stump.merit, stump.left.rows);
        other.is_none_or(|other| key(self).cmp(&key(other)) == Ordering::Greater)
    }
}

/// Constraints on stumps, apart from their gain.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tree) struct StumpTerms<'a> {
    /// Present if a missing value counts as the mean of its cell.
    pub(in crate::tree) means: Option<&'a CellMeans>,
    /// For each feature, 1 if only higher values may go left and -1 if only lower ones; or empty.
    pub(in crate::tree) monotonic: &'a [i8],
    /// Features that may be tested, ascending; `None` for all.
    pub(in crate::tree) features: Option<&'a [usize]>,
    /// The seed of the one threshold of each number that is tried; `None` to try all.
    pub(in crate::tree) draw: Option<u64>,
    /// Criterion that compares stumps.
    pub(in crate::tree) criterion: CutCriterion,
    /// Effective row weights for the shrinkage of rates of categories; `None` if rates are not
    /// shrunk.
    pub(in crate::tree) level_units: Option<&'a RowUnits>,
}

impl StumpTerms<'_> {
    /// Whether a feature may be tested.
    pub(in crate::tree) fn may_ask(self, feature: usize) -> bool {
        self.features.is_none_or(|features| features.binary_search(&feature).is_ok())
    }
}

/// The thresholds of a number by which a cell may be cut.
struct CellThresholds<'a> {
    feature: usize,
    cuts: &'a [f64],
    cell: ClassSums,
    min_rows: u64,
    /// As in [`StumpTerms::monotonic`].
    ///
    /// [`StumpTerms::monotonic`]: StumpTerms::monotonic
    direction: i8,
    /// The seed of the only threshold that is tried; `None` to try all.
    draw: Option<u64>,
    criterion: CutCriterion,
}

impl CellThresholds<'_> {
    /// The best stump on known values below or from a threshold on; missing ones go to the side
    /// where they gain, or to the larger side if there are none to learn from (DECISIONS T18).
    /// Their gain in AUC does not depend on the threshold; by an impurity it does, and both sides
    /// are tried.
    ///
    /// `bins` are the occupied codes.
    fn best(&self, bins: impl Iterator<Item = (u32, ClassSums)> + Clone) -> Option<Stump> {
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
                // A split without gain is never taken, even if a later one would gain (DECISIONS
                // T4).
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

    /// The same if missing values count as the mean of the known ones: they have its place in the
    /// order of the values, and go to its side.
    fn best_by_mean<T: Tally>(&self, means: &CellMeans, sums: FeatureSums<'_, T>) -> Option<Stump> {
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
        // Of ties the lower threshold.
        stumps.reduce(|best, other| {
            let is_equal = !best.beats(Some(&other)) && bound(&other) < bound(&best);
            if other.beats(Some(&best)) || is_equal { other } else { best }
        })
    }
}

/// A number below `n`, drawn by a seed.
fn below_of(seed: u64, n: u32) -> u32 {
    ((u128::from(mix(seed)) * u128::from(n)) >> 64) as u32
}

/// The bound at which a stump cuts the codes of a number.
fn bound(stump: &Stump) -> u32 {
    match stump.test.rule {
        CodeRule::Below(bound) | CodeRule::AtLeast(bound) => bound,
        CodeRule::Levels(_) => unreachable!("levels have no order to cut"),
    }
}

/// A gap of empty bins allows several cuts; the one nearest to its middle is taken, like a midpoint
/// between values.
pub(in crate::tree) fn middle_of((first, last): (u32, u32), cuts: &[f64]) -> u32 {
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

/// Data that determine the mean of a cell and its place among the values of the cell.
#[derive(Debug, Clone)]
pub(in crate::tree) struct CellMeans {
    /// The unit in which each feature's values are summed.
    pub(in crate::tree) scales: Vec<ValueScale>,
    /// For each feature with missing values, the least and the greatest value of each bin.
    ranges: Vec<Vec<(f64, f64)>>,
}

impl CellMeans {
    /// From some rows; `has_missing` marks the features with missing values.
    pub(in crate::tree) fn new(
        columns: &Columns<'_>,
        binned: &Binned,
        rows: &[u32],
        has_missing: &[bool],
    ) -> Self {
        Self {
            scales: ValueScale::of(columns, rows),
            ranges: binned.value_ranges(columns, rows, has_missing),
        }
    }

    /// The codes that missing values may have if they count as `mean`, whose bin is `code`.
    ///
    /// There is one code if the cell has values on both sides of the mean in that bin, or none in
    /// it. If the mean lies between the values of two successive bins of the cell, a cut may fall
    /// on either side of it: missing values may have the code of either bin, the upper one first.
    fn codes_of_missing(
        &self,
        feature: usize,
        bins: &[(u32, ClassSums)],
        mean: f64,
        code: u32,
    ) -> impl Iterator<Item = u32> {
        let neighbour =
            bins.binary_search_by_key(&code, |(code, _)| *code).ok().and_then(|place| {
                let (low, high) = self.ranges[feature][code as usize];
                let neighbour = if mean < low {
                    place.checked_sub(1)?
                } else if mean > high {
                    place + 1
                } else {
                    return None;
                };
                bins.get(neighbour).map(|(neighbour, _)| *neighbour)
            });
        let upper = neighbour.map_or(code, |neighbour| neighbour.max(code));
        let lower = neighbour.map(|neighbour| neighbour.min(code));
        std::iter::once(upper).chain(lower)
    }
}

/// The occupied bins of known values, and the sums of the missing ones.
fn known_and_missing<T: Tally>(
    sums: FeatureSums<'_, T>,
    missing_code: u32,
) -> (Vec<(u32, ClassSums)>, ClassSums) {
    let mut bins: Vec<(u32, ClassSums)> = sums.occupied().collect();
    let missing = bins.pop_if(|(code, _)| *code == missing_code);
    (bins, missing.map_or(ClassSums::default(), |(_, sums)| sums))
}

fn add_to_bin(bins: &mut Vec<(u32, ClassSums)>, code: u32, more: ClassSums) {
    if more.rows == 0 {
        return;
    }
    match bins.binary_search_by_key(&code, |(code, _)| *code) {
        Ok(place) => bins[place].1 += more,
        Err(place) => bins.insert(place, (code, more)),
    }
}

/// The test that sends the levels of some codes, in ascending order, to their sides, and missing
/// values and levels without a code to that of missing ones.
pub(in crate::tree) fn levels_test(
    feature: usize,
    bins: &FeatureBins,
    codes: &[u32],
    is_left: &[bool],
    missing_left: bool,
) -> CodeTest {
    let n_levels = bins.n_bins() as u32;
    let known = || codes.iter().zip(is_left).filter(|(code, _)| **code < n_levels);
    let asks_missing = known().all(|(_, left)| *left != missing_left)
        && codes.contains(&n_levels)
        && !bins.pools_levels();
    let rule = if asks_missing {
        // All known levels on one side: the stump tests whether the value is known.
        if missing_left { CodeRule::AtLeast(n_levels) } else { CodeRule::Below(n_levels) }
    } else {
        // Levels without rows in the cell go with the missing values, as rare ones do.
        let others = known().filter(|(_, left)| **left != missing_left);
        let others = others.map(|(code, _)| *code);
        let levels = if missing_left { LevelSet::all_but } else { LevelSet::only };
        CodeRule::Levels(levels(others))
    };
    CodeTest { feature, rule, missing_left }
}

/// Chooses the set of levels of a feature that goes left.
struct LevelSets<'a> {
    feature: usize,
    bins: &'a FeatureBins,
    units: Option<&'a RowUnits>,
    cell: ClassSums,
    min_rows: u64,
    criterion: CutCriterion,
}

impl LevelSets<'_> {
    /// The best union of levels (DECISIONS T24), by shrunken rates (G11). A level without rows in
    /// this cell counts as missing.
    ///
    /// `bins` are the occupied codes; missing values go with the level `like`, if there is one.
    fn best(
        &self,
        bins: impl Iterator<Item = (u32, ClassSums)>,
        like: Option<u32>,
    ) -> Option<Stump> {
        let Self { feature, cell, .. } = *self;
        let n_levels = self.bins.n_bins() as u32;
        let (codes, parts): (Vec<u32>, Vec<ClassSums>) = bins.unzip();
        let (is_left, left, merit) = self.best_union(&parts)?;
        let missing_is_left = match codes.binary_search(&like.unwrap_or(n_levels)) {
            Ok(place) => is_left[place],
            Err(_) => 2 * left.rows >= cell.rows,
        };
        let test = levels_test(feature, self.bins, &codes, &is_left, missing_is_left);
        Some(Stump { test, left, gain: cell.gain(left), merit })
    }

    /// The union of levels of the largest merit: a mark for each level that goes left, their sums,
    /// and the merit.
    fn best_union(&self, parts: &[ClassSums]) -> Option<(Vec<bool>, ClassSums, Merit)> {
        let Self { cell, min_rows, criterion, .. } = *self;
        let masses = parts.iter().map(|&part| part.into());
        let shrinkage = match self.units {
            Some(units) => RateShrinkage::of(masses, units)?,
            None => RateShrinkage::none(cell.into()),
        };
        if shrinkage.is_none() {
            let (is_left, left) = best_union(cell, parts, min_rows, criterion)?;
            return Some((is_left, left, criterion.merit(cell, left)));
        }
        let excess: Vec<f64> = parts.iter().map(|&part| shrinkage.excess(part.into())).collect();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by(|&a, &b| excess[b].total_cmp(&excess[a]));
        let (is_left, left) = best_run(cell, parts, &order, min_rows, criterion)?;
        let mine = parts.iter().zip(&is_left).filter(|(_, is_left)| **is_left);
        let kept_gain = mine.map(|(&part, _)| shrinkage.kept(part.into()) * cell.gain(part) as f64);
        let kept_gain = kept_gain.sum::<f64>();
        // Neither the nodes below nor the values of the leaves are shrunken for this choice, so a
        // set whose gain is mostly chance is not used.
        let is_mostly_law = kept_gain > 0.0 && kept_gain >= LEAST_KEPT * cell.gain(left) as f64;
        is_mostly_law.then(|| (is_left, left, criterion.shrunken_merit(cell, left, kept_gain)))
    }

    /// The same if missing values count as the level of largest class weight, the first of ties.
    fn best_by_mode<T: Tally>(&self, sums: FeatureSums<'_, T>) -> Option<Stump> {
        let (mut bins, missing) = known_and_missing(sums, self.bins.n_bins() as u32);
        let weight = |(code, sums): &(u32, ClassSums)| (sums.pos + sums.neg, Reverse(*code));
        let mode = bins.iter().max_by_key(|bin| weight(bin))?.0;
        add_to_bin(&mut bins, mode, missing);
        self.best(bins.into_iter(), Some(mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::data::{
        Binned, BinningParams, CodeRule, Column, Columns, CountedRows, HistogramRequest, Labels,
        LevelRates, LevelSet, MISSING_CODE, MemorySource, SumSource,
    };
    use crate::tree::split::criterion::CutCriterion;

    const MISSING: f64 = f64::NAN;

    fn stump_of(
        columns: &Columns<'_>,
        positive: &[bool],
        min_rows: u64,
    ) -> (Option<Stump>, Binned) {
        stump_by(columns, positive, min_rows, CutCriterion::Youden)
    }

    fn stump_by(
        columns: &Columns<'_>,
        positive: &[bool],
        min_rows: u64,
        criterion: CutCriterion,
    ) -> (Option<Stump>, Binned) {
        let labels = Labels::new(positive, None).unwrap();
        let interrupt = Interrupt::default();
        let raw = BinningParams { level_rates: LevelRates::Raw, ..BinningParams::default() };
        let binned = Binned::new(columns, &labels, raw, &interrupt).unwrap();
        let source = MemorySource::new(&binned, CountedRows(positive), labels.rows(), &interrupt);
        let histogram = source.histograms(&[HistogramRequest::all(0)]).unwrap().remove(0);
        let terms = StumpTerms { criterion, ..StumpTerms::default() };
        (best_stump(binned.features(), &histogram, labels.total(), min_rows, terms), binned)
    }

    /// Gain of the best stump on numbers, by trying every threshold, side and place of the missing
    /// values.
    fn best_gain_by_trial(values: &[f64], positive: &[bool]) -> i128 {
        let total = Labels::new(positive, None).unwrap().total();
        let mut best = 0;
        for &threshold in values.iter().chain(&[f64::INFINITY]) {
            for (low_left, missing_left) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let goes_left = |value: f64| {
                    let known_left = (value < threshold) == (low_left == 1);
                    if value.is_nan() { missing_left == 1 } else { known_left }
                };
                let part = (0..values.len())
                    .filter(|&row| goes_left(values[row]))
                    .map(|row| ClassSums {
                        pos: positive[row].into(),
                        neg: (!positive[row]).into(),
                        rows: 1,
                    })
                    .sum();
                best = best.max(total.gain(part));
            }
        }
        best
    }

    #[test]
    fn no_threshold_side_or_place_of_missing_values_gains_more() {
        let mut state = 9_u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        for _ in 0..400 {
            let n_rows = 3 + draw(8) as usize;
            let values: Vec<f64> =
                (0..n_rows).map(|_| if draw(4) == 0 { MISSING } else { draw(4) as f64 }).collect();
            let mut positive: Vec<bool> = (0..n_rows).map(|_| draw(2) == 0).collect();
            (positive[0], positive[1]) = (true, false);
            let columns = Columns::from_row_major(&values, 1).unwrap();
            let (stump, binned) = stump_of(&columns, &positive, 1);
            let expected = best_gain_by_trial(&values, &positive);
            assert_eq!(stump.as_ref().map_or(0, |stump| stump.gain), expected);
            // The gain is that of the rows that the stump sends left.
            if let Some(stump) = stump {
                let labels = Labels::new(&positive, None).unwrap();
                let missing = binned.features()[0].n_bins() as u32;
                let left = (0..n_rows)
                    .filter(|&row| stump.test.goes_left(binned.code(row, 0), missing))
                    .map(|row| labels.sums(row))
                    .sum();
                assert_eq!(stump.left, left);
            }
        }
    }

    #[test]
    fn no_threshold_side_or_place_of_missing_values_lowers_an_impurity_more() {
        let gini = |p: f64| 2.0 * p * (1.0 - p);
        let of_class = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let entropy = |p: f64| of_class(p) + of_class(1.0 - p);
        let impurities: [(CutCriterion, &dyn Fn(f64) -> f64); 2] =
            [(CutCriterion::Gini, &gini), (CutCriterion::LogLoss, &entropy)];
        let mut n_splits = 0;
        for seed in 0..400_u64 {
            let draw = |row: u64, what: u64, n: u64| mix(seed ^ mix(row ^ what << 32)) % n;
            let n_rows = 3 + draw(0, 1, 9);
            let value = |row| if draw(row, 2, 4) == 0 { MISSING } else { draw(row, 3, 5) as f64 };
            let values: Vec<f64> = (0..n_rows).map(value).collect();
            let mut positive: Vec<bool> = (0..n_rows).map(|row| draw(row, 4, 2) == 0).collect();
            (positive[0], positive[1]) = (true, false);
            let min_rows = 1 + draw(0, 5, 2);
            let columns = Columns::from_row_major(&values, 1).unwrap();
            let total = Labels::new(&positive, None).unwrap().total();
            let weighed = |impurity: &dyn Fn(f64) -> f64, sums: ClassSums| {
                if sums.rows == 0 { 0.0 } else { sums.rows as f64 * impurity(sums.eta()) }
            };
            for (criterion, impurity) in impurities {
                let decrease = |left: ClassSums| {
                    let of_sides = weighed(impurity, left) + weighed(impurity, total - left);
                    weighed(impurity, total) - of_sides
                };
                let mut most = 0.0_f64;
                for &threshold in values.iter().chain(&[f64::INFINITY]) {
                    for missing_low in [true, false] {
                        let is_low = |&row: &usize| {
                            let value = values[row];
                            if value.is_nan() { missing_low } else { value < threshold }
                        };
                        let row = |row: usize| ClassSums::of_row(positive[row], 1, 1);
                        let low = (0..n_rows as usize).filter(is_low).map(row);
                        let low: ClassSums = low.sum();
                        if low.rows.min(n_rows - low.rows) >= min_rows {
                            most = most.max(decrease(low));
                        }
                    }
                }
                let (stump, binned) = stump_by(&columns, &positive, min_rows, criterion);
                let found = stump.as_ref().map_or(0.0, |stump| decrease(stump.left));
                assert!((found - most).abs() < 1e-12, "{criterion:?} {values:?} {positive:?}");
                let Some(stump) = stump else { continue };
                n_splits += 1;
                let missing = binned.features()[0].n_bins() as u32;
                let goes_left = |&row: &usize| stump.test.goes_left(binned.code(row, 0), missing);
                let row = |row: usize| ClassSums::of_row(positive[row], 1, 1);
                let left: ClassSums = (0..n_rows as usize).filter(goes_left).map(row).sum();
                assert_eq!((stump.left, stump.gain), (left, total.gain(left)));
                assert!(stump.gain > 0);
            }
        }
        assert!(n_splits > 600, "{n_splits}");
    }

    /// Gain of the best stump on numbers that are all known, by trying every threshold and side.
    fn best_gain_of_filled(filled: &[f64], positive: &[bool], min_rows: u64) -> i128 {
        let total = Labels::new(positive, None).unwrap().total();
        let mut best = 0;
        for &threshold in filled {
            for low_left in [true, false] {
                let part: ClassSums = (0..filled.len())
                    .filter(|&row| (filled[row] < threshold) == low_left)
                    .map(|row| ClassSums {
                        pos: positive[row].into(),
                        neg: (!positive[row]).into(),
                        rows: 1,
                    })
                    .sum();
                if part.rows >= min_rows && total.rows - part.rows >= min_rows {
                    best = best.max(total.gain(part));
                }
            }
        }
        best
    }

    #[test]
    fn no_threshold_gains_more_on_values_that_are_filled_with_the_mean() {
        let (mut n_inside, interrupt) = (0, Interrupt::default());
        for seed in 0..600_u64 {
            let draw = |row: usize, what: u64, below: u64| {
                mix(seed ^ mix(row as u64 ^ what << 32)) % below
            };
            let n_rows = 4 + draw(0, 1, 20) as usize;
            let min_rows = 1 + draw(0, 2, 3);
            // Whole numbers, so that their sum is exact in any order.
            let values: Vec<f64> = (0..n_rows)
                .map(|row| if draw(row, 3, 4) == 0 { MISSING } else { draw(row, 4, 12) as f64 })
                .collect();
            let mut positive: Vec<bool> = (0..n_rows).map(|row| draw(row, 5, 2) == 0).collect();
            (positive[0], positive[1]) = (true, false);
            let known = || values.iter().filter(|value| !value.is_nan());
            let mean = known().sum::<f64>() / known().count() as f64;
            let fill = |value: &f64| if value.is_nan() { mean } else { *value };
            let filled: Vec<f64> = values.iter().map(fill).collect();

            let columns = Columns::from_row_major(&values, 1).unwrap();
            let labels = Labels::new(&positive, None).unwrap();
            let params = BinningParams { max_bins: None, ..BinningParams::default() };
            let binned = Binned::new(&columns, &labels, params, &interrupt).unwrap();
            let (rows, has_missing) = (labels.rows(), binned.has_missing(&labels.rows()));
            let means = CellMeans::new(&columns, &binned, &rows, &has_missing);
            let source = MemorySource::new(&binned, CountedRows(&positive), rows, &interrupt)
                .with_values(&columns, &means.scales);
            let histogram = source.histograms(&[HistogramRequest::all(0)]).unwrap().remove(0);
            let terms = StumpTerms { means: Some(&means), ..StumpTerms::default() };
            let total = labels.total();
            let stump = best_stump(binned.features(), &histogram, total, min_rows, terms);
            let expected = best_gain_of_filled(&filled, &positive, min_rows);
            assert_eq!(stump.as_ref().map_or(0, |stump| stump.gain), expected, "{values:?}");
            // The gain is that of the rows that the stump sends left, by their codes and by their
            // values, and missing values go with the known values on one side of the mean.
            let Some(stump) = stump else { continue };
            let missing = binned.features()[0].n_bins() as u32;
            let raw = crate::tree::Test::of_codes(&stump.test, &binned.features()[0]);
            let is_left: Vec<bool> =
                (0..n_rows).map(|row| stump.test.goes_left(binned.code(row, 0), missing)).collect();
            assert!((0..n_rows).all(|row| raw.goes_left(&values[row..=row]) == is_left[row]));
            let left = (0..n_rows).filter(|&row| is_left[row]).map(|row| labels.sums(row)).sum();
            assert_eq!(stump.left, left);
            for (&a, &a_left) in filled.iter().zip(&is_left) {
                for (&b, &b_left) in filled.iter().zip(&is_left) {
                    let same_order = match stump.test.rule {
                        CodeRule::Below(_) => a_left || !b_left,
                        _ => !a_left || b_left,
                    };
                    assert!(a > b || same_order, "{values:?}");
                }
            }
            n_inside += u32::from(values.iter().any(|value| value.is_nan()));
        }
        assert!(n_inside > 200);
    }

    #[test]
    fn equal_gains_go_to_the_larger_left_side_then_to_the_first_feature() {
        // Two equal features: 2 positives below 2; one more and a negative below 3.
        let values = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0];
        let positive = [true, true, true, false, false, false];
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let (stump, _) = stump_of(&columns, &positive, 1);
        let stump = stump.unwrap();
        assert_eq!((stump.gain, stump.test.feature), (6, 0));
        assert_eq!(stump.test.rule, CodeRule::Below(2));
    }

    #[test]
    fn levels_are_split_by_eta_and_unseen_ones_go_with_missing_values() {
        let codes = [0, 0, 1, 1, 2, 2, MISSING_CODE, MISSING_CODE];
        let positive = [true, false, true, true, false, false, true, true];
        let column = Column::Codes { codes: &codes, n_levels: 4 };
        let columns = Columns::new(vec![column], 8).unwrap();
        let (stump, _) = stump_of(&columns, &positive, 1);
        let stump = stump.unwrap();
        assert_eq!(stump.left, ClassSums { pos: 4, neg: 0, rows: 4 });
        assert_eq!(stump.test.rule, CodeRule::Levels(LevelSet::all_but([0, 2])));
        assert!(stump.test.missing_left);
    }

    #[test]
    fn the_minimum_size_of_the_sides_is_kept() {
        let values: Vec<f64> = (0..8).map(f64::from).collect();
        let positive = [true, false, false, false, false, false, false, false];
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let (stump, _) = stump_of(&columns, &positive, 3);
        assert_eq!(stump.unwrap().test.rule, CodeRule::Below(3));
        assert_eq!(stump_of(&columns, &positive, 5).0, None);
    }

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
            let numbers = CellThresholds {
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
        // Bounds 2 to 5 are drawn equally often. From 3 on the sides gain no more than the test
        // whether the value is known, which is always tried: bound 7.
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
