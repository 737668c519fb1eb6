//! Categories of many levels by their rates.
//!
//! If the categories without their own weight hold a considerable share of the rows, or if there are
//! many categories (`data/rates/rated_levels.rs`), a fit has one more number for the feature: the
//! rate of the category of each row in the other folds (`data/rates/fold_rates.rs`). After the fit,
//! its contribution for the rate of each category over all rows is added to the weight of that
//! category.

use super::design::{Design, DistinctRows, standardised};
use super::model::NumberTerm;
use crate::data::{
    Column, Columns, FeatureSteps, FeatureTerm, FoldRates, Labels, RatedLevels, deal_for_rates,
    features_with_rates,
};
use crate::{Interrupt, RankError, parallel};

/// The rates of a feature's categories.
#[derive(Debug)]
struct LinearRate {
    feature: usize,
    rates: FoldRates,
    /// For each row the rate of its category in the other folds.
    values: Vec<f64>,
}

/// The columns of rates of a fit, after those of its features.
#[derive(Debug)]
pub(super) struct LinearRates {
    n_features: usize,
    columns: Vec<LinearRate>,
}

impl LinearRates {
    pub(super) fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let n_features = columns.n_features();
        let nothing = Self { n_features, columns: Vec::new() };
        let features = features_with_rates(columns, labels);
        if features.is_empty() {
            return Ok(nothing);
        }
        let Some(folds) = deal_for_rates(columns, labels, 0, interrupt)? else {
            return Ok(nothing);
        };
        let training = labels.rows();
        let of_feature = |(feature, levels): (usize, RatedLevels)| {
            interrupt.check()?;
            let Column::Codes { codes, n_levels } = columns[feature] else { return Ok(None) };
            let rates = FoldRates::of(codes, n_levels, labels, &training, &folds);
            if !rates.are_informative(|level| levels.has_rate(level)) {
                return Ok(None);
            }
            let mut values = vec![0.0; codes.len()];
            for row in training.iter().map(|&row| row as usize) {
                values[row] = rates.outside(codes[row], folds.of_row[row]);
            }
            Ok(Some(LinearRate { feature, rates, values }))
        };
        let columns = parallel::try_map(features, of_feature)?.into_iter().flatten().collect();
        Ok(Self { n_features, columns })
    }

    /// The columns of a fit, followed by those of rates.
    pub(super) fn behind<'c>(&'c self, columns: &Columns<'c>) -> Result<Columns<'c>, RankError> {
        let rates = self.columns.iter().map(|rates| Column::from(&rates.values[..]));
        Columns::new(columns.iter().copied().chain(rates).collect(), columns.n_rows())
    }

    /// The feature of a column.
    fn feature(&self, column: usize) -> usize {
        let place = column.checked_sub(self.n_features);
        place.and_then(|place| self.columns.get(place)).map_or(column, |rates| rates.feature)
    }

    /// The numbers and steps of a fit without those of rates, which are added to the values of the
    /// categories.
    pub(super) fn take_out(&self, numbers: &mut Vec<NumberTerm>, steps: &mut Vec<FeatureTerm>) {
        let of_rates =
            steps.split_off(steps.partition_point(|term| term.feature < self.n_features));
        let n_own = numbers.partition_point(|number| number.feature < self.n_features);
        let numbers = numbers.split_off(n_own);
        for (column, rates) in (self.n_features..).zip(&self.columns) {
            let number = numbers.iter().find(|number| number.feature == column);
            let step = of_rates.iter().find(|term| term.feature == column);
            let value = |rate: f64| {
                let line = number.map_or(0.0, |number| {
                    number.weight * standardised(rate, number.mean, number.deviation)
                });
                line + step.map_or(0.0, |term| step_at(term, rate))
            };
            let place = steps.partition_point(|term| term.feature < rates.feature);
            if steps.get(place).is_none_or(|term| term.feature != rates.feature) {
                let values = vec![0.0; rates.rates.n_levels() as usize];
                let term = FeatureSteps::Categorical { values };
                let term = FeatureTerm { feature: rates.feature, steps: term, missing: 0.0 };
                steps.insert(place, term);
            }
            let term = &mut steps[place];
            term.missing += value(0.0);
            if let FeatureSteps::Categorical { values } = &mut term.steps {
                for (level, own) in (0..).zip(values) {
                    *own += value(rates.rates.overall(level));
                }
            }
        }
    }

    /// Sets the means of features with rates: mean contributions of the finished model to the
    /// scores of the rows, weighted by their shares.
    pub(super) fn set_means(
        &self,
        columns: &Columns<'_>,
        rows: &DistinctRows,
        steps: &[FeatureTerm],
        means: &mut [f64],
    ) {
        let shares = rows.shares();
        for rates in &self.columns {
            let term = steps.iter().find(|term| term.feature == rates.feature);
            let (Some(term), Column::Codes { codes, .. }) = (term, columns[rates.feature]) else {
                continue;
            };
            let FeatureSteps::Categorical { values } = &term.steps else { continue };
            let value = |row: u32| {
                values.get(codes[row as usize] as usize).copied().unwrap_or(term.missing)
            };
            let parts = rows.rows.iter().zip(&shares).map(|(&row, share)| share * value(row));
            means[rates.feature] = parts.sum();
        }
    }

    /// Contribution of each feature to the scores of the first rows, including that of rates.
    pub(super) fn feature_parts(
        &self,
        design: &Design,
        cells: &[f64],
        n_rows: usize,
    ) -> Vec<(usize, Vec<f64>)> {
        let mut parts = design.feature_parts(cells, n_rows);
        let n_own = parts.partition_point(|(column, _)| *column < self.n_features);
        for (column, part) in parts.split_off(n_own) {
            let feature = self.feature(column);
            let place = parts.partition_point(|(other, _)| *other < feature);
            if parts.get(place).is_none_or(|(other, _)| *other != feature) {
                parts.insert(place, (feature, vec![0.0; n_rows]));
            }
            parts[place].1.iter_mut().zip(part).for_each(|(own, more)| *own += more);
        }
        parts
    }
}

/// The value of a number's steps.
fn step_at(term: &FeatureTerm, value: f64) -> f64 {
    match &term.steps {
        FeatureSteps::Numeric { thresholds, values } => {
            values[thresholds.partition_point(|&threshold| threshold <= value)]
        }
        FeatureSteps::Categorical { .. } => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LinearModel, LinearParams, fit_linear};
    use super::*;
    use crate::data::{MISSING_CODE, mix};

    const N_LEVELS: u32 = 400;

    fn unit(row: usize, what: u64) -> f64 {
        (mix(mix(row as u64) ^ what) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn codes(rows: &[usize]) -> Vec<u32> {
        let code = |&row: &usize| match unit(row, 5) {
            share if share < 0.1 => MISSING_CODE,
            // The last categories have no rows.
            _ => (unit(row, 1) * f64::from(N_LEVELS - 10)) as u32,
        };
        rows.iter().map(code).collect()
    }

    fn fit(rows: &[usize], weights: Option<&[f64]>) -> (LinearModel, Vec<f64>) {
        let numbers: Vec<f64> = rows.iter().map(|&row| unit(row, 0)).collect();
        let codes = codes(rows);
        let positive: Vec<bool> = rows
            .iter()
            .zip(&codes)
            .map(|(&row, &code)| unit(code as usize, 2) > unit(row, 3))
            .collect();
        let codes = Column::Codes { codes: &codes, n_levels: N_LEVELS };
        let columns = Columns::new(vec![Column::from(&numbers[..]), codes], rows.len()).unwrap();
        let labels = Labels::new(&positive, weights).unwrap();
        let params = LinearParams::default();
        let model = fit_linear(&columns, &labels, &params, &Interrupt::default()).unwrap();
        let scores = model.score(&columns).unwrap();
        assert_eq!(model.formula().values(&columns).unwrap(), scores);
        (model, scores)
    }

    #[test]
    fn each_category_has_the_value_of_its_rate() {
        let rows: Vec<usize> = (0..3000).collect();
        let (model, scores) = fit(&rows, None);
        assert_eq!(model.check(), Ok(()));
        assert!(model.numbers().iter().all(|number| number.feature == 0));
        let term = model.steps().iter().find(|term| term.feature == 1).unwrap();
        let FeatureSteps::Categorical { values } = &term.steps else {
            panic!("a feature of categories")
        };
        assert!(values[N_LEVELS as usize - 10..].iter().all(|&value| value == term.missing));
        // The definition; a category of six rows, 0.2 % of all, also has its own weight.
        let codes = codes(&rows);
        let positive: Vec<bool> =
            rows.iter().map(|&row| unit(codes[row] as usize, 2) > unit(row, 3)).collect();
        let rate = positive.iter().filter(|&&positive| positive).count() as f64 / 3000.0;
        let mut sorted: Vec<(f64, f64, bool)> = (0..N_LEVELS - 10)
            .map(|level| {
                let of_level = || (0..3000).filter(|&row| codes[row] == level);
                let n = of_level().count() as f64;
                let p = of_level().filter(|&row| positive[row]).count() as f64;
                ((p - n * rate) / (n + 10.0), values[level as usize], n < 6.0)
            })
            .collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [low, high] = [&sorted[..50], &sorted[sorted.len() - 50..]]
            .map(|part| part.iter().map(|(_, value, _)| value).sum::<f64>() / 50.0);
        assert!(low < term.missing && term.missing < high, "{low} {high}");
        let rare: Vec<&(f64, f64, bool)> = sorted.iter().filter(|(.., is_rare)| *is_rare).collect();
        let equal = || rare.windows(2).filter(|pair| (pair[0].0 - pair[1].0).abs() < 1e-12);
        assert!(equal().count() > 10);
        assert!(equal().all(|pair| pair[0].1 == pair[1].1), "categories of one rate");
        let mean = scores.iter().sum::<f64>() / 3000.0;
        assert!((model.base_score() - mean).abs() < 1e-9);
    }

    #[test]
    fn neither_the_order_of_rows_nor_copies_matter() {
        let rows: Vec<usize> = (0..2000).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| (mix(row as u64) % 4) as f64).collect();
        let copies: Vec<usize> =
            (0..2000).rev().flat_map(|row| vec![row; weights[row] as usize]).collect();
        let model = fit(&rows, Some(&weights)).0;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(|| fit(&copies, None).0), model);
    }
}
