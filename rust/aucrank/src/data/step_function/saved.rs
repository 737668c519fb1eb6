//! The saved form of a step function.

use serde::Deserialize;

use super::{FeatureSteps, FeatureTerm};

/// A step function as it is saved. A flattened enum would be read through a buffer that takes
/// many times the memory of the text.
#[derive(Deserialize)]
pub(super) struct SavedTerm {
    feature: usize,
    numeric: Option<SavedNumeric>,
    categorical: Option<SavedCategorical>,
    missing: f64,
}

#[derive(Deserialize)]
struct SavedNumeric {
    thresholds: Vec<f64>,
    values: Vec<f64>,
}

#[derive(Deserialize)]
struct SavedCategorical {
    values: Vec<f64>,
}

impl TryFrom<SavedTerm> for FeatureTerm {
    type Error = &'static str;

    fn try_from(saved: SavedTerm) -> Result<Self, Self::Error> {
        let SavedTerm { feature, numeric, categorical, missing } = saved;
        let steps = match (numeric, categorical) {
            (Some(SavedNumeric { thresholds, values }), None) => {
                FeatureSteps::Numeric { thresholds, values }
            }
            (None, Some(SavedCategorical { values })) => FeatureSteps::Categorical { values },
            _ => return Err("a term is not of one kind"),
        };
        Ok(Self { feature, steps, missing })
    }
}
