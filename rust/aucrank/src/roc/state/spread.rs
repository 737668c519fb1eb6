//! Variance of the area under a part of the curve, from a table.

use super::cells::Seen;
use super::statistics::total;
use crate::RankError;
use crate::data::times_power_of_two;
use crate::roc::Weighting;
use crate::roc::mass::Mass;
use crate::roc::partial::Part;
use crate::roc::partial_spread::mean_clipped;

/// That of [`PartialAreas`](crate::roc::PartialAreas): for each class, from the mean clipped rate of
/// the other class over each score. The numbers of rows are those of the weighting.
pub(super) fn of_part<C: Seen>(
    cells: &(impl Iterator<Item = C> + Clone),
    rows: [f64; 2],
    part: Part,
    weighting: Weighting,
) -> [f64; 2] {
    let all = total(cells.clone());
    let bands = [part.tpr, part.fpr];
    // Share of a score in the weight of a class, its value, and the sum of squared shares.
    let terms = |class: usize| {
        let (own, other) = (all[class].to_f64(), all[1 - class].to_f64());
        let mut above = all[1 - class];
        cells.clone().filter_map(move |cell| {
            let masses = cell.masses();
            let after = above - masses[1 - class];
            let [u, v] = [after, above].map(|above| above.to_f64() / other);
            above = after;
            (masses[class] > C::Mass::default()).then(|| {
                let share = masses[class].to_f64() / own;
                let squares = cell.squares()[class] / own / own;
                (share, mean_clipped(u, v, bands[class]), squares)
            })
        })
    };
    [0, 1].map(|class| {
        // Taken from the least, values that are all equal deviate by exactly 0.
        let least = terms(class).map(|term| term.1).fold(f64::INFINITY, f64::min);
        let mean: f64 = terms(class).map(|(share, value, _)| share * (value - least)).sum();
        let deviation = |value: f64| (value - least - mean).powi(2);
        let n = rows[class];
        match weighting {
            Weighting::Sampling => {
                n / (n - 1.0) * terms(class).map(|(_, v, s)| s * deviation(v)).sum::<f64>()
            }
            Weighting::Frequency => {
                terms(class).map(|(share, v, _)| share * deviation(v)).sum::<f64>() / (n - 1.0)
            }
        }
    })
}

/// Weights of both classes, if those of every score are whole numbers.
///
/// # Errors
///
/// [`RankError::BadParameter`] for the first that is not.
pub(super) fn whole_weights<C: Seen>(
    cells: impl Iterator<Item = C> + Clone,
    exponents: [i32; 2],
) -> Result<[f64; 2], RankError> {
    let all = total(cells.clone());
    for cell in cells {
        for (mass, exponent) in cell.masses().into_iter().zip(exponents) {
            let digits: u128 = mass.into();
            if digits > 0 && digits.trailing_zeros().cast_signed() < -exponent {
                let weight = times_power_of_two(mass.to_f64(), exponent);
                return Err(RankError::BadParameter {
                    name: "weights",
                    value: format!("{weight} at a score"),
                    rule: "whole numbers, where they are frequencies",
                });
            }
        }
    }
    Ok([0, 1].map(|class| times_power_of_two(all[class].to_f64(), exponents[class])))
}
