//! Rows as the codes of their features, equal ones counted once.

use rayon::prelude::*;

use super::binarize::Binarizer;
use super::term::{BinaryTerm, Literal};
use crate::data::{Columns, Labels, mix};

/// Distinct rows of each class, by their codes: the positive ones first, either class in the order of
/// a hash of the codes. What is summed over them in their order does not depend on the order of the
/// rows in the data, nor on how often a row of whole weight is written down.
#[derive(Debug)]
pub(super) struct Observations<'a> {
    pub binarizer: &'a Binarizer,
    /// By feature, the code of each.
    codes: Vec<Vec<u16>>,
    /// Share of each in the weight of its class.
    pub shares: Vec<f64>,
    /// So many are positive: the first.
    pub n_pos: usize,
}

impl<'a> Observations<'a> {
    pub fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        rows: &[u32],
        binarizer: &'a Binarizer,
    ) -> Self {
        let features: Vec<_> = binarizer.features.iter().zip(columns).collect();
        let codes: Vec<Vec<u16>> =
            features.into_par_iter().map(|(feature, column)| feature.codes(column, rows)).collect();
        let mut hashes = vec![0_u64; rows.len()];
        for codes in &codes {
            for (hash, &code) in hashes.iter_mut().zip(codes) {
                *hash = mix(*hash ^ u64::from(code));
            }
        }
        let negative = |row: u32| !labels.positive()[row as usize];
        let mut order: Vec<(bool, u64, u32)> = rows
            .iter()
            .zip(&hashes)
            .zip(0..)
            .map(|((&row, &hash), place)| (negative(row), hash, place))
            .collect();
        drop(hashes);
        let of = |place: u32| codes.iter().map(move |codes| codes[place as usize]);
        let by_codes = |a: u32, b: u32| of(a).cmp(of(b));
        order.par_sort_unstable_by(|a, b| {
            (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| by_codes(a.2, b.2))
        });
        let same = |a: &(bool, u64, u32), b: &(bool, u64, u32)| {
            (a.0, a.1) == (b.0, b.1) && by_codes(a.2, b.2).is_eq()
        };
        let mut shares = Vec::new();
        let mut places = Vec::new();
        let (mut n_pos, mut totals) = (0, [0_u64; 2]);
        for copies in order.chunk_by(same) {
            let mut weight = 0;
            for &(_, _, place) in copies {
                let sums = labels.sums(rows[place as usize] as usize);
                weight += sums.pos + sums.neg;
            }
            n_pos += usize::from(!copies[0].0);
            totals[usize::from(copies[0].0)] += weight;
            shares.push(weight as f64);
            places.push(copies[0].2);
        }
        let (pos, neg) = shares.split_at_mut(n_pos);
        pos.iter_mut().for_each(|share| *share /= totals[0] as f64);
        neg.iter_mut().for_each(|share| *share /= totals[1] as f64);
        let codes = codes
            .into_par_iter()
            .map(|codes| places.iter().map(|&place| codes[place as usize]).collect())
            .collect();
        Self { binarizer, codes, shares, n_pos }
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Sums of slopes over the observations that have each code of a feature.
    pub fn sums_by_code(&self, feature: usize, slopes: &[f64]) -> Vec<f64> {
        // Two tables in turn: an addition need not wait for the one before it.
        let mut sums = vec![[0.0; 2]; self.binarizer.features[feature].n_codes()];
        for (codes, slopes) in self.codes[feature].chunks(2).zip(slopes.chunks(2)) {
            for ((&code, &slope), turn) in codes.iter().zip(slopes).zip(0..) {
                sums[usize::from(code)][turn] += slope;
            }
        }
        sums.into_iter().map(|[even, odd]| even + odd).collect()
    }

    /// Sums of slopes over the observations where each term of a feature is on.
    pub fn sums_by_term(&self, feature: usize, slopes: &[f64]) -> Vec<f64> {
        let binary = &self.binarizer.features[feature];
        let sums = self.sums_by_code(feature, slopes);
        let of_term = |term| {
            (0..sums.len()).filter(|&code| binary.is_on(term, code)).map(|code| sums[code]).sum()
        };
        (0..binary.n_terms()).map(of_term).collect()
    }

    /// Where a term is on: 1 or 0.
    pub fn on(&self, term: BinaryTerm) -> Vec<u8> {
        match term {
            BinaryTerm::First(literal) => self.on_of(literal),
            BinaryTerm::And(a, b) => {
                self.on_of(a).iter().zip(self.on_of(b)).map(|(a, b)| a & b).collect()
            }
            BinaryTerm::Or(a, b) => {
                self.on_of(a).iter().zip(self.on_of(b)).map(|(a, b)| a | b).collect()
            }
        }
    }

    fn on_of(&self, literal: Literal) -> Vec<u8> {
        let feature = &self.binarizer.features[literal.feature];
        let on: Vec<u8> =
            (0..feature.n_codes()).map(|code| feature.is_on(literal.slot, code).into()).collect();
        self.codes[literal.feature].iter().map(|&code| on[usize::from(code)]).collect()
    }

    /// Where a literal is on: one bit for each observation.
    pub fn bits(&self, literal: Literal) -> Vec<u64> {
        let pack = |on: &[u8]| on.iter().rev().fold(0, |word, &on| word << 1 | u64::from(on));
        self.on_of(literal).chunks(64).map(pack).collect()
    }
}
