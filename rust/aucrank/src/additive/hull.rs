//! Where the concave hull of the ROC curve of a feature has its corners.

use super::bins::{Direction, place_among};
use crate::data::{ClassSums, Labels, Strided, Value, midpoint};

/// Intervals of a number that reach the largest AUC of any that are ranked in the order of the
/// feature, up or down.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BestCuts {
    pub direction: Direction,
    /// Ascending.
    pub cuts: Vec<f64>,
    /// The rows of each interval, in ascending order of the values: one more than cuts.
    pub sums: Vec<ClassSums>,
}

/// Cuts a feature at the corners of the concave hull of its ROC curve (MAD2C, sec. 4.2 of the paper),
/// in the direction with the larger area under the hull, ties increasing (DECISIONS R3), or in the
/// one that is given.
///
/// Missing values, those in `special` and rows without weight are left out. Equal values are one
/// point of the curve (DECISIONS R2), corners on a line between others are dropped (R9), and slopes
/// are compared exactly.
pub(super) fn best_cuts<T: Value>(
    column: Strided<'_, T>,
    labels: &Labels<'_>,
    special: &[f64],
    direction: Option<Direction>,
) -> BestCuts {
    let mut rows: Vec<(f64, u32)> = labels
        .rows()
        .iter()
        .map(|&row| (column.get(row as usize) + 0.0, row))
        .filter(|(value, _)| !value.is_nan() && place_among(special, *value).is_none())
        .collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Distinct values, with the rows up to and including each.
    let mut values: Vec<f64> = Vec::new();
    let mut up_to: Vec<ClassSums> = vec![ClassSums::default()];
    for (value, row) in rows {
        let sums = up_to[up_to.len() - 1] + labels.sums(row as usize);
        if values.last() == Some(&value) {
            *up_to.last_mut().expect("as long as the values") = sums;
        } else {
            values.push(value);
            up_to.push(sums);
        }
    }
    let candidates = match direction {
        Some(direction) => vec![direction],
        None => vec![Direction::Increasing, Direction::Decreasing],
    };
    let mut best: Option<(i128, Direction, Vec<usize>)> = None;
    for direction in candidates {
        let corners = corners(&up_to, direction);
        let area = area(&up_to, &corners, direction);
        if best.as_ref().is_none_or(|(largest, ..)| area > *largest) {
            best = Some((area, direction, corners));
        }
    }
    let (_, direction, corners) = best.expect("at least one direction");
    let inner = corners.get(1..corners.len().saturating_sub(1)).unwrap_or(&[]);
    let cuts = inner.iter().map(|&corner| midpoint(values[corner - 1], values[corner])).collect();
    let sums = corners.windows(2).map(|pair| up_to[pair[1]] - up_to[pair[0]]).collect();
    let sums = if corners.len() < 2 { vec![ClassSums::default()] } else { sums };
    BestCuts { direction, cuts, sums }
}

/// Strict corners of the hull among running sums in ascending order of the values, both ends
/// included. Of an increasing feature the curve runs from the last value to the first, of a
/// decreasing one from the first to the last; either way it bulges to the positives that come early.
fn corners(up_to: &[ClassSums], direction: Direction) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for knot in 0..up_to.len() {
        while let [.., before, corner] = corners[..] {
            let first = up_to[corner] - up_to[before];
            let then = up_to[knot] - up_to[corner];
            let is_strict = match direction {
                Direction::Increasing => first.cmp_eta(then).is_lt(),
                Direction::Decreasing => first.cmp_eta(then).is_gt(),
            };
            if is_strict {
                break;
            }
            corners.pop();
        }
        corners.push(knot);
    }
    corners
}

/// `2PN (AUC - 1/2)` of the intervals between corners.
fn area(up_to: &[ClassSums], corners: &[usize], direction: Direction) -> i128 {
    let (mut below, mut area) = (ClassSums::default(), 0);
    for pair in corners.windows(2) {
        let part = up_to[pair[1]] - up_to[pair[0]];
        area += below.gain(part);
        below += part;
    }
    match direction {
        Direction::Increasing => area,
        Direction::Decreasing => -area,
    }
}
