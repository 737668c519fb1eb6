//! What a fit cannot be given with rows elsewhere.

use aucrank::boost::{
    BagFolds, BoostedModel, FitExtras, GradientExtras, GradientParams, MartiParams,
    RankBoostParams, fit_auc_boost, fit_gradient_boosting, fit_gradient_folds, fit_marti_rank,
    fit_rank_boost,
};
use aucrank::data::{Batch, BinningParams, Columns, Folds, Labels, LevelRates};
use aucrank::rows::{StoredRows, Survey};
use aucrank::{Interrupt, RankError};

const RULE: &str = "left out where rows are read in parts";

fn refused<T: std::fmt::Debug>(found: Result<T, RankError>) -> &'static str {
    match found.unwrap_err() {
        RankError::BadParameter { name, value, rule } => {
            assert_eq!((&*value, rule), ("given", RULE));
            name
        }
        err => panic!("{err}"),
    }
}

#[test]
fn what_needs_rows_in_memory_is_refused_by_name() {
    let values: Vec<f64> = (0..60).map(f64::from).collect();
    let positive: Vec<bool> = (0..60).map(|row| row % 7 > 3).collect();
    let columns = Columns::from_column_major(&values, 60).unwrap();
    let labels = Labels::new(&positive, None).unwrap();
    let interrupt = Interrupt::default();
    let binning = BinningParams { level_rates: LevelRates::Raw, ..BinningParams::default() };
    let batch = Batch::new(&columns, &positive);
    let mut survey = Survey::new(&[None], binning, None).unwrap();
    survey.add(&batch, &interrupt).unwrap();
    let mut rows = StoredRows::new(survey.frame().unwrap(), None).unwrap();
    rows.add(&batch, &interrupt).unwrap();
    rows.finish().unwrap();

    let params = RankBoostParams::default();
    let none = FitExtras::default();
    let earlier: BoostedModel =
        fit_rank_boost((&columns, &labels), &params, &none, &interrupt).unwrap();
    let validation = Some((&columns, &labels));
    for (name, given) in [
        ("an earlier model", FitExtras { earlier: Some(&earlier), ..none }),
        ("validation rows", FitExtras { validation, ..none }),
    ] {
        assert_eq!(refused(fit_rank_boost((&rows, 0), &params, &given, &interrupt)), name);
        let params = aucrank::boost::AucBoostParams::default();
        assert_eq!(refused(fit_auc_boost((&rows, 0), &params, &given, &interrupt)), name);
    }

    let params = GradientParams { n_rounds: 3, ..GradientParams::default() };
    let none = GradientExtras::default();
    let earlier = fit_gradient_boosting((&columns, &labels), &params, &none, &interrupt).unwrap();
    let folds = Folds::deal(&columns, &labels, 3, 0, &interrupt).unwrap();
    for (name, given) in [
        ("an earlier model", GradientExtras { earlier: Some(&earlier), ..none }),
        ("validation rows", GradientExtras { validation, ..none }),
        ("folds", GradientExtras { folds: Some(&folds), ..none }),
    ] {
        assert_eq!(refused(fit_gradient_boosting((&rows, 0), &params, &given, &interrupt)), name);
    }
    let stopped = GradientParams::stopped();
    let given = BagFolds::Given(&folds);
    assert_eq!(refused(fit_gradient_folds((&rows, 0), given, &stopped, &interrupt)), "folds");
    assert!(fit_marti_rank((&rows, 0), &MartiParams::default(), None, &interrupt).is_ok());
}
