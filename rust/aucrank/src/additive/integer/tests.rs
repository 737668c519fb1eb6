//! Searched scores against all scores of small problems, and against plain definitions.

use std::ops::Range;

use super::candidates::{CandidateParams, candidate_bins};
use super::rows::BinnedRows;
use super::search::PointSearch;
use super::shifts::PairsByShift;
use super::*;
use crate::additive::HighPoints;
use crate::data::{Column, mix};

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0) % bound
    }

    fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }
}

/// A small problem: numbers of few values, with missing ones, and a category.
struct Problem {
    numbers: Vec<Vec<f64>>,
    codes: Vec<u32>,
    positive: Vec<bool>,
    weights: Option<Vec<f64>>,
    params: IntegerScoreParams,
}

impl Problem {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed << 20);
        let n_rows = random.within(20..60);
        let n_numbers = random.within(1..4);
        let has_missing = random.below(2) == 0;
        let number = |_| {
            let n_values = random.within(2..4);
            let value = |_| match random.below(if has_missing { 8 } else { 7 }) {
                7 => f64::NAN,
                _ => random.below(n_values) as f64,
            };
            (0..n_rows).map(value).collect()
        };
        let numbers: Vec<Vec<f64>> = (0..n_numbers).map(number).collect();
        let codes: Vec<u32> = (0..n_rows).map(|_| random.below(3) as u32).collect();
        let label = |row: usize| {
            let known = |number: &Vec<f64>| if number[row].is_nan() { 1.0 } else { number[row] };
            let sum: f64 = numbers.iter().map(known).sum();
            random.below(10) < 2 + 2 * sum as u64 + 2 * u64::from(codes[row] == 1)
        };
        let mut positive: Vec<bool> = (0..n_rows as usize).map(label).collect();
        (positive[0], positive[1]) = (true, false);
        let is_weighted = random.below(3) == 0;
        let weights =
            is_weighted.then(|| (0..n_rows).map(|_| random.within(1..4) as f64).collect());
        let mut monotonic: Vec<i8> =
            numbers.iter().map(|_| random.below(4) as i8 % 3 - 1).map(|at| at.min(0)).collect();
        monotonic.push(0);
        let params = IntegerScoreParams {
            max_features: random.within(1..3) as usize,
            max_points: random.within(1..4) as u32,
            max_lines: random.within(2..4) as usize,
            max_questions: (random.below(3) == 0).then(|| random.within(2..4) as usize),
            min_gain: [0.0, 0.1, 0.3][random.below(3) as usize],
            min_bin_share: [0.0, 0.15][random.below(2) as usize],
            high_points: [HighPoints::Positive, HighPoints::Negative][random.below(2) as usize],
            monotonic,
            ..IntegerScoreParams::default()
        };
        Self { numbers, codes, positive, weights, params }
    }

    fn columns(&self) -> Columns<'_> {
        let mut columns: Vec<Column<'_>> =
            self.numbers.iter().map(|values| values.as_slice().into()).collect();
        columns.push(Column::Codes { codes: &self.codes, n_levels: 3 });
        Columns::new(columns, self.codes.len()).unwrap()
    }

    fn labels(&self) -> Labels<'_> {
        Labels::new(&self.positive, self.weights.as_deref()).unwrap()
    }

    fn bins(&self) -> Vec<Bins> {
        let params = CandidateParams { max_cuts: 16, round_cuts: true };
        candidate_bins(&self.columns(), &self.labels(), &[], params).unwrap()
    }

    fn rows(&self) -> BinnedRows {
        let direction = (self.params.monotonic.as_slice(), self.params.high_points.sign());
        let (columns, labels) = (self.columns(), self.labels());
        let total = labels.total();
        let least_weight = self.params.min_bin_share * (total.pos + total.neg) as f64;
        BinnedRows::new(&columns, &labels, &self.bins(), direction, least_weight).unwrap()
    }
}

/// The AUC of rows by their sums: pair by pair.
fn plain_auc(rows: &BinnedRows, sums: &[i32]) -> f64 {
    let (mut won, mut all) = (0.0, 0.0);
    for (a, [_, positive]) in sums.iter().zip(&rows.weights) {
        for (b, [negative, _]) in sums.iter().zip(&rows.weights) {
            let pairs = *positive as f64 * *negative as f64;
            all += pairs;
            won += pairs * if a > b { 1.0 } else { f64::from(u8::from(a == b)) / 2.0 };
        }
    }
    won / all
}

/// All points of a feature within the limits, each with its number of questions.
fn all_points(
    feature: &CandidateFeature,
    params: &IntegerScoreParams,
    least_weight: f64,
) -> Vec<(Vec<i32>, usize)> {
    let most = params.max_points as i32;
    let n_bins = feature.n_bins();
    let mut found = Vec::new();
    for number in 0..(most as u64 + 1).pow(n_bins as u32) {
        let digit = |bin: usize| (number / (most as u64 + 1).pow(bin as u32)) % (most as u64 + 1);
        let points: Vec<i32> = (0..n_bins).map(|bin| digit(bin) as i32).collect();
        let occupied = (0..n_bins).filter(|&bin| feature.sizes[bin] > 0);
        if occupied.clone().map(|bin| points[bin]).min() != Some(0)
            || (0..n_bins).any(|bin| feature.sizes[bin] == 0 && points[bin] > 0)
        {
            continue;
        }
        // Lines: runs of equal points, each with its weight.
        let mut lines: Vec<(i32, u64)> = Vec::new();
        for (&at, &size) in points.iter().zip(&feature.sizes).take(feature.n_ordered) {
            match lines.last_mut() {
                Some((of_line, weight)) if *of_line == at => *weight += size,
                _ => lines.push((at, size)),
            }
        }
        let is_monotone = lines.windows(2).all(|pair| match feature.direction {
            0 => true,
            1 => pair[0].0 < pair[1].0,
            _ => pair[0].0 > pair[1].0,
        });
        let is_small = |&(_, weight): &(i32, u64)| (weight as f64) < least_weight;
        if !is_monotone
            || lines.len() > params.max_lines
            || (lines.len() > 1 && lines.iter().any(is_small))
        {
            continue;
        }
        let apart = occupied.filter(|&bin| bin >= feature.n_ordered);
        let own = apart.filter(|&bin| lines.iter().all(|line| line.0 != points[bin])).count();
        found.push((points, lines.len() - 1 + own));
    }
    found
}

/// The largest AUC less the price of questions of all scores.
fn best_of_all(rows: &BinnedRows, params: &IntegerScoreParams, least_weight: f64) -> f64 {
    let price = params.min_gain * rows.unit_of_gain;
    let of_features: Vec<Vec<(Vec<i32>, usize)>> =
        rows.features.iter().map(|feature| all_points(feature, params, least_weight)).collect();
    let sums_of = |feature: usize, points: &[i32]| -> Vec<i32> {
        let bins = &rows.features[feature].bins_of_rows;
        bins.iter().map(|&bin| points[usize::from(bin)]).collect()
    };
    let most_questions = params.max_questions.unwrap_or(usize::MAX);
    let mut best: f64 = 0.5;
    let mut offer = |sums: &[i32], n_questions: usize| {
        if n_questions <= most_questions {
            best = best.max(plain_auc(rows, sums) - price * n_questions as f64);
        }
    };
    for (first, of_first) in of_features.iter().enumerate() {
        for (points, n_questions) in of_first {
            let sums = sums_of(first, points);
            offer(&sums, *n_questions);
            if params.max_features < 2 {
                continue;
            }
            for (second, of_second) in of_features.iter().enumerate().skip(first + 1) {
                for (points, more) in of_second {
                    let others = sums_of(second, points);
                    let sums: Vec<i32> = sums.iter().zip(others).map(|(a, b)| a + b).collect();
                    offer(&sums, n_questions + more);
                }
            }
        }
    }
    best
}

#[test]
fn the_score_is_the_best_of_all_on_200_small_problems() {
    let interrupt = Interrupt::default();
    let mut missed = Vec::new();
    for seed in 0..200 {
        let problem = Problem::new(seed);
        let (rows, params) = (problem.rows(), &problem.params);
        let least_weight = params.min_bin_share * rows.weights.iter().flatten().sum::<u64>() as f64;
        let search = PointSearch {
            rows: &rows,
            params,
            least_weight,
            price: params.min_gain * rows.unit_of_gain,
            most_questions: params.max_questions.unwrap_or(usize::MAX),
            interrupt: &interrupt,
        };
        let found = search.best().unwrap();
        let best = best_of_all(&rows, params, least_weight);
        assert!(found.net < best + 1e-9, "seed {seed}: {} is above all, {best}", found.net);
        if found.net < best - 1e-7 {
            missed.push((seed, found.net, best));
        }
        // One search of all sizes ends with as good a score.
        let sizes = search.best_by_size().unwrap();
        let largest = sizes.last().map_or(0.5, |score| score.net);
        assert!((largest - found.net).abs() < 1e-9, "seed {seed}: {largest}, {}", found.net);
        assert!(sizes.is_sorted_by(|fewer, more| {
            fewer.net < more.net && fewer.features.len() < more.features.len()
        }));
    }
    assert!(missed.is_empty(), "{} missed: {missed:?}", missed.len());
}

#[test]
fn missing_values_of_few_rows_have_the_points_of_the_middle_row() {
    // Positive where a number is large, and where it is missing.
    let numbers = |n_missing: usize| -> Vec<f64> {
        (0..100).map(|row| if row < n_missing { f64::NAN } else { (row / 20) as f64 }).collect()
    };
    let positive: Vec<bool> = (0..100).map(|row| !(10..50).contains(&row)).collect();
    let labels = Labels::new(&positive, None).unwrap();
    let params = IntegerScoreParams { min_bin_share: 0.1, ..IntegerScoreParams::default() };
    for n_missing in [9, 10] {
        let values = numbers(n_missing);
        let columns = Columns::from_column_major(&values, 100).unwrap();
        let interrupt = Interrupt::default();
        let score = fit_integer_score((&columns, &labels), &params, &interrupt).unwrap();
        let points = score.points(&columns).unwrap();
        assert!(points[99] == 10 && points[20] == 0, "{points:?}");
        // The middle row is one of those of the number 2, half of which are positive.
        assert_eq!(points[0], if n_missing < 10 { points[50] } else { 10 });
    }
}

#[test]
fn the_table_of_shifts_has_the_auc_of_any_points() {
    for seed in 0..40 {
        let problem = Problem::new(seed);
        let rows = problem.rows();
        let mut random = Random(!seed);
        let others: Vec<u32> = rows.weights.iter().map(|_| random.below(6) as u32).collect();
        for feature in &rows.features {
            let pairs = PairsByShift::of(&rows, feature, &others, 6, 4);
            let points: Vec<i32> = feature.sizes.iter().map(|_| random.below(5) as i32).collect();
            let of_rows = feature.bins_of_rows.iter().zip(&others);
            let sums: Vec<i32> =
                of_rows.map(|(&bin, &other)| points[usize::from(bin)] + other as i32).collect();
            let (found, expected) = (pairs.area(&points), plain_auc(&rows, &sums));
            assert!((found - expected).abs() < 1e-12, "seed {seed}: {found} {expected}");
        }
    }
}
