//! The side of dyadic cubes chosen by the data (paper 2 Remark 6).
//!
//! Fine cubes come close to any level set and hold few rows; which side is best depends on the law.
//! Levels are tried from the coarsest on, and the one whose trees rank rows that they were not grown
//! on best is taken, the coarsest of equals.

use super::params::TreeRankParams;
use super::tree_rank_model::TreeRankModel;
use crate::RankError;
use crate::tree::prune::{CvParams, PruningRule};
use crate::tree::split::{DyadicParams, SplitRule};

/// The finest level that is tried.
const FINEST: u32 = 16;
/// So many finer levels in a row that rank no better end the trials.
const MOST_WORSE: usize = 2;
/// Folds where the pruning deals none.
const N_FOLDS: u16 = 5;

/// The parameters with cubes of a level.
fn with_level(params: &TreeRankParams, level: u32) -> TreeRankParams {
    let split = SplitRule::Dyadic(DyadicParams { level: Some(level) });
    TreeRankParams { split, ..params.clone() }
}

/// Fits trees of cubes of several levels by `fit`, and returns the one chosen.
pub(super) fn fit_best_level(
    params: &TreeRankParams,
    fit: impl Fn(&TreeRankParams) -> Result<TreeRankModel, RankError>,
) -> Result<TreeRankModel, RankError> {
    let holds_out = matches!(
        params.pruning,
        Some(PruningRule::CrossValidation(_) | PruningRule::Validation(_))
    );
    let mut judged = params.clone();
    if !holds_out {
        let by_folds = CvParams { n_folds: N_FOLDS, one_standard_error: false, seed: params.seed };
        judged.pruning = Some(PruningRule::CrossValidation(by_folds));
    }
    let mut best: Option<(u32, f64, TreeRankModel)> = None;
    let mut n_worse = 0;
    for level in 1..=FINEST {
        let model = match fit(&with_level(&judged, level)) {
            Err(RankError::CubesTooFine { .. }) if level > 1 => break,
            model => model?,
        };
        let auc = held_out_auc(&model, params.pruning.is_some());
        if best.as_ref().is_none_or(|best| auc > best.1) {
            best = Some((level, auc, model));
            n_worse = 0;
        } else {
            n_worse += 1;
            if n_worse == MOST_WORSE {
                break;
            }
        }
    }
    let (level, _, model) = best.expect("the coarsest level was tried");
    if holds_out { Ok(model) } else { fit(&with_level(params, level)) }
}

/// The AUC on rows that trees were not grown on, of whole trees or of those that were kept; 0 where no
/// rows could be held out.
fn held_out_auc(model: &TreeRankModel, is_pruned: bool) -> f64 {
    if let Some(found) = &model.validation {
        return found.auc[found.chosen];
    }
    let found = model.cross_validation.as_ref();
    found.map_or(0.0, |found| found.mean_auc[if is_pruned { found.chosen } else { 0 }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::data::{Columns, Labels, mix};
    use crate::tree::{GrowParams, ValidationParams, fit};

    #[test]
    fn the_level_is_the_one_whose_tree_ranks_held_out_rows_best() {
        let values: Vec<f64> = (0..600).map(|place| (mix(place) % 1000) as f64 / 999.0).collect();
        let columns = Columns::from_row_major(&values, 2).unwrap();
        // Positive in two of the four quarters by one feature, but for some noise.
        let positive: Vec<bool> = (0..300)
            .map(|row| {
                let quarter = (4.0 * values[2 * row]) as u32;
                (quarter % 2 == 1) != mix(!(row as u64)).is_multiple_of(5)
            })
            .collect();
        let labels = Labels::new(&positive, None).unwrap();
        let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
        let of_folds = CvParams { n_folds: 4, one_standard_error: false, seed: 1 };
        for pruning in [
            None,
            Some(PruningRule::CrossValidation(of_folds)),
            Some(PruningRule::Validation(ValidationParams { fraction: 0.3, seed: 1 })),
        ] {
            let params = |level| TreeRankParams {
                pruning,
                ..TreeRankParams::new(grow, SplitRule::Dyadic(DyadicParams { level }))
            };
            let fit = |params: &TreeRankParams| {
                fit(&columns, &labels, params, &Interrupt::default()).unwrap()
            };
            let auc = |level| {
                let folds = CvParams { n_folds: N_FOLDS, seed: 0, ..of_folds };
                let by_folds = Some(PruningRule::CrossValidation(folds));
                let mut judged = params(Some(level));
                judged.pruning = judged.pruning.or(by_folds);
                held_out_auc(&fit(&judged), pruning.is_some())
            };
            let chosen = fit(&params(None));
            let level = chosen.tree.cube_level().unwrap();
            assert!((1..6).all(|other| auc(level) >= auc(other)), "{level}");
            assert_eq!(chosen, fit(&params(Some(level))));
            // Halves cannot tell the quarters apart.
            assert!(level > 1);
        }
    }

    #[test]
    fn a_class_of_one_row_has_the_coarsest_cubes() {
        let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
        let labels = Labels::new(&[false, true, false, false], None).unwrap();
        let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
        let params = TreeRankParams::new(grow, SplitRule::Dyadic(DyadicParams { level: None }));
        let tree = fit(&columns, &labels, &params, &Interrupt::default()).unwrap().tree;
        assert_eq!(tree.cube_level(), Some(1));
    }
}
