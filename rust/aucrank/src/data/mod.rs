//! The input of every learner: borrowed columns, labels with weights, and bins. Raw values become
//! codes only here. Also the sums of class weight from which learners decide, and the step
//! functions of one feature that several families learn.

mod accumulate;
mod binning;
mod dealing;
mod input;
mod logistic;
mod random;
mod rates;
mod step_function;

pub use accumulate::histogram::{FeatureSums, Histogram};
pub(crate) use accumulate::mass_histogram::MassHistogram;
pub use accumulate::source::{
    CellId, CellSplit, CodeRule, CodeTest, HistogramRequest, MemorySource, Regroup, SumSource,
};
pub(crate) use accumulate::source::{CellRows, empty_histograms};
pub use accumulate::{
    ClassMasses, ClassSums, CountedRows, Counts, MassRows, ReweightedRows, RowTally, Tally,
    WeightedRows,
};
pub(crate) use accumulate::{Pool, check_weight, rising_pools, score_groups, sum_checked};
pub(crate) use binning::binned::CUT_SAMPLE;
pub use binning::binned::{Binned, BinningParams};
pub use binning::bins::Bins;
pub(crate) use binning::bins::{
    add_distinct, are_distinct, cuts_of_sample, midpoint, place_among, quantile_cuts,
};
pub use binning::feature_bins::FeatureBins;
pub(crate) use binning::lookup::{CutGrid, Lookups};
pub(crate) use binning::row_groups::row_groups;
pub use dealing::batch::Batch;
pub(crate) use dealing::blocks::{BlockSums, BlockTable, LabelBlocks};
pub use dealing::blocks::{RowBlocks, rising_bits};
pub(crate) use dealing::contents::{FewContents, MOST_CONTENTS};
pub use dealing::folds::{Folds, NO_FOLD, TwoParts, hold_out};
pub(crate) use dealing::hashes::{combine, least_hashes, number_word, seeded};
pub(crate) use dealing::row_order::{
    DealOrder, DealtRow, HeldOutPart, MOST_RANKED, RowFolds, RowOrder, coin, content_hashes,
};
pub(crate) use input::columns::CodeSlice;
pub use input::columns::{Column, Columns, MISSING_CODE, Numbers, Value};
pub(crate) use input::labels::MOST_COPIES;
pub use input::labels::{Label, Labels, positive_rows};
pub use input::level_set::LevelSet;
pub(crate) use input::monotonic::{binding, binds, check_monotonic, direction};
pub use input::new_rows::NewRows;
pub use input::values::ValueScale;
pub(crate) use input::values::{LARGEST_SUM, ValueMoments, Wide, is_snapped, quotient, snap};
pub(crate) use input::values::{of_units, to_units};
pub(crate) use input::weights::{FixedScale, power_of_two_factors, times_power_of_two};
pub use input::weights::{FixedWeights, WeightRange};
pub(crate) use logistic::logistic;
pub(crate) use random::{below, mix, shuffled};
pub(crate) use rates::fold_rates::{FoldRates, N_RATE_FOLDS, SEED_OF_RATES, deal_for_rates};
pub use rates::level_rates::LevelRates;
pub(crate) use rates::level_rates::{LEAST_KEPT, RateShrinkage, RowSquares, RowUnits};
#[cfg(test)]
pub(crate) use rates::rate_columns::tests as rare_rows;
pub(crate) use rates::rate_columns::{
    LearnedRows, LevelSteps, RareLevels, RateColumn, RateColumns, coded_levels, step_above,
    threshold,
};
pub(crate) use rates::rated_levels::{RatedLevels, features_with_rates, least_level_rows};
pub use step_function::{FeatureSteps, FeatureTerm};
