//! Candidate bins of each feature, in which points are searched: numbers between round cuts,
//! categories in the order of their rates.

use crate::data::{
    Bins, ClassSums, Columns, Labels, LevelRates, RateShrinkage, RowUnits, row_groups,
};
use crate::{RankError, parallel};

/// A candidate is a multiple of one of these times a power of ten, the coarsest first: mantissa,
/// and what is added to the exponent.
const ROUND: [(i64, i32); 4] = [(5, 0), (25, -1), (2, 0), (1, 0)];

/// Least power of ten, relative to the larger bound of a candidate.
const LEAST_DIGITS: i32 = 16;

/// How candidates are chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidateParams {
    pub(super) max_cuts: usize,
    pub(super) round_cuts: bool,
}

/// The bins of all features.
///
/// # Errors
///
/// [`RankError`] for a category code out of range, an infinite value, or when interrupted.
pub(super) fn candidate_bins(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    special: &[Vec<f64>],
    params: CandidateParams,
) -> Result<Vec<Bins>, RankError> {
    let units = RowUnits::of_labels(labels);
    let bins = |feature: usize| {
        columns.check_interrupt()?;
        let column = &columns[feature];
        column.check_codes(feature)?;
        let Some(n_levels) = column.n_levels() else {
            let special = special.get(feature).cloned().unwrap_or_default();
            let mut values = Vec::new();
            for row in 0..labels.n_rows() {
                let (value, sums) = (column.raw(row), labels.sums(row));
                if value.is_finite() && sums.rows > 0 && !special.contains(&value) {
                    // -0.0 becomes 0.0.
                    values.push((value + 0.0, sums.pos + sums.neg));
                }
            }
            return Ok(Bins::Numeric { cuts: cuts_of(values, params), special });
        };
        let mut sums = vec![ClassSums::default(); n_levels as usize];
        for row in 0..labels.n_rows() {
            // A missing value is NaN, and no code.
            if let Some(sums) = code_of(column.raw(row)).and_then(|code| sums.get_mut(code)) {
                *sums += labels.sums(row);
            }
        }
        Ok(bins_of_levels(sums, &units, params.max_cuts + 1))
    };
    parallel::try_map((0..columns.n_features()).collect(), bins)
}

fn code_of(raw: f64) -> Option<usize> {
    (!raw.is_nan()).then_some(raw as usize)
}

/// Categories in the order of their rates, shrunk to that of all, in at most so many bins. Those
/// without rows (DECISIONS R5) and rare ones among many count as missing.
fn bins_of_levels(mut sums: Vec<ClassSums>, units: &RowUnits, most: usize) -> Bins {
    let rows: Vec<u64> = sums.iter().map(|sums| sums.rows).collect();
    if let Some(is_rare) = LevelRates::Shrunken.rare(&rows) {
        for (sums, &is_rare) in sums.iter_mut().zip(is_rare.iter()) {
            *sums = if is_rare { ClassSums::default() } else { *sums };
        }
    }
    let sums = &sums;
    let occupied = sums.iter().filter(|sums| sums.rows > 0);
    let shrinkage = RateShrinkage::of(occupied.map(|&sums| sums.into()), units);
    let Some(order) = shrinkage.and_then(|shrinkage| shrinkage.order(sums)) else {
        // They do not differ beyond chance.
        let n_bins = usize::from(sums.iter().any(|sums| sums.rows > 0));
        let bin = |sums: &ClassSums| if sums.rows > 0 { 0 } else { n_bins };
        return Bins::Categorical { bin_of_level: sums.iter().map(bin).collect(), n_bins };
    };
    let sizes: Vec<u64> = order.iter().map(|&level| sums[level].rows).collect();
    let groups = row_groups(&sizes, most);
    let n_bins = groups.last().map_or(0, |&last| usize::from(last) + 1);
    let mut bin_of_level = vec![n_bins; sums.len()];
    for (&level, &group) in order.iter().zip(&groups) {
        bin_of_level[level] = usize::from(group);
    }
    Bins::Categorical { bin_of_level, n_bins }
}

/// Cuts of weighted numbers: one between each two marks, which are all values if there are few, and
/// their quantiles if not.
fn cuts_of(mut values: Vec<(f64, u64)>, params: CandidateParams) -> Vec<f64> {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    values.dedup_by(|next, last| {
        let is_same = next.0.total_cmp(&last.0).is_eq();
        last.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    let mut marks: Vec<f64> = values.iter().map(|&(value, _)| value).collect();
    if values.len() > params.max_cuts + 1 {
        let total: u128 = values.iter().map(|&(_, weight)| u128::from(weight)).sum();
        let parts = 2 * (params.max_cuts as u128 + 1);
        let (mut up_to, mut part) = (0, 1);
        marks.clear();
        for &(value, weight) in &values {
            up_to += u128::from(weight);
            if up_to * parts > part * total {
                marks.push(value);
                // The next odd part that ends above.
                part = up_to * parts / total;
                part += 1 + part % 2;
            }
        }
        // A value that most rows have is parted from the next.
        if let [only] = marks[..] {
            let above = values.iter().find(|&&(value, _)| value > only);
            marks.extend(above.map(|&(value, _)| value));
        }
    }
    let cut = |pair: &[f64]| {
        if params.round_cuts { roundest(pair[0], pair[1]) } else { middle(pair[0], pair[1]) }
    };
    marks.windows(2).map(cut).collect()
}

/// A number above `low`, and not above `high`.
fn middle(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    if middle > low { middle } else { high }
}

/// The roundest number above `low` and not above `high`; of several, the one nearest the middle.
fn roundest(low: f64, high: f64) -> f64 {
    if low < 0.0 && high >= 0.0 {
        return 0.0;
    }
    let largest = low.abs().max(high.abs());
    let top = largest.log10().ceil() as i32;
    for exponent in (top - LEAST_DIGITS..=top).rev() {
        for (mantissa, shift) in ROUND {
            let multiple = |times: f64| -> f64 {
                // From decimal digits, so that it is the double nearest to them.
                let digits = format!("{:.0}e{}", times * mantissa as f64, exponent + shift);
                digits.parse().unwrap_or(f64::NAN)
            };
            let step = multiple(1.0);
            if !(step > 0.0 && step.is_finite()) {
                continue;
            }
            let middle = f64::midpoint(low, high);
            let near = (middle / step).round();
            let mut found: Vec<f64> = [-1.0, 0.0, 1.0]
                .map(|more| multiple(near + more))
                .into_iter()
                .filter(|&number| low < number && number <= high)
                .collect();
            found.sort_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()));
            if let Some(&number) = found.first() {
                return number;
            }
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roundest_number_between_two_is_found() {
        let cases: [(f64, f64, f64); 14] = [
            (0.9, 1.1, 1.0),
            (23.0, 27.0, 25.0),
            (23.0, 24.0, 24.0),
            (41.0, 44.0, 42.5),
            (41.2, 41.9, 41.5),
            (-3.0, 2.0, 0.0),
            (-3.0, 0.0, 0.0),
            (0.0, 7.0, 5.0),
            (0.0, 0.3, 0.25),
            (0.21, 0.24, 0.225),
            (-47.0, -46.0, -46.0),
            (999.0, 1001.0, 1000.0),
            (1e-7, 1.2e-7, 1.2e-7),
            (18_000.0, 23_000.0, 20_000.0),
        ];
        for (low, high, expected) in cases {
            let found = roundest(low, high);
            assert!(low < found && found <= high, "{low} {found} {high}");
            assert_eq!(found.to_bits(), expected.to_bits(), "{low} {high}: {found}");
        }
        // Neighbouring doubles, and those at the ends of the range.
        for low in [1.0, 0.1, 1e300, f64::MAX.next_down(), f64::MIN_POSITIVE, 5e-324, -1.0] {
            let high = low.next_up();
            assert!(roundest(low, high) > low && roundest(low, high) <= high, "{low}");
            assert!(middle(low, high) > low && middle(low, high) <= high, "{low}");
        }
    }

    #[test]
    fn cuts_part_about_as_many_rows_each() {
        let params = CandidateParams { max_cuts: 4, round_cuts: false };
        // Few values: each is parted from the next.
        let few = cuts_of(vec![(3.0, 1), (1.0, 5), (1.0, 2), (2.0, 1)], params);
        assert_eq!(few, [1.5, 2.5]);
        let cuts = cuts_of((0..1000).map(|value| (f64::from(value), 1)).collect(), params);
        assert_eq!(cuts, [200.0, 400.0, 600.0, 800.0]);
        let params = CandidateParams { round_cuts: true, ..params };
        let cuts = cuts_of((0..1000).map(|value| (f64::from(value), 1)).collect(), params);
        assert_eq!(cuts, [250.0, 500.0, 600.0, 750.0]);
        // A value that many rows have is parted from the others.
        let mut values = vec![(0.0, 900)];
        values.extend((1..=100).map(|value| (f64::from(value), 1)));
        let cuts = cuts_of(values, CandidateParams { max_cuts: 4, round_cuts: false });
        assert_eq!(cuts, [0.5]);
    }
}
