//! The same models from rows in parts as from a matrix, however they are divided.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::data::{
    Batch, BinningParams, Column, Columns, Labels, LevelRates, MISSING_CODE, WeightRange, mix,
};
use crate::formula::Rule;
use crate::rows::{
    Answer, Ask, FitId, Mergeable, QueriedLevels, RowFrame, Rows, StoredRows, Survey, View,
};
use crate::tree::{
    CvParams, GrowParams, LeafRankParams, PruningRule, SplitRule, TreeRankParams, ValidationParams,
    fit,
};
use crate::{Interrupt, RankError};

/// Rows of two numbers, one of them missing at times, and of categories.
pub(crate) struct Data {
    numbers: [Vec<f64>; 2],
    pub(crate) codes: Vec<Vec<u32>>,
    n_levels: Vec<u32>,
    pub(crate) positive: Vec<bool>,
    pub(crate) weights: Option<Vec<f64>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Weights {
    None,
    Whole,
    Fractions,
}

impl Data {
    pub(crate) fn new(n_rows: usize, weights: Weights) -> Self {
        let draw = |row: usize, what: u64| mix(mix(what) ^ row as u64);
        let unit = |row, what| (draw(row, what) >> 11) as f64 * 2_f64.powi(-53);
        let first: Vec<f64> = (0..n_rows).map(|row| unit(row, 1)).collect();
        let second = (0..n_rows).map(|row| {
            if draw(row, 2).is_multiple_of(9) { f64::NAN } else { (20.0 * unit(row, 3)).floor() }
        });
        let towns = (0..n_rows).map(|row| match draw(row, 4) % 700 {
            0 => MISSING_CODE,
            town => (town * town / 700) as u32,
        });
        let sexes: Vec<u32> = (0..n_rows).map(|row| (draw(row, 5) % 3) as u32).collect();
        let eta = |row: usize| 0.15 + 0.5 * first[row] + 0.1 * f64::from(sexes[row]);
        let positive = (0..n_rows).map(|row| unit(row, 6) < eta(row)).collect();
        let weight = |row: usize| match weights {
            Weights::None => 1.0,
            Weights::Whole => (draw(row, 7) % 4) as f64,
            Weights::Fractions => unit(row, 7) * 3e-5,
        };
        Self {
            positive,
            weights: (weights != Weights::None).then(|| (0..n_rows).map(weight).collect()),
            codes: vec![towns.collect(), sexes],
            n_levels: vec![700, 3],
            numbers: [first, second.collect()],
        }
    }

    /// Rows whose labels depend on the first category as well, most of whose levels are rare.
    pub(crate) fn of_towns(n_rows: usize, weights: Weights) -> Self {
        let mut data = Self::new(n_rows, weights);
        for (row, positive) in data.positive.iter_mut().enumerate() {
            let town = u64::from(data.codes[0][row]);
            *positive = mix(town) % 100 + mix(row as u64) % 50 > 75;
        }
        data
    }

    /// Rows of some categories whose labels depend on the pair of the last two.
    pub(crate) fn of_pairs(n_rows: usize, weights: Weights, n_categories: usize) -> Self {
        const N_LEVELS: u32 = 15;
        let code =
            |row: usize, feature: usize| match mix(mix(feature as u64 + 20) ^ row as u64) >> 20 {
                word if word % 30 == 0 => MISSING_CODE,
                word => (word % 9973 % u64::from(N_LEVELS)) as u32,
            };
        let codes: Vec<Vec<u32>> = (0..n_categories)
            .map(|feature| (0..n_rows).map(|row| code(row, feature)).collect())
            .collect();
        let mut data = Self::new(n_rows, weights);
        let [first, second] = [n_categories - 2, n_categories - 1].map(|feature| &codes[feature]);
        for (row, positive) in data.positive.iter_mut().enumerate() {
            let of_pair = mix(u64::from(first[row]) << 20 ^ u64::from(second[row])) % 100;
            *positive = of_pair + mix(row as u64) % 60 > 90;
        }
        Self { codes, n_levels: vec![N_LEVELS; n_categories], ..data }
    }

    pub(crate) fn with_columns<T>(
        &self,
        rows: std::ops::Range<usize>,
        work: impl FnOnce(&Columns<'_>) -> T,
    ) -> T {
        let mut columns: Vec<Column<'_>> =
            self.numbers.iter().map(|values| values[rows.clone()].into()).collect();
        for (codes, &n_levels) in self.codes.iter().zip(&self.n_levels) {
            columns.push(Column::Codes { codes: &codes[rows.clone()], n_levels });
        }
        work(&Columns::new(columns, rows.len()).unwrap())
    }

    pub(crate) fn survey(&self, bounds: &[usize], binning: BinningParams) -> RowFrame {
        let ranges = || bounds.windows(2).map(|pair| pair[0]..pair[1]);
        let weights = self.weights.as_ref().map(|weights| {
            let parts = ranges().map(|rows| WeightRange::of_part(&weights[rows], 0).unwrap());
            let range = parts.fold(WeightRange::default(), WeightRange::merge);
            (range, ranges().map(|rows| range.relative_sum_of_part(&weights[rows])).sum())
        });
        let of_categories = self.n_levels.iter().copied().map(Some);
        let n_levels: Vec<Option<u32>> = [None, None].into_iter().chain(of_categories).collect();
        let empty = || Survey::new(&n_levels, binning, weights).unwrap();
        // Every other part comes from elsewhere.
        let mut whole = empty();
        for (number, rows) in ranges().enumerate() {
            let positive = &self.positive[rows.clone()];
            let weights = self.weights.as_ref().map(|weights| &weights[rows.clone()]);
            self.with_columns(rows, |columns| {
                if number % 2 == 0 {
                    whole
                        .add(
                            &Batch::new(columns, positive).weighted(weights),
                            &Interrupt::default(),
                        )
                        .unwrap();
                } else {
                    let mut other = empty();
                    other
                        .add(
                            &Batch::new(columns, positive).weighted(weights),
                            &Interrupt::default(),
                        )
                        .unwrap();
                    whole.merge_bytes(&other.to_bytes()).unwrap();
                }
            });
        }
        RowFrame::from_bytes(&whole.frame().unwrap().to_bytes()).unwrap()
    }

    pub(crate) fn store(
        &self,
        frame: RowFrame,
        bounds: &[usize],
        path: Option<&PathBuf>,
    ) -> StoredRows {
        let mut stored = StoredRows::new(frame, path.map(PathBuf::as_path)).unwrap();
        for pair in bounds.windows(2) {
            let rows = pair[0]..pair[1];
            let positive = &self.positive[rows.clone()];
            let weights = self.weights.as_ref().map(|weights| &weights[rows.clone()]);
            self.with_columns(rows, |columns| {
                stored
                    .add(&Batch::new(columns, positive).weighted(weights), &Interrupt::default())
                    .unwrap();
            });
        }
        stored.finish().unwrap();
        stored
    }
}

/// Remote holders, which are sent bytes. One of them loses its state between two questions.
pub(crate) struct Cluster<'a> {
    pub(crate) frame: RowFrame,
    pub(crate) holders: Vec<StoredRows>,
    pub(crate) data: &'a Data,
    pub(crate) bounds: Vec<usize>,
    pub(crate) n_queries: AtomicUsize,
    pub(crate) loses_state: bool,
}

impl Rows for Cluster<'_> {
    fn frame(&self) -> &RowFrame {
        &self.frame
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        let ask = Ask::from_bytes(&ask.to_bytes())?;
        let n_queries = self.n_queries.fetch_add(1, Ordering::Relaxed);
        let mut answers = Vec::new();
        for (number, holder) in self.holders.iter().enumerate() {
            let mut answer = if self.loses_state && n_queries % self.holders.len() == number {
                let bounds = &self.bounds[number..number + 2];
                let mut moved = StoredRows::new(self.frame.clone(), None)?;
                moved.add_bytes(&self.data.store(self.frame.clone(), bounds, None).to_bytes()?)?;
                assert_eq!(moved.n_rows(), holder.n_rows());
                moved.pass(&ask, interrupt)?
            } else {
                holder.pass(&ask, interrupt)?
            };
            answers.push(answer.to_bytes());
        }
        // Merged two by two.
        while answers.len() > 1 {
            let pairs = answers.chunks(2);
            let merged = pairs.map(|pair| Answer::merge_bytes(pair, &ask, &self.frame));
            answers = merged.collect::<Result<_, _>>()?;
        }
        Answer::from_bytes(&answers[0], &ask, &self.frame)
    }
}

/// Rows that count the passes over them.
pub(crate) struct Counted<'a> {
    rows: &'a dyn Rows,
    pub(crate) n_passes: AtomicUsize,
}

impl<'a> Counted<'a> {
    pub(crate) fn new(rows: &'a dyn Rows) -> Self {
        Self { rows, n_passes: AtomicUsize::new(0) }
    }
}

impl Rows for Counted<'_> {
    fn frame(&self) -> &RowFrame {
        self.rows.frame()
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        self.n_passes.fetch_add(1, Ordering::Relaxed);
        self.rows.pass(ask, interrupt)
    }
}

/// Bins of categories as they are, for any treatment in a fit.
pub(crate) fn raw(binning: BinningParams) -> BinningParams {
    BinningParams { level_rates: LevelRates::Raw, ..binning }
}

fn params(split: LeafRankParams, pruning: Option<PruningRule>) -> TreeRankParams {
    let grow = GrowParams { max_depth: 6, ..GrowParams::default() };
    TreeRankParams { pruning, seed: 3, ..TreeRankParams::new(grow, SplitRule::Stumps(split)) }
}

/// Bounds of parts of very different sizes, some of them empty.
pub(crate) fn uneven(n_rows: usize, n_parts: usize) -> Vec<usize> {
    let place = |part: usize| (n_rows as f64 * (part as f64 / n_parts as f64).powi(3)) as usize;
    let mut bounds: Vec<usize> = (0..=n_parts).map(place).collect();
    bounds[n_parts] = n_rows;
    bounds
}

/// Checks the results of rows in memory, in a file and on a cluster, also one whose holders lose
/// all state; `name` is the name of the file.
pub(crate) fn everywhere(
    data: &Data,
    binning: BinningParams,
    (name, n_parts): (&str, usize),
    check: impl Fn(&dyn Rows),
) {
    let bounds = uneven(data.positive.len(), n_parts);
    let frame = data.survey(&bounds, binning);
    let path = path_of(name);
    for path in [None, Some(&path)] {
        check(&data.store(frame.clone(), &bounds, path));
    }
    for loses_state in [false, true] {
        let holders = bounds.windows(2);
        let holders = holders.map(|bounds| data.store(frame.clone(), bounds, None));
        check(&Cluster {
            frame: frame.clone(),
            holders: holders.collect(),
            data,
            bounds: bounds.clone(),
            n_queries: AtomicUsize::new(0),
            loses_state,
        });
    }
}

pub(crate) fn path_of(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("aucrank-{name}-{}", std::process::id()))
}

#[test]
fn the_same_tree_comes_from_memory_a_file_and_a_cluster() {
    let n_rows = 2000;
    let cv = CvParams { n_folds: 4, one_standard_error: false, seed: 9 };
    let leafrank = LeafRankParams { max_depth: 3, ..LeafRankParams::orthogonal(5) };
    let drawn = LeafRankParams { max_features: Some(2), ..LeafRankParams::orthogonal(5) };
    for (weights, split, pruning, parts) in [
        (
            Weights::None,
            LeafRankParams::orthogonal(5),
            Some(PruningRule::CrossValidation(cv)),
            &[1, 2, 7, 64][..],
        ),
        (Weights::Whole, leafrank, None, &[2, 64]),
        (Weights::Fractions, leafrank, Some(PruningRule::CrossValidation(cv)), &[1, 7]),
        (
            Weights::Fractions,
            drawn,
            Some(PruningRule::Validation(ValidationParams { fraction: 0.3, seed: 1 })),
            &[2, 7],
        ),
    ] {
        let data = Data::new(n_rows, weights);
        let params = params(split, pruning);
        let interrupt = Interrupt::default();
        let in_memory = data.with_columns(0..n_rows, |columns| {
            let labels = Labels::new(&data.positive, data.weights.as_deref()).unwrap();
            fit((columns, &labels), &params, &interrupt).unwrap()
        });
        assert!(in_memory.tree.n_leaves() > 4);
        for &n_parts in parts {
            let bounds = uneven(n_rows, n_parts);
            let frame = data.survey(&bounds, raw(params.binning));
            let path = path_of(&format!("same-{n_parts}-{weights:?}"));
            for path in [None, Some(&path)] {
                let stored = data.store(frame.clone(), &bounds, path);
                assert_eq!(path.is_some(), stored.n_file_bytes() > 0);
                assert_eq!(fit((&stored, 1), &params, &interrupt).as_ref(), Ok(&in_memory));
            }
            assert!(!path.exists());
            // Holders without state are sent the whole log in each round, which is slow with many
            // parts.
            for loses_state in if n_parts < 64 { &[false, true][..] } else { &[false] } {
                let holders = bounds.windows(2);
                let holders = holders.map(|bounds| data.store(frame.clone(), bounds, None));
                let cluster = Cluster {
                    frame: frame.clone(),
                    holders: holders.collect(),
                    data: &data,
                    bounds: bounds.clone(),
                    n_queries: AtomicUsize::new(0),
                    loses_state: *loses_state,
                };
                assert_eq!(fit((&cluster, 2), &params, &interrupt).as_ref(), Ok(&in_memory));
            }
        }
    }
}

#[test]
fn trees_learn_from_rates_of_rare_categories_as_in_memory() {
    let cv = CvParams { n_folds: 3, one_standard_error: false, seed: 9 };
    let validation = ValidationParams { fraction: 0.3, seed: 1 };
    let leafrank = LeafRankParams { max_depth: 3, ..LeafRankParams::orthogonal(5) };
    let drawn = LeafRankParams { max_features: Some(3), ..LeafRankParams::orthogonal(5) };
    for (weights, split, pruning) in [
        (Weights::None, LeafRankParams::orthogonal(5), Some(PruningRule::CrossValidation(cv))),
        (Weights::Whole, leafrank, None),
        (Weights::Fractions, drawn, Some(PruningRule::Validation(validation))),
    ] {
        let data = Data::of_towns(3000, weights);
        let params = TreeRankParams { monotonic: vec![1, 0, 0, 0], ..params(split, pruning) };
        let interrupt = Interrupt::default();
        let expected = data.with_columns(0..data.positive.len(), |columns| {
            let labels = Labels::new(&data.positive, data.weights.as_deref()).unwrap();
            fit((columns, &labels), &params, &interrupt).unwrap()
        });
        let asks_rates = expected.tree.tests().any(|test| match &test.left {
            Rule::Levels(set) => test.feature == 2 && set.listed().len() > 20,
            _ => false,
        });
        assert!(asks_rates, "{weights:?}");
        let name = format!("tree-rates-{weights:?}");
        everywhere(&data, raw(params.binning), (&name, 5), |rows| {
            assert_eq!(fit((rows, 1), &params, &interrupt).as_ref(), Ok(&expected), "{name}");
        });
    }
}

#[test]
fn codings_that_do_not_match_the_codes_of_the_rows_are_errors() {
    let (data, interrupt) = (Data::of_towns(3000, Weights::None), Interrupt::default());
    let binning = BinningParams::default();
    everywhere(&data, raw(binning), ("recoded", 2), |rows| {
        let fit = FitId::new(1);
        let levels = QueriedLevels::find(rows, &fit, binning, 3, &interrupt).unwrap();
        let view = View::All;
        let (recoded, rates) = levels.with_rates(rows, &fit, &view, &interrupt).unwrap();
        assert!(!rates.is_empty());
        let heard = Heard { rows, asks: Mutex::default() };
        let recoded = recoded.of(&heard);
        fit.totals(&recoded, View::All, &interrupt).unwrap();
        let text = heard.asks.into_inner().unwrap().pop().unwrap();
        let text = String::from_utf8(text).unwrap();
        let answer = |text: &str| {
            let ask = Ask::from_bytes(text.as_bytes())?;
            rows.pass(&ask, &interrupt)
        };
        assert!(answer(&text).is_ok());
        for (from, to) in [
            // A number has no levels, and there are no more features.
            (r#""kept":[null"#, r#""kept":[[0]"#),
            (r#""kept":[null"#, r#""kept":[null,null"#),
            // Steps of fewer categories, of other digits, of an odd number of them, too high.
            (r#""steps":"00"#, r#""steps":""#),
            (r#""steps":"00"#, r#""steps":"0g"#),
            (r#""steps":"00"#, r#""steps":"0"#),
            (r#""steps":"00"#, r#""steps":"ff"#),
            (r#"{"feature":2,"#, r#"{"feature":9,"#),
            (r#"{"feature":2,"#, r#"{"feature":0,"#),
        ] {
            let steps = text.replacen(&first_step(&text), r#""steps":"00"#, 1);
            assert!(answer(&steps).is_ok());
            let damaged = steps.replacen(from, to, 1);
            assert_ne!(damaged, steps);
            let err = answer(&damaged).unwrap_err();
            assert!(matches!(err, RankError::BadAnswer(_)), "{to}: {err}");
        }
    });
}

/// The first step of a column of rates, as it is written.
fn first_step(text: &str) -> String {
    let at = text.find("\"steps\":\"").unwrap();
    text[at..at + 11].to_owned()
}

/// Rows that record the questions to them.
struct Heard<'a> {
    rows: &'a dyn Rows,
    asks: Mutex<Vec<Vec<u8>>>,
}

impl Rows for Heard<'_> {
    fn frame(&self) -> &RowFrame {
        self.rows.frame()
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        self.asks.lock().unwrap().push(ask.to_bytes());
        self.rows.pass(ask, interrupt)
    }
}

#[test]
fn rows_whose_rare_categories_are_coded_as_missing_are_errors() {
    let data = Data::new(2000, Weights::None);
    let params = params(LeafRankParams::orthogonal(5), None);
    let pooled = data.store(data.survey(&[0, 2000], params.binning), &[0, 2000], None);
    let err = fit((&pooled, 0), &params, &Interrupt::default()).unwrap_err().to_string();
    assert!(err.starts_with("level_rates of the rows is shrunken, but must be raw"), "{err}");
}

#[test]
fn ten_folds_need_no_more_questions_than_about_two_trees() {
    let data = Data::new(3000, Weights::None);
    let cv = CvParams { n_folds: 10, one_standard_error: false, seed: 9 };
    let bounds = uneven(3000, 3);
    let n_passes = |pruning| {
        let params = params(LeafRankParams::orthogonal(5), pruning);
        let stored = data.store(data.survey(&bounds, raw(params.binning)), &bounds, None);
        let counted = Counted::new(&stored);
        fit((&counted, 1), &params, &Interrupt::default()).unwrap();
        counted.n_passes.into_inner()
    };
    let (of_one, of_all) = (n_passes(None), n_passes(Some(PruningRule::CrossValidation(cv))));
    // The order of the rows is requested first, and the sums of the rows left out last; a tree
    // without a fold may be deeper.
    assert!((2..12).contains(&of_one) && of_all <= 2 * of_one + 8, "{of_one} and {of_all}");
}

#[test]
fn the_same_bins_are_chosen_above_the_size_of_the_sample() {
    let n_rows = 230_000;
    for weights in [Weights::None, Weights::Fractions] {
        let data = Data::new(n_rows, weights);
        for max_bins in [Some(16), Some(255), None] {
            let binning = BinningParams { max_bins, seed: 5, ..BinningParams::default() };
            let interrupt = Interrupt::default();
            let whole = data.with_columns(0..n_rows, |columns| {
                let labels = Labels::new(&data.positive, data.weights.as_deref()).unwrap();
                crate::data::Binned::new(columns, &labels, binning, &interrupt).unwrap()
            });
            for n_parts in [1, 3] {
                let frame = data.survey(&uneven(n_rows, n_parts), binning);
                assert_eq!(frame.features(), whole.features());
            }
        }
    }
}

#[test]
fn a_survey_with_expected_rows_has_the_same_sample_unless_many_are_copies() {
    let interrupt = Interrupt::default();
    let survey_of = |n_rows: u32, n_distinct: u32, is_expected: bool| {
        let values: Vec<f64> = (0..n_rows).map(|row| f64::from(row % n_distinct)).collect();
        let positive: Vec<bool> = (0..n_rows).map(|row| row % 3 == 0).collect();
        let empty = || {
            let survey = Survey::new(&[None], BinningParams::default(), None).unwrap();
            if is_expected { survey.expecting(u64::from(n_rows)) } else { survey }
        };
        let (mut whole, half) = (empty(), n_rows as usize / 2);
        for rows in [0..half, half..n_rows as usize] {
            let columns = Columns::from_row_major(&values[rows.clone()], 1).unwrap();
            let mut part = empty();
            part.add(&Batch::new(&columns, &positive[rows]), &interrupt).unwrap();
            whole.merge_bytes(&part.to_bytes()).unwrap();
        }
        whole
    };
    let frame = |survey: &Survey| survey.frame().unwrap();
    for (n_rows, n_distinct) in [(100_000, 100_000), (900_000, 900_000), (900_000, 700_000)] {
        let expected = survey_of(n_rows, n_distinct, true);
        assert!(expected.is_complete());
        assert_eq!(frame(&expected), frame(&survey_of(n_rows, n_distinct, false)));
    }
    let few = survey_of(900_000, 300_000, true);
    assert!(!few.is_complete());
    assert!(few.frame().unwrap_err().to_string().starts_with("the number of rows is 900000"));
    assert!(survey_of(900_000, 300_000, false).is_complete());
}

#[test]
fn a_file_that_was_cut_off_or_changed_is_reported() {
    let data = Data::new(500, Weights::Fractions);
    let frame = data.survey(&[0, 500], raw(BinningParams::default()));
    let params = params(LeafRankParams::orthogonal(5), None);
    let error_after = |name: &str, damage: &dyn Fn(&File)| {
        let path = path_of(name);
        let stored = data.store(frame.clone(), &[0, 200, 500], Some(&path));
        assert_eq!(path.exists(), !cfg!(unix));
        damage(stored.file());
        let err = fit((&stored, 0), &params, &Interrupt::default()).unwrap_err().to_string();
        assert!(err.starts_with(&path.display().to_string()), "{err}");
        drop(stored);
        assert!(!path.exists());
        err
    };
    let cut = error_after("cut", &|file| file.set_len(1000).unwrap());
    assert!(cut.ends_with("the file of coded rows was cut off"), "{cut}");
    let changed = error_after("changed", &|mut file| {
        let mut byte = [0];
        file.seek(SeekFrom::Start(1234)).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(SeekFrom::Start(1234)).unwrap();
        file.write_all(&[byte[0] ^ 1]).unwrap();
    });
    assert!(changed.ends_with("the file of coded rows was changed or damaged"), "{changed}");
    // A file that exists is not overwritten.
    let path = path_of("there");
    std::fs::write(&path, "mine").unwrap();
    assert!(matches!(StoredRows::new(frame.clone(), Some(&path)), Err(RankError::Storage { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn parameters_that_need_more_than_sums_raise_errors_that_name_them() {
    let data = Data::new(100, Weights::None);
    let stored = data.store(data.survey(&[0, 100], BinningParams::default()), &[0, 100], None);
    let refused = |params: &TreeRankParams| {
        fit((&stored, 0), params, &Interrupt::default()).unwrap_err().to_string()
    };
    let pruned = CvParams { n_folds: 3, one_standard_error: false, seed: 0 };
    let split = LeafRankParams { pruning: Some(pruned), ..LeafRankParams::orthogonal(5) };
    assert!(
        refused(&params(split, None)).starts_with("pruning of the split is given, but must be")
    );
    let mut means = params(LeafRankParams::orthogonal(5), None);
    means.grow.missing = crate::tree::Missing::CellMean;
    assert!(refused(&means).starts_with("missing is 'cell_mean', but must be 'learn'"));
    let cubes = TreeRankParams {
        split: SplitRule::Dyadic(crate::tree::DyadicParams { level: Some(2) }),
        ..params(LeafRankParams::orthogonal(5), None)
    };
    assert!(refused(&cubes).starts_with("split is "));
}

#[test]
fn rows_at_fault_are_counted_from_the_first_batch() {
    let frame = {
        let mut survey = Survey::new(&[None], BinningParams::default(), None).unwrap();
        let columns = Columns::from_row_major(&[1.0, 2.0], 1).unwrap();
        survey.add(&Batch::new(&columns, &[true, false]), &Interrupt::default()).unwrap();
        survey.frame().unwrap()
    };
    let mut stored = StoredRows::new(frame, None).unwrap();
    let mut add = |values: &[f64]| {
        let columns = Columns::from_row_major(values, 1).unwrap();
        stored.add(&Batch::new(&columns, &vec![true; values.len()]), &Interrupt::default())
    };
    add(&[1.0, 2.0, 3.0]).unwrap();
    let err = add(&[1.0, f64::INFINITY]).unwrap_err();
    assert_eq!(err, RankError::InfiniteValue { column: 0, row: 4, value: f64::INFINITY });
}
