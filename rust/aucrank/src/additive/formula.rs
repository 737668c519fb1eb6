//! `RIMARC` and scorecards as formulas.

use super::rimarc::{Rimarc, Share};
use super::scorecard::{CardFeature, Scorecard};
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
        Formula::Sum(self.points_of_features().collect())
    }

    /// Its score: the log-odds that the points of a row stand for.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let above_offset = self.points_of_features().chain([Formula::Constant(-self.offset)]);
        Formula::Product {
            factor: self.high_points().sign(),
            of: Box::new(Formula::Quotient {
                numerator: Box::new(Formula::Sum(above_offset.collect())),
                denominator: Box::new(Formula::Constant(self.factor)),
                otherwise: 0.0,
            }),
        }
    }

    /// The initial points, and those of each feature.
    fn points_of_features(&self) -> impl Iterator<Item = Formula> {
        let of_feature = |card: &CardFeature| {
            let points: Vec<f64> = card.points.iter().map(|&points| points as f64).collect();
            Formula::Steps(Steps::of_bins(card.feature, &card.bins, &points))
        };
        let initial = Formula::Constant(self.initial_points() as f64);
        std::iter::once(initial).chain(self.features().iter().map(of_feature))
    }
}
