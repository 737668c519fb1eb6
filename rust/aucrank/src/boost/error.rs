//! Errors of boosted models.

/// Why a boosted model cannot score, or cannot be shown.
///
/// # Examples
///
/// ```
/// use aucrank::RankError;
/// use aucrank::boost::BoostError;
///
/// let err = RankError::Boost(BoostError::LargeTable(0, 3));
/// assert!(err.to_string().starts_with("the function of features 0 and 3"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoostError {
    /// The external rankers of a model are not part of it.
    #[error("the rankers of this model live outside it: it scores rows only together with them")]
    NeedsRankers,
    /// A score that is not a sum of step functions of single features.
    #[error(
        "a term of this model tests several features, so that no feature has a part of its own"
    )]
    NotAdditive,
    /// A function of two features with too many values to be listed.
    #[error("the function of features {0} and {1} has too many steps to be shown as a table")]
    LargeTable(usize, usize),
}
