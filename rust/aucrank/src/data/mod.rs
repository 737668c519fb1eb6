//! The input of every learner: borrowed columns, labels with weights, and bins. Raw values become
//! codes only here. Also the sums of class weight from which learners decide, and the step
//! functions of one feature that several families learn.

mod binned;
mod bins;
mod block_table;
mod cells;
mod columns;
mod cuts;
mod dealing;
mod exact_sum;
mod fold_rates;
mod folds;
mod histogram;
mod labels;
mod level_rates;
mod level_set;
mod logistic;
mod lookup;
mod mass_histogram;
#[cfg(feature = "ndarray")]
mod matrix_views;
mod monotonic;
mod new_rows;
mod pools;
mod random;
mod rate_columns;
mod rate_steps;
mod row_blocks;
mod row_order;
mod source;
mod step_function;
mod sums;
mod values;
mod weights;

pub(crate) use binned::CUT_SAMPLE;
pub use binned::{Binned, BinningParams, FeatureBins};
pub use bins::Bins;
pub(crate) use bins::{are_distinct, place_among};
pub(crate) use block_table::{BlockSums, BlockTable};
pub(crate) use columns::CodeSlice;
pub use columns::{Column, Columns, MISSING_CODE, Numbers, Value};
pub(crate) use cuts::{add_distinct, cuts_of_sample, midpoint, quantile_cuts};
pub(crate) use dealing::{DealOrder, DealtRow, HeldOutPart, RowFolds};
pub(crate) use exact_sum::{LARGEST_SUM, Wide, is_snapped, quotient, snap};
#[cfg(feature = "serde")]
pub(crate) use exact_sum::{of_units, to_units};
pub(crate) use fold_rates::{
    FoldRates, N_RATE_FOLDS, SEED_OF_RATES, are_many, deal_for_rates, features_with_rare_levels,
    least_level_rows,
};
pub use folds::{Folds, NO_FOLD, TwoParts, hold_out};
pub use histogram::{FeatureSums, Histogram};
pub(crate) use labels::MOST_COPIES;
pub use labels::{Label, Labels, positive_rows};
pub use level_rates::LevelRates;
pub(crate) use level_rates::{RateShrinkage, RowSquares, RowUnits};
pub use level_set::LevelSet;
pub(crate) use logistic::logistic;
pub(crate) use lookup::{CutGrid, Lookups};
pub(crate) use mass_histogram::MassHistogram;
pub(crate) use monotonic::{binding, binds, check_monotonic, direction};
pub use new_rows::NewRows;
pub(crate) use pools::{Pool, rising_pools, score_groups};
pub(crate) use random::{below, mix};
#[cfg(test)]
pub(crate) use rate_columns::tests as rare_rows;
pub(crate) use rate_columns::{RareLevels, RateColumns, step_above, threshold};
pub(crate) use rate_steps::{RateSteps, coded_rates};
pub(crate) use row_blocks::LabelBlocks;
pub use row_blocks::RowBlocks;
pub(crate) use row_order::{
    MOST_RANKED, RowOrder, coin, combine, content_hashes, least_hashes, number_word, seeded,
};
pub use source::{
    CellId, CellSplit, CodeRule, CodeTest, HistogramRequest, MemorySource, Regroup, SumSource,
};
pub(crate) use source::{CellRows, empty_histograms};
pub use step_function::{FeatureSteps, FeatureTerm};
pub use sums::{
    ClassMasses, ClassSums, CountedRows, Counts, MassRows, ReweightedRows, RowTally, Tally,
    WeightedRows,
};
pub(crate) use sums::{check_weight, sum_checked};
pub(crate) use values::ValueMoments;
pub use values::ValueScale;
pub(crate) use weights::{FixedScale, power_of_two_factors, times_power_of_two};
pub use weights::{FixedWeights, WeightRange};
