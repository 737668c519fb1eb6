//! Pairs of features that are informative together beyond each alone.
//!
//! Two tests, one of each feature of a pair, split the rows into quadrants. The Newton steps of the
//! quadrants, `-g / h` with the sums `g` and `h` of gradients and hessians, are a sum of one step
//! for each outcome if their contrast `t11 - t10 - t01 + t00` is 0; else the contrast lowers the
//! loss, to second order, by half of its square times `J = 1 / (1/h11 + 1/h10 + 1/h01 + 1/h00)`,
//! beyond any steps by single outcomes. As in FAST (Lou, Caruana, Gehrke and Hooker, 2013,
//! <https://doi.org/10.1145/2487575.2487579>), the gradients are those of a sum of single features,
//! and all tests of a pair are tried on its table of sums by bin.
//!
//! The best of so many tests has a gain by chance alone. If two features are uninformative
//! together, `c^2 J` is a squared normal deviate for each two tests, and the largest of `Q` of them
//! seldom exceeds `2 ln Q`, the universal threshold of Donoho and Johnstone (1994,
//! <https://doi.org/10.1093/biomet/81.3.425>), with all tests of all pairs counted. A pair is
//! ranked by its excess over that. Neighbouring tests split the rows similarly, so that fewer than
//! one in twenty fits to noise takes a pair. Sums of few rows are not normal: as for leaves, a
//! constant is added to each hessian. (To choose the tests on one half of the rows and evaluate
//! them on the other half needs no threshold, but twice the rows to find a product of two
//! features.)
//!
//! The threshold keeps chance pairs out of a model of few pairs. It also leaves out pairs whose
//! effect is spread over many tests. If only the score matters, the strongest pairs are taken
//! without it, and the held-out rows determine the number of their rounds, which may be none.

use super::fit_rows::FitRows;
use super::loss_of_rows::LossAt;
use super::split_criterion::SplitCriterion;
use super::sums::{HESSIAN_UNITS, UnitSums};
use crate::data::FeatureBins;
use crate::{Interrupt, RankError, parallel};

/// Maximum number of features that are paired, those with the largest gain alone.
const MOST_FEATURES: usize = 100;

/// Maximum number of cuts of a number, at quantiles, and of categories, those with the most rows.
const MOST_QUESTIONS: usize = 7;

/// Added to the sum of the hessians of each quadrant.
const L2: f64 = 5.0;

/// Input of the choice of pairs.
pub(super) struct PairSearch<'a> {
    /// All rows, in few bins.
    pub(super) rows: &'a FitRows<'a>,
    /// The loss at the scores of a sum of single features.
    pub(super) at: &'a LossAt,
    pub(super) scores: &'a [f64],
    /// Gain of each feature alone.
    pub(super) gains: &'a [f64],
    pub(super) criterion: &'a SplitCriterion,
    pub(super) interrupt: &'a Interrupt,
}

/// A pair of features, the lower one first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FoundPair {
    pub(super) features: [usize; 2],
    /// Twice the decrease of the loss by the best contrast.
    pub(super) gain: f64,
    /// Number of contrasts.
    pub(super) n_questions: usize,
}

/// Pairs of features, the most informative first.
pub(super) struct RankedPairs {
    pub(super) pairs: Vec<[usize; 2]>,
    /// Number of the first pairs that are informative beyond chance.
    pub(super) n_above_chance: usize,
}

impl RankedPairs {
    /// Keeps at most `most` pairs.
    pub(super) fn truncate(&mut self, most: usize) {
        self.pairs.truncate(most);
        self.n_above_chance = self.n_above_chance.min(most);
    }
}

/// A feature in codes.
struct CodedFeature {
    feature: usize,
    /// Code of each training row.
    codes: Vec<u8>,
    n_codes: usize,
    /// For each test the codes that it sends left.
    questions: Vec<Vec<bool>>,
}

impl PairSearch<'_> {
    /// The pairs, the most informative first.
    pub(super) fn ranked(&self) -> Result<RankedPairs, RankError> {
        let mut found = self.all()?;
        let n_questions: usize = found.iter().map(|pair| pair.n_questions).sum();
        let least = 2.0 * libm::log(n_questions.max(1) as f64);
        found.retain(|pair| pair.gain > 0.0);
        // The sort is stable: of ties the first in the order of the features.
        found.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        Ok(RankedPairs {
            n_above_chance: found.partition_point(|pair| pair.gain > least),
            pairs: found.into_iter().map(|pair| pair.features).collect(),
        })
    }

    /// All pairs of the features that are paired, in the order of the features.
    pub(super) fn all(&self) -> Result<Vec<FoundPair>, RankError> {
        let sums = self.derivatives();
        let features = parallel::map(self.candidates(), |feature| self.coded(feature));
        let of_first = |first: usize| {
            self.interrupt.check()?;
            let a = &features[first];
            let pairs = features[first + 1..].iter().map(|b| FoundPair {
                features: [a.feature, b.feature],
                gain: self.best_contrast(&quadrants(a, b, &table(a, b, &sums))),
                n_questions: a.questions.len() * b.questions.len(),
            });
            Ok(pairs.collect::<Vec<_>>())
        };
        let found = parallel::try_map((0..features.len()).collect(), of_first)?;
        Ok(found.concat())
    }

    /// The features that are paired, ascending.
    fn candidates(&self) -> Vec<usize> {
        let mut features: Vec<usize> = (0..self.gains.len()).collect();
        // The sort is stable: of ties the first.
        features.sort_by(|&a, &b| self.gains[b].total_cmp(&self.gains[a]));
        features.truncate(MOST_FEATURES);
        features.sort_unstable();
        features
    }

    fn derivatives(&self) -> Vec<UnitSums> {
        let (training, positive) = (self.rows.training(), self.rows.positive());
        parallel::values(training.len(), |place| {
            let row = training[place] as usize;
            let (gradient, hessian) = self.at.derivatives(self.scores[row], positive[row]);
            UnitSums::of(gradient, hessian).times(self.rows.mass(row) as i64)
        })
    }

    fn coded(&self, feature: usize) -> CodedFeature {
        let bins = &self.rows.binned.features()[feature];
        let n_codes = bins.n_codes();
        let code = |&row: &u32| self.rows.binned.narrow_row(row as usize)[feature];
        let training = self.rows.training();
        let codes: Vec<u8> = training.iter().map(code).collect();
        let mut counts = vec![0; n_codes];
        for (&code, &row) in codes.iter().zip(training.iter()) {
            counts[usize::from(code)] += self.rows.count(row as usize);
        }
        CodedFeature { feature, codes, n_codes, questions: questions(bins, &counts) }
    }

    /// Twice the decrease of the loss by the best contrast of quadrants.
    fn best_contrast(&self, quadrants: &[[UnitSums; 4]]) -> f64 {
        let l2 = L2 * f64::from(HESSIAN_UNITS) / self.rows.mass_unit();
        let square = quadrants.iter().map(|quadrants| {
            let hessians = quadrants.map(|sums| sums.hessian as f64 + l2);
            let [both, first, second, neither] =
                [0, 1, 2, 3].map(|k| -(quadrants[k].gradient as f64) / hessians[k]);
            let contrast = both - first - second + neither;
            contrast * contrast / hessians.iter().map(|hessian| 1.0 / hessian).sum::<f64>()
        });
        self.criterion.chance(square.fold(0.0, f64::max))
    }
}

/// Tests of a feature, as the codes that go left: a few cuts of a number, its most frequent
/// categories one by one, and whether it is missing.
fn questions(bins: &FeatureBins, counts: &[u64]) -> Vec<Vec<bool>> {
    let n_bins = bins.n_bins();
    let of = |goes_left: &dyn Fn(usize) -> bool| (0..=n_bins).map(goes_left).collect();
    let n_known: u64 = counts[..n_bins].iter().sum();
    let mut questions: Vec<Vec<bool>> = match bins {
        FeatureBins::Numeric { .. } => {
            // A cut after each bin with one of the quantiles.
            let n_parts = MOST_QUESTIONS as u128 + 1;
            let mut below = 0;
            let mut cuts = Vec::new();
            for (code, &count) in counts[..n_bins].iter().enumerate() {
                let part = |rows: u64| u128::from(rows) * n_parts / u128::from(n_known.max(1));
                let is_last = below + count == n_known;
                if !is_last && part(below) < part(below + count) {
                    cuts.push(of(&|other| other <= code));
                }
                below += count;
            }
            cuts
        }
        FeatureBins::Categorical { .. } => {
            let mut levels: Vec<usize> = (0..n_bins).filter(|&level| counts[level] > 0).collect();
            levels.sort_by_key(|&level| std::cmp::Reverse(counts[level]));
            levels.truncate(MOST_QUESTIONS);
            levels.into_iter().map(|level| of(&|code| code == level)).collect()
        }
    };
    if counts[n_bins] > 0 && n_known > 0 {
        questions.push(of(&|code| code == n_bins));
    }
    questions
}

/// The sums of the rows by the codes of two features.
fn table(a: &CodedFeature, b: &CodedFeature, sums: &[UnitSums]) -> Vec<UnitSums> {
    let mut table = vec![UnitSums::default(); a.n_codes * b.n_codes];
    for ((&code, &other), &sums) in a.codes.iter().zip(&b.codes).zip(sums) {
        table[usize::from(code) * b.n_codes + usize::from(other)] += sums;
    }
    table
}

/// The sums of the quadrants of all tests of two features: rows that both send left, only the
/// first, only the second, neither.
fn quadrants(a: &CodedFeature, b: &CodedFeature, table: &[UnitSums]) -> Vec<[UnitSums; 4]> {
    let left = |question: &[bool], sums: &[UnitSums]| -> UnitSums {
        question.iter().zip(sums).filter(|(goes_left, _)| **goes_left).map(|(_, sums)| *sums).sum()
    };
    // For each code of the first feature the left sums of each test of the second.
    let by_code: Vec<Vec<UnitSums>> = table
        .chunks(b.n_codes)
        .map(|row| b.questions.iter().map(|question| left(question, row)).collect())
        .collect();
    let of_codes: Vec<UnitSums> =
        table.chunks(b.n_codes).map(|row| row.iter().copied().sum()).collect();
    let total: UnitSums = of_codes.iter().copied().sum();
    let of_b: Vec<UnitSums> =
        (0..b.questions.len()).map(|place| by_code.iter().map(|sums| sums[place]).sum()).collect();
    let mut found = Vec::with_capacity(a.questions.len() * b.questions.len());
    for question in &a.questions {
        let of_a = left(question, &of_codes);
        for (place, &of_b) in of_b.iter().enumerate() {
            let rows = question.iter().zip(&by_code).filter(|(goes_left, _)| **goes_left);
            let both: UnitSums = rows.map(|(_, sums)| sums[place]).sum();
            let (first, second) = (of_a - both, of_b - both);
            found.push([both, first, second, total - both - first - second]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::bags::criterion;
    use super::super::loss::Loss;
    use super::super::params::GradientParams;
    use super::*;
    use crate::data::{Binned, BinningParams, Column, Columns, Labels, MISSING_CODE};

    fn unit(row: usize, j: u64) -> f64 {
        (crate::data::mix(crate::data::mix(row as u64) ^ j) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A feature for the oracle: for each row the outcomes of its tests.
    fn answers(codes: &[Option<u32>], weights: &[f64], is_number: bool) -> Vec<Vec<bool>> {
        let of =
            |goes_left: &dyn Fn(Option<u32>) -> bool| codes.iter().map(|&c| goes_left(c)).collect();
        let mut found: Vec<Vec<bool>> = Vec::new();
        let mut copies: Vec<u32> = (0..codes.len())
            .flat_map(|row| vec![codes[row]; weights[row] as usize])
            .flatten()
            .collect();
        copies.sort_unstable();
        if is_number {
            let n = copies.len();
            let mut cuts: Vec<u32> =
                (1..=MOST_QUESTIONS).map(|k| copies[(k * n).div_ceil(8) - 1]).collect();
            cuts.dedup();
            cuts.retain(|cut| cut != copies.last().unwrap());
            found.extend(cuts.iter().map(|&cut| of(&|code| code.is_some_and(|code| code <= cut))));
        } else {
            let mut levels: Vec<(usize, u32)> =
                copies.chunk_by(|a, b| a == b).map(|of| (of.len(), of[0])).collect();
            levels.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            levels.truncate(MOST_QUESTIONS);
            found.extend(levels.iter().map(|&(_, level)| of(&|code| code == Some(level))));
        }
        if codes.iter().zip(weights).any(|(code, &weight)| code.is_none() && weight > 0.0) {
            found.push(of(&|code| code.is_none()));
        }
        found
    }

    /// The least sum of `weight (target - fit)^2` over fits `u + v first + w second`, less that of
    /// fits of any four values: by the normal equations.
    fn gain_over_sums(quadrants: [(f64, f64); 4]) -> f64 {
        let design = [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
        let mut system = [[0.0; 4]; 3];
        for ((target, weight), row) in quadrants.iter().zip(design) {
            for i in 0..3 {
                for j in 0..3 {
                    system[i][j] += weight * row[i] * row[j];
                }
                system[i][3] += weight * row[i] * target;
            }
        }
        for i in 0..3 {
            let pivot = system[i];
            for other in system.iter_mut().enumerate().filter(|(k, _)| *k != i).map(|(_, r)| r) {
                let factor = other[i] / pivot[i];
                for (value, of_pivot) in other.iter_mut().zip(pivot) {
                    *value -= factor * of_pivot;
                }
            }
        }
        let fit = [0, 1, 2].map(|i| system[i][3] / system[i][i]);
        let residual = |((target, weight), row): (&(f64, f64), [f64; 3])| {
            let fitted: f64 = row.iter().zip(fit).map(|(x, b)| x * b).sum();
            weight * (target - fitted) * (target - fitted)
        };
        quadrants.iter().zip(design).map(residual).sum()
    }

    #[test]
    fn the_gain_of_a_pair_is_that_of_four_values_over_sums_by_the_definition() {
        let n = 400;
        let numbers = [0, 1].map(|j| -> Vec<f64> {
            let value =
                |row| if unit(row, j + 9) < 0.1 { f64::NAN } else { (9.0 * unit(row, j)).floor() };
            (0..n).map(value).collect()
        });
        let levels: Vec<u32> = (0..n)
            .map(|row| if row % 17 == 0 { MISSING_CODE } else { (unit(row, 5) * 10.0) as u32 })
            .collect();
        let positive: Vec<bool> = (0..n)
            .map(|row| (numbers[0][row] > 4.0) ^ (numbers[1][row] > 4.0) ^ (unit(row, 6) < 0.2))
            .collect();
        let weights: Vec<f64> = (0..n).map(|row| (row % 3) as f64).collect();
        let scores: Vec<f64> = (0..n).map(|row| unit(row, 7) - 0.5).collect();
        let column = Column::Codes { codes: &levels, n_levels: 10 };
        let [a, b] = &numbers;
        let columns =
            Columns::new(vec![a.as_slice().into(), b.as_slice().into(), column], n).unwrap();
        let labels = Labels::new(&positive, Some(&weights)).unwrap();
        let interrupt = Interrupt::default();
        let binned = Binned::new(&columns, &labels, BinningParams::default(), &interrupt).unwrap();
        let training = labels.rows();
        let rows = FitRows::new(&binned, &labels, training.into());
        let search = PairSearch {
            rows: &rows,
            at: &Loss::Log.at(&scores, &rows, 1.0),
            scores: &scores,
            gains: &[1.0, 0.0, 2.0],
            criterion: &criterion(&GradientParams::default(), rows.total()),
            interrupt: &interrupt,
        };
        let found = search.all().unwrap();

        let code = |value: f64| (!value.is_nan()).then_some(value as u32);
        let of_feature = [
            answers(&a.iter().map(|&value| code(value)).collect::<Vec<_>>(), &weights, true),
            answers(&b.iter().map(|&value| code(value)).collect::<Vec<_>>(), &weights, true),
            answers(
                &levels.iter().map(|&l| (l != MISSING_CODE).then_some(l)).collect::<Vec<_>>(),
                &weights,
                false,
            ),
        ];
        for (pair, features) in found.iter().zip([[0, 1], [0, 2], [1, 2]]) {
            assert_eq!(pair.features, features);
            let [first, second] = features.map(|feature| &of_feature[feature]);
            assert_eq!(pair.n_questions, first.len() * second.len());
            let mut best: f64 = 0.0;
            for one in first {
                for other in second {
                    let mut sums = [(0.0, 5.0); 4];
                    for row in 0..n {
                        let rate = 1.0 / (1.0 + (-scores[row]).exp());
                        let of = &mut sums[2 * usize::from(!one[row]) + usize::from(!other[row])];
                        of.0 += weights[row] * (f64::from(u8::from(positive[row])) - rate);
                        of.1 += weights[row] * rate * (1.0 - rate);
                    }
                    best = best.max(gain_over_sums(sums.map(|(g, h)| (g / h, h))));
                }
            }
            assert!((pair.gain / best - 1.0).abs() < 1e-4, "{} {best}", pair.gain);
        }
        // The planted pair.
        let mut ranked = search.ranked().unwrap();
        assert_eq!((ranked.pairs[0], ranked.n_above_chance), ([0, 1], 1));
        // After it those of chance, by their gain.
        let mut gains: Vec<(f64, [usize; 2])> =
            found.iter().map(|pair| (pair.gain, pair.features)).collect();
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        let by_gain: Vec<[usize; 2]> = gains.into_iter().map(|(_, features)| features).collect();
        assert_eq!(ranked.pairs, by_gain);
        ranked.truncate(2);
        assert_eq!((&ranked.pairs[..], ranked.n_above_chance), (&by_gain[..2], 1));
    }
}
