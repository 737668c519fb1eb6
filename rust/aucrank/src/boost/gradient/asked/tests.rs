//! The same models from rows that are asked as from rows in memory, however they are divided.

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;

use super::super::*;
use super::fit_gradient_boosting_rows;
use crate::data::{BinningParams, Labels, LevelRates};
use crate::rows::tests::{Cluster, Data, Weights, path_of, uneven};
use crate::rows::RowFrame;
use crate::tree::Cuts;
use crate::Interrupt;

fn binning(params: &GradientParams) -> BinningParams {
    let max_bins = Some(params.max_bins);
    BinningParams { max_bins, seed: params.seed, level_rates: LevelRates::Raw }
}

fn in_memory(data: &Data, params: &GradientParams) -> GradientBoosted {
    data.with_columns(0..data.positive.len(), |columns| {
        let labels = Labels::new(&data.positive, data.weights.as_deref()).unwrap();
        let (extras, interrupt) = (GradientExtras::default(), Interrupt::default());
        fit_gradient_boosting(columns, &labels, params, &extras, &interrupt).unwrap()
    })
}

fn plain() -> GradientParams {
    GradientParams {
        n_rounds: 6,
        learning_rate: Some(0.2),
        max_leaves: Some(12),
        seed: 3,
        ..GradientParams::default()
    }
}

fn stopped(rows: HeldOutRows, n_bags: usize, refit: bool) -> GradientParams {
    let (measure, n_iter_no_change, tol) = (HeldOutMeasure::Loss, 3, 0.0);
    let held_out = GradientHeldOutParams { rows, measure, n_iter_no_change, tol, refit };
    GradientParams { held_out: Some(held_out), n_bags, n_rounds: 12, ..plain() }
}

fn cluster<'a>(data: &'a Data, frame: &RowFrame, bounds: &[usize], forgets: bool) -> Cluster<'a> {
    let holders = bounds.windows(2).map(|bounds| data.store(frame.clone(), bounds, None));
    Cluster {
        frame: frame.clone(),
        holders: holders.collect(),
        data,
        bounds: bounds.to_vec(),
        n_asked: AtomicUsize::new(0),
        forgets,
    }
}

#[test]
fn the_same_model_comes_from_memory_a_file_and_a_cluster() {
    let n_rows = 2000;
    let best = GradientParams { cuts: Cuts::Best, max_features: Some(3), ..plain() };
    let all = GradientParams { subsample: 1.0, min_samples_leaf: LeafRows::Rows(1), ..plain() };
    let directed = GradientParams {
        monotonic: vec![1, -1, 0, 0],
        interactions: Interactions::Groups(vec![vec![0, 2], vec![1, 3]]),
        max_depth: 4,
        min_samples_leaf: LeafRows::Rows(60),
        ..plain()
    };
    let share = stopped(HeldOutRows::Share(0.2), 1, true);
    for (weights, params, parts) in [
        (Weights::None, plain(), &[1, 2, 7, 64][..]),
        (Weights::None, best.clone(), &[7]),
        (Weights::Whole, all, &[2, 7]),
        (Weights::Fractions, directed, &[7]),
        (Weights::Fractions, best, &[2]),
        (Weights::None, share.clone(), &[7]),
        (Weights::Whole, share, &[2]),
        (Weights::Fractions, stopped(HeldOutRows::Fold, 3, false), &[2, 7]),
        (Weights::None, stopped(HeldOutRows::Fold, 2, true), &[7]),
        (Weights::None, GradientParams { n_bags: 2, ..plain() }, &[2]),
    ] {
        let data = Data::new(n_rows, weights);
        let interrupt = Interrupt::default();
        let expected = in_memory(&data, &params);
        assert!(expected.trees().iter().any(|tree| tree.n_leaves() > 4));
        for &n_parts in parts {
            let bounds = uneven(n_rows, n_parts);
            let frame = data.survey(&bounds, binning(&params));
            let path: PathBuf = path_of(&format!("gradient-{n_parts}-{weights:?}"));
            for path in [None, Some(&path)] {
                let stored = data.store(frame.clone(), &bounds, path);
                let found = fit_gradient_boosting_rows(&stored, 1, &params, &interrupt);
                assert_eq!(found.as_ref(), Ok(&expected), "{weights:?}, {params:?}");
            }
            for forgets in [false, true] {
                let cluster = cluster(&data, &frame, &bounds, forgets);
                let found = fit_gradient_boosting_rows(&cluster, 2, &params, &interrupt);
                assert_eq!(found.as_ref(), Ok(&expected), "{weights:?}, {params:?}");
            }
        }
    }
}
