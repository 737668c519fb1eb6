//! The one list of the families of models, and their common interface.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ensemble::Ensemble;
use super::saved::{ModelError, read_json};
use super::two_sided::TwoSidedModel;
use crate::Interrupt;
use crate::RankError;
use crate::additive::{LinearModel, Mad2c, Rimarc, Scorecard};
use crate::aurora::{Aurora, RankOpt, ThresholdBinarizer};
use crate::boost::{BoostError, BoostedModel, BranchingProgram, GradientBoosted, Loss};
use crate::data::Columns;
use crate::formula::{Formula, Opaque};
use crate::imported::{ImportedLinear, ImportedTrees};
use crate::tree::{RankingForest, TreeRankModel};

/// Interface of a fitted model of any family.
///
/// # Examples
///
/// Any models of the same columns, side by side:
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{LinearParams, RimarcParams, fit_linear, fit_rimarc};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::model::Family;
///
/// let positive = [false, false, true, true];
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&positive, None)?;
/// let interrupt = Interrupt::default();
/// let rimarc = fit_rimarc((&columns, &labels), &RimarcParams::default(), &interrupt)?;
/// let linear = fit_linear(&columns, &labels, &LinearParams::default(), &interrupt)?;
/// let models: [&dyn Family; 2] = [&rimarc, &linear];
/// assert_eq!(models.map(|model| model.as_model().tag()), ["rimarc", "linear"]);
/// for model in models {
///     assert_eq!(aucrank::roc::auc(&model.score(&columns)?, &positive)?, 1.0);
/// }
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub trait Family: Send + Sync {
    /// The model as a variant of [`ModelRef`].
    fn as_model(&self) -> ModelRef<'_>;

    /// For each feature its number of categories, or `None` if it is numeric.
    fn n_levels(&self) -> &[Option<u32>];

    /// Validates a loaded model: whether its parts are consistent.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    fn check(&self) -> Result<(), String>;

    /// Score of each row; higher is more positive, above 0 is predicted positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity;
    /// [`RankError::NoScore`] if the model turns features into others.
    fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError>;

    /// Probability of the positive class of each row, by the model itself: above one half exactly
    /// if the score is above 0.
    ///
    /// # Errors
    ///
    /// As [`Family::score`]; [`RankError::NoProbability`] if it ranks rows without one.
    fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError>;

    /// The score as a formula.
    fn formula(&self) -> Formula;

    /// Contribution of each feature or term to the score of each row, row by row; of a scorecard,
    /// to its points.
    ///
    /// # Errors
    ///
    /// As [`Family::score`]; [`BoostError::NotAdditive`] if the score is not such a sum.
    fn explain(&self, _columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        Err(if self.has_score() {
            RankError::Boost(BoostError::NotAdditive)
        } else {
            RankError::NoScore
        })
    }

    /// Contribution of each feature to the ranking of the training rows, in the unit of the family,
    /// or `None` if it is unknown.
    fn importances(&self) -> Option<Vec<f64>> {
        None
    }

    /// Threshold that is subtracted from the raw score, or `None` if the family has none: see
    /// [`Model::with_threshold`].
    fn threshold(&self) -> Option<f64> {
        None
    }

    /// Whether it ranks rows; other models turn features into others.
    fn has_score(&self) -> bool {
        true
    }

    /// Whether it has two classes; every ranker has.
    fn has_classes(&self) -> bool {
        true
    }
}

/// A family whose models can be read by themselves: [`Document::read_as`](super::Document::read_as).
///
/// # Examples
///
/// ```
/// use aucrank::additive::Scorecard;
/// use aucrank::model::SavedFamily;
///
/// assert_eq!(Scorecard::TAG, "scorecard");
/// ```
pub trait SavedFamily: Family + DeserializeOwned {
    /// The tag of the family in saved models.
    const TAG: &'static str;
}

/// Declares the enums of models from one list: the name of a variant, its tag in saved models, the
/// type of its model.
macro_rules! families {
    ($($(#[$doc:meta])* $name:ident = $tag:literal ($model:ty),)*) => {
        /// A fitted model.
        ///
        /// # Examples
        ///
        /// ```
        /// use aucrank::Interrupt;
        /// use aucrank::additive::{RimarcParams, fit_rimarc};
        /// use aucrank::data::{Columns, Labels};
        /// use aucrank::model::Model;
        ///
        /// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
        /// let labels = Labels::new(&[false, true, false, true], None)?;
        /// let params = RimarcParams::default();
        /// let rimarc = fit_rimarc((&columns, &labels), &params, &Interrupt::default())?;
        /// let model = Model::from(rimarc.clone());
        /// assert_eq!(model.n_levels(), [None]);
        /// assert_eq!(model.family().score(&columns)?, rimarc.score(&columns)?);
        /// # Ok::<(), aucrank::RankError>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        pub enum Model {
            $($(#[$doc])* $name($model),)*
        }

        /// A borrowed [`Model`].
        ///
        /// For an example see [`Model`].
        #[derive(Debug, Clone, Copy, PartialEq, Serialize)]
        #[serde(tag = "family")]
        pub enum ModelRef<'a> {
            $($(#[$doc])* #[serde(rename = $tag)] $name(&'a $model),)*
        }

        /// The family of a model that is to be read.
        #[derive(serde::Deserialize)]
        pub(super) enum Tag {
            $(#[serde(rename = $tag)] $name,)*
        }

        impl Tag {
            /// Reads a model of this family.
            pub(super) fn read(self, text: &str, interrupt: &Interrupt) -> Result<Model, ModelError> {
                Ok(match self {
                    $(Self::$name => Model::$name(read_json(text, interrupt)?),)*
                })
            }
        }

        impl ModelRef<'_> {
            /// The tag of its family in saved models.
            #[must_use]
            pub fn tag(self) -> &'static str {
                match self {
                    $(Self::$name(_) => $tag,)*
                }
            }

            /// An owned copy.
            #[must_use]
            pub fn to_model(self) -> Model {
                match self {
                    $(Self::$name(model) => Model::$name(model.clone()),)*
                }
            }
        }

        impl Model {
            /// The tags of all families in saved models.
            pub const FAMILIES: &[&str] = &[$($tag,)*];

            /// The interface of every family.
            #[must_use]
            pub fn family(&self) -> &dyn Family {
                match self {
                    $(Self::$name(model) => model,)*
                }
            }
        }

        $(impl SavedFamily for $model {
            const TAG: &'static str = $tag;
        })*

        $(impl From<$model> for Model {
            fn from(model: $model) -> Self {
                Self::$name(model)
            }
        }

        impl<'a> From<&'a $model> for ModelRef<'a> {
            fn from(model: &'a $model) -> Self {
                Self::$name(model)
            }
        })*
    };
}

families! {
    /// A ranking tree.
    TreeRank = "tree_rank" (TreeRankModel),
    /// A forest of ranking trees.
    RankingForest = "ranking_forest" (RankingForest),
    /// A sum of the terms of boosting.
    Boosted = "boosted" (BoostedModel),
    /// A sum of trees of gradient boosting.
    GradientBoosted = "gradient_boosted" (GradientBoosted),
    /// A branching program.
    BranchingProgram = "branching_program" (BranchingProgram),
    /// Features in bins.
    Mad2c = "mad2c" (Mad2c),
    /// A fitted `RIMARC`.
    Rimarc = "rimarc" (Rimarc),
    /// A scorecard.
    Scorecard = "scorecard" (Scorecard),
    /// A linear score over numbers, thresholds and categories.
    Linear = "linear" (LinearModel),
    /// A linear score over binary terms.
    Aurora = "aurora" (Aurora),
    /// Features as binary terms.
    ThresholdBinarizer = "threshold_binarizer" (ThresholdBinarizer),
    /// A fitted `RankOpt`.
    RankOpt = "rank_opt" (RankOpt),
    /// A weighted sum of models.
    Ensemble = "ensemble" (Ensemble),
    /// Trees of another library.
    ImportedTrees = "imported_trees" (ImportedTrees),
    /// A weighted sum of numbers of another library.
    ImportedLinear = "imported_linear" (ImportedLinear),
    /// A ranker cut into a classifier with equal errors on both classes.
    TwoSided = "two_sided" (TwoSidedModel),
}

impl Model {
    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        self.family().n_levels()
    }
}

impl Model {
    /// The model with another threshold: the number subtracted from its raw score, so that rows
    /// above it are called positive.
    ///
    /// # Errors
    ///
    /// A description of the fault: the family has no such threshold, or it is out of its range.
    pub fn with_threshold(mut self, threshold: f64) -> Result<Self, String> {
        match &mut self {
            Self::Boosted(model) => model.set_threshold(threshold),
            Self::GradientBoosted(model) => model.set_threshold(threshold),
            Self::BranchingProgram(model) => model.set_threshold(threshold),
            Self::Aurora(model) => model.set_threshold(threshold),
            Self::RankOpt(model) => model.set_threshold(threshold),
            _ => return Err("the score of this model has no threshold that could be moved".into()),
        }
        self.family().check()?;
        Ok(self)
    }
}

/// A function that a family computes of rows.
type OfRows<T> = fn(&T, &Columns<'_>) -> Result<Vec<f64>, RankError>;

/// Families that rank rows, each with its score and its probability, and the other methods of
/// [`Family`] that it has.
macro_rules! rankers {
    ($($model:ty => $score:expr, $probability:expr
        $(, explain: $explain:expr)? $(, importances: $importances:expr)? $(, threshold: $threshold:expr)?;
    )*) => {
        $(impl Family for $model {
            fn as_model(&self) -> ModelRef<'_> {
                self.into()
            }

            fn n_levels(&self) -> &[Option<u32>] {
                self.n_levels()
            }

            fn check(&self) -> Result<(), String> {
                self.check()
            }

            fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
                let score: OfRows<Self> = $score;
                score(self, columns)
            }

            fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
                let probability: OfRows<Self> = $probability;
                probability(self, columns)
            }

            fn formula(&self) -> Formula {
                self.formula()
            }

            $(fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
                let explain: OfRows<Self> = $explain;
                explain(self, columns)
            })?

            $(fn importances(&self) -> Option<Vec<f64>> {
                let importances: fn(&Self) -> Option<Vec<f64>> = $importances;
                importances(self)
            })?

            $(fn threshold(&self) -> Option<f64> {
                let threshold: fn(&Self) -> f64 = $threshold;
                Some(threshold(self))
            })?
        })*
    };
}

/// The probability of models that only rank.
fn none<T>(_: &T, _: &Columns<'_>) -> Result<Vec<f64>, RankError> {
    Err(RankError::NoProbability)
}

// Without the external models that some may use.
rankers! {
    TreeRankModel => |model, columns| model.tree.score(columns, None),
        |model, columns| model.tree.probability(columns, None),
        importances: |model| model.tree.has_importances().then(|| model.tree.importances());
    RankingForest => Self::score, Self::probability,
        importances: |forest| Some(forest.importances().0);
    BoostedModel => |model, columns| model.score(columns, None), none,
        explain: Self::explain, importances: Self::importances, threshold: Self::threshold;
    GradientBoosted => Self::score, |model, columns| match model.loss() {
            Loss::Log => model.probability(columns),
            _ => none(model, columns),
        },
        explain: Self::explain, importances: |model| Some(model.importances()),
        threshold: Self::threshold;
    BranchingProgram => |program, columns| program.score(columns, None), none,
        importances: Self::importances, threshold: Self::threshold;
    Rimarc => Self::score, Self::probability, explain: Self::explain;
    Scorecard => Self::score, Self::probability,
        explain: Self::explain, importances: |card| Some(card.importances());
    LinearModel => Self::score, Self::probability,
        explain: Self::explain, importances: |model| Some(model.importances().to_vec());
    Aurora => Self::score, none,
        explain: Self::explain, importances: |model| Some(model.importances()),
        threshold: Self::threshold;
    RankOpt => Self::score, none,
        explain: Self::explain, importances: |model| Some(model.importances().to_vec()),
        threshold: Self::threshold;
    Ensemble => |model, columns| model.score(columns, None),
        |model, columns| model.probability(columns, None);
    ImportedTrees => Self::score, Self::probability;
    ImportedLinear => Self::score, Self::probability;
    TwoSidedModel => Self::score, none;
}

/// Families that turn features into others, each with whether it has two classes.
macro_rules! transformers {
    ($($model:ty => $has_classes:expr,)*) => {
        $(impl Family for $model {
            fn as_model(&self) -> ModelRef<'_> {
                self.into()
            }

            fn n_levels(&self) -> &[Option<u32>] {
                self.n_levels()
            }

            fn check(&self) -> Result<(), String> {
                self.check()
            }

            fn score(&self, _columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
                Err(RankError::NoScore)
            }

            fn probability(&self, _columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
                Err(RankError::NoScore)
            }

            fn formula(&self) -> Formula {
                Formula::Opaque(Opaque::NoScore)
            }

            fn has_score(&self) -> bool {
                false
            }

            fn has_classes(&self) -> bool {
                let has_classes: fn(&Self) -> bool = $has_classes;
                has_classes(self)
            }
        })*
    };
}

transformers! {
    Mad2c => |_| true,
    ThresholdBinarizer => Self::has_labels,
}
