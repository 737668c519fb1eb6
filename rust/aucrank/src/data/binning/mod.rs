//! Raw values become codes: cuts, bins, and the look-up of a value.

pub(super) mod binned;
pub(super) mod bins;
pub(super) mod feature_bins;
pub(super) mod lookup;
pub(super) mod row_groups;
