//! Rows as codes of their features, duplicates merged.

use crate::parallel::prelude::*;

use super::binarize::Binarizer;
use super::binary_feature::BinaryFeature;
use super::binary_feature::{BinaryTerm, Literal};
use crate::data::{Column, Columns, Labels, mix};
use crate::roc::TopNegatives;
use crate::{RankError, parallel};

/// Bits of the weight of a class.
const MASS_BITS: u32 = 53;

/// Bits of the part by which a row counts.
const PART_BITS: u32 = 10;

/// Distinct rows of each class, by their codes: the positive ones first, each class in the order of
/// a hash of the codes. So sums over them in their order depend neither on the order of the rows in
/// the data nor on how often a row of whole weight is repeated.
#[derive(Debug)]
pub(super) struct Observations<'a> {
    pub binarizer: &'a Binarizer,
    /// Codes of the observations, by feature.
    codes: Vec<Vec<u16>>,
    /// Weight of each observation.
    pub units: Vec<u64>,
    /// Share of each in the weight of its class.
    pub shares: Vec<f64>,
    /// Number of positive observations, which come first.
    pub n_pos: usize,
}

impl<'a> Observations<'a> {
    pub fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        rows: &[u32],
        binarizer: &'a Binarizer,
    ) -> Result<Self, RankError> {
        let features: Vec<_> = binarizer.features.iter().zip(columns).collect();
        let codes_of = |(feature, column): (&BinaryFeature, &Column<'_>)| {
            columns.check_interrupt()?;
            Ok(feature.codes(column, rows))
        };
        let codes: Vec<Vec<u16>> = parallel::try_map(features, codes_of)?;
        let mut hashes = vec![0_u64; rows.len()];
        for codes in &codes {
            for (hash, &code) in hashes.iter_mut().zip(codes) {
                *hash = mix(*hash ^ u64::from(code));
            }
        }
        columns.check_interrupt()?;
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
        columns.check_interrupt()?;
        let same = |a: &(bool, u64, u32), b: &(bool, u64, u32)| {
            (a.0, a.1) == (b.0, b.1) && by_codes(a.2, b.2).is_eq()
        };
        let mut units = Vec::new();
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
            units.push(weight);
            places.push(copies[0].2);
        }
        let share = |(place, &units): (usize, &u64)| {
            units as f64 / totals[usize::from(place >= n_pos)] as f64
        };
        let shares = units.iter().enumerate().map(share).collect();
        let codes = parallel::map(codes, |codes: Vec<u16>| {
            places.iter().map(|&place| codes[place as usize]).collect()
        });
        Ok(Self { binarizer, codes, units, shares, n_pos })
    }

    /// The same observations with emphasis on the highest negatives: from the highest of the
    /// `scores` down to a share of the weight of all they count in full, and the others in part.
    pub fn narrowed(mut self, scores: &[f64], max_fpr: f64) -> Self {
        let negatives = &mut self.units[self.n_pos..];
        let weighed = scores[self.n_pos..].iter().copied().zip(negatives.iter().copied());
        let top = TopNegatives::of(weighed.collect(), max_fpr);
        // Parts of a unit are integers in a finer one, as far as the weight of a class allows.
        let total: u64 = negatives.iter().sum();
        let spare = MASS_BITS.saturating_sub(u64::BITS - total.leading_zeros()).min(PART_BITS);
        let finer = (1_u64 << spare) as f64;
        for (units, &score) in negatives.iter_mut().zip(&scores[self.n_pos..]) {
            *units = ((*units as f64 * finer * top.part(score)).round() as u64).max(1);
        }
        let total = negatives.iter().sum::<u64>() as f64;
        for (share, &units) in self.shares[self.n_pos..].iter_mut().zip(&*negatives) {
            *share = units as f64 / total;
        }
        self
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Sums of slopes over the observations with each code of a feature.
    pub fn sums_by_code(&self, feature: usize, slopes: &[f64]) -> Vec<f64> {
        // Two alternating tables, so that an addition need not wait for the previous one.
        let mut sums = vec![[0.0; 2]; self.binarizer.features[feature].n_codes()];
        for (codes, slopes) in self.codes[feature].chunks(2).zip(slopes.chunks(2)) {
            for ((&code, &slope), turn) in codes.iter().zip(slopes).zip(0..) {
                sums[usize::from(code)][turn] += slope;
            }
        }
        sums.into_iter().map(|[even, odd]| even + odd).collect()
    }

    /// Sums of slopes over the observations for which each term of a feature is on.
    pub fn sums_by_term(&self, feature: usize, slopes: &[f64]) -> Vec<f64> {
        self.binarizer.features[feature].sums_on(&self.sums_by_code(feature, slopes))
    }

    /// Rows where a term is on, as 1 or 0.
    pub fn on(&self, term: BinaryTerm) -> Vec<u8> {
        term.on(|literal| self.on_of(literal))
    }

    fn on_of(&self, literal: Literal) -> Vec<u8> {
        let is_on = self.is_on(literal);
        self.codes[literal.feature].iter().map(is_on).collect()
    }

    /// Whether a literal is on, 1 or 0, by the code of its feature.
    fn is_on(&self, literal: Literal) -> impl Fn(&u16) -> u8 + Copy + use<> {
        let on = self.binarizer.features[literal.feature].codes_on(literal.slot);
        let (first, last) = (on.start as u16, (on.end - 1) as u16);
        move |&code| u8::from(first <= code) & u8::from(code <= last)
    }

    /// Rows where a literal is on, as one bit per observation.
    pub fn bits(&self, literal: Literal) -> Vec<u64> {
        let is_on = self.is_on(literal);
        let pack = |codes: &[u16]| {
            let mut on = [0_u8; 64];
            for (on, code) in on.iter_mut().zip(codes) {
                *on = is_on(code);
            }
            let mut word = 0;
            for (&eight, place) in on.as_chunks::<8>().0.iter().zip((0..).step_by(8)) {
                // The product collects the lowest bit of each byte in the highest byte.
                let bits = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                word |= bits << place;
            }
            word
        };
        self.codes[literal.feature].chunks(64).map(pack).collect()
    }

    /// Rows where a term is on, as one bit per observation.
    pub fn bits_of(&self, term: BinaryTerm) -> Vec<u64> {
        match term {
            BinaryTerm::First(literal) => self.bits(literal),
            BinaryTerm::And(a, b) => {
                self.bits(a).iter().zip(self.bits(b)).map(|(a, b)| a & b).collect()
            }
            BinaryTerm::Or(a, b) => {
                self.bits(a).iter().zip(self.bits(b)).map(|(a, b)| a | b).collect()
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::aurora::BinarizerParams;

    /// Rows of two numbers, a number of few values that may be missing, and a category.
    pub struct ExampleRows {
        numbers: Vec<f64>,
        few: Vec<f64>,
        codes: Vec<u32>,
        pub positive: Vec<bool>,
    }

    impl ExampleRows {
        pub fn new(n: usize, seed: u64) -> Self {
            let draw = |row: usize, what: u64, below: u64| {
                mix(seed ^ mix(row as u64 ^ what << 32)) % below
            };
            let numbers: Vec<f64> =
                (0..2 * n).map(|place| draw(place, 1, 1000) as f64 / 100.0).collect();
            let few = (0..n).map(|row| match draw(row, 2, 7) {
                0 => f64::NAN,
                level => level as f64,
            });
            let few: Vec<f64> = few.collect();
            let codes: Vec<u32> = (0..n).map(|row| draw(row, 3, 4) as u32).collect();
            let positive = |row: usize| {
                let high = f64::from(numbers[2 * row] > 5.0 && numbers[2 * row + 1] > 4.0);
                let likely = high + f64::from(few[row] > 3.0) + f64::from(codes[row] == 2);
                (draw(row, 4, 100) as f64) < 10.0 + 25.0 * likely
            };
            let mut positive: Vec<bool> = (0..n).map(positive).collect();
            positive[0] = true;
            positive[1] = false;
            Self { numbers, few, codes, positive }
        }

        pub fn columns(&self) -> Columns<'_> {
            let n = self.positive.len();
            let mut columns: Vec<Column<'_>> =
                Columns::from_row_major(&self.numbers, 2).unwrap().iter().copied().collect();
            let few = Columns::from_column_major(&self.few, n).unwrap();
            columns.extend(few.iter().copied());
            columns.push(Column::Codes { codes: &self.codes, n_levels: 4 });
            Columns::new(columns, n).unwrap()
        }

        /// Calls `ask` with the observations of all rows.
        pub fn observe<T>(
            &self,
            weights: Option<&[f64]>,
            ask: impl FnOnce(&Observations<'_>) -> T,
        ) -> T {
            let columns = self.columns();
            let labels = Labels::new(&self.positive, weights).unwrap();
            let params = BinarizerParams::default();
            let binarizer = Binarizer::new(&columns, &labels, &labels.rows(), &params).unwrap();
            ask(&Observations::new(&columns, &labels, &labels.rows(), &binarizer).unwrap())
        }

        /// The rows at some indices.
        pub fn at(&self, places: &[usize]) -> Self {
            Self {
                numbers: places
                    .iter()
                    .flat_map(|&p| self.numbers[2 * p..2 * p + 2].to_vec())
                    .collect(),
                few: places.iter().map(|&p| self.few[p]).collect(),
                codes: places.iter().map(|&p| self.codes[p]).collect(),
                positive: places.iter().map(|&p| self.positive[p]).collect(),
            }
        }
    }

    /// Every term of one feature.
    pub fn literals(observations: &Observations<'_>) -> Vec<Literal> {
        let features = observations.binarizer.features.iter().enumerate();
        features
            .flat_map(|(feature, of)| (0..of.n_terms()).map(move |slot| Literal { feature, slot }))
            .collect()
    }

    /// Scores at an angle of the circle from some to a term, given where it is on.
    pub fn turned(scores: &[f64], on: &[u8], pole: f64, angle: f64) -> Vec<f64> {
        let of_row =
            |(score, &on): (&f64, &u8)| angle.cos() * score + angle.sin() * pole * f64::from(on);
        scores.iter().zip(on).map(of_row).collect()
    }

    #[test]
    fn observations_do_not_depend_on_the_order_and_copies_of_rows() {
        let rows = ExampleRows::new(300, 1);
        let weights: Vec<f64> = (0..300).map(|row| f64::from(row % 4)).collect();
        let copies: Vec<usize> =
            (0..300).rev().flat_map(|row| std::iter::repeat_n(row, row % 4)).collect();
        let of = |observations: &Observations<'_>| {
            (observations.codes.clone(), observations.shares.clone(), observations.n_pos)
        };
        let weighted = rows.observe(Some(&weights), of);
        assert_eq!(rows.at(&copies).observe(None, of), weighted);
        assert!(weighted.1.len() < 225);
        let share = |part: &[f64]| part.iter().sum::<f64>();
        assert!((share(&weighted.1[..weighted.2]) - 1.0).abs() < 1e-12);
        assert!((share(&weighted.1[weighted.2..]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn sums_are_those_of_the_rows_where_a_term_is_on() {
        ExampleRows::new(400, 2).observe(None, |observations| {
            let slopes: Vec<f64> =
                (0..observations.len() as u64).map(|row| (mix(row) % 64) as f64).collect();
            let by_term: Vec<f64> = (0..observations.binarizer.features.len())
                .flat_map(|feature| observations.sums_by_term(feature, &slopes))
                .collect();
            let literals = literals(observations);
            assert_eq!(by_term.len(), literals.len());
            for (&literal, sum) in literals.iter().zip(by_term) {
                let on = observations.on(BinaryTerm::First(literal));
                let expected: f64 =
                    on.iter().zip(&slopes).map(|(&on, slope)| f64::from(on) * slope).sum();
                assert_eq!(sum, expected, "{literal:?}");
                let bits = observations.bits(literal);
                let bit = |row: usize| (bits[row / 64] >> (row % 64) & 1) as u8;
                assert!((0..on.len()).all(|row| bit(row) == on[row]));
            }
        });
    }

    #[test]
    fn a_term_of_two_literals_is_on_where_both_or_either_are() {
        ExampleRows::new(200, 3).observe(None, |observations| {
            let literals = literals(observations);
            let (a, b) = (literals[3], literals[literals.len() - 2]);
            let on = |term| observations.on(term);
            let (first, second) = (on(BinaryTerm::First(a)), on(BinaryTerm::First(b)));
            let pairs = || first.iter().zip(&second);
            let both: Vec<u8> = pairs().map(|(&a, &b)| u8::from(a == 1 && b == 1)).collect();
            let either: Vec<u8> = pairs().map(|(&a, &b)| u8::from(a == 1 || b == 1)).collect();
            assert_eq!(on(BinaryTerm::And(a, b)), both);
            assert_eq!(on(BinaryTerm::Or(a, b)), either);
            assert!(both.contains(&1) && either.contains(&0) && both != either);
        });
    }
}
