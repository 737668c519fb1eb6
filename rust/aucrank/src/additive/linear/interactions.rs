//! Which pairs of features a linear score needs besides single ones.
//!
//! Two kinds of terms of two features are tried: cells of both features in a few parts each, and
//! steps of the ratio or the difference of two numbers. The merit of a term is what it gains, to
//! second order, on the residuals of the score of single features: the sum over its parts of
//! `G^2 / (H + 1)`, with the sums `G` of residuals and `H` of variances `p (1 - p)`, less what its
//! features gain alone. By chance the best of so many has a merit, too: residuals that are shuffled
//! over the rows show how large. A term is taken if none of all the terms of its kind reaches its
//! merit with any of [`N_SHUFFLES`] shuffles.

use super::design::DistinctRows;
use super::joint_term::Arithmetic;
use crate::data::{
    Column, Columns, Labels, logistic, mix, quantile_cuts, shuffled, times_power_of_two,
};
use crate::formula::{Axis, AxisPlaces};
use crate::{Interrupt, RankError, parallel};

/// Shuffles of the residuals.
const N_SHUFFLES: usize = 20;

/// The residuals of a row, and then those of each shuffle.
type Residuals = [f64; 1 + N_SHUFFLES];

/// Distinct rows that the search looks at: a random sample.
const MOST_ROWS: usize = 20_000;

/// Rows times terms that it looks at, but at least [`LEAST_ROWS`] rows of all terms.
const MOST_TERM_ROWS: usize = 1 << 25;
const LEAST_ROWS: usize = 2_000;

/// Features that are paired in cells, and numbers that others are computed from: those whose
/// contributions vary most.
const MOST_FEATURES: usize = 100;
const MOST_NUMBERS: usize = 40;

/// Parts of the known values of a number in cells.
const PARTS: usize = 3;

/// Most categories of a feature with parts of their own in cells, and their least share of rows.
const MOST_LEVELS: usize = 8;
const LEAST_SHARE: f64 = 0.02;

/// Parts of a computed number, and of each that it is computed from.
const NUMBER_PARTS: usize = 12;

/// Least number of distinct values of a number to compute with.
const LEAST_VALUES: usize = 9;

/// One computed number at most for so many terms.
const TERMS_PER_NUMBER: usize = 6;

/// A term of two features, without its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Interaction {
    Cells([Axis; 2]),
    Arithmetic(Arithmetic, [usize; 2]),
}

/// What the search looks at.
pub(super) struct InteractionSearch<'a> {
    pub(super) columns: &'a Columns<'a>,
    pub(super) labels: &'a Labels<'a>,
    pub(super) rows: &'a DistinctRows,
    /// For each feature its contribution to the score of each of the first rows.
    pub(super) parts: &'a [(usize, Vec<f64>)],
    pub(super) intercept: f64,
    pub(super) interrupt: &'a Interrupt,
}

/// Number of distinct rows that the search looks at, of all.
pub(super) fn n_searched(rows: &DistinctRows) -> usize {
    rows.len().min(MOST_ROWS)
}

/// Residuals and variances of some rows.
struct SearchedRows {
    residuals: Vec<Residuals>,
    variances: Vec<f64>,
}

/// The part of each row by a feature, or by a computed number.
struct PartCodes {
    codes: Vec<u8>,
    n_parts: usize,
}

/// A feature in cells.
struct CellFeature {
    axis: Axis,
    parts: PartCodes,
}

/// A number to compute with.
struct Operand {
    feature: usize,
    values: Vec<f64>,
    alone: Residuals,
    divides: bool,
}

impl InteractionSearch<'_> {
    /// The terms whose merit is beyond chance, the strongest first, at most `most`.
    pub(super) fn found(&self, most: usize) -> Result<Vec<Interaction>, RankError> {
        let n_rows = n_searched(self.rows);
        let positive = &self.rows.positive[..n_rows];
        if positive.iter().all(|&p| p) || !positive.contains(&true) {
            return Ok(Vec::new());
        }
        let order = self.by_spread(n_rows);
        let mut found = self.cells(&order, n_rows)?;
        let most_numbers = most.div_ceil(TERMS_PER_NUMBER);
        found.extend(self.numbers(&order, n_rows)?.into_iter().take(most_numbers));
        // Of ties the first.
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(most);
        Ok(found.into_iter().map(|(_, term)| term).collect())
    }

    /// The features, those whose contributions vary most first.
    fn by_spread(&self, n_rows: usize) -> Vec<usize> {
        let mut spreads = vec![0.0; self.columns.n_features()];
        for (feature, part) in self.parts {
            let part = &part[..n_rows];
            let mean = part.iter().sum::<f64>() / n_rows as f64;
            spreads[*feature] = part.iter().map(|value| (value - mean) * (value - mean)).sum();
        }
        let mut order: Vec<usize> = (0..spreads.len()).collect();
        // The sort is stable: of ties the first.
        order.sort_by(|&a, &b| spreads[b].total_cmp(&spreads[a]));
        order
    }

    fn searched(&self, n_rows: usize) -> SearchedRows {
        let mut scores = vec![self.intercept; n_rows];
        for (_, part) in self.parts {
            scores.iter_mut().zip(part).for_each(|(score, part)| *score += part);
        }
        let rates: Vec<f64> = scores.into_iter().map(logistic).collect();
        let weight =
            |row: usize| times_power_of_two(self.rows.units[row] as f64, self.labels.exponent());
        let orders: Vec<Vec<usize>> =
            (0..N_SHUFFLES as u64).map(|number| shuffled(n_rows, mix(number))).collect();
        let residual = |row: usize| f64::from(u8::from(self.rows.positive[row])) - rates[row];
        let of_row = |row: usize| {
            let mut of_row = [weight(row) * residual(row); 1 + N_SHUFFLES];
            for (place, order) in of_row[1..].iter_mut().zip(&orders) {
                *place = weight(row) * residual(order[row]);
            }
            of_row
        };
        SearchedRows {
            residuals: (0..n_rows).map(of_row).collect(),
            variances: (0..n_rows)
                .map(|row| weight(row) * rates[row] * (1.0 - rates[row]))
                .collect(),
        }
    }

    /// Pairs of features in cells that are beyond chance.
    fn cells(&self, order: &[usize], n_rows: usize) -> Result<Vec<(f64, Interaction)>, RankError> {
        let most = order.len().min(MOST_FEATURES);
        let n_rows = n_rows.min(rows_for(most * most.saturating_sub(1) / 2));
        let rows = self.searched(n_rows);
        let mut paired = order[..most].to_vec();
        paired.sort_unstable();
        let features = parallel::map(paired, |feature| self.cell_feature(feature, n_rows));
        let features: Vec<CellFeature> = features.into_iter().flatten().collect();
        let pairs: Vec<[&CellFeature; 2]> = features
            .iter()
            .enumerate()
            .flat_map(|(place, first)| features[place + 1..].iter().map(move |b| [first, b]))
            .collect();
        let merit = |[first, second]: [&CellFeature; 2]| {
            self.interrupt.check()?;
            Ok(rows.merit_of_cells(&first.parts, &second.parts))
        };
        let merits = parallel::try_map(pairs.clone(), merit)?;
        let term =
            |place: usize| Interaction::Cells(pairs[place].map(|feature| feature.axis.clone()));
        Ok(beyond_chance(&merits).map(|(merit, place)| (merit, term(place))).collect())
    }

    /// The parts of a feature in cells, if it has several.
    fn cell_feature(&self, feature: usize, n_rows: usize) -> Option<CellFeature> {
        let searched = &self.rows.rows[..n_rows];
        let raw = raw_values(&self.columns[feature], searched);
        let known = if let Column::Codes { codes, n_levels } = self.columns[feature] {
            common_levels(searched.iter().map(|&row| codes[row as usize]), n_levels)
        } else {
            let sample = raw.iter().copied().zip(self.rows.units.iter().copied()).collect();
            AxisPlaces::Numeric { thresholds: quantile_cuts(sample, PARTS) }
        };
        let axis = Axis { feature, known };
        let place = axis.reader();
        let codes: Vec<u8> = raw.into_iter().map(|raw| place(raw) as u8).collect();
        drop(place);
        let is_constant = codes.iter().all(|code| *code == codes[0]);
        let n_parts = axis.n_places();
        (!is_constant).then_some(CellFeature { axis, parts: PartCodes { codes, n_parts } })
    }

    /// Numbers computed from two that are beyond chance, at most one of any two.
    fn numbers(
        &self,
        order: &[usize],
        n_rows: usize,
    ) -> Result<Vec<(f64, Interaction)>, RankError> {
        let are_numbers = |feature: &&usize| self.columns[**feature].n_levels().is_none();
        let wanted: Vec<usize> =
            order.iter().filter(are_numbers).take(MOST_NUMBERS).copied().collect();
        let n_rows = n_rows.min(rows_for(3 * wanted.len() * wanted.len().saturating_sub(1) / 2));
        let rows = self.searched(n_rows);
        let operands = parallel::map(wanted, |feature| self.operand(feature, &rows));
        let operands: Vec<Operand> = operands.into_iter().flatten().collect();
        let n = operands.len();
        let both = (0..n).flat_map(|a| (0..n).map(move |b| [a, b])).filter(|[a, b]| a != b);
        let computed: Vec<(Arithmetic, [usize; 2])> = both
            .flat_map(|pair| [Arithmetic::Ratio, Arithmetic::Difference].map(|how| (how, pair)))
            .filter(|&(how, [a, b])| match how {
                Arithmetic::Ratio => operands[b].divides,
                Arithmetic::Difference => a < b,
            })
            .collect();
        let merit = |(how, pair): (Arithmetic, [usize; 2])| {
            self.interrupt.check()?;
            let [first, second] = pair.map(|place| &operands[place]);
            let both = first.values.iter().zip(&second.values);
            let values = both.map(|(&a, &b)| how.of([a, b]).unwrap_or(f64::NAN)).collect();
            let mut merit = rows.gain(&self.parts_of(values));
            for (lane, value) in merit.iter_mut().enumerate() {
                *value -= first.alone[lane].max(second.alone[lane]);
            }
            Ok(merit)
        };
        let merits = parallel::try_map(computed.clone(), merit)?;
        let feature = |place: usize| operands[place].feature;
        let mut found: Vec<(f64, Arithmetic, [usize; 2])> = beyond_chance(&merits)
            .map(|(merit, place)| (merit, computed[place].0, computed[place].1.map(feature)))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut taken: Vec<(f64, Interaction)> = Vec::new();
        let mut are_taken = Vec::new();
        for (merit, how, features) in found {
            let mut both = features;
            both.sort_unstable();
            if !are_taken.contains(&both) {
                are_taken.push(both);
                taken.push((merit, Interaction::Arithmetic(how, features)));
            }
        }
        Ok(taken)
    }

    /// A number to compute with, if it has more than a few values.
    fn operand(&self, feature: usize, rows: &SearchedRows) -> Option<Operand> {
        let values = raw_values(&self.columns[feature], &self.rows.rows[..rows.variances.len()]);
        let mut distinct: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() < LEAST_VALUES {
            return None;
        }
        let alone = rows.gain(&self.parts_of(values.clone()));
        // A number of both signs would be divided by for some rows only.
        let divides = distinct[0] >= 0.0;
        Some(Operand { feature, values, alone, divides })
    }

    /// Numbers in parts at quantiles, missing ones in a part of their own.
    fn parts_of(&self, values: Vec<f64>) -> PartCodes {
        let sample = values.iter().copied().zip(self.rows.units.iter().copied());
        let cuts = quantile_cuts(sample.take(LEAST_ROWS).collect(), NUMBER_PARTS);
        let missing = cuts.len() + 1;
        let part = |value: f64| {
            if value.is_nan() { missing } else { cuts.partition_point(|&cut| cut <= value) }
        };
        let codes = values.into_iter().map(|value| part(value) as u8).collect();
        PartCodes { codes, n_parts: missing + 1 }
    }
}

/// Places of the common categories of some rows, and of all others.
fn common_levels(codes: impl ExactSizeIterator<Item = u32>, n_levels: u32) -> AxisPlaces {
    let least = (LEAST_SHARE * codes.len() as f64).max(5.0);
    let mut counts = vec![0_u64; n_levels as usize];
    for code in codes {
        if let Some(count) = counts.get_mut(code as usize) {
            *count += 1;
        }
    }
    let mut kept: Vec<u32> =
        (0..n_levels).filter(|&level| counts[level as usize] as f64 >= least).collect();
    kept.sort_by_key(|&level| std::cmp::Reverse(counts[level as usize]));
    kept.truncate(MOST_LEVELS);
    kept.sort_unstable();
    let has_others = kept.len() < n_levels as usize || kept.is_empty();
    let groups = kept.into_iter().map(|level| vec![level]).collect();
    AxisPlaces::Categorical { groups, has_others }
}

/// The values of some rows.
fn raw_values(column: &Column<'_>, rows: &[u32]) -> Vec<f64> {
    rows.iter().map(|&row| column.raw(row as usize)).collect()
}

/// Rows that may be looked at for so many terms.
fn rows_for(n_terms: usize) -> usize {
    (MOST_TERM_ROWS / n_terms.max(1)).max(LEAST_ROWS)
}

/// The merits that are larger than all that shuffled residuals give, relative to the largest of
/// these, and the places of their terms.
fn beyond_chance(merits: &[Residuals]) -> impl Iterator<Item = (f64, usize)> + '_ {
    let by_chance = merits.iter().flat_map(|merit| &merit[1..]).copied().fold(0.0, f64::max);
    merits
        .iter()
        .enumerate()
        .filter(move |(_, merit)| merit[0] > by_chance)
        .map(move |(place, merit)| (merit[0] / by_chance, place))
}

/// Sums over the rows of each part.
struct PartSums {
    residuals: Vec<Residuals>,
    variances: Vec<f64>,
}

impl PartSums {
    fn new(n_parts: usize) -> Self {
        Self { residuals: vec![[0.0; 1 + N_SHUFFLES]; n_parts], variances: vec![0.0; n_parts] }
    }

    #[inline]
    fn add(&mut self, part: usize, residuals: &Residuals, variance: f64) {
        self.residuals[part].iter_mut().zip(residuals).for_each(|(sum, value)| *sum += value);
        self.variances[part] += variance;
    }

    fn gain(&self) -> Residuals {
        let mut gains = [0.0; 1 + N_SHUFFLES];
        for (residuals, variance) in self.residuals.iter().zip(&self.variances) {
            let factor = 1.0 / (variance + 1.0);
            gains.iter_mut().zip(residuals).for_each(|(gain, sum)| *gain += factor * sum * sum);
        }
        gains
    }
}

impl SearchedRows {
    fn sums(&self, part: impl Fn(usize) -> usize, n_parts: usize) -> PartSums {
        let mut sums = PartSums::new(n_parts);
        for (row, (residuals, variance)) in self.residuals.iter().zip(&self.variances).enumerate() {
            sums.add(part(row), residuals, *variance);
        }
        sums
    }

    /// What the parts of a number gain.
    fn gain(&self, parts: &PartCodes) -> Residuals {
        self.sums(|row| usize::from(parts.codes[row]), parts.n_parts).gain()
    }

    /// What the cells of two features gain beyond the parts of each alone.
    fn merit_of_cells(&self, first: &PartCodes, second: &PartCodes) -> Residuals {
        let n_second = second.n_parts;
        let cell =
            |row: usize| usize::from(first.codes[row]) * n_second + usize::from(second.codes[row]);
        let cells = self.sums(cell, first.n_parts * n_second);
        let mut margins = [PartSums::new(first.n_parts), PartSums::new(n_second)];
        for (cell, (residuals, variance)) in
            cells.residuals.iter().zip(&cells.variances).enumerate()
        {
            margins[0].add(cell / n_second, residuals, *variance);
            margins[1].add(cell % n_second, residuals, *variance);
        }
        let mut merit = cells.gain();
        for alone in margins.each_ref().map(PartSums::gain) {
            merit.iter_mut().zip(alone).for_each(|(merit, gain)| *merit -= gain);
        }
        merit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(n_rows: usize) -> SearchedRows {
        let unit =
            |row: usize, what: u64| (mix(mix(row as u64) ^ what) >> 11) as f64 / 2_f64.powi(53);
        let residuals = |row: usize| {
            let mut of_row = [0.0; 1 + N_SHUFFLES];
            for (lane, value) in of_row.iter_mut().enumerate() {
                *value = unit(row, lane as u64) - 0.5;
            }
            of_row
        };
        SearchedRows {
            residuals: (0..n_rows).map(residuals).collect(),
            variances: (0..n_rows).map(|row| 0.25 * unit(row, 99)).collect(),
        }
    }

    fn parts(n_rows: usize, n_parts: usize, what: u64) -> PartCodes {
        let code = |row: usize| (mix(mix(row as u64) ^ what) % n_parts as u64) as u8;
        PartCodes { codes: (0..n_rows).map(code).collect(), n_parts }
    }

    /// By the definition: over the rows of each part, one after the other.
    fn gain(rows: &SearchedRows, lane: usize, is_in: impl Fn(usize) -> usize, n: usize) -> f64 {
        let of_part = |part: usize| {
            let of_part = || (0..rows.variances.len()).filter(|&row| is_in(row) == part);
            let sum: f64 = of_part().map(|row| rows.residuals[row][lane]).sum();
            let variance: f64 = of_part().map(|row| rows.variances[row]).sum();
            sum * sum / (variance + 1.0)
        };
        (0..n).map(of_part).sum()
    }

    #[test]
    fn the_merit_of_cells_is_their_gain_beyond_that_of_each_feature() {
        let rows = searched(300);
        let (first, second) = (parts(300, 4, 1), parts(300, 3, 2));
        let merit = rows.merit_of_cells(&first, &second);
        for (lane, merit) in merit.into_iter().enumerate() {
            let code = |parts: &PartCodes, row: usize| usize::from(parts.codes[row]);
            let cells = gain(&rows, lane, |row| 3 * code(&first, row) + code(&second, row), 12);
            let alone = gain(&rows, lane, |row| code(&first, row), 4)
                + gain(&rows, lane, |row| code(&second, row), 3);
            assert!((merit - (cells - alone)).abs() < 1e-10, "{merit} {cells} {alone}");
        }
    }

    #[test]
    fn a_term_is_taken_if_no_shuffle_of_any_term_reaches_it() {
        let merit = |own: f64, most: f64| {
            let mut merit = [0.0; 1 + N_SHUFFLES];
            (merit[0], merit[7]) = (own, most);
            merit
        };
        let merits = [merit(2.0, 1.0), merit(5.0, 4.0), merit(9.0, 2.0), merit(4.0, 3.0)];
        assert_eq!(beyond_chance(&merits).collect::<Vec<_>>(), [(1.25, 1), (2.25, 2)]);
    }
}
