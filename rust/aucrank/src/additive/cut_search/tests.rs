use std::collections::BTreeMap;
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::additive::hull::BestCuts;
use crate::additive::hull::tests::expected;
use crate::additive::{Direction, MissingValues, RimarcParams, fit_mad2c, fit_rimarc};
use crate::data::{Batch, Column, Columns, Labels, LevelRates, MISSING_CODE, mix};
use crate::rows::Mergeable;

/// Rows of some numbers and a category, in parts that are queried separately.
struct Parts {
    numbers: Vec<Vec<f64>>,
    codes: Vec<u32>,
    positive: Vec<bool>,
    weights: Option<Vec<f64>>,
    n_levels: Vec<Option<u32>>,
    /// Starts of the parts, without 0.
    starts: Vec<usize>,
    /// Answers of all passes, as bytes.
    answers: Mutex<Vec<Vec<u8>>>,
}

const N_LEVELS: u32 = 5;

impl Parts {
    fn new(numbers: Vec<Vec<f64>>, positive: Vec<bool>, weights: Option<Vec<f64>>) -> Self {
        let n_levels = vec![None; numbers.len()];
        let (codes, starts) = (Vec::new(), Vec::new());
        let answers = Mutex::default();
        Self { numbers, codes, positive, weights, n_levels, starts, answers }
    }

    fn with_codes(mut self, codes: Vec<u32>) -> Self {
        self.n_levels.push(Some(N_LEVELS));
        self.codes = codes;
        self
    }

    fn parted(mut self, starts: &[usize]) -> Self {
        self.starts = starts.to_vec();
        self
    }

    fn columns(&self, rows: std::ops::Range<usize>) -> Columns<'_> {
        let numbers = self.numbers.iter().map(|values| values[rows.clone()].into());
        let mut columns: Vec<Column<'_>> = numbers.collect();
        if !self.codes.is_empty() {
            columns.push(Column::Codes { codes: &self.codes[rows.clone()], n_levels: N_LEVELS });
        }
        Columns::new(columns, rows.len()).unwrap()
    }

    fn labels(&self) -> Labels<'_> {
        Labels::new(&self.positive, self.weights.as_deref()).unwrap()
    }

    /// All rows at once.
    fn fit_whole(&self, params: &RimarcParams) -> crate::additive::Rimarc {
        let columns = self.columns(0..self.positive.len());
        fit_rimarc((&columns, &self.labels()), params, &Interrupt::default()).unwrap()
    }
}

impl RawRows for Parts {
    fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    fn weights(&self) -> Option<(WeightRange, u128)> {
        let weights = self.weights.as_ref()?;
        let range = WeightRange::of_part(weights, 0).unwrap();
        let relative = if range.are_counts() { 0 } else { range.relative_sum_of_part(weights) };
        Some((range, relative))
    }

    fn pass(&self, ask: &Arc<RawAsk>, interrupt: &Interrupt) -> Result<RawSums, RankError> {
        let mut whole = RawSums::new(Arc::clone(ask));
        let sent = ask.to_bytes();
        let edges = [&[0], &self.starts[..], &[self.positive.len()]].concat();
        for pair in edges.windows(2) {
            let rows = pair[0]..pair[1];
            let mut part = RawSums::new(Arc::new(RawAsk::from_bytes(&sent)?));
            let weights = self.weights.as_ref().map(|weights| &weights[rows.clone()]);
            part.add(
                &Batch::new(&self.columns(rows.clone()), &self.positive[rows]).weighted(weights),
                interrupt,
            )?;
            whole.merge_bytes(&part.to_bytes())?;
        }
        self.answers.lock().unwrap().push(whole.to_bytes());
        Ok(whole)
    }
}

/// The same rows, as counts of rows with a value and a class; weights depend on the class.
struct Counted<'a>(&'a Parts);

impl RawRows for Counted<'_> {
    fn n_levels(&self) -> &[Option<u32>] {
        &self.0.n_levels
    }

    fn weights(&self) -> Option<(WeightRange, u128)> {
        let weights = self.0.weights.as_ref()?;
        let mut range: Option<WeightRange> = None;
        let classes = self.classes();
        for (&positive, &count) in classes.0.iter().zip(&classes.1) {
            let row = self.0.positive.iter().position(|&p| p == positive).unwrap();
            let own = WeightRange::of_part(&[weights[row]], 0).unwrap().repeated(count);
            range = Some(range.map_or(own, |range| range.merge(own)));
        }
        let range = range.unwrap();
        assert_eq!(range, WeightRange::of_part(weights, 0).unwrap());
        let relative = if range.are_counts() { 0 } else { range.relative_sum_of_part(weights) };
        Some((range, relative))
    }

    fn pass(&self, ask: &Arc<RawAsk>, _: &Interrupt) -> Result<RawSums, RankError> {
        let mut sums = RawSums::new(Arc::clone(ask));
        let (positive, counts) = self.classes();
        let weights = |positive: &[bool]| {
            let of_class = |&class: &bool| {
                let row = self.0.positive.iter().position(|&p| p == class).unwrap();
                self.0.weights.as_ref().unwrap()[row]
            };
            self.0.weights.is_some().then(|| positive.iter().map(of_class).collect::<Vec<_>>())
        };
        sums.add_classes(&positive, weights(&positive).as_deref(), &counts)?;
        for (feature, values) in self.0.numbers.iter().enumerate() {
            let bits = values.iter().map(|value| value.to_bits());
            let (bits, positive, counts) = self.counted(bits);
            let values: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            let column = Columns::from_row_major(&values, 1)?;
            let weights = weights(&positive);
            sums.add_counts(
                feature,
                &Batch::new(&column, &positive).weighted(weights.as_deref()),
                &counts,
            )?;
        }
        if !self.0.codes.is_empty() {
            let codes = self.0.codes.iter().map(|&code| code.into());
            let (codes, positive, counts) = self.counted(codes);
            let codes: Vec<u32> = codes.into_iter().map(|code| code as u32).collect();
            let column = Column::Codes { codes: &codes, n_levels: N_LEVELS };
            let column = Columns::new(vec![column], codes.len())?;
            let (feature, weights) = (self.0.numbers.len(), weights(&positive));
            sums.add_counts(
                feature,
                &Batch::new(&column, &positive).weighted(weights.as_deref()),
                &counts,
            )?;
        }
        Ok(sums)
    }
}

impl Counted<'_> {
    fn classes(&self) -> (Vec<bool>, Vec<u64>) {
        let (_, positive, counts) = self.counted(self.0.positive.iter().map(|_| 0));
        (positive, counts)
    }

    /// Distinct values and classes, and their numbers of rows.
    fn counted(&self, values: impl Iterator<Item = u64>) -> (Vec<u64>, Vec<bool>, Vec<u64>) {
        let mut found = BTreeMap::new();
        for pair in values.zip(self.0.positive.iter().copied()) {
            *found.entry(pair).or_insert(0) += 1;
        }
        let (pairs, counts): (Vec<(u64, bool)>, Vec<u64>) = found.into_iter().unzip();
        let (values, positive) = pairs.into_iter().unzip();
        (values, positive, counts)
    }
}

fn in_few(most_sums: usize, few_cells: usize) -> CellLimits {
    CellLimits { most_sums, few_cells }
}

/// Compares the cuts of a number with the definition, with so few cells that there are many passes.
fn check(
    values: &[f64],
    positive: &[bool],
    weights: Option<&[f64]>,
    special: &[f64],
    only: Option<Direction>,
    starts: &[usize],
) {
    let Ok(labels) = Labels::new(positive, weights) else { return };
    let expected = expected(values, &labels, special, only);
    let params = Mad2cParams { special: vec![special.to_vec()], directions: vec![only] };
    let rows = Parts::new(vec![values.to_vec()], positive.to_vec(), weights.map(<[f64]>::to_vec));
    let rows = rows.parted(starts);
    for cells in [in_few(2, 2), in_few(16, 16), in_few(300, 4), CellLimits::default()] {
        let search =
            CutSearch::in_cells(&rows, &params, None, cells, &Interrupt::default()).unwrap();
        let table = search.table(FoldView::All).unwrap();
        assert_eq!(table.total(), labels.total());
        let BinnedFeature { bins, sums, direction } = table.features()[0].clone();
        let Bins::Numeric { cuts, .. } = bins else { unreachable!("a number") };
        let direction = direction.unwrap();
        assert!(
            BestCuts { direction, cuts, sums } == expected,
            "{} rows in {cells:?} cells",
            values.len()
        );
    }
}

fn unit(seed: u64, row: usize) -> f64 {
    (mix(seed << 32 | row as u64) >> 11) as f64 * 2_f64.powi(-53)
}

#[test]
fn any_distribution_gives_the_cuts_of_the_definition() {
    let laws: [&dyn Fn(f64, usize) -> f64; 14] = [
        &|u, row| 1.0 + (1.0 + u) * 2_f64.powi(-((row as f64).sqrt() as i32)),
        &|u, _| u,
        &|u, _| (u / (1.0 - u)).ln(),
        &|u, _| (u * 5.0).floor() - 2.0,
        &|u, _| (u * 300.0).floor() / 100.0,
        &|u, row| if row % 997 == 3 { 1e300 * (u - 0.5) } else { u },
        &|u, _| if u < 0.5 { 1.0 + u * 1e-9 } else { 1.5 + u * 1e-9 },
        &|u, row| (row % 100) as f64 + u * 1e-9,
        // Subnormal ones of both signs.
        &|u, _| f64::from_bits((u * 4e15) as u64) * if u < 0.3 { -1.0 } else { 1.0 },
        &|u, _| f64::from_bits((u * 1.8e19) as u64),
        &|_, _| -3.5,
        &|_, _| f64::NAN,
        &|u, row| if row % 3 == 0 { f64::NAN } else { u },
        &|u, _| if u < 0.5 { -0.0 } else { 0.0 },
    ];
    for n in [2, 60, 5000] {
        for (number, law) in laws.iter().enumerate() {
            let seed = (n + number) as u64;
            let u = |row| unit(seed, row);
            let mut values: Vec<f64> = (0..n).map(|row| law(u(row), row)).collect();
            values.iter_mut().filter(|v| v.is_infinite()).for_each(|v| *v = f64::MAX);
            let slope = [0.0, 0.2, 2.0, -1.0][number % 4];
            let mut positive: Vec<bool> =
                (0..n).map(|row| unit(seed + 1, row) < 0.3 + slope * (u(row) - 0.5)).collect();
            positive[..2].copy_from_slice(&[true, false]);
            let copies: Vec<f64> = (0..n).map(|row| (unit(9, row) * 3.0).floor()).collect();
            let fractions: Vec<f64> = (0..n).map(|row| unit(10, row).powi(4)).collect();
            let special = [values[1], 7.0];
            let special = if values[1].is_nan() { &special[1..] } else { &special[..] };
            let starts = [n / 7, n / 7, n - 1];
            check(&values, &positive, None, &[], None, &starts);
            check(&values, &positive, Some(&copies), special, None, &starts);
            check(&values, &positive, Some(&fractions), &[], None, &[]);
            for only in [Direction::Increasing, Direction::Decreasing] {
                check(&values, &positive, None, special, Some(only), &[n / 2]);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_values_give_the_cuts_of_the_definition(
        rows in prop::collection::vec((any::<f64>(), any::<bool>(), 0..3_u8), 0..200),
        step in prop::option::of(1e-3..1e3),
        start in 0..200_usize,
    ) {
        let number = |value: f64| if value.is_infinite() { f64::NAN } else { value };
        let tied = |value: f64| step.map_or(value, |step: f64| (value.log2() / step).round());
        let mut values = vec![0.0, -1.0];
        values.extend(rows.iter().map(|row| number(tied(row.0))));
        let mut positive = vec![true, false];
        positive.extend(rows.iter().map(|row| row.1));
        let mut weights = vec![1.0, 1.0];
        weights.extend(rows.iter().map(|row| f64::from(row.2)));
        let starts = [start.min(values.len())];
        check(&values, &positive, None, &[], None, &starts);
        check(&values, &positive, Some(&weights), &[], None, &starts);
    }

    #[test]
    fn cross_fitted_weights_are_those_of_one_matrix(
        rows in prop::collection::vec((0..40_u8, 0..7_u32, any::<bool>(), 0..4_u8), 2..150),
        n_folds in 2..6_u16,
        seed in 0..3_u64,
        is_fine in any::<bool>(),
        choices in 0..8_u8,
    ) {
        // Numbers with many copies, and with none.
        let fine = |row: usize| if is_fine { 1e-3 * unit(5, row) } else { 0.0 };
        let number = |(row, of): (usize, &(u8, u32, bool, u8))| match of.0 {
            0 => f64::NAN,
            number => f64::from(number) + fine(row),
        };
        let code = |of: &(u8, u32, bool, u8)| match of.1 {
            level if level < N_LEVELS => level,
            _ => MISSING_CODE,
        };
        let numbers: Vec<f64> = rows.iter().enumerate().map(number).collect();
        let mut positive: Vec<bool> = rows.iter().map(|of| of.2).collect();
        (positive[0], positive[1]) = (true, false);
        let mut weights: Vec<f64> = rows.iter().map(|of| f64::from(of.3) / 2.0).collect();
        (weights[0], weights[1]) = (1.0, 1.5);
        let weights = (choices & 1 == 1).then_some(weights);
        let params = RimarcParams {
            bins: Mad2cParams { special: vec![vec![3.0], vec![], vec![]], directions: vec![] },
            missing: [MissingValues::Ignore, MissingValues::Value][usize::from(choices >> 1 & 1)],
            level_rates: [LevelRates::Raw, LevelRates::Shrunken][usize::from(choices >> 2 & 1)],
            shrinkage: 0.5,
            weight_folds: Some(n_folds),
            seed,
        };
        let noise = (0..rows.len()).map(|row| unit(seed, row)).collect();
        let parts = Parts::new(vec![numbers, noise], positive, weights)
            .with_codes(rows.iter().map(code).collect())
            .parted(&[rows.len() / 3]);
        let whole = parts.fit_whole(&params);
        let found = fit_rimarc(&parts, &params, &Interrupt::default()).unwrap();
        prop_assert!(found == whole);
        // The same in few cells, whose folds have to be separated in many passes.
        let folds = Some((n_folds, seed));
        let interrupt = Interrupt::default();
        let few = CutSearch::in_cells(&parts, &params.bins, folds, in_few(2, 2), &interrupt).unwrap();
        let many = CutSearch::read(&parts, &params.bins, folds, &interrupt).unwrap();
        prop_assert_eq!(few.table(FoldView::All).unwrap(), whole.table().clone());
        for fold in (0..few.n_folds()).filter(|_| few.n_folds() > 1) {
            let table = few.table(FoldView::Without(fold)).unwrap();
            prop_assert_eq!(&table, &many.table(FoldView::Without(fold)).unwrap());
            for (place, feature) in table.features().iter().enumerate() {
                prop_assert_eq!(
                    few.of_fold(fold, place, &feature.bins),
                    many.of_fold(fold, place, &feature.bins)
                );
            }
        }
    }
}

/// Some rows with a useful number, noise, a number of few values, and a category.
fn sample(n: usize) -> Parts {
    let positive: Vec<bool> = (0..n).map(|row| unit(1, row) < 0.4).collect();
    let useful = |row: usize| unit(2, row) + 0.3 * f64::from(u8::from(positive[row]));
    let columns: [&dyn Fn(usize) -> f64; 3] =
        [&useful, &|row| unit(3, row), &|row| (9.0 * unit(4, row)).floor()];
    let numbers = columns.map(|of| (0..n).map(of).collect()).to_vec();
    let codes = (0..n).map(|row| (6.0 * unit(5, row)) as u32);
    let codes = codes.map(|code| if code < N_LEVELS { code } else { MISSING_CODE }).collect();
    Parts::new(numbers, positive, None).with_codes(codes)
}

#[test]
fn answers_do_not_depend_on_how_rows_are_divided() {
    const N: usize = 3000;
    let params = Mad2cParams::default();
    let answers = |starts: &[usize]| {
        let rows = sample(N).parted(starts);
        let interrupt = Interrupt::default();
        CutSearch::in_cells(&rows, &params, Some((4, 7)), in_few(4000, 40), &interrupt).unwrap();
        rows.answers.into_inner().unwrap()
    };
    let whole = answers(&[]);
    // Hashes, the whole line, and at least one pass over what was kept.
    assert!(whole.len() > 2);
    assert!(whole == answers(&[0, 1, 2, 1000, 1000, 2999]));
    assert!(whole == answers(&(1..N / 10).map(|part| 10 * part).collect::<Vec<_>>()));
}

#[test]
fn ten_thousand_rows_have_the_cuts_of_one_matrix() {
    let rows = sample(10_000).parted(&[4000]);
    let columns = rows.columns(0..10_000);
    let params = Mad2cParams::default();
    let interrupt = Interrupt::default();
    let whole = fit_mad2c((&columns, &rows.labels()), &params, &interrupt).unwrap();
    for cells in [in_few(200, 50), in_few(4000, 40), CellLimits::default()] {
        let search = CutSearch::in_cells(&rows, &params, None, cells, &interrupt).unwrap();
        assert!(search.table(FoldView::All).unwrap() == whole);
    }
}

/// Rows that change before the second pass.
struct Changing([Parts; 2], Mutex<usize>);

impl RawRows for Changing {
    fn n_levels(&self) -> &[Option<u32>] {
        self.0[0].n_levels()
    }

    fn weights(&self) -> Option<(WeightRange, u128)> {
        None
    }

    fn pass(&self, ask: &Arc<RawAsk>, interrupt: &Interrupt) -> Result<RawSums, RankError> {
        let mut n_passes = self.1.lock().unwrap();
        *n_passes += 1;
        self.0[usize::from(*n_passes > 1)].pass(ask, interrupt)
    }
}

#[test]
fn rows_that_change_between_passes_are_an_error() {
    let (rows, mut others) = (sample(3000), sample(3000));
    others.positive.reverse();
    let rows = Changing([rows, others], Mutex::default());
    let cells = in_few(200, 50);
    let params = Mad2cParams::default();
    let found = CutSearch::in_cells(&rows, &params, None, cells, &Interrupt::default());
    let said = found.expect_err("the rows differ").to_string();
    assert!(said.contains("the rows have changed between passes"), "{said}");
}

#[test]
fn infinity_and_bad_codes_are_named() {
    let fit = |rows: &Parts| {
        crate::additive::fit_mad2c(rows, &Mad2cParams::default(), &Interrupt::default())
            .expect_err("a bad value")
    };
    let mut rows = sample(50);
    rows.numbers[1][20] = f64::INFINITY;
    let value = f64::INFINITY;
    assert_eq!(fit(&rows), RankError::InfiniteValue { column: 1, row: 20, value });
    let mut rows = sample(50);
    rows.codes[7] = 99;
    let bad = RankError::BadCode { column: 3, row: 7, code: 99, n_levels: N_LEVELS };
    assert_eq!(fit(&rows), bad);
    let mut rows = sample(50);
    rows.positive.fill(true);
    assert_eq!(fit(&rows), RankError::ClassWithoutWeight { class: "negative" });
}

#[test]
fn other_bytes_are_refused() {
    let rows = sample(500);
    let params = Mad2cParams::default();
    let interrupt = Interrupt::default();
    CutSearch::in_cells(&rows, &params, None, in_few(100, 20), &interrupt).unwrap();
    let answer = rows.answers.lock().unwrap()[0].clone();
    let wanted = vec![
        WantedCounts::Keys(KeyLayout::Parts(vec![])),
        WantedCounts::Nothing,
        WantedCounts::Keys(KeyLayout::Prefixes(None)),
        WantedCounts::Nothing,
    ];
    let head = PassHead {
        n_levels: rows.n_levels.clone(),
        scale: None,
        special: Vec::new(),
        dealt: FoldDeal::Together,
        most_cells: 20,
    };
    let other = Arc::new(RawAsk { head, features: wanted });
    assert!(RawSums::new(Arc::clone(&other)).merge_bytes(&answer).is_err());
    assert!(RawSums::new(Arc::clone(&other)).merge_bytes(&answer[..answer.len() - 8]).is_err());
    assert!(RawAsk::from_bytes(&answer).is_err());
    let bytes = other.to_bytes();
    assert_eq!(RawAsk::from_bytes(&bytes).unwrap().features, other.features);
}

/// Rows of a fine number, of one with few values, one of them special, and of a category, all with
/// missing values.
fn rows_to_count(weights: Option<[f64; 2]>) -> Parts {
    let n_rows = 30_000;
    let hash = |column: u64, row: usize| mix(column << 40 | row as u64);
    let positive: Vec<bool> =
        (0..n_rows).map(|row| unit(1, row) < 0.2 + 0.5 * unit(2, row / 2)).collect();
    let missing = |column, row| hash(column, row).is_multiple_of(11);
    let fine = (0..n_rows).map(|row| if missing(5, row) { f64::NAN } else { unit(2, row / 2) });
    let coarse = (0..n_rows).map(|row| match hash(3, row) % 9 {
        0 => f64::NAN,
        1 => -1.0,
        value => 0.5 * value as f64 + 0.5 * f64::from(u8::from(positive[row])),
    });
    let codes = (0..n_rows).map(|row| match hash(4, row) % 7 {
        level @ 0..5 => level as u32,
        _ => MISSING_CODE,
    });
    let numbers = vec![fine.collect(), coarse.collect()];
    let weights =
        weights.map(|[neg, pos]| positive.iter().map(|&p| if p { pos } else { neg }).collect());
    Parts::new(numbers, positive.clone(), weights).with_codes(codes.collect())
}

#[test]
fn counts_of_values_give_the_answers_of_the_rows() {
    for weights in [None, Some([1.0, 3.0]), Some([0.3, 0.7])] {
        let rows = rows_to_count(weights);
        let bins = Mad2cParams { special: vec![vec![], vec![-1.0], vec![]], directions: vec![] };
        let params = RimarcParams {
            bins,
            level_rates: LevelRates::Shrunken,
            missing: MissingValues::Value,
            ..RimarcParams::default()
        };
        let counted = fit_rimarc(&Counted(&rows), &params, &Interrupt::default()).unwrap();
        assert_eq!(counted, rows.fit_whole(&params), "{weights:?}");
    }
}

#[test]
fn inconsistent_counts_are_refused() {
    let rows = rows_to_count(None);
    let folds = RimarcParams { weight_folds: Some(5), ..RimarcParams::default() };
    let err = fit_rimarc(&Counted(&rows), &folds, &Interrupt::default()).unwrap_err();
    assert!(err.to_string().ends_with("rows counted by one column have no folds"), "{err}");

    let head = PassHead {
        n_levels: vec![None, None],
        scale: None,
        special: vec![],
        dealt: FoldDeal::Together,
        most_cells: FEW_CELLS,
    };
    let features = vec![WantedCounts::Nothing, WantedCounts::Keys(KeyLayout::Prefixes(None))];
    let mut sums = RawSums::new(Arc::new(RawAsk { head, features }));
    let mut add = |values: &[f64], counts: &[u64]| {
        let column = Columns::from_row_major(values, 1).unwrap();
        sums.add_counts(1, &Batch::new(&column, &[true, false]), counts).unwrap_err().to_string()
    };
    assert_eq!(add(&[1.0, 2.0], &[3, 0]), "counts is 0, but must be at least 1");
    assert_eq!(add(&[1.0, 2.0], &[3]), "counts has 1 rows, but y has 2");
    assert_eq!(add(&[1.0], &[3, 1]), "X has 1 rows, but y has 2");
    let infinite = add(&[1.0, f64::INFINITY], &[3, 1]);
    assert!(infinite.starts_with("column 1 is inf in row 1;"), "{infinite}");
}
