//! Module `aucrank._core`: borrows arrays, detaches from the interpreter, calls the core and maps
//! errors. It computes nothing.

#![allow(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]

mod additive;
mod aurora;
mod binarizer;
mod boost;
mod calibration;
mod callbacks;
mod columns;
mod document;
mod ensemble;
mod forest;
mod gradient;
mod imported;
mod inference;
mod marti;
mod model;
mod ramp;
mod rank_opt;
mod raw_rows;
mod roc;
mod rows;
mod run;
mod sample;
mod shared;
mod state;
mod training;
mod tree;
mod two_sided;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::additive::{
        PyLinearModel, PyMad2c, PyRimarc, PyScorecard, build_scorecard, fit_integer_score,
        fit_integer_scores, fit_linear, fit_mad2c, fit_rimarc,
    };
    #[pymodule_export]
    use super::aurora::{PyAurora, fit_aurora};
    #[pymodule_export]
    use super::binarizer::{PyThresholdBinarizer, fit_threshold_binarizer};
    #[pymodule_export]
    use super::boost::{PyBoostedModel, fit_auc_boost, fit_rank_boost};
    #[pymodule_export]
    use super::calibration::{
        PyCalibration, calibration_through, deal_blocks, even_odds, fit_calibration, held_out_rows,
        with_threshold,
    };
    #[pymodule_export]
    use super::document::{ModelFormatError, read_document, write_document};
    #[pymodule_export]
    use super::ensemble::{PyEnsemble, blend_scores, build_ensemble, check_columns};
    #[pymodule_export]
    use super::forest::{PyRankingForest, fit_ranking_forest};
    #[pymodule_export]
    use super::gradient::{PyGradientBoosted, fit_gradient_boosting, fit_gradient_folds};
    #[pymodule_export]
    use super::imported::{
        PyImportedLinear, PyImportedTrees, build_imported_linear, build_imported_trees,
    };
    #[pymodule_export]
    use super::inference::{
        bootstrap_aucs, bootstrap_cut_offs, bootstrap_partial_aucs, bootstrap_tprs, delong,
        hanley_mcneil_variance, partial_areas, placements,
    };
    #[pymodule_export]
    use super::marti::{PyBranchingProgram, fit_marti_rank};
    #[pymodule_export]
    use super::model::PyModel;
    #[pymodule_export]
    use super::ramp::{ramp_auc, ramp_auc_gradient};
    #[pymodule_export]
    use super::rank_opt::{PyRankOpt, fit_rank_opt};
    #[pymodule_export]
    use super::raw_rows::{PyBinSum, PyPointCounts, PyRawSums};
    #[pymodule_export]
    use super::roc::{RocCurve, roc_auc, roc_curve};
    #[pymodule_export]
    use super::rows::{
        PyCodedMatrix, PyLoggedRows, PyRowDigest, PyRowSample, PyStoredRows, PySurvey,
        PyWeightRange, answer_rows, deal_among, merge_answers, sampled_rows, sums_of_bins,
    };
    #[pymodule_export]
    use super::run::ColumnError;
    #[pymodule_export]
    use super::state::RocState;
    #[pymodule_export]
    use super::tree::{PyRankingTree, PyTreeRankModel, fit_tree_rank};
    #[pymodule_export]
    use super::two_sided::{PyTwoSided, build_two_sided, two_sided};

    /// Number of rows from which the functions of `aucrank.metrics` use several threads.
    #[pymodule_export]
    const ROC_PARALLEL_FROM: usize = aucrank::roc::PARALLEL_FROM;

    #[pymodule_export]
    const MISSING_CODE: u32 = aucrank::data::MISSING_CODE;
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = aucrank::VERSION;
}
