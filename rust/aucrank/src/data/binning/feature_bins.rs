//! Bins of a feature.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Bins of a feature; they define its codes. Code `n_bins()` is the missing value.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Binned, Columns, FeatureBins};
///
/// let bins = FeatureBins::Numeric { cuts: vec![2.5] };
/// assert_eq!((bins.n_bins(), bins.n_codes()), (2, 3));
///
/// let values = [1.0, 2.5, f64::NAN];
/// let columns = Columns::from_column_major(&values, 3)?;
/// let binned = Binned::with_features(&columns, vec![bins], &Interrupt::default())?;
/// assert_eq!([0, 1, 2].map(|row| binned.code(row, 0)), [0, 1, 2]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureBins {
    /// Code = number of cuts that are `<=` the value.
    Numeric {
        /// Ascending.
        cuts: Vec<f64>,
    },
    /// Code = category.
    Categorical {
        /// Number of categories.
        n_levels: u32,
        /// Categories with too few rows for a rate of their own, which have the code of the missing
        /// value; `None` if there are none.
        rare: Option<Arc<[bool]>>,
    },
}

impl FeatureBins {
    /// Number of bins, the missing one not counted; also its code.
    #[must_use]
    pub fn n_bins(&self) -> usize {
        match self {
            Self::Numeric { cuts } => cuts.len() + 1,
            Self::Categorical { n_levels, .. } => *n_levels as usize,
        }
    }

    /// Whether some known values share the code of the missing value.
    pub(crate) fn pools_levels(&self) -> bool {
        matches!(self, Self::Categorical { rare: Some(_), .. })
    }

    /// Number of codes, including the missing one.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        self.n_bins() + 1
    }
}
