//! Questions about rates of categories, as sets of categories.

use super::test::{Rule, Test};
use crate::data::{RateColumns, RateSteps, step_above, threshold};

impl Test {
    /// The question whether the rate of a feature's category is in the first so many steps; a missing
    /// value has the mean rate.
    pub(crate) fn of_rates(feature: usize, steps: &RateSteps, step: u32) -> Self {
        let left = Rule::Levels(steps.before(step).clone());
        Self { feature, left, missing_left: steps.of_mean() < step }
    }

    /// The question that sends the other categories left.
    pub(crate) fn of_rates_from(feature: usize, steps: &RateSteps, step: u32) -> Self {
        let left = Rule::Levels(steps.from(step).clone());
        Self { feature, left, missing_left: steps.of_mean() >= step }
    }

    /// The step whose [`Test::of_rates_from`] this question is, if there is one.
    pub(crate) fn step_of_rates_from(&self, steps: &RateSteps) -> Option<u32> {
        let Rule::Levels(set) = &self.left else { return None };
        let step = steps.find(&set.complement())?;
        (self.missing_left == (steps.of_mean() >= step)).then_some(step)
    }

    /// The number of steps that [`Test::of_rates`] has made this question of, if it has.
    pub(crate) fn step_of_rates(&self, steps: &RateSteps) -> Option<u32> {
        let Rule::Levels(set) = &self.left else { return None };
        steps.find(set).filter(|&step| self.missing_left == (steps.of_mean() < step))
    }
    /// The question to a feature that a question to its rates stands for; `None` for one to a feature.
    pub(crate) fn without_rates(&self, rates: &RateColumns) -> Option<Self> {
        let rates = rates.get(self.feature)?;
        Some(match self.left {
            Rule::Below(threshold) => {
                Self::of_rates(rates.feature, &rates.steps, step_above(threshold))
            }
            Rule::AtLeast(threshold) => {
                Self::of_rates_from(rates.feature, &rates.steps, step_above(threshold))
            }
            _ => unreachable!("no rate is missing"),
        })
    }

    /// The question to rates that [`Test::without_rates`] has made this question of, if it has.
    pub(crate) fn with_rates(&self, rates: &RateColumns) -> Option<Self> {
        let (feature, rates) = rates.of_feature(self.feature)?;
        let below = self.step_of_rates(&rates.steps).map(|step| Rule::Below(threshold(step)));
        let from = || {
            let step = self.step_of_rates_from(&rates.steps)?;
            Some(Rule::AtLeast(threshold(step)))
        };
        let left = below.or_else(from)?;
        Some(Self { feature, left, missing_left: self.missing_left })
    }
}
