//! Shrunken class rates of categories, and columns of them for rare categories.

pub(super) mod fold_rates;
pub(super) mod level_rates;
pub(super) mod rate_columns;
pub(super) mod rated_levels;
