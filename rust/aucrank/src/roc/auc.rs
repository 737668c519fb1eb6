//! Area under the ROC curve, read as the Mann–Whitney statistic.

use super::sample::{Fixed, Sample, Unweighted, Weigh};
use super::score::{Score, Word};
use super::sort::{Record, Sink, sweep};
use crate::RankError;

/// Chance that a random positive row outranks a random negative one, a tie counting one half
/// (Hanley and McNeil, 1982).
///
/// Exact: pairs are counted in integers, and rounding happens in the last division only.
///
/// # Errors
///
/// [`RankError`] if the lengths differ, a score is NaN, or a class is absent.
///
/// # Examples
///
/// ```
/// assert_eq!(aucrank::roc::auc(&[0.1, 0.4, 0.4], &[false, false, true]), Ok(0.75));
/// ```
pub fn auc<S: Score>(scores: &[S], positive: &[bool]) -> Result<f64, RankError> {
    area::<S, _, S::Key>(&Sample::new(scores, positive, Unweighted)?)
}

/// [`auc`] of rows with weights: a row of weight k counts as k rows, one of weight 0 as none.
///
/// # Errors
///
/// [`RankError`] as for [`auc`], and if a weight is negative, NaN or infinite, or a class has no
/// weight.
///
/// # Examples
///
/// ```
/// let (scores, positive) = ([0.1, 0.4, 0.4], [false, false, true]);
/// assert_eq!(aucrank::roc::weighted_auc(&scores, &positive, &[3.0, 1.0, 2.0]), Ok(0.875));
/// ```
pub fn weighted_auc<S: Score>(
    scores: &[S],
    positive: &[bool],
    weights: &[f64],
) -> Result<f64, RankError> {
    let weights = Fixed::new(weights, positive.len())?;
    area::<S, _, (S::Key, u64)>(&Sample::new(scores, positive, weights)?)
}

fn area<S: Score, W: Weigh, R: Record<S::Key>>(
    sample: &Sample<'_, S, W>,
) -> Result<f64, RankError> {
    let parts = sweep::<S, W, R, _>(sample, |_| Pairs::default());
    let all = parts.into_iter().fold(Pairs::default(), Pairs::then);
    if all.positive == 0 || all.negative == 0 {
        let class = if all.positive == 0 { "positive" } else { "negative" };
        return Err(RankError::ClassWithoutWeight { class });
    }
    Ok(all.half_wins as f64 / (2 * u128::from(all.positive) * u128::from(all.negative)) as f64)
}

/// Pairs of the rows of a range of scores.
#[derive(Debug, Default)]
struct Pairs {
    /// Two for each pair whose positive row has the higher score, one for each tie.
    half_wins: u128,
    positive: u64,
    negative: u64,
}

impl Pairs {
    /// Pairs of this range and one above it.
    fn then(self, above: Self) -> Self {
        Self {
            half_wins: self.half_wins
                + above.half_wins
                + 2 * u128::from(above.positive) * u128::from(self.negative),
            positive: self.positive + above.positive,
            negative: self.negative + above.negative,
        }
    }
}

impl<K: Word> Sink<K> for Pairs {
    fn tie(&mut self, _: K, positive: u64, negative: u64) {
        self.half_wins += u128::from(positive) * u128::from(2 * self.negative + negative);
        self.positive += positive;
        self.negative += negative;
    }

    #[inline]
    fn range<R: Record<K>>(&mut self, rows: &mut [R], n_neg: usize, _: K) {
        let (neg, pos) = rows.split_at(n_neg);
        // Few pairs are counted one by one: no branch to mispredict. The words of a tie differ in
        // the last bit, the class.
        for &p in pos {
            let word: u64 = p.word().into();
            let mut below = 0;
            for &q in neg {
                let other: u64 = q.word().into();
                below += q.weight() * (u64::from(other < word) + u64::from(other < word - 1));
            }
            self.half_wins += u128::from(p.weight()) * u128::from(2 * self.negative + below);
            self.positive += p.weight();
        }
        self.negative += neg.iter().map(|q| q.weight()).sum::<u64>();
    }
}
