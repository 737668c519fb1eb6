//! What happens to rows at a node.

/// What happens at a node.
///
/// # Examples
///
/// ```
/// use aucrank::boost::Outcome;
///
/// fn describe<C>(outcome: &Outcome<C>) -> &'static str {
///     match outcome {
///         Outcome::Classifier(_) | Outcome::Coin => "goes on",
///         Outcome::Frozen { .. } | Outcome::Terminal => "ends",
///         Outcome::Unreached => "is not reached",
///     }
/// }
///
/// assert_eq!(describe(&Outcome::Classifier("x > 2")), "goes on");
/// assert_eq!(describe(&Outcome::<&str>::Frozen { positive: true }), "ends");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<C> {
    /// A classifier sends rows on.
    Classifier(C),
    /// A fair coin sends rows on.
    Coin,
    /// Paths end early, at a label.
    Frozen {
        /// Whether the label is "positive".
        positive: bool,
    },
    /// Paths end in the last layer.
    Terminal,
    /// No row reaches the node.
    Unreached,
}

impl<C> Outcome<C> {
    /// The same with another form of its classifier.
    pub(super) fn map<D>(self, classifier: impl FnOnce(C) -> D) -> Outcome<D> {
        match self {
            Self::Classifier(found) => Outcome::Classifier(classifier(found)),
            Self::Coin => Outcome::Coin,
            Self::Frozen { positive } => Outcome::Frozen { positive },
            Self::Terminal => Outcome::Terminal,
            Self::Unreached => Outcome::Unreached,
        }
    }
}
