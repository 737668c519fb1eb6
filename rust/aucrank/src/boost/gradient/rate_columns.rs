//! Categories of many levels by their rates, in addition to their few codes.
//!
//! If the categories without their own code hold a considerable share of the rows, or if there are
//! many categories (`data/rates/rated_levels.rs`), and their rates are informative beyond chance, a
//! fit has two more columns of codes for the feature: the rate of the category of each row in the
//! other folds, in steps (`data/rates/fold_rates.rs`), and its number of rows. A finished tree keeps a threshold on one as the equivalent set of
//! categories by all rows of the fit (`data/rates/rate_columns.rs`). So the columns exist only
//! during the fit; they are drawn, constrained and credited as their feature.
//!
//! Pairs of categories of two features, if the fit uses them, have their own columns, which come
//! last (see `category_pairs`).
//!
//! Training rows are split by the steps of their fold, in which their own label does not count, all
//! other rows by the steps of all training rows, which define the sets. Hence scores of training
//! rows during a fit are not those of the finished trees; for a warm start, the trees are converted
//! back to the form in which they were grown.

use std::borrow::Cow;

use super::level_codes::LevelCodes;
use super::pair_steps::{PairColumn, PairSteps};
use super::params::GradientParams;
use super::tree::{GradientNode, GradientTree};
use crate::data::{
    Binned, CodeRule, CodeTest, Column, Columns, FeatureBins, Labels, LearnedRows, LevelSteps,
    RateColumn, RateColumns, RatedLevels, SEED_OF_RATES, coded_levels, deal_for_rates, mix,
};
use crate::formula::{Rule, Test};
use crate::{Interrupt, RankError, parallel};

/// The columns of rates of a fit, after those of its features.
#[derive(Debug)]
pub(super) struct BoosterRates {
    /// Of single features.
    columns: RateColumns,
    /// Pairs of categories, whose columns come last.
    pairs: Vec<PairSteps>,
}

/// The rows of a fit as far as columns of rates depend on them.
#[derive(Clone, Copy)]
pub(super) struct RateSource<'a> {
    pub(super) columns: &'a Columns<'a>,
    pub(super) labels: &'a Labels<'a>,
    pub(super) training: &'a [u32],
    pub(super) level_codes: &'a LevelCodes,
    /// Pairs of features whose pairs of categories may have a column.
    pub(super) pairs: &'a [[usize; 2]],
}

/// Columns of rates, and the codes of all rows including them.
pub(super) struct RatedCodes<'b> {
    pub(super) rates: BoosterRates,
    pub(super) binned: Cow<'b, Binned>,
}

impl<'b> RatedCodes<'b> {
    /// Codes without columns of rates.
    pub(super) fn plain(binned: &'b Binned) -> Self {
        let n_features = binned.features().len();
        let rates = BoosterRates::of_steps(n_features, Vec::new(), Vec::new());
        Self { rates, binned: Cow::Borrowed(binned) }
    }

    /// With the columns of rates of a fit to some rows, if any, behind the codes of all rows.
    pub(super) fn new(
        binned: &'b Binned,
        source: RateSource<'_>,
        params: &GradientParams,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let RateSource { columns, labels, training, level_codes, pairs } = source;
        let nothing = || Ok(Self::plain(binned));
        let kept = &level_codes.kept;
        let features: Vec<(usize, &RatedLevels)> = kept.with_rates().collect();
        if features.is_empty() && pairs.is_empty() {
            return nothing();
        }
        let seed = mix(seed ^ SEED_OF_RATES);
        let Some(folds) = deal_for_rates(columns, labels, seed, interrupt)? else {
            return nothing();
        };
        let of_feature = |(feature, levels): (usize, &RatedLevels)| {
            interrupt.check()?;
            let Column::Codes { codes, n_levels } = columns[feature] else { return Ok(Vec::new()) };
            let learned = LearnedRows { labels, rows: training, folds: &folds };
            let coded = coded_levels(codes, n_levels, learned, params.max_bins, levels);
            let column = |(steps, of_row): (LevelSteps, Vec<u8>)| {
                let bins = FeatureBins::Numeric { cuts: steps.cuts().to_vec() };
                ((feature, steps), (bins, of_row))
            };
            Ok(coded.into_iter().map(column).collect::<Vec<_>>())
        };
        let found = parallel::try_map(features, of_feature)?;
        let (columns_of_rates, mut codes): (Vec<_>, Vec<_>) = found.into_iter().flatten().unzip();
        let of_pair = |pair: &[usize; 2]| {
            interrupt.check()?;
            let learned = LearnedRows { labels, rows: training, folds: &folds };
            Ok(PairSteps::new(*pair, columns, learned, params.max_bins))
        };
        let found = parallel::try_map(pairs.iter().collect(), of_pair)?;
        let (steps_of_pairs, codes_of_pairs): (Vec<_>, Vec<_>) =
            found.into_iter().flatten().unzip();
        codes.extend(
            codes_of_pairs
                .into_iter()
                .map(|(cuts, of_row): PairColumn| (FeatureBins::Numeric { cuts }, of_row)),
        );
        if codes.is_empty() {
            return nothing();
        }
        let rates = BoosterRates::of_steps(columns.n_features(), columns_of_rates, steps_of_pairs);
        Ok(Self { rates, binned: Cow::Owned(binned.with_narrow(codes)?) })
    }
}

impl BoosterRates {
    /// Columns of features, and then of pairs, given by their steps, after `n_features` features.
    pub(super) fn of_steps(
        n_features: usize,
        steps: Vec<(usize, LevelSteps)>,
        pairs: Vec<PairSteps>,
    ) -> Self {
        Self { columns: RateColumns::of_steps(n_features, steps), pairs }
    }

    /// The feature of a column of codes, or the two of a pair.
    pub(super) fn features(&self, column: usize) -> [usize; 2] {
        match (self.columns.get(column), self.pair(column)) {
            (Some(rates), _) => [rates.feature; 2],
            (_, Some(pair)) => pair.features(),
            (None, None) => [column; 2],
        }
    }

    /// The pair of features of a column.
    fn pair(&self, column: usize) -> Option<&PairSteps> {
        self.pairs.get(column.checked_sub(self.columns.n_columns())?)
    }

    /// The pairs that trees may test like further features.
    pub(super) fn pairs(&self) -> &[PairSteps] {
        &self.pairs
    }

    /// Some features, ascending, with the columns made from these only.
    pub(super) fn with_rates(&self, features: Vec<usize>) -> Vec<usize> {
        let mut drawn = self.columns.with_rates(features);
        let pairs = (self.columns.n_columns()..).zip(&self.pairs);
        let of_drawn = pairs.filter(|(_, pair)| pair.features().iter().all(|f| drawn.contains(f)));
        let of_drawn: Vec<usize> = of_drawn.map(|(column, _)| column).collect();
        drawn.extend(of_drawn);
        drawn
    }

    /// The test of raw values that is equivalent to one of rates; `None` for one of the codes of a
    /// feature.
    pub(super) fn raw_test(&self, test: &CodeTest) -> Option<Test> {
        let (column, rates) = (test.feature, self.columns.get(test.feature));
        if rates.is_none() && self.pair(column).is_none() {
            return None;
        }
        let CodeRule::Below(step) = test.rule else { unreachable!("numbers are cut from below") };
        Some(match rates {
            Some(rates) => Test::of_rates(rates.feature, &rates.steps, step),
            None => Test {
                feature: column - self.n_rates(),
                left: Rule::Below(step.into()),
                missing_left: false,
            },
        })
    }

    /// The column and the step of a test, if it tests rates.
    fn step_of(&self, test: &Test) -> Option<(usize, u32)> {
        if test.feature >= self.columns.n_features() {
            let Rule::Below(step) = test.left else { return None };
            return Some((test.feature + self.n_rates(), step as u32));
        }
        let step = |(column, rates): (usize, &RateColumn)| {
            Some((column, test.step_of_rates(&rates.steps)?))
        };
        self.columns.of_feature(test.feature).find_map(step)
    }

    /// Number of columns of single features.
    fn n_rates(&self) -> usize {
        self.columns.n_columns() - self.columns.n_features()
    }

    /// Adds the values of a tree of this fit, or of an earlier fit that it continues, to the scores
    /// of all rows; training rows, in ascending order, by the rates of their folds.
    pub(super) fn add_values(
        &self,
        tree: &GradientTree,
        columns: &Columns<'_>,
        binned: &Binned,
        training: &[u32],
        scores: &mut [f64],
    ) -> Result<(), RankError> {
        if self.columns.is_empty() && self.pairs.is_empty() {
            return tree.add_values(columns, &[], scores);
        }
        let of_node = |node: &GradientNode| match node {
            GradientNode::Split { test, .. } => self.step_of(test),
            GradientNode::Leaf { .. } => None,
        };
        let steps: Vec<Option<(usize, u32)>> = tree.nodes().iter().map(of_node).collect();
        let n_features = columns.n_features();
        columns.by_tile(scores, 1, |(): &mut (), rows, values, out| {
            let mut learned = training
                [training.partition_point(|&row| (row as usize) < rows.start)..]
                .iter()
                .map(|&row| row as usize)
                .peekable();
            for ((row, values), out) in rows.zip(values.chunks(n_features)).zip(out) {
                let is_learned = learned.next_if_eq(&row).is_some();
                let goes_left = |place: usize, test: &Test| match steps[place] {
                    Some((column, step)) if is_learned => {
                        u32::from(binned.narrow_row(row)[column]) < step
                    }
                    _ => test.goes_left_of(values, &self.pairs),
                };
                *out += tree.value_by_place(goes_left);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;
    use crate::data::{BinningParams, Folds, LevelRates, MISSING_CODE, hold_out};

    const N_LEVELS: u32 = 400;

    fn unit(row: usize, what: u64) -> f64 {
        (mix(mix(row as u64) ^ what) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number and a feature of many categories, some of them frequent, with missing values.
    #[derive(Clone)]
    struct Sample {
        number: Vec<f64>,
        codes: Vec<u32>,
        positive: Vec<bool>,
        weights: Option<Vec<f64>>,
    }

    impl Sample {
        fn new(n_rows: usize) -> Self {
            let number: Vec<f64> = (0..n_rows).map(|row| unit(row, 0)).collect();
            // The last categories have no rows.
            let code = |row| match (unit(row, 1) * 10.0) as u32 {
                0 => MISSING_CODE,
                1..4 => (unit(row, 2) * 4.0) as u32,
                _ => (unit(row, 2) * f64::from(N_LEVELS - 10)) as u32,
            };
            let codes: Vec<u32> = (0..n_rows).map(code).collect();
            let positive = (0..n_rows).map(|row| {
                let of_level =
                    if codes[row] == MISSING_CODE { 0.5 } else { unit(codes[row] as usize, 3) };
                number[row] * 0.4 + of_level + unit(row, 4) > 1.3
            });
            Self { positive: positive.collect(), number, codes, weights: None }
        }

        fn rows(&self, rows: impl IntoIterator<Item = usize> + Clone) -> Self {
            Self {
                number: rows.clone().into_iter().map(|row| self.number[row]).collect(),
                codes: rows.clone().into_iter().map(|row| self.codes[row]).collect(),
                positive: rows.clone().into_iter().map(|row| self.positive[row]).collect(),
                weights: self
                    .weights
                    .as_ref()
                    .map(|weights| rows.into_iter().map(|row| weights[row]).collect()),
            }
        }

        fn columns(&self) -> Columns<'_> {
            let codes = Column::Codes { codes: &self.codes, n_levels: N_LEVELS };
            let columns = vec![self.number.as_slice().into(), codes];
            Columns::new(columns, self.codes.len()).unwrap()
        }

        fn labels(&self) -> Labels<'_> {
            Labels::new(&self.positive, self.weights.as_deref()).unwrap()
        }

        fn fit_given(
            &self,
            params: &GradientParams,
            given: &GradientExtras<'_>,
        ) -> GradientBoosted {
            let interrupt = Interrupt::default();
            let (columns, labels) = (self.columns(), self.labels());
            fit_gradient_boosting((&columns, &labels), params, given, &interrupt).unwrap()
        }

        fn fit(&self, params: &GradientParams) -> GradientBoosted {
            self.fit_given(params, &GradientExtras::default())
        }
    }

    fn few(loss: Loss) -> GradientParams {
        let (learning_rate, max_leaves) = (Some(0.2), Some(32));
        GradientParams {
            loss,
            n_rounds: 12,
            learning_rate,
            max_leaves,
            ..GradientParams::default()
        }
    }

    fn stopped(refit: GradientRefit) -> GradientParams {
        let held_out = GradientHeldOutParams {
            rows: HeldOutRows::Share(0.3),
            measure: HeldOutMeasure::Loss,
            n_iter_no_change: 3,
            tol: 0.0,
            refit,
        };
        GradientParams { n_rounds: 40, held_out: Some(held_out), ..few(Loss::Log) }
    }

    /// Whether trees test sets of rare categories.
    fn asks_rates(model: &GradientBoosted) -> bool {
        model.trees().iter().flat_map(GradientTree::tests).any(|(test, _)| {
            matches!(&test.left, Rule::Levels(set) if set.listed().iter().any(|&code| code >= 4))
        })
    }

    #[test]
    fn a_training_row_has_the_rate_of_the_other_folds_and_any_other_that_of_all_rows() {
        let sample = Sample {
            weights: Some((0..3000).map(|row| f64::from(row % 4)).collect()),
            ..Sample::new(3000)
        };
        let (columns, labels, interrupt) =
            (sample.columns(), sample.labels(), Interrupt::default());
        let params = GradientParams::default();
        let level_codes = LevelCodes::new(&columns, &labels).unwrap();
        let rated: Vec<usize> = level_codes.kept.with_rates().map(|(feature, _)| feature).collect();
        assert_eq!(rated, [1]);
        let coded = level_codes.columns(&columns, &interrupt).unwrap();
        let binning = BinningParams { level_rates: LevelRates::Raw, ..BinningParams::default() };
        let binned = Binned::new(&coded, &labels, binning, &interrupt).unwrap();
        let training: Vec<u32> =
            labels.rows().into_iter().filter(|&row| unit(row as usize, 9) < 0.8).collect();
        let of = |labels: &Labels<'_>, training: &[u32]| {
            let source = RateSource {
                columns: &columns,
                labels,
                training,
                level_codes: &level_codes,
                pairs: &[],
            };
            let RatedCodes { rates, binned } =
                RatedCodes::new(&binned, source, &params, 0, &interrupt).unwrap();
            let codes: Vec<u32> = (0..3000).map(|row| binned.code(row, 2)).collect();
            (rates.columns.get(rates.columns.n_features()).unwrap().steps.cuts().to_vec(), codes)
        };
        let (cuts, codes) = of(&labels, &training);
        assert!(cuts.len() > 20);

        let seed = mix(params.seed ^ SEED_OF_RATES);
        let folds = Folds::deal(&columns, &labels, 5, seed, &interrupt).unwrap().of_row;
        let weights = sample.weights.clone().unwrap();
        // The definition: sums over rows in one place or another.
        let excess = |level: u32, is_counted: &dyn Fn(usize) -> bool| -> f64 {
            let [mut n, mut p, mut n_all, mut p_all] = [0.0; 4];
            for row in training.iter().map(|&row| row as usize).filter(|&row| is_counted(row)) {
                let positive = f64::from(u8::from(sample.positive[row])) * weights[row];
                (n_all, p_all) = (n_all + weights[row], p_all + positive);
                if sample.codes[row] == level {
                    (n, p) = (n + weights[row], p + positive);
                }
            }
            let rate = p_all / n_all;
            (p + 10.0 * rate) / (n + 10.0) - rate
        };
        for row in 0..3000 {
            let expected = match sample.codes[row] {
                MISSING_CODE => 0.0,
                level if training.contains(&(row as u32)) => {
                    excess(level, &|other| folds[other] != folds[row])
                }
                level => excess(level, &|_| true),
            };
            // Equal rates may differ by rounding errors.
            let steps = [-1e-12, 1e-12]
                .map(|near| cuts.iter().filter(|&&cut| cut <= expected + near).count() as u32);
            assert!((steps[0]..=steps[1]).contains(&codes[row]), "row {row}");
        }

        // Rows outside the training rows have no effect.
        let mut other = sample.clone();
        let flipped: Vec<usize> = (0..3000).filter(|row| weights[*row] == 0.0).collect();
        for &row in &flipped {
            other.positive[row] = !other.positive[row];
        }
        assert!(!flipped.is_empty());
        assert_eq!(of(&other.labels(), &training), (cuts, codes));
    }

    #[test]
    fn many_common_categories_have_rates_too() {
        let of = |n_levels: u32| {
            let sample = Sample::new(3000);
            let codes = (0..3000).map(|row| row % n_levels).collect();
            let level = |row: usize| unit(row % n_levels as usize, 3);
            let positive = (0..3000).map(|row| level(row) + unit(row, 4) > 1.0).collect();
            Sample { codes, positive, ..sample }
        };
        let params = GradientParams::default();
        let n_rates = |sample: &Sample| {
            let (columns, labels) = (sample.columns(), sample.labels());
            let interrupt = Interrupt::default();
            let level_codes = LevelCodes::new(&columns, &labels).unwrap();
            let binned = Binned::new(
                &level_codes.columns(&columns, &interrupt).unwrap(),
                &labels,
                BinningParams { level_rates: LevelRates::Raw, ..BinningParams::default() },
                &interrupt,
            );
            let binned = binned.unwrap();
            // All categories keep their codes.
            assert!((0..3000).all(|row| binned.code(row, 1) == sample.codes[row]));
            let source = RateSource {
                columns: &columns,
                labels: &labels,
                training: &labels.rows(),
                level_codes: &level_codes,
                pairs: &[],
            };
            RatedCodes::new(&binned, source, &params, 0, &interrupt).unwrap().rates.n_rates()
        };
        // One of rates, and one of numbers of rows.
        assert_eq!([100, 101].map(|n_levels| n_rates(&of(n_levels))), [0, 2]);
    }

    #[test]
    fn neither_threads_nor_the_order_of_rows_nor_copies_matter() {
        let mut sample = Sample::new(2000);
        sample.weights = Some((0..2000).map(|row| (mix(row) % 4) as f64).collect());
        let weights = sample.weights.clone().unwrap();
        let copies: Vec<usize> =
            (0..2000).rev().flat_map(|row| vec![row; weights[row] as usize]).collect();
        let copied = Sample { weights: None, ..sample.rows(copies) };
        let bags = GradientParams { n_bags: 3, ..stopped(GradientRefit::None) };
        let pairs = GradientParams {
            interactions: Interactions::Pairs(1),
            ..stopped(GradientRefit::Trees)
        };
        for params in
            [few(Loss::Log), few(Loss::PairLogistic), stopped(GradientRefit::Trees), bags, pairs]
        {
            let fits = [1, 3].map(|n_threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                pool.install(|| sample.fit(&params))
            });
            assert!(asks_rates(&fits[0]));
            assert_eq!(fits[0], fits[1]);
            assert_eq!(copied.fit(&params), fits[0]);
        }
    }

    #[test]
    fn further_rounds_are_those_of_one_longer_fit() {
        let sample = Sample::new(2000);
        for params in [few(Loss::Log), few(Loss::PairExponential), stopped(GradientRefit::None)] {
            let longer = sample.fit(&params);
            assert!(asks_rates(&longer));
            let half = GradientParams { n_rounds: 5, held_out: None, ..params.clone() };
            let half = match params.held_out {
                // The same rows are held out, and none of the rounds is cut.
                Some(held_out) => sample.fit(&GradientParams {
                    n_rounds: 2,
                    held_out: Some(held_out),
                    ..params.clone()
                }),
                None => sample.fit(&half),
            };
            let given = GradientExtras { earlier: Some(&half), ..GradientExtras::default() };
            assert_eq!(sample.fit_given(&params, &given), longer);
        }
    }

    #[test]
    fn held_out_rows_are_scored_as_the_model_scores_them() {
        let sample = Sample::new(3000);
        let (columns, labels) = (sample.columns(), sample.labels());
        let params = stopped(GradientRefit::None);
        let model = sample.fit(&params);
        assert!(asks_rates(&model));
        let parts = hold_out(&columns, &labels, 0.3, 0, &Interrupt::default());
        let rows: Vec<usize> =
            parts.unwrap().unwrap().held_out.into_iter().map(|row| row as usize).collect();
        let held_out = sample.rows(rows);
        let scores = model.score(&held_out.columns()).unwrap();
        let path = model.held_out().unwrap();
        let value = Loss::Log.value(&scores, &held_out.positive, None, 1.0);
        assert_eq!(path.values[path.n_rounds - 1], value);
    }

    #[test]
    fn a_category_that_was_not_seen_is_scored_as_a_missing_one() {
        let sample = Sample::new(3000);
        let model = sample.fit(&few(Loss::Log));
        assert!(asks_rates(&model));
        let score = |code: u32| {
            let rows = Sample { codes: vec![code; 50], ..sample.rows(0..50) };
            model.score(&rows.columns()).unwrap()
        };
        assert_eq!(score(N_LEVELS - 1), score(MISSING_CODE));
        assert_ne!(score(7), score(MISSING_CODE));
    }

    #[test]
    fn a_feature_without_interactions_has_none_with_its_rates() {
        let sample = Sample::new(3000);
        let interactions = Interactions::Groups(Vec::new());
        let pairs = Interactions::Pairs(1);
        let params = GradientParams { interactions, ..few(Loss::Log) };
        let model = sample.fit(&params);
        assert!(asks_rates(&model) && model.is_additive());
        let model = sample.fit(&GradientParams { interactions: pairs, ..params });
        let scores = model.score(&sample.columns()).unwrap();
        assert_eq!(model.formula().values(&sample.columns()).unwrap(), scores);
        let importances = model.importances();
        assert!(importances.len() == 2 && importances[1] > importances[0]);
        assert_eq!(model.check(), Ok(()));
        let text = serde_json::to_string(&model).unwrap();
        assert_eq!(serde_json::from_str::<GradientBoosted>(&text).unwrap(), model);
    }
}
