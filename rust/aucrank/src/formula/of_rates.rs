//! Questions about rates of categories, as sets of categories.

use super::test::{Rule, Test};
use crate::data::RateSteps;

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
}
