//! `RIMARC` and scorecards as formulas.

use super::rimarc::{Rimarc, Share};
use super::scorecard::Scorecard;
use crate::formula::{Formula, Steps};

impl Rimarc {
    /// Its score: (9) of the paper less one half, a quotient of two sums over the features.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let sum_of = |part: fn(&Share) -> f64| {
            let features = self.table().features().iter().enumerate();
            let steps = features.filter_map(|(feature, binned)| {
                let shares = self.shares(feature);
                let contributes = shares.iter().any(|share| share.weight > 0.0);
                let of_bin: Vec<f64> = shares.iter().map(part).collect();
                let steps = || Formula::Steps(Steps::of_bins(feature, &binned.bins, &of_bin));
                contributes.then(steps)
            });
            Box::new(Formula::Sum(steps.collect()))
        };
        Formula::Quotient {
            numerator: sum_of(|share| share.numerator),
            denominator: sum_of(|share| share.weight),
            otherwise: self.base_score(),
        }
    }
}

impl Scorecard {
    /// The points of a row.
    #[must_use]
    pub fn points_formula(&self) -> Formula {
        self.points_sum().formula()
    }

    /// Its score: the log-odds that the points of a row stand for.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let points = self.points_sum();
        let above_offset = points.parts().chain([Formula::Constant(-self.offset)]);
        Formula::Product {
            factor: self.high_points().sign(),
            of: Box::new(Formula::Quotient {
                numerator: Box::new(Formula::Sum(above_offset.collect())),
                denominator: Box::new(Formula::Constant(self.factor)),
                otherwise: 0.0,
            }),
        }
    }
}
