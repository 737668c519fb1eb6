//! Terms on columns of rates, which are terms on categories once the fit is over.

use super::term::{Term, TreeTerm};
use crate::data::{FeatureSteps, FeatureTerm, RateColumns, RateSteps, threshold};

impl Term {
    /// The term of features that it stands for by all rows that the fit learned from.
    pub(super) fn without_rates(self, rates: &RateColumns) -> Self {
        match self {
            Self::Feature(term) => Self::Feature(match rates.get(term.feature) {
                Some(column) => of_levels(&term, column.feature, &column.steps),
                None => term,
            }),
            Self::Tree(TreeTerm { tree, values }) if !rates.is_empty() => {
                Self::Tree(TreeTerm { tree: tree.without_rates(rates), values })
            }
            Self::Tree(_) | Self::Scored(_) => self,
        }
    }

    /// A term of a finished model as it was during the fit, if it was found with these rates.
    pub(super) fn with_rates(self, rates: &RateColumns) -> Self {
        match self {
            Self::Feature(term) => {
                let column = rates.of_feature(term.feature);
                let of_rates =
                    column.and_then(|(column, rates)| of_steps(&term, column, &rates.steps));
                Self::Feature(of_rates.unwrap_or(term))
            }
            Self::Tree(TreeTerm { tree, values }) if !rates.is_empty() => {
                Self::Tree(TreeTerm { tree: tree.with_rates(rates), values })
            }
            Self::Tree(_) | Self::Scored(_) => self,
        }
    }
}

/// A term on the steps of rates, category by category.
fn of_levels(term: &FeatureTerm, feature: usize, steps: &RateSteps) -> FeatureTerm {
    let value = |step: u32| term.value(step.into());
    let values = (0..steps.n_levels()).map(|level| value(steps.of_level(level))).collect();
    let missing = value(steps.of_mean());
    FeatureTerm { feature, steps: FeatureSteps::Categorical { values }, missing }
}

/// The term on the steps of rates that [`of_levels`] has made a term of, if it has. Values then rise or
/// fall with the rates. Of a term on codes they do not unless they are all equal: there rare categories
/// have the value of a missing one, and some are in the first step and in the last, or the mean is.
#[expect(clippy::float_cmp, reason = "the values of a step are the same number")]
fn of_steps(term: &FeatureTerm, column: usize, steps: &RateSteps) -> Option<FeatureTerm> {
    let mut of_step: Vec<Option<f64>> = vec![None; steps.cuts().len() + 1];
    let levels =
        (0..steps.n_levels()).map(|level| (steps.of_level(level), term.value(level.into())));
    for (step, value) in levels.chain([(steps.of_mean(), term.missing)]) {
        let known = of_step[step as usize].get_or_insert(value);
        if *known != value {
            return None;
        }
    }
    // Each step has a category or the mean.
    let of_step: Vec<f64> = of_step.into_iter().collect::<Option<_>>()?;
    if !(of_step.is_sorted() || of_step.is_sorted_by(|a, b| a >= b)) {
        return None;
    }
    let (mut thresholds, mut values) = (Vec::new(), vec![of_step[0]]);
    for (step, value) in (0..).zip(of_step) {
        if values.last() != Some(&value) {
            thresholds.push(threshold(step));
            values.push(value);
        }
    }
    Some(FeatureTerm {
        feature: column,
        steps: FeatureSteps::Numeric { thresholds, values },
        missing: term.missing,
    })
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;
    use crate::Interrupt;
    use crate::data::rare_rows::{N_LEVELS, RareRows};
    use crate::data::{MISSING_CODE, hold_out, mix};
    use crate::roc::auc;
    use crate::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams};

    fn tree() -> WeakRankerParams {
        let grow = GrowParams { max_depth: 3, ..GrowParams::default() };
        let split = SplitRule::Stumps(LeafRankParams::orthogonal(5));
        WeakRankerParams::Tree(Box::new(TreeRankParams::new(grow, split)))
    }

    fn rankers() -> [WeakRankerParams; 3] {
        [WeakRankerParams::Threshold, WeakRankerParams::Feature, tree()]
    }

    fn rounds(weak_ranker: WeakRankerParams, n_rounds: usize) -> RoundParams {
        RoundParams { weak_ranker, n_rounds, seed: 5, ..RoundParams::default() }
    }

    /// Of both boosters.
    fn fit_given(
        sample: &RareRows,
        rounds: &RoundParams,
        given: [&FitExtras<'_>; 2],
    ) -> [BoostedModel; 2] {
        let (columns, labels) = (sample.columns(), sample.labels());
        let interrupt = Interrupt::default();
        let of_pairs = RankBoostParams { rounds: rounds.clone(), ..RankBoostParams::default() };
        let of_auc = AucBoostParams { rounds: rounds.clone(), ..AucBoostParams::default() };
        [
            fit_rank_boost(&columns, &labels, &of_pairs, given[0], &interrupt).unwrap(),
            fit_auc_boost(&columns, &labels, &of_auc, given[1], &interrupt).unwrap(),
        ]
    }

    fn fit(sample: &RareRows, rounds: &RoundParams) -> [BoostedModel; 2] {
        fit_given(sample, rounds, [&FitExtras::default(); 2])
    }

    fn score(model: &BoostedModel, sample: &RareRows) -> Vec<f64> {
        model.score(&sample.columns(), None).unwrap()
    }

    /// Whether rare categories are distinguished from one another.
    fn asks_rates(model: &BoostedModel) -> bool {
        let rows = RareRows {
            number: vec![0.5; 300],
            codes: (4..304).collect(),
            positive: vec![true; 300],
            weights: None,
        };
        let scores = score(model, &rows);
        scores.iter().any(|other| other != &scores[0])
    }

    #[test]
    fn a_term_of_rates_is_one_of_categories_and_back() {
        let sample = RareRows::new(3000);
        let (columns, labels) = (sample.columns(), sample.labels());
        let (rows, interrupt) = (labels.rows(), Interrupt::default());
        let rare = sample.rare(&labels);
        let rates = rare.columns(&columns, &labels, &rows, Some(20), &interrupt).unwrap();
        let steps = &rates.get(2).unwrap().steps;
        let n_cuts = steps.cuts().len() as u32;
        for seed in 0..50_u64 {
            let mut at: Vec<u32> = (0..3)
                .map(|place| 1 + (mix(seed << 8 ^ place) % u64::from(n_cuts)) as u32)
                .collect();
            at.sort_unstable();
            at.dedup();
            let sign = if seed % 2 == 0 { 1.0 } else { -1.0 };
            let values: Vec<f64> = (0..=at.len()).map(|step| sign * step as f64).collect();
            let thresholds = at.iter().map(|&step| threshold(step)).collect();
            let of_rates = FeatureSteps::Numeric { thresholds, values: values.clone() };
            let term = FeatureTerm { feature: 2, steps: of_rates, missing: 0.0 };
            let Term::Feature(found) = Term::Feature(term.clone()).without_rates(&rates) else {
                panic!("a feature")
            };
            // The definition: each category by the cuts that its rate is not below.
            for level in 0..N_LEVELS {
                let step = at.iter().filter(|&&step| step <= steps.of_level(level)).count();
                assert_eq!(found.value(level.into()), values[step]);
            }
            assert_eq!(found.feature, 1);
            assert_eq!(found.value(f64::NAN), found.value((N_LEVELS - 1).into()));
            let Term::Feature(back) = Term::Feature(found).with_rates(&rates) else {
                panic!("a feature")
            };
            assert_eq!((back.feature, back.steps), (2, term.steps));
        }
        // A term on frequent categories stays what it is.
        let mut values = vec![0.5; N_LEVELS as usize];
        values[..4].copy_from_slice(&[1.0, 0.5, -1.0, 0.5]);
        let steps = FeatureSteps::Categorical { values };
        let term = Term::Feature(FeatureTerm { feature: 1, steps, missing: 0.5 });
        assert_eq!(term.clone().with_rates(&rates), term);
    }

    #[test]
    fn rare_categories_are_ranked_by_their_rates_and_unseen_ones_as_missing() {
        let (sample, new) = (RareRows::new(3000), RareRows::new(6000));
        let new = new.rows(&(3000..6000).collect::<Vec<_>>());
        for weak in rankers() {
            let with_rates = fit(&sample, &rounds(weak.clone(), 40));
            let without = fit(&sample.without_rare(), &rounds(weak, 40));
            for (model, other) in with_rates.iter().zip(&without) {
                assert!(asks_rates(model) && model.check().is_ok());
                let auc_of = |model, new| auc(&score(model, new), &new.positive).unwrap();
                assert!(auc_of(model, &new) > auc_of(other, &new.without_rare()) + 0.02);
                let of = |code| score(model, &RareRows { codes: vec![code; 3000], ..new.clone() });
                assert_eq!(of(N_LEVELS - 1), of(MISSING_CODE));
                assert_eq!(model.formula().values(&new.columns()).unwrap(), score(model, &new));
                #[cfg(feature = "serde")]
                {
                    let text = serde_json::to_string(model).unwrap();
                    assert_eq!(&serde_json::from_str::<BoostedModel>(&text).unwrap(), model);
                }
            }
        }
    }

    #[test]
    fn neither_threads_nor_the_order_of_rows_nor_copies_matter() {
        let [weighted, copied] = RareRows::new(2000).weighted_and_copied();
        for weak in rankers() {
            let drawn = RoundParams {
                subsample: 0.6,
                max_features: Some(1),
                held_out: Some(HeldOutParams {
                    fraction: 0.2,
                    rule: HeldOutRule::Window,
                    refit: true,
                }),
                ..rounds(weak.clone(), 12)
            };
            for params in [rounds(weak, 12), drawn] {
                let fits = [1, 3].map(|n_threads| {
                    let pool =
                        rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                    pool.install(|| fit(&weighted, &params))
                });
                assert!(fits[0].iter().all(asks_rates));
                assert_eq!(fits[0], fits[1]);
                assert_eq!(fit(&copied, &params), fits[0]);
            }
        }
    }

    #[test]
    fn further_rounds_are_those_of_one_longer_fit() {
        let sample = RareRows::new(2000);
        for weak in rankers() {
            let longer = fit(&sample, &rounds(weak.clone(), 16));
            assert!(longer.iter().all(asks_rates));
            let half = fit(&sample, &rounds(weak.clone(), 7));
            let given =
                [0, 1].map(|of| FitExtras { earlier: Some(&half[of]), ..FitExtras::default() });
            assert_eq!(fit_given(&sample, &rounds(weak, 16), [&given[0], &given[1]]), longer);
        }
    }

    #[test]
    fn rows_held_out_or_given_are_judged_as_the_model_scores_them() {
        let sample = RareRows::new(3000);
        let held_out = HeldOutParams {
            fraction: 0.3,
            rule: HeldOutRule::Patience { n_iter_no_change: 50, tol: 0.0 },
            refit: false,
        };
        let (columns, labels) = (sample.columns(), sample.labels());
        let parts = hold_out(&columns, &labels, 0.3, 5, &Interrupt::default()).unwrap().unwrap();
        let rows: Vec<usize> = parts.held_out.into_iter().map(|row| row as usize).collect();
        let others = sample.rows(&rows);
        let (other_columns, other_labels) = (others.columns(), others.labels());
        for weak in rankers() {
            let params = RoundParams { held_out: Some(held_out), ..rounds(weak, 30) };
            let validation = Some((&other_columns, &other_labels));
            let given = FitExtras { validation, ..FitExtras::default() };
            for models in [fit(&sample, &params), fit_given(&sample, &params, [&given; 2])] {
                for model in &models {
                    let path = model.held_out().unwrap();
                    let found = auc(&score(model, &others), &others.positive).unwrap();
                    assert_eq!(path.auc[path.n_rounds - 1], found);
                }
            }
        }
    }
}
