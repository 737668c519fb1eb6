//! The best stump of a cell, from its histogram.

use super::candidate::{Stump, StumpTerms};
use super::level_sets::LevelSets;
use super::threshold::Thresholds;
use crate::data::{ClassSums, FeatureBins, Histogram, Tally, direction, mix};

/// Best stump over the features of a histogram, each side holding at least `min_rows` rows; `None` if none gains.
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
                    Thresholds { feature, cuts, cell, min_rows, direction, draw, criterion };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::data::{
        Binned, BinningParams, CodeRule, Column, Columns, CountedRows, HistogramRequest, Labels,
        LevelRates, LevelSet, MISSING_CODE, MemorySource, SumSource,
    };
    use crate::tree::split::criterion::CutCriterion;
    use crate::tree::split::stump::CellMeans;

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

    /// Gain of the best stump on numbers, by trying every threshold, side and place of the missing.
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
    fn no_threshold_side_or_place_of_the_missing_gains_more() {
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
            // The stump does to the rows what it says.
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
    fn no_threshold_side_or_place_of_the_missing_lowers_an_impurity_more() {
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
            // The stump does to the rows what it says, by their codes and by their values, and what is
            // missing goes with the known values on one side of the mean.
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
        // Two equal features; below 2 lie 2 positives, below 3 one more and a negative.
        let values = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0];
        let positive = [true, true, true, false, false, false];
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let (stump, _) = stump_of(&columns, &positive, 1);
        let stump = stump.unwrap();
        assert_eq!((stump.gain, stump.test.feature), (6, 0));
        assert_eq!(stump.test.rule, CodeRule::Below(2));
    }

    #[test]
    fn levels_are_split_by_eta_and_the_unseen_go_with_the_missing() {
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
    fn a_least_size_of_the_sides_is_kept() {
        let values: Vec<f64> = (0..8).map(f64::from).collect();
        let positive = [true, false, false, false, false, false, false, false];
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let (stump, _) = stump_of(&columns, &positive, 3);
        assert_eq!(stump.unwrap().test.rule, CodeRule::Below(3));
        assert_eq!(stump_of(&columns, &positive, 5).0, None);
    }
}
