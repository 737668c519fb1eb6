//! Errors of ranking trees.

/// Why a ranking tree cannot be grown, or cannot score.
///
/// # Examples
///
/// ```
/// use aucrank::RankError;
/// use aucrank::tree::TreeError;
///
/// let err = RankError::Tree(TreeError::NeedsClassifiers);
/// assert!(err.to_string().starts_with("the splits of this tree are classifiers"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// Dyadic cubes too many to be numbered.
    #[error(
        "level is {level}, but {} for {n_features} features: the number of a cube has 63 binary \
         digits, and this level takes {n_bits}",
        if *finest == 0 { "none is coarse enough".to_owned() } else { format!("must be at most {finest}") }
    )]
    CubesTooFine {
        /// The level requested.
        level: u32,
        /// Number of features.
        n_features: usize,
        /// Binary digits that the number of a cube would have.
        n_bits: u64,
        /// The largest level that fits, 0 for none.
        finest: u64,
    },
    /// The splits of a tree are external classifiers, which are not part of it.
    #[error(
        "the splits of this tree are classifiers that live outside it: it scores rows only together \
         with them"
    )]
    NeedsClassifiers,
}
