//! Sums of class weight from which learners decide.

pub(super) mod cells;
pub(super) mod histogram;
pub(super) mod mass_histogram;
pub(super) mod pools;
pub(super) mod source;
pub(super) mod sums;
