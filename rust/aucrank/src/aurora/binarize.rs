//! Raw features as binary terms.

use serde::{Deserialize, Serialize};

use crate::data::{Column, Columns, Labels, MISSING_CODE, midpoint};

/// How raw features become binary terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinarizerParams {
    /// Up to so many distinct values a number is cut between all of them.
    pub max_levels: usize,
    /// Runs of values that each hold a smaller share of the rows are joined.
    pub min_level_share: f64,
    /// Percentiles at which other numbers are cut, ascending.
    pub percentiles: Vec<f64>,
    /// Share of the rows that a single value has at most when percentiles are taken.
    pub max_spike_share: f64,
}

impl Default for BinarizerParams {
    fn default() -> Self {
        Self {
            max_levels: 22,
            min_level_share: 0.001,
            percentiles: (1..20).map(|k| f64::from(5 * k)).collect(),
            max_spike_share: 0.01,
        }
    }
}

/// What the terms of a feature ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// `x >= t` for each threshold, ascending.
    AtLeast(Vec<f64>),
    /// `x = level` for each of these codes, ascending; the feature has `n_levels`.
    Equals {
        /// Codes.
        levels: Vec<u32>,
        /// Number of categories.
        n_levels: u32,
    },
}

/// A raw feature as binary terms: those of its rule, then that of missing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinaryFeature {
    /// What its terms ask.
    pub rule: Rule,
    /// Whether there is a term for missing values.
    pub missing: bool,
}

impl BinaryFeature {
    /// Number of terms.
    #[must_use]
    pub fn n_terms(&self) -> usize {
        let known = match &self.rule {
            Rule::AtLeast(thresholds) => thresholds.len(),
            Rule::Equals { levels, .. } => levels.len(),
        };
        known + usize::from(self.missing)
    }

    /// Number of codes that rows may have.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        match &self.rule {
            Rule::AtLeast(thresholds) => thresholds.len() + 2,
            Rule::Equals { n_levels, .. } => *n_levels as usize + 1,
        }
    }

    /// Whether a term is on for rows of a code.
    #[inline]
    #[must_use]
    pub fn is_on(&self, term: usize, code: usize) -> bool {
        let missing = self.n_codes() - 1;
        match &self.rule {
            Rule::AtLeast(thresholds) if term < thresholds.len() => code > term && code < missing,
            Rule::Equals { levels, .. } if term < levels.len() => levels[term] as usize == code,
            _ => code == missing,
        }
    }

    /// Whether one of two terms is on wherever the other is, or the two are never on together: then
    /// only their `or` may be a term of its own, and of two thresholds neither is.
    #[must_use]
    pub(super) fn nested(&self, a: usize, b: usize) -> bool {
        matches!(&self.rule, Rule::AtLeast(thresholds) if a.max(b) < thresholds.len())
    }

    /// The code of a number.
    #[inline]
    fn code_of_number(&self, value: f64) -> usize {
        let Rule::AtLeast(thresholds) = &self.rule else { return self.n_codes() - 1 };
        if value.is_nan() {
            return thresholds.len() + 1;
        }
        thresholds.partition_point(|&threshold| threshold <= value)
    }

    /// The codes of some rows of a column.
    #[must_use]
    pub fn codes(&self, column: &Column<'_>, rows: &[u32]) -> Vec<u16> {
        let missing = (self.n_codes() - 1) as u16;
        match column {
            Column::F64(values) => rows
                .iter()
                .map(|&row| self.code_of_number(values.get(row as usize)) as u16)
                .collect(),
            Column::F32(values) => rows
                .iter()
                .map(|&row| self.code_of_number(values.get(row as usize)) as u16)
                .collect(),
            Column::Codes { codes, .. } => rows
                .iter()
                .map(|&row| match codes[row as usize] {
                    MISSING_CODE => missing,
                    code => (code as u16).min(missing),
                })
                .collect(),
        }
    }
}

/// Raw features as binary terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binarizer {
    /// By feature.
    pub features: Vec<BinaryFeature>,
}

impl Binarizer {
    /// Chooses the terms from some rows.
    #[must_use]
    pub fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        rows: &[u32],
        params: &BinarizerParams,
    ) -> Self {
        let of_column = |column: &Column<'_>| match column {
            Column::F64(values) => {
                numeric(rows, |row| values.get(row), |row| labels.sums(row), params)
            }
            Column::F32(values) => {
                numeric(rows, |row| values.get(row), |row| labels.sums(row), params)
            }
            Column::Codes { codes, n_levels } => categorical(codes, *n_levels, rows),
        };
        Self { features: columns.iter().map(of_column).collect() }
    }
}

fn categorical(codes: &[u32], n_levels: u32, rows: &[u32]) -> BinaryFeature {
    let mut counts = vec![0_usize; n_levels as usize];
    let mut missing = 0;
    for &row in rows {
        match counts.get_mut(codes[row as usize] as usize) {
            Some(count) => *count += 1,
            None => missing += 1,
        }
    }
    let mut levels: Vec<u32> = (0..n_levels).filter(|&level| counts[level as usize] > 0).collect();
    if levels.len() == 2 && missing == 0 || levels.len() == 1 {
        levels.pop();
    }
    BinaryFeature { rule: Rule::Equals { levels, n_levels }, missing: missing > 0 }
}

fn numeric(
    rows: &[u32],
    value: impl Fn(usize) -> f64,
    sums: impl Fn(usize) -> crate::data::ClassSums,
    params: &BinarizerParams,
) -> BinaryFeature {
    let mut known: Vec<(f64, u64)> = Vec::with_capacity(rows.len());
    let mut missing = false;
    for &row in rows {
        let value = value(row as usize) + 0.0;
        if value.is_nan() {
            missing = true;
        } else {
            known.push((value, sums(row as usize).rows));
        }
    }
    known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut levels: Vec<(f64, u64)> = Vec::new();
    for (value, count) in known {
        match levels.last_mut() {
            Some(last) if last.0 == value => last.1 += count,
            _ => levels.push((value, count)),
        }
    }
    let n: u64 = levels.iter().map(|level| level.1).sum();
    let thresholds = if levels.len() <= params.max_levels {
        let is_rare = |level: &(f64, u64)| (level.1 as f64) < params.min_level_share * n as f64;
        levels
            .windows(2)
            .filter(|pair| !(is_rare(&pair[0]) && is_rare(&pair[1])))
            .map(|pair| midpoint(pair[0].0, pair[1].0))
            .collect()
    } else {
        let cap = ((params.max_spike_share * n as f64).floor() as u64).max(1);
        percentiles(&levels, cap, &params.percentiles)
    };
    BinaryFeature { rule: Rule::AtLeast(thresholds), missing }
}

/// Percentiles of values that count no more than `cap` times each, by linear interpolation; only those
/// that part the values, each once.
fn percentiles(levels: &[(f64, u64)], cap: u64, percentiles: &[f64]) -> Vec<f64> {
    let mut up_to = Vec::with_capacity(levels.len());
    let mut total = 0;
    for level in levels {
        total += level.1.min(cap);
        up_to.push(total);
    }
    let at = |place: u64| levels[up_to.partition_point(|&count| count <= place)].0;
    let mut thresholds: Vec<f64> = Vec::new();
    for percentile in percentiles {
        let place = percentile / 100.0 * (total - 1) as f64;
        let (below, share) = (place.floor() as u64, place.fract());
        let (low, high) = (at(below), at((below + 1).min(total - 1)));
        let threshold = low + share * (high - low);
        if threshold > levels[0].0 && thresholds.last().is_none_or(|&last| threshold > last) {
            thresholds.push(threshold);
        }
    }
    thresholds
}
